import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instrumentOf, money, moneyOf, tierWorth } from '../../../src/core/index.ts';
import { BookTerms } from '../../../src/core/engine/bookTerms.ts';
import { bookRules, plain } from '../market.ts';

const START = 1.7e12;

describe('the rules of the book', () => {
  const CHANGED = 'rules of the book changed';
  const rulesOf = (instrument = plain, more: object = {}) =>
    ({ kind: 'rules', at: START, instrument, makerRate: -20, takerRate: 70, ...more }) as never;
  const instrument = (tickSize: string, lot: string) =>
    instrumentOf(bookRules({ tickSize, minimumAmount: '10', minimumPrice: '10', maximumPrice: '1000000' }), lot);

  it('are known with their fees, a rebate too; without them nothing is quoted', () => {
    const terms = new BookTerms(plain);
    expect([terms.hasFees, terms.refusal, terms.isOutdated]).toEqual([false, null, false]);
    expect(terms.read(rulesOf())).toBe(false);
    expect([terms.hasFees, terms.makerRate, terms.takerRate, terms.tierWorth]).toEqual([true, -20, 70, 0]);
    for (const makerRate of [Number.NaN, 1e8, -1e8, Infinity]) {
      terms.read(rulesOf(plain, { makerRate }));
      expect(terms.hasFees).toBe(false);
    }
    terms.read(rulesOf(plain, { makerRate: 99_999_999 }));
    expect(terms.hasFees).toBe(true);
  });

  it('are those of the last read alone, whatever was read before: rules, fees, tier and refusal', () => {
    const next = { above: money(0n), makerRate: 0, missing: moneyOf('1'), monthly: money(0n) };
    const tierOf = (volume: string) => ({ currency: 'mxn', volume: moneyOf(volume), makerRate: 60_000, next });
    const tiers = [undefined, null, tierOf('0'), tierOf('1.5'), tierOf('9'), { ...tierOf('9'), next: null }];
    const rate = fc.constantFrom(-20, 0, 70, Number.NaN);
    const rules = fc
      .record({
        instrument: fc.constantFrom(
          instrument('1', '1'),
          { ...instrument('1', '1'), amountMin: 7 },
          instrument('5', '1'),
        ),
        ...{ makerRate: rate, takerRate: rate, tier: fc.constantFrom(...tiers) },
      })
      .map(read => ({ kind: 'rules', at: START, ...read }));
    const event = fc.oneof({ weight: 4, arbitrary: rules }, fc.constant({ kind: 'book removed', at: START }));
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 6 }), events => {
        const terms = new BookTerms(instrument('1', '1'));
        let refusal: string | null = null;
        for (const one of events) {
          const isTold = terms.read(one as never);
          expect(isTold).toBe(terms.refusal !== refusal);
          ({ refusal } = terms);
        }
        // The engine ignores rules with another tick and rules that report the removal of the book.
        const last = events.flatMap(one => ('instrument' in one && one.instrument.tick === '1' ? [one] : [])).at(-1);
        const { instrument: of, makerRate, takerRate } = terms;
        expect([of, makerRate, takerRate, terms.tierWorth]).toEqual([
          last?.instrument ?? instrument('1', '1'),
          ...[last?.makerRate ?? Number.NaN, last?.takerRate ?? Number.NaN, last?.tier ? tierWorth(last.tier) : 0],
        ]);
        const end = events.at(-1)!;
        const why = end.kind === 'book removed' ? 'book is not traded any more' : end === last ? null : CHANGED;
        expect([terms.refusal, terms.isOutdated]).toEqual([why, why === CHANGED]);
      }),
    );
  });

  it('of another tick or lot are not taken; the engine is told of each change, once', () => {
    const terms = new BookTerms(instrument('1', '1'));
    terms.read(rulesOf(instrument('1', '1'), { makerRate: 5 }));
    for (const other of [instrument('5', '1'), instrument('1', '10')]) {
      expect(terms.read(rulesOf(other))).toBe(true);
      expect([terms.refusal, terms.isOutdated, terms.makerRate]).toEqual(['rules of the book changed', true, 5]);
      expect(terms.read(rulesOf(other))).toBe(false);
      expect(terms.read({ kind: 'book removed', at: START })).toBe(true);
      expect([terms.refusal, terms.isOutdated]).toEqual(['book is not traded any more', false]);
      expect(terms.read({ kind: 'book removed', at: START })).toBe(false);
      const same = instrument('1', '1');
      expect(terms.read(rulesOf(same, { makerRate: 5 }))).toBe(true);
      expect([terms.refusal, terms.instrument]).toEqual([null, same]);
    }
  });
});
