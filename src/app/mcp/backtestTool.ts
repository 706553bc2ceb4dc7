/**
 * Backtests for an agent: one at a time, in a process without secrets and with limits of time, heap and output, and
 * only on files below the folders that the operator allowed.
 */
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join, sep } from 'node:path';
import { loadConfig, withFileIn } from '../../config.ts';
import { textInSeconds, type Clock } from '../../core/index.ts';
import { readRegularFile, TEXT_FILE } from '../../guard/index.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { VENUES } from '../../wiring/venueRegistry.ts';
import { harmless } from '../run/childProcess.ts';

export type BacktestAsk = {
  /** Path of the recording, relative to an allowed folder. */
  readonly tape: string;
  /**
   * Path of the configuration, relative to an allowed folder; if absent, the shipped configuration of the embedded
   * exchange.
   */
  readonly configuration?: string | undefined;
  readonly book?: string | undefined;
};

export type BacktestToolOptions = {
  /** Script of this program. */
  readonly main: string;
  /** Folders that the operator allowed. */
  readonly folders: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly withinMs?: number;
};

/** Maximum time of a backtest, in ms. */
const WITHIN_MS = 180_000;
/** Maximum heap of a backtest, in MB. */
const HEAP_MB = 768;
/** Maximum size of a backtest's output, in characters. */
const OUTPUT_MAX = 1_048_576;
const ERROR_MAX = 4_096;

export class BacktestTool {
  readonly #options: BacktestToolOptions;
  #isBusy = false;

  constructor(options: BacktestToolOptions) {
    this.#options = options;
  }

  /**
   * Runs a backtest and returns its JSON, without the configuration, whose text may contain secrets. Rejects with
   * `UsageError` if the backtest fails or exceeds a limit, or if another is under way.
   */
  async run({ tape, configuration, book }: BacktestAsk, signal: AbortSignal): Promise<unknown> {
    const { folders } = this.#options;
    const args = ['--tape', allowedPath(folders, tape)];
    if (configuration !== undefined) {
      const file = allowedPath(folders, configuration);
      refuseForBacktest(configuration, file);
      args.push('-c', file);
    }
    if (book !== undefined) args.push('--book', book);
    if (this.#isBusy) throw new UsageError('a backtest is under way; try again when it ends');
    this.#isBusy = true;
    try {
      // The file may change after its check, so the backtest itself refuses a strategy file.
      return await this.#ran([...args, '--no-strategy-files', '--threads', '1', '--json'], signal);
    } finally {
      this.#isBusy = false;
    }
  }

  /** Returns a text in which paths below the allowed folders are relative to them. */
  #withoutFolders(text: string): string {
    const roots = this.#options.folders.flatMap(folder => [realFolder(folder), folder]).filter(root => root !== null);
    // The longest first, because one folder can be in another.
    return roots
      .map(root => (root.endsWith(sep) ? root : `${root}${sep}`))
      .sort((a, b) => b.length - a.length)
      .reduce((shown, root) => shown.replaceAll(root, ''), text);
  }

  #ran(args: readonly string[], signal: AbortSignal): Promise<unknown> {
    const { main, environment, clock, withinMs = WITHIN_MS } = this.#options;
    const heap = `--max-old-space-size=${HEAP_MB}`;
    const child = spawn(process.execPath, [heap, main, 'backtest', ...args], {
      env: { ...harmless(environment), NODE_OPTIONS: '' },
      // The IPC channel closes when this process ends, even if it is killed; the backtest then ends.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    giveWay(child.pid);
    return new Promise((resolve, reject) => {
      let [text, errors, why] = ['', '', null as string | null];
      const end = (reason: string): void => {
        why ??= reason;
        child.kill('SIGKILL');
      };
      const timer = clock.after(withinMs, () => end(`the backtest took longer than ${textInSeconds(withinMs)}`));
      const leaving = (): void => end('the request was canceled');
      const exiting = (): void => void child.kill('SIGKILL');
      signal.addEventListener('abort', leaving);
      process.once('exit', exiting);
      if (signal.aborted) leaving();
      child.stdout!.setEncoding('utf8').on('data', (part: string) => {
        if (text.length + part.length > OUTPUT_MAX) end(`the result has more than ${OUTPUT_MAX} characters`);
        else text += part;
      });
      child.stderr!.setEncoding('utf8').on('data', (part: string) => void (errors = (errors + part).slice(-ERROR_MAX)));
      const over = (settle: () => void): void => {
        timer.stop();
        signal.removeEventListener('abort', leaving);
        process.removeListener('exit', exiting);
        settle();
      };
      child.once('error', error => over(() => reject(error)));
      child.once('close', code =>
        over(() => {
          if (why !== null) return reject(new UsageError(why));
          if (code !== 0) {
            const told = this.#withoutFolders(errors).trim();
            return reject(
              new UsageError(told === '' ? `the backtest failed without a message; exit code ${code}` : told),
            );
          }
          try {
            const { config: _, ...rest } = JSON.parse(this.#withoutFolders(text)) as Readonly<Record<string, unknown>>;
            resolve(rest);
          } catch {
            reject(new UsageError('the result of the backtest is not JSON'));
          }
        }),
      );
    });
  }
}

/**
 * Checks the configuration of a backtest.
 * @throws UsageError if the file is not a configuration, has errors, or names a strategy file. The text of the errors
 * is omitted, because it may quote a secret.
 */
function refuseForBacktest(name: string, file: string): void {
  if (!/\.ya?ml$/i.test(name) || !/\.ya?ml$/i.test(file))
    throw new UsageError('configuration: expected a file that ends in .yaml or .yml');
  let text: string;
  try {
    text = readRegularFile(file, TEXT_FILE);
  } catch {
    throw new UsageError(`${name}: expected a YAML file of at most ${TEXT_FILE} bytes`);
  }
  const loaded = loadConfig(
    text,
    name,
    VENUES.map(venue => venue.name),
  );
  if (!loaded.ok)
    throw new UsageError(`${name}: the configuration has errors; an operator can list them with puntas check`);
  if (withFileIn(loaded.config).length > 0)
    throw new UsageError(`${name}: a strategy from a file is code, which this tool does not run`);
}

/** Lowers the priority of a process, so that the bot on this machine comes first. */
function giveWay(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // The process has ended, or the system does not allow it.
  }
}

/**
 * Returns the real path of a file or folder below one of the allowed folders.
 * @throws UsageError if there is none. The message does not reveal whether a path outside the folders exists.
 */
export function allowedPath(folders: readonly string[], path: string): string {
  if (folders.length === 0)
    throw new UsageError('no folder is allowed for backtests; the operator can add one with --files');
  const parts = path.split(/[\\/]/);
  const isPlain = /^[^\0]{1,400}$/.test(path) && !parts.includes('..') && !/^(?:[\\/]|[A-Za-z]:)/.test(path);
  for (const folder of isPlain ? folders : []) {
    try {
      const root = realpathSync(folder);
      const found = realpathSync(join(root, path));
      if (found === root || found.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) return found;
    } catch {
      // The path may be in the next folder.
    }
  }
  throw new UsageError('no such file below the folders that the operator allowed with --files');
}

function realFolder(folder: string): string | null {
  try {
    return realpathSync(folder);
  } catch {
    return null;
  }
}
