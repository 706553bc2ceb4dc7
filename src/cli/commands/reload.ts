/** Command that applies a changed configuration to a running bot. */
import { randomUUID } from 'node:crypto';
import { Option, type Command } from 'commander';
import { executeReload } from '../../app/actions/executeAction.ts';
import { askReload } from '../../app/actions/askReload.ts';
import { ownName } from '../../app/inspect/ledger.ts';
import { EXIT } from '../../messages/exits.ts';
import { digestFlag } from '../terminal/flags.ts';
import { realClock } from '../../live/realClock.ts';
import { folderOf, ofBot } from './botFlags.ts';
import { print } from '../terminal/output.ts';

type Flags = {
  readonly config: string;
  readonly state?: string;
  readonly paper: boolean;
  readonly preview: boolean;
  readonly reason: string;
  readonly by?: string;
  readonly digest?: string;
  readonly json: boolean;
};

/**
 * Adds `reload`. The exit code is 0 if the configuration was applied or previewed, and 2 if the bot kept its old
 * configuration. A file with errors is a `UsageError`.
 */
export function addReloadCommand(program: Command): void {
  ofBot(program.command('reload').description('apply all changes of a configuration to a running bot, or none'), 'file')
    .option('--preview', 'only show the effect', false)
    .addOption(new Option('--reason <text>', 'reason for the record').default('', 'none'))
    .option('--digest <sha256>', 'apply only a file with this SHA-256 (its first 8 to 64 digits)', digestFlag)
    .option('--by <name>', 'your name for the record (default: your login)')
    .option('--json', 'print one JSON object', false)
    .action(async ({ json, by = ownName(), ...flags }: Flags) => {
      const { config: configFile, preview, reason, state, paper, digest: seen } = flags;
      const id = randomUUID();
      const stateDir = folderOf({ config: configFile, paper, ...(state === undefined ? {} : { state }) });
      const named = seen === undefined ? {} : { digest: seen };
      const ask = { id, action: 'reload', reason, by, via: 'command', ...named } as const;
      const { end, lines, digest } = preview
        ? await askReload({ ...flags, by, id }, realClock())
        : await executeReload({ configFile, stateDir }, ask, realClock());
      const exactly =
        end === 'shown' ? [`to apply exactly this file, add: --digest ${digest.slice(0, DIGEST_SHOWN)}`] : [];
      print(json ? JSON.stringify({ end, lines, digest }) : [...lines, ...exactly].join('\n'));
      process.exitCode = end === 'kept' ? EXIT.misused : EXIT.clean;
    });
}

const DIGEST_SHOWN = 16;
