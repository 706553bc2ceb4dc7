/** Fills around a price elsewhere, by hand: who is met, at which price, and what the hedge brings to the digit. */
import { describe, expect, test } from 'vitest';
import { moneyOf, textOfMoney, type Amount } from '../../../src/core/index.ts';
import type { LogSeconds, Tape } from '../../../src/tape/index.ts';
import { handMadeTape, type Row } from '../handMadeTape.ts';
import { hedgedFills, type HedgedFillsOptions } from '../../../backtest/hedged/hedgedFills.ts';
import { RecordedPrice } from '../../../backtest/rows/recordedPrice.ts';

const zeros: LogSeconds = { from: 0, values: new Float64Array(3_600) };

/** 50 bps from a mid price of 10,005 is a bid at 9,954 and an ask at 10,056. */
const BID = 9_954;
const hedgeBook: readonly Row[] = [
  [0, 'bid', 10_000, 5],
  [0, 'bid', 9_990, 100],
  [0, 'ask', 10_010, 5],
  [0, 'ask', 10_020, 100],
];
const quotedBook: readonly Row[] = [
  [0, 'bid', 9_000, 1_000],
  [0, 'ask', 11_000, 1_000],
];

function fills(quoted: readonly Row[], hedge: readonly Row[] = hedgeBook, of: Partial<HedgedFillsOptions> = {}) {
  const { fitted, heldOut } = hedgedFills({
    ...{
      quoted: handMadeTape([...quotedBook, ...quoted]),
      hedge: handMadeTape(hedge),
      difference: zeros,
      basis: zeros,
    },
    ...{ distances: [50], lots: 10 as Amount, latencyMs: 25, hedgeLatencyMs: 100, resolutionMs: 0 },
    ...{ horizonsS: [0, 300], split: 0, blockMs: 600_000, ...of },
  });
  expect(fitted[0]!.seconds).toEqual([]);
  const { fills: counts, known, markout } = heldOut[0]!;
  const total = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0);
  const value = total(known[0]!);
  return { count: total(counts), value, bps: value > 0 ? total(markout[0]!) / value : null };
}

describe('an order at 50 bps from the price elsewhere', () => {
  test('is filled by what trades past it, at its own price, and the hedge takes the recorded levels', () => {
    const { count, value, bps } = fills([[2_000, 'sell', 9_900, 4]]);
    expect(count).toBe(1);
    expect(value).toBeCloseTo(4e-8 * BID, 15);
    expect(bps).toBeCloseTo(1e4 * Math.log(10_000 / BID), 9);
    // Ten lots take both levels: 9,995 on average.
    expect(fills([[2_000, 'sell', 9_900, 40]]).bps).toBeCloseTo(1e4 * Math.log(9_995 / BID), 9);
  });

  test('a sale is worth as much as a purchase in the mirror', () => {
    const { count, bps } = fills([[2_000, 'buy', 10_100, 4]]);
    expect(count).toBe(1);
    expect(bps).toBeCloseTo(-1e4 * Math.log(10_010 / 10_056), 9);
  });

  test('is not filled by a trade at its price, nor within two latencies of the fill before', () => {
    expect(fills([[2_000, 'sell', BID, 4]]).count).toBe(0);
    const twice = (ms: number) =>
      fills([
        [2_000, 'sell', 9_900, 4],
        [2_000 + ms, 'sell', 9_900, 4],
      ]).count;
    expect([twice(49), twice(50)]).toEqual([1, 2]);
  });

  test('is filled when the other side of the book reaches its price, by the amount there', () => {
    const { count, value } = fills([[2_000, 'ask', BID, 3]]);
    expect(count).toBe(1);
    expect(value).toBeCloseTo(3e-8 * BID, 15);
    expect(fills([[2_000, 'ask', BID + 1, 3]]).count).toBe(0);
  });

  test('never crosses the book: it rests one tick before the other side', () => {
    // The new ask meets the bid at 9,954 with 7 lots. From then on, the bid rests at 9,899.
    const { count, bps } = fills([
      [2_000, 'ask', 9_900, 7],
      [3_000, 'sell', 9_899, 4],
      [4_000, 'sell', 9_898, 4],
    ]);
    expect(count).toBe(2);
    const parts = [
      [7 * BID, Math.log((5 * 10_000 + 2 * 9_990) / 7 / BID)],
      [4 * 9_899, Math.log(10_000 / 9_899)],
    ] as const;
    const worth = parts.reduce((sum, [value, log]) => sum + value * log, 0) / (7 * BID + 4 * 9_899);
    expect(bps).toBeCloseTo(1e4 * worth, 8);
  });

  test('knows the price elsewhere of two latencies before, and is hedged at the price two latencies after', () => {
    const moved = (at: number): readonly Row[] => [
      ...hedgeBook,
      [at, 'bid', 10_000, 0],
      [at, 'bid', 9_990, 0],
      [at, 'bid', 9_900, 100],
    ];
    // The order does not know the fall yet, and the hedge meets it.
    const late = fills([[2_000, 'sell', 9_925, 4]], moved(1_900));
    expect(late.bps).toBeCloseTo(1e4 * Math.log(9_900 / BID), 9);
    // The order knows it: the bid is at 9,955 * (1 - 50 bps), rounded down.
    expect(fills([[2_000, 'sell', 9_925, 4]], moved(1_875)).count).toBe(0);
    // A fall after the hedge does not matter.
    expect(fills([[2_000, 'sell', 9_925, 4]], moved(2_126)).bps).toBeCloseTo(1e4 * Math.log(10_000 / BID), 9);
    expect(fills([[2_000, 'sell', 9_925, 4]], moved(2_125)).bps).toBeCloseTo(1e4 * Math.log(9_900 / BID), 9);
  });

  test('times in whole seconds add a second to both delays', () => {
    const fallen: readonly Row[] = [
      ...hedgeBook,
      [4_000, 'bid', 10_000, 0],
      [4_000, 'bid', 9_990, 0],
      [4_000, 'bid', 9_900, 100],
    ];
    expect(fills([[3_000, 'sell', 9_925, 4]], fallen).bps).toBeCloseTo(1e4 * Math.log(10_000 / BID), 9);
    const { bps } = fills([[3_000, 'sell', 9_925, 4]], fallen, { resolutionMs: 1_000 });
    expect(bps).toBeCloseTo(1e4 * Math.log(9_900 / BID), 9);
  });
});

test('the position in pairs is what one side has more than the other, in orders', () => {
  const positions = (rows: readonly Row[]) =>
    hedgedFills({
      ...{
        quoted: handMadeTape([...quotedBook, ...rows]),
        hedge: handMadeTape(hedgeBook),
        difference: zeros,
        basis: zeros,
      },
      ...{ distances: [50], lots: 10 as Amount, latencyMs: 25, hedgeLatencyMs: 100, resolutionMs: 0 },
      ...{ horizonsS: [0], split: 0, blockMs: 600_000 },
    }).positionMax;
  const sale = (at: number): Row => [at, 'sell', 9_900, 10];
  const purchase = (at: number): Row => [at, 'buy', 10_100, 5];
  expect(positions([sale(2_000), sale(3_000), purchase(4_000), purchase(5_000), sale(6_000)])).toEqual([2]);
  expect(positions([purchase(2_000), purchase(3_000), purchase(4_000), sale(5_000)])).toEqual([1.5]);
});

test('the value of a hedge is exact, and rounded against the bot', () => {
  const book = new RecordedPrice(handMadeTape(hedgeBook));
  book.moveTo(0);
  const base = moneyOf('0.000000070000000001');
  const [sold, bought] = (['sell', 'buy'] as const).map(side => book.executed(side, base));
  // 5 lots at 10,000 and 2.0000000001 lots at 9,990; at 10,010 and 10,020.
  expect(textOfMoney(sold!.value)).toBe('0.00069980000000999');
  expect(textOfMoney(bought!.value)).toBe('0.00070090000001002');
  expect([sold!.isWithinDepth, bought!.isWithinDepth]).toEqual([true, true]);
  const all = book.executed('sell', moneyOf('0.00000106'));
  expect([textOfMoney(all.value), all.isWithinDepth]).toEqual(['0.0105899', false]);
});

test('prices are unknown in gaps, when they are old, and when the book is crossed', () => {
  const rows = handMadeTape([...hedgeBook, [5_000, 'bid', 10_015, 1], [6_000, 'bid', 10_015, 0]]);
  const known = (at: number, tape: Tape = rows): boolean => {
    const book = new RecordedPrice(tape);
    book.moveTo(at);
    return book.isKnown;
  };
  expect([known(4_999), known(5_000), known(6_000), known(606_000), known(606_001)]).toEqual([
    true,
    false,
    true,
    true,
    false,
  ]);
  expect(known(7_000, { ...rows, gaps: [{ from: 6_500, to: 8_000, why: 'test' }] })).toBe(false);
});
