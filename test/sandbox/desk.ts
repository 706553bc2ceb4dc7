/** For tests of the RFQ desk and the webhooks: books with known mids, a callback in process, and an exchange with both. */
import { amount, price, VirtualClock } from '../../src/core/index.ts';
import { createVenue, type DeliveryPort, type EmbeddedExchange, type Switches } from '../../src/sandbox/index.ts';
import { CALM, Trader } from './trader.ts';

/** Mids: 1 usd = 18.31 mxn, 1 btc = 1,500,000 mxn, 1 usdt = 18.3 mxn; nothing else has a price. */
export function stock(exchange: EmbeddedExchange): void {
  around(exchange, 'usd_mxn', 18_300, 18_320);
  around(exchange, 'btc_mxn', 149_999, 150_001);
  around(exchange, 'usdt_mxn', 18_290, 18_310);
}

export function around(exchange: EmbeddedExchange, book: string, bid: number, ask: number): void {
  const house = exchange.marketplace(book);
  house.place('buy', price(bid), amount(10 ** 11), 'GTC');
  house.place('sell', price(ask), amount(10 ** 11), 'GTC');
}

export type Transacted = Record<string, unknown> & { id: string; type: string; status: string; updated_at: string };

/** A callback that keeps what it is told. */
export class Callback implements DeliveryPort {
  readonly urls: string[] = [];
  readonly headers: Readonly<Record<string, string>>[] = [];
  readonly bodies: string[] = [];
  /** The status it answers with; 0 breaks the connection, -1 never answers. */
  answer: () => number = () => 200;

  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<number> {
    this.urls.push(url);
    this.headers.push(headers);
    this.bodies.push(body);
    const status = this.answer();
    if (status === 0) return Promise.reject(new Error('connection reset'));
    return status < 0 ? new Promise(() => undefined) : Promise.resolve(status);
  }

  get payloads(): Transacted[] {
    return this.bodies.map(body => (JSON.parse(body) as { payload: Transacted }).payload);
  }

  /** The particulars of one type, in the order of arrival. */
  told(type: string): Record<string, unknown>[] {
    return this.payloads.map(payload => payload[type] as Record<string, unknown>).filter(each => each !== undefined);
  }
}

export const CALLBACK = 'http://127.0.0.1:9999/hooks/secret';

/** In order, once, none left out, unless a test asks otherwise. */
const ORDERLY: Partial<Switches> = {
  webhookDelayMinMs: 0,
  webhookDelayMaxMs: 0,
  webhookSkipPips: 0,
  webhookRepeatPips: 0,
};

export function deskArena(switches: Partial<Switches> = {}, seed = 7) {
  const clock = new VirtualClock(1_790_000_000_000);
  const callback = new Callback();
  const exchange = createVenue({ clock, seed, deliveries: callback, switches: { ...CALM, ...ORDERLY, ...switches } });
  stock(exchange);
  const open = (balances: Record<string, string> = { mxn: '10000000', btc: '10', usd: '100000' }) =>
    new Trader(exchange, exchange.openAccount({ balances }));
  const ann = open();
  const register = (who: Trader, url = CALLBACK) =>
    who.call('POST', '/v4/webhooks', { callback_url: url, events: ['TRANSACTION'] });
  return { clock, exchange, callback, open, ann, bob: open(), register };
}

/** Money paid in, less what everybody holds: none made, none lost. */
export const conserved = (exchange: EmbeddedExchange): boolean =>
  [...exchange.truth().imbalance.values()].every(sum => sum === 0n);
