/**
 * Child process of a run (the console or the remote control). The child has no key of an exchange in its environment,
 * is restarted when it exits, and ends with the run.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { textInSeconds, textOfError, type Clock, type Millis, type Timer } from '../../core/index.ts';
import type { Log } from '../../live/log.ts';

export type ChildOptions = {
  /** Name of the child in the log. */
  readonly name: string;
  /** Script and arguments for node. */
  readonly args: readonly string[];
  /** Environment of this process. Only variables that are known to be harmless are passed on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Further variables that the child needs, such as its own token. Default: none. */
  readonly secrets?: Readonly<Record<string, string | undefined>>;
  /** Clock of real time, even if the bot's clock is accelerated. */
  readonly clock: Clock;
  readonly log: Log;
};

/** Restart delays in ms. They double after each early exit, from `first` to `most`. */
const AGAIN_MS = { first: 1_000, most: 60_000 };
/** Lifetime from which an exit does not count as early, in ms. */
const LIVED_MS = 60_000;
/** Time for the child to end after a stop request, in ms. */
const ENDS_WITHIN_MS = 5_000;

/** Variables about programs, folders, language and time. None of these can be a secret. */
const HARMLESS = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR|NODE_OPTIONS|NODE_EXTRA_CA_CERTS)$/;

/** Additional variables, for the terminal and browser of a console that the operator starts. */
const OF_A_DESKTOP =
  /^(?:TERM|COLORTERM|NO_COLOR|FORCE_COLOR|COLUMNS|LINES|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_\w+|DBUS_SESSION_BUS_ADDRESS|BROWSER|SYSTEMROOT|WINDIR|PUNTAS_DEBUG)$/i;

/**
 * Removes all variables that a console does not need. A server that is reachable from outside must not have the secrets
 * of other programs.
 */
export function keepHarmless(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(environment))
    if (!HARMLESS.test(name) && !OF_A_DESKTOP.test(name)) delete environment[name];
}

/** Returns the environment variables that cannot be secrets (`HARMLESS`). */
export const harmless = (environment: ChildOptions['environment']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      HARMLESS.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );

/** Keeps a child process running until stopped. Never throws: without the child, the run continues. */
export function superviseChild(options: ChildOptions): { stop(): Promise<void> } {
  const { name, clock, log } = options;
  let child: ChildProcess | null = null;
  let again: Timer | null = null;
  let wait: Millis = AGAIN_MS.first;
  let isOver = false;

  const start = (): void => {
    const born = clock.elapsed();
    const ended = (how: string): void => {
      if (child === null) return;
      child = null;
      if (isOver) return;
      if (clock.elapsed() - born >= LIVED_MS) wait = AGAIN_MS.first;
      log.warn({}, `${name}: ended (${how}); restarting in ${textInSeconds(wait)}; the bot continues`);
      again = clock.after(wait, start);
      wait = Math.min(AGAIN_MS.most, wait * 2);
    };
    try {
      child = begun(options);
    } catch (error) {
      log.warn({}, `${name}: could not be started: ${textOfError(error)}`);
      return;
    }
    child.once('error', error => ended(textOfError(error)));
    child.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`));
  };
  start();
  return {
    stop: async () => {
      isOver = true;
      again?.stop();
      if (child !== null) await ends(child, clock);
    },
  };
}

function begun({ name, args, environment, secrets, log }: ChildOptions): ChildProcess {
  // The child ends when its IPC channel closes, which happens even if this process is killed.
  const child = spawn(process.execPath, [...process.execArgv, ...args], {
    env: { ...harmless(environment), ...secrets },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const { pid } = child;
  createInterface({ input: child.stdout! }).on('line', line => log.info({ process: pid }, line));
  createInterface({ input: child.stderr! }).on('line', line => log.warn({ process: pid }, `${name}: ${line}`));
  return child;
}

function ends(child: ChildProcess, clock: Clock): Promise<void> {
  return new Promise(resolve => {
    const timer = clock.after(ENDS_WITHIN_MS, () => child.kill('SIGKILL'));
    child.once('exit', () => {
      timer.stop();
      resolve();
    });
    if (child.connected) child.disconnect();
    else child.kill('SIGTERM');
  });
}
