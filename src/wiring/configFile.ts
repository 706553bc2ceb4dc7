/**
 * Configuration of a command: located, read and validated. Each error is one line and ends the command with code 2; old
 * names of keys, and some keys without effect, only cause warnings.
 */
import { statSync } from 'node:fs';
import { fileProblem, orNull, readRegularFile, TEXT_FILE } from '../guard/index.ts';
import { dirname, join, resolve } from 'node:path';
import { loadConfig, placeOf, withSource, type Config, type FoundStrategyFile } from '../config.ts';
import { missingFileAdvice, packageFolder } from './shipped/shippedFiles.ts';
import { readGivenFile, UsageError } from './usageError.ts';
import { unreadKeys, VENUES } from './venueRegistry.ts';

/** Returns the path of a shipped configuration, in the source tree or the built one. */
export function shippedConfig(name: string): string {
  const path = join(packageFolder(), 'config', `${name}.yaml`);
  try {
    readRegularFile(path, TEXT_FILE);
    return path;
  } catch {
    throw new UsageError(
      `Puntas has no default configuration for ${name}; write a configuration file (docs/configuration.md), and pass the file with -c FILE`,
    );
  }
}

type ConfigText = { readonly config: Config; readonly text: string };

/**
 * Called before a strategy file is run, with the text of the configuration that selects the file.
 * @throws UsageError if the file must not run.
 */
export type StrategyApproval = (found: FoundStrategyFile, text: string) => void;

/**
 * Returns the validated configuration, with relative paths resolved against the folder of the file. Never runs a
 * strategy file, and does not check its parameters: for commands that show, stop or change a bot.
 */
export const readConfig = (path: string): Config => readConfigText(path).config;

/** Returns what `readConfig` returns, and the text of the file. */
export const readConfigText = (path: string): ConfigText => withPaths(path, checked(path, false));

/** Returns what `readConfig` returns, but runs a strategy file: for commands that trade, live or in a backtest. */
export const readTradedConfig = (path: string, assertApproved?: StrategyApproval): Config =>
  readTradedText(path, assertApproved).config;

/**
 * Returns what `readTradedConfig` returns, and the text of the file. In a shipped file (`isShipped`), relative paths
 * refer to the working directory.
 */
export function readTradedText(path: string, assertApproved?: StrategyApproval, isShipped = false): ConfigText {
  const read = checked(path, true, assertApproved);
  return isShipped ? read : withPaths(path, read);
}

function withPaths(path: string, { config: read, text }: ConfigText): ConfigText {
  const config = pathsFrom(dirname(resolve(path)), read);
  refuseFile(config.state.dir, `correct state.dir in ${path}`);
  refuseFile(config.paper.stateDir, `correct paper.stateDir in ${path}`);
  return { config, text };
}

/** Throws a `UsageError` if a file is where a state directory is expected. The directory may be missing. */
function refuseFile(dir: string, advice: string): void {
  if (orNull(() => statSync(dir))?.isDirectory() === false)
    throw new UsageError(`${dir}: a file, expected a folder; ${advice}`);
}

/**
 * Returns a shipped configuration, for a command without -c. Relative paths in the configuration refer to the working
 * directory.
 */
export const readShipped = (name: string): Config => checked(shippedConfig(name), false).config;

function checked(path: string, isRun: boolean, assertApproved?: StrategyApproval): ConfigText {
  const text = readGivenFile(path, TEXT_FILE, missingFileAdvice(path, 'pass a YAML file with -c FILE'));
  return { config: checkedText(path, text, isRun, assertApproved), text };
}

/**
 * Returns the configuration that a file with this text would have, with absolute paths. Reads no file but the strategy
 * file, which is not run.
 * @throws UsageError with all errors.
 */
export const configOfText = (path: string, text: string): Config =>
  pathsFrom(dirname(resolve(path)), checkedText(path, text, false));

/** Returns what `configOfText` returns, but runs the strategy file. */
export const tradedConfigOfText = (path: string, text: string, assertApproved?: StrategyApproval): Config =>
  pathsFrom(dirname(resolve(path)), checkedText(path, text, true, assertApproved));

function checkedText(path: string, text: string, isRun: boolean, assertApproved?: StrategyApproval): Config {
  const venues = VENUES.map(({ name }) => name);
  const loaded = loadConfig(text, path, venues, {
    ...{ isRun, read: strategyFilesIn(dirname(resolve(path))) },
    assertMayRun: found => assertApproved?.(found, text),
  });
  for (const warning of loaded.warnings) warnOnce(warning);
  if (!loaded.ok) throw new UsageError(loaded.errors);
  const config = withSource(loaded.config, path, text);
  for (const warning of unreadKeys(config)) warnOnce(warning);
  return config;
}

/**
 * Rejects a configuration with several books for a task that supports only one book. `what` names the task, such as a
 * backtest.
 * @throws UsageError
 */
export function refuseBooks(config: Config, what: string): void {
  if (config.books === undefined) return;
  const names = config.books.map(({ symbol }) => symbol).join(', ');
  throw new UsageError(
    `${placeOf(config, ['books'])}: expected one book for ${what}, found ${config.books.length} (${names}); pass a configuration with the key book`,
  );
}

/** Returns a reader of strategy files whose paths are relative to `folder`. It throws an error with the reason. */
export const strategyFilesIn =
  (folder: string) =>
  (file: string): string => {
    try {
      return readRegularFile(resolve(folder, file), TEXT_FILE);
    } catch (error) {
      throw new Error(
        `${fileProblem(error, 'read')}; expected a strategy file, relative to the folder of the configuration, ${folder}`,
      );
    }
  };

let warn: (line: string) => void = () => undefined;
const warned = new Set<string>();

/**
 * Sets the receiver of warnings about configurations, such as old names of keys, one line each. Warnings before this
 * call are dropped.
 */
export function warnOfConfigs(to: (line: string) => void): void {
  warn = to;
}

/** Warns only once with equal text, because some commands read their file twice. */
function warnOnce(line: string): void {
  if (!warned.has(line)) warn(line);
  warned.add(line);
}

/** Makes every path of a configuration absolute. */
function pathsFrom(folder: string, config: Config): Config {
  const { books, exchange, paper, state, console: page } = config;
  const at = (path: string) => resolve(folder, path);
  const feedsFrom = (of: NonNullable<Config['reference']>) => ({
    ...of,
    feeds: of.feeds.map(feed => (feed.file === undefined ? feed : { ...feed, file: at(feed.file) })),
  });
  const sectionsFrom = ({ strategy, reference }: Partial<Pick<Config, 'strategy' | 'reference'>>) => ({
    ...(strategy !== undefined &&
      'file' in strategy &&
      typeof strategy.historyTape === 'string' && { strategy: { ...strategy, historyTape: at(strategy.historyTape) } }),
    ...(reference && { reference: feedsFrom(reference) }),
  });
  return {
    ...config,
    ...sectionsFrom(config),
    ...(exchange.kind === 'embedded' &&
      exchange.market.kind === 'tape' && {
        exchange: {
          ...exchange,
          market: {
            ...exchange.market,
            dir: at(exchange.market.dir),
            ...(exchange.market.books && {
              books: Object.fromEntries(
                Object.entries(exchange.market.books).map(([book, own]) => [book, { ...own, dir: at(own.dir) }]),
              ),
            }),
          },
        },
      }),
    paper: {
      ...paper,
      stateDir: at(paper.stateDir),
      ...(paper.fittedFile !== undefined && { fittedFile: at(paper.fittedFile) }),
    },
    state: { ...state, dir: at(state.dir) },
    ...(page && {
      console: {
        ...page,
        ...(page.operatorTokenFile !== undefined && { operatorTokenFile: at(page.operatorTokenFile) }),
        ...(page.viewerTokenFile !== undefined && { viewerTokenFile: at(page.viewerTokenFile) }),
      },
    }),
    ...(books && { books: books.map(book => ({ ...book, ...sectionsFrom(book) })) }),
  };
}
