/**
 * Keys that an operator can change from a page. A limit can only be tightened, because more people can reach a page
 * than edit the file. Of the other keys, only the parameters of a strategy file can be changed from a page.
 */
import { leavesOf } from './changes.ts';
import { decimalTextOf } from './plainNumber.ts';
import { configSchema, type Config } from './schema.ts';
import { schemaAt } from './shape.ts';
import { strategyHashIn } from './strategyFiles.ts';

/** Permitted direction of a change: any, only to a lower value, or only to a higher value. */
export type ParameterDirection = 'free' | 'lower' | 'higher';

/**
 * Keys that can be changed from a page, with the permitted direction. For a limit, this is the direction that tightens
 * the limit.
 */
export const PARAMETER_DIRECTIONS: Readonly<Record<string, ParameterDirection>> = {
  ...directed(
    'free',
    `strategy: halfSpreadBps bidSpreadBps askSpreadBps levels levelSpacingBps amount levelAmountStep refreshToleranceBps
      refreshMs maxOrderAgeMs amountTolerance skew.priceBpsAtLimit skew.sizeRange filledOrderDelayMs pingPong
      optimization.enabled optimization.depthAmount horizon risk.amount risk.per market.volatilityBps
      market.arrivalsPerMinute market.decayPerBps market.adverseBps market.memory spacingBps anchorPrice
      skewBpsAtLimit depthBps bpsPerDeviation memory weight basisMemory
    fairValue: mid.weight weightedMid.weight microprice.weight lastTrades.weight lastTrades.memory
      reference.weight reference.basisMemory depthImbalance.depthBps depthImbalance.bpsPerDeviation
      depthImbalance.memory orderFlowImbalance.bpsPerUnit orderFlowImbalance.memory
    hedge: residual carryBpsPerHour
    log: level`,
  ),
  ...directed(
    'lower',
    `limits: positionMax orderValueMax orderAmountMax ordersMax collarBps priceMove.bps drawdownMax dayLossMax
    halts: fillsPer10Min refusalsPerMinute unknownsPerMinute messagesPerMinute
    strategy: priceCeiling highPrice movingPriceBandPct maxAgeMs maxDivergenceBps
    fairValue: withinBps lastTrades.maxAgeMs reference.maxAgeMs reference.maxDivergenceBps reference.leave.costMaxBps
      orderFlowImbalance.maxBps
    reference: divergenceMaxBps
    hedge: band costMaxBps costDayMax elsewhere.driftMax elsewhere.debtMax
    regimes: wide.volatilityBps wide.marketSpreadBps reduceOnly.positionShare reduceOnly.drawdownShare
    timing: staleAfterMs`,
  ),
  ...directed(
    'higher',
    `strategy: priceFloor lowPrice minEdgeBps
    reference: sourcesMin
    regimes: wide.factor wide.depthMin calmMs`,
  ),
};

/** Limits that are computed if they are not set, so that any value could be looser. */
const COMPUTED_IF_NOT_SET: ReadonlySet<string> = new Set(['hedge.band']);

/** Parameter of a configuration, as a page shows it. */
export type ShownParameter = {
  /** Dotted path, like `strategy.halfSpreadBps`. */
  readonly key: string;
  /** Current value as text, defaults included; `null` if not set. */
  readonly value: string | null;
  /** Unit; empty if the value has none, or if the help states it. */
  readonly unit: string;
  readonly help: string;
  readonly direction: ParameterDirection;
};

/**
 * Returns the parameters that the configuration's strategy and sections have, in the order of `PARAMETER_DIRECTIONS`;
 * first those of a strategy file. `run`: configuration of the same book in the last run, from which the defaults of the
 * file are taken.
 */
export const listedParameters = (config: Config, run: Config | null = null): readonly ShownParameter[] => [
  ...fileParameters(config, run),
  ...Object.entries(PARAMETER_DIRECTIONS).flatMap(([key, direction]) => {
    const path = key.split('.');
    const schema = schemaAt(configSchema, config, path);
    if (schema === null || !isSectionThere(config, path.slice(0, -1))) return [];
    return [
      { key, value: parameterText(config, key), unit: parameterUnit(key), help: parameterHelp(key, config), direction },
    ];
  }),
];

/** Keys of a section with a strategy file that are not parameters of the file. */
const KEYS_OF_FILE: ReadonlySet<string> = new Set(['name', 'file', 'sha256', 'historyTape', 'code', 'tolerance']);

/** Returns the parameters of a strategy file that the configuration sets, then those with defaults. */
function fileParameters(config: Config, run: Config | null): readonly ShownParameter[] {
  const { strategy } = config;
  if (!('file' in strategy)) return [];
  const sections = [strategy, ...(run !== null && isSameFile(config, run) ? [run.strategy] : [])];
  const keys = new Set(sections.flatMap(scalarKeysOf).filter(key => !KEYS_OF_FILE.has(key.split('.')[0]!)));
  return [...keys]
    .map(key => `strategy.${key}`)
    .map(key => ({
      ...{ key, value: parameterText(config, key, run), unit: parameterUnit(key) },
      ...{ help: `Parameter of ${strategy.file}.`, direction: PARAMETER_DIRECTIONS[key] ?? 'free' },
    }));
}

/** Whether a key can be a parameter of the strategy file. */
const isOfFile = ({ strategy }: Config, key: string): boolean =>
  'file' in strategy && key.startsWith('strategy.') && !KEYS_OF_FILE.has(key.split('.')[1]!);

/** Whether two configurations of a book have the same text of the strategy file. */
const isSameFile = (config: Config, run: Config): boolean =>
  strategyHashIn(run) !== undefined && strategyHashIn(run) === strategyHashIn(config);

/** Returns the dotted keys of all texts, numbers and flags in a section. */
const scalarKeysOf = (section: object): readonly string[] =>
  [...leavesOf(section).keys()].filter(key => /^[\w.]+$/.test(key) && isScalar(valueOfPath(section, key.split('.'))));

const isScalar = (value: unknown): value is string | boolean | number =>
  typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number';

/**
 * Returns the value of a key as text; `null` if not set, or if the key is a section or a list. `run` as in
 * `listedParameters`.
 */
export function parameterText(config: Config, key: string, run: Config | null = null): string | null {
  const value = valueOrDefault(config, key, run);
  return isScalar(value) ? String(value) : null;
}

/** Returns the value of a key, or the default of a strategy file that the last run has. */
function valueOrDefault(config: Config, key: string, run: Config | null): unknown {
  const path = key.split('.');
  const value = valueOfPath(config, path);
  const hasDefault = value === undefined && path[0] === 'strategy' && run !== null && isSameFile(config, run);
  return hasDefault ? valueOfPath(run, path) : value;
}

/**
 * Returns why a page cannot make this change, as text; `null` if it can. `to` is the new value as text; `null` removes
 * the key. `run` as in `listedParameters`.
 */
export function parameterRefusal(
  config: Config,
  key: string,
  to: string | null,
  run: Config | null = null,
): string | null {
  const listed = listedParameters(config, run).find(each => each.key === key);
  if (listed === undefined && isOfFile(config, key))
    return `${key}: the file does not set this key, and the last run has no such parameter; change the YAML file and reload it`;
  if (listed === undefined)
    return Object.hasOwn(PARAMETER_DIRECTIONS, key)
      ? `${key}: the configuration has no such key, or lacks its section; change the YAML file and reload it`
      : `${key}: cannot be changed from a page; change the YAML file and reload it`;
  const { direction, value: from } = listed;
  if (direction === 'free') return null;
  const tighter = `${key}: a page or the API can only tighten a limit, to a ${direction} value`;
  const byHand = 'to loosen it, change the YAML file and reload it';
  if (to === null) return `${tighter}, not remove it; ${byHand}`;
  const [before, after] = [from === null ? null : decimalTextOf(from), decimalTextOf(to)];
  if (after === null) return `${key}: expected a number like 12.5, found ${JSON.stringify(to)}`;
  // A limit that is not set does not limit, so every value is tighter.
  if (from === null)
    return COMPUTED_IF_NOT_SET.has(key)
      ? `${key}: is computed, because it is not set; set it in the YAML file and reload it`
      : null;
  const isTighter = before !== null && (direction === 'lower' ? after < before : after > before);
  return isTighter ? null : `${tighter}; it is now ${from}; ${byHand}`;
}

/**
 * Returns the value in the type of the key's schema: text that is a number becomes one only where the schema accepts
 * one. If the schema accepts neither, returns the type of the current value, so that the check of the file says what is
 * wrong; so too for a parameter of a strategy file, which has no schema. `run` as in `listedParameters`.
 */
export function typedParameter(
  config: Config,
  key: string,
  text: string,
  run: Config | null = null,
): string | number | boolean {
  const schema = schemaAt(configSchema, config, key.split('.'));
  const number = decimalTextOf(text) === null ? [] : [Number(text)];
  const flag = text === 'true' || text === 'false' ? [text === 'true'] : [];
  const candidates = [...number, ...flag, text];
  const accepted = candidates.find(each => schema !== null && isAccepted(schema, each));
  const current = typeof valueOrDefault(config, key, run);
  return accepted ?? candidates.find(each => typeof each === current) ?? text;
}

const isAccepted = (schema: object, value: unknown): boolean =>
  'safeParse' in schema &&
  (schema as { safeParse(value: unknown): { readonly success: boolean } }).safeParse(value).success;

function valueOfPath(value: unknown, path: readonly string[]): unknown {
  let here = value;
  for (const step of path)
    here =
      typeof here === 'object' && here !== null && Object.hasOwn(here, step)
        ? (here as Readonly<Record<string, unknown>>)[step]
        : undefined;
  return here;
}

const isSectionThere = (config: Config, path: readonly string[]): boolean => {
  const section = valueOfPath(config, path);
  return typeof section === 'object' && section !== null && !Array.isArray(section);
};

const UNITS = [
  ['PerMinute', 'per minute'],
  ['Per10Min', 'per 10 minutes'],
  ['Bps', 'bps'],
  ['bps', 'bps'],
  ['Ms', 'ms'],
  ['Pct', '%'],
] as const;

function parameterUnit(key: string): string {
  const name = key.slice(key.lastIndexOf('.') + 1);
  return UNITS.find(([end]) => name.endsWith(end))?.[1] ?? '';
}

function parameterHelp(key: string, config: Config): string {
  let description = '';
  const path = key.split('.');
  const section = schemaAt(configSchema, config, path.slice(0, -1));
  const shape: unknown = section !== null && 'shape' in section ? section.shape : {};
  const member = (shape as Readonly<Record<string, { readonly description?: string }>>)[path.at(-1)!];
  description = member?.description ?? '';
  return description;
}

/** Reads lines like `section: key key`, in which further lines continue the section. */
function directed(direction: ParameterDirection, text: string): Readonly<Record<string, ParameterDirection>> {
  let section = '';
  const keys: string[] = [];
  for (const word of text.trim().split(/\s+/))
    if (word.endsWith(':')) section = word.slice(0, -1);
    else keys.push(`${section}.${word}`);
  return Object.fromEntries(keys.map(key => [key, direction]));
}
