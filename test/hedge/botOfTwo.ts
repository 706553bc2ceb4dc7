/** A bot whose only way to hedge is another exchange, through the client that ships, and the exchanges of which it can be. */
import {
  amountExact,
  moneyOf,
  priceExact,
  randomOf,
  Secret,
  textOfMoney,
  unstored,
  VirtualClock,
  type EngineEvent,
  type HedgeRow,
  type Instrument,
  type Money,
  type Side,
  type Transport,
  type VenueClient,
  type WireRequest,
} from '../../src/core/index.ts';
import { binanceSpot, exchangeClient, kraken } from '../../src/exchange/index.ts';
import { ElsewhereDesk, Hedger, hedgeInputsOf, mayStillExecute } from '../../src/hedge/index.ts';
import { ledgerOf, textOfLedger } from '../../src/live/recording/ledgerText.ts';
import { createSecondExchange, type Respond } from '../../src/sandbox/index.ts';
import { SECOND_BOOKS } from '../../src/sandbox/binance/binanceExchange.ts';
import { ToyExchange, quoteAround } from '../core/toyExchange.ts';
import { plain } from '../core/market.ts';
import { BALANCE_DECIMALS } from '../krakenDouble/exchange.ts';
import { KrakenDouble } from '../krakenDouble/server.ts';
import { wireTo, type Fate } from '../live/inProcess.ts';
import { arena } from '../sandbox/trader.ts';
import { ToyDesk } from './toyDesk.ts';

const OPENING = 1_000_000_000;
export const BAND = 5;
export const LOTS = 12;

/** The other exchange, which lists btc_usd, with an account of the bot. */
export type There = {
  readonly clock: VirtualClock;
  readonly instrument: Instrument;
  readonly exchange: { readonly respond: Respond };
  /** Client of one life of the bot, counted from 1. */
  readonly connect: (life: number, transport: Transport) => VenueClient;
  /** Id of the order that a request places; `null` if it places none. */
  readonly orderIn: (request: WireRequest) => string | null;
  readonly isBookRead: (request: WireRequest) => boolean;
  /** Places an order of another trader. */
  readonly offer: (side: Side, price: string, amount: string) => void;
  /** Balances of the bot, by currency. */
  readonly balances: () => ReadonlyMap<string, Money>;
  /** Number of decimals to which the exchange rounds each change of a balance; absent if it rounds none. */
  readonly decimals?: Readonly<Record<string, number>>;
  readonly roundBy?: (how: 'nearest' | 'up' | 'down') => void;
  /** Fees that the bot has paid, with what rounding cost it, by currency. */
  readonly fees: () => ReadonlyMap<string, Money>;
  /**
   * The bot receives a third currency and pays its fees in it from the first call on; absent if the exchange has no such
   * fees.
   */
  readonly payInThird?: () => void;
};

const summed = (rows: readonly (readonly [currency: string, fee: bigint])[]): ReadonlyMap<string, Money> => {
  const sums = new Map<string, Money>();
  for (const [currency, fee] of rows) sums.set(currency, ((sums.get(currency) ?? 0n) + fee) as Money);
  return sums;
};

export function embeddedThere(): There {
  const { clock, exchange, open } = arena({ engineDelayMaxMs: 20, tradeRecordDelayMs: 400 });
  const [own, maker] = [open({ btc: '500', usd: '20000000', mxn: '0' }), open({ btc: '500', usd: '20000000' })];
  const account = () => exchange.truth().accounts.get(own.id)!;
  return {
    ...{ clock, exchange, instrument: exchange.venue.books.get('btc_usd')!.instrument },
    connect: (life, transport) =>
      exchangeClient({
        ...{ clock, transport, random: randomOf(life) },
        credentials: { key: own.key, secret: new Secret(own.secret), nonceAbove: BigInt(life) } as never,
      }),
    orderIn: ({ method, target, body }) =>
      method === 'POST' && target.endsWith('/orders') ? (JSON.parse(body) as { origin_id: string }).origin_id : null,
    isBookRead: ({ target }) => target.includes('order_book'),
    offer: (side, price, amount) => void maker.limit('btc_usd', side, price, amount),
    balances: () => new Map([...account().balances].map(([currency, { total }]) => [currency, total])),
    fees: () => summed(account().trades.map(({ feeCurrency, fee }) => [feeCurrency, fee])),
  };
}

/** Binance's client against the second embedded exchange, whose list of trades is late. */
export function binanceThere(): There {
  const clock = new VirtualClock(1_790_000_000_000);
  const books = SECOND_BOOKS.filter(({ book }) => /^(?:btc|bnb)_usdt$/.test(book));
  const exchange = createSecondExchange({
    ...{ clock, switches: { tradeRecordDelayMs: 400 } },
    books: books.map(rules => ({ ...rules, book: rules.book.replace('usdt', 'usd') })),
  });
  const own = exchange.openAccount({ balances: { btc: '500', usd: '20000000' } });
  const house = (book: string, side: Side, price: string, amount: string) => {
    const place = exchange.marketplace(book);
    place.place(side, priceExact(place.instrument, price)!, amountExact(place.instrument, amount)!, 'GTC');
  };
  house('bnb_usd', 'buy', '599', '1000');
  house('bnb_usd', 'sell', '601', '1000');
  const account = () => exchange.truth().accounts.get(own.id)!;
  return {
    ...{ clock, exchange, instrument: exchange.venue.books.get('btc_usd')!.instrument },
    connect: (_, transport) =>
      binanceSpot.connect({
        ...{ clock, transport, random: randomOf(1), restUrl: binanceSpot.restUrl('http://double'), deadlineMs: 2_000 },
        ...{ book: 'btc_usd', budgets: { public: 6_000, private: 6_000 } },
        credentials: { key: own.key, secret: new Secret(own.secret), nonceAbove: 0n, durable: unstored },
      }),
    orderIn: ({ method, target, body }) =>
      method === 'POST' && target.startsWith('/api/v3/order')
        ? new URLSearchParams(`${target.split('?')[1] ?? ''}&${body}`).get('newClientOrderId')
        : null,
    isBookRead: ({ target }) => target.includes('/depth'),
    offer: (side, price, amount) => house('btc_usd', side, price, amount),
    balances: () => new Map([...account().balances].map(([currency, { total }]) => [currency, total])),
    fees: () => summed(account().trades.map(({ feeCurrency, fee }) => [feeCurrency, fee])),
    payInThird: () => {
      if (exchange.switches.bnbFees === 'on') return;
      exchange.venue.deposit(exchange.venue.accounts.get(own.id)!, 'bnb', moneyOf('50'));
      exchange.set({ bnbFees: 'on' });
    },
  };
}

const [KEY, SECRET] = ['bot', Buffer.from('the secret of the bot').toString('base64')];

/** Kraken's client with the request budget of the lowest tier, against its double, whose lists are late. */
export function krakenThere(): There {
  const clock = new VirtualClock(1_790_000_000_000);
  const double = new KrakenDouble({ [KEY]: SECRET }, () => clock.now());
  const { exchange } = double;
  exchange.open(KEY, { XXBT: '500', ZUSD: '20000000' });
  Object.assign(exchange.listedAfterMs, { orders: 400, trades: 900 });
  return {
    ...{ clock, exchange: double, instrument: exchange.pairNamed('XBTUSD').instrument },
    connect: (_, transport) =>
      kraken.connect({
        ...{ clock, transport, random: randomOf(1), restUrl: kraken.restUrl('http://double'), deadlineMs: 2_000 },
        credentials: { key: KEY, secret: new Secret(SECRET), nonceAbove: 0n, durable: unstored },
        budgets: { public: 60, private: kraken.allows!.privateLowest! },
      }),
    orderIn: ({ target, body }) => (target.endsWith('/AddOrder') ? new URLSearchParams(body).get('cl_ord_id') : null),
    isBookRead: ({ target }) => target.includes('/Depth'),
    // Costs and fees have more decimals than the balance.
    offer: (side, price, amount) =>
      void exchange.house(side, `${side === 'buy' ? price : Number(price) - 1}.${side === 'buy' ? 3 : 7}`, amount),
    decimals: { btc: BALANCE_DECIMALS['XXBT']!, usd: BALANCE_DECIMALS['ZUSD']! },
    roundBy: how => (exchange.rounding = how),
    balances: () =>
      new Map([
        ['btc', exchange.balance(KEY, 'XXBT')],
        ['usd', exchange.balance(KEY, 'ZUSD')],
      ]),
    fees: () =>
      summed([
        ...exchange.trades.filter(({ order }) => order.owner === KEY).map(({ fee }) => ['usd', fee] as const),
        ...[['usd', exchange.roundedOff(KEY, 'ZUSD')] as const].filter(([, sum]) => sum !== 0n),
      ]),
  };
}

export class BotOfTwo {
  readonly there: There;
  readonly clock: VirtualClock;
  readonly events: EngineEvent[] = [];
  fate: Fate = 'arrives';
  fateOfLook: Fate = 'arrives';
  accepts = true;
  mayAct = true;
  /** Id of the operator's request to close everything; `null` if there is none. */
  flatten: string | null = null;
  /** Delays an order before its client sends it, as a wait for the budget or for the rules of the book does. */
  beforePlace = (): Promise<void> => Promise.resolve();
  /** Mid price here from the next read of the book there on; absent if it stays. */
  midAtRead: number | undefined;
  /** Value of one usd in mxn, and the one from the next read of the book there on; absent if it stays. */
  rate = '0.02';
  rateAtRead: string | undefined;
  /** Lots of a quote here that fill while the book there is read next. */
  fillsAtRead = 0;
  /** Rows, and the ledger as text. */
  disk: { rows: readonly HedgeRow[]; ledger: string | null } = { rows: [], ledger: null };
  /** Ids of orders, as their requests left. */
  readonly sent: string[] = [];
  /** Ids of orders that left without being on disk. */
  readonly early: string[] = [];
  failure: Error | null = null;
  readonly #lots: number;
  readonly #valueMin: string;
  readonly #residual: string;
  #lives = 0;
  /** Balances here, at the start of this life. */
  #home = { btc: OPENING, mxn: OPENING };
  desk!: ToyExchange;
  hedger!: Hedger;

  /** `valueMin`: minimum value of a hedge there. With one, the bot has no other route. `residual` stays after a hedge. */
  constructor(lots: number, valueMin = '0', residual = '0', there = embeddedThere()) {
    this.there = there;
    this.clock = there.clock;
    this.#lots = lots;
    this.#valueMin = valueMin;
    this.#residual = residual;
    this.live();
  }

  /** The bot starts, or dies and starts again from what is on disk. */
  live(): void {
    const life = ++this.#lives;
    const { lots, paid } = this.#lives === 1 ? { lots: 0, paid: 0 } : this.desk.traded;
    this.#home = { btc: this.#home.btc + lots, mxn: this.#home.mxn - paid };
    const { clock, there } = this;
    const client = there.connect(
      life,
      wireTo({
        exchange: there.exchange,
        clock,
        random: randomOf(life + 100),
        deadlineMs: 2_000,
        fate: request => {
          // A dead bot sends nothing.
          if (life !== this.#lives) return 'not sent';
          if (there.isBookRead(request)) {
            this.#fills();
            this.#moves();
          }
          const id = there.orderIn(request);
          if (id === null) return this.fateOfLook;
          this.sent.push(id);
          if (!this.disk.rows.some(row => row.elsewhere?.order.id === id && mayStillExecute(row))) this.early.push(id);
          return this.fate;
        },
      }),
    );
    const heard = async <T>(answer: Promise<T>): Promise<T> => {
      const value = await answer;
      return life === this.#lives ? value : new Promise<never>(() => undefined);
    };
    const { instrument } = there;
    const elsewhereDesk = new ElsewhereDesk({
      client: {
        orderBook: (...of) => heard(client.orderBook(...of)),
        place: async (...of) => {
          await this.beforePlace();
          return heard(client.place(...of));
        },
        lookUp: (...of) => heard(client.lookUp(...of)),
        orderTrades: (...of) => heard(client.orderTrades(...of)),
        cancel: (...of) => heard(client.cancel(...of)),
      },
      clock,
      instrument: () => instrument,
      times: { requestLifeMs: 30_000, listingDelayMs: 2_000 },
    });
    this.desk = new ToyExchange({
      strategy: quoteAround(2),
      target: (OPENING + 500 - this.#lots) as never,
      elsewhere: {
        ...{ place: 'there', major: 'btc', minor: 'usd' },
        bounds: { band: moneyOf(String(BAND)), debtMax: moneyOf('1000'), failuresMax: 3, isOnlyRoute: true },
      },
      run: life,
    });
    this.desk.bids = [[999, 50]];
    this.desk.asks = [[1_001, 50]];
    this.desk.now = clock.now();
    const { ledger } = this.disk;
    if (ledger !== null) this.desk.step({ kind: 'restore', at: clock.now(), orders: [], ledger: ledgerOf(ledger) });
    this.desk.open(this.#home);
    this.hedger = new Hedger({
      setup: {
        // Offers of the desk cost more than any hedge may.
        desk: Object.assign(new ToyDesk(clock), { spreadBps: 5_000n }),
        venues: [this.#valueMin === '0' ? 'rfq' : 'elsewhere'],
        rules: {
          band: moneyOf(String(BAND)),
          residual: moneyOf(this.#residual),
          costMaxBps: 300,
          carryBpsPerHour: 0,
          unwindMs: 1,
        },
        elsewhere: {
          ...{
            desk: elsewhereDesk,
            at: { place: 'there', account: 'one' },
            instrument,
            takerRate: 650_000,
            marginBps: 5,
            backBps: 2,
            latencyMs: 500,
            riskZ: 1.6,
            valueMin: moneyOf(this.#valueMin),
            smallestUntil: 0,
          },
          bounds: { costMaxBps: 200, collarBps: 500, orderValueMax: (10n ** 30n) as never, room: 10 ** 12 },
          perRootSecond: () => 1e-4,
          rate: () => moneyOf(this.rate),
          funds: currency => this.desk.engine.elsewhere!.funds(currency),
          readMoved: () => {
            if (life !== this.#lives) return Promise.resolve(null);
            this.#readThere(false);
            return Promise.resolve(this.desk.engine.elsewhere!.moved);
          },
          closedBecause: () => null,
        },
        ...{
          everyMs: 2_000,
          pauseMs: 4_000,
          quoteLifeMinMs: 0,
          requestDelayMaxMs: 11_000,
          tradeReportDelayMaxMs: 3_000,
        },
      },
      run: {
        clock,
        time: () => clock.now(),
        log: { info: () => undefined, warn: () => undefined },
        step: event => {
          this.desk.now = clock.now();
          this.events.push(event);
          this.desk.step(event);
        },
      },
      kept: { rows: this.disk.rows, prefix: `mm-h${life}-`, orders: { instance: 'mm', run: life } },
      pair: plain,
      view: () =>
        hedgeInputsOf(this.desk.engine, { instrument: plain, takerRate: 0, balancesAt: clock.now() }, clock.now()),
      persist: () => {
        if (this.accepts) this.#keep();
        return this.accepts;
      },
      mayAct: () => this.mayAct,
      flatten: {
        current: () => (this.flatten === null ? null : { id: this.flatten, costMax: moneyOf('1000000') }),
        end: () => true,
      },
    });
    this.hedger.restore();
    this.look();
  }

  #keep(): void {
    this.disk = { rows: this.hedger.rows, ledger: textOfLedger(this.desk.engine.ledger([])!) };
  }

  /** A quote of the side that reduces inventory fills, as far as inventory goes. */
  #fills(): void {
    const quote = this.desk.live.find(({ side }) => side === (this.#lots > 0 ? 'sell' : 'buy'));
    const size = this.inventory < 0n ? -this.inventory : this.inventory;
    const lots = Math.min(this.fillsAtRead, Number(size / 10n ** 18n));
    this.fillsAtRead = 0;
    if (quote === undefined || lots === 0) return;
    this.desk.now = this.clock.now();
    this.desk.fill(quote.id, lots);
    this.desk.readPrivate();
    this.#keep();
  }

  #moves(): void {
    this.rate = this.rateAtRead ?? this.rate;
    const mid = this.midAtRead;
    if (mid === undefined) return;
    this.midAtRead = undefined;
    [this.desk.bids, this.desk.asks] = [[[mid - 1, 50]], [[mid + 1, 50]]];
    this.desk.now = this.clock.now();
    this.desk.round(0);
  }

  look(): void {
    this.desk.now = this.clock.now();
    this.desk.round(0);
    this.desk.readBalances();
    if (!this.hedger.rows.some(mayStillExecute)) this.#readThere(true);
  }

  #readThere(quiet: boolean): void {
    const balances = [...this.balances].map(([currency, sum]) => {
      const total = textOfMoney(sum);
      const decimals = this.there.decimals?.[currency];
      return { currency, total, locked: '0', available: total, ...(decimals !== undefined && { decimals }) };
    });
    this.desk.step({
      kind: 'balances',
      at: this.desk.now,
      startedAt: this.desk.now,
      quiet,
      balances,
      place: 'there',
    });
  }

  async passes(ms: number, everyMs = 1_000): Promise<void> {
    for (let passed = 0; passed < ms; passed += everyMs) {
      this.look();
      void this.hedger.turn().catch((error: unknown) => (this.failure = error as Error));
      await this.clock.advance(everyMs);
      if (this.failure !== null) throw this.failure;
    }
  }

  get balances(): ReadonlyMap<string, Money> {
    return this.there.balances();
  }

  get inventory(): bigint {
    return this.desk.engine.book.snapshot(this.clock.now()).booked.inventory;
  }
}
