/** What the account holds by currency, from its opening balances and every trade since; and our own position in it. */
import { moneyOfAmount } from '../model/instrument.ts';
import type { Instrument } from '../model/instrument.ts';
import type { Conversion, EngineEvent, RestoredLedger } from '../engine/event.ts';
import { Ledger } from './ledger.ts';
import type { Change, LedgerEntry } from './ledger.ts';
import type { Balance, OwnTrade } from '../ports/port.ts';
import { Position } from './position.ts';
import type { Fill, Profit } from './position.ts';
import { money, moneyOf } from '../model/units.ts';
import type { Amount, Millis, Money, Price } from '../model/units.ts';

/** Trades remembered to recognise repeats; pages overlap by far less. */
const SEEN_MAX = 20_000;
/** One of the eighth decimal: what rounding may make of a leg of a conversion. */
const RESIDUE_MAX = 10n ** 10n;

const NOTHING = money(0n);
const NO_PROFIT: Profit = { spread: NOTHING, inventory: NOTHING, fees: NOTHING, hedging: NOTHING, total: NOTHING };

export class Holdings {
  readonly #instrument: Instrument;
  readonly #target: Amount | null;
  readonly #ledger = new Ledger();
  readonly #reported = new Map<string, Money>();
  readonly #seen = new Map<string, string>();
  #position: Position | null = null;
  /** Carried out, and the balances have not been compared since. */
  #unsettled: Conversion | null = null;

  constructor(instrument: Instrument, target: Amount | null) {
    this.#instrument = instrument;
    this.#target = target;
  }

  /** Grows with every entry of the ledger. */
  get version(): number {
    return this.#ledger.version;
  }

  /** True once the opening balances are known. */
  get isOpen(): boolean {
    return this.#position !== null;
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
  kept(recent: readonly string[]): Omit<RestoredLedger, 'guard'> {
    const { causes, sources } = this.#ledger;
    return { causes, sources, seen: this.#seenOf(recent), target: this.#targetLots() };
  }

  /** Goes on with the ledger of an earlier run. Its trades up to that moment are in it. */
  restore({ causes, sources, seen, target }: RestoredLedger): void {
    if (this.#position !== null) throw new Error('the ledger is open already');
    this.#ledger.restore(causes, sources);
    for (const [tid, content] of seen) this.#seen.set(tid, content);
    const wanted = moneyOfAmount(this.#instrument, this.#target ?? target);
    this.#position = new Position(this.#instrument, money(this.total(this.#instrument.major) - wanted));
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
    for (const { currency, total } of balances) this.#reported.set(currency, moneyOf(total));
    if (this.#position !== null) return;
    const changes = [...this.#reported].map(([currency, amount]): Change => ({ cause: 'opening', currency, amount }));
    this.#ledger.post({ source: 'opening', at, why: null, changes });
    const held = this.total(this.#instrument.major);
    const target = this.#target === null ? held : moneyOfAmount(this.#instrument, this.#target);
    this.#position = new Position(this.#instrument, money(held - target));
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

  /** A trade in our book, once: null for a repeat. `id` is our origin id, or null when the order is not ours. */
  trade(trade: OwnTrade, price: Price, id: string | null): Fill | null {
    if (!this.#isNew(trade)) return null;
    const fill: Fill = {
      tid: trade.tid,
      id,
      oid: trade.oid,
      at: trade.createdAt,
      book: trade.book,
      side: trade.side,
      price,
      major: moneyOf(trade.major),
      minor: moneyOf(trade.minor),
      fee: moneyOf(trade.feeAmount),
      feeIn: this.#feeIn(trade.feeCurrency),
      maker: trade.maker,
    };
    this.#book(trade);
    if (this.#position === null) throw new Error('a trade arrived before the opening balances');
    if (id !== null) this.#position.fill(fill);
    else {
      const received = trade.side === 'buy' ? fill.major : -fill.major;
      this.#position.flow(money(received - (fill.feeIn === 'major' ? fill.fee : 0n)));
    }
    return fill;
  }

  /** A trade of this account in another book: it moves balances, and our position when it moves our major currency. */
  otherTrade(trade: OwnTrade): void {
    if (!this.#isNew(trade)) return;
    const before = this.total(this.#instrument.major);
    this.#book(trade);
    this.#position?.flow(money(this.total(this.#instrument.major) - before));
  }

  /**
   * A conversion of ours has been carried out. Between the two currencies of the book, or as a leg of a route between them, it is a hedge;
   * another one moves money out of or into the book's currencies, and is no profit.
   */
  convert(conversion: Conversion, at: Millis): void {
    const { id, give, get, worth, why } = conversion;
    const changes: readonly Change[] = [
      { cause: 'conversions', currency: give.currency, amount: money(-give.amount) },
      { cause: 'conversions', currency: get.currency, amount: get.amount },
    ];
    if (!this.#ledger.book({ source: `conversion ${id}`, at, why: why ?? null, changes })) return;
    this.#unsettled = conversion;
    this.#converted(changes, worth);
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
      this.#converted(changes);
  }

  /** Money came or went, and it is known why: it is never profit, except for fees that were given back, and a target of our own stays. */
  transfer({ source, cause, currency, amount, occurredAt, why }: Transfer): void {
    const changes = [{ cause, currency, amount }];
    if (!this.#ledger.book({ source, at: occurredAt, why, changes })) return;
    const { major, minor } = this.#instrument;
    if (cause === 'fees' && (currency === major || currency === minor))
      this.#position?.rebate(currency === major, amount);
    else if (currency === major && this.#target !== null) this.#position?.flow(amount);
  }

  mark(halfTicks: number): void {
    this.#position?.mark(halfTicks);
  }

  /** Major beyond the target. */
  position(): Money {
    return this.#position?.inventory ?? money(0n);
  }

  /** The same in whole lots, rounded toward zero: fees may leave a part of a lot. */
  positionLots(): number {
    return Number(this.position() / this.#instrument.lotMoney);
  }

  profit(): Profit {
    if (this.#position === null) return NO_PROFIT;
    if (!this.#position.isExplained()) throw new Error('profit does not add up to the change of equity');
    return this.#position.profit();
  }

  /** `worth`: what the third currency of a leg of a route is counted for. */
  #converted(changes: readonly Change[], worth?: Money): void {
    const { major, minor } = this.#instrument;
    const of = (wanted: string) =>
      changes.reduce((sum, { currency, amount }) => (currency === wanted ? sum + amount : sum), 0n);
    const isHedge = changes.every(({ currency }) => currency === major || currency === minor);
    if (isHedge) this.#position?.convert(of(major), of(minor));
    else if (worth !== undefined) {
      // What lies in the third currency is cash at what it is counted for, until the other leg says what it was.
      const brought = changes.some(({ currency, amount }) => amount > 0n && (currency === major || currency === minor));
      this.#position?.convert(of(major), of(minor) + (brought ? -worth : worth));
    } else if (of(major) !== 0n) this.#position?.flow(money(of(major)));
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

  /** What is wanted to be held, in lots. */
  #targetLots(): Amount {
    const target = this.total(this.#instrument.major) - this.position();
    return Number(target / this.#instrument.lotMoney) as Amount;
  }

  #feeIn(currency: string): Fill['feeIn'] {
    if (currency === this.#instrument.major) return 'major';
    return currency === this.#instrument.minor ? 'minor' : 'other';
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

  #book({ tid, oid, book, side, createdAt, ...trade }: OwnTrade): void {
    const [major, minor] = book.split('_') as [string, string];
    const sign = side === 'buy' ? 1n : -1n;
    this.#ledger.post({
      source: `trade ${tid} ${oid}`,
      at: createdAt,
      why: `${book} at ${trade.price}`,
      changes: [
        { cause: 'trades', currency: major, amount: money(sign * moneyOf(trade.major)) },
        { cause: 'trades', currency: minor, amount: money(-sign * moneyOf(trade.minor)) },
        { cause: 'fees', currency: trade.feeCurrency, amount: money(-moneyOf(trade.feeAmount)) },
      ],
    });
  }
}

type Transfer = Omit<Extract<EngineEvent, { kind: 'transfer' }>, 'kind' | 'at'>;
