/** The commands of alerts: a test message on every way that is configured. */
import type { Command } from 'commander';
import { EXIT } from '../../messages/exits.ts';
import { testAlerts } from '../../alerts/alerts.ts';
import { readConfig } from '../../wiring/configFile.ts';
import { realClock } from '../../live/realClock.ts';
import { print } from '../terminal/output.ts';

/** Ends in 1 when a message did not arrive; wrong use is `UsageError`. */
export function addAlertCommands(program: Command): void {
  const alert = program.command('alert').description('test the delivery of alerts: alert test');
  alert
    .command('test')
    .description('send a test message to the configured webhook and Telegram, and print the result')
    .requiredOption('-c, --config <file>', "the bot's own YAML file")
    .action(async (options: { config: string }) => {
      const results = await testAlerts(readConfig(options.config), realClock());
      for (const { name, arrived, says } of results) print(`${arrived ? 'pass' : 'fail'}  ${name}: ${says}`);
      process.exitCode = results.every(({ arrived }) => arrived) ? EXIT.clean : EXIT.broken;
    });
}
