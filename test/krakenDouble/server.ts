/** Double of Kraken spot: its REST interface and its version 2 stream over real sockets, with faults on request. */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Side, WireReply, WireRequest } from '../../src/core/index.ts';
import { BALANCE_DECIMALS, decimalText, KrakenExchange, KrakenRefusal, type DoublePair } from './exchange.ts';

/**
 * Fault of one private request: its answer is lost after or before the execution, replaced by text with a status, or
 * the error text is returned instead of an execution.
 */
export type DoubleFault =
  | { readonly kind: 'lost after' | 'lost before' }
  | { readonly kind: 'page'; readonly status: number; readonly body: string; readonly executes?: boolean }
  | { readonly kind: 'error'; readonly text: string };

/** Returns the public id of an account. */
function accountIdOf(owner: string): string {
  const digits = createHash('sha256').update(owner).digest('hex').toUpperCase();
  return `AA${digits.slice(0, 2)} ${digits.slice(2, 6)} ${digits.slice(6, 10)} ${digits.slice(10, 14)}`;
}

type Fields = Readonly<Record<string, string>>;
type Subscriber = {
  readonly socket: WebSocket;
  readonly channels: Set<string>;
  depth: number;
  levels: string[];
  prints: number;
};

export class KrakenDouble {
  readonly exchange: KrakenExchange;
  /** Faults of the next requests to an endpoint, such as `AddOrder`. */
  readonly faults = new Map<string, DoubleFault[]>();
  /** Requests that arrived: endpoint and fields. */
  readonly seen: { readonly endpoint: string; readonly fields: Fields }[] = [];
  /** Number of the next frames of levels that are dropped, or sent with a wrong checksum. */
  dropFrames = 0;
  wrongChecksums = 0;
  /** Whether the stream sends nothing. */
  isSilent = false;
  readonly #now: () => number;
  readonly #secrets: ReadonlyMap<string, string>;
  readonly #nonces = new Map<string, bigint>();
  readonly #subscribers = new Set<Subscriber>();
  readonly #http = createServer((request, response) => void this.#serve(request, response));
  readonly #sockets = new WebSocketServer({ server: this.#http });
  #heartbeats: NodeJS.Timeout | undefined;

  /** Secrets in Base64 by key; each key is an account with 10 XBT, 1,000,000 USD and 100,000 XDG. */
  constructor(secrets: Readonly<Record<string, string>>, now?: () => number) {
    this.#secrets = new Map(Object.entries(secrets));
    this.exchange = new KrakenExchange(now ?? Date.now);
    this.#now = now ?? (() => Date.now());
    for (const key of this.#secrets.keys()) this.exchange.open(key, { XXBT: '10', ZUSD: '1000000', XXDG: '100000' });
    this.exchange.changed = () => this.#publish();
    this.#sockets.on('connection', socket => this.#connected(socket));
  }

  /** Listens on a free port of this machine. Heartbeats of the stream are sent every `heartbeatMs`. */
  async listen(heartbeatMs = 1_000): Promise<{ readonly restUrl: string; readonly streamUrl: string }> {
    await new Promise<void>(resolve => this.#http.listen(0, '127.0.0.1', resolve));
    this.#heartbeats = setInterval(() => this.#broadcast({ channel: 'heartbeat' }), heartbeatMs);
    const { port } = this.#http.address() as AddressInfo;
    return { restUrl: `http://127.0.0.1:${port}`, streamUrl: `ws://127.0.0.1:${port}/v2` };
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeats);
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#http.closeAllConnections();
    await new Promise<void>(resolve => this.#http.close(() => resolve()));
  }

  /** Adds a fault for the next request to an endpoint. */
  fault(endpoint: string, fault: DoubleFault): void {
    this.faults.set(endpoint, [...(this.faults.get(endpoint) ?? []), fault]);
  }

  /** Answers a request of this process, without sockets and faults. */
  respond({ method, target, headers, body }: WireRequest): WireReply {
    const url = new URL(target, 'http://double');
    const endpoint = url.pathname.split('/').at(-1)!;
    const fields = Object.fromEntries(method === 'GET' ? url.searchParams : new URLSearchParams(body));
    this.seen.push({ endpoint, fields });
    const answer = this.#answer(headers, url.pathname, endpoint, fields, body);
    return { status: 200, headers: {}, body: JSON.stringify(answer) };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const url = new URL(request.url ?? '/', 'http://double');
    const endpoint = url.pathname.split('/').at(-1)!;
    const fields = Object.fromEntries(request.method === 'GET' ? url.searchParams : new URLSearchParams(body));
    const fault = this.faults.get(endpoint)?.shift();
    this.seen.push({ endpoint, fields });
    if (fault?.kind === 'lost before') return void request.socket.destroy();
    if (fault?.kind === 'page') {
      if (fault.executes === true) this.#answer(request.headers, url.pathname, endpoint, fields, body);
      return void response.writeHead(fault.status, { 'content-type': 'text/html' }).end(fault.body);
    }
    const answer =
      fault?.kind === 'error'
        ? { error: [fault.text] }
        : this.#answer(request.headers, url.pathname, endpoint, fields, body);
    if (fault?.kind === 'lost after') return void request.socket.destroy();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  #answer(headers: IncomingHttpHeaders, path: string, endpoint: string, fields: Fields, body: string): object {
    try {
      const isPrivate = path.startsWith('/0/private/');
      const owner = isPrivate ? this.#authenticated(headers, path, fields, body) : '';
      return { error: [], result: isPrivate ? this.#private(endpoint, owner, fields) : this.#public(endpoint, fields) };
    } catch (error) {
      if (error instanceof KrakenRefusal) return { error: [error.message] };
      throw error;
    }
  }

  /** Checks key, signature and nonce. Returns the account. */
  #authenticated(headers: IncomingHttpHeaders, path: string, fields: Fields, body: string): string {
    const key = String(headers['api-key']);
    const secret = this.#secrets.get(key);
    if (secret === undefined) throw new KrakenRefusal('EAPI:Invalid key');
    const nonce = fields['nonce'] ?? '';
    const digest = createHash('sha256')
      .update(nonce + body)
      .digest();
    const mac = createHmac('sha512', Buffer.from(secret, 'base64')).update(path).update(digest).digest('base64');
    if (headers['api-sign'] !== mac) throw new KrakenRefusal('EAPI:Invalid signature');
    if (!/^\d{1,20}$/.test(nonce) || BigInt(nonce) <= (this.#nonces.get(key) ?? 0n))
      throw new KrakenRefusal('EAPI:Invalid nonce');
    this.#nonces.set(key, BigInt(nonce));
    return key;
  }

  #private(endpoint: string, owner: string, fields: Fields): object {
    const { exchange } = this;
    switch (endpoint) {
      case 'AddOrder':
        if (fields['deadline'] !== undefined && Date.parse(fields['deadline']) < this.#now())
          throw new KrakenRefusal('EService:Deadline elapsed');
        return exchange.addOrder(owner, fields);
      case 'CancelOrder':
        return exchange.cancelOrder(owner, fields);
      case 'OpenOrders':
        return exchange.openOrders(owner, fields);
      case 'ClosedOrders':
        return exchange.closedOrders(owner, fields);
      case 'QueryOrders':
        return exchange.queryOrders(owner, fields);
      case 'TradesHistory':
        return exchange.tradesHistory(owner, fields);
      case 'QueryTrades':
        return exchange.queryTrades(owner, fields);
      case 'GetApiKeyInfo':
        return { apiKey: owner, iban: accountIdOf(owner) };
      case 'BalanceEx':
        return exchange.balancesOf(owner);
      case 'TradeVolume':
        return exchange.tradeVolume(fields);
      default:
        throw new KrakenRefusal('EGeneral:Unknown method');
    }
  }

  #public(endpoint: string, fields: Fields): object {
    const { pairs } = this.exchange;
    switch (endpoint) {
      case 'Time':
        return { unixtime: Math.floor(this.#now() / 1_000) };
      case 'Assets':
        return Object.fromEntries(
          pairs
            .flatMap(({ base, quote }) => [base, quote])
            .map(([id, altname]) => [
              id,
              { aclass: 'currency', altname, decimals: BALANCE_DECIMALS[id], display_decimals: 5 },
            ]),
        );
      case 'AssetPairs':
        return Object.fromEntries(pairs.map(pair => [pair.id, pairRow(pair)]));
      case 'Depth':
        return depthOf(this.exchange.pairNamed(fields['pair']), Number(fields['count'] ?? 100));
      case 'Trades':
        return this.#tradesOf(this.exchange.pairNamed(fields['pair']), fields);
      default:
        throw new KrakenRefusal('EGeneral:Unknown method');
    }
  }

  #tradesOf(pair: DoublePair, { since, count = '1000' }: Fields): object {
    const all = this.exchange.prints.filter(print => print.pair === pair);
    const nanos = (ms: number): bigint => BigInt(Math.round(ms * 1_000)) * 1_000n;
    const some =
      since === undefined
        ? all.slice(-Number(count))
        : all.filter(({ at }) => nanos(at) > BigInt(since)).slice(0, Number(count));
    const rows = some.map(({ price, amount, at, takerSide, number }) => [
      ...[decimalText(price, pair.priceDecimals), decimalText(amount, 8), at / 1_000],
      ...[takerSide === 'buy' ? 'b' : 's', 'l', '', number],
    ]);
    return { [pair.id]: rows, last: String(nanos(some.at(-1)?.at ?? 0)) };
  }

  #connected(socket: WebSocket): void {
    const subscriber: Subscriber = { socket, channels: new Set(), depth: 10, levels: [], prints: 0 };
    this.#subscribers.add(subscriber);
    socket.on('close', () => this.#subscribers.delete(subscriber));
    this.#send(subscriber, { channel: 'status', type: 'update', data: [{ api_version: 'v2', system: 'online' }] });
    socket.on('message', data =>
      this.#request(subscriber, JSON.parse((data as Buffer).toString('utf8')) as StreamRequest),
    );
  }

  #request(subscriber: Subscriber, { method, params, req_id: id }: StreamRequest): void {
    const tag = id === undefined ? {} : { req_id: id };
    const time = new Date().toISOString();
    if (method === 'ping') return this.#send(subscriber, { method: 'pong', time_in: time, time_out: time, ...tag });
    const { channel = '', symbol: symbols = [''] } = params ?? {};
    for (const symbol of symbols) {
      const pair = this.exchange.pairs.find(each => each.symbol === symbol);
      if (!pair && channel !== 'instrument')
        return this.#send(subscriber, {
          method,
          success: false,
          error: `Currency pair not supported ${symbol}`,
          symbol,
          ...tag,
        });
      const name = `${channel} ${symbol}`;
      const result = {
        channel,
        ...(pair ? { symbol } : {}),
        ...(channel === 'book' ? { depth: params?.depth ?? 10 } : {}),
      };
      this.#send(subscriber, { method, result, success: true, ...tag });
      if (method === 'unsubscribe') subscriber.channels.delete(name);
      else {
        subscriber.channels.add(name);
        if (channel === 'instrument') this.#send(subscriber, instrumentsOf(this.exchange.pairs));
        if (channel === 'book' && pair) this.#snapshot(subscriber, pair, params?.depth);
        subscriber.prints = this.exchange.prints.length;
      }
    }
  }

  #snapshot(subscriber: Subscriber, pair: DoublePair, depth = 10): void {
    subscriber.depth = depth;
    subscriber.levels = levelsOf(pair, depth);
    const [bids, asks] = [sideNumbers(pair, 'buy', depth), sideNumbers(pair, 'sell', depth)];
    const data = [{ symbol: pair.symbol, bids, asks, checksum: checksumOf(pair), timestamp: new Date().toISOString() }];
    this.#send(subscriber, { channel: 'book', type: 'snapshot', data });
  }

  #publish(): void {
    for (const subscriber of this.#subscribers)
      for (const pair of this.exchange.pairs) {
        if (subscriber.channels.has(`trade ${pair.symbol}`)) this.#publishPrints(subscriber, pair);
        if (subscriber.channels.has(`book ${pair.symbol}`)) this.#publishLevels(subscriber, pair);
      }
    for (const subscriber of this.#subscribers) subscriber.prints = this.exchange.prints.length;
  }

  #publishPrints(subscriber: Subscriber, pair: DoublePair): void {
    const fresh = this.exchange.prints.slice(subscriber.prints).filter(print => print.pair === pair);
    if (fresh.length === 0) return;
    const data = fresh.map(({ takerSide, price, amount, number, at }) => ({
      ...{ symbol: pair.symbol, side: takerSide, price: Number(decimalText(price, pair.priceDecimals)) },
      ...{
        qty: Number(decimalText(amount, 8)),
        ord_type: 'limit',
        trade_id: number,
        timestamp: new Date(at).toISOString(),
      },
    }));
    this.#send(subscriber, { channel: 'trade', type: 'update', data });
  }

  #publishLevels(subscriber: Subscriber, pair: DoublePair): void {
    const [before, after] = [new Set(subscriber.levels), levelsOf(pair, subscriber.depth)];
    const now = new Set(after);
    const prices = new Set(after.map(level => level.split(' ', 2).join(' ')));
    const gone = [...before].filter(level => !prices.has(level.split(' ', 2).join(' ')));
    const removed = gone.filter(level => {
      const [side, price] = level.split(' ');
      return pair.book.amountAt(side as Side, Number(price) as never) === 0;
    });
    subscriber.levels = after;
    const changes = [
      ...removed.map(level => `${level.split(' ', 2).join(' ')} 0`),
      ...[...now].filter(level => !before.has(level)),
    ];
    if (changes.length === 0) return;
    if (this.dropFrames > 0) return void this.dropFrames--;
    const wrong = this.wrongChecksums > 0 ? 1 : 0;
    this.wrongChecksums -= wrong;
    const side = (name: Side) =>
      changes
        .map(level => level.split(' '))
        .filter(([of]) => of === name)
        .map(([, price, amount]) => levelNumbers(pair, Number(price), Number(amount)));
    const data = [
      {
        symbol: pair.symbol,
        bids: side('buy'),
        asks: side('sell'),
        checksum: (checksumOf(pair) ^ wrong) >>> 0,
        timestamp: new Date().toISOString(),
      },
    ];
    this.#send(subscriber, { channel: 'book', type: 'update', data });
  }

  #broadcast(frame: object): void {
    for (const subscriber of this.#subscribers) if (subscriber.channels.size > 0) this.#send(subscriber, frame);
  }

  #send({ socket }: Subscriber, frame: object): void {
    if (!this.isSilent) socket.send(JSON.stringify(frame));
  }
}

type StreamRequest = {
  readonly method: string;
  readonly params?: { readonly channel?: string; readonly symbol?: readonly string[]; readonly depth?: number };
  readonly req_id?: number;
};

/** Levels as `side ticks lots`, best first. */
function levelsOf(pair: DoublePair, depth: number): string[] {
  const levels: string[] = [];
  for (const side of ['buy', 'sell'] as const) {
    let count = 0;
    pair.book.eachLevel(side, (price, total) => levels.push(`${side} ${price} ${total}`) > 0 && ++count < depth);
  }
  return levels;
}

const levelNumbers = (pair: DoublePair, price: number, amount: number) => ({
  price: Number(decimalText(price, pair.priceDecimals)),
  qty: Number(decimalText(amount, 8)),
});

function sideNumbers(pair: DoublePair, side: Side, depth: number): object[] {
  const levels: object[] = [];
  pair.book.eachLevel(side, (price, total) => levels.push(levelNumbers(pair, price, total)) < depth);
  return levels;
}

/** Checksum from whole ticks and lots, whose digits are those of the decimals without point and leading zeros. */
function checksumOf(pair: DoublePair): number {
  let text = '';
  for (const side of ['sell', 'buy'] as const) {
    let count = 0;
    pair.book.eachLevel(side, (price, total) => {
      text += `${price}${total}`;
      return ++count < 10;
    });
  }
  return crc32(text);
}

function depthOf(pair: DoublePair, count: number): object {
  const side = (of: Side) => {
    const rows: (string | number)[][] = [];
    pair.book.eachLevel(of, (price, total) => {
      rows.push([decimalText(price, pair.priceDecimals), decimalText(total, 8), Math.floor(Date.now() / 1_000)]);
      return rows.length < count;
    });
    return rows;
  };
  return { [pair.id]: { asks: side('sell'), bids: side('buy') } };
}

const pairRow = ({ altname, wsname, base, quote, priceDecimals, minimum }: DoublePair): object => ({
  ...{
    altname,
    wsname,
    aclass_base: 'currency',
    base: base[0],
    aclass_quote: 'currency',
    quote: quote[0],
    lot: 'unit',
  },
  ...{ cost_decimals: 5, pair_decimals: priceDecimals, lot_decimals: 8, lot_multiplier: 1 },
  ...{
    leverage_buy: [],
    leverage_sell: [],
    fees: [
      [0, 0.26],
      [50_000, 0.24],
    ],
    fees_maker: [
      [0, 0.16],
      [50_000, 0.14],
    ],
  },
  ...{ fee_volume_currency: 'ZUSD', margin_call: 80, margin_stop: 40, ordermin: minimum, costmin: '0.5' },
  ...{ tick_size: `0.${'1'.padStart(priceDecimals, '0')}`, status: 'online' },
});

const instrumentsOf = (pairs: readonly DoublePair[]): object => ({
  channel: 'instrument',
  type: 'snapshot',
  data: {
    assets: [],
    pairs: pairs.map(({ symbol, priceDecimals }) => ({
      ...{ symbol, base: symbol.split('/')[0], quote: symbol.split('/')[1], status: 'online', qty_precision: 8 },
      ...{ qty_increment: 1e-8, price_precision: priceDecimals, cost_precision: 5 },
    })),
  },
});
