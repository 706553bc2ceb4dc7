/** Parameters of every strategy, fixed and arbitrary, and views of any book and inventory: what the laws for all strategies are tried on. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { parse } from 'yaml';
import { shippedConfig } from '../../src/wiring/configFile.ts';
import { amount, instrumentOf, price, type Strategy, type View } from '../../src/core/index.ts';
import { kindOf, strategies, type StrategyName } from '../../strategies/index.ts';
import type { TuningRange } from '../../strategies/tuning.ts';
import { bookRules, depthOf } from '../core/market.ts';
import { between } from '../draws.ts';

/** Tick 10, lot 10^-8: at a middle of 150,000 ticks one bps is 15 ticks. */
export const instrument = instrumentOf(bookRules({ tickSize: '10', minimumPrice: '10', maximumPrice: '20000000' }));
export const COIN = 100_000_000;
export const MID = 150_000;

/** Shipped configuration of a strategy: the file of its name, or the default one. */
export function fileOf(name: StrategyName): string {
  try {
    shippedConfig(name);
    return name;
  } catch {
    return 'sandbox';
  }
}

export const NAMES = Object.keys(strategies) as readonly StrategyName[];

/** What each shipped configuration says, with five levels a side. */
export const EXAMPLES = Object.fromEntries(
  NAMES.map(name => {
    const { strategy } = parse(readFileSync(shippedConfig(fileOf(name)), 'utf8')) as { strategy: object };
    const { name: found, ...parameters } = strategy as { name: string };
    if (found !== name)
      throw new Error(`config/${fileOf(name)}.yaml: expected a configuration of ${name}, found ${found}`);
    return [name, { ...parameters, levels: 5 }];
  }),
) as Readonly<Record<StrategyName, object>>;

export function strategyOf(name: StrategyName, parameters: object = EXAMPLES[name]): Strategy {
  const kind = strategies[name];
  return kindOf({ name }).make(kind.parameters.parse(parameters), instrument);
}

export function viewOf(changes: Partial<View> = {}): View {
  const side = (away: number) =>
    Array.from({ length: 50 }, (_, i): [number, number] => [MID + away * (5 + 3 * i), COIN]);
  return {
    at: 1_000_000,
    instrument,
    depth: depthOf(side(-1), side(1)),
    mid: MID,
    lastTrade: price(0),
    hearsTrades: true,
    reference: { at: 1_000_000, price: MID + 2 },
    position: 0,
    positionMax: amount(COIN),
    makerRate: 50_000,
    takerRate: 65_000,
    widenBps: { buy: 0, sell: 0 },
    lastBuy: null,
    lastSell: null,
    ...changes,
  };
}

const tenths = (min: number, max: number) => fc.integer({ min: min * 10, max: max * 10 }).map(x => x / 10);
const amounts = fc.integer({ min: 1, max: 20_000 }).map(n => (n / 100_000).toFixed(5));
const levels = fc.integer({ min: 1, max: 6 });
/** Fills that fall with the distance or not, moves that grow with it or not; in some nothing pays. */
const profiles = fc
  .array(fc.record({ step: tenths(1, 30), fills: tenths(1, 100), adverse: tenths(-5, 30) }), {
    minLength: 2,
    maxLength: 12,
  })
  .map(points => {
    let d = 0;
    return {
      distancesBps: points.map(({ step }) => (d += step)),
      fillsPerMinute: points.map(({ fills }) => fills),
      adverseBps: points.map(({ adverse }) => adverse),
    };
  });
const markets = fc.record({
  profile: fc.option(profiles, { nil: undefined }),
  volatilityBps: tenths(1, 500),
  arrivalsPerMinute: tenths(1, 100),
  decayPerBps: fc.integer({ min: 5, max: 2_000 }).map(x => x / 1_000),
  adverseBps: tenths(0, 10),
  estimate: fc.constantFrom('fixed', 'rolling'),
});
const risks = fc.record({
  amount: fc.integer({ min: 1, max: 1_000_000 }).map(x => `${x} mxn`),
  per: fc.constantFrom('1m', '1h', '1d'),
});
/** What no tuning varies, by the key that a strategy has it under. */
const OTHERS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  amount: amounts,
  levels,
  minEdgeBps: tenths(-10, 30),
  anchorPrice: fc.constantFrom('1', '1500000'),
  market: markets,
  risk: risks,
};

/** Any value of the range, its ends among them. */
const anyOf = (range: TuningRange): fc.Arbitrary<unknown> => {
  if (range.scale === 'choice') return fc.constantFrom(...range.values);
  const { scale, from, to } = range;
  return fc
    .integer({ min: 0, max: 200 })
    .map(n =>
      Number((scale === 'log' ? from * (to / from) ** (n / 200) : from + ((to - from) * n) / 200).toPrecision(6)),
    );
};

export const tuningOf = (name: StrategyName): Readonly<Record<string, TuningRange>> => strategies[name].tuning;

/** The parameters with one changed, by its key or its section's and its own, like `skew.priceBpsAtLimit`. */
export function changed(parameters: object, path: string, value: unknown): object {
  const [key, inner] = path.split('.') as [string, string?];
  if (inner === undefined) return { ...parameters, [key]: value };
  return { ...parameters, [key]: { ...(parameters as Record<string, object>)[key], [inner]: value } };
}

/** Any parameters within reason: those of its configuration, with what tuning may vary, and the market, the risk and the amounts, as they may be. */
export function parametersOf(name: StrategyName): fc.Arbitrary<object> {
  const { shape } = strategies[name].parameters;
  const others = Object.fromEntries(Object.entries(OTHERS).filter(([key]) => key in shape));
  const tuned = Object.fromEntries(Object.entries(tuningOf(name)).map(([path, range]) => [path, anyOf(range)]));
  return fc
    .record({ tuned: fc.record(tuned), others: fc.record(others) })
    .map(({ tuned, others }) =>
      Object.entries({ ...tuned, ...others }).reduce(
        (parameters, [path, value]) => changed(parameters, path, value),
        EXAMPLES[name],
      ),
    );
}

/** The parameters with each that tuning may vary at its lowest value, and a minimum edge below every fee. */
export function lowestOf(name: StrategyName): object {
  const lowest = Object.entries(tuningOf(name)).map(([path, range]): [string, unknown] => [
    path,
    range.scale === 'choice' ? range.values[0] : range.from,
  ]);
  return [...lowest, ['minEdgeBps', -10] as const]
    .filter(([path]) => path.split('.')[0]! in strategies[name].parameters.shape)
    .reduce((parameters, [path, value]) => changed(parameters, path, value), EXAMPLES[name]);
}

/** A two-sided book that is not crossed, around any middle; any inventory. */
export const anyView: fc.Arbitrary<View> = fc
  .record({
    bid: fc.integer({ min: 2, max: 1_900_000 }),
    gap: fc.integer({ min: 1, max: 2_000 }),
    amounts: fc.array(fc.integer({ min: 1, max: 50 * COIN }), { minLength: 6, maxLength: 6 }),
    positionShare: between(-1.5, 1.5),
    makerRate: fc.integer({ min: 0, max: 700_000 }),
    referenceOff: fc.integer({ min: -50, max: 50 }),
  })
  .map(({ bid, gap, amounts: lots, positionShare, makerRate, referenceOff }) => {
    const side = (from: number, step: number, of: readonly number[]) =>
      of.map((lot, i): [number, number] => [from + step * i, lot]).filter(([ticks]) => ticks > 0);
    const mid = bid + gap / 2;
    return viewOf({
      depth: depthOf(side(bid, -1, lots.slice(0, 3)), side(bid + gap, 1, lots.slice(3))),
      mid,
      reference: { at: 1_000_000, price: Math.max(1, mid + referenceOff) },
      position: Math.trunc(positionShare * COIN),
      makerRate,
    });
  });
