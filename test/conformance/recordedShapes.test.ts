/** Replies that other people recorded, beside those of the embedded exchange: the same keys with the same types, but for what is listed with its reason. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { amount, price } from '../../src/core/index.ts';
import { arena, publicCall } from '../sandbox/trader.ts';

const ROOT = join(process.env['PUNTAS_DATA'] ?? '../shared/data', 'bitso-api-fixtures');
const missing = !existsSync(ROOT);
if (missing) console.log(`skipped: no recorded replies at ${ROOT} (set PUNTAS_DATA)`);

const recorded = (file: string, ...path: (string | number)[]): unknown =>
  missing
    ? null
    : path.reduce<unknown>(
        (at, key) => (at as Record<string, unknown>)[key],
        JSON.parse(readFileSync(join(ROOT, file), 'utf8')),
      );

/** `payload[].price` and what types stand there. */
function shapeOf(value: unknown, at = '', found = new Map<string, Set<string>>()): Map<string, Set<string>> {
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  if (!found.has(at)) found.set(at, new Set());
  found.get(at)!.add(type);
  if (Array.isArray(value)) for (const each of value) shapeOf(each, `${at}[]`, found);
  else if (typeof value === 'object' && value !== null)
    for (const [name, each] of Object.entries(value)) shapeOf(each, at === '' ? name : `${at}.${name}`, found);
  return found;
}

/** `+ path` is only with us, `- path` only in the recording, `~ path` has another type. */
function differences(theirs: unknown, ours: unknown): string[] {
  const [recording, reply] = [shapeOf(theirs), shapeOf(ours)];
  const parts = (of: Map<string, Set<string>>, path: string) => [...of.get(path)!].sort().join(' or ');
  return [
    ...[...reply.keys()].filter(path => !recording.has(path)).map(path => `+ ${path}`),
    ...[...recording.keys()].filter(path => !reply.has(path)).map(path => `- ${path}`),
    ...[...recording.keys()]
      .filter(path => reply.has(path) && parts(recording, path) !== parts(reply, path))
      .map(path => `~ ${path}: ${parts(recording, path)}, here ${parts(reply, path)}`),
  ].sort();
}

/** A market with a trade, two open orders of ann's and one partly filled. */
function stage() {
  const { exchange, ann, bob, clock } = arena();
  const house = exchange.marketplace('btc_mxn');
  for (let i = 1; i <= 3; i++) {
    house.place('buy', price(150_000 - i), amount(1000), 'GTC');
    house.place('sell', price(150_000 + i), amount(1000), 'GTC');
  }
  const usd = exchange.marketplace('usd_mxn');
  usd.place('buy', price(18_300), amount(10 ** 13), 'GTC');
  usd.place('sell', price(18_310), amount(10 ** 13), 'GTC');
  ann.limit('btc_mxn', 'sell', '1500000', '0.01');
  bob.limit('btc_mxn', 'buy', '1500000', '0.005');
  ann.limit('btc_mxn', 'buy', '1400000', '0.01');
  return { exchange, ann, clock };
}
type Stage = ReturnType<typeof stage>;

const open = (target: string) => (s: Stage) => JSON.parse(publicCall(s.exchange, target).text) as unknown;
const asAnn = (method: 'GET' | 'POST', target: string, body?: object) => (s: Stage) =>
  JSON.parse(s.ann.call(method, target, body).text) as unknown;

const LATER = 'the field was added to the wire after the recording';
const NEW_TICKER = {
  '+ payload.change_24': LATER,
  '+ payload.rolling_average_change': LATER,
  '+ payload.rolling_average_change.6': LATER,
};

type Case = readonly [string, unknown, (s: Stage) => unknown, Readonly<Record<string, string>>];

const CASES: readonly Case[] = [
  ['ticker of 2025', recorded('xchange-2025-06-05/ticker_btc_mxn_response.json'), open('/v3/ticker?book=btc_mxn'), {}],
  [
    'ticker of 2018',
    recorded('vcr-2018-2019/ticker_2018-07-18.json', 0, 'body'),
    open('/v3/ticker?book=btc_mxn'),
    NEW_TICKER,
  ],
  [
    'all tickers of 2017',
    recorded('bitso-java/publicTicker.json'),
    open('/v3/ticker'),
    Object.fromEntries(Object.entries(NEW_TICKER).map(([path, why]) => [path.replace('payload', 'payload[]'), why])),
  ],
  ['trades of 2017', recorded('bitso-java/publicTrades.json'), open('/v3/trades?book=btc_mxn'), {}],
  ['order book of 2017', recorded('bitso-java/publicOrderBook.json'), open('/v3/order_book?book=btc_mxn'), {}],
  [
    'available books of 2017',
    recorded('bitso-java/publicAvailableBooks.json'),
    open('/v3/available_books'),
    Object.fromEntries(
      [
        'default_chart',
        'margin_enabled',
        'tick_size',
        'fees',
        'fees.flat_rate',
        'fees.flat_rate.maker',
        'fees.flat_rate.taker',
        'fees.structure',
        'fees.structure[]',
        'fees.structure[].volume',
        'fees.structure[].maker',
        'fees.structure[].taker',
      ].map(path => [`+ payload[].${path}`, LATER]),
    ),
  ],
  [
    'available books of the other client',
    recorded('ccxt-static/available_books_from_markets_info_subset.json'),
    open('/v3/available_books'),
    { '+ payload[].margin_enabled': 'rest-api 2.7 has it; the recording is a copy inside another program and older' },
  ],
  [
    'placed order',
    recorded('bitso-java/privatePlaceOrder.json'),
    asAnn('POST', '/v3/orders', { book: 'btc_mxn', side: 'buy', type: 'limit', price: '1300000', major: '0.01' }),
    {},
  ],
  [
    'open orders of 2016',
    recorded('bitso-java/privateOpenOrders.json'),
    asAnn('GET', '/v3/open_orders'),
    { '+ payload[].time_in_force': LATER },
  ],
  [
    'error of 2026, of a ticker',
    recorded('wire-2026-09/rest_errors.json', 0, 'body'),
    open('/v3/ticker/?book=nope_usd'),
    {},
  ],
  ['error of 2026', recorded('wire-2026-09/rest_errors.json', 1, 'body'), open('/v3/order_book/?book=nope_usd'), {}],
  ['RFQ pairs', recorded('rfq-webhook/rfq.json', 'pairs_response'), asAnn('GET', '/rfq/v1/pairs'), {}],
  [
    'RFQ quote',
    recorded('rfq-webhook/rfq.json', 'quote_response_active'),
    asAnn('POST', '/rfq/v1/quotes', { source: 'USD', target: 'MXN', source_amount: '90000000' }),
    {},
  ],
  [
    'conversion quote',
    { success: true, payload: recorded('rfq-webhook/rfq.json', 'v4_conversion_quote') },
    asAnn('POST', '/v4/currency_conversions', { from_currency: 'mxn', to_currency: 'usd', receive_amount: '100' }),
    Object.fromEntries(
      [
        'padding',
        'estimated_slippage',
        'estimated_slippage.value',
        'estimated_slippage.level',
        'estimated_slippage.message',
        'next_recurrent_events',
        'next_recurrent_events.DAILY',
        'next_recurrent_events.WEEKLY',
        'next_recurrent_events.MONTHLY',
      ].map(path => [`+ payload.${path}`, 'rest-api 2.10 has it; the recording is of a client’s own test']),
    ),
  ],
];

describe.skipIf(missing)('a recorded reply has the keys and types of the embedded exchange', () => {
  it.each(CASES)('(%s), but for the differences that are listed', (_, theirs, ask, reasons) => {
    expect(differences(theirs, ask(stage()))).toEqual(Object.keys(reasons).sort());
  });

  it('(comparing finds what is more, less and other)', () => {
    expect(differences({ a: 1, b: [{ c: '1' }], d: 1 }, { a: '1', b: [{ c: '1', e: 1 }] })).toEqual([
      '+ b[].e',
      '- d',
      '~ a: number, here string',
    ]);
  });
});
