/** Commands for alerts and for the remote control in a Telegram chat. */
import type { Command } from 'commander';
import { testAlerts } from '../../alerts/alerts.ts';
import { alertSecrets } from '../../alerts/channels.ts';
import { keepHarmless } from '../../app/run/childProcess.ts';
import { realClock } from '../../live/realClock.ts';
import { EXIT } from '../../messages/exits.ts';
import { readConfig } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { print, printError } from '../terminal/output.ts';
import { signalsToStop, untilStopped } from '../terminal/signals.ts';
import { folderOf, ofBot, paperHint } from './botFlags.ts';

type RemoteFlags = { config: string; state?: string; paper: boolean };

/**
 * Adds `remote`, which runs until stopped. Wrong use is a `UsageError`, also a missing token or section. The key of the
 * exchange is removed from the environment.
 */
export function addRemoteCommand(program: Command): void {
  ofBot(program.command('remote').description('take commands from a Telegram chat'), 'file').action(
    async (flags: RemoteFlags) => {
      const { config: file, state, paper } = flags;
      const signals = signalsToStop('leaving', EXIT.clean);
      const given = readConfig(file);
      const dir = folderOf(flags);
      const { alerts } = given;
      if (alerts?.telegram?.remote === undefined)
        throw new UsageError(
          `${file}: the configuration has no section alerts.telegram.remote; add its chats and users (docs/remote.md)`,
        );
      const { telegramToken: token } = alertSecrets({ ...alerts, webhook: undefined });
      keepHarmless(process.env);
      const config = { ...given, state: { dir } };
      const hint = state === undefined && !paper ? paperHint(given) : null;
      if (hint !== null) printError(hint);
      const { remoteControl } = await import('../../app/remote/remote.ts');
      const stop = new AbortController();
      const running = remoteControl(
        {
          ...{ config, token: token!, clock: realClock(), onLine: print, onTrouble: printError },
          bot: { stateDir: config.state.dir, configFile: file },
        },
        stop.signal,
      );
      // The remote control ends by itself only with an error.
      await Promise.race([untilStopped(signals), running]);
      stop.abort();
      await running;
      if (process.connected) process.disconnect();
      process.exitCode = EXIT.clean;
    },
  );
}

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
