/**
 * Parser of the YAML text: a checked configuration, or all errors together. Reads no file and no environment variable.
 */
import { isPair, isScalar, visit, type Node } from 'yaml';
import {
  accountLimitProblems,
  accountProblems,
  appliesToSeveral,
  bookValues,
  configOfBooks,
  listProblems,
  pathOfBook,
} from './config/books.ts';
import { crossProblems, isSection, withoutValues } from './config/crossFieldChecks.ts';
import { problemsOf, type Problem } from './config/problems.ts';
import { pathInFile, OLD_KEYS_END, withCurrentKeys, type RenamedKey } from './config/renamedKeys.ts';
import { schemaFor, type Config, type ConfigSchema } from './config/schema.ts';
import {
  filesReadOnce,
  withoutCode,
  withStrategyFile,
  type StrategyFiles,
  type WithStrategyFile,
} from './config/strategyFiles.ts';
import { readYaml, YAML_LENGTH_MAX } from './config/text/yamlText.ts';

export { changedBook, configChanges, isTradingChange } from './config/changes.ts';
export type { ConfigChange } from './config/changes.ts';
export {
  parameterRefusal,
  listedParameters,
  parameterText,
  PARAMETER_DIRECTIONS,
  typedParameter,
} from './config/parameters.ts';
export type { ParameterDirection, ShownParameter } from './config/parameters.ts';
export { isKeyOfBook, parameterPlace } from './config/text/parameterPlace.ts';
export { changedYaml } from './config/text/changedYaml.ts';
export {
  booksOf,
  configOfBooks,
  booksText,
  jointCurrencyOf,
  liveOrdersMax,
  ONE_BOOK_ONLY,
  otherBooksOf,
  otherBooksWith,
  publicPerMinute,
  sharedReadsOf,
  symbolsOf,
  withMoreBooks,
} from './config/books.ts';
export { edgeProblem } from './config/crossFieldChecks.ts';
export {
  ccxtIdsOf,
  externalReferenceOf,
  feedIndexOf,
  liveSourcesOf,
  readsPerMinute,
} from './config/sections/reference.ts';
export type { ExternalReference, FeedConfig, LiveFeed } from './config/sections/reference.ts';
export { BOOKS_MAX, configSchema, schemaFor } from './config/schema.ts';
export type { ConfigSchema } from './config/schema.ts';
export {
  hasCode,
  strategyHashesIn,
  strategyHashIn,
  strategyPinIn,
  strategySchema,
  strategyTextIn,
  withoutStrategyText,
  withFileIn,
  withStrategyFile,
} from './config/strategyFiles.ts';
export type { FoundStrategyFile, StrategyFiles } from './config/strategyFiles.ts';
export { CONSOLE_DEFAULTS } from './config/sections/console.ts';
export { consoleBase, fleetSchema, loadFleet } from './config/fleet/fleetFile.ts';
export { isOnThisMachine } from './config/sections/values.ts';
export type { FleetBotConfig, FleetConfig, LoadedFleet } from './config/fleet/fleetFile.ts';
export type { ConsoleSettings } from './config/sections/console.ts';
export { ALERT_EVENTS, ALERT_EVENT_NAMES, alertKind } from './config/sections/alerts.ts';
export type { AlertEvent, AlertMode, AlertSettings } from './config/sections/alerts.ts';
export {
  embeddedFeesOf,
  flowMarketOf,
  liveBooksOf,
  marketBooksOf,
  marketModelOf,
  namedBooksOf,
  recordedBooksOf,
} from './config/sections/exchange.ts';
export type { ElsewhereSettings, RemoteSettings, SecondSettings } from './config/sections/exchange.ts';
export type { Config } from './config/schema.ts';
export type { StrategyConfig } from './config/sections/strategy.ts';
export type { WebhookSettings } from './config/sections/webhooks.ts';
export { pathOfText, placeOf, withSource } from './config/text/configSource.ts';
export type { TakesEffect } from './config/sections/takesEffect.ts';
export { plainAddressProblem } from './config/sections/values.ts';
export {
  readAlertSecrets,
  readQueuePassword,
  readSecrets,
  readWebhookTokens,
  unreadVariables,
} from './config/secrets.ts';
export type { AlertSecrets, KeyPrefix, Secrets } from './config/secrets.ts';

/**
 * Result of loading a configuration. `errors`: lines like `file:line:column path: what is wrong`, in the order of the
 * file. `warnings`: lines about what is accepted nevertheless, such as old names of keys and some keys without effect.
 */
export type Loaded = { readonly warnings: readonly string[] } & (
  { readonly ok: true; readonly config: Config } | { readonly ok: false; readonly errors: readonly string[] }
);

/**
 * Checks the text of a YAML file. `fileName` is used only in errors. `venues`: allowed values of `exchange.venue`; if
 * omitted, every value is allowed. `files`: access to strategy files; if omitted, they are neither read nor run.
 */
export function loadConfig(
  text: string,
  fileName: string,
  venues?: readonly string[],
  files: StrategyFiles = NO_FILES,
): Loaded {
  if (!(text.length <= YAML_LENGTH_MAX)) {
    return refused(`${fileName}: larger than ${YAML_LENGTH_MAX} characters; shorten the file or name another file`);
  }
  const read = readYaml(text, fileName, 'like book: btc_mxn');
  if (!read.ok) return refused(read.error);
  const { value: current, taken, twice } = withCurrentKeys(read.value);
  const secretPaths = pathsOfSecrets(read.root);
  const source = (path: readonly PropertyKey[]) => read.source(pathInFile(path, taken));
  const checked = checkedBooks(current, filesReadOnce(files), source, venues);
  const told = new Set([
    ...secretPaths.map(path => path.join('.')),
    ...checked.found.flatMap(problem => problem.intendedKey ?? []),
  ]);
  const all: readonly Problem[] = [
    ...secretPaths.map(path => ({ path, message: SECRET_ADVICE, aboutKey: true })),
    ...twice.map(givenTwice),
    ...checked.found.filter(problem => !told.has(problem.path.join('.'))),
    ...checked.beyond,
  ];
  const problems = all.filter(({ isWarning }) => isWarning !== true);
  const lines = (of: readonly Problem[]) =>
    of
      .map(problem => ({
        problem,
        offset: read.offset({ ...problem, path: pathInFile(problem.path, taken) }),
      }))
      .sort((a, b) => a.offset - b.offset)
      .map(({ problem, offset }) => `${read.place(offset)} ${problem.path.map(String).join('.')}: ${problem.message}`);
  const old = taken.map(oldName);
  // Keys without effect are only known in a file without errors.
  if (checked.config === null || problems.length > 0)
    return { ok: false, errors: lines(problems), warnings: lines(old) };
  const warnings = lines([...old, ...all.filter(({ isWarning }) => isWarning === true)]);
  return { ok: true, config: checked.config, warnings };
}

/** Result of checking one value. `config`: `null` if the value does not fit the schema. */
type Checked = {
  readonly config: Config | null;
  /** Problems of the strategy file and of the schema; if the value fits the schema, those between its keys. */
  readonly found: readonly Problem[];
  /** Problems between the keys of the valid part. */
  readonly beyond: readonly Problem[];
};

type SourceOf = Parameters<typeof problemsOf>[3];

/** Checks the parsed YAML of one book, with its strategy file. */
function checkedBook(
  given: unknown,
  files: StrategyFiles,
  source: SourceOf,
  venues: readonly string[] | undefined,
): Checked {
  const { value, problems, keys } = withStrategyFile(given, files);
  const checked = checkedValue(value, keys, source, venues);
  if (problems.length === 0) return checked;
  // A section whose file has an error cannot be checked; the error of the file is its only problem.
  const others = checked.found.filter(({ path }) => path[0] !== 'strategy');
  return { ...checked, config: null, found: [...problems, ...others] };
}

/** Checks the parsed YAML of one book. `keys`: schema of the section of its strategy file; `null` if it has none. */
function checkedValue(
  value: unknown,
  keys: WithStrategyFile['keys'],
  source: SourceOf,
  venues: readonly string[] | undefined,
): Checked {
  const schema = schemaFor(keys);
  const parsed = schema.safeParse(value);
  if (parsed.success) {
    const { books: _, ...config } = parsed.data;
    return { config, found: crossProblems(config, venues), beyond: [] };
  }
  const found = parsed.error.issues.flatMap(issue => problemsOf(issue, schema, value, source));
  return { config: null, found, beyond: problemsOfTheRest(value, schema, parsed.error.issues, found, venues) };
}

/** Checks the parsed YAML of a file with one or several books. */
function checkedBooks(
  value: unknown,
  files: StrategyFiles,
  source: SourceOf,
  venues: readonly string[] | undefined,
): Checked {
  const values = bookValues(value);
  if (values === null) {
    const one = checkedBook(value, files, source, venues);
    return one.config === null ? one : { ...one, found: [...one.found, ...accountLimitProblems([one.config])] };
  }
  const each = values.map(({ entry, value: one }) => ({
    ...checkedBook(one, files, path => source(pathOfBook(path, value, entry)), venues),
    inFile: (problem: Problem): Problem => ({ ...problem, path: pathOfBook(problem.path, value, entry) }),
  }));
  const configs = each.flatMap(({ config }) => config ?? []);
  const ofBooks = each.flatMap(one => one.found.map(one.inFile));
  const found = [...listProblems(value), ...(each.length > 1 ? ofBooks.filter(appliesToSeveral) : ofBooks)];
  if (found.every(({ isWarning }) => isWarning === true)) found.push(...accountProblems(configs));
  return {
    config: configs.length === each.length ? configOfBooks(configs) : null,
    found: withoutRepeats(found),
    beyond: withoutRepeats(each.flatMap(one => one.beyond.map(one.inFile))),
  };
}

/** Returns the problems without repeats: a problem of a shared section is found once for each book. */
function withoutRepeats(problems: readonly Problem[]): readonly Problem[] {
  const byText = new Map(
    problems.map(problem => [`${problem.path.map(String).join('.')}: ${problem.message}`, problem]),
  );
  return [...byText.values()];
}

/**
 * Returns the problems that the cross-field checks find in the valid part of an invalid file. Unknown keys count as the
 * keys that were probably meant. A check that would read a wrong value is omitted. Returns no problem if a required key
 * is missing.
 */
function problemsOfTheRest(
  value: unknown,
  schema: ConfigSchema,
  issues: readonly Issue[],
  found: readonly Problem[],
  venues: readonly string[] | undefined,
): readonly Problem[] {
  const rest = structuredClone(value);
  const wrong: (readonly PropertyKey[])[] = [];
  for (const { path, intendedKey, aboutKey } of found) {
    const given = aboutKey === true ? takeOut(rest, path) : undefined;
    if (intendedKey !== undefined && given !== undefined) putIn(rest, intendedKey.split('.'), given);
  }
  const omit = (of: readonly Issue[]): void => {
    for (const { code, path } of of) {
      if (code === 'unrecognized_keys') continue;
      wrong.push(path);
      takeOut(rest, path);
    }
  };
  omit(issues.filter(({ path }) => givenAtPath(value, path) !== undefined));
  const again = schema.safeParse(rest);
  // The value of an intended key can also be wrong.
  if (!again.success) omit(again.error.issues);
  const parsed = again.success ? again : schema.safeParse(rest);
  if (!parsed.success) return [];
  const { books: _, ...config } = parsed.data;
  return crossProblems(withoutValues(config, wrong), venues);
}

type Issue = Parameters<typeof problemsOf>[0];

const givenAtPath = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, step) => (isSection(at) && Object.hasOwn(at, step) ? at[step] : undefined), value);

/** Removes and returns a value; `undefined` if there is none. */
function takeOut(value: unknown, path: readonly PropertyKey[]): unknown {
  const above = givenAtPath(value, path.slice(0, -1));
  const key = path.at(-1);
  if (!isSection(above) || key === undefined || !Object.hasOwn(above, key)) return undefined;
  const taken = above[key];
  delete above[key];
  return taken;
}

/** Adds a value to a section that does not have it. */
function putIn(value: unknown, path: readonly string[], given: unknown): void {
  const above = givenAtPath(value, path.slice(0, -1));
  const key = path.at(-1);
  if (isSection(above) && key !== undefined && !Object.hasOwn(above, key)) above[key] = given;
}

const NO_FILES: StrategyFiles = {
  isRun: false,
  read: () => {
    throw new Error('no strategy file can be read here');
  },
};

const refused = (error: string): Loaded => ({ ok: false, errors: [error], warnings: [] });

const oldName = ({ old, now }: RenamedKey): Problem => ({
  path: old,
  message: `old name of ${now.join('.')}; write ${now.at(-1)}, because Puntas ${OLD_KEYS_END} rejects the old name`,
  aboutKey: true,
});

const givenTwice = ({ old, now }: RenamedKey): Problem => ({
  path: old,
  message: `old name of ${now.join('.')}, which is also set; remove ${old.at(-1)}`,
  aboutKey: true,
});

/**
 * Returns the configuration of a recorded run, from JSON that was checked and has all defaults. Old keys get their
 * current names. The text of a strategy file is removed: a replay has the recorded quotes, and runs no recorded code.
 */
export function recordedConfig(setup: string): Config {
  return withoutCode(withCurrentKeys(JSON.parse(setup)).value as Config);
}

/** Value of the key `trial` if the trial order leaves the booking of transfers to the bot. */
const LEAVES_TRANSFERS = 'leaves transfers';

/**
 * Returns the configuration of a trial order. Its key `trial` shows in the recording that it is not the operator's
 * configuration. `isLeaving`: whether transfers and the operator's adjustments are left for the bot to book.
 */
export const asTrialOrder = (config: Config, isLeaving: boolean): Config =>
  Object.assign({ ...config }, { trial: isLeaving ? LEAVES_TRANSFERS : true });

/** Whether a configuration, also a recorded one, is that of a trial order. */
export const isTrialOrder = (config: Config): boolean => 'trial' in config;

/**
 * Whether a run leaves listed transfers, the operator's bookings and unexplained differences of balances to a later
 * run. A trial order of a bot that hedges on another exchange does, because it does not read that exchange. It would
 * book transfers to that exchange as losses, and a halt because of a difference would stay in effect for the bot.
 */
export const leavesTransfers = (config: Config): boolean => 'trial' in config && config.trial === LEAVES_TRANSFERS;

const SECRET_ADVICE =
  'secrets do not belong in this file: set PUNTAS_API_KEY and PUNTAS_API_SECRET in the environment, or PUNTAS_API_KEY_FILE and PUNTAS_API_SECRET_FILE';
const SECRET = /secret|pass(word|phrase)|api[-_]?key|private[-_]?key|credential|token/i;

/** Keys whose names look like secrets but whose values can only be paths. */
const NAMES_A_FILE = ['console.operatorTokenFile', 'console.viewerTokenFile'];

/** Returns the paths of keys whose values may be secrets. */
function pathsOfSecrets(root: Node): readonly (readonly string[])[] {
  const paths: string[][] = [];
  visit(root, {
    Pair: (_, pair, ancestors) => {
      if (!isScalar(pair.key) || !SECRET.test(String(pair.key.value))) return;
      const above = ancestors.flatMap(node => (isPair(node) && isScalar(node.key) ? [String(node.key.value)] : []));
      const path = [...above, String(pair.key.value)];
      if (!NAMES_A_FILE.includes(path.join('.'))) paths.push(path);
    },
  });
  return paths;
}
