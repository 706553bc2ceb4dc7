/** The command that shows a bot: console. */
import type { Command } from 'commander';
import { realClock } from '../../live/realClock.ts';
import { EXIT } from '../../app/messages/exits.ts';
import { readConfig } from '../../app/wiring/configFile.ts';
import { portFlag } from '../terminal/flags.ts';
import { signalsToStop } from '../terminal/signals.ts';

type ConsoleFlags = {
  config: string;
  state?: string;
  paper: boolean;
  host: string;
  port: number;
  allowedHost: readonly string[];
};

/** `console` runs until it is stopped; wrong use, and a key in its environment, are `UsageError`. */
export function addConsoleCommand(program: Command): void {
  program
    .command('console')
    .description(
      'show a bot on a page, now and at any recorded moment; a process of its own that holds no key and only reads',
    )
    .requiredOption('-c, --config <file>', "the bot's YAML file")
    .option('--state <dir>', 'state directory, instead of the one in the configuration')
    .option('--paper', 'of a run --paper', false)
    .option(
      '--host <address>',
      'address to listen on; there are no accounts: whoever reaches it sees everything',
      '127.0.0.1',
    )
    .option('--port <n>', 'port; 0 takes a free one', portFlag, 9_465)
    .option(
      '--allowed-host <name>',
      'a further name by which it may be asked (Host header); may be repeated',
      several,
      [],
    )
    .action(async ({ config: file, state, paper, host, port, allowedHost: allowedHosts }: ConsoleFlags) => {
      const signals = signalsToStop('leaving', EXIT.clean);
      const given = readConfig(file);
      const config = { ...given, state: { dir: state ?? (paper ? given.paper.stateDir : given.state.dir) } };
      const { startConsole } = await import('../../app/console/console.ts');
      const server = await startConsole({
        ...{ config, host, port, allowedHosts },
        clock: realClock(),
        environment: process.env,
      });
      console.log(`console of ${config.state.dir} at ${server.url}`);
      await new Promise<void>(resolve => signals.tell(() => resolve()));
      await server.close();
      process.exitCode = EXIT.clean;
    });
}

const several = (name: string, before: readonly string[]): readonly string[] => [...before, name];
