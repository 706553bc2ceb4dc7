/** Parameters of a study as a search space, and points of that space as configurations. */
import { isDeepStrictEqual } from 'node:util';
import { shortDecimal } from '../../../src/core/index.ts';
import { stringify } from 'yaml';
import { flawOfSpace, type Point, type Space, type SpaceParameter } from '../../index.ts';
import {
  configSchema,
  hasCode,
  loadConfig,
  schemaFor,
  strategySchema,
  strategyTextIn,
  withoutStrategyText,
  type Config,
  type ConfigSchema,
} from '../../../src/config.ts';
import { ownFees } from '../backtest/backtest.ts';
import { unsimulatedKey } from '../backtest/notSimulated.ts';
import { IDLE_RULES, idleProblems } from '../../../src/config/idleKeys.ts';
import { problemsOf, type Problem } from '../../../src/config/problems.ts';
import { withoutElsewhere } from '../../../src/wiring/elsewhereHedging.ts';
import { VENUES } from '../../../src/wiring/venueRegistry.ts';
import type { ParameterKeys, StudyKeys } from './studySchema.ts';

type Tree = Readonly<Record<string, unknown>>;
type Keys = StudyKeys['parameters'];

/** Returns the space. Parameters in a condition precede the parameters that depend on them. */
export function spaceOf(parameters: Keys): Space {
  const left = new Map(Object.entries(parameters));
  const space: SpaceParameter[] = [];
  while (left.size > 0) {
    const next = [...left].find(([, { when }]) => when === undefined || !left.has(Object.keys(when)[0]!));
    // If the conditions are circular, continues with any parameter; `flawOfSpace` reports the circle.
    const [key, keys] = next ?? [...left][0]!;
    left.delete(key);
    space.push(parameterOf(key, keys));
  }
  return space;
}

function parameterOf(key: string, keys: ParameterKeys): SpaceParameter {
  const { linear, log, integer, choice, step, when: given } = keys;
  const [other, is] = Object.entries(given ?? {})[0] ?? [];
  const when = other === undefined || is === undefined ? {} : { when: { key: other, is } };
  if (choice !== undefined)
    return { key, kind: 'choice', values: Array.isArray(choice) ? choice : Object.keys(choice), ...when };
  const [kind, [low, high]] =
    linear !== undefined
      ? (['linear', linear] as const)
      : log !== undefined
        ? (['log', log] as const)
        : (['integer', integer ?? [Number.NaN, Number.NaN]] as const);
  return { key, kind, low, high, ...(step !== undefined && { step }), ...when };
}

/**
 * Returns the problems of a study's parameters with the configuration `base`, each with its path in the study's YAML.
 * `isHedged`: whether a recording of the other exchange executes the hedges there.
 */
export function parameterProblems(parameters: Keys, base: Tree, isHedged = false): readonly Problem[] {
  const space = spaceOf(parameters);
  const flaw = flawOfSpace(space);
  if (flaw !== null) {
    const key = space.map(one => one.key).find(name => flaw.startsWith(`${name}: `));
    return key === undefined
      ? [{ path: ['parameters'], message: flaw }]
      : [{ path: ['parameters', key], message: flaw.slice(key.length + 2), aboutKey: true }];
  }
  return space.flatMap((parameter): readonly Problem[] => {
    if (isFixed(parameter.key, parameters, base))
      return [{ path: ['parameters', parameter.key], message: FIXED_FILE, aboutKey: true }];
    const refused = [
      ...insideList(parameter, space, parameters, base),
      ...refusals(parameter, space, parameters, base),
    ];
    if (refused.length > 0) return refused.slice(0, 1);
    const idle = withoutEffect(parameter, space, parameters, base);
    return idle.length > 0 ? idle : unsimulated(parameter, space, parameters, base, isHedged);
  });
}

/** Keys that select a strategy file, or that only a reader adds. */
const FILE_KEYS = ['file', 'sha256', 'code', 'tolerance'] as const;

/** Whether a parameter would select another strategy file. */
function isFixed(key: string, parameters: Keys, base: Tree): boolean {
  const [section, own] = key.split('.');
  if (section !== 'strategy') return false;
  const hasFile = strategyTextIn(base) !== undefined;
  if (own !== undefined) return FILE_KEYS.some(fixed => fixed === own) || (hasFile && own === 'name');
  const values = Object.values(parameters[key]?.choice ?? {}) as readonly unknown[];
  return (
    hasFile || values.some(value => typeof value === 'object' && value !== null && FILE_KEYS.some(k => k in value))
  );
}

const FIXED_FILE = 'all trials run the same strategy file; remove this parameter, and write one study for each file';

/** Keys of which a replay uses only the fees of the traded book. */
const FEE_KEYS = /^exchange\.(?:fees|volume30d|market)\b/;

/** Returns the problem of a parameter that no replay of recordings simulates. */
function unsimulated(
  parameter: SpaceParameter,
  space: Space,
  parameters: Keys,
  base: Tree,
  isHedged: boolean,
): readonly Problem[] {
  const { key } = parameter;
  const section =
    unsimulatedKey(key, isHedged) ??
    (FEE_KEYS.test(key) && hasSameFees(parameter, space, parameters, base)
      ? `${key}, except for the fees of the traded book, which stay the same`
      : !isHedged && isDropped(parameter, space, parameters, base)
        ? 'hedges on the other exchange, and ignores this key'
        : null);
  if (section === null) return [];
  const message = `all trials would be the same bot: a replay of recordings does not simulate ${section}`;
  return [{ path: ['parameters', key], message, aboutKey: true }];
}

/** Whether a replay charges the same fees at both ends of the parameter's range, or for each of several choices. */
function hasSameFees(parameter: SpaceParameter, space: Space, parameters: Keys, base: Tree): boolean {
  if (endsOf(parameter).length < 2) return false;
  for (const point of surroundings(parameter, space)) {
    const configs = configsAt(parameter, point, parameters, base);
    const charged = configs?.map(config => {
      const { exchange } = config;
      return JSON.stringify(ownFees(config) ?? (exchange.kind === 'embedded' ? exchange.volume30d : null));
    });
    if (charged === undefined || new Set(charged).size > 1) return false;
  }
  return true;
}

/** Whether a replay has no value of the parameter in any trial, because it removes hedges on the other exchange. */
function isDropped(parameter: SpaceParameter, space: Space, parameters: Keys, base: Tree): boolean {
  const path = parameter.key.split('.');
  if (path[0] !== 'hedge' && path[0] !== 'inventory') return false;
  for (const point of surroundings(parameter, space)) {
    const configs = configsAt(parameter, point, parameters, base);
    if (configs === null || configs.some(config => valueIn(withoutElsewhere(config), path) !== undefined)) return false;
  }
  return true;
}

/** Returns the configurations at both ends of the parameter's range, or with each choice; `null` if one is invalid. */
function configsAt(parameter: SpaceParameter, point: Point, parameters: Keys, base: Tree): readonly Config[] | null {
  const configs = endsOf(parameter).flatMap(end => {
    const parsed = parsedTree(treeOf({ ...point, [parameter.key]: end }, parameters, base), base);
    return parsed.success ? [parsed.data] : [];
  });
  return configs.length === endsOf(parameter).length ? configs : null;
}

/** Returns the bounds of a parameter's range, or its choices. */
const endsOf = (parameter: SpaceParameter): readonly Point[string][] =>
  parameter.kind === 'choice' ? parameter.values : [parameter.low, parameter.high];

/** Returns the problem of a parameter whose key is inside a list: setting the key would replace the list. */
function insideList({ key, ...parameter }: SpaceParameter, space: Space, parameters: Keys, base: Tree) {
  const tree = treeOf(conditionsOf({ key, ...parameter }, space), parameters, base);
  const steps = key.split('.');
  const depth = steps.findIndex((_, i) => i > 0 && Array.isArray(valueIn(tree, steps.slice(0, i))));
  if (depth < 0) return [];
  const list = steps.slice(0, depth).join('.');
  const message = `${list} is a list, and a study can only choose between whole lists; write ${list}: { choice: { NAME: […] } }`;
  return [{ path: ['parameters', key], message, aboutKey: true } as const];
}

/**
 * Returns the problem of a parameter that changes nothing in any trial: at each end of its range, or with each choice,
 * the configuration reports that its key has no effect. The other parameters are tried at their ends too.
 */
function withoutEffect(parameter: SpaceParameter, space: Space, parameters: Keys, base: Tree): readonly Problem[] {
  const { key } = parameter;
  let told: string | null = null;
  for (const point of surroundings(parameter, space)) {
    const idle = idleAt(parameter, point, parameters, base);
    if (idle === null) return [];
    told ??= idle;
  }
  return told === null
    ? []
    : [
        {
          path: ['parameters', key],
          message: `all values of this parameter give the same bot: ${told}`,
          aboutKey: true,
        },
      ];
}

/**
 * Yields points of the other parameters at which `parameter` is active: with none of them set, with one of them at each
 * of its ends, and with all of them at their first or last end.
 */
function* surroundings(parameter: SpaceParameter, space: Space): Generator<Point> {
  const { key, when } = parameter;
  const others = space.filter(other => other.key !== key);
  const all = (at: 0 | -1): Point => Object.fromEntries(others.map(other => [other.key, endsOf(other).at(at)!]));
  const values = when === undefined ? [] : [when.is].flat();
  const conditions: readonly Point[] =
    when === undefined ? [{}] : values.map(value => ({ ...conditionsOf(parameter, space), [when.key]: value }));
  for (const condition of conditions) {
    yield condition;
    for (const other of others)
      for (const end of endsOf(other)) yield { ...conditionsOf(other, space), [other.key]: end, ...condition };
    yield { ...all(0), ...condition };
    yield { ...all(-1), ...condition };
  }
}

/** Returns the message that a parameter has no effect at its ends; `null` if it may have an effect at one of them. */
function idleAt(parameter: SpaceParameter, point: Point, parameters: Keys, base: Tree): string | null {
  const path = parameter.key.split('.');
  let told: string | null = null;
  for (const end of endsOf(parameter)) {
    const tree = treeOf({ ...point, [parameter.key]: end }, parameters, base);
    const parsed = parsedTree(tree, base);
    if (!parsed.success) return null;
    const found = IDLE_RULES.flatMap(rule => idleProblems(rule, parsed.data)).find(problem =>
      problem.path.every((step, i) => step === path[i]),
    );
    if (found !== undefined) told ??= `${found.path.join('.')}: ${found.message}`;
    // A default value is never reported as without effect, so a missing report proves nothing for a default.
    else if (!isDefault(parsed.data, tree, path, base)) return null;
  }
  return told;
}

/** Whether the value at `path` is the default: a configuration without the key has the same value at `path`. */
function isDefault(config: Config, tree: Tree, path: readonly string[], base: Tree): boolean {
  const omitted = parsedTree(withAt(tree, path, undefined), base);
  return omitted.success && isDeepStrictEqual(valueIn(omitted.data, path), valueIn(config, path));
}

/** Returns the schema's errors about one parameter, at the bounds of its range or at each choice. */
function refusals(parameter: SpaceParameter, space: Space, parameters: Keys, base: Tree): readonly Problem[] {
  const { key } = parameter;
  const path = key.split('.');
  return endsOf(parameter).flatMap((end, i): Problem[] => {
    const tree = treeOf({ ...conditionsOf(parameter, space), [key]: end }, parameters, base);
    const parsed = parsedTree(tree, base);
    const problems = parsed.success
      ? []
      : parsed.error.issues.flatMap(issue => problemsOf(issue, trialSchema(tree, base), tree, at => textAt(tree, at)));
    const found = problems.find(problem => path.every((step, depth) => problem.path[depth] === step));
    if (found === undefined) return [];
    if (found.aboutKey === true && found.path.length <= path.length)
      return [{ path: ['parameters', key], message: found.message, aboutKey: true }];
    const where = parameter.kind === 'choice' ? [parameter.kind, i] : [parameter.kind];
    const inside = found.path.slice(path.length).join('.');
    return [
      {
        path: [
          'parameters',
          key,
          ...(Array.isArray(parameters[key]?.choice) || parameter.kind !== 'choice' ? where : ['choice', String(end)]),
        ],
        message: `the configuration refuses ${JSON.stringify(end)}: ${inside === '' ? '' : `${inside}: `}${found.message}`,
      },
    ];
  });
}

/** Returns a point at which the parameter is active: the first accepted value of each parameter that it depends on. */
function conditionsOf({ when }: SpaceParameter, space: Space): Point {
  if (when === undefined) return {};
  const value = Array.isArray(when.is) ? (when.is as readonly (string | number | boolean)[])[0]! : (when.is as string);
  const other = space.find(({ key }) => key === when.key);
  return { ...(other && conditionsOf(other, space)), [when.key]: value };
}

function textAt(tree: unknown, path: readonly PropertyKey[]): string | null {
  const here = valueIn(tree, path);
  if (here === undefined) return null;
  return typeof here === 'object' ? 'keys and values' : JSON.stringify(here);
}

/** Returns the value at a path; `undefined` if there is none. */
function valueIn(tree: unknown, path: readonly PropertyKey[]): unknown {
  let here = tree;
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Readonly<Record<PropertyKey, unknown>>)[step];
  }
  return here;
}

/** Number of significant digits of a searched number; more digits would be false precision. */
const DIGITS = 4;

/**
 * Returns the configuration keys and values of a point, outer keys first. Numbers become text where the schema requires
 * text.
 */
export function settingsOf(point: Point, parameters: Keys, base: Tree): readonly (readonly [string, unknown])[] {
  const settings: [string, unknown][] = [];
  const order = Object.entries(point).sort(([a], [b]) => a.split('.').length - b.split('.').length);
  let tree = base;
  for (const [key, value] of order) {
    const keys = parameters[key];
    const found = valueOf(key, value, keys, tree, base);
    tree = withAt(tree, key.split('.'), found);
    settings.push([key, found]);
  }
  return settings;
}

function valueOf(key: string, value: Point[string], keys: ParameterKeys | undefined, tree: Tree, base: Tree): unknown {
  const choice = keys?.choice;
  if (choice !== undefined && !Array.isArray(choice)) return choice[String(value)];
  if (typeof value !== 'number' || choice !== undefined) return value;
  const number = keys?.step === undefined && keys?.integer === undefined ? Number(value.toPrecision(DIGITS)) : value;
  const isText =
    isRefused(withAt(tree, key.split('.'), number), key, base) &&
    !isRefused(withAt(tree, key.split('.'), decimalText(number)), key, base);
  return isText ? decimalText(number) : number;
}

const isRefused = (tree: Tree, key: string, base: Tree): boolean => {
  const parsed = parsedTree(tree, base);
  const path = key.split('.');
  return !parsed.success && parsed.error.issues.some(issue => path.every((step, i) => issue.path[i] === step));
};

/** Formats a number without an exponent. */
const decimalText = (number: number): string => shortDecimal(number.toFixed(12));

const treeOf = (point: Point, parameters: Keys, base: Tree): Tree =>
  settingsOf(point, parameters, base).reduce((tree, [key, value]) => withAt(tree, key.split('.'), value), base);

function withAt(tree: Tree, [step = '', ...rest]: readonly string[], value: unknown): Tree {
  const below = tree[step];
  const inside = typeof below === 'object' && below !== null && !Array.isArray(below) ? (below as Tree) : {};
  return { ...tree, [step]: rest.length === 0 ? value : withAt(inside, rest, value) };
}

const parsedTree = (tree: Tree, base: Tree) => trialSchema(tree, base).safeParse(tree);

/** Returns the schema of a tree. The schema runs no strategy file other than that of `base`. */
function trialSchema(tree: Tree, base: Tree): ConfigSchema {
  const [own, of] = [tree['strategy'], base['strategy']];
  return hasCode(of) && hasCode(own) && own.code === of.code && own.file === of.file
    ? schemaFor(strategySchema(of))
    : configSchema;
}

/** Returns the configuration of a point, or an error in one line. */
export const configAt = (point: Point, parameters: Keys, base: Tree): Config | string =>
  configOf(configTextAt(point, parameters, base), strategyTextIn(base));

/** Returns the configuration of a point as YAML, unvalidated and without the text of a strategy file. */
export const configTextAt = (point: Point, parameters: Keys, base: Tree): string =>
  stringify(withoutStrategyText(treeOf(point, parameters, base)));

function noText(): never {
  throw new Error('the trial has no text of its strategy file');
}

/**
 * Parses a trial's configuration; returns an error in one line if it is invalid. `strategyText`: text of its strategy
 * file, if it selects one.
 */
export function configOf(text: string, strategyText?: string): Config | string {
  const loaded = loadConfig(
    text,
    'trial',
    VENUES.map(({ name }) => name),
    { isRun: true, read: () => strategyText ?? noText() },
  );
  if (loaded.ok && loaded.config.books !== undefined) return 'books: expected one book for a trial; use the key book';
  return loaded.ok ? loaded.config : (loaded.errors[0] ?? '').replace(/^trial:\d+:\d+ /, '');
}
