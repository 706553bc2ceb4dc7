/** Command that applies a changed configuration to a running bot. */
import { randomUUID } from 'node:crypto';
import { Option } from 'commander';
import type { Command } from 'commander';
import { carryOutReload } from '../../app/actions/carryOut.ts';
import { askReload } from '../../app/inspect/askReload.ts';
import { ownName } from '../../app/inspect/ledger.ts';
import { EXIT } from '../../messages/exits.ts';
import { digestFlag } from '../terminal/flags.ts';
import { realClock } from '../../live/realClock.ts';
import { folderOf } from './ledger.ts';
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
 * Adds `reload`. Exit code 0 if the configuration was applied or shown, 2 if the bot kept its own; a file with errors
 * is a `UsageError`.
 */
export function addReloadCommand(program: Command): void {
  program
    .command('reload')
    .description(
      'have a running bot take up its changed YAML: what changes, the quotes now and then, then all of it at once or nothing',
    )
    .requiredOption('-c, --config <file>', "the bot's own YAML file")
    .option('--state <dir>', 'its state directory, when that is elsewhere than the file says')
    .option('--paper', 'of a run --paper', false)
    .option('--preview', 'only show what would change', false)
    .addOption(
      new Option('--reason <text>', 'why; kept in actions.jsonl and reloads.jsonl beside the state').default(
        '',
        'none',
      ),
    )
    .option('--digest <sha256>', 'take the file only if this is its SHA-256, as the preview shows it', digestFlag)
    .option('--by <name>', 'who says so; without it the name of your login')
    .option('--json', 'print the answer as one JSON object (docs/json.md)', false)
    .action(async ({ json, by = ownName(), ...flags }: Flags) => {
      const { config: configFile, preview, reason, state, paper, digest: seen } = flags;
      const id = randomUUID();
      const stateDir = folderOf({ config: configFile, paper, ...(state === undefined ? {} : { state }) });
      const named = seen === undefined ? {} : { digest: seen };
      const ask = { id, action: 'reload', reason, by, via: 'command', ...named } as const;
      const { end, lines, digest } = preview
        ? await askReload({ ...flags, by, id }, realClock())
        : await carryOutReload({ configFile, stateDir }, ask, realClock());
      const exactly = end === 'shown' ? [`to take exactly this, add: --digest ${digest.slice(0, DIGEST_SHOWN)}`] : [];
      print(json ? JSON.stringify({ end, lines, digest }) : [...lines, ...exactly].join('\n'));
      process.exitCode = end === 'kept' ? EXIT.misused : EXIT.clean;
    });
}

const DIGEST_SHOWN = 16;
