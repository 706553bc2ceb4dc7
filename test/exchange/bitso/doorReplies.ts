/** A reply to each call of the client, as the embedded exchange writes it, and ways to change one field of it. */
import { amount, price, type Outcome } from '../../../src/core/index.ts';
import type { Client } from '../../../src/exchange/bitso/client.ts';
import { arena, publicCall } from '../../sandbox/trader.ts';
import { json, scriptedClient } from './fakes.ts';

export type Call = (client: Client) => Promise<Outcome<unknown>>;
export type Path = readonly (string | number)[];

const HOOK = { callback_url: 'http://127.0.0.1:9/hook', events: ['TRANSACTION'] };
const RFQ = { source: 'MXN', target: 'USD', source_amount: '100' };

/** Replies as the embedded exchange writes them, each with the call that reads it. */
function replies(): readonly (readonly [string, unknown, Call])[] {
  const { exchange, ann, bob } = arena();
  const usd = exchange.marketplace('usd_mxn');
  usd.place('buy', price(18_300), amount(10 ** 13), 'GTC');
  usd.place('sell', price(18_310), amount(10 ** 13), 'GTC');
  ann.limit('btc_mxn', 'sell', '1500000', '0.01', { origin_id: 'a', margin_order_type: 'CROSS_MARGIN' });
  bob.limit('btc_mxn', 'buy', '1500000', '0.005');
  ann.limit('btc_mxn', 'buy', '1400000', '0.01');
  const open = (target: string): unknown => JSON.parse(publicCall(exchange, target).text);
  const mine = (method: 'GET' | 'POST' | 'PUT', target: string, body?: object): unknown =>
    JSON.parse(ann.call(method, target, body).text);
  const ask = { from_currency: 'mxn', to_currency: 'usd', spend_amount: '100' };
  const quote = mine('POST', '/v4/currency_conversions', ask) as { payload: { id: string } };
  const started = mine('PUT', `/v4/currency_conversions/${quote.payload.id}`) as { payload: { oid: string } };
  const rfq = mine('POST', '/rfq/v1/quotes', RFQ) as { id: string };
  return [
    ['available_books', open('/v3/available_books'), c => c.availableBooks()],
    ['order_book', open('/v3/order_book?book=btc_mxn'), c => c.orderBook('btc_mxn')],
    ['trades', open('/v3/trades?book=btc_mxn'), c => c.trades('btc_mxn')],
    ['ticker', open('/v3/ticker?book=btc_mxn'), c => c.ticker('btc_mxn')],
    [
      'ohlc',
      open('/v3/ohlc?book=btc_mxn&time_bucket=60'),
      c => c.candles({ book: 'btc_mxn', seconds: 60, from: 0, to: 1 }),
    ],
    ['balance', mine('GET', '/v3/balance'), c => c.balances()],
    ['fees', mine('GET', '/v3/fees'), c => c.feeSchedule()],
    ['open_orders', mine('GET', '/v3/open_orders'), c => c.openOrders()],
    ['orders', mine('GET', '/v3/orders?origin_ids=a'), c => c.order('a')],
    ['user_trades', mine('GET', '/v3/user_trades'), c => c.userTrades()],
    ['account_status', mine('GET', '/v3/account_status'), c => c.accountStatus()],
    ['conversion quote', quote, c => c.requestConversion({ from: 'mxn', to: 'usd', spend: '100' })],
    ['conversion', mine('GET', `/v4/currency_conversions/${started.payload.oid}`), c => c.conversion('x')],
    ['RFQ pairs', mine('GET', '/rfq/v1/pairs'), c => c.rfq.pairs()],
    ['RFQ quote', rfq, c => c.rfq.quote('x')],
    ['RFQ conversion', mine('POST', '/rfq/v1/conversions', { quote_id: rfq.id }), c => c.rfq.conversion('x')],
    ['RFQ conversions', mine('GET', '/rfq/v1/conversions?page_size=1'), c => c.rfq.conversions()],
    ['order_trades', mine('GET', '/v3/order_trades?origin_id=a'), c => c.orderTrades({ originId: 'a' })],
    ['ledger', mine('GET', '/v3/ledger/fundings'), c => c.transferLines('fundings', { limit: 25 })],
    ['webhook registration', mine('POST', '/v4/webhooks', HOOK), c => c.registerWebhook(HOOK.callback_url)],
  ];
}
export const REPLIES = replies();

export const asking = (reply: unknown, call: Call): Promise<Outcome<unknown>> =>
  call(scriptedClient(() => json(typeof reply === 'string' ? reply : JSON.stringify(reply))).client);

/** Paths to every value, of lists to the first element only: the others are read by the same line. */
export function leaves(value: unknown, at: Path = []): readonly Path[] {
  if (Array.isArray(value)) return value.length === 0 ? [] : leaves(value[0], [...at, 0]);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, each]) => leaves(each, [...at, name]));
  return [at];
}

export const valueAt = (of: unknown, path: Path): unknown =>
  path.reduce<unknown>((at, key) => (at as Record<string | number, unknown>)[key], of);

/** A copy with another value at a path. */
export function changed(of: unknown, path: Path, to: unknown): unknown {
  const copy = structuredClone(of);
  (valueAt(copy, path.slice(0, -1)) as Record<string | number, unknown>)[path.at(-1)!] = to;
  return copy;
}
