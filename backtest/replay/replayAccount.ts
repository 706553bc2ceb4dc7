/** Account of a replay, which all its books share: one engine, one set of balances and one request budget. */
import {
  FairShares,
  isBookEvent,
  isReadEvent,
  type Approved,
  type BookEngine,
  type Command,
  type Engine,
  type EngineEvent,
  type EngineNews,
  type Instrument,
  type Millis,
  type Money,
} from '../../src/core/index.ts';
import { RequestLimits, switchesOf, type Switches } from '../../src/sandbox/index.ts';
import { RequestBudget } from '../exchange/requestBudget.ts';
import { Fees, type FeeOptions } from '../exchange/fees.ts';
import { TradedVolume } from '../exchange/tradedVolume.ts';
import type { ReplayPlaceOptions } from './hedging.ts';

/** Number of requests of one read of orders and trades. */
export const READ_REQUESTS = 2;

/** Fee rates of one book, in 10^-8. */
export type BookFeeRates = { readonly makerRate: number; readonly takerRate: number };

/** Options that all books of a replay share; times are in ms. */
export type ReplayAccountOptions = {
  /** Opening balances as decimal text, by currency. */
  readonly balances: Readonly<Record<string, string>>;
  /** Limit that the bot applies to its own private requests in any 60 s; cancels are exempt. */
  readonly privatePerMinute: number;
  /**
   * Limit of private requests at the exchange, and the exchange's reaction to excess requests. Default: limit and
   * reaction of the embedded exchange.
   */
  readonly exchangeLimits?: Partial<Pick<Switches, 'privatePerMinute' | 'lockoutMs' | 'rateWindow'>>;
  /** Other exchange with hedges; absent if there are none. */
  readonly place?: Pick<ReplayPlaceOptions, 'name' | 'exchange'>;
};

/** Book of an account: its instrument and its fees. */
export type AccountBookOptions = { readonly instrument: Instrument; readonly fees: FeeOptions };

/** Creates the engine. `rates`: fee rates, in the order of the books. The engine must report its news to `onNews`. */
export type NewEngine = (rates: readonly BookFeeRates[], onNews: (news: EngineNews, symbol: string) => void) => Engine;

/** Replay of one book, as its account sees it. */
export type ReplayedBook = {
  send(command: Approved<Command>, at: Millis): void;
  onNews(news: EngineNews): void;
  /** Reports changed fee rates to the engine. */
  tellRates(at: Millis): void;
};

export class ReplayAccount {
  readonly engine: Engine;
  readonly budget: RequestBudget;
  /** Time of the latest event. */
  now: Millis = 0;
  readonly #limits: RequestLimits;
  readonly #switches: Switches;
  readonly #shares: FairShares;
  readonly #fees: ReadonlyMap<string, Fees>;
  /** Volume traded at the exchange, by quote currency. `#fees` counts only the trades that the bot has received. */
  readonly #exchangeVolumes = new Map<string, TradedVolume>();
  readonly #books = new Map<string, ReplayedBook>();
  readonly #symbols: readonly string[];
  /** Books that have reached the time of the stop. */
  readonly #stopped = new Set<string>();
  /** Time of the latest read of the account. */
  #readAt = -Infinity;
  /** Whether the requests of the latest read were sent and accepted. */
  #isRead = false;
  /** Symbols of the books that have used the latest read. */
  readonly #readers = new Set<string>();
  /** Exchange's numbers of the latest order and of the latest trade of all books. */
  #orders = 0;
  #trades = 0;
  #isHalted = false;
  #isReducing = false;

  /** Creates the engine, and opens the account at `from`. */
  constructor(options: ReplayAccountOptions, books: readonly AccountBookOptions[], engine: NewEngine, from: Millis) {
    this.budget = new RequestBudget(options.privatePerMinute);
    this.#limits = new RequestLimits({ elapsed: () => this.now });
    this.#switches = switchesOf(options.exchangeLimits);
    this.#symbols = books.map(({ instrument }) => instrument.symbol);
    this.#shares = new FairShares(
      { elapsed: () => this.now },
      () => this.budget.perMinute - this.budget.usedAt(this.now),
      this.#symbols,
    );
    const volumes = new Map<string, TradedVolume>();
    this.#fees = new Map(
      books.map(({ instrument, fees }) => {
        const volume = volumes.get(instrument.minor) ?? new TradedVolume();
        volumes.set(instrument.minor, volume);
        return [instrument.symbol, new Fees(instrument, fees, volume)] as const;
      }),
    );
    const all = [...this.#fees.values()];
    const rates = all.map(({ makerRate, takerRate }) => ({ makerRate, takerRate }));
    this.engine = engine(rates, (news, symbol) => this.#books.get(symbol)?.onNews(news));
    books.forEach(({ instrument }, i) => {
      const { symbol } = instrument;
      this.step(symbol, { kind: 'rules', at: from, instrument, ...rates[i]!, tier: all[i]!.tier });
    });
    const opening = (balances: ReplayAccountOptions['balances']) => ({
      ...({ kind: 'balances', at: from, startedAt: from, quiet: true } as const),
      balances: Object.entries(balances).map(([currency, total]) => ({
        currency,
        total,
        locked: '0',
        available: total,
      })),
    });
    this.#stepAll(opening(options.balances));
    if (options.place) this.#stepAll({ ...opening(options.place.exchange.balances), place: options.place.name });
  }

  /** Adds the replay of a book. Returns the engine of the book, its fees, and the volume traded at the exchange. */
  join(
    symbol: string,
    replay: ReplayedBook,
  ): {
    readonly book: BookEngine;
    readonly fees: Fees;
    readonly volume: TradedVolume;
  } {
    const book = this.engine.books.find(each => each.symbol === symbol);
    const fees = this.#fees.get(symbol);
    if (book === undefined || fees === undefined) throw new RangeError(`${symbol} is not a book of this account`);
    this.#books.set(symbol, replay);
    const volume = this.#exchangeVolumes.get(book.minor) ?? new TradedVolume();
    this.#exchangeVolumes.set(book.minor, volume);
    return { book, fees, volume };
  }

  /** Applies an event of the book `symbol`, and sends the commands that the engine decides. */
  step(symbol: string, event: EngineEvent): void {
    const isNamed = this.#symbols.length > 1 && (isBookEvent(event) || isReadEvent(event));
    this.#stepAll(isNamed ? { ...event, symbol } : event);
  }

  /** Records that the book `symbol` has reached the time of the stop. Stops trading when all books have reached it. */
  stop(symbol: string, at: Millis): void {
    this.#stopped.add(symbol);
    if (this.#stopped.size === this.#symbols.length) this.#stepAll({ kind: 'stop', at });
  }

  /** Updates the fee tiers of the other books after a trade in the book `symbol`. */
  traded(symbol: string, at: Millis): void {
    for (const [other, fees] of this.#fees)
      if (other !== symbol && fees.review()) this.#books.get(other)?.tellRates(at);
  }

  /** Whether a book can place an order: false if it has used its share of a scarce budget. Counts the order. */
  hasShare(symbol: string): boolean {
    if (!this.#shares.mayPlace(symbol)) {
      this.#shares.refuse(symbol);
      return false;
    }
    this.#shares.place(symbol);
    return true;
  }

  /**
   * Returns whether a read of orders and trades at the time `at` gives the book `symbol` data. One read serves all
   * books. `admits` counts the requests of a new read, and returns whether they are sent and accepted.
   */
  isReadNow(symbol: string, at: Millis, admits: (count: number) => boolean): boolean {
    if (at !== this.#readAt || this.#readers.has(symbol)) {
      this.#readAt = at;
      this.#readers.clear();
      this.#isRead = admits(READ_REQUESTS);
    }
    this.#readers.add(symbol);
    return this.#isRead;
  }

  /** Returns the exchange's number of a new order. */
  nextOrder(): number {
    return ++this.#orders;
  }

  /** Returns the exchange's number of a new trade. */
  nextTrade(): number {
    return ++this.#trades;
  }

  /** Counts a request at the exchange; returns whether the exchange accepts it. */
  admit(): boolean {
    return this.#limits.admit('account', this.#switches.privatePerMinute, this.#switches);
  }

  #stepAll(event: EngineEvent): void {
    this.now = event.at;
    for (const command of this.engine.step(event)) this.#ownerOf(command).send(command, event.at);
    if (this.#symbols.length > 1) this.#spread(event.at);
  }

  /** Applies a halt or reduce-only of one book to all books, once, because a loss of one book stops the account. */
  #spread(at: Millis): void {
    const { haltedBecause: halt, reducingBecause: reduce } = this.engine;
    if (halt !== null && !this.#isHalted) {
      this.#isHalted = true;
      this.#stepAll({ kind: 'halt', at, reason: halt });
    }
    if (reduce !== null && !this.#isReducing) {
      this.#isReducing = true;
      this.#stepAll({ kind: 'reduce', at, reason: reduce });
    }
  }

  #ownerOf(command: Approved<Command>): ReplayedBook {
    const id = command.kind === 'place' ? command.id : command.ids[0];
    const symbol = id === undefined ? undefined : this.engine.bookWith(id)?.symbol;
    const book = symbol === undefined ? undefined : this.#books.get(symbol);
    if (book === undefined) throw new Error(`no book of the replay has order ${id}`);
    return book;
  }

  /** Returns the balance of a currency minus its opening balance. */
  gained(currency: string, opening: Money): bigint {
    return this.engine.account.total(currency) - opening;
  }
}
