/** Linked markets of two exchanges: the planted lead and basis are what a reader of both books measures, and a seed gives one world. */
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../src/core/index.ts';
import {
  createSecondExchange,
  createVenue,
  linkedFlows,
  type LinkOptions,
  type Marketplace,
} from '../../../src/sandbox/index.ts';
import { few, sized } from '../../many.ts';

const STEP_MS = 250;
const NO_BASIS = { constantBps: 0, revertingBps: 0, revertingS: 300, walkBpsPerHour: 0 };

/** Logarithms of the mid prices of both exchanges every 250 ms, and the number of trades there. */
function measured(options: Partial<LinkOptions>, hours = 1, quoteThere = 'mxn') {
  const clock = new VirtualClock();
  const flows = linkedFlows({ seed: 1, leadMs: 0, basis: NO_BASIS, noiseBps: { here: 0, there: 0 }, ...options });
  const here = createVenue({ clock, seed: 1 });
  const there = createSecondExchange({ clock, seed: 2 });
  const places = [here.marketplace('btc_mxn'), there.marketplace(`btc_${quoteThere}`)] as const;
  const markets = [flows.here('btc', 'mxn', true), flows.there('btc', quoteThere, 3)];
  markets.forEach((market, i) => market.start(places[i]!));
  const log = (place: Marketplace) =>
    Math.log(((place.bestBid() + place.bestAsk()) / 2) * Number(place.instrument.tick));
  const mids: [number[], number[]] = [[], []];
  for (let due = STEP_MS; due <= hours * 3_600_000; due += STEP_MS) {
    clock.after(due - clock.elapsed(), () => places.forEach((place, i) => mids[i]!.push(log(place))));
    while (mids[0].length < due / STEP_MS) clock.runNext();
  }
  for (const market of markets) market.stop();
  here.close();
  there.close();
  return { here: mids[0], there: mids[1], startPrice: flows.startPrice('btc', quoteThere) };
}

/** Sums of products of one-second moves at each lag of the first exchange behind the second, in steps of 250 ms. */
function products({ here, there }: { here: number[]; there: number[] }, lags: readonly number[]): number[] {
  const moves = (logs: number[]) => logs.slice(4).map((value, i) => value - logs[i]!);
  const [a, b] = [moves(here), moves(there)];
  return lags.map(lag => a.reduce((sum, move, i) => sum + move * (b[i - lag] ?? 0), 0));
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const LAGS = Array.from({ length: 60 }, (_, i) => i - 16);

describe('linked markets', () => {
  it.each(few([2_000, 0, 1_000, 5_000], 1))(
    'a lead of %i ms is where the moves of both exchanges agree most',
    leadMs => {
      const sums = LAGS.map(() => 0);
      for (let seed = 1; seed <= sized(12, 4); seed++)
        products(measured({ seed, leadMs }), LAGS).forEach((value, i) => (sums[i]! += value));
      const peak = LAGS[sums.indexOf(Math.max(...sums))]! * STEP_MS;
      // Moves are of one second, and makers refresh every few hundred milliseconds.
      expect(Math.abs(peak - leadMs)).toBeLessThanOrEqual(750);
    },
  );

  it('a constant basis is the mean distance of both prices, across another quote currency too', () => {
    const distances = [-30, 30].map(constantBps => {
      const { here, there } = measured({ seed: 3, basis: { ...NO_BASIS, constantBps } });
      return mean(here.map((value, i) => value - there[i]!)) * 1e4;
    });
    // One world, two bases: what else moves the prices is nearly the same in both.
    expect(distances[1]! - distances[0]!).toBeGreaterThan(55);
    expect(distances[1]! - distances[0]!).toBeLessThan(65);
    expect(Math.abs(mean(distances))).toBeLessThan(3);
    const { there, startPrice } = measured({ seed: 3 }, 0.01, 'usdt');
    expect(Math.abs(there[0]! - Math.log(startPrice)) * 1e4).toBeLessThan(10);
  });

  it('equal seeds give equal prices to the last tick, other seeds others', () => {
    const of = (seed: number) => measured({ seed, leadMs: 500, noiseBps: { here: 1, there: 1 } }, 0.05);
    expect(of(4)).toEqual(of(4));
    expect(of(5).there).not.toEqual(of(4).there);
  });
});
