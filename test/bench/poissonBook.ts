/**
 * Book without memory (Cont, Stoikov, Talreja, A stochastic model for order book dynamics, 2010), as LOB-Bench's
 * baseline: independent Poisson arrivals of orders of one size, with rates by distance from the best opposite price.
 */
import {
  exponential,
  opposite,
  randomOf,
  type Amount,
  type Price,
  type Random,
  type Side,
} from '../../src/core/index.ts';
import type { Marketplace } from '../../src/sandbox/markets/market.ts';
import type { Market } from '../../src/sandbox/index.ts';
import { MessageBook, type OrderMessage } from './orderLog.ts';

/** Upper ends of the distances from the best opposite price, in median spreads. */
const DISTANCES = [
  0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 25,
] as const;

/** Rates of one side, per second. `limits`, `cancels`: by distance; `cancels`: per resting order. */
export type PoissonRates = {
  readonly limits: readonly number[];
  readonly cancels: readonly number[];
  readonly takers: number;
  /** Mean number of resting orders of a side, by distance; the book starts with them. */
  readonly orders: readonly number[];
};

/** Measures the rates of a recording, as means of both sides. `spread`: its median spread in ticks. */
export function poissonRatesOf(log: readonly OrderMessage[], spread: number): PoissonRates {
  const zeros = () => new Array<number>(DISTANCES.length).fill(0);
  const [limits, canceled, resting] = [zeros(), zeros(), zeros()];
  const counts: Record<Side, Map<number, number>> = { buy: new Map(), sell: new Map() };
  const book = new MessageBook();
  let takers = 0;
  let lastTaker = Number.NaN;
  let begin = Infinity;
  let second = log[0]!.at;
  let counted = 0;
  for (const message of log) {
    const { at, kind, side, price, isInitial } = message;
    if (book.isWhole) begin = Math.min(begin, at);
    else second = at;
    // The book is counted once per second.
    for (; book.isWhole && at >= second; second += 1_000) {
      counted++;
      for (const each of ['buy', 'sell'] as const) {
        const best = book.best(opposite(each));
        for (const [level, count] of counts[each]) {
          const bin = binOf(Math.abs(level - best) / spread);
          if (bin < DISTANCES.length) resting[bin]! += count;
        }
      }
    }
    if (!isInitial && book.isWhole) {
      const bin = binOf(Math.abs(price - book.best(opposite(side))) / spread);
      if (kind === 'limit' && bin < DISTANCES.length) limits[bin]!++;
      if (kind === 'cancel' && bin < DISTANCES.length) canceled[bin]!++;
      if (kind === 'execution' && at !== lastTaker) {
        takers++;
        lastTaker = at;
      }
    }
    book.apply(message);
    const count = (counts[side].get(price) ?? 0) + (kind === 'limit' ? 1 : -1);
    if (book.amountAt(side, price) > 0) counts[side].set(price, Math.max(1, count));
    else counts[side].delete(price);
  }
  const seconds = (log.at(-1)!.at - begin) / 1000;
  const perSide = (values: readonly number[], by: number) =>
    values.map(value => Number((value / by / 2).toPrecision(4)));
  return {
    limits: perSide(limits, seconds),
    cancels: canceled.map((count, bin) =>
      resting[bin]! > 0 ? Number(((count / seconds) * (counted / resting[bin]!)).toPrecision(4)) : 0,
    ),
    takers: Number((takers / seconds / 2).toPrecision(4)),
    orders: perSide(resting, counted),
  };
}

const binOf = (distance: number): number => DISTANCES.filter(end => distance > end).length;

export type PoissonOptions = {
  readonly seed: number;
  readonly rates: PoissonRates;
  /** Price at the start, and the median spread, in ticks. */
  readonly startTicks: number;
  readonly spreadTicks: number;
  /** Size of every order. */
  readonly lots: Amount;
};

/** Returns the market. */
export const poissonBook = (options: PoissonOptions): Market => new PoissonBook(options);

type Resting = { readonly id: number; readonly side: Side; readonly price: number };

class PoissonBook implements Market {
  readonly #options: PoissonOptions;
  readonly #random: Random;
  readonly #orders = new Map<number, Resting>();
  #place: Marketplace | undefined;
  #stopped = false;

  constructor(options: PoissonOptions) {
    this.#options = options;
    this.#random = randomOf(options.seed);
  }

  start(place: Marketplace): void {
    this.#place = place;
    const { rates, startTicks, spreadTicks } = this.#options;
    place.onSyntheticFill((id, _side, _price, _amount, maker) => {
      if (maker) this.#orders.delete(id);
    });
    for (const side of ['buy', 'sell'] as const) {
      rates.orders.forEach((count, bin) => {
        for (let n = 0; n < Math.round(count); n++) {
          const distance = this.#distance(bin) * spreadTicks + spreadTicks / 2;
          this.#add(side, Math.round(side === 'buy' ? startTicks - distance : startTicks + distance));
        }
      });
    }
    this.#next();
  }

  stop(): void {
    this.#stopped = true;
  }

  #next(): void {
    const { rates } = this.#options;
    const place = this.#place!;
    const limits = 2 * rates.limits.reduce((sum, rate) => sum + rate, 0);
    const cancels = [...this.#orders.values()].map(order => [order, this.#cancelRate(order)] as const);
    const canceled = cancels.reduce((sum, [, rate]) => sum + rate, 0);
    const total = limits + canceled + 2 * rates.takers;
    place.clock.after(exponential(this.#random, 1 / total) * 1000, () => {
      if (this.#stopped) return;
      let at = this.#random.next() * total;
      const side = this.#random.next() < 0.5 ? 'buy' : 'sell';
      if (at < limits) this.#limit(side, at / 2);
      else if ((at -= limits) < canceled) {
        const found = cancels.find(([, rate]) => (at -= rate) < 0) ?? cancels[0]!;
        place.cancel(found[0].id);
        this.#orders.delete(found[0].id);
      } else if (this.#best(opposite(side)) > 0)
        place.place(side, this.#best(opposite(side)), this.#options.lots, 'IOC');
      this.#next();
    });
  }

  #limit(side: Side, at: number): void {
    const { rates, startTicks, spreadTicks } = this.#options;
    let left = at;
    const bin = Math.max(
      0,
      rates.limits.findIndex(rate => (left -= rate) < 0),
    );
    const distance = Math.max(1, Math.round(this.#distance(bin) * spreadTicks));
    const best = this.#best(opposite(side)) || startTicks;
    this.#add(side, side === 'buy' ? best - distance : best + distance);
  }

  #add(side: Side, price: number): void {
    const { id, rested } = this.#place!.place(side, price as Price, this.#options.lots, 'GTC');
    if (rested > 0) this.#orders.set(id, { id, side, price });
  }

  #distance(bin: number): number {
    const from = DISTANCES[bin - 1] ?? 0;
    return from + (DISTANCES[bin]! - from) * this.#random.next();
  }

  /** Orders beyond the last distance are canceled at its rate. */
  #cancelRate({ side, price }: Resting): number {
    const best = this.#best(opposite(side));
    if (best === 0) return 0;
    const bin = binOf(Math.abs(price - best) / this.#options.spreadTicks);
    return this.#options.rates.cancels[Math.min(bin, DISTANCES.length - 1)]!;
  }

  #best(side: Side): Price {
    return side === 'buy' ? this.#place!.bestBid() : this.#place!.bestAsk();
  }
}
