/** Judges what the books of an account must keep together: funds, limits by currency, ids, and whose each fill is. */
import { money, moneyOf, type Money } from '../../../src/core/index.ts';
import type { AccountTruth, EmbeddedExchange } from '../../../src/sandbox/index.ts';
import type { PlacedOrder } from '../world/wire.ts';
import type { Laws } from './checker.ts';

type TrueOrder = AccountTruth['live'][number];

export type AccountJudgeOptions = {
  readonly exchange: EmbeddedExchange;
  readonly accountId: string;
  readonly checker: Laws;
  readonly prefix: string;
  readonly books: readonly string[];
  /** Balances that the account was opened with. */
  readonly began: Readonly<Record<string, string>>;
  /** Targets of base currencies; those of other currencies are their opening balances. */
  readonly targets: ReadonlyMap<string, Money>;
  /** Limits of base currencies; empty without any. */
  readonly limits: ReadonlyMap<string, Money>;
  /** Whether only the bot moves money, and the disk keeps what it took: then the sum of reservations is exact. */
  readonly areFundsOwn: boolean;
  /** Time since which an operator has halted or paused a book alone; `null` if no stop of its own applies. */
  readonly stoppedSince: (book: string) => number | null;
  readonly now: () => number;
};

/** Time in which a bot knows of the stop of one book, and what was decided before it is sent. */
const STOP_KNOWN_MS = 2_000 + 1_600;

/** Position of a book, as the bot says at its end. */
export type ClaimedPosition = { readonly symbol: string; readonly position: Money };

/** Largest error of an order's value by rounding, in 10^-18. */
const ROUNDING = 10n ** 10n;

export class AccountJudge {
  readonly #o: AccountJudgeOptions;
  readonly #bookOf = new Map<string, string>();
  /** Orders that were sent and have not been seen at the exchange, with what they spend. */
  readonly #onTheirWay = new Map<string, { readonly currency: string; readonly sum: bigint }>();
  readonly #answered = new Set<string>();
  #life = -1;
  #lastTid = 0;
  /** Amounts that the bot's trades brought and that others moved, by currency, in 10^-18. */
  readonly #brought = new Map<string, bigint>();
  readonly #others = new Map<string, bigint>();
  /** Result of the bot's orders in each book. */
  readonly #positions = new Map<string, bigint>();

  constructor(options: AccountJudgeOptions) {
    this.#o = options;
  }

  /** B1 and B3: the order has no id of another book, and all orders together spend no more than there is. */
  placing(life: number, order: PlacedOrder): void {
    const { checker, exchange, accountId } = this.#o;
    const { originId: id, book } = order;
    const other = this.#bookOf.get(id);
    if (other !== undefined && other !== book) checker.breaks('B1', `${id} was sent in ${other} and in ${book}`);
    this.#bookOf.set(id, book);
    const stopped = this.#o.now() - (this.#o.stoppedSince(book) ?? Infinity);
    if (stopped > STOP_KNOWN_MS) checker.breaks('B2', `${id} was sent ${stopped} ms after ${book} was stopped`);
    if (life !== this.#life) this.#onTheirWay.clear();
    this.#life = life;
    const { major, minor } = exchange.venue.books.get(book)!.instrument;
    const base = moneyOf(order.major);
    const value = (base * moneyOf(order.price)) / 10n ** 18n;
    const [currency, sum] = order.side === 'buy' ? [minor, value] : [major, base as bigint];
    this.#onTheirWay.set(id, { currency, sum });
    if (!this.#o.areFundsOwn) return;
    let reserved = 0n;
    for (const live of this.#ours()) {
      this.#onTheirWay.delete(live.originId!);
      const spends = live.side === 'buy' ? live.instrument.minor : live.instrument.major;
      if (spends === currency) reserved += live.locked;
    }
    for (const [sentId, spent] of this.#onTheirWay) {
      if (checker.isGone(sentId) || this.#answered.has(sentId)) this.#onTheirWay.delete(sentId);
      else if (spent.currency === currency) reserved += spent.sum;
    }
    const held = exchange.truth().accounts.get(accountId)!.balances.get(currency)?.total ?? 0n;
    if (reserved > held + ROUNDING)
      checker.breaks(
        'B3',
        `with ${id}, orders of all books spend ${reserved} ${currency}, and the account has ${held}`,
      );
  }

  /** B3: an order that the exchange took or refused is not on its way any more. */
  arrived(id: string): void {
    this.#answered.add(id);
  }

  /** B5. Must be called after each event. */
  look(): void {
    this.#takeTrades();
    if (this.#o.limits.size === 0) return;
    for (const [currency, limit] of this.#o.limits) {
      let [raised, lowered] = [0n, 0n];
      for (const { side, instrument, original, filled, price } of this.#ours()) {
        const left = BigInt(original - filled);
        if (instrument.major === currency) {
          if (side === 'buy') raised += left * instrument.lotMoney;
          else lowered += left * instrument.lotMoney;
        }
        if (instrument.minor === currency) {
          const value = (left * instrument.lotMoney * BigInt(price) * instrument.tickMoney) / 10n ** 18n;
          if (side === 'sell') raised += value;
          else lowered += value;
        }
      }
      const began = moneyOf(this.#o.began[currency] ?? '0');
      const exposure = began - (this.#o.targets.get(currency) ?? began) + (this.#brought.get(currency) ?? 0n);
      const most = limit + (this.#others.get(currency) ?? 0n) + ROUNDING;
      if (exposure + raised > most || exposure - lowered < -most)
        this.#o.checker.breaks(
          'B5',
          `${currency}: ${exposure} from the target, live orders raise it by ${raised} and lower it by ${lowered}, and the limit is ${limit}`,
        );
    }
  }

  /** B4: each book has exactly what the orders of the bot brought in it. The home of a currency has the rest as well. */
  checkPositions(claimed: readonly ClaimedPosition[]): void {
    this.#takeTrades();
    const majorOf = (symbol: string) => this.#o.exchange.venue.books.get(symbol)!.instrument.major;
    for (const { symbol, position } of claimed) {
      const major = majorOf(symbol);
      const isHome = this.#o.books.find(book => majorOf(book) === major) === symbol;
      const own = this.#positions.get(symbol) ?? 0n;
      const others = this.#others.get(major) ?? 0n;
      if (!isHome && position !== own)
        this.#o.checker.breaks('B4', `${symbol} has ${position} by its own account, and its trades brought ${own}`);
      if (!isHome || others !== 0n) continue;
      const began = moneyOf(this.#o.began[major] ?? '0');
      let expected = began - (this.#o.targets.get(major) ?? began) + (this.#brought.get(major) ?? 0n);
      for (const other of this.#o.books)
        if (other !== symbol && majorOf(other) === major) expected -= this.#positions.get(other) ?? 0n;
      if (position !== expected)
        this.#o.checker.breaks('B4', `${symbol} has ${position} by its own account, and ${expected} belongs to it`);
    }
  }

  *#ours(): Iterable<TrueOrder> {
    const { exchange, accountId, prefix, checker } = this.#o;
    for (const order of exchange.venue.accounts.get(accountId)!.active.values())
      if (order.originId?.startsWith(prefix) === true && !checker.isOrphan(order.originId)) yield order;
  }

  #takeTrades(): void {
    const { exchange, accountId, prefix, checker } = this.#o;
    const { trades } = exchange.venue.accounts.get(accountId)!;
    const newest = trades.newest();
    if (!newest || newest.tid <= this.#lastTid) return;
    trades.each('asc', this.#lastTid, ({ order, amount, minor, fee }) => {
      const { instrument, side, originId, book } = order;
      const isOurs = originId?.startsWith(prefix) === true && !checker.isOrphan(originId);
      const gained = BigInt(amount) * instrument.lotMoney;
      const base = side === 'buy' ? gained - fee : -gained;
      const quote = side === 'buy' ? -minor : minor - fee;
      if (isOurs) {
        add(this.#brought, instrument.major, base);
        add(this.#brought, instrument.minor, quote);
        add(this.#positions, book, base);
      } else {
        add(this.#others, instrument.major, abs(base));
        add(this.#others, instrument.minor, abs(quote));
      }
      return true;
    });
    this.#lastTid = newest.tid;
  }
}

function add(map: Map<string, bigint>, name: string, sum: bigint): void {
  map.set(name, (map.get(name) ?? 0n) + sum);
}

const abs = (sum: bigint): bigint => money(sum < 0n ? -sum : sum);
