/** The command `fleet`, which shows several bots on one page. */
import type { Command } from 'commander';
import { counted } from '../../core/index.ts';
import { realClock } from '../../live/realClock.ts';
import { EXIT } from '../../messages/exits.ts';
import { jsonWithOldNames } from '../../messages/oldNames.ts';
import { keepHarmless } from '../../app/run/childProcess.ts';
import { portFlag } from '../terminal/flags.ts';
import { print, printError } from '../terminal/output.ts';
import { signalsToStop, untilStopped } from '../terminal/signals.ts';
import { version } from '../terminal/version.ts';

type FleetFlags = { config: string; host?: string; port?: number; once: boolean; json: boolean };

/**
 * Adds `fleet`, which runs until stopped, or with --once or --json prints the answers of the bots and ends. Rejects
 * with `UsageError` on wrong use; a bot that does not answer is not an error.
 */
export function addFleetCommand(program: Command): void {
  program
    .command('fleet')
    .description('show several bots on one page (read-only)')
    .requiredOption('-c, --config <file>', 'YAML that lists the bots')
    .option('--host <address>', 'listen address (default: host)')
    .option('--port <n>', 'port, 0 for any free port (default: port)', portFlag)
    .option('--once', 'print a table instead of serving a page', false)
    .option('--json', 'print one JSON object', false)
    .action(async ({ config: file, host, port, once, json }: FleetFlags) => {
      const { fleetOnce, readFleet, startFleet, yieldToBots } = await import('../../app/fleet/fleet.ts');
      yieldToBots();
      const given = readFleet(file);
      const environment = { ...process.env };
      keepHarmless(process.env);
      const ask = {
        config: { ...given, host: host ?? given.host, port: port ?? given.port },
        ...{ clock: realClock(), version: version(), environment },
        onLine: (line: string) => printError(line),
      };
      if (once || json) {
        const view = await fleetOnce(ask);
        const { fleetTable } = await import('../../app/fleet/fleetTable.ts');
        print(json ? jsonWithOldNames(view) : fleetTable(view).join('\n'));
        return;
      }
      const signals = signalsToStop('leaving', EXIT.clean);
      const server = await startFleet(ask);
      print(`fleet of ${counted(given.bots.length, 'bot')} at ${server.url}`);
      await untilStopped(signals);
      await server.close();
      process.exitCode = EXIT.clean;
    });
}
