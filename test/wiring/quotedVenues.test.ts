/** The bot quotes on the double of each exchange that is not the embedded one, through the client and the stream that ship, over real sockets. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { replay } from '../../src/app/inspect/replayCheck.ts';
import type { RunResult } from '../../src/app/run/botProcess.ts';
import {
  amountExact,
  moneyOf,
  priceExact,
  Secret,
  type Money,
  type Side,
  type WireRequest,
} from '../../src/core/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { createSecondExchange, serve, type SecondExchange } from '../../src/sandbox/index.ts';
import { venueNamed } from '../../src/wiring/venueRegistry.ts';
import { endPrograms, puntas } from '../cli/program.ts';
import { KrakenDouble } from '../krakenDouble/server.ts';
import { recordTrials, socketRun } from '../live/socketRun.ts';

type Double = {
  readonly book: string;
  readonly restUrl: string;
  readonly streamUrl: string;
  readonly key: string;
  readonly secret: string;
  /** Places an order of the other traders. */
  readonly house: (side: Side, price: string, amount: string) => void;
  /** Loses the answer to the next order, after its execution. */
  readonly loseAnswer: () => void;
  /** Sides of the bot's open orders. */
  readonly open: () => readonly Side[];
  readonly total: (currency: string) => Money;
  /** Ids of the orders that were sent, in sequence. */
  readonly sent: () => readonly string[];
  readonly close: () => Promise<void>;
};

const [KEY, SECRET] = ['bot-key', Buffer.from('bot secret').toString('base64')];

const DOUBLES: Readonly<Record<string, () => Promise<Double>>> = {
  binance: async () => {
    const exchange: SecondExchange = createSecondExchange({ clock: realClock() });
    const { id, key, secret } = exchange.openAccount({ balances: { btc: '10', usdt: '1000000' } });
    const sent: string[] = [];
    let losses = 0;
    const isOrder = ({ method, target }: WireRequest) => method === 'POST' && target.startsWith('/api/v3/order');
    const served = await serve(
      {
        stream: exchange.stream,
        serveRequest: (request, peer, answer) => {
          if (!isOrder(request)) return exchange.serveRequest(request, peer, answer);
          const fields = new URLSearchParams(`${request.target.split('?')[1] ?? ''}&${request.body}`);
          sent.push(fields.get('newClientOrderId')!);
          const isLost = losses-- > 0;
          exchange.serveRequest(request, peer, reply => answer(isLost ? 'closed' : reply));
        },
      },
      { host: '127.0.0.1', port: 0 },
    );
    const place = exchange.marketplace('btc_usdt');
    const { instrument } = place;
    const account = () => exchange.truth().accounts.get(id)!;
    return {
      ...{ book: 'btc_usdt', restUrl: served.url, streamUrl: served.url.replace('http', 'ws'), key, secret },
      house: (side, price, amount) =>
        void place.place(side, priceExact(instrument, price)!, amountExact(instrument, amount)!, 'GTC'),
      loseAnswer: () => (losses = 1),
      open: () => account().live.map(({ side }) => side),
      total: currency => account().balances.get(currency)!.total,
      sent: () => sent,
      close: async () => {
        await served.close();
        exchange.close();
      },
    };
  },
  kraken: async () => {
    const double = new KrakenDouble({ [KEY]: SECRET });
    const urls = await double.listen();
    const { exchange, seen } = double;
    const ids: Readonly<Record<string, string>> = { btc: 'XXBT', usd: 'ZUSD' };
    return {
      ...{ book: 'btc_usd', ...urls, key: KEY, secret: SECRET },
      house: (side, price, amount) => void exchange.house(side, price, amount),
      loseAnswer: () => double.fault('AddOrder', { kind: 'lost after' }),
      open: () =>
        exchange.orders.flatMap(({ owner, status, side }) => (owner === KEY && status === 'open' ? [side] : [])),
      total: currency => exchange.balance(KEY, ids[currency]!),
      sent: () => seen.flatMap(({ endpoint, fields }) => (endpoint === 'AddOrder' ? [fields['cl_ord_id']!] : [])),
      close: () => double.close(),
    };
  },
};

const ends: (() => unknown)[] = [];
afterEach(async () => {
  await endPrograms();
  for (const end of ends.splice(0).reverse()) await end();
});

const yaml = (venue: string, { book, restUrl, streamUrl }: Double, dir: string) => `
book: ${book}
instance: mm
exchange: { kind: remote, venue: ${venue}, acceptUntried: ${venue}, restUrl: '${restUrl}', streamUrl: '${streamUrl}', requestTimeoutMs: 900, budgets: { publicPerMinute: 60, privatePerMinute: 60 } }
strategy: { name: ladder, halfSpreadBps: 50, levels: 1, levelSpacingBps: 1, amount: '0.1', levelAmountStep: '0', refreshToleranceBps: 20, minEdgeBps: 1, skew: { priceBpsAtLimit: 1, sizeRange: '1' } }
limits: { positionMax: '1', orderValueMax: '20000', ordersMax: 4, collarBps: 500, drawdownMax: '5000', dayLossMax: '5000' }
inventory: { target: '10' }
timing: { decideEveryMs: 50, bookPollMs: 2000, privatePollMs: 5000, requestDelayMaxMs: 5000, tradeReportDelayMaxMs: 500, shutdownMs: 20000 }
metrics: { port: 0 }
state: { dir: '${dir}' }
`;

/** Opens the double of an exchange with a book, and a place for the state of a bot there. */
async function opened(venue: string) {
  const double = await DOUBLES[venue]!();
  ends.push(() => double.close());
  double.house('buy', '49900', '1');
  double.house('buy', '48900', '9');
  double.house('sell', '50100', '1');
  const dir = mkdtempSync(join(tmpdir(), 'puntas-quoted-'));
  ends.push(() => rmSync(dir, { recursive: true, force: true }));
  const text = yaml(venue, double, join(dir, 'state'));
  const { restUrl, streamUrl, key, secret } = double;
  const access = { restUrl: venueNamed(venue).restUrl(restUrl), streamUrl, key, secret: new Secret(secret) };
  recordTrials(text, access);
  return { double, dir, text, access };
}

const isQuoted = ({ open }: Double): boolean => open().toSorted().join(' ') === 'buy sell';
/** Fills part of the bot's bid. The order of the other traders at 49,900 comes first. */
const fillBid = ({ house }: Double): void => house('sell', '49000', '1.05');

/** The ledger is what the exchange has, to the last digit, and no order was sent twice. */
function expectExact({ book, total, sent, open }: Double, { summary, left, failure }: RunResult): void {
  expect([left, failure, open()]).toEqual([[], null, []]);
  expect(summary).toMatchObject({ ledgerMatches: true, openOrdersLeft: 0, fills: 1 });
  for (const currency of book.split('_'))
    expect([currency, moneyOf(summary.position![currency]!)]).toEqual([currency, total(currency)]);
  expect(new Set(sent()).size).toBe(sent().length);
}

const venues = Object.keys(DOUBLES);

test.each(venues)(
  'at %s both sides are quoted, a fill comes into the ledger, a lost answer places nothing twice, and the stop leaves nothing',
  async venue => {
    const { double, dir, text, access } = await opened(venue);
    double.loseAnswer();
    const run = await socketRun(text, access);
    const { texts, until } = run;
    await until(() => texts().some(each => each.endsWith('the exchange has reported the order; its outcome is known')));
    await until(() => isQuoted(double));
    fillBid(double);
    await until(() => texts().some(each => each.startsWith('bought ')));
    const result = await run.stop();
    expectExact(double, result);
    expect(result.summary.orders).toMatchObject({ refused: 0, unknown: 1 });
    const printed: string[] = [];
    expect(replay(join(dir, 'state'), 'all', line => printed.push(line))).toBe(true);
    expect(printed.join('\n')).toMatch(/\d+ inputs, \d+ commands, all commands identical/);
  },
);

test.each(venues)(
  'at %s a bot that was killed with quotes in the book books the fill that it missed, cancels them and quotes again',
  async venue => {
    const { double, dir, text, access } = await opened(venue);
    const file = join(dir, 'bot.yaml');
    writeFileSync(file, text);
    const killed = puntas(['run', '-c', file], { PUNTAS_API_KEY: double.key, PUNTAS_API_SECRET: double.secret });
    await killed.sees(/"bids":1,"asks":1/);
    expect(isQuoted(double)).toBe(true);
    killed.signal('SIGKILL');
    await killed.ended;
    const before = double.sent().length;
    fillBid(double);
    const run = await socketRun(text, access);
    await run.until(() => double.sent().length >= before + 2 && isQuoted(double));
    expectExact(double, await run.stop());
  },
);
