/** Random configurations: any strategy, and values within the bounds of the schema, if they load and cover the fees. */
import { z } from 'zod';
import { edgeProblem, loadConfig, type Config } from '../../../src/config.ts';
import { configSchema } from '../../../src/config/schema.ts';
import { seedFromText } from '../../../src/core/index.ts';
import { strategies, type StrategyName } from '../../../strategies/index.ts';
import type { Chance } from './chance.ts';

export type RawConfig = Readonly<Record<string, unknown>> & { readonly strategy: LadderBase };
type LadderBase = Readonly<Record<string, unknown>> & { readonly amount: string; readonly levels: number };

/** Inputs of the random draw of one value. */
type Scene = { readonly chance: Chance; readonly base: LadderBase; readonly usesStream: boolean };
type Draw = (scene: Scene) => unknown;

/** Maximum number of random configurations until one is valid. */
const TRIES_MAX = 200;
/** Maker fee of the account, in 10^-8. */
const MAKER_RATE = 100_000;
/** Factor by which a random number may be above or below its default. */
const FACTOR = 4;

const pick =
  (...values: readonly unknown[]): Draw =>
  ({ chance }) =>
    chance.pick(values);
const about =
  (value: number): Draw =>
  ({ chance }) =>
    round(value * 2 ** chance.between(-1, 1));

/** Draws for keys whose values must fit the account's balances, or let quotes come near the market, by key path. */
const KNOWN: Readonly<Record<string, Draw>> = {
  amount: ({ base }) => base.amount,
  levels: ({ base, chance }) => chance.integer(1, base.levels),
  halfSpreadBps: pick(10.6, 12, 16, 60),
  bidSpreadBps: pick(undefined, 11, 30),
  askSpreadBps: pick(undefined, 11, 30),
  priceCeiling: pick(undefined, '1000000', '100000000'),
  priceFloor: pick(undefined, '1000', '900000'),
  'skew.sizeRange': pick(undefined, '0.02', '1'),
  refreshMs: pick(0, 5_000),
  filledOrderDelayMs: pick(0, 10_000),
  'optimization.depthAmount': pick('0', '0.002'),
  spacingBps: pick(22, 25, 40),
  levelSpacingBps: pick(3, 6, 9),
  anchorPrice: pick('1', '100'),
  lowPrice: pick(undefined, '1000'),
  highPrice: pick(undefined, '100000000'),
  minEdgeBps: pick(0, 1, 2),
  'skew.priceBpsAtLimit': pick(0, 10, 40),
  levelAmountStep: pick('0', '0.001'),
  'risk.amount': pick('100 mxn', '500 mxn', '5000 mxn'),
  'risk.per': pick('10m', '1h'),
  horizon: pick('infinite', '1h', '1d'),
  'market.volatilityBps': about(57),
  'market.arrivalsPerMinute': about(5.7),
  'market.decayPerBps': about(0.19),
  'market.adverseBps': pick(0, 2),
  'market.profile': () => undefined,
  'market.memory': pick('5m', '30m'),
  memory: pick('1m', '10m'),
  basisMemory: pick(undefined, '1m', '1h'),
  maxAgeMs: pick(15_000, 60_000),
  // The bot replaces older orders. Each replacement takes two messages of the budget.
  maxOrderAgeMs: pick(30_000, 300_000, 1_800_000),
  refreshToleranceBps: pick(0.5, 2, 4, 20),
  'regimes.wide.depthMin': pick(undefined, '0.001', '0.05'),
  'regimes.wide.volatilityBps': pick(undefined, 20, 60, 200),
  'regimes.wide.marketSpreadBps': pick(undefined, 5, 20, 100),
  'regimes.reduceOnly.positionShare': pick(undefined, 0.3, 0.8),
  'regimes.reduceOnly.drawdownShare': pick(undefined, 0.5),
  'pull.leader': () => undefined,
  'pull.print': ({ chance, usesStream }) =>
    usesStream ? { amount: '0.01', withinMs: 1_000, holdMs: chance.integer(500, 10_000) } : undefined,
  'limits.collarBps': pick(120, 200, 400),
};

/**
 * Replaces the strategy and other sections of `base` with random ones. Amounts and inventory limits remain. Returns
 * `null` if none of `TRIES_MAX` random configurations loads and covers the fees.
 */
export function drawnConfig(chance: Chance, base: RawConfig, usesStream: boolean): Config | null {
  const names = Object.keys(strategies) as StrategyName[];
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const scene: Scene = { chance, base: base.strategy, usesStream };
    const name = chance.pick(names);
    const strategy = { name, ...(sample(strategies[name].parameters, '', scene) as object) };
    const section = (key: keyof typeof configSchema.shape) => sample(configSchema.shape[key], `${key}.`, scene);
    const needsReference = 'needsReference' in strategies[name];
    const loaded = loadConfig(
      JSON.stringify({
        ...base,
        ...(needsReference ? { reference: { feeds: [{ file: 'the book itself' }], everyMs: 10_000 } } : {}),
        strategy,
        limits: {
          ...(base['limits'] as object),
          collarBps: KNOWN['limits.collarBps']!(scene),
          ordersMax: chance.integer(7, 20),
        },
        regimes: chance.hit(0.5) ? section('regimes') : undefined,
        markouts: chance.hit(0.5) ? section('markouts') : undefined,
        pull: chance.hit(0.5) ? section('pull') : undefined,
        // Not a draw of its own, so that all other draws of a seed stay as they were.
        fillSamples: seedFromText(JSON.stringify(strategy)) % 4 === 0 ? { perHour: 120, lifeMs: 20_000 } : undefined,
        timing: {
          ...(base['timing'] as object),
          decideEveryMs: chance.integer(500, 1_500),
          staleAfterMs: chance.integer(4_000, 9_000),
        },
        ...(chance.hit(0.5) && isPlainTarget(base) ? { inventory: {} } : {}),
      }),
      'drawn',
    );
    if (loaded.ok && edgeProblem(loaded.config, MAKER_RATE) === null) return loaded.config;
  }
  return null;
}

/** Whether the target equals the opening balance, so that the configuration may omit it. */
const isPlainTarget = ({ inventory }: RawConfig): boolean =>
  (inventory as { readonly target: string }).target === '1.5';

/** Draws a value of a schema. `path` is its key path with a final dot. Returns `undefined` if the key is omitted. */
function sample(schema: z.core.$ZodType, path: string, scene: Scene): unknown {
  const { chance } = scene;
  const known = KNOWN[path.slice(0, -1)];
  if (known) return known(scene);
  if (schema instanceof z.ZodOptional) return chance.hit(0.5) ? sample(schema.unwrap(), path, scene) : undefined;
  if (schema instanceof z.ZodPrefault) return sample(schema.unwrap(), path, scene);
  if (schema instanceof z.ZodDefault) {
    const value = schema.def.defaultValue;
    const inner = schema.unwrap();
    return inner instanceof z.ZodNumber && typeof value === 'number'
      ? numberNear(inner, value, chance)
      : sample(inner, path, scene);
  }
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(
      Object.entries(schema.shape as Readonly<Record<string, z.core.$ZodType>>).map(([key, member]) => [
        key,
        sample(member, `${path}${key}.`, scene),
      ]),
    );
  if (schema instanceof z.ZodEnum) return chance.pick(schema.options);
  if (schema instanceof z.ZodLiteral) return chance.pick([...schema.values]);
  if (schema instanceof z.ZodBoolean) return chance.hit(0.5);
  if (schema instanceof z.ZodNumber) return numberWithin(schema, chance);
  throw new Error(`a value of ${path.slice(0, -1)} cannot be drawn: name one in KNOWN`);
}

function numberNear(schema: z.ZodNumber, value: number, chance: Chance): number {
  if (chance.hit(0.5)) return value;
  const [from, to] = boundsOf(schema);
  const drawn = value === 0 ? chance.between(0, 10) : value * FACTOR ** chance.between(-1, 1);
  return whole(schema, Math.min(to, Math.max(from, drawn)));
}

/** Draws a number within its bounds: uniform in its logarithm if the minimum is not negative, otherwise uniform. */
function numberWithin(schema: z.ZodNumber, chance: Chance): number {
  const [from, to] = boundsOf(schema);
  if (from < 0) return whole(schema, chance.between(from, to));
  const least = Math.max(from, to / 1_000_000);
  return whole(schema, Math.min(to, least * (to / least) ** chance.next()));
}

const boundsOf = ({ minValue, maxValue }: z.ZodNumber): readonly [number, number] => [minValue ?? 0, maxValue ?? 1e9];
const whole = (schema: z.ZodNumber, x: number): number => (schema.isInt ? Math.round(x) : round(x));
const round = (x: number): number => Number(x.toPrecision(4));
