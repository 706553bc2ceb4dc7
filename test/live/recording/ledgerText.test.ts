import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CAUSES,
  causesOf,
  money,
  type Amount,
  type BookState,
  type Causes,
  type Money,
  type Profit,
  type ProfitSinceOpening,
  type RestoredLedger,
} from '../../../src/core/index.ts';
import {
  checkpointOf,
  entryOf,
  ledgerOf,
  textOfCheckpoint,
  textOfEntry,
  textOfLedger,
  type LedgerCheckpoint,
} from '../../../src/live/recording/ledgerText.ts';
import { rowOf } from '../../hedge/hedgeRows.ts';

/** Values that all differ, so that no value can take the place of another. */
class Values {
  #last = 0;
  next = (): number => ++this.#last;
  amount = (): Amount => this.next() as Amount;
  text = (): string => String(this.next());
  money = (): Money => money(BigInt(this.next()) * 10n ** 18n + BigInt(this.next()));
  sums = (...names: readonly string[]): Map<string, Money> => new Map(names.map(name => [name, this.money()]));
  causes = (): Causes => causesOf(Object.fromEntries(CAUSES.map(cause => [cause, this.money()])));
  profit = (): Profit => ({
    ...{ spread: this.money(), inventory: this.money(), fees: this.money(), hedging: this.money() },
    total: this.money(),
  });
  profitSince = (): ProfitSinceOpening => ({
    ...{ since: this.next(), at: this.next(), twiceMid: this.money(), profit: this.profit() },
  });
}

/** A state with every part, of which `names` names the parts that a state may lack. */
const bookOf = (of: Values): Required<BookState> => ({
  ...{ target: of.amount(), targetRest: of.money(), held: of.money() },
  guard: { drawdown: of.money(), day: of.next(), dayLoss: of.money() },
  // Passed on as they are: their contents are laws of their own.
  adverse: { horizonMs: of.next() } as unknown as NonNullable<BookState['adverse']>,
  pastPrices: { sampleMs: of.next() } as unknown as NonNullable<BookState['pastPrices']>,
  bases: { binance: of.next() } as unknown as NonNullable<BookState['bases']>,
  hedgeDebt: { place: 'binance', failures: of.next(), band: of.text() },
  priceDoubt: { isPulled: true, distance: of.next(), books: ['btc_usd'] },
  profit: of.profitSince(),
});
const BOOK_PARTS = [
  ...(['targetRest', 'held', 'adverse', 'pastPrices', 'bases', 'hedgeDebt', 'priceDoubt', 'profit'] as const),
] satisfies (keyof BookState)[];

const ledgerWith = (of: Values, lacked: readonly string[]): Required<RestoredLedger> => ({
  ...{ causes: new Map([['btc', of.causes()]]), sources: [`transfer ${of.next()}`], seen: new Map([['7', of.text()]]) },
  unopened: [`currency ${of.next()}`],
  roundings: new Map([[`currency ${of.next()}`, { decimals: of.next(), amounts: of.next() }]]),
  ...bookOf(of),
  transit: ['binance', null].map(place => ({
    ...{ source: `withdrawal ${of.next()}`, currency: 'btc', place, amount: of.money(), since: of.next() },
    mayBeInOpening: true as const,
  })),
  openings: [`currency ${of.next()}`],
  symbol: 'btc_mxn',
  books: { btc_usd: without(bookOf(of), lacked), eth_mxn: bookOf(of) },
  covariance: { sampleMs: of.next(), names: ['btc'], at: of.next(), logs: [of.next()], sums: [] },
  firstFills: { reconciled: of.next(), waiting: of.next() },
});
const LEDGER_PARTS = [
  ...BOOK_PARTS,
  ...(['unopened', 'roundings', 'transit', 'openings', 'symbol', 'books', 'covariance', 'firstFills'] as const),
] satisfies (keyof RestoredLedger)[];

const checkpointWith = (of: Values, lacked: readonly string[]): Required<LedgerCheckpoint> => ({
  ledger: without(ledgerWith(of, lacked), lacked),
  marker: of.text(),
  live: [
    { id: 'a-1-1', filled: of.amount(), oid: of.text(), price: of.next(), amount: of.next(), rest: of.text() },
    { id: 'a-1-2', filled: of.amount(), oid: null },
  ],
  hedges: [rowOf({ id: 'h1', amount: of.text() }), rowOf({ id: 'h2', amount: of.text(), state: 'unknown' })],
  units: { tick: of.text(), lot: of.text() },
  bookUnits: { btc_usd: { tick: of.text(), lot: of.text() } },
  transfers: [of.text(), of.text()],
  uncounted: ['eth'],
  checked: { at: of.next(), reported: of.sums('btc', 'mxn'), differences: of.sums('mxn') },
  checkedThere: {
    ...{ place: 'binance', at: of.next() },
    ...{ reported: of.sums('btc@binance', 'usdt@binance'), differences: of.sums('usdt@binance') },
  },
  profit: of.profit(),
});
/** Parts that a checkpoint may lack, with what stands for them. */
const LACKING = {
  ...{ marker: undefined, hedges: [], units: null, bookUnits: null, transfers: null, uncounted: [] },
  ...{ checked: null, checkedThere: null, profit: null },
};

const without = <T extends object>(whole: T, lacked: readonly string[]): T =>
  Object.fromEntries(Object.entries(whole).filter(([name]) => !lacked.includes(name))) as T;

describe('the text of a ledger', () => {
  const lacked = fc.subarray([...LEDGER_PARTS, ...Object.keys(LACKING)]);

  test('gives back every part of a checkpoint as it was, and no part that it lacked', () => {
    fc.assert(
      fc.property(lacked, names => {
        const whole = checkpointWith(new Values(), names);
        const some = without(whole, names);
        const read = checkpointOf(textOfCheckpoint(some));
        expect(read).toStrictEqual({ ...LACKING, ...some });
        expect(ledgerOf(textOfLedger(some.ledger))).toStrictEqual(some.ledger);
      }),
      { numRuns: 60, examples: [[[]], [[...LEDGER_PARTS, ...Object.keys(LACKING)]]] },
    );
  });

  test('gives back the changes of an entry in their order, each with its cause, and none of zero', () => {
    const of = new Values();
    const changes = CAUSES.flatMap(cause => ['btc', 'mxn'].map(currency => ({ cause, currency, amount: of.money() })));
    const zero = { cause: 'fees', currency: 'usd', amount: money(0n) } as const;
    for (const why of [null, 'ann: "booked", by hand']) {
      const text = textOfEntry({ why, changes: [zero, ...changes, zero] });
      expect(entryOf('trade 7', 5, text)).toStrictEqual({ source: 'trade 7', at: 5, why, changes });
    }
  });
});
