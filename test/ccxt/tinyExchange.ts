/** Small server with Binance's public interface over real sockets: one book, changed and broken by the test. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';

/** Fault of REST answers. `stalled`: the body never ends. `cut`: the connection ends within the body. */
export type RestFault = 'none' | 'stalled' | 'cut' | 'html';

export type TinyExchange = {
  readonly url: string;
  /** Connections with a stream, now and since the start. */
  readonly streams: () => number;
  readonly connected: () => number;
  /** TCP connections that are open. */
  readonly sockets: () => number;
  fault: RestFault;
  /** Sets the amount at a price; '0' removes the level. Sends the change to all streams, unless `silent`. */
  move(side: 'b' | 'a', price: string, amount: string, silent?: boolean): void;
  trade(price: string, amount: string): void;
  /** Sends text to all streams. */
  send(frame: string | Buffer): void;
  /** Closes all streams with a code; without a code, cuts their connections. */
  cut(code?: number): void;
  close(): Promise<void>;
};

const SYMBOL = {
  symbol: 'BTCUSDT',
  status: 'TRADING',
  baseAsset: 'BTC',
  baseAssetPrecision: 8,
  quoteAsset: 'USDT',
  quotePrecision: 8,
  quoteAssetPrecision: 8,
  isSpotTradingAllowed: true,
  permissions: ['SPOT'],
  permissionSets: [['SPOT']],
  orderTypes: ['LIMIT'],
  filters: [
    { filterType: 'PRICE_FILTER', minPrice: '0.01', maxPrice: '1000000.00', tickSize: '0.01' },
    { filterType: 'LOT_SIZE', minQty: '0.00001', maxQty: '9000.0', stepSize: '0.00001' },
    { filterType: 'NOTIONAL', minNotional: '5.0', maxNotional: '9000000.0' },
  ],
};

export async function tinyExchange(): Promise<TinyExchange> {
  const levels = { b: new Map([['99.00', '1.50000000']]), a: new Map([['101.00', '2.00000000']]) };
  const trades: { id: number; price: string; qty: string; time: number; isBuyerMaker: boolean }[] = [];
  let update = 1_000;
  let connected = 0;
  const sockets = new Set<Socket>();
  /** Streams with the topics that they are subscribed to. */
  const streams = new Map<WebSocket, string>();
  const depth = () => ({ lastUpdateId: update, bids: [...levels.b], asks: [...levels.a] });
  const answers: Record<string, () => unknown> = {
    '/api/v3/exchangeInfo': () => ({ timezone: 'UTC', serverTime: Date.now(), rateLimits: [], symbols: [SYMBOL] }),
    '/api/v3/depth': depth,
    '/api/v3/trades': () => trades,
  };
  const reply = (request: IncomingMessage, response: ServerResponse): void => {
    const body = JSON.stringify(answers[request.url!.split('?')[0]!]?.() ?? { code: -1, msg: request.url });
    if (tiny.fault === 'html') return void response.writeHead(200).end('<html>maintenance</html>');
    if (tiny.fault === 'none') return void response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(body.length) });
    response.write(body.slice(0, 10), () => tiny.fault === 'cut' && request.socket.destroy());
  };
  const server = createServer(reply);
  server.on('connection', socket => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const stream = new WebSocketServer({ server });
  stream.on('connection', socket => {
    connected++;
    streams.set(socket, '');
    socket.on('error', () => undefined);
    socket.on('close', () => streams.delete(socket));
    socket.on('message', (data: Buffer) => {
      const { id, params } = JSON.parse(data.toString()) as { id: number; params: readonly string[] };
      streams.set(socket, `${streams.get(socket)} ${params.join(' ')}`);
      socket.send(JSON.stringify({ result: null, id }));
    });
  });
  // ccxt opens one connection per topic, and reads every frame on each.
  const send = (frame: string | Buffer, topic = ''): void =>
    streams.forEach((topics, socket) => topics.includes(topic) && socket.send(frame));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const tiny: TinyExchange = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    streams: () => streams.size,
    connected: () => connected,
    sockets: () => sockets.size,
    fault: 'none',
    move: (side, price, amount, silent = false) => {
      if (/[1-9]/.test(amount)) levels[side].set(price, amount);
      else levels[side].delete(price);
      const U = ++update;
      const E = Date.now();
      const change = { b: [] as string[][], a: [] as string[][], [side]: [[price, amount]] };
      if (!silent) send(JSON.stringify({ e: 'depthUpdate', E, s: 'BTCUSDT', U, u: U, ...change }), '@depth');
    },
    trade: (price, qty) => {
      const [id, T] = [trades.length + 1, Date.now()];
      trades.push({ id, price, qty, time: T, isBuyerMaker: false });
      send(JSON.stringify({ e: 'trade', E: T, s: 'BTCUSDT', t: id, p: price, q: qty, T, m: false, M: true }), '@trade');
    },
    send: frame => send(frame),
    cut: code => streams.forEach((_, socket) => (code === undefined ? socket.terminate() : socket.close(code, 'test'))),
    close: async () => {
      stream.close();
      streams.forEach((_, socket) => socket.terminate());
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
  return tiny;
}
