/** When a side is pulled: beside the trades that were heard, and beside the price that the leader implies. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QuotePuller, type Level, type Side } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';

const START = 1.7e12;
const SIDES = ['buy', 'sell'] as const;

describe('trades of one side', () => {
  const rules = { lots: 20, withinMs: 1_000, holdMs: 3_000 };
  const trades = fc.array(
    fc.record({
      passed: fc.constantFrom(0, 1, 499, 500, 501, 1_000, 1_001, 2_999, 3_000),
      lots: fc.constantFrom(1, 9, 10, 19, 20, 21),
      taker: fc.constantFrom(...SIDES),
      isWhole: fc.constantFrom(true, true, true, false),
    }),
    { maxLength: 20 },
  );

  it('pull the quotes that they trade against from the trade that makes enough of them, for as long as it says', () => {
    fc.assert(
      fc.property(trades, all => {
        const puller = new QuotePuller({ print: rules });
        let at = START;
        // Trades against each side of the quotes since the first one.
        const rows: Record<Side, { at: number; lots: number }[]> = { buy: [], sell: [] };
        const pulledAt = { buy: -Infinity, sell: -Infinity };
        for (const { passed, lots, taker, isWhole } of all) {
          at += passed;
          const trade = { kind: 'public trade', at, price: 1_000 } as const;
          puller.apply((isWhole ? { ...trade, amount: lots, side: taker } : trade) as never, 1_000);
          const against = taker === 'buy' ? 'sell' : 'buy';
          const row = rows[against];
          if (isWhole) {
            if (row[0] !== undefined && at - row[0].at > 1_000) row.length = 0;
            row.push({ at, lots });
            if (row.reduce((sum, one) => sum + one.lots, 0) >= 20) pulledAt[against] = at;
          }
          for (const side of SIDES)
            for (const later of [0, 2_999, 3_000])
              expect(puller.pullReason(side, 1_000, at + later, 1_000)).toBe(
                at + later < pulledAt[side] + 3_000 ? 'pulled: a large trade' : null,
              );
        }
      }),
      runsOf(2_000, 150),
    );
  });

  it('need every trade only where there is a rule for them, and pull nothing without it', () => {
    const leader = { basisMemoryMs: 1e6, maxAgeMs: 1e4, share: 1, marginBps: 0 };
    expect(new QuotePuller({ print: rules }).hearsTrades).toBe(true);
    const puller = new QuotePuller({ leader });
    puller.apply({ kind: 'public trade', at: START, price: 1, amount: 1_000, side: 'sell' } as never, 1_000);
    expect([puller.hearsTrades, puller.pullReason('buy', 1, START, 1_000)]).toEqual([false, null]);
  });
});

describe('a leader', () => {
  /** Longer than any test: what is usual stays what was seen first. */
  const basisMemoryMs = 1e18;
  const MID = 100_000;
  const FACTOR = 4;

  /** The usual reference is a quarter of our price; it is read again at `at`. */
  function pullerWith(
    leader: { maxAgeMs: number; share: number; marginBps: number },
    startedAt: number,
    price: number,
  ) {
    const puller = new QuotePuller({ leader: { basisMemoryMs, ...leader } });
    puller.apply({ kind: 'reference', at: START, startedAt: START, price: MID / FACTOR }, MID);
    puller.apply({ kind: 'reference', at: startedAt + 300, startedAt, price }, MID);
    return puller;
  }

  it('pulls a quote that is nearer than the margin to the price that its move implies, less what our book has moved since', () => {
    fc.assert(
      fc.property(
        fc.record({
          moved: fc.integer({ min: -400, max: 400 }),
          own: fc.integer({ min: -500, max: 500 }),
          share: fc.constantFrom(0.25, 0.5, 1),
          marginBps: fc.constantFrom(0, 5, 20),
          late: fc.constantFrom(0, 9_999, 10_000, 10_001),
        }),
        ({ moved, own, late, ...leader }) => {
          const readAt = START + 60_000;
          const puller = pullerWith({ maxAgeMs: 10_000, ...leader }, readAt, (MID + moved) / FACTOR);
          const mid = MID + own;
          // Our book may have made a part of the move, all of it or more; against it, it knew better.
          const left =
            moved < 0 ? Math.min(0, Math.max(moved, moved - own)) : Math.max(0, Math.min(moved, moved - own));
          const expected = mid + leader.share * left;
          const margin = (leader.marginBps * expected) / 10_000;
          const isPulled = (side: Side, price: number) =>
            puller.pullReason(side, price, readAt + late, mid)?.startsWith('pulled: the leader moved (') === true;
          const isFresh = late <= 10_000;
          expect([isPulled('buy', expected - margin + 0.01), isPulled('buy', expected - margin - 0.01)]).toEqual([
            isFresh,
            false,
          ]);
          expect([isPulled('sell', expected + margin - 0.01), isPulled('sell', expected + margin + 0.01)]).toEqual([
            isFresh,
            false,
          ]);
        },
      ),
      runsOf(2_000, 200),
    );
  });

  it.each([0, Number.NaN])('pulls nothing while the mid price of our book is %s', mid => {
    const puller = pullerWith({ maxAgeMs: 1e4, share: 1, marginBps: 10 }, START + 1_000, MID / FACTOR / 10);
    expect([
      puller.pullReason('buy', MID, START + 1_000, mid),
      puller.pullReason('sell', 1, START + 1_000, mid),
    ]).toEqual([null, null]);
  });

  it.each([
    ['a price of 0', 0, MID],
    ['a negative price', -5, MID],
    ['a price that is not a number', Number.NaN, MID],
    ['an infinite price', Infinity, MID],
    ['a book without a mid price', 1, 0],
  ])('is not updated by %s', (_, price, mid) => {
    const puller = pullerWith({ maxAgeMs: 1e4, share: 1, marginBps: 0 }, START + 1_000, (MID * 0.99) / FACTOR);
    const before = puller.pullReason('buy', MID, START + 5_000, MID);
    expect(before).toBe('pulled: the leader moved (-100.0 bps)');
    puller.apply({ kind: 'reference', at: START + 2_000, startedAt: START + 2_000, price }, mid);
    expect(puller.pullReason('buy', MID, START + 5_000, MID)).toBe(before);
    // Its age is still that of the last good one.
    expect(puller.pullReason('buy', MID, START + 11_001, MID)).toBeNull();
  });

  it('is unknown after a sleep, until a read that began no earlier than its end', () => {
    const puller = pullerWith({ maxAgeMs: 1e4, share: 1, marginBps: 0 }, START + 1_000, (MID * 0.99) / FACTOR);
    const isPulled = () => puller.pullReason('buy', MID, START + 4_000, MID) !== null;
    const read = (startedAt: number) =>
      puller.apply({ kind: 'reference', at: START + 4_000, startedAt, price: (MID * 0.99) / FACTOR }, MID);
    expect(isPulled()).toBe(true);
    puller.slept(START + 3_000);
    expect(isPulled()).toBe(false);
    read(START + 2_999);
    expect(isPulled()).toBe(false);
    read(START + 3_000);
    expect(isPulled()).toBe(true);
  });
});

describe('a quote', () => {
  const level = (price: number): Level => ({ price, amount: 1 as never, why: [{ name: 'wanted', ticks: price }] });

  it('loses the sides whose best level must be pulled, and no other, with the reason', () => {
    const of = (takers: readonly Side[], quote: Parameters<QuotePuller['shape']>[0]) => {
      const puller = new QuotePuller({ print: { lots: 5, withinMs: 1_000, holdMs: 3_000 } });
      for (const side of takers)
        puller.apply({ kind: 'public trade', at: START, price: 1_000, amount: 5, side } as never, 1_000);
      return puller.shape(quote, START, 1_000);
    };
    const quote = {
      bids: [level(998), level(990)],
      asks: [level(1_002)],
      noBid: 'mood',
      fair: { price: 1, steps: [] },
    };
    const why = 'pulled: a large trade';
    expect(of([], quote)).toBe(quote);
    expect(of(['sell'], quote)).toEqual({ ...quote, bids: [], noBid: why });
    expect(of(['buy'], quote)).toEqual({ ...quote, asks: [], noAsk: why });
    expect(of(['buy', 'sell'], quote)).toEqual({ ...quote, bids: [], asks: [], noBid: why, noAsk: why });
    const empty = { bids: [], asks: [], noAsk: 'mood' };
    expect(of(['buy', 'sell'], empty)).toBe(empty);
  });

  it('is pulled by its best level: the farther ones of a side stay only with it', () => {
    const leader = { basisMemoryMs: 1e18, maxAgeMs: 1e4, share: 1, marginBps: 0 };
    const puller = new QuotePuller({ leader });
    puller.apply({ kind: 'reference', at: START, startedAt: START, price: 500 }, 1_000);
    puller.apply({ kind: 'reference', at: START + 1, startedAt: START + 1, price: 497 }, 1_000);
    const quote = { bids: [level(995), level(990)], asks: [level(995), level(1_002)] };
    expect(puller.shape(quote, START + 1, 1_000)).toEqual({
      bids: [],
      asks: quote.asks,
      noBid: 'pulled: the leader moved (-60.0 bps)',
    });
    const near = { bids: [level(993), level(996)], asks: [level(1_002)] };
    expect(puller.shape(near, START + 1, 1_000)).toBe(near);
  });
});
