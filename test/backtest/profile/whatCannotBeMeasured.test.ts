/** Tapes that tell less than a profile wants, and what `puntas calibrate` makes of one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { distanceProfileOf, quoteVerdictOf } from '../../../backtest/index.ts';
import { fragment } from '../../../backtest/app/calibrate/calibrate.ts';
import {
  adverseAtBest,
  distancesIn,
  distancesText,
  verdictSentence,
} from '../../../backtest/app/calibrate/measuredDistances.ts';
import { amount, price, randomOf } from '../../../src/core/index.ts';
import { calibrationOf, finishTape, KIND, SIDE, TapeBuilder, type Tape } from '../../../src/tape/index.ts';
import { strategies } from '../../../strategies/index.ts';
import { between } from '../../draws.ts';
import { plantedMarket } from './plantedMarket.ts';

const TRUTH = { perMinute: 6, decayPerBps: 0.12, move: 1, moveOfReach: 0.3, volatilityBps: 20 };
const planted = plantedMarket(3, 4, TRUTH);
const OPTIONS = { distancesBps: [2, 6, 10, 15, 20], orderValue: 1, blockMs: 600_000 };

/** The rows that pass. */
function only(tape: Tape, passes: (row: number) => boolean): Tape {
  const rows = new TapeBuilder();
  const { kind, side, at, price: prices, amount: amounts, length } = tape.columns;
  for (let row = 0; row < length; row++) {
    if (!passes(row)) continue;
    const taker = side[row] === SIDE.sell ? SIDE.sell : SIDE.buy;
    if (kind[row] === KIND.trade) rows.trade(at[row]!, at[row]!, taker, price(prices[row]!), amount(amounts[row]!));
    else rows.level(at[row]!, at[row]!, taker, price(prices[row]!), amount(amounts[row]!));
  }
  return finishTape({ source: tape.source, book: 'btc_mxn', tick: '1', depth: 1, columns: rows.columns() });
}

describe('a profile', () => {
  const whole = distanceProfileOf(planted, OPTIONS);

  test('of quotes without trades has no points, and the verdict says why', () => {
    const quotes = only(planted, row => planted.columns.kind[row] !== KIND.trade);
    const profile = distanceProfileOf(quotes);
    expect(profile).toMatchObject({ points: [], limits: [expect.stringMatching(/no executions/)] });
    const verdict = quoteVerdictOf(profile, { feeBps: 4, random: randomOf(1) });
    expect(verdict).toMatchObject({ quote: false, why: profile.limits[0], netPerHour: null });
    expect(verdictSentence(4, verdict, 'mxn')).toMatch(
      /^Maker fee 4 bps, not known yet: The recording has no executions[^.]*\.$/,
    );
  });

  test('of quotes without amounts counts only what goes through an order: here the same, as takers go through every price', () => {
    const profile = distanceProfileOf({ ...planted, quotesOnly: true }, OPTIONS);
    expect(profile.limits.join(' ')).toMatch(/only if an execution passes its price/);
    profile.points.forEach(({ fills }, i) => {
      expect(fills).toBeLessThanOrEqual(whole.points[i]!.fills);
      expect(fills).toBeGreaterThan(0.95 * whole.points[i]!.fills);
    });
  });

  test('of a book of which a side is empty for a while quotes nothing then, and counts no time', () => {
    const rows = new TapeBuilder();
    for (let s = 0; s <= 1_200; s++) {
      const at = s * 1_000;
      // The touch moves by a tick each second; what stood before is taken away.
      for (const [side, ticks] of [[SIDE.buy, 999_900] as const, [SIDE.sell, 1_000_100] as const]) {
        rows.level(at, at, side, price(ticks + (1 - (s % 2))), amount(0));
        rows.level(at, at, side, price(ticks + (s % 2)), amount(side === SIDE.sell && s >= 300 && s < 600 ? 0 : 1_000));
      }
      rows.trade(at + 500, at + 500, SIDE.sell, price(999_000), amount(1_000));
    }
    const tape = finishTape({ source: 'half', book: 'btc_mxn', tick: '1', depth: 1, columns: rows.columns() });
    const { points, seconds } = distanceProfileOf(tape, { distancesBps: [5], orderValue: 1 });
    expect(seconds).toBe(901);
    expect(points[0]!.fills).toBeGreaterThan(890);
    expect(points[0]!.fills).toBeLessThanOrEqual(901);
  });

  test('looks at nothing that comes later: the blocks of a tape that is cut are those of the whole', () => {
    const until = 7_200_000;
    const cut = distanceProfileOf(
      only(planted, row => planted.columns.at[row]! < until),
      OPTIONS,
    );
    const blocks = until / OPTIONS.blockMs;
    cut.points.forEach((point, i) => {
      const all = whole.points[i]!.blocks;
      expect(point.blocks.fills).toEqual(all.fills.slice(0, blocks));
      expect(point.blocks.value).toEqual(all.value.slice(0, blocks));
      // Half a second after the last fill is still in the cut tape; five minutes are not.
      expect(point.blocks.markout[5]!.slice(0, blocks - 1)).toEqual(all.markout[5]!.slice(0, blocks - 1));
    });
  });

  test('has no markout across a gap, and no order in it', () => {
    const gap = { from: 3_599_500, to: 5_400_000, why: 'planted' };
    const { points, seconds } = distanceProfileOf({ ...planted, gaps: [gap] }, OPTIONS);
    expect(seconds).toBe(whole.seconds - 1_800);
    points.forEach(({ blocks }, i) => {
      expect(blocks.value.length).toBe(whole.points[i]!.blocks.value.length - 3);
      expect(blocks.known[5]![5]).toBeLessThan(blocks.value[5]!);
      expect(blocks.known[5]![4]).toBe(blocks.value[4]);
    });
  });
});

test('calibrate prints a table of at most 80 columns, a sentence for each fee, and YAML that a model takes', () => {
  const constant = { kind: 'constant', ms: 25 } as const;
  const latencies = { orders: constant, cancels: constant, answers: constant, feed: constant };
  const found = distancesIn(planted, { cadenceMs: 1_000, latencies, feesBps: [4, 500], seed: 1 }, () => undefined);
  expect(found.profile.latencyMs).toBe(50);
  const lines = distancesText(found, 'mxn');
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  const words = lines.join(' ').replaceAll(' # ', ' ');
  expect(words).toMatch(
    /Maker fee 4 bps: quote [\d.]+ bps \(90%: [\d.]+ to [\d.]+\) from the mid price to earn [\d.]+ mxn per hour/,
  );
  expect(words).toMatch(
    /Maker fee 500 bps, do not quote: fills lose more than they earn at every distance\. The best distance, .* or less\./,
  );
  const text = fragment(calibrationOf(planted), { symbol: 'btc_mxn', tick: '1' }, 'planted', found);
  expect(text).not.toMatch(/NaN|Infinity|undefined/);
  const { market } = parse(text) as { market: object };
  const read = strategies.glft.parameters.parse({ amount: '0.01', risk: { amount: '500 mxn' }, market });
  expect(read.market.profile!.distancesBps.length).toBeGreaterThan(8);
});

test('the adverse move that calibrate prints is that at the distance of the first fee that pays, else of the last fee', () => {
  const horizonsS = [1, 60, 300];
  const left = fc.option(fc.record({ value: between(-40, 40), error: between(0, 5) }), { freq: 6 });
  const point = fc.record({ distanceBps: fc.nat(60), markoutBps: fc.tuple(left, left, left) });
  const points = fc.uniqueArray(point, { minLength: 1, maxLength: 6, selector: ({ distanceBps }) => distanceBps });
  // Each fee: whether quoting pays, and the place of its best distance.
  const fees = fc.array(fc.tuple(fc.boolean(), fc.option(fc.nat(5), { freq: 6 })), { maxLength: 5 });
  fc.assert(
    fc.property(points, fees, (drawn, asked) => {
      const verdicts = asked.map(([pays, nth], i) => {
        const at = nth === null ? null : drawn[nth % drawn.length]!.distanceBps;
        const verdict = pays && at !== null ? { quote: true, distanceBps: at } : { quote: false, bestDistanceBps: at };
        return { feeBps: 10 * i, verdict };
      });
      const found = (some: typeof verdicts) =>
        adverseAtBest({ profile: { points: drawn, horizonsS }, verdicts: some } as never);
      const paying = verdicts.filter(({ verdict }) => verdict.quote);
      const [counts = verdicts.at(-1)] = paying;
      const all = found(verdicts);
      expect(all).toEqual(counts === undefined ? null : found([counts]));
      const at = counts?.verdict.distanceBps ?? counts?.verdict.bestDistanceBps ?? null;
      const known = drawn.find(({ distanceBps }) => distanceBps === at)?.markoutBps[1] ?? null;
      // The move is what a fill lost of its distance within a minute.
      if (at === null || known === null) expect(all).toBeNull();
      else expect(all).toEqual({ distanceBps: at, value: at - known.value, error: known.error });
      // Fees after the first that pays, and fees before it, are of no account.
      const first = verdicts.findIndex(({ verdict }) => verdict.quote);
      if (first >= 0) expect([found(verdicts.slice(0, first + 1)), found(verdicts.slice(first))]).toEqual([all, all]);
    }),
    { numRuns: 300 },
  );
});
