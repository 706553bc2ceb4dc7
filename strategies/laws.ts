/**
 * Laws that every strategy must obey, for the tests of the strategies here and for `puntas check-strategy`. A law
 * receives a function that makes a new strategy, and views in time order.
 */
import { isDeepStrictEqual } from 'node:util';
import { amount, counted, price, type Level, type Quote, type Strategy, type View } from '../src/core/index.ts';
import { amountProblem, beyondMarket, numberProblem, quoteIn } from './guarded.ts';

export type StrategyLaw = {
  /** Statement about a strategy that obeys the law, without its subject. */
  readonly name: string;
  /** Returns how the strategy breaks the law; `null` if it obeys. Throws the errors of the strategy. */
  readonly violation: (make: () => Strategy, views: readonly View[]) => string | null;
};

/** Relative tolerance for sums of floats. */
const SUM_TOLERANCE = 1e-9;

export const STRATEGY_LAWS: readonly StrategyLaw[] = [
  {
    name: 'returns a valid quote at every view, with a reason for each empty side',
    violation: (make, views) =>
      eachQuote(make, views, quote => {
        const problem = quoteIn(quote);
        if (typeof problem === 'string') return problem;
        if (quote.bids.length === 0 && !isReason(quote.noBid)) return 'no bids, and noBid gives no reason';
        if (quote.asks.length === 0 && !isReason(quote.noAsk)) return 'no asks, and noAsk gives no reason';
        return null;
      }),
  },
  {
    name: 'quotes finite prices, best first, and whole amounts above zero or zero',
    violation: (make, views) =>
      eachQuote(
        make,
        views,
        quote => numberViolation('bids', quote.bids, -1) ?? numberViolation('asks', quote.asks, 1),
      ),
  },
  {
    name: 'keeps its bids below its asks',
    violation: (make, views) =>
      eachQuote(make, views, ({ bids, asks }) => {
        const [bid, ask] = [bids[0]?.price ?? -Infinity, asks[0]?.price ?? Infinity];
        return bid < ask ? null : `the best bid ${bid} is not below the best ask ${ask}`;
      }),
  },
  {
    name: 'explains each price by steps that add up to it',
    violation: (make, views) =>
      eachQuote(make, views, ({ bids, asks }) => {
        for (const level of [...bids, ...asks]) {
          const sum = level.why.reduce((total, { ticks }) => total + ticks, 0);
          const isEqual = Math.abs(sum - level.price) <= SUM_TOLERANCE * Math.abs(level.price) + SUM_TOLERANCE;
          if (!isEqual) return `price ${level.price}, but the steps in why add up to ${sum}`;
        }
        return null;
      }),
  },
  {
    name: 'shows no bid at the maximum position and no ask at the minimum position',
    violation: (make, views) => {
      for (const view of views) {
        const [long, short] = [view.positionMax, -view.positionMax].map(position => ({ ...view, position }));
        const { bids } = make().quote(long!);
        if (bids.length > 0)
          return `${counted(bids.length, 'bid')} at position ${view.positionMax}, the maximum in lots`;
        const { asks } = make().quote(short!);
        if (asks.length > 0)
          return `${counted(asks.length, 'ask')} at position ${-view.positionMax}, the minimum in lots`;
      }
      return null;
    },
  },
  {
    name: 'gives the same quotes for the same views',
    violation: (make, views) => {
      const [one, other] = [make(), make()];
      for (const view of views) {
        tradeInto(one, view);
        tradeInto(other, view);
        if (!isDeepStrictEqual(quoteIn(one.quote(view)), quoteIn(other.quote(view))))
          return 'two strategies with the same past gave different quotes';
      }
      return null;
    },
  },
  {
    name: 'does not look ahead: quotes a market in the same way, whether an earlier strategy has seen it or not',
    violation: (make, views) => {
      const quotes = () => {
        const strategy = make();
        return views.map(view => {
          tradeInto(strategy, view);
          return quoteIn(strategy.quote(view));
        });
      };
      return isDeepStrictEqual(quotes(), quotes())
        ? null
        : 'gave other quotes at the second pass, as if it knew what came later; keep its memory in the variables of make';
    },
  },
  {
    name: 'does not change the view',
    violation: (make, views) => {
      const strategy = make();
      for (const view of views) {
        const before = structuredClone(view);
        strategy.quote(view);
        const changed = (Object.keys(before) as (keyof View)[]).find(key => !isDeepStrictEqual(before[key], view[key]));
        if (changed !== undefined) return `${changed} of the view was changed; copy it first`;
      }
      return null;
    },
  },
  {
    name: 'reads no clock, no random numbers, no file and no network, and starts no timer',
    violation: (make, views) => forbiddenCall(() => eachQuote(make, views, () => null)),
  },
  {
    name: 'survives numbers that are not finite, and quotes finite prices again after them',
    violation: (make, views) => {
      const view = views[0]!;
      const strategy = make();
      for (const broken of brokenViews(view)) strategy.quote(broken);
      const { bids, asks } = strategy.quote(view);
      const violation = numberViolation('bids', bids, -1) ?? numberViolation('asks', asks, 1);
      return violation === null ? null : `after such numbers: ${violation}`;
    },
  },
];

/** Law of strategy files only: the models of this program may want to reduce a large inventory at once. */
export const FILE_LAW: StrategyLaw = {
  name: 'quotes no price far beyond the other side of the book, where it would trade at a loss',
  violation: (make, views) => eachQuote(make, views, (quote, view) => beyondMarket(quote, view.depth)),
};

const isReason = (text: string | undefined): boolean => text !== undefined && text !== '';

/** Returns the first violation in the quotes of one strategy for all views. */
function eachQuote(
  make: () => Strategy,
  views: readonly View[],
  violation: (quote: Quote, view: View) => string | null,
): string | null {
  const strategy = make();
  for (const view of views) {
    tradeInto(strategy, view);
    const found = violation(strategy.quote(view), view);
    if (found !== null) return found;
  }
  return null;
}

/** Reports a public trade at the mid price of a view, as a feed does between two decisions. */
function tradeInto(strategy: Strategy, { at, mid }: View): void {
  const ticks = Math.max(1, Math.floor(mid));
  strategy.trade?.({
    at,
    price: price(ticks),
    amount: amount(1 + (ticks % 7)),
    side: ticks % 2 === 0 ? 'buy' : 'sell',
  });
}

/**
 * Returns why the prices or amounts of a side are invalid; `null` if they are valid. `away`: sign of the price step
 * from a level to the next one, away from the mid price.
 */
function numberViolation(side: string, levels: readonly Level[], away: -1 | 1): string | null {
  for (const [i, { price: ticks, amount: lots }] of levels.entries()) {
    const problem =
      numberProblem(`${side}[${i}].price`, ticks) ?? (lots < 0 ? amountProblem(`${side}[${i}].amount`, lots) : null);
    if (problem !== null) return problem;
    if (!Number.isSafeInteger(lots))
      return `${side}[${i}]: amount ${lots} is not a whole number of lots; round it down with Math.floor`;
    const inside = levels[i - 1]?.price ?? ticks;
    if (away * (ticks - inside) < 0) return `${side}[${i}]: price ${ticks} is better than the level before it`;
  }
  return null;
}

/** Returns views with numbers that a broken feed could cause. */
export const brokenViews = (view: View): readonly View[] =>
  [Number.NaN, Infinity, -Infinity].flatMap(bad =>
    (
      [
        { mid: bad },
        { position: bad },
        { makerRate: bad },
        { positionMax: bad as never },
        { at: bad },
        { reference: { at: bad, price: view.mid } },
        { reference: { at: view.at, price: bad } },
        { widenBps: { buy: bad, sell: bad } },
        { depth: { ...view.depth, bidAmounts: view.depth.bidAmounts.map(() => bad) } },
      ] as const satisfies readonly Partial<View>[]
    ).map(changes => ({ ...view, ...changes })),
  );

/** Functions that a strategy must not call, by their path from the global object. */
const FORBIDDEN: readonly (readonly [string, ...string[]])[] = [
  ['Math', 'random'],
  ['Date', 'now'],
  ['performance', 'now'],
  ['process', 'hrtime'],
  ['process', 'exit'],
  ['process', 'kill'],
  ['process', 'abort'],
  // The way to files and to the network, because a strategy file imports no module of Node.
  ['process', 'getBuiltinModule'],
  ['process', 'binding'],
  ['process', 'dlopen'],
  ['crypto', 'getRandomValues'],
  ['crypto', 'randomUUID'],
  ['setTimeout'],
  ['setInterval'],
  ['setImmediate'],
  ['queueMicrotask'],
  ['fetch'],
  ['WebSocket'],
  ['EventSource'],
];

/**
 * Returns the first forbidden function that `work` calls; if there is none, the violation that `work` returns, or
 * `null`. Replaces the forbidden functions during the call.
 */
export function forbiddenCall(work: () => string | null): string | null {
  let called: string | null = null;
  const restores: (() => void)[] = [];
  const replace = (owner: object, key: string, replacement: unknown): void => {
    const own = Object.getOwnPropertyDescriptor(owner, key);
    Object.defineProperty(owner, key, { value: replacement, configurable: true, writable: true });
    restores.push(() =>
      own === undefined ? Reflect.deleteProperty(owner, key) : Object.defineProperty(owner, key, own),
    );
  };
  const calls = (path: string) => {
    called ??= path;
    throw new Error(`a strategy cannot call ${path}`);
  };
  for (const path of FORBIDDEN) {
    const owner = path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], globalThis);
    if (typeof owner === 'object' || typeof owner === 'function')
      replace(owner as object, path.at(-1)!, () => calls(path.join('.')));
  }
  const { Date: Clock } = globalThis;
  replace(
    globalThis,
    'Date',
    new Proxy(Clock, {
      construct: (of, given: readonly unknown[]) =>
        given.length === 0 ? calls('new Date()') : (Reflect.construct(of, given) as Date),
      apply: () => calls('Date()'),
    }),
  );
  try {
    const violation = work();
    return called === null
      ? violation
      : `calls ${String(called)}; use only the view and the trades (view.at is the time of the decision)`;
  } catch (error) {
    if (called === null) throw error;
    return `calls ${String(called)}; use only the view and the trades (view.at is the time of the decision)`;
  } finally {
    for (const restore of restores.reverse()) restore();
  }
}
