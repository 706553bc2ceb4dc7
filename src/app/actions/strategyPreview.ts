/**
 * Quotes of a configuration whose strategy files are not approved yet, computed from the recording of the running bot.
 * The files run in a thread of the asking command, with a time limit and without secrets in its environment.
 */
import { Worker } from 'node:worker_threads';
import { configChanges, withFileIn, type Config } from '../../config.ts';
import { textOfError, type Millis } from '../../core/index.ts';
import { tradedConfigOfText } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { lastConfigOf } from '../inspect/botOfFolder.ts';
import { harmless } from '../run/childProcess.ts';
import { changeText, comparableTo, concerns, isOwnStrategyKey } from '../run/reloading.ts';
import { problemLines, quoteLines, recordedNow, recordedPreviews } from './recordedPreview.ts';

export type StrategyPreviewAsk = {
  /** Path of the configuration; relative paths in `text` refer to its folder. */
  readonly path: string;
  readonly text: string;
  /** SHA-256 (hex) of the strategy files that may run; without those that could not be read. */
  readonly hashes: readonly string[];
  readonly stateDir: string;
  readonly now: Millis;
  /** Books whose quotes are shown. If omitted, the changed books with a strategy file or, without any, all with a file. */
  readonly books?: readonly string[];
};

/**
 * Result of a preview. `changes`: changed parameters of the strategy, compared with the last run, one line each.
 * `quotes`: the current quotes and those of the strategy, with the book of `at`, the end of the recording. `refused`: why
 * the bot would refuse the configuration.
 */
export type StrategyPreview =
  | { readonly changes: readonly string[]; readonly quotes: readonly string[]; readonly at: Millis }
  | { readonly refused: readonly string[] };

export type FromStrategyPreview =
  /** The recording is replayed; from now on, code of the file may run. */
  { readonly kind: 'replayed' } | { readonly kind: 'done'; readonly preview: StrategyPreview };

/** Maximum time for which the code of a file may run, in ms. */
const RUN_MAX_MS = 10_000;
/** Maximum heap of the thread, in MB. */
const HEAP_MAX_MB = 512;

/** Whether a key names the strategy file itself. Its change is shown by a process that does not run the file. */
const isIdentityKey = (key: string): boolean => /^(?:books\.[^.]+\.)?strategy\.(?:name|file|sha256)$/.test(key);

/**
 * Returns the changes of the strategy files themselves since the last run, one line each. Runs no file, whose code could
 * show another name or SHA-256. Empty if the last run is unknown.
 */
export function strategyIdentityChanges(config: Config, stateDir: string): readonly string[] {
  try {
    return configChanges(comparableTo(config, lastConfigOf(stateDir)), config)
      .filter(({ key }) => isIdentityKey(key))
      .map(changeText);
  } catch {
    return [];
  }
}

/**
 * Computes a preview, and runs the strategy files in this thread. `onReplayed`X */
export function strategyPreview(
  { path, text, hashes, stateDir, now, books }: StrategyPreviewAsk,
  onReplayed: () => void = () => undefined,
): StrategyPreview {
  try {
    const recorded = recordedNow(stateDir, now);
    onReplayed();
    const config = tradedConfigOfText(path, text, found => {
      if (!hashes.includes(found.sha256)) throw new UsageError(`${found.file}: changed during the preview; try again`);
    });
    const isNamed = config.books !== undefined || recorded.config.books !== undefined;
    const changes = configChanges(recorded.config, config);
    const files = withFileIn(config).map(({ book }) => book);
    const changed = files.filter(book => changes.some(change => concerns(change, book)));
    const shown = books ?? (changed.length > 0 ? changed : files);
    const checked = books ?? files;
    const previews = recordedPreviews(config, recorded).filter(({ book }) => checked.includes(book));
    const refused = problemLines(previews, isNamed);
    if (refused.length > 0) return { refused };
    const own = changes.filter(({ key }) => isOwnStrategyKey(key, config) && !isIdentityKey(key));
    const added = shown.filter(symbol => previews.every(({ book }) => book !== symbol));
    return {
      at: recorded.at,
      changes: own.map(changeText),
      quotes: [
        ...quoteLines(
          previews.filter(({ book }) => shown.includes(book)),
          isNamed,
        ),
        ...added.map(book => `${book}: the running bot does not have this book yet, so its quotes are not known`),
      ],
    };
  } catch (error) {
    if (error instanceof UsageError) return { refused: error.message.split('\n') };
    throw error;
  }
}

/** Computes a preview in a thread. A file that loops, or that ends the thread, gives a refusal. */
export async function threadedStrategyPreview(
  ask: StrategyPreviewAsk,
  runMaxMs: Millis = RUN_MAX_MS,
): Promise<StrategyPreview> {
  const thread = new Worker(new URL('./strategyPreviewThread.js', import.meta.url), {
    ...{ workerData: ask, env: harmless(process.env) },
    // The output of the file is dropped, because the command may print JSON.
    ...{ stdout: true, stderr: true },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB },
  });
  // Without a reader, the output would fill the memory of the command.
  thread.stdout.resume();
  thread.stderr.resume();
  try {
    return await new Promise(resolve => {
      const refuse = (why: string): void => resolve({ refused: [`the preview of the strategy file failed: ${why}`] });
      const late = (): void =>
        refuse(`it did not end within ${runMaxMs / 1_000} s; look for a loop without an end, also in a promise`);
      thread.on('message', (news: FromStrategyPreview) => {
        if (news.kind === 'done') resolve(news.preview);
        else AbortSignal.timeout(runMaxMs).addEventListener('abort', late);
      });
      thread.once('error', error => refuse(textOfError(error)));
      thread.once('exit', () => refuse('the file ended the thread'));
    });
  } finally {
    await thread.terminate();
  }
}
