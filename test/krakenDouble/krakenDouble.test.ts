/** The client of Kraken and ccxt's class, unchanged but for its address, trade on the double over real sockets. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
// By its file: the package's own entry loads every exchange there is.
import CcxtKraken from '../../node_modules/ccxt/js/src/kraken.js';
import { Secret, unstored, type NewOrder, type StreamNews, type VenueClient } from '../../src/core/index.ts';
import { kraken } from '../../src/exchange/index.ts';
import { currencyOfAltname } from '../../src/exchange/kraken/wire/names.ts';
import { KRAKEN_CODES } from '../../src/exchange/kraken/wire/errorCodes.ts';
import { realClock } from '../../src/live/realClock.ts';
import { randomOf } from '../../src/core/ports/random.ts';
import { done } from '../conformance/driver.ts';
import { KrakenDouble } from './server.ts';

const [KEY, SECRET] = ['bot', Buffer.from('the secret of the bot').toString('base64')];
const [OTHER, OTHER_SECRET] = ['ccxt', Buffer.from('the secret of ccxt').toString('base64')];
const clock = realClock();
let double: KrakenDouble;
let urls: { readonly restUrl: string; readonly streamUrl: string };
let client: VenueClient;
let made = 0;

const connected = (): VenueClient =>
  kraken.connect({
    ...{ clock, random: randomOf(1), restUrl: kraken.restUrl(urls.restUrl), deadlineMs: 2_000 },
    credentials: { key: KEY, secret: new Secret(SECRET), nonceAbove: 0n, durable: unstored },
    budgets: { public: 60, private: 60 },
  });

beforeAll(async () => {
  double = new KrakenDouble({ [KEY]: SECRET, [OTHER]: OTHER_SECRET });
  urls = await double.listen(50);
});
afterAll(async () => {
  await client.close();
  await double.close();
});
/** A client of its own for each test, because its budget is that of the highest account tier. */
beforeEach(async () => {
  await (client as VenueClient | undefined)?.close();
  client = connected();
  double.exchange.clear();
  double.seen.length = 0;
});

const order = (over: Partial<NewOrder> = {}): NewOrder => ({
  ...{ book: 'btc_usd', side: 'buy', price: '30000.0', major: '0.01', originId: `mm-1-${++made}` },
  timeInForce: 'good till canceled',
  ...over,
});

describe('the client', () => {
  test('books, levels and trades are those of the exchange, under the names of this program', async () => {
    double.exchange.house('sell', '40000.1', '0.5');
    double.exchange.house('buy', '39000', '0.25');
    double.exchange.house('buy', '40000.1', '0.1');
    const books = done(await client.availableBooks());
    expect(books.map(({ book }) => book)).toEqual(['btc_usd', 'doge_usd']);
    expect(books[0]).toMatchObject({
      ...{ tickSize: '0.1', lotSize: '0.00000001', minimumAmount: '0.0001', minimumValue: '0.5' },
      tiers: [
        { volume: '50000', maker: '0.0016', taker: '0.0026' },
        { volume: '99999999999999999999', maker: '0.0014', taker: '0.0024' },
      ],
    });
    expect(done(await client.orderBook('btc_usd'))).toMatchObject({
      bids: [{ price: '39000.0', amount: '0.25000000' }],
      asks: [{ price: '40000.1', amount: '0.40000000' }],
    });
    const [newest] = done(await client.trades('btc_usd', { limit: 1 }));
    expect(newest).toMatchObject({ price: '40000.1', amount: '0.10000000', makerSide: 'sell' });
    double.exchange.house('sell', '39000', '0.05');
    double.exchange.house('sell', '39000', '0.06');
    const later = done(await client.trades('btc_usd', { sort: 'asc', limit: 50, marker: newest!.tid }));
    expect(later.map(({ amount, makerSide }) => [amount, makerSide])).toEqual([
      ['0.05000000', 'buy'],
      ['0.06000000', 'buy'],
    ]);
    expect((await client.orderBook('btc_eur')).kind).toBe('refused');
  });

  test('an order is placed, listed, looked up and canceled by its own id', async () => {
    const placed = order({ timeInForce: 'post only' });
    const { oid } = done(await client.place(placed));
    const { fields } = double.seen.find(({ endpoint }) => endpoint === 'AddOrder')!;
    expect(fields).toMatchObject({
      ...{ pair: 'XXBTZUSD', type: 'buy', ordertype: 'limit', volume: '0.01', price: '30000.0' },
      ...{ cl_ord_id: placed.originId, oflags: 'post,fciq', timeinforce: 'GTC' },
    });
    expect(Date.parse(fields['deadline']!)).toBeLessThanOrEqual(Date.now() + 4_000);
    const listed = { oid, originId: placed.originId, status: 'open', price: '30000.0', unfilledAmount: '0.01' };
    expect(done(await client.openOrders({ book: 'btc_usd' }))).toMatchObject([listed]);
    expect(done(await client.openOrders({ book: 'doge_usd' }))).toEqual([]);
    expect(done(await client.lookUp({ originIds: [placed.originId] }))).toMatchObject([listed]);
    expect(done(await client.cancel({ originIds: [placed.originId] }))).toEqual([oid]);
    expect(done(await client.cancel({ originIds: [placed.originId] }))).toEqual([]);
    const ended = [{ oid, originId: placed.originId, status: 'cancelled' }];
    expect(done(await client.lookUp({ originIds: [placed.originId] }))).toMatchObject(ended);
    // A client that never saw the order finds it by its id alone.
    const other = connected();
    expect(done(await other.lookUp({ originIds: [placed.originId] }))).toMatchObject(ended);
    expect(done(await other.lookUp({ oids: [oid, 'OUNKN-OWN00-000000'] }))).toMatchObject(ended);
    await other.close();
  });

  test('the account of the key has an id, and exactly its own trades', async () => {
    const account = client.account!;
    expect(done(await account.id())).toMatch(/^AA\w\w \w{4} \w{4} \w{4}$/);
    double.exchange.house('sell', '30000', '0.02');
    await client.place(order({ timeInForce: 'immediate or cancel' }));
    await client.place(order({ timeInForce: 'immediate or cancel' }));
    const trades = done(await client.userTrades({ sort: 'asc' }));
    expect(trades.length).toBe(2);
    for (const { tid } of trades) expect(done(await account.hasTrade(tid))).toBe(true);
    // Two trades of one millisecond have neighbouring ids.
    for (const strange of [BigInt(trades[0]!.tid) - 1n, BigInt(trades[1]!.tid) + 1n])
      expect(done(await account.hasTrade(String(strange)))).toBe(false);
    expect(await account.hasTrade('7')).toMatchObject({ kind: 'refused', code: 'not-sent' });
  });

  test('a long origin id comes back as it was', async () => {
    const originId = 'marketmake-217905022-9876543';
    const { oid } = done(await client.place(order({ originId })));
    expect(double.exchange.orders.at(-1)!.clientId).toMatch(/^[0-9a-f-]{36}$/);
    expect(done(await client.openOrders({ book: 'btc_usd' }))).toMatchObject([{ oid, originId }]);
    expect(done(await client.cancel({ originIds: [originId] }))).toEqual([oid]);
    const tooLong = await client.place(order({ originId: 'marketmaker16chr-217905022-9876543' }));
    expect(tooLong).toMatchObject({ kind: 'refused', code: 'not-sent' });
  });

  test('an immediate order trades, and its trades, fees and balances agree', async () => {
    const before = done(await client.balances());
    const [usd, btc] = ['usd', 'btc'].map(name => before.find(({ currency }) => currency === name)!);
    const [first] = [double.exchange.house('sell', '35000', '0.002')];
    double.exchange.house('sell', '35100.5', '0.001');
    expect(first).toMatch(/^O/);
    const taken = order({ price: '35200', major: '0.005', timeInForce: 'immediate or cancel' });
    const { oid } = done(await client.place(taken));
    const trades = done(await client.orderTrades({ oid }));
    expect(trades).toMatchObject([
      {
        ...{ price: '35000.0', major: '0.00200000', minor: '70.00000', feeAmount: '0.18200' },
        feeCurrency: 'usd',
        maker: false,
      },
      { price: '35100.5', major: '0.00100000', minor: '35.10050', feeAmount: '0.09126', originId: taken.originId },
    ]);
    expect(done(await client.orderTrades({ originId: taken.originId }))).toEqual(trades);
    expect(done(await client.userTrades({ sort: 'asc', limit: 50 })).slice(-2)).toEqual(trades);
    expect(done(await client.userTrades({ limit: 1, sort: 'desc' }))).toEqual(trades.slice(-1));
    expect(done(await client.lookUp({ originIds: [taken.originId] }))).toMatchObject([
      { oid, status: 'cancelled', originalAmount: '0.00500000', unfilledAmount: '0.002' },
    ]);
    const after = done(await client.balances());
    const now = (name: string) => after.find(({ currency }) => currency === name)!;
    expect(now('btc').total).toBe(String(Number(btc!.total) + 0.003));
    // Rounded to four decimals: the fee of 0.09126 is 0.0913.
    expect(Number(now('usd').total)).toBeCloseTo(Number(usd!.total) - 105.1005 - 0.2733, 6);
    expect(now('doge')).toEqual({ currency: 'doge', total: '100000', locked: '0', available: '100000', decimals: 8 });
  });

  test('more trades than a page are read in pages, each once', async () => {
    const [start] = done(await client.userTrades({ limit: 1, sort: 'desc' }));
    for (let n = 0; n < 120; n++) double.exchange.house('sell', '34000', '0.0002');
    done(await client.place(order({ price: '34000', major: '0.024', timeInForce: 'immediate or cancel' })));
    const rows = done(await client.userTrades({ sort: 'asc', marker: start!.tid }));
    const tids = rows.map(({ tid }) => tid);
    expect(tids).toHaveLength(120);
    expect(new Set(tids).size).toBe(120);
    expect([...tids].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))).toEqual(tids);
  });

  test('a sell of another program that pays its fee in the base currency is an unreadable trade, not a wrong one', async () => {
    double.exchange.house('buy', '33000', '1');
    double.exchange.addOrder(KEY, {
      ...{ pair: 'XBTUSD', type: 'sell', ordertype: 'limit', price: '33000', volume: '0.001', oflags: 'fcib' },
    });
    const outcome = await client.userTrades({ limit: 1, sort: 'desc' });
    expect(outcome).toMatchObject({
      ...{ kind: 'done', value: [] },
      unreadable: [{ book: 'btc_usd', why: expect.stringContaining('fcib') as string }],
    });
  });

  test('fees are those of the exchange for used books, and of the schedule for others', async () => {
    done(await client.orderBook('btc_usd'));
    expect(done(await client.fees())).toMatchObject([
      { book: 'btc_usd', maker: '0.0016', taker: '0.0026', currentVolume: '123.4567', nextMaker: '0.0024' },
      { book: 'doge_usd', maker: '0.0016', taker: '0.0026' },
    ]);
  });
});

describe('a placement whose answer says nothing certain', () => {
  const page = (status: number, body: string) => ({ kind: 'page', status, body, executes: true }) as const;
  test.each([
    ['lost after the execution', { kind: 'lost after' } as const, true],
    ['lost before the execution', { kind: 'lost before' } as const, false],
    ['replaced by a page of a proxy', page(502, '<html>bad gateway</html>'), true],
    ['replaced by a page with success', page(200, '<html></html>'), true],
    ['cut off', page(200, '{"error":[],"resu'), true],
    ['without an id', page(200, '{"error":[],"result":{}}'), true],
    ['without an error and a result', page(200, '{"error":[]}'), true],
    ['with a rejection and an id', page(200, '{"error":["EOrder:Insufficient funds"],"result":{"txid":["O"]}}'), true],
    ['with HTTP 524', page(524, ''), true],
  ])('is unknown when it is %s, and the look-up finds what happened', async (_, fault, executes) => {
    const unclear = order();
    double.fault('AddOrder', fault);
    expect((await client.place(unclear)).kind).toBe('unknown');
    const found = done(await client.lookUp({ originIds: [unclear.originId] }));
    expect(found.map(({ originId }) => originId)).toEqual(executes ? [unclear.originId] : []);
    // The cancel names the order that was found, so the bot learns its id; an empty list would say that there is none.
    const canceled = done(await client.cancel({ originIds: [unclear.originId] }));
    expect(canceled).toEqual(found.map(({ oid }) => oid));
    expect(double.seen.filter(({ endpoint }) => endpoint === 'AddOrder')).toHaveLength(1);
  });

  test('a cancel of an order whose id is unknown finds the id, or is unknown', async () => {
    const unclear = order();
    double.fault('AddOrder', { kind: 'lost after' });
    await client.place(unclear);
    double.fault('OpenOrders', { kind: 'error', text: 'EService:Unavailable' });
    expect((await client.cancel({ originIds: [unclear.originId] })).kind).toBe('unknown');
    expect(done(await client.lookUp({ originIds: [unclear.originId] }))).toMatchObject([{ status: 'cancelled' }]);
  });

  test('an order that arrives after its deadline is not executed', async () => {
    const real = Date.now;
    const late = order();
    const [before] = [double.exchange.orders.length];
    done(await client.orderBook('btc_usd'));
    Date.now = () => real() + 5_000;
    try {
      expect((await client.place(late)).kind).toBe('unknown');
    } finally {
      Date.now = real;
    }
    expect(double.exchange.orders).toHaveLength(before);
  });
});

/** Each text of the table, with and without a detail, and texts that it lacks. */
const TEXTS = [...KRAKEN_CODES.map(({ code }) => code), 'EOrder:New text', 'EFuture:Unheard', 'WGeneral:Careful'];

describe('each error text', () => {
  test.each(TEXTS)('%s has the outcome of the table', async text => {
    const code = KRAKEN_CODES.find(each => each.code === text);
    double.fault('AddOrder', { kind: 'error', text });
    const outcome = await client.place(order());
    expect(outcome.kind).toBe(code?.is ?? 'unknown');
    if (outcome.kind === 'refused') {
      expect(outcome.code).toBe(text);
      expect(outcome.meaning).toBe(code?.meaning);
    }
  });
});

describe('the stream', () => {
  async function streamOf(book: string) {
    const stream = kraken.marketStream!({ clock, random: randomOf(1), book, exchange: client, url: urls.streamUrl });
    const news: StreamNews[] = [];
    stream.start(each => news.push(each));
    const until = async (is: (each: StreamNews) => boolean, from = 0): Promise<StreamNews> => {
      const end = Date.now() + 5_000;
      for (;;) {
        const found = news.slice(from).find(is);
        if (found) return found;
        if (Date.now() > end)
          throw new Error(
            `the stream told only ${news
              .slice(-3)
              .map(each => each.kind)
              .join(', ')}`,
          );
        await new Promise(resolve => setTimeout(resolve, 5));
      }
    };
    await until(({ kind }) => kind === 'book');
    return { stream, news, until };
  }
  const best = (side: 'bids' | 'asks', price: string) => (each: StreamNews) =>
    each.kind === 'book' && each.snapshot[side][0]?.price === price;

  test('levels and trades arrive, and pongs confirm the book', async () => {
    const { stream, news, until } = await streamOf('doge_usd');
    const first = news.map(({ kind }) => kind).filter(kind => kind !== 'alive');
    expect(first.slice(0, 2)).toEqual(['up', 'book']);
    double.exchange.house('sell', '0.0000123', '60000', 'XDGUSD');
    await until(best('asks', '0.0000123'));
    const from = news.length;
    double.exchange.house('buy', '0.0000123', '50000.5', 'XDGUSD');
    expect(await until(({ kind }) => kind === 'trades', from)).toMatchObject({
      trades: [{ book: 'doge_usd', price: '0.0000123', amount: '50000.5', makerSide: 'sell' }],
    });
    const here = news.length;
    await until(({ kind }) => kind === 'alive', here);
    await until(best('asks', '0.0000123'), here);
    const [a, b] = news.filter(each => each.kind === 'book').slice(-2);
    expect(b!.snapshot.sequence > a!.snapshot.sequence).toBe(true);
    stream.close();
  });

  test.each([
    ['a wrong checksum', (of: KrakenDouble) => void (of.wrongChecksums = 1)],
    ['a lost frame', (of: KrakenDouble) => void (of.dropFrames = 1)],
  ])('after %s the book is subscribed again, and no wrong book is told', async (_, spoil) => {
    const { stream, news, until } = await streamOf('btc_usd');
    double.exchange.house('buy', '33000', '0.5');
    await until(best('bids', '33000'));
    const from = news.length;
    spoil(double);
    double.exchange.house('buy', '33000.1', '0.01');
    double.exchange.house('buy', '33000.2', '0.02');
    await until(({ kind }) => kind === 'fault', from);
    await until(best('bids', '33000.2'), from);
    expect(news.slice(from).some(best('bids', '33000.1'))).toBe(false);
    stream.close();
  });

  test('a book that the exchange does not list is a reason, not a silence', async () => {
    const stream = kraken.marketStream!({
      clock,
      random: randomOf(1),
      book: 'btc_eur',
      exchange: client,
      url: urls.streamUrl,
    });
    const reason = await new Promise(resolve => {
      stream.start(news => news.kind === 'down' && resolve(news.reason));
    });
    expect(reason).toContain('does not list btc_eur');
    stream.close();
  });
});

describe('ccxt 4.5.84', () => {
  let ccxt: CcxtKraken;
  let nonce = Date.now();
  beforeAll(async () => {
    const address = urls.restUrl;
    ccxt = new CcxtKraken({
      ...{ apiKey: OTHER, secret: OTHER_SECRET, enableRateLimit: false },
      urls: { api: { public: address, private: address } },
    });
    ccxt.nonce = () => ++nonce;
    await ccxt.loadMarkets();
  });

  test('has the same currency for every short name', () => {
    const { commonCurrencies } = new CcxtKraken() as unknown as {
      readonly commonCurrencies: Readonly<Record<string, string>>;
    };
    // Its other names are ids, such as XXBT, whose short names are in the list of assets.
    const names = Object.entries(commonCurrencies).filter(([name]) => !/^[XZ][A-Z]{3}$/.test(name));
    expect(names.length).toBeGreaterThan(5);
    for (const [name, code] of names)
      // This name of the bitcoin fork is common to all exchanges of ccxt; Kraken uses the usual one.
      if (name !== 'BCHSV') expect([name, currencyOfAltname(name)]).toEqual([name, code.toLowerCase()]);
  });

  test('reads markets, the book and trades', async () => {
    expect(ccxt.market('BTC/USD')).toMatchObject({
      ...{ id: 'XXBTZUSD', precision: { amount: 1e-8, price: 0.1 } },
      limits: { amount: { min: 0.0001 }, cost: { min: 0.5 } },
    });
    double.exchange.house('sell', '50000', '0.5');
    const book = await ccxt.fetchOrderBook('BTC/USD');
    expect(book.asks.some(([price, amount]) => price === 50_000 && amount === 0.5)).toBe(true);
    const [last] = (await ccxt.fetchTrades('BTC/USD')).slice(-1);
    expect(last).toMatchObject({ symbol: 'BTC/USD', price: expect.any(Number) as number });
  });

  test('places, looks up, lists, cancels and reads its trades', async () => {
    const clientOrderId = 'pt0a1b2c3d4e5f';
    const { id } = await ccxt.createOrder('BTC/USD', 'limit', 'buy', 0.01, 30_000, { clientOrderId, postOnly: true });
    expect(await ccxt.fetchOrder(id!, 'BTC/USD')).toMatchObject({ id, status: 'open', price: 30_000, amount: 0.01 });
    const open = await ccxt.fetchOpenOrders('BTC/USD', undefined, undefined, { clientOrderId });
    expect(open.map(each => each.id)).toEqual([id]);
    await ccxt.cancelOrder(id!, 'BTC/USD');
    const closed = await ccxt.fetchClosedOrders('BTC/USD');
    expect(closed.find(each => each.id === id)).toMatchObject({ status: 'canceled', filled: 0 });
    double.exchange.house('sell', '31000', '0.01');
    const taken = await ccxt.createOrder('BTC/USD', 'limit', 'buy', 0.01, 31_000, { timeInForce: 'IOC' });
    const [trade] = (await ccxt.fetchMyTrades('BTC/USD')).slice(-1);
    expect(trade).toMatchObject({
      ...{ order: taken.id, price: 31_000, amount: 0.01, takerOrMaker: 'taker', side: 'buy' },
      fee: { currency: 'USD', cost: 0.806 },
    });
    const balance = (await ccxt.fetchBalance()) as unknown as Record<string, { readonly total?: number }>;
    expect(balance['BTC']?.total).toBe(10.01);
    expect(await ccxt.fetchTradingFee('BTC/USD')).toMatchObject({ maker: 0.0016, taker: 0.0026 });
  });

  test.each([
    ['EAPI:Invalid key', 'AuthenticationError'],
    ['EAPI:Invalid nonce', 'InvalidNonce'],
    ['EAPI:Rate limit exceeded', 'DDoSProtection'],
    ['EGeneral:Permission denied', 'PermissionDenied'],
    ['EOrder:Insufficient funds', 'InsufficientFunds'],
    ['EOrder:Order minimum not met', 'InvalidOrder'],
    ['EService:Unavailable', 'ExchangeNotAvailable'],
    ['EService:Market in cancel_only mode', 'OnMaintenance'],
    // An unknown outcome that ccxt tells as a refusal (a known fault, not copied).
    ['EService:Deadline elapsed', 'ExchangeError'],
  ])('%s arrives as %s', async (text, name) => {
    double.fault('AddOrder', { kind: 'error', text });
    await expect(ccxt.createOrder('BTC/USD', 'limit', 'buy', 0.01, 30_000)).rejects.toMatchObject({ name });
  });

  test('the rules of the double itself refuse what the exchange refuses', async () => {
    const place = (amount: number, price: number, params = {}) =>
      ccxt.createOrder('BTC/USD', 'limit', 'buy', amount, price, params);
    await expect(place(0.00011, 4_000)).rejects.toMatchObject({ name: 'ExchangeError' });
    await expect(place(1_000, 30_000)).rejects.toMatchObject({ name: 'InsufficientFunds' });
    double.exchange.house('sell', '51000', '0.5');
    await expect(place(0.01, 51_000, { postOnly: true })).rejects.toThrow('EOrder:Post only order');
    await expect(ccxt.cancelOrder('OUNKN-OWN00-000000', 'BTC/USD')).rejects.toMatchObject({ name: 'OrderNotFound' });
  });
});
