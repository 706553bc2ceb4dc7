/** The two exchanges in a box as a run gets them: both over sockets, each with an account of its own, or neither. */
import { createHmac } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket, type RawData } from 'ws';
import type { Config } from '../../src/config.ts';
import { realClock } from '../../src/live/realClock.ts';
import { openBox, startEmbedded, type Embedded } from '../../src/wiring/embedded.ts';
import { sandboxConfig } from '../live/world.ts';
import { VirtualClock } from '../../src/core/index.ts';

const TOKEN = 'operator-token-of-a-test';
let running: Embedded | null = null;
afterEach(async () => {
  await running?.stop();
  running = null;
});

const both = (changes = {}): Config => sandboxConfig({ elsewhere: changes }, 'elsewhere');
const start = async (config: Config): Promise<Embedded> => {
  running = await startEmbedded(config, realClock(), {
    tapes: [],
    port: 0,
    portFrom: '--port',
    operatorToken: TOKEN,
  });
  return running;
};
const json = async (url: string, init: RequestInit = {}): Promise<Record<string, unknown>> =>
  (await (await fetch(url, init)).json()) as Record<string, unknown>;

describe('config/elsewhere.yaml', () => {
  test('starts two exchanges that answer in two protocols, each with its account, book and operator', async () => {
    const { origin, elsewhere } = await start(both({ latencyMs: 0 }));
    const { restUrl, streamUrl, key, secret, book, venue } = elsewhere!;
    expect([book, venue]).toEqual(['btc_usdt', 'binance']);
    const here = await json(`${origin}/api/v3/order_book?book=btc_mxn`);
    expect(here).toMatchObject({ success: true });
    const there = (await json(`${restUrl}/api/v3/depth?symbol=BTCUSDT&limit=5`)) as { bids: [string, string][] };
    // 1,500,000 mxn at 18.5 mxn per usdt.
    expect(Math.abs(Number(there.bids[0]![0]) / (1_500_000 / 18.5) - 1)).toBeLessThan(0.01);
    expect(await json(`${restUrl}/api/v3/ticker/bookTicker?symbol=USDTMXN`)).toMatchObject({ symbol: 'USDTMXN' });
    const query = `timestamp=${Date.now()}&omitZeroBalances=true`;
    const signature = createHmac('sha256', secret.reveal()).update(query).digest('hex');
    const account = await json(`${restUrl}/api/v3/account?${query}&signature=${signature}`, {
      headers: { 'x-mbx-apikey': key },
    });
    expect(account['balances']).toEqual([
      { asset: 'BTC', free: '1.50000000', locked: '0.00000000' },
      { asset: 'USDT', free: '120000.00000000', locked: '0.00000000' },
    ]);
    const authorization = `Bearer ${TOKEN}`;
    const operator = { headers: { authorization }, method: 'PATCH', body: '{"answerLostPips":500}' };
    expect(await json(`${restUrl}/operator/switches`, operator)).toMatchObject({ answerLostPips: 500 });
    expect(await json(`${origin}/operator/truth`, { headers: { authorization } })).toHaveProperty('imbalance.btc', '0');
    const frame = await new Promise<string>((resolve, reject) => {
      const socket = new WebSocket(`${streamUrl}/stream?streams=btcusdt@depth5@100ms`);
      socket.once('message', (data: RawData) => {
        resolve((data as Buffer).toString('utf8'));
        socket.close();
      });
      socket.once('error', reject);
    });
    expect(JSON.parse(frame)).toMatchObject({ stream: 'btcusdt@depth5@100ms' });
  });

  test('leaves nothing running if the second port is taken, and says which key to change', async () => {
    const other = createServer();
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    await expect(start(both({ port }))).rejects.toThrow(/port is in use .* choose another port with elsewhere\.port/);
    other.close();
  });

  test('is one world for one seed; without the section there is no second exchange', async () => {
    const books = async (config: Config, seconds: number) => {
      const clock = new VirtualClock();
      const box = openBox(config, clock, { tapes: [] });
      await clock.advance(seconds * 1_000);
      const place = box.exchange.marketplace('btc_mxn');
      const there = box.second?.exchange.marketplace('btc_usdt');
      const seen = [place.bestBid(), place.bestAsk(), there?.bestBid(), there?.bestAsk()];
      box.stop();
      return seen;
    };
    expect(await books(both(), 5)).toEqual(await books(both(), 5));
    const [bid, ask, none] = await books(sandboxConfig(), 5);
    expect([none, bid! < ask!]).toEqual([undefined, true]);
  });

  test('with fees of the first exchange, charges them', () => {
    const config = both();
    const { exchange } = config;
    if (exchange.kind !== 'embedded') throw new Error('the configuration is of another kind');
    const fees = { maker: '0.0002', taker: '0.0004' };
    const box = openBox({ ...config, exchange: { ...exchange, fees } }, new VirtualClock(), { tapes: [] });
    expect(box.exchange.venue.books.get('btc_mxn')!.fees.tiers).toMatchObject([fees]);
    box.stop();
  });

  test.each<[changes: Record<string, string>, said: RegExp]>([
    [{ book: 'eth_usdt' }, /elsewhere\.book: expected a book of btc, like btc_usdt, found eth_usdt/],
    [{ book: 'btc_mxn' }, /elsewhere\.balances: expected an opening balance of mxn for book btc_mxn/],
  ])('with %o is refused: %s', (changes, said) => {
    expect(() => both(changes)).toThrow(said);
  });

  test('with a book that the second exchange does not list is refused', async () => {
    const elsewhere = { book: 'btc_eur', balances: { btc: '1', usdt: '1', eur: '1' } };
    const config = sandboxConfig({ elsewhere, hedge: undefined }, 'elsewhere');
    await expect(start(config)).rejects.toThrow(/elsewhere\.book: expected one of btc_usdt, .*, found btc_eur/);
  });

  test('with a recording as market is refused', () => {
    const open = () => openBox(both(), new VirtualClock(), { tapes: [{} as never] });
    expect(open).toThrow(
      /elsewhere: there is no second exchange if the market is a recording \(--tape\); remove the section elsewhere/,
    );
  });
});
