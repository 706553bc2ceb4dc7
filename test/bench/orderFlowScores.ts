/**
 * Scores of a simulated market beside a recorded one, as LOB-Bench defines them (arXiv 2502.09172): distances of the
 * distributions of statistics of its book and its messages. Also four figures of its dynamics.
 */
import { MessageBook, takerSign, type LoggedTaker, type OrderMessage } from './orderLog.ts';

/** Number of quantiles that describe a distribution. */
export const QUANTILES = 100;
const LEVELS = 10;
const WARM_UP_MS = 120_000;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
/** Time differences of zero count as this many ms, before the logarithm. */
const ZERO_MS = 0.5;
/** Number of groups of a conditional score. */
const GROUPS = 3;

/**
 * The twenty scores. Prices are in median spreads of the market, amounts in median sizes of its new orders. A
 * conditional score has one distribution for each third of the condition's values in the recording.
 */
export const SCORES = [
  'spread',
  'imbalance of the best amounts',
  'log time between messages',
  'log time to cancel',
  'ask amount, best price',
  'bid amount, best price',
  'ask amount, ten levels',
  'bid amount, ten levels',
  'depth of new asks',
  'depth of new bids',
  'depth of canceled asks',
  'depth of canceled bids',
  'level of new asks',
  'level of new bids',
  'level of canceled asks',
  'level of canceled bids',
  'volume per minute',
  'order flow imbalance',
  'ask amount, best price | spread',
  'spread | volatility',
] as const;
export type ScoreName = (typeof SCORES)[number];

export type Dynamics = {
  /** Correlation of the imbalance of the best amounts with the move of the mid price over the next 5 s. */
  readonly imbalanceR: number;
  /** Mean moves of the mid price in the taker's direction after 1, 5, 15 and 60 s, in median spreads. */
  readonly impact: readonly number[];
  /** Correlation of the logarithms of successive times between taker orders. */
  readonly gapMemory: number;
  /** Correlation of the sides of successive taker orders, at lags 1, 2, 5 and 10. */
  readonly sideMemory: readonly number[];
  readonly takersPerMinute: number;
  readonly messagesPerSecond: number;
  readonly spreadBps: number;
  /** Root mean square move of the mid price over a minute, in bps. */
  readonly minuteMoveBps: number;
};

/** Samples of one market: values of each score; of a conditional score, pairs of condition and value. */
export type FlowSamples = {
  readonly values: Readonly<Record<ScoreName, readonly number[]>>;
  readonly conditions: Readonly<Record<string, readonly number[]>>;
  readonly dynamics: Dynamics;
};

/** Quantiles of each score; of a conditional score, of each group, with the bounds of the groups. */
export type FlowFigures = {
  readonly quantiles: Readonly<Record<ScoreName, readonly (readonly number[])[]>>;
  readonly bounds: Readonly<Record<string, readonly number[]>>;
  readonly dynamics: Dynamics;
};

export const IMPACT_S = [1, 5, 15, 60];
export const SIDE_LAGS = [1, 2, 5, 10];

type Mutable = Record<ScoreName, number[]>;

/** Collects the samples of a log. Messages beyond ten levels count only in the book, as in LOBSTER. */
export function samplesOf(log: readonly OrderMessage[], warmUpMs = WARM_UP_MS): FlowSamples {
  const start = log[0]!.at + warmUpMs;
  const end = log.at(-1)!.at;
  const values = Object.fromEntries(SCORES.map(name => [name, [] as number[]])) as Mutable;
  const conditions = { spread: [] as number[], volatility: [] as number[] };
  const book = new MessageBook();
  const takers: LoggedTaker[] = [];
  const mids = new Series();
  const imbalances = new Series();
  const spreads = new Series();
  const newSizes: number[] = [];
  const volumes = new Map<number, number>();
  const squares = new Map<number, number>();
  const spreadMinutes: number[] = [];
  let last = Number.NaN;
  let messages = 0;
  let [bid, ask, bidLots, askLots] = [Number.NaN, Number.NaN, 0, 0];
  for (const message of log) {
    const { at, kind, side, price, lots, born, isInitial } = message;
    const isSampled = !isInitial && at >= start;
    const midBefore = book.mid;
    const levelBefore = kind === 'limit' ? 0 : book.level(side, price);
    const wasWhole = book.isWhole;
    book.apply(message);
    if (!book.isWhole) continue;
    const { mid } = book;
    mids.add(at, mid);
    const [newBid, newAsk] = [book.best('buy'), book.best('sell')];
    const [newBidLots, newAskLots] = [book.touch('buy'), book.touch('sell')];
    imbalances.add(at, (newBidLots - newAskLots) / (newBidLots + newAskLots));
    spreads.add(at, newAsk - newBid);
    if (isSampled && wasWhole) {
      const minute = Math.floor((at - start) / MINUTE_MS);
      squares.set(minute, (squares.get(minute) ?? 0) + (mid - midBefore) ** 2);
      if (kind === 'execution') {
        volumes.set(minute, (volumes.get(minute) ?? 0) + lots);
        const sign = takerSign(side);
        const taker = takers.at(-1);
        if (taker?.at === at && taker.sign === sign) taker.lots += lots;
        else takers.push({ at, sign, mid: midBefore, lots });
      }
      const level = kind === 'limit' ? book.level(side, price) : levelBefore;
      if (level <= LEVELS) {
        messages++;
        if (last > 0) values['log time between messages'].push(Math.log(Math.max(ZERO_MS, at - last)));
        last = at;
        values.spread.push(newAsk - newBid);
        values['imbalance of the best amounts'].push((newBidLots - newAskLots) / (newBidLots + newAskLots));
        values['ask amount, best price'].push(newAskLots);
        values['bid amount, best price'].push(newBidLots);
        values['ask amount, ten levels'].push(book.total('sell', LEVELS));
        values['bid amount, ten levels'].push(book.total('buy', LEVELS));
        values['order flow imbalance'].push(
          flowImbalance([bid, bidLots, ask, askLots], [newBid, newBidLots, newAsk, newAskLots]),
        );
        values['ask amount, best price | spread'].push(newAskLots);
        conditions.spread.push(newAsk - newBid);
        values['spread | volatility'].push(newAsk - newBid);
        spreadMinutes.push(minute);
        const name = side === 'sell' ? 'asks' : 'bids';
        const depth = Math.abs(price - mid);
        if (kind === 'limit') {
          newSizes.push(lots);
          values[`depth of new ${name}`].push(depth);
          values[`level of new ${name}`].push(level);
        } else if (kind === 'cancel') {
          values[`depth of canceled ${name}`].push(Math.abs(price - midBefore));
          values[`level of canceled ${name}`].push(level);
          if (born > 0) values['log time to cancel'].push(Math.log(Math.max(ZERO_MS, at - born)));
        }
      }
    }
    [bid, bidLots, ask, askLots] = [newBid, newBidLots, newAsk, newAskLots];
  }
  const minutes = Math.max(1, Math.floor((end - start) / MINUTE_MS));
  for (let minute = 0; minute < minutes; minute++) values['volume per minute'].push(volumes.get(minute) ?? 0);
  conditions.volatility = spreadMinutes.map(minute => Math.sqrt(squares.get(minute) ?? 0));
  const unit = median(spreads.each(start, end, SECOND_MS));
  const size = median(newSizes);
  for (const name of SCORES) {
    const by = unitOf(name, unit, size);
    values[name] = values[name].filter(Number.isFinite).map(value => value / by);
  }
  conditions.spread = conditions.spread.map(value => value / unit);
  conditions.volatility = conditions.volatility.map(value => value / unit);
  const seconds = (end - start) / SECOND_MS;
  return {
    values,
    conditions: {
      'ask amount, best price | spread': conditions.spread,
      'spread | volatility': conditions.volatility,
    },
    dynamics: {
      imbalanceR: imbalanceR(imbalances, mids, start, end),
      impact: IMPACT_S.map(lag => impactOf(takers, mids, end, lag * SECOND_MS) / unit),
      gapMemory: gapMemory(takers),
      sideMemory: SIDE_LAGS.map(lag =>
        correlation(
          takers.slice(lag).map(({ sign }) => sign),
          takers.slice(0, -lag).map(({ sign }) => sign),
        ),
      ),
      takersPerMinute: (takers.length / seconds) * 60,
      messagesPerSecond: messages / seconds,
      spreadBps: (unit / mids.at(end)) * 1e4,
      minuteMoveBps: minuteMove(mids.each(start, end, MINUTE_MS)) * 1e4,
    },
  };
}

/** Joins the samples of several seeds; the dynamics are means. */
export function pooledSamples(all: readonly FlowSamples[]): FlowSamples {
  const [first] = all;
  if (first === undefined) throw new RangeError('expected the samples of at least one seed');
  const joined = <Name extends string>(pick: (of: FlowSamples) => Readonly<Record<Name, readonly number[]>>) =>
    Object.fromEntries(
      (Object.keys(pick(first)) as Name[]).map(name => [name, all.flatMap(of => pick(of)[name])]),
    ) as Record<Name, number[]>;
  const dynamics = Object.fromEntries(
    Object.entries(first.dynamics).map(([key, value]) => {
      const each = all.map(of => of.dynamics[key as keyof Dynamics]);
      return [
        key,
        typeof value === 'number'
          ? mean(each as number[])
          : value.map((_, i) => mean(each.map(of => (of as number[])[i]!))),
      ];
    }),
  ) as unknown as Dynamics;
  return { values: joined(of => of.values), conditions: joined(of => of.conditions), dynamics };
}

/** Describes a market by the quantiles of its samples. `bounds` of the groups: of a recording, to compare with it. */
export function figuresOf(samples: FlowSamples, bounds?: FlowFigures['bounds']): FlowFigures {
  const limits: Record<string, readonly number[]> = {};
  const quantiles = Object.fromEntries(
    SCORES.map(name => {
      const values = samples.values[name];
      const conditions = samples.conditions[name];
      if (conditions === undefined) return [name, [quantilesOf(values, QUANTILES)]];
      const own = quantilesOf(conditions, GROUPS * 2);
      const edges =
        bounds?.[name] ?? Array.from({ length: GROUPS - 1 }, (_, i) => (own[2 * i + 1]! + own[2 * i + 2]!) / 2);
      limits[name] = edges;
      const groups = Array.from({ length: GROUPS }, () => [] as number[]);
      values.forEach((value, i) => groups[edges.filter(edge => conditions[i]! > edge).length]!.push(value));
      return [name, groups.map(group => quantilesOf(group, QUANTILES))];
    }),
  ) as unknown as FlowFigures['quantiles'];
  return { quantiles, bounds: limits, dynamics: samples.dynamics };
}

/** Distances of a score: `l1` from 0 (equal) to 1 (nothing in common), `wasserstein` in mean deviations of the recording. */
export type Distance = { readonly l1: number; readonly wasserstein: number };

/** Returns the distances of a market from a recording. A group that the market never enters has an L1 distance of 1. */
export function distancesOf(market: FlowFigures, recording: FlowFigures): Readonly<Record<ScoreName, Distance>> {
  return Object.fromEntries(
    SCORES.map(name => {
      const each = recording.quantiles[name].map((real, group) => distance(market.quantiles[name][group] ?? [], real));
      return [
        name,
        { l1: mean(each.map(({ l1 }) => l1)), wasserstein: mean(each.map(({ wasserstein }) => wasserstein)) },
      ];
    }),
  ) as unknown as Readonly<Record<ScoreName, Distance>>;
}

const BINS = 20;

function distance(simulated: readonly number[], real: readonly number[]): Distance {
  const center = median(real);
  const deviation = Math.max(1e-9, mean(real.map(value => Math.abs(value - center))));
  if (simulated.length === 0) return { l1: 1, wasserstein: 1 };
  const all = Array.from({ length: BINS - 1 }, (_, i) => real[Math.floor(((i + 1) * real.length) / BINS)]!);
  const edges = [...new Set(all)];
  // A value of at least two bins' mass is a bin of its own, such as the first level or a flow of 0.
  const isMass = edges.map(edge => all.filter(one => one === edge).length > 1);
  const shares = (of: readonly number[]) => {
    const counts = new Array<number>(edges.length * 2 + 1).fill(0);
    for (const value of of) {
      const below = edges.filter(edge => edge < value).length;
      counts[isMass[below] === true && edges[below] === value ? 2 * below + 1 : 2 * below]! += 1 / of.length;
    }
    return counts;
  };
  const [p, q] = [shares(simulated), shares(real)];
  return {
    l1: p.reduce((sum, share, i) => sum + Math.abs(share - q[i]!), 0) / 2,
    wasserstein: mean(real.map((value, i) => Math.abs(value - simulated[i]!))) / deviation,
  };
}

/** Order flow imbalance of one message (Cont, Kukanov, Stoikov 2014). States: bid, its lots, ask, its lots. */
function flowImbalance(
  [bid, bidLots, ask, askLots]: readonly [number, number, number, number],
  [newBid, newBidLots, newAsk, newAskLots]: readonly [number, number, number, number],
): number {
  return (
    (newBid >= bid ? newBidLots : 0) -
    (newBid <= bid ? bidLots : 0) -
    (newAsk <= ask ? newAskLots : 0) +
    (newAsk >= ask ? askLots : 0)
  );
}

const PRICED: ReadonlySet<string> = new Set(['spread', 'spread | volatility']);
const PLAIN: ReadonlySet<string> = new Set([
  'imbalance of the best amounts',
  'log time between messages',
  'log time to cancel',
]);

function unitOf(name: ScoreName, spread: number, size: number): number {
  if (PRICED.has(name) || name.startsWith('depth of')) return spread;
  return PLAIN.has(name) || name.startsWith('level of') ? 1 : size;
}

/** Step function of time. */
class Series {
  readonly #times: number[] = [];
  readonly #values: number[] = [];

  add(at: number, value: number): void {
    if (this.#times.at(-1) === at) this.#values[this.#values.length - 1] = value;
    else if (this.#values.at(-1) !== value) {
      this.#times.push(at);
      this.#values.push(value);
    }
  }

  /** Returns the value at a time; NaN before the first. */
  at(time: number): number {
    let [low, high] = [0, this.#times.length];
    while (low < high) {
      const pivot = (low + high) >> 1;
      if (this.#times[pivot]! <= time) low = pivot + 1;
      else high = pivot;
    }
    return this.#values[low - 1] ?? Number.NaN;
  }

  each(from: number, to: number, step: number): number[] {
    const found: number[] = [];
    for (let time = from; time <= to; time += step) found.push(this.at(time));
    return found.filter(Number.isFinite);
  }
}

function imbalanceR(imbalances: Series, mids: Series, start: number, end: number): number {
  const [x, y]: [number[], number[]] = [[], []];
  for (let time = start; time + 5 * SECOND_MS <= end; time += SECOND_MS) {
    const [imbalance, move] = [imbalances.at(time), mids.at(time + 5 * SECOND_MS) / mids.at(time) - 1];
    if (!Number.isFinite(imbalance + move)) continue;
    x.push(imbalance);
    y.push(move);
  }
  return correlation(x, y);
}

function minuteMove(mids: readonly number[]): number {
  return Math.sqrt(mean(mids.slice(1).map((mid, i) => (mid / mids[i]! - 1) ** 2)));
}

function impactOf(takers: readonly LoggedTaker[], mids: Series, end: number, lag: number): number {
  return mean(takers.filter(({ at }) => at + lag <= end).map(({ at, sign, mid }) => sign * (mids.at(at + lag) - mid)));
}

function gapMemory(takers: readonly LoggedTaker[]): number {
  const gaps = takers.slice(1).map(({ at }, i) => Math.log(Math.max(1, at - takers[i]!.at)));
  return correlation(gaps.slice(1), gaps.slice(0, -1));
}

function quantilesOf(values: readonly number[], count: number): number[] {
  const ordered = values.toSorted((a, b) => a - b);
  if (ordered.length === 0) return [];
  return Array.from({ length: count }, (_, i) => ordered[Math.floor(((i + 0.5) * ordered.length) / count)]!);
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const median = (values: readonly number[]): number => quantilesOf(values, 1)[0] ?? Number.NaN;

function correlation(x: readonly number[], y: readonly number[]): number {
  const [mx, my] = [mean(x), mean(y)];
  let [xy, xx, yy] = [0, 0, 0];
  x.forEach((value, i) => {
    const [dx, dy] = [value - mx, y[i]! - my];
    xy += dx * dy;
    xx += dx * dx;
    yy += dy * dy;
  });
  return xy / Math.sqrt(xx * yy);
}
