/** Tests of the value of hedged fills: it does not depend on ticks and currencies, and a missing verdict has a reason. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bpsText,
  hedgedBookOf,
  hedgedProfileOf,
  hedgedVerdictsOf,
  hedgedWords,
  PAIR_HORIZON_S,
  payingFeeOf,
} from '../../../backtest/index.ts';
import { amount, price } from '../../../src/core/index.ts';
import { KIND, SIDE, TapeBuilder, type SideCode, type Tape } from '../../../src/tape/index.ts';
import { tapeRules } from '../../../src/tape/model/tapeRules.ts';
import { between } from '../../draws.ts';
import { independentPair, PAYING, plantedPair } from './pairedMarkets.ts';

const { quoted, hedge } = plantedPair(5, 3, PAYING);
const profile = hedgedProfileOf(quoted, hedge, { distancesBps: [8, 12] });
const venue = (tape: Tape) => ({ name: 'there', tape, feeBps: 2, backBps: 0, latencyMs: 100 });

const values = (of: typeof profile) =>
  of.heldOut.points.flatMap(({ markoutBps, fills }) => [fills, ...markoutBps.map(value => value?.value ?? null)]);

/** The rows of a tape with other rules. */
function changed(
  tape: Tape,
  rules: Pick<Tape, 'rules' | 'instrument'>,
  row: (i: number) => { ticks: number; lots: number },
): Tape {
  const builder = new TapeBuilder();
  const { kind, side, at, length } = tape.columns;
  for (let i = 0; i < length; i++) {
    const { ticks, lots } = row(i);
    if (kind[i] === KIND.trade) builder.trade(at[i]!, at[i]!, side[i] as SideCode, price(ticks), amount(lots));
    else builder.level(at[i]!, at[i]!, side[i] as SideCode, price(ticks), amount(lots));
  }
  return { ...tape, ...rules, columns: builder.columns() };
}

test('a hedge book in another currency, at twenty times the price, gives the same values', () => {
  const { columns } = hedge;
  const other = changed(hedge, tapeRules('btc_usd', '0.2'), i => ({
    ticks: columns.price[i]!,
    lots: columns.amount[i]!,
  }));
  const there = hedgedProfileOf(quoted, other, { distancesBps: [8, 12] });
  const [found, expected] = [values(there), values(profile)];
  expect(found.length).toBe(expected.length);
  found.forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 6));
  expect(there.limits.join(' ')).toContain('a position in usd against mxn remains');
});

test('a coarser tick of the quoted book changes no more than rounding', () => {
  const fine = changed(quoted, tapeRules('btc_mxn', '0.01'), i => ({
    ticks: 10 * quoted.columns.price[i]!,
    lots: quoted.columns.amount[i]!,
  }));
  const found = hedgedProfileOf(fine, hedge, { distancesBps: [8, 12] });
  const at = found.heldOut.horizonsS.indexOf(PAIR_HORIZON_S);
  found.heldOut.points.forEach((point, i) => {
    const same = profile.heldOut.points[i]!;
    expect(Math.abs(point.fills - same.fills)).toBeLessThanOrEqual(0.05 * same.fills);
    expect(point.markoutBps[at]!.value).toBeCloseTo(same.markoutBps[at]!.value, 0);
  });
});

test('equal recordings and options give equal results', () => {
  expect(hedgedProfileOf(quoted, hedge, { distancesBps: [8, 12] })).toEqual(profile);
});

test('a fee is what decides: quoting pays below the highest paying fee and not above it', () => {
  const book = hedgedBookOf('here', quoted, venue(hedge), { makersBps: [1] });
  const fee = book.payingFeeBps!;
  expect(fee).toBeGreaterThan(5);
  const quotes = hedgedVerdictsOf(hedgedProfileOf(quoted, hedge), [fee - 0.05, fee + 0.2]).map(({ quote }) => quote);
  expect(quotes).toEqual([true, false]);
  expect(hedgedWords(book)[0]).toMatch(
    /^Quote here [\d.]+ bps from the price of there and hedge there: at fees of 1\.0 \+ 2\.0 bps/,
  );
});

test('every fee up to the highest paying one pays, or the sentence names it', () => {
  const book = hedgedBookOf('here', quoted, venue(hedge), { makersBps: [1] });
  fc.assert(
    fc.property(between(0, 40), fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }), (fee, quotes) => {
      const byFee = book.byFee.slice(0, 7).map((each, i) => ({ ...each, quote: quotes[i]! }));
      const words = hedgedWords({ ...book, byFee, payingFeeBps: fee })[0]!;
      const [, named = ''] = /, except around (.*) bps, where/.exec(words) ?? [];
      const unsure = byFee.filter(({ feeBps, quote }) => feeBps <= fee && !quote);
      expect(named).toBe(unsure.map(({ feeBps }) => bpsText(feeBps)).join(', '));
    }),
  );
});

test('moving money back costs as much as a fee of the same size, and comes off the highest paying fee', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 80 }), fc.integer({ min: 0, max: 80 }), (fee, back) => {
      const [feeBps, backBps] = [fee / 4, back / 4];
      const found = hedgedVerdictsOf(profile, [feeBps], 1, backBps)[0]!;
      const expected = hedgedVerdictsOf(profile, [feeBps + backBps])[0]!;
      expect(found).toEqual({ ...expected, feeBps, why: found.why });
      expect(found.why.replace(' and the cost of moving back', '')).toBe(expected.why);
    }),
    { numRuns: 12 },
  );
  expect(payingFeeOf(profile, 1, 2.5)).toBeCloseTo(payingFeeOf(profile)! - 2.5, 6);
});

test('a verdict names the cost of moving back, and is against quoting where this cost takes all', () => {
  const book = (backBps: number) =>
    hedgedBookOf('here', quoted, { ...venue(hedge), backBps }, { makersBps: [1], distancesBps: [8, 12] });
  const [cheap, dear] = [book(0.5), book(50)];
  expect(cheap.fees).toEqual({ makerBps: 1, hedgeBps: 2, backBps: 0.5 });
  expect([cheap.verdict.quote, cheap.verdict.feeBps, cheap.verdict.costBps]).toEqual([true, 3, 3.5]);
  expect(hedgedWords(cheap)[0]).toMatch(
    /at fees of 1\.0 \+ 2\.0 bps, 0\.50? bps for moving quote currency back, and latencies of 25 \+ 100 ms, a fill earns/,
  );
  expect([dear.verdict.quote, dear.verdict.why]).toEqual([
    false,
    'in the first third of the time, fills were worth less than the fees and the cost of moving back at every distance',
  ]);
  expect(dear.payingFeeBps).toBeLessThan(0);
});

describe('what cannot be judged', () => {
  test('fills in too few time blocks, or too few fills: the reason names the one that is missing', () => {
    const short = plantedPair(7, 1, PAYING);
    const wordsAt = (distanceBps: number) =>
      hedgedWords(
        hedgedBookOf('here', short.quoted, venue(short.hedge), { makersBps: [0], distancesBps: [distanceBps] }),
      )[0];
    expect(wordsAt(8)).toMatch(
      /, the first third of the time has too few blocks of 5 min with fills to choose a distance\.$/,
    );
    expect(wordsAt(400)).toMatch(/, the first third of the time has too few fills to choose a distance\.$/);
  });

  test('a dead hedge price', () => {
    const { columns } = hedge;
    const dead = changed(hedge, hedge, i => ({ ticks: i < 2 ? columns.price[i]! : columns.price[i % 2]!, lots: 1 }));
    const { verdict } = hedgedBookOf('here', quoted, venue(dead), { makersBps: [0] });
    expect([verdict.quote, verdict.why]).toEqual([
      false,
      expect.stringMatching(/hedge price changes in only 0% of the minutes/),
    ]);
  });

  test('last prices that follow the quoted price', () => {
    const seconds = 2 * 3_600;
    const { columns } = independentPair(3, 2).quoted;
    const tape = (delay: number): Tape => {
      const builder = new TapeBuilder();
      for (let i = 0; i + delay < seconds; i++)
        builder.trade(1_000 * (i + delay), 1_000 * (i + delay), SIDE.unknown, price(columns.price[i]!), amount(1));
      return {
        ...tapeRules('btc_mxn', '0.01'),
        source: 'late',
        columns: builder.columns(),
        gaps: [],
        flaws: [],
        depth: 0,
        quotesOnly: true,
      };
    };
    const late = hedgedBookOf('here', tape(0), venue(tape(12)), { makersBps: [0] });
    expect(late.lead!.lagMs).toBe(-12_000);
    expect(late.verdict.why).toMatch(/follows the quoted price by 12 s/);
    expect(late.isPriceAlone).toBe(true);
    expect(late.limits.join(' ')).toMatch(
      /^Because the recordings lack amounts or depth, .*The recorded times are whole seconds/,
    );
  });

  test('no time in common', () => {
    const { columns } = hedge;
    const later: Tape = { ...hedge, columns: { ...columns, at: columns.at.map(at => at + 1e9) } };
    const book = hedgedBookOf('here', quoted, venue(later), { makersBps: [0] });
    expect([book.verdict.quote, book.verdict.why]).toEqual([false, 'the recordings have too little time in common']);
    expect(/NaN|undefined|Infinity/.test(hedgedWords(book).join(' '))).toBe(false);
  });

  test('another base currency', () => {
    const { columns } = hedge;
    const other = changed(hedge, tapeRules('eth_mxn', '0.01'), i => ({
      ticks: columns.price[i]!,
      lots: columns.amount[i]!,
    }));
    expect(() => hedgedProfileOf(quoted, other)).toThrow(
      /must have the base currency of btc_mxn, found eth_mxn; pass another book with --hedge-book$/,
    );
  });
});
