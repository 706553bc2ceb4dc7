/** A plain caller of the second exchange for its tests: signs, calls in process, and parses. Shares nothing with the client of this project. */
import { createHmac } from 'node:crypto';
import { VirtualClock, type WireReply, type WireRequest } from '../../../src/core/index.ts';
import { createSecondExchange, type SecondExchange, type SecondSwitches } from '../../../src/sandbox/index.ts';

export type Told = {
  readonly status: number;
  readonly body: never;
  readonly headers: Readonly<Record<string, string>>;
};
/** An account with its key, as the exchange returns them when it opens one. */
export type Opened = ReturnType<SecondExchange['openAccount']>;
type Parameters = Readonly<Record<string, string | number>>;

export class Caller {
  readonly key: string;
  readonly secret: string;
  readonly id: string;
  readonly #exchange: SecondExchange;
  readonly #clock: { now(): number };

  constructor(exchange: SecondExchange, clock: { now(): number }, { key, secret, id }: Opened) {
    [this.key, this.secret, this.id] = [key, secret, id];
    this.#exchange = exchange;
    this.#clock = clock;
  }

  /** A signed request; `at` is its time. */
  signed(method: WireRequest['method'], path: string, fields: Parameters = {}, at = this.#clock.now()): WireRequest {
    const query = new URLSearchParams(
      Object.entries({ ...fields, timestamp: Math.floor(at) }).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]),
    ).toString();
    const signature = createHmac('sha256', this.secret).update(query).digest('hex');
    const target = `${path}?${query}&signature=${signature}`;
    return { method, target, headers: { 'x-mbx-apikey': this.key }, body: '' };
  }

  call(method: WireRequest['method'], path: string, fields: Parameters = {}): Told {
    return told(this.#exchange.respond(this.signed(method, path, fields), '127.0.0.1'));
  }

  /** The answer of a call that must succeed. */
  get<T>(method: WireRequest['method'], path: string, fields: Parameters = {}): T {
    const { status, body } = this.call(method, path, fields);
    if (status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(body)}`);
    return body;
  }

  /** Code of a call that must fail. */
  code(method: WireRequest['method'], path: string, fields: Parameters = {}): number {
    const { status, body } = this.call(method, path, fields);
    if (status === 200) throw new Error(`${method} ${path} succeeded: ${JSON.stringify(body)}`);
    return (body as { code: number }).code;
  }

  limit(side: string, price: string, quantity: string, more: Parameters = {}): Told {
    const order = { symbol: 'BTCUSDT', side, type: 'LIMIT', timeInForce: 'GTC', price, quantity };
    return this.call('POST', '/api/v3/order', { ...order, ...more });
  }
}

export const told = ({ status, body, headers }: WireReply): Told => ({
  status,
  body: (headers['content-type'] === 'application/json' ? JSON.parse(body) : body) as never,
  headers,
});

/** A public read. */
export const read = <T>(exchange: SecondExchange, target: string, peer = '127.0.0.1'): T =>
  told(exchange.respond({ method: 'GET', target, headers: {}, body: '' }, peer)).body;

export type Stage = {
  readonly clock: VirtualClock;
  readonly exchange: SecondExchange;
  readonly caller: (balances?: Record<string, string>) => Caller;
};

export const RICH = { btc: '100', usdt: '10000000', mxn: '100000000', bnb: '100' };

/** An exchange on a virtual clock without limits, unless a test asks for them. */
export function stage(switches: Partial<SecondSwitches> = {}, seed = 3): Stage {
  const clock = new VirtualClock();
  const exchange = createSecondExchange({ clock, seed, switches: { rateLimits: 'off', ...switches } });
  return {
    clock,
    exchange,
    caller: (balances = RICH) => new Caller(exchange, clock, exchange.openAccount({ balances })),
  };
}
