/** The ledger of a checkpoint and its entries agree, whichever exchanges a run knows: else the next start refuses the state. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CAUSES,
  causesFrom,
  money,
  moneyOf,
  sumOfCauses,
  textOfMoney,
  type Causes,
  type EngineOptions,
  type LedgerEntry,
  type RestoredLedger,
  type TransferEvent,
} from '../../../src/core/index.ts';
import { checkpointOf, ledgerOf, textOfCheckpoint, textOfLedger } from '../../../src/live/recording/ledgerText.ts';
import { runsOf } from '../../many.ts';
import { ToyExchange } from '../toyExchange.ts';

const PLACES = ['binance', 'kraken'] as const;
const NAMES = ['btc', 'mxn', 'usdt', ...[...PLACES, 'transit'].flatMap(at => [`btc@${at}`, `usdt@${at}`])];
const BOUNDS = { band: moneyOf('1000000'), debtMax: moneyOf('1000000'), failuresMax: 20, isOnlyRoute: false };
type Place = (typeof PLACES)[number] | null;

const elsewhereAt = (place: Place): Partial<EngineOptions> => {
  if (place === null) return {};
  const transfers = { feeMax: new Map(), fallMax: new Map(), waitMs: 3_600_000 };
  return { elsewhere: { place, major: 'btc', minor: 'usdt', bounds: BOUNDS, transfers } };
};

const textsOf = (causes: ReadonlyMap<string, Causes>): Record<string, string[]> =>
  Object.fromEntries(
    [...causes]
      .filter(([, row]) => CAUSES.some(cause => row[cause] !== 0n))
      .map(([name, row]) => [name, CAUSES.map(cause => `${cause} ${textOfMoney(row[cause])}`)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** Runs of one bot, whose other exchange may be absent, another, or the same in each. */
class Runs {
  toy!: ToyExchange;
  place!: Place;
  readonly entries: LedgerEntry[] = [];
  #ledger: RestoredLedger | null = null;
  #run = 7;
  #now = 1_000_000;
  #sources = 0;
  readonly #here = new Map(['btc', 'mxn', 'usdt'].map(name => [name, 1_000n]));
  readonly #there = new Map(PLACES.map(place => [place, new Map(['btc', 'usdt'].map(name => [name, 100n]))]));

  constructor(place: Place) {
    this.begins(place);
  }

  begins(place: Place): void {
    this.#now = (this.toy?.now ?? this.#now) + 1_000;
    const toy = new ToyExchange({ target: 1_000 as never, run: ++this.#run, ...elsewhereAt(place) });
    toy.now = this.#now;
    [this.toy, this.place] = [toy, place];
    toy.engine.onEntry(entry => void this.entries.push(entry));
    toy.step({ kind: 'restore', at: toy.now, orders: [], ledger: this.#ledger });
    this.reads('here');
  }

  ends(): void {
    const left = this.toy.engine.ledger([]);
    if (left !== null) this.#ledger = ledgerOf(textOfLedger(left));
  }

  reads(which: 'here' | 'there'): void {
    const at = (this.toy.now += 2_000);
    if (which === 'there' && this.place === null) return;
    const truth = which === 'here' ? this.#here : this.#there.get(this.place!)!;
    const balances = [...truth].map(([currency, sum]) => {
      const total = String(sum);
      return { currency, total, locked: '0', available: total };
    });
    const of = which === 'here' ? {} : { place: this.place!, rate: moneyOf('18') };
    this.toy.step({ kind: 'balances', at, startedAt: at, quiet: true, balances, ...of });
  }

  books(currency: string, amount: bigint, isInTransit: boolean, isRepeat: boolean): void {
    const at = this.toy.now;
    const source = `adjust ${isRepeat ? this.#sources : ++this.#sources}`;
    const of: TransferEvent = {
      ...{ kind: 'transfer', at, source, cause: 'adjustments', currency, amount: money(amount * 10n ** 18n) },
      ...{ occurredAt: at, why: 'ann: booked' },
    };
    this.toy.step(isInTransit && !currency.endsWith('@transit') ? { ...of, inTransit: true } : of);
  }

  /** The entries since the opening add up to the rows, and the base currency of all rows is the target and the inventory. */
  expectWhole(): void {
    const { engine, now } = this.toy;
    const { causes } = engine.ledger([])!;
    expect(textsOf(causes)).toEqual(textsOf(causesFrom(this.entries)));
    let held = 0n;
    for (const [name, row] of causes) if (name.split('@')[0] === 'btc') held += sumOfCauses(row);
    expect(textOfMoney(engine.book.snapshot(now).booked.inventory)).toBe(
      textOfMoney(money(held - 1_000n * 10n ** 18n)),
    );
  }
}

const placeDrawn = fc.constantFrom<Place>(null, ...PLACES);
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ begins: placeDrawn }) },
  { weight: 2, arbitrary: fc.record({ reads: fc.constantFrom('here', 'there') }) },
  { weight: 1, arbitrary: fc.constant({ resumes: true }) },
  {
    weight: 5,
    arbitrary: fc.record({
      books: fc.constantFrom(...NAMES),
      amount: fc.integer({ min: -9, max: 9 }).filter(amount => amount !== 0),
      isInTransit: fc.boolean(),
      isRepeat: fc.boolean(),
    }),
  },
);

describe('the ledger of all accounts', () => {
  test('is the sum of its entries, with the other exchange absent, changed and known', () => {
    fc.assert(
      fc.property(placeDrawn, fc.array(step, { minLength: 1, maxLength: 14 }), (place, steps) => {
        const runs = new Runs(place);
        for (const each of steps) {
          if ('begins' in each) {
            runs.ends();
            runs.begins(each.begins);
          }
          if ('reads' in each) runs.reads(each.reads);
          if ('resumes' in each) runs.toy.step({ kind: 'resume', at: runs.toy.now });
          if ('books' in each) runs.books(each.books, BigInt(each.amount), each.isInTransit, each.isRepeat);
          runs.expectWhole();
        }
      }),
      runsOf(3_000, 100),
    );
  });

  test('has what the operator books at an exchange that the configuration no longer names', () => {
    const runs = new Runs('kraken');
    runs.reads('there');
    runs.ends();
    runs.begins(null);
    runs.books('btc@kraken', -100n, false, false);
    runs.expectWhole();
    runs.ends();
    runs.begins('kraken');
    const { causes } = runs.toy.engine.ledger([])!;
    expect(textOfMoney(sumOfCauses(causes.get('btc@kraken')!))).toBe('0');
    runs.books('btc@kraken', -100n, false, true);
    runs.expectWhole();
  });
});

test('comparisons of both accounts are stored apart, and those that an older Puntas merged are of the own account only', () => {
  const sums = (name: string) => new Map([[name, moneyOf('1.5')]]);
  const checked = { at: 5, reported: sums('btc'), differences: new Map() };
  const checkedThere = { place: 'kraken', at: 3, reported: sums('btc@kraken'), differences: sums('btc@kraken') };
  const ledger = { causes: new Map(), sources: [], seen: new Map(), target: 0 as never, guard: null };
  const text = textOfCheckpoint({ ledger, marker: undefined, live: [], checked, checkedThere });
  expect(checkpointOf(text)).toMatchObject({ checked, checkedThere });
  const older = JSON.parse(text) as { checked: { reported: string[][] }; checkedThere?: object };
  older.checked.reported.push(['btc@kraken', '0']);
  delete older.checkedThere;
  expect(checkpointOf(JSON.stringify(older))).toMatchObject({ checked, checkedThere: null });
});
