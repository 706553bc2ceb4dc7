/** What the account holds by currency: its opening balances and all that came and went since, each once; and what the exchange says of it. */
import type { AccountLedger, Conversion, TransferEvent } from './accountEvents.ts';
import { pairOrNull } from '../model/bookName.ts';
import { Ledger } from './ledger.ts';
import type { Change, LedgerEntry } from './ledger.ts';
import type { Balance, OwnTrade } from '../ports/port.ts';
import { money, moneyOf } from '../model/units.ts';
import type { Millis, Money } from '../model/units.ts';

/** Trades remembered to recognise repeats; pages overlap by far less. */
const SEEN_MAX = 20_000;
/** One of the eighth decimal: what rounding may make of a leg of a conversion. */
const RESIDUE_MAX = 10n ** 10n;

/** What was just booked in the account: every book that trades in it makes its position of that. */
export type Booked = { readonly changes: readonly Change[] } & (
  | { readonly kind: 'opening' | 'transfer' }
  | { readonly kind: 'trade'; readonly trade: OwnTrade }
  /** `worth`: what the third currency of one leg of a route is counted for. */
  | { readonly kind: 'conversion'; readonly worth?: Money | undefined }
);

/** Origin id of the bot's order that a trade filled, and its level from 1; null where it is not the bot's, or not known. */
export type FillOf = (trade: OwnTrade) => { readonly id: string | null; readonly level: number | null };

export class Holdings {
  readonly #told: (booked: Booked) => void;
  readonly #fillOf: FillOf;
  readonly #ledger = new Ledger();
  readonly #reported = new Map<string, Money>();
  readonly #seen = new Map<string, string>();
  #isOpen = false;
  /** Carried out, and the balances have not been compared since. */
  #unsettled: Conversion | null = null;

  /** `told`: called with everything once it is booked, but for what is restored. `fillOf`: whose order a trade filled, for the ledger's text. */
  constructor(told: (booked: Booked) => void, fillOf: FillOf = () => ({ id: null, level: null })) {
    this.#told = told;
    this.#fillOf = fillOf;
  }

  /** Grows with every entry of the ledger. */
  get version(): number {
    return this.#ledger.version;
  }

  /** True once the opening balances are known. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Balances by our own ledger, by currency. */
  get totals(): ReadonlyMap<string, Money> {
    return this.#ledger.balances;
  }

  /** The last totals that the exchange reported. */
  get reported(): ReadonlyMap<string, Money> {
    return this.#reported;
  }

  total(currency: string): Money {
    return this.#ledger.balance(currency);
  }

  /** Tells every entry of the ledger from now on. */
  onEntry(call: (entry: LedgerEntry) => void): void {
    this.#ledger.listen(call);
  }

  /** What a later run goes on with; `recent` are the ids of the trades that it may be told again. */
  kept(recent: readonly string[]): AccountLedger {
    const { causes, sources } = this.#ledger;
    return { causes, sources, seen: this.#seenOf(recent) };
  }

  /** Goes on with the ledger of an earlier run. Its trades up to that moment are in it. */
  restore({ causes, sources, seen }: AccountLedger): void {
    if (this.#isOpen) throw new Error('the ledger is open already');
    this.#ledger.restore(causes, sources);
    for (const [tid, content] of seen) this.#seen.set(tid, content);
    this.#isOpen = true;
  }

  /** Takes the last reported totals for the ledger: what differed came or went by something that is not ours, and is never profit. */
  adjust(at: Millis): void {
    for (const { currency, difference } of this.differences()) {
      const source = `resume ${at} ${currency}`;
      const why = 'what the exchange reported when a person had resumed';
      this.transfer({ source, cause: 'adjustments', currency, amount: difference, occurredAt: at, why });
    }
  }

  /** The first read opens the ledger; later ones are kept to be compared with it. */
  read(balances: readonly Balance[], at: Millis): void {
    // A currency that this reading does not name is unknown, whatever an earlier one said.
    this.#reported.clear();
    // One that the ledger has never had is none of the bot's.
    for (const { currency, total } of balances)
      if (!this.#isOpen || this.totals.has(currency)) this.#reported.set(currency, moneyOf(total));
    if (this.#isOpen) return;
    const changes = [...this.#reported].map(([currency, amount]): Change => ({ cause: 'opening', currency, amount }));
    this.#ledger.post({ source: 'opening', at, why: null, changes });
    this.#isOpen = true;
    this.#told({ kind: 'opening', changes });
  }

  /** Currencies whose last reported total differs from our ledger, with the difference: reported minus ours. */
  differences(): readonly { readonly currency: string; readonly difference: Money }[] {
    const result: { currency: string; difference: Money }[] = [];
    for (const [currency, reported] of this.#reported) {
      const difference = money(reported - this.total(currency));
      if (difference !== 0n) result.push({ currency, difference });
    }
    return result;
  }

  /**
   * A trade of this account, in whatever book; a repeat changes nothing. Of a book whose name does not tell its two currencies the fee alone is
   * booked: the rest shows as a difference of the balances, which a person looks at. Throws an Error on one that was told differently before.
   */
  trade(trade: OwnTrade): void {
    if (!this.#isNew(trade)) return;
    const { tid, oid, book, side, createdAt: at } = trade;
    const pair = pairOrNull(book);
    const sign = side === 'buy' ? 1n : -1n;
    const legs = (amounts: readonly bigint[]) =>
      (pair ?? []).map((currency, leg): Change => ({ cause: 'trades', currency, amount: money(amounts[leg]!) }));
    const changes: readonly Change[] = [
      ...legs([sign * moneyOf(trade.major), -sign * moneyOf(trade.minor)]),
      { cause: 'fees', currency: trade.feeCurrency, amount: money(-moneyOf(trade.feeAmount)) },
    ];
    this.#ledger.post({ source: `trade ${tid} ${oid}`, at, why: this.#whyOf(trade), changes });
    this.#told({ kind: 'trade', trade, changes });
  }

  /** A conversion of ours has been carried out. */
  convert(conversion: Conversion, at: Millis): void {
    const { id, give, get, worth, why } = conversion;
    const changes: readonly Change[] = [
      { cause: 'conversions', currency: give.currency, amount: money(-give.amount) },
      { cause: 'conversions', currency: get.currency, amount: get.amount },
    ];
    if (!this.#ledger.book({ source: `conversion ${id}`, at, why: why ?? null, changes })) return;
    this.#unsettled = conversion;
    this.#told({ kind: 'conversion', changes, worth });
  }

  /**
   * After the balances were read on a quiet cut: a last digit by which the currencies of a conversion differ is what the exchange's
   * rounding left of it, and belongs to it. Once for each conversion.
   */
  settleResidue(at: Millis): void {
    const conversion = this.#unsettled;
    if (conversion === null) return;
    const differences = this.differences();
    const legs = [conversion.give.currency, conversion.get.currency];
    const isResidue = differences.every(
      ({ currency, difference }) => legs.includes(currency) && difference <= RESIDUE_MAX && difference >= -RESIDUE_MAX,
    );
    if (!isResidue) return;
    this.#unsettled = null;
    if (differences.length === 0) return;
    const changes = differences.map(({ currency, difference }): Change => ({
      cause: 'conversions',
      currency,
      amount: difference,
    }));
    if (this.#ledger.book({ source: `residue ${conversion.id}`, at, why: 'rounding', changes }))
      this.#told({ kind: 'conversion', changes });
  }

  /** Money came or went, and it is known why. The same `source` again changes nothing. */
  transfer({ source, cause, currency, amount, occurredAt, why }: Transfer): void {
    const changes = [{ cause, currency, amount }];
    if (this.#ledger.book({ source, at: occurredAt, why, changes })) this.#told({ kind: 'transfer', changes });
  }

  /** Such as `btc_mxn at 1500000.00 as maker of demo-1-7 level 2`: the fields that exports have as columns. */
  #whyOf(trade: OwnTrade): string {
    const { id, level } = this.#fillOf(trade);
    const order = id === null ? '' : ` of ${id}${level === null ? '' : ` level ${level}`}`;
    return `${trade.book} at ${trade.price} as ${trade.maker ? 'maker' : 'taker'}${order}`;
  }

  /** What was said of these trades, of those that are in the ledger. */
  #seenOf(tids: readonly string[]): ReadonlyMap<string, string> {
    return new Map(
      tids.flatMap(tid => {
        const content = this.#seen.get(tid);
        return content === undefined ? [] : [[tid, content] as const];
      }),
    );
  }

  /**
   * The first report of a trade is booked; one that tells the same trade differently is an impossible event. When the account trades with
   * itself, through another of its programs, one trade id has two records: one for each order.
   */
  #isNew({ tid, oid, side, price, major, minor, feeAmount, feeCurrency }: OwnTrade): boolean {
    const content = [oid, side, price, major, minor, feeAmount, feeCurrency].join(' ');
    const records = this.#seen.get(tid)?.split('\n') ?? [];
    const before = records.find(record => record.startsWith(`${oid} `));
    if (before !== undefined) {
      if (before !== content) throw new Error(`trade ${tid} was reported as ${before}, and now as ${content}`);
      return false;
    }
    this.#seen.set(tid, [...records, content].join('\n'));
    if (this.#seen.size > SEEN_MAX) this.#seen.delete(this.#seen.keys().next().value!);
    return true;
  }
}

type Transfer = Omit<TransferEvent, 'kind' | 'at'>;
