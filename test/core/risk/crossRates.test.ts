import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bestChain,
  bestCycleGain,
  fitCrossRates,
  groupsInCycles,
  type MeasuredPrice,
  type TakablePrices,
} from '../../../src/core/index.ts';
import { between } from '../../draws.ts';
import { runsOf } from '../../many.ts';

const pairOf = (symbol: string) => {
  const [base, quote] = symbol.split('_');
  return { base: base!, quote: quote! };
};
const takable = (symbol: string, bid: number, ask: number): TakablePrices => ({
  ...pairOf(symbol),
  bid,
  ask,
  fee: 0.001,
});
const BTC_USD = takable('btc_usd', 66_500, 66_540);
const USD_MXN = takable('usd_mxn', 17.98, 18.02);
const NEAR = [takable('btc_mxn', 1_198_000, 1_199_000), BTC_USD, USD_MXN];
const FAR = [takable('btc_mxn', 1_208_500, 1_209_500), BTC_USD, USD_MXN];
const logOf = ({ bid, ask }: TakablePrices): number => Math.log((bid + ask) / 2);
const measured = (books: readonly TakablePrices[], sds: readonly number[]): readonly MeasuredPrice[] =>
  books.map((book, i) => ({ base: book.base, quote: book.quote, log: logOf(book), sd: sds[i]! }));

/** Gains of both directions around the three books: mxn to usd to btc to mxn, and back. */
const gains = ([btcMxn, btcUsd, usdMxn]: readonly TakablePrices[]): readonly [number, number] => [
  bestChain([usdMxn!], 'mxn', 'usd') * bestChain([btcUsd!], 'usd', 'btc') * bestChain([btcMxn!], 'btc', 'mxn') - 1,
  bestChain([btcMxn!], 'mxn', 'btc') * bestChain([btcUsd!], 'btc', 'usd') * bestChain([usdMxn!], 'usd', 'mxn') - 1,
];

describe('cross rates of formulas-desk E14', () => {
  test('chain prices, gains of cycles, and their threshold', () => {
    const chain = [BTC_USD, USD_MXN];
    expect(bestChain(chain, 'btc', 'mxn')).toBeCloseTo(1_193_279.85567, 5);
    expect(1 / bestChain(chain, 'mxn', 'btc')).toBeCloseTo(1_201_452.503555, 5);
    const [back, out] = gains(NEAR);
    expect(out).toBeCloseTo(-0.00576599181457, 14);
    expect(back).toBeCloseTo(-0.003870734415923, 14);
    for (const i of NEAR.keys()) expect(bestCycleGain(NEAR, i)).toBeCloseTo(back, 14);
    expect(logOf(NEAR[0]!) - logOf(NEAR[1]!) - logOf(NEAR[2]!)).toBeCloseTo(0.000951641653547, 14);
    // Half the loss of a round trip over both directions is the sum of half-spreads and fees.
    expect(-(Math.log1p(out) + Math.log1p(back)) / 2).toBeCloseTo(0.00483046220943, 14);
    expect(gains(FAR)[0]).toBeCloseTo(0.004859947794956, 14);
    expect(bestCycleGain(FAR, 1)).toBeCloseTo(0.004859947794956, 14);
    expect(logOf(FAR[0]!) - logOf(FAR[1]!) - logOf(FAR[2]!)).toBeCloseTo(0.0096744383939, 14);
  });

  test('the fit of one triangle: values, corrections, chi-square and errors', () => {
    const fit = fitCrossRates(measured(FAR, [4e-4, 3e-4, 6e-4]), 'mxn');
    expect(fit.values.get('btc')).toBeCloseTo(14.00276657198542, 13);
    expect(fit.values.get('usd')).toBeCloseTo(2.89608126252208, 13);
    for (const [i, correction] of [-0.00253755761151, 0.00142737615648, 0.00570950462591].entries())
      expect(-fit.residuals[i]!).toBeCloseTo(correction, 13);
    expect(fit.chiSquare).toBeCloseTo(153.434029897, 7);
    expect(fit.sds[0]).toBeCloseTo(3.435590005883e-4, 15);
    expect(fit.cycles).toBe(1);
    // With one triangle, each price is as far from what the others imply, so data cannot tell which is wrong.
    for (const i of FAR.keys()) {
      expect(Math.abs(fit.distances[i]!)).toBeCloseTo(0.0096744383939, 13);
      expect(fit.studentized[i]! ** 2).toBeCloseTo(fit.chiSquare, 7);
    }
  });

  test('five books: the largest studentized residual is the planted error', () => {
    const values = new Map([
      ...([
        ['btc', 14],
        ['usd', 2.89],
        ['eth', 10.7],
        ['mxn', 0],
      ] as const),
    ]);
    const symbols = ['btc_mxn', 'btc_usd', 'usd_mxn', 'eth_mxn', 'eth_btc'];
    const prices = symbols.map((symbol, i) => {
      const { base, quote } = pairOf(symbol);
      const log = values.get(base as 'btc')! - values.get(quote as 'btc')! + (i === 0 ? 0.004 : 0);
      return { base, quote, log, sd: [4, 3, 6, 5, 5][i]! * 1e-4 };
    });
    const { studentized, cycles, distances } = fitCrossRates(prices, 'mxn');
    expect(cycles).toBe(2);
    for (const [i, expected] of [6.3497, -4.0095, -4.0095, -3.7535, 3.7535].entries())
      expect(studentized[i]).toBeCloseTo(expected, 4);
    expect(distances[0]).toBeCloseTo(0.004, 12);
  });
});

const CURRENCIES = ['btc', 'eth', 'usd', 'mxn', 'brl'] as const;
const PAIRS = CURRENCIES.flatMap((base, i) => CURRENCIES.slice(i + 1).map(quote => ({ base, quote })));
const graph = fc.shuffledSubarray(PAIRS, { minLength: 3, maxLength: 8 });

/** Whether some cycle that visits no currency twice has both books: tried for every set of books. */
function areInOneCycle(books: readonly { readonly base: string; readonly quote: string }[], i: number, j: number) {
  for (let set = 0; set < 1 << books.length; set++) {
    if ((set & (1 << i)) === 0 || (set & (1 << j)) === 0) continue;
    const chosen = books.filter((_, k) => (set & (1 << k)) !== 0);
    const ends = chosen.flatMap(({ base, quote }) => [base, quote]);
    const names = [...new Set(ends)];
    if (names.length !== chosen.length || names.some(name => ends.filter(end => end === name).length !== 2)) continue;
    const par = chosen.map(pair => ({ ...pair, bid: 1, ask: 1, fee: 0 }));
    if (names.every(name => bestChain(par, names[0]!, name) > 0)) return true;
  }
  return false;
}

describe('for any books', () => {
  test('a group has the books that are in a cycle, and any two of them are in a common one', () => {
    fc.assert(
      fc.property(graph, books => {
        const groups = groupsInCycles(books);
        const grouped = groups.flat();
        expect(new Set(grouped).size).toBe(grouped.length);
        books.forEach(({ base, quote }, i) => {
          const others = books.filter((_, j) => j !== i).map(pair => ({ ...pair, bid: 1, ask: 1, fee: 0 }));
          expect(grouped.includes(i)).toBe(bestChain(others, base, quote) > 0);
        });
        for (const group of groups)
          for (const i of group) for (const j of grouped) expect(areInOneCycle(books, i, j)).toBe(group.includes(j));
      }),
      runsOf(1_000, 60),
    );
  });

  test('fitted prices agree around every cycle, whatever the account currency, and prices that agree stay', () => {
    const draw = between(-1, 1);
    fc.assert(
      fc.property(
        graph,
        fc.array(draw, { minLength: 10, maxLength: 10 }),
        fc.array(between(0.1, 10), { minLength: 10, maxLength: 10 }),
        fc.boolean(),
        (pairs, drawn, sds, agree) => {
          for (const group of groupsInCycles(pairs)) {
            const prices = group.map(i => {
              const { base, quote } = pairs[i]!;
              const log = agree ? drawn[CURRENCIES.indexOf(base)]! - drawn[CURRENCIES.indexOf(quote)]! : drawn[i]!;
              return { base, quote, log, sd: sds[i]! * 1e-3 };
            });
            const fit = fitCrossRates(prices, prices[0]!.quote);
            const other = fitCrossRates(prices, prices.at(-1)!.base);
            prices.forEach(({ base, quote, log, sd }, i) => {
              const fitted = log - fit.residuals[i]!;
              expect(fit.values.get(base)! - fit.values.get(quote)!).toBeCloseTo(fitted, 9);
              expect(other.residuals[i]).toBeCloseTo(fit.residuals[i]!, 7);
              if (agree) expect(fit.residuals[i]).toBeCloseTo(0, 9);
              // A fit is never less certain than one price.
              expect(fit.sds[i]).toBeLessThanOrEqual(sd * (1 + 1e-9));
            });
            // The weighted residuals of each currency's books cancel: least squares.
            for (const currency of CURRENCIES) {
              let sum = 0;
              let scale = 0;
              prices.forEach(({ base, quote, sd }, i) => {
                const sign = Number(base === currency) - Number(quote === currency);
                sum += (sign * fit.residuals[i]!) / sd ** 2;
                scale += 1 / sd ** 2;
              });
              expect(Math.abs(sum)).toBeLessThanOrEqual(1e-6 * scale);
            }
          }
        },
      ),
      runsOf(1_000, 60),
    );
  });

  test('the best cycle through a book is the best of all its cycles', () => {
    expect(bestCycleGain([BTC_USD], 0)).toBe(-1);
    const worse = takable('usd_mxn', 17, 19);
    expect(bestCycleGain([FAR[0]!, BTC_USD, worse, USD_MXN], 0)).toBeCloseTo(0.004859947794956, 14);
  });
});
