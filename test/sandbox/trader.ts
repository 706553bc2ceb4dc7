/** A plain caller of the embedded exchange for its tests: signs, calls in process, and parses. Shares nothing with the client of this project. */
import { createHmac } from 'node:crypto';
import { VirtualClock, type WireReply, type WireRequest } from '../../src/core/index.ts';
import { createVenue, type EmbeddedExchange, type Switches } from '../../src/sandbox/index.ts';

export type Reply = { status: number; body: Body; headers: Readonly<Record<string, string>>; text: string };
export type Body = { success: boolean; payload: never; error: { code: string; message: string; details: unknown[] } };

/** No delays and no budgets, unless a test asks for them. */
export const CALM: Partial<Switches> = {
  engineDelayMinMs: 0,
  engineDelayMaxMs: 0,
  tradeRecordDelayMs: 0,
  rateLimits: 'off',
};

export class Trader {
  readonly key: string;
  readonly secret: string;
  readonly id: string;
  readonly #exchange: EmbeddedExchange;
  #nonce = 1_789_000_000_000_100_000n;

  constructor(exchange: EmbeddedExchange, account: { key: string; secret: string; id: string }) {
    this.#exchange = exchange;
    ({ key: this.key, secret: this.secret, id: this.id } = account);
  }

  nonce(): string {
    return String(++this.#nonce);
  }

  headers(method: string, target: string, body: string, nonce = this.nonce()): Record<string, string> {
    const signature = createHmac('sha256', this.secret)
      .update(nonce + method + target + body)
      .digest('hex');
    return { authorization: `Bitso ${this.key}:${nonce}:${signature}` };
  }

  call(method: WireRequest['method'], target: string, fields?: unknown): Reply {
    const body = fields === undefined ? '' : JSON.stringify(fields);
    return read(
      this.#exchange.respond({ method, target, headers: this.headers(method, target, body), body }, '127.0.0.1'),
    );
  }

  /** The payload of a call that must succeed. */
  get<T>(method: WireRequest['method'], target: string, fields?: unknown): T {
    const reply = this.call(method, target, fields);
    if (!reply.body.success) throw new Error(`${method} ${target}: ${reply.text}`);
    return reply.body.payload;
  }

  /** Places and returns the oid; the code when refused. */
  place(fields: Record<string, unknown>): string {
    const reply = this.call('POST', '/api/v3/orders', { type: 'limit', ...fields });
    return reply.body.success ? (reply.body.payload as { oid: string }).oid : reply.body.error.code;
  }

  limit(book: string, side: string, price: string, major: string, more: Record<string, unknown> = {}): string {
    return this.place({ book, side, price, major, ...more });
  }

  balance(currency: string): { total: string; locked: string; available: string } {
    const { balances } = this.get<{
      balances: { currency: string; total: string; locked: string; available: string }[];
    }>('GET', '/api/v3/balance');
    return balances.find(b => b.currency === currency)!;
  }

  order(oid: string): Record<string, string | null> | undefined {
    return this.get<Record<string, string | null>[]>('GET', `/api/v3/orders/${oid}`)[0];
  }
}

export function read(reply: WireReply): Reply {
  return {
    status: reply.status,
    headers: reply.headers,
    text: reply.body,
    body: (reply.body === '' ? {} : JSON.parse(reply.body)) as Body,
  };
}

export function publicCall(exchange: EmbeddedExchange, target: string, method: WireRequest['method'] = 'GET'): Reply {
  return read(exchange.respond({ method, target, headers: {}, body: '' }, '10.0.0.1'));
}

/** An exchange on a virtual clock with one funded account (or more). */
export function arena(switches: Partial<Switches> = {}, seed = 7) {
  const clock = new VirtualClock(1_790_000_000_000);
  const exchange = createVenue({ clock, seed, switches: { ...CALM, ...switches } });
  const open = (balances: Record<string, string> = { mxn: '10000000', btc: '10', usd: '100000', eth: '50' }) =>
    new Trader(exchange, exchange.openAccount({ balances }));
  return { clock, exchange, open, ann: open(), bob: open() };
}
