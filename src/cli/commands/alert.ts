/** Alert commands: a test message on every configured channel. */
import type { Command } from 'commander';
import { EXIT } from '../../messages/exits.ts';
import { testAlerts } from '../../alerts/alerts.ts';
import { readConfig } from '../../wiring/configFile.ts';
import { realClock } from '../../live/realClock.ts';
import { print } from '../terminal/output.ts';

/** Adds the alert commands. The exit code is 1 if a message was not delivered; wrong use is a `UsageError`. */
export function addAlertCommands(program: Command): void {
  const alert = program.command('alert').description('test alerts');
  alert
    .command('test')
    .description('send one test alert to each configured channel')
    .requiredOption('-c, --config <file>', 'configuration of the bot')
    .action(async (options: { config: string }) => {
      const results = await testAlerts(readConfig(options.config), realClock());
      for (const { name, arrived, says } of results) print(`${arrived ? 'pass' : 'fail'}  ${name}: ${says}`);
      process.exitCode = results.every(({ arrived }) => arrived) ? EXIT.clean : EXIT.broken;
    });
}
