/** The command `console`, which serves a web page of a bot. */
import { spawn } from 'node:child_process';
import { Option, type Command } from 'commander';
import { CONSOLE_DEFAULTS } from '../../config.ts';
import { realClock } from '../../live/realClock.ts';
import { EXIT } from '../../messages/exits.ts';
import { keepHarmless } from '../../app/run/childProcess.ts';
import { readConfig } from '../../wiring/configFile.ts';
import { portFlag, several } from '../terminal/flags.ts';
import { version } from '../terminal/version.ts';
import { signalsToStop, untilStopped } from '../terminal/signals.ts';
import { print, printError } from '../terminal/output.ts';
import { folderOf, ofBot, paperHint } from './botFlags.ts';

type ConsoleFlags = {
  config: string;
  state?: string;
  paper: boolean;
  host?: string;
  port?: number;
  allowedHost: readonly string[];
  open: boolean;
};

/** Adds `console`, which runs until stopped. Wrong use, or an API key in the environment, is a `UsageError`. */
export function addConsoleCommand(program: Command): void {
  ofBot(program.command('console').description('serve a web page that shows a bot now or at a recorded time'), 'file')
    .option('--host <address>', 'listen address (default: console.host)')
    .option('--port <n>', 'port, 0 for any free port (default: console.port)', portFlag)
    .addOption(
      new Option('--allowed-host <name>', 'additional allowed Host header (repeatable)')
        .argParser(several)
        .default([], 'none'),
    )
    .option('--open', 'open the page in a browser', false)
    .action(async (flags: ConsoleFlags) => {
      const { config: file, state, paper } = flags;
      const signals = signalsToStop('leaving', EXIT.clean);
      const given = readConfig(file);
      const config = { ...given, state: { dir: folderOf(flags) } };
      const { host, port, allowedHosts } = { ...CONSOLE_DEFAULTS, allowedHosts: [], ...given.console };
      const hint = state === undefined && !paper ? paperHint(given) : null;
      if (hint !== null) printError(hint);
      const { startConsole } = await import('../../app/console/console.ts');
      const environment = { ...process.env };
      keepHarmless(process.env);
      const server = await startConsole({
        ...{ config, host: flags.host ?? host, port: flags.port ?? port },
        allowedHosts: [...allowedHosts, ...flags.allowedHost],
        bot: { stateDir: config.state.dir, configFile: file },
        clock: realClock(),
        version: version(),
        environment,
        onLine: line => printError(line),
      });
      print(`console of ${config.state.dir} at ${server.url}`);
      if (flags.open) openBrowser(server.url);
      await untilStopped(signals);
      await server.close();
      if (process.connected) process.disconnect();
      process.exitCode = EXIT.clean;
    });
}

/** Opens the address with the platform's command; prints a line if there is no such command. */
function openBrowser(url: string): void {
  const [program, ...before] = OPENERS[process.platform] ?? ['xdg-open'];
  const opener = spawn(program!, [...before, url.replace(/\/\/(?:0\.0\.0\.0|\[::\])/, '//127.0.0.1')], {
    ...{ stdio: 'ignore', detached: true },
  });
  opener.on('error', () => printError(`the browser could not be started with ${program}; open ${url} yourself`));
  opener.unref();
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};
