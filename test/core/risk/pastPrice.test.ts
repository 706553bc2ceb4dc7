/** Tests of the past price: it equals the median of a slow model, and no price of less than half a window moves it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Amount, EngineNews, Price, Side } from '../../../src/core/index.ts';
import { farthestPrice, isNearPast, PastPrice, type PastPriceState } from '../../../src/core/risk/pastPrice.ts';
import { ledgerOf, textOfLedger } from '../../../src/live/recording/ledgerText.ts';
import { runsOf } from '../../many.ts';
import { ToyExchange, quoteAround } from '../toyExchange.ts';
import { between } from '../../draws.ts';

const WINDOW = 60_000;
const SAMPLE = 1_000;
const HOLD = 2_500;
const START = 1_700_000_000_000;

type Seen = { readonly at: number; readonly price: number };

/** Slow model: takes each sample from the complete history, and restarts the samples if the window has none. */
function medianBySlowModel(seen: readonly Seen[], at: number): number {
  let samples: Seen[] = [];
  let first = Infinity;
  seen.forEach((event, n) => {
    const before = seen[n - 1];
    const isInWindow = (one: Seen) => one.at > event.at - WINDOW;
    for (let time = first; time <= event.at; time += SAMPLE) {
      const isTaken = before === undefined || time <= before.at;
      if (!isTaken && before.price > 0 && time - before.at <= HOLD) samples.push({ at: time, price: before.price });
    }
    if (event.price > 0 && !samples.some(isInWindow)) {
      samples = [event];
      first = event.at + SAMPLE;
    }
  });
  const prices = samples.filter(one => one.at > at - WINDOW).map(({ price }) => price);
  return prices.sort((a, b) => a - b)[Math.ceil(prices.length / 2) - 1] ?? 0;
}

/** Reported prices, 0 for none. Gaps are sometimes longer than a sample is held, and rarely longer than the window. */
const history = fc.array(
  fc.record({
    afterMs: fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 2_000 }) },
      { weight: 2, arbitrary: fc.constantFrom(500, 1_000, 2_500, 2_501) },
      { weight: 1, arbitrary: fc.integer({ min: 2_500, max: 130_000 }) },
    ),
    price: fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: 1, max: 40 }) },
      { weight: 1, arbitrary: fc.constant(0) },
    ),
  }),
  { maxLength: 80 },
);

describe('the past price', () => {
  test('is the median of the samples that a slow model takes', () => {
    fc.assert(
      fc.property(history, fc.integer({ min: 0, max: 70_000 }), (events, laterMs) => {
        const past = new PastPrice('1', WINDOW, HOLD);
        const seen: Seen[] = [];
        let at = START;
        for (const { afterMs, price } of events) {
          at += afterMs;
          seen.push({ at, price });
          past.see(at, price);
          // A query must not change later results.
          past.at(at + laterMs);
        }
        for (const time of [at, at + laterMs]) expect(past.at(time)).toBe(medianBySlowModel(seen, time));
      }),
      { numRuns: 200 },
    );
  });

  test('is that of more than half of the window, whatever the prices of the rest', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e9 }),
        fc.array(fc.integer({ min: 1, max: 2e9 }), { minLength: 60, maxLength: 60 }),
        fc.integer({ min: 0, max: 28 }),
        (usual, others, strange) => {
          const past = new PastPrice('1', WINDOW, HOLD);
          others.forEach((other, second) => past.see(START + second * SAMPLE, second < strange ? other : usual));
          expect(past.at(START + 59 * SAMPLE)).toBe(usual);
        },
      ),
    );
  });

  test('is unknown before the first price, that price from then on, and follows a lasting price after half a window', () => {
    const past = new PastPrice('1', WINDOW, HOLD);
    expect(past.at(START)).toBe(0);
    past.see(START, 0);
    expect(past.at(START)).toBe(0);
    past.see(START, 100);
    expect(past.at(START)).toBe(100);
    let second = 1;
    for (; second <= 60; second++) past.see(START + second * SAMPLE, 100);
    const followed: number[] = [];
    for (; second <= 120; second++) {
      past.see(START + second * SAMPLE, 150);
      if (past.at(START + second * SAMPLE) === 150) followed.push(second);
    }
    expect(followed[0]).toBe(92);
    expect(followed).toHaveLength(120 - 91);
  });

  test('has one sample per interval, none twice, and none of before the window, whatever fractions its times have', () => {
    const later = fc.array(between(0, 1_500), { minLength: 100, maxLength: 150 });
    fc.assert(
      fc.property(later, fc.integer({ min: 60_000, max: 61_000 }), (steps, windowMs) => {
        const past = new PastPrice('1', windowMs, HOLD);
        let at = START + 0.123;
        for (const ms of [...steps, windowMs / 60]) past.see((at += ms), 100);
        const times = past.state().samples.map(([time]) => time);
        for (let n = 1; n < times.length; n++)
          expect(times[n]! - times[n - 1]!).toBeGreaterThan((windowMs / 60) * 0.999);
        expect(times.length).toBeLessThanOrEqual(61);
      }),
      { numRuns: 50 },
    );
  });

  test('has no sample of a time without a price, even if a price comes at that very time', () => {
    const past = new PastPrice('1', WINDOW, HOLD);
    const times = [0, 500, 1_000, 1_500, 2_000].map(ms => START + ms);
    [100, 0, 200, 300, 400].forEach((price, n) => past.see(times[n]!, price));
    expect(past.state().samples).toEqual([
      [START, 100],
      [START + 2_000, 300],
    ]);
  });

  test('forgets after a window without prices, and not before', () => {
    for (const [silentMs, price] of [
      [WINDOW - 1, 100],
      [WINDOW, 300],
    ] as const) {
      const past = new PastPrice('1', WINDOW, HOLD);
      past.see(START, 100);
      past.see(START + 1, 0);
      past.see(START + silentMs, 300);
      expect(past.at(START + silentMs)).toBe(price);
    }
  });
});

describe('the window after a restart', () => {
  test('is as it would be without one, for as long as no price is missed', () => {
    fc.assert(
      fc.property(history, fc.nat({ max: 79 }), (events, restartsAfter) => {
        const [whole, first] = [new PastPrice('1', WINDOW, HOLD), new PastPrice('1', WINDOW, HOLD)];
        let now = first;
        let at = START;
        events.forEach(({ afterMs, price }, n) => {
          at += afterMs;
          for (const past of new Set([whole, now])) past.see(at, price);
          if (n !== restartsAfter) return;
          const kept = JSON.parse(JSON.stringify(now.state())) as PastPriceState;
          now = new PastPrice('1', WINDOW, HOLD);
          now.restore(kept, at);
          // After a restart, the current price is read again immediately.
          if (price > 0) now.see(at, price);
        });
        expect(now.at(at)).toBe(whole.at(at));
      }),
    );
  });

  test('has no samples of another tick, another length, or a time that is yet to come', () => {
    const past = new PastPrice('1', WINDOW, HOLD);
    past.see(START, 100);
    for (let second = 1; second <= 20; second++) past.see(START + second * SAMPLE, second <= 3 ? 100 : 150);
    const state = past.state();
    const after = (next: PastPrice, at: number): number => {
      // A query before the restore must not change the result.
      next.at(at);
      next.restore(state, at);
      return next.at(at);
    };
    expect(after(new PastPrice('1', WINDOW, HOLD), START + 20 * SAMPLE)).toBe(150);
    expect(after(new PastPrice('1', WINDOW, HOLD), START + 5 * SAMPLE)).toBe(100);
    expect(after(new PastPrice('1', WINDOW, HOLD), START)).toBe(100);
    expect(after(new PastPrice('1', WINDOW, HOLD), START - 1)).toBe(0);
    expect(after(new PastPrice('0.1', WINDOW, HOLD), START + 20 * SAMPLE)).toBe(0);
    expect(after(new PastPrice('1', WINDOW + 1, HOLD), START + 20 * SAMPLE)).toBe(0);
  });

  test('of the engine is that of its ledger: who restarts a bot in a driven book does not make it quote there', () => {
    const first = new ToyExchange({ limits, strategy: quoteAround(20) }).open();
    shows(first, 10_000, HOUR);
    shows(first, 13_300, 60_000);
    expect(quoting(first)).toBe('price moved too far');
    const next = new ToyExchange({ limits, strategy: quoteAround(20), run: 8 });
    next.now = first.now + 30_000;
    const ledger = ledgerOf(textOfLedger(first.engine.ledger([])!));
    next.step({ kind: 'restore', at: next.now, orders: [], ledger });
    next.open();
    shows(next, 13_300, 60_000);
    expect([quoting(next), next.places()]).toEqual(['price moved too far', []]);
    shows(next, 10_000, 4_000);
    expect(quoting(next)).toBeNull();
  });

  test('of the ledger survives a run that does not limit price moves', () => {
    const first = new ToyExchange({ limits, strategy: quoteAround(20) }).open();
    shows(first, 10_000, HOUR);
    shows(first, 13_300, 60_000);
    const continued = (from: ToyExchange, run: number, runLimits: never): ToyExchange => {
      const next = new ToyExchange({ limits: runLimits, strategy: quoteAround(20), run });
      next.now = from.now + 30_000;
      const ledger = ledgerOf(textOfLedger(from.engine.ledger([])!));
      next.step({ kind: 'restore', at: next.now, orders: [], ledger });
      next.open();
      shows(next, 13_300, 30_000);
      return next;
    };
    const unlimited = continued(first, 8, { ...(limits as object), priceMove: undefined } as never);
    expect([quoting(unlimited), unlimited.live.length]).toEqual([null, 2]);
    const last = continued(unlimited, 9, limits);
    expect([quoting(last), last.places()]).toEqual(['price moved too far', []]);
  });
});

describe('the limit on price moves', () => {
  test('is exact, and the farthest price of a taker order is the last that it allows', () => {
    // For some round numbers, the bound is a whole tick.
    const round = (by: number) => fc.integer({ min: 1, max: 50 }).map(n => n * by);
    const pasts = fc.oneof(fc.integer({ min: 1, max: 2 ** 51 }), round(2_000));
    const shares = fc.oneof(fc.integer({ min: 1, max: 5_000 }), round(100));
    fc.assert(
      fc.property(pasts, shares, (past, bps) => {
        const limit = { bps, windowMs: WINDOW };
        const isNear = (ticks: number): boolean => isNearPast(2 * ticks, past, limit);
        const [most, least] = [farthestPrice('buy', past, limit), farthestPrice('sell', past, limit)];
        expect([isNear(most + 1), isNear(least - 1)]).toEqual([false, false]);
        // A narrow limit may allow no tick.
        if (BigInt(past) * BigInt(bps) >= 10_000n) expect([isNear(most), isNear(least)]).toEqual([true, true]);
        else expect(most - least).toBeGreaterThanOrEqual(-1);
      }),
    );
  });

  test('fails closed', () => {
    const limit = { bps: 5_000, windowMs: WINDOW };
    expect(isNearPast(100, 100, limit)).toBe(true);
    expect(isNearPast(100, 0, limit)).toBe(false);
    for (const wrong of [Number.NaN, Infinity, 0.5]) {
      expect(isNearPast(wrong, 100, limit)).toBe(false);
      expect(isNearPast(100, wrong, limit)).toBe(false);
      expect(isNearPast(100, 100, { ...limit, bps: wrong })).toBe(false);
    }
  });
});

const HOUR = 3_600_000;
const limits = {
  positionMax: 100,
  orderValueMax: 10n ** 9n,
  ordersMax: 20,
  collarBps: 1000,
  priceMove: { bps: 1_000, windowMs: HOUR },
  staleAfterMs: 3000,
} as never;

const narrow = { ...(limits as object), priceMove: { bps: 1_000, windowMs: 60_000 } } as never;

/** Shows a mid price, in ticks, for at least `ms`. */
function shows(toy: ToyExchange, mid: number, ms: number): void {
  toy.bids = [[mid - 10, 50]];
  toy.asks = [[mid + 10, 50]];
  toy.rounds(Math.ceil(ms / 3_000), 3_000);
}

const quoting = (toy: ToyExchange): string | null => toy.engine.book.snapshot(toy.now).quoting;

describe('a book that is driven', () => {
  test('up by 33% in steps of 1% per minute has no quote far from the past price, and the bot pauses with both prices', () => {
    const said: (string | null)[] = [];
    const onNews = (news: EngineNews): void => {
      if (news.kind === 'quoting' && news.reason !== null) said.push(`${news.reason}: ${news.why ?? ''}`);
    };
    const toy = new ToyExchange({ limits, strategy: quoteAround(20), onNews }).open();
    shows(toy, 10_000, HOUR);
    expect(quoting(toy)).toBeNull();
    let mid = 10_000;
    for (let minute = 1; mid < 13_300; minute++) {
      mid = Math.round(mid * 1.01);
      shows(toy, mid, 60_000);
    }
    expect(quoting(toy)).toBe('price moved too far');
    expect(toy.live).toEqual([]);
    expect(Math.max(...toy.places().map(({ price }) => price))).toBeLessThanOrEqual(11_000);
    expect(said).toEqual([
      'price moved too far: the mid price 11045 is 1045.0 bps from 10000, the median of the last 60 min, but limits.priceMove.bps is 1000',
    ]);
    expect(toy.engine.book.snapshot(toy.now)).toMatchObject({
      regime: { regime: 'paused', why: 'price moved too far' },
      waitsFor: expect.stringContaining('the median of the last 60 min') as string,
    });
    expect(toy.engine.book.limitUses(toy.now)).toContainEqual(
      expect.objectContaining({ limit: 'priceMove', currency: null, max: 1_000 }),
    );
  });

  test.each([
    ['down', 8_900],
    ['up', 11_100],
  ])('%s is quoted again when the price returns, and when the median has followed', (_, far) => {
    const toy = new ToyExchange({ limits, strategy: quoteAround(20) }).open();
    shows(toy, 10_000, HOUR);
    shows(toy, far, 60_000);
    expect([quoting(toy), toy.live]).toEqual(['price moved too far', []]);
    shows(toy, 10_000, 4_000);
    expect([quoting(toy), toy.live.length]).toEqual([null, 2]);
    shows(toy, far, HOUR / 2 - 120_000);
    expect(quoting(toy)).toBe('price moved too far');
    shows(toy, far, 240_000);
    expect([quoting(toy), toy.live.length]).toEqual([null, 2]);
  });

  test('is not hedged through the book', () => {
    const refused: string[] = [];
    const onNews = (news: EngineNews): void => {
      if (news.kind === 'not taken') refused.push(`${news.id}: ${news.why}`);
    };
    const toy = new ToyExchange({ limits, strategy: quoteAround(20), onNews }).open();
    shows(toy, 10_000, HOUR);
    toy.fill(toy.live.find(({ side }) => side === 'buy')!.id, 10);
    shows(toy, 10_000, 4_000);
    const take = (id: string, side: Side, price: number): void => {
      const of = { side, price: price as Price, amount: 5 as Amount, until: toy.now + 5_000 };
      toy.step({ kind: 'take', at: toy.now, id, ...of });
    };
    shows(toy, 9_050, 4_000);
    take('mm-7-t1', 'sell', 8_999);
    shows(toy, 8_900, 4_000);
    take('mm-7-t2', 'sell', 8_890);
    expect(refused).toEqual(['mm-7-t1: price too far from past prices', 'mm-7-t2: price moved too far']);
    shows(toy, 9_050, 4_000);
    take('mm-7-t3', 'sell', 9_000);
    toy.rounds(3);
    expect(refused).toHaveLength(2);
    expect(toy.places().filter(({ takes }) => takes)).toHaveLength(1);
  });

  test('shows no order beyond the limit, whatever its prices', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -700, max: 700 }), { minLength: 5, maxLength: 60 }), moves => {
        const toy = new ToyExchange({ limits: narrow, strategy: quoteAround(20, 300) }).open();
        const seen: number[] = [];
        let mid = 10_000;
        for (const move of moves) {
          mid = Math.max(5_000, mid + move);
          const placed = toy.places().length;
          shows(toy, mid, 2_000);
          seen.push(mid);
          const past = toy.engine.book.riskContext(toy.now).pastPrice / 2;
          expect(seen).toContain(past);
          for (const { price } of toy.places().slice(placed))
            expect(Math.abs(price - past) / past).toBeLessThanOrEqual(0.1 + 1e-9);
          expect(quoting(toy) === 'price moved too far').toBe(Math.abs(mid - past) * 10 > past);
        }
      }),
      runsOf(500, 25),
    );
  });
});
