/** Several books of one account, with an exchange around one engine that answers at once. */
import { expect } from 'vitest';
import {
  Engine,
  moneyOf,
  OrderBook,
  type Amount,
  type Approved,
  type BookEngine,
  type Command,
  type EngineEvent,
  type Instrument,
  type OrderReport,
  type OwnTrade,
  type PlaceCommand,
  type SharedOptions,
  type Side,
  type Strategy,
} from '../../src/core/index.ts';
import { LineWriter } from '../../src/live/recording/recording.ts';
import { PATIENCE, quoteAround } from './toyExchange.ts';
import { plain } from './market.ts';

export const BOOKS: readonly Instrument[] = [
  { ...plain, symbol: 'btc_mxn' },
  { ...plain, symbol: 'eth_mxn', major: 'eth' },
  { ...plain, symbol: 'btc_usd', minor: 'usd' },
  { ...plain, symbol: 'usd_mxn', major: 'usd' },
];
export const CURRENCIES = ['btc', 'eth', 'usd', 'mxn'] as const;
export const START = 1_000_000;

type Live = { readonly command: PlaceCommand; readonly book: Instrument; left: number };
export type Balances = Record<(typeof CURRENCIES)[number], number>;

/** Changes of a test: options of the account, limits and strategy of each book, and targets by base currency. */
type Changes = {
  readonly shared?: Partial<
    Pick<SharedOptions, 'timing' | 'jointInventory' | 'crossRates' | 'currencyLimits' | 'valueLimit'>
  >;
  readonly limits?: object;
  readonly strategyOf?: (instrument: Instrument) => Strategy;
  readonly targets?: Readonly<Record<string, number>>;
};

/** An exchange with one account and these books, around one engine. */
export class SharedAccount {
  now = START;
  readonly engine: Engine;
  readonly live = new Map<string, Live>();
  /** Orders that filled completely. */
  readonly #filled = new Map<string, Live>();
  /** Whether the list of trades does not show a trade yet. */
  isLate: (trade: OwnTrade) => boolean = () => false;
  readonly balances: Balances;
  readonly halts: string[] = [];
  /** Base currency that the bot's own orders in the book bought less what they sold. */
  readonly ownIn = { btc_usd: 0 };
  /** The recording of the engine. */
  readonly lines: string[] = [];
  readonly #writer = new LineWriter();
  readonly #books: readonly Instrument[];
  #trades: OwnTrade[] = [];
  #tid = 0;

  /** `hedged`: the book that is hedged on another exchange. */
  constructor(
    balances: Partial<Balances> = {},
    books: readonly Instrument[] = BOOKS,
    run = 1,
    hedged: Instrument | null = null,
    { shared = {}, limits = {}, strategyOf = () => quoteAround(2), targets = {} }: Changes = {},
  ) {
    this.#books = books;
    this.balances = { btc: 1_000, eth: 1_000, usd: 1_000_000, mxn: 1_000_000, ...balances };
    const usual = {
      positionMax: 10_000_000,
      orderValueMax: 10n ** 9n,
      ordersMax: 20,
      collarBps: 1000,
      staleAfterMs: 3000,
    };
    const targetOf = (major: string) => (targets[major] ?? null) as Amount | null;
    this.engine = new Engine(
      {
        instance: 'mm',
        run,
        timing: PATIENCE,
        ...shared,
        onNews: (news, symbol) => news.kind === 'halted' && this.halts.push(`${symbol}: ${news.reason}`),
      },
      books.map(instrument => ({
        instrument,
        strategy: strategyOf(instrument),
        limits: { ...usual, ...limits } as never,
        tolerance: { priceBps: 10, amountShare: 0.5, maxAgeMs: 3_600_000 },
        target:
          books.find(({ major }) => major === instrument.major) === instrument ? targetOf(instrument.major) : null,
        halts: HALTS,
        ...(instrument === hedged
          ? { elsewhere: { place: 'binance', major: instrument.major, minor: 'usdt', bounds: NO_BOUNDS } }
          : {}),
      })),
    );
  }

  bookOf(symbol: string): BookEngine {
    return this.engine.books.find(book => book.symbol === symbol)!;
  }

  /** Reads everything once, with these mid prices. */
  open(mids: Readonly<Record<string, number>> = {}): this {
    for (const instrument of this.#books) this.rules(instrument);
    this.readBalances();
    return this.round(200, mids);
  }

  rules(instrument: Instrument): void {
    const { now: at } = this;
    this.step({ kind: 'rules', ...this.#named(instrument.symbol), at, instrument, makerRate: 0, takerRate: 0 });
  }

  readBalances(): void {
    const balances = CURRENCIES.map(currency => {
      const total = `${this.balances[currency]}`;
      return { currency, total, locked: '0', available: total };
    });
    this.step({ kind: 'balances', at: this.now, startedAt: this.now, quiet: true, balances });
  }

  /** Later, everything is read. */
  round(ms = 200, mids: Readonly<Record<string, number>> = {}): this {
    this.now += ms;
    const at = this.now;
    for (const { symbol } of this.engine.books) {
      const { [symbol]: mid = 1_000 } = mids;
      const book = new OrderBook();
      book.set('buy', (mid - 10) as never, 50 as never);
      book.set('sell', (mid + 10) as never, 50 as never);
      this.step({ kind: 'book', ...this.#named(symbol), at, startedAt: null, book });
    }
    this.step({ kind: 'trades', at, startedAt: at, complete: true, trades: this.takeTrades() });
    const orders = [...this.live.values()].map(reportOf);
    this.step({ kind: 'open orders', at, startedAt: at, complete: true, orders });
    this.step({ kind: 'timer', at });
    return this;
  }

  /** Trades that the engine has not received; call it to report them. */
  takeTrades(): readonly OwnTrade[] {
    const trades = this.#trades.filter(trade => !this.isLate(trade));
    this.#trades = this.#trades.filter(trade => !trades.includes(trade));
    return trades;
  }

  fill(id: string, lots: number): void {
    const order = this.live.get(id);
    if (order === undefined) return;
    const part = Math.min(lots, order.left);
    order.left -= part;
    if (order.left === 0) {
      this.live.delete(id);
      this.#filled.set(id, order);
    }
    if (order.book.symbol === 'btc_usd') this.ownIn.btc_usd += order.command.side === 'buy' ? part : -part;
    this.trade(order.book, order.command.side, order.command.price, part, id);
  }

  /** A trade of the account; without `originId`, somebody else's order of the account. */
  trade(book: Instrument, side: Side, price: number, lots: number, originId?: string): void {
    const sign = side === 'buy' ? 1 : -1;
    this.balances[book.major as keyof Balances] += sign * lots;
    this.balances[book.minor as keyof Balances] -= sign * lots * price;
    this.#trades.push({
      ...{ book: book.symbol, tid: `${++this.#tid}`, oid: `oid-${originId ?? 'other'}`, createdAt: this.now, side },
      ...(originId === undefined ? {} : { originId }),
      ...{ price: `${price}`, major: `${lots}`, minor: `${lots * price}` },
      ...{ feeAmount: '0', feeCurrency: book.major, maker: true },
    });
  }

  /** An event has the symbol of its book if there are several. */
  #named(symbol: string): { readonly symbol?: string } {
    return this.engine.books.length === 1 ? {} : { symbol };
  }

  step(event: EngineEvent): void {
    this.lines.push(this.#writer.input(event));
    const commands = this.engine.step(event);
    if (commands.length > 0) this.lines.push(this.#writer.commands(commands));
    for (const command of commands) this.#execute(command);
  }

  /** An order of the bot on another exchange, executed in full. */
  hedges(id: string, { major }: Instrument, side: Side, lots: number): void {
    const [base, quote] = [
      { currency: major, amount: moneyOf(`${lots}`) },
      { currency: 'usdt', amount: moneyOf(`${lots * 50}`) },
    ];
    const conversion = side === 'sell' ? { id, give: base, get: quote } : { id, give: quote, get: base };
    const trade = {
      ...{ book: `${major}_usdt`, tid: id, oid: id, originId: id, createdAt: this.now, side, maker: false },
      ...{ price: '50', major: `${lots}`, minor: `${lots * 50}`, feeAmount: '0', feeCurrency: 'usdt' },
    };
    this.step({ kind: 'elsewhere', at: this.now, phase: 'in flight', conversion });
    const ended = { phase: 'ended', conversion, trades: [trade], rate: moneyOf('20') } as const;
    this.step({ kind: 'elsewhere', at: this.now, ...ended });
  }

  /** An order of the bot on another exchange, whose outcome is not known yet. */
  hedgeInFlight(id: string, { major }: Instrument, side: Side, lots: number): void {
    const base = { currency: major, amount: moneyOf(`${lots}`) };
    const quote = { currency: 'usdt', amount: moneyOf(`${lots * 50}`) };
    const conversion = side === 'sell' ? { id, give: base, get: quote } : { id, give: quote, get: base };
    this.step({ kind: 'elsewhere', at: this.now, phase: 'in flight', conversion });
  }

  readThere(major: string): void {
    const balances = [major, 'usdt'].map(currency => ({ currency, total: '9000', locked: '0', available: '9000' }));
    const at = { at: this.now, startedAt: this.now };
    this.step({ kind: 'balances', ...at, quiet: true, balances, place: 'binance', rate: moneyOf('20') });
  }

  #execute(command: Approved<Command>): void {
    const at = this.now;
    if (command.kind !== 'place')
      expect(new Set(command.ids.map(id => this.engine.bookWith(id))).size, 'orders of one book').toBe(1);
    if (command.kind === 'place') {
      const book = this.engine.books.find(each => each.order(command.id) !== undefined)!;
      const instrument = this.#books.find(({ symbol }) => symbol === book.symbol)!;
      this.live.set(command.id, { command, book: instrument, left: command.amount });
      const outcome = { kind: 'done', value: { oid: `oid-${command.id}` } } as const;
      this.step({ kind: 'placed', at, id: command.id, outcome });
    } else if (command.kind === 'cancel') {
      const value = command.ids.filter(id => this.live.delete(id)).map(id => `oid-${id}`);
      this.step({ kind: 'canceled', at, startedAt: at, ids: command.ids, outcome: { kind: 'done', value } });
    } else {
      const value = command.ids.flatMap(id => this.live.get(id) ?? this.#filled.get(id) ?? []).map(reportOf);
      this.step({ kind: 'looked up', at, startedAt: at, ids: command.ids, outcome: { kind: 'done', value } });
    }
  }
}

/** Bounds of hedges that never bind. */
const NO_BOUNDS = { band: moneyOf('1000000'), debtMax: moneyOf('1000000'), failuresMax: 20, isOnlyRoute: false };

const HALTS = {
  drawdownMax: moneyOf('1000000000'),
  dayLossMax: moneyOf('1000000000'),
  fillsPer10Min: 1_000,
  refusalsPerMinute: 1_000,
  unknownsPerMinute: 1_000,
  messagesPerMinute: 10_000,
};

const reportOf = ({ command, book, left }: Live): OrderReport => ({
  ...{ book: book.symbol, oid: `oid-${command.id}`, originId: command.id, side: command.side, type: 'limit' },
  ...{ status: left === 0 ? 'completed' : left < command.amount ? 'partially filled' : 'open', createdAt: 0 },
  ...{ price: `${command.price}`, originalAmount: `${command.amount}`, unfilledAmount: `${left}` },
});
