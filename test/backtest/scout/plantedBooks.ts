/** Ten books of which one pays: as recordings, and as markets that live on the embedded exchange. */
import { scoutedBook, type ScoutedBook } from '../../../backtest/index.ts';
import {
  exponential,
  normal,
  priceFloor,
  randomOf,
  type Amount,
  type Price,
  type Random,
  type Side,
  type Timer,
} from '../../../src/core/index.ts';
import type { Market, Marketplace } from '../../../src/sandbox/index.ts';
import { plantedMarket, type Planted } from '../profile/plantedMarket.ts';

/** In bps. */
export const FEE = 4;
const GOOD: Planted = { perMinute: 6, decayPerBps: 0.1, move: 1, moveOfReach: 0.2, volatilityBps: 40 };

/** The i-th of those that lose at every distance: after each taker the middle stands beyond all that he paid. */
const badOf = (i: number): Planted => ({
  ...{ perMinute: 4 + i, decayPerBps: 0.1 + 0.05 * (i % 4), move: 3 + (i % 5), moveOfReach: 1 },
  volatilityBps: 30 + 5 * i,
});

/** An hour of each, measured; the one that pays is called `good`, and its place is drawn. */
export function tenBooks(seed: number): readonly ScoutedBook[] {
  const good = goodOf(seed);
  return Array.from({ length: 10 }, (_, i) => (i === good ? goodBook(seed) : bookOf(`bad ${i}`, seed, i, badOf(i))));
}

/** That one alone, at any fee. */
export const goodBook = (seed: number, feeBps = FEE): ScoutedBook => bookOf('good', seed, goodOf(seed), GOOD, feeBps);

const goodOf = (seed: number): number => randomOf(seed).integer(0, 9);

const bookOf = (name: string, seed: number, i: number, truth: Planted, feeBps = FEE): ScoutedBook =>
  scoutedBook(name, plantedMarket(1_000 * seed + i, 1, truth), {
    ...{ cadenceMs: 1_000, latencyMs: 25, feeBps, tiers: [], volume30d: 0, seed },
  });

export type Living = {
  readonly startPrice: string;
  /** Of the touch, and between its five levels. */
  readonly stepBps: number;
  /** Takers of both sides a minute; how many levels each takes is drawn evenly. */
  readonly takersPerMinute: number;
  /** How far the middle moves with a taker, for good, in parts of the price that he paid last. */
  readonly moveOfReach: number;
  readonly volatilityBps: number;
};

const LEVELS = 5;

/** A maker of five levels on either side, laid anew whenever the middle moves, and takers who move it. */
export function livingMarket(seed: number, truth: Living): Market {
  const random: Random = randomOf(seed);
  const timers = new Set<Timer>();
  let stopped = false;
  const every = (place: Marketplace, ms: () => number, call: () => void): void => {
    const timer = place.clock.after(ms(), () => {
      timers.delete(timer);
      if (stopped) return;
      call();
      every(place, ms, call);
    });
    timers.add(timer);
  };
  return {
    start: place => {
      const { instrument } = place;
      const lots = (50 * instrument.amountMin) as Amount;
      let mid: number = priceFloor(instrument, truth.startPrice);
      let laid: number[] = [];
      const at = (side: Side, level: number): Price => {
        const away = mid * (1 + ((side === 'buy' ? -1 : 1) * truth.stepBps * level) / 10_000);
        return (side === 'buy' ? Math.floor(away) : Math.ceil(away)) as Price;
      };
      const lay = (): void => {
        for (const id of laid) place.cancel(id);
        laid = [];
        for (const side of ['buy', 'sell'] as const)
          for (let level = 1; level <= LEVELS; level++) laid.push(place.place(side, at(side, level), lots, 'GTC').id);
      };
      lay();
      every(
        place,
        () => 5_000,
        () => {
          mid *= 1 + (truth.volatilityBps / 10_000) * Math.sqrt(5 / 3_600) * normal(random);
          lay();
        },
      );
      every(
        place,
        () => exponential(random, 60_000 / truth.takersPerMinute),
        () => {
          const side = random.next() < 0.5 ? 'buy' : 'sell';
          const levels = random.integer(1, LEVELS);
          place.place(side, at(side === 'buy' ? 'sell' : 'buy', levels), (levels * lots) as Amount, 'IOC');
          mid *= 1 + ((side === 'buy' ? 1 : -1) * truth.moveOfReach * levels * truth.stepBps) / 10_000;
          lay();
        },
      );
    },
    stop: () => {
      stopped = true;
      for (const timer of timers) timer.stop();
    },
  };
}
