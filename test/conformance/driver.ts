/**
 * One suite, three ways: every test of a file runs against the embedded exchange in process, again over sockets, both without delays and limits, and
 * again with the switches as they are shipped. `npm test` keeps the sockets for the files about the connection itself.
 */
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import {
  randomOf,
  Secret,
  VirtualClock,
  type Outcome,
  type Transport,
  type WireReply,
  type WireRequest,
} from '../../src/core/index.ts';
import { exchangeClient, httpTransport, type Client } from '../../src/exchange/index.ts';
import {
  createVenue,
  serve,
  type AccountOptions,
  type EmbeddedExchange,
  type Marketplace,
  type Served,
  type Switches,
} from '../../src/sandbox/index.ts';
import { few } from '../many.ts';
import { CALM, Trader } from '../sandbox/trader.ts';
import { RULES, type Group, type Row } from './rules/index.ts';

type Method = WireRequest['method'];
export type Fields = Readonly<Record<string, unknown>>;

/** A reply with its body parsed; an empty body is an empty object. */
export type Answer = {
  readonly status: number;
  readonly headers: WireReply['headers'];
  readonly text: string;
  readonly body: Fields;
  /** Throws, with the whole reply, when the request was refused. */
  readonly payload: <T = Fields>() => T;
  /** Code of the refusal; undefined when there was none. */
  readonly code: string | undefined;
};

/** An account, with the real client and with hand-made requests. */
export type Member = {
  readonly id: string;
  readonly key: string;
  readonly client: Client;
  /** A signed request; `more` overrides headers. */
  readonly call: (method: Method, target: string, fields?: unknown, more?: WireRequest['headers']) => Promise<Answer>;
  /** The headers that sign a request. */
  readonly headers: (method: Method, target: string, body: string, nonce?: string) => Record<string, string>;
  readonly get: <T = Fields>(target: string) => Promise<T>;
  readonly limit: (side: 'buy' | 'sell', price: string, major: string, more?: Fields) => Promise<string>;
};

export type Stage = {
  readonly exchange: EmbeddedExchange;
  readonly clock: VirtualClock;
  readonly ann: Member;
  readonly bob: Member;
  readonly house: (book: string) => Marketplace;
  readonly member: (options: AccountOptions) => Member;
  /** A request as it is, unsigned unless `headers` sign it. */
  readonly send: (method: Method, target: string, headers?: WireRequest['headers'], body?: string) => Promise<Answer>;
  /** A client without a key, and one with any credentials. */
  readonly stranger: Client;
  readonly client: (key: string, secret: string, headers?: 'authorization' | 'three') => Client;
};

/**
 * Opens a fresh exchange; the one before it is closed. With the shipped delays `PACE_MS` pass after each request, as they do for any client, so
 * that the engine has decided; not for a test that gives its reason why no time may pass but what it lets pass.
 */
export type Open = (switches?: Partial<Switches>, noPaceBecause?: string) => Stage;

/** More than the longest shipped delay of the engine and the delay of a trade's record together. */
const PACE_MS = 50;

const RICH = { balances: { mxn: '10000000', btc: '10', usd: '100000', eth: '50' } };
const OPENED = 1_790_000_000_000;
const NO_LIMIT = { public: 1_000_000, private: 1_000_000 };

/** Ways in which a client reaches the exchange: without and with the shipped delays, and over a real connection. */
type Way = 'in process' | 'over HTTP' | 'as shipped';
export const WAYS: readonly Way[] = ['in process', 'as shipped', 'over HTTP'];

export function everyWay(suite: (open: Open) => void, ways: readonly Way[] = few(WAYS, 2)): void {
  describe.each(ways)('%s', way => {
    let exchange: EmbeddedExchange | undefined;
    let served: Served | undefined;
    let transport: Transport;
    let pace: () => Promise<void> = async () => undefined;
    const respond = (request: WireRequest, peer: string): WireReply => exchange!.respond(request, peer);

    beforeAll(async () => {
      if (way !== 'over HTTP') {
        const send: Transport['send'] = async request => {
          const reply = respond(request, '127.0.0.1');
          await pace();
          return reply;
        };
        transport = { send, close: async () => undefined };
        return;
      }
      served = await serve({ respond }, { host: '127.0.0.1', port: 0 });
      transport = httpTransport({ origin: served.url, deadlineMs: 20_000 });
    });
    afterEach(() => exchange?.close());
    afterAll(async () => {
      await transport.close();
      await served?.close();
    });

    suite((switches, noPaceBecause) => {
      exchange?.close();
      const clock = new VirtualClock(OPENED);
      const isShipped = way === 'as shipped';
      exchange = createVenue({ clock, seed: 7, switches: { ...(isShipped ? {} : CALM), ...switches } });
      pace = async () => {
        if (isShipped && noPaceBecause === undefined) await clock.advance(PACE_MS);
      };
      return stageOf(exchange, clock, transport);
    });
  });
}

function stageOf(exchange: EmbeddedExchange, clock: VirtualClock, transport: Transport): Stage {
  const send: Stage['send'] = async (method, target, headers = {}, body = '') =>
    answerOf(await transport.send({ method, target, headers, body }));
  const asking = { transport, clock, budgets: NO_LIMIT };
  const client: Stage['client'] = (key, secret, headers = 'authorization') =>
    exchangeClient({ ...asking, random: randomOf(5), credentials: { key, secret: new Secret(secret), headers } });

  const member: Stage['member'] = options => {
    const trader = new Trader(exchange, exchange.openAccount(options));
    const call: Member['call'] = (method, target, fields, more = {}) => {
      const body = fields === undefined ? '' : typeof fields === 'string' ? fields : JSON.stringify(fields);
      return send(method, target, { ...trader.headers(method, target, body), ...more }, body);
    };
    return {
      id: trader.id,
      key: trader.key,
      client: client(trader.key, trader.secret),
      call,
      headers: (...of) => trader.headers(...of),
      get: async target => (await call('GET', target)).payload(),
      limit: async (side, price, major, more = {}) => {
        const order = { book: 'btc_mxn', side, type: 'limit', price, major, ...more };
        return (await call('POST', '/api/v3/orders', order)).payload<{ oid: string }>().oid;
      },
    };
  };
  return {
    exchange,
    clock,
    ann: member(RICH),
    bob: member(RICH),
    house: book => exchange.marketplace(book),
    member,
    send,
    stranger: exchangeClient({ ...asking, random: randomOf(6) }),
    client,
  };
}

function answerOf({ status, headers, body: text }: WireReply): Answer {
  const body = (text === '' ? {} : JSON.parse(text)) as Fields;
  type Error = { readonly code?: unknown };
  const [first] = (body['errors'] ?? []) as Error[];
  const error = (body['error'] as Error | undefined) ?? first;
  return {
    status,
    headers,
    text,
    body,
    payload: <T>() => {
      if (body['success'] !== true) throw new Error(`HTTP ${status} ${text}`);
      return body['payload'] as T;
    },
    code: error === undefined ? undefined : String(error.code),
  };
}

/** The value of an outcome that must be done. */
export function done<T>(outcome: Outcome<T>): T {
  if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome));
  return outcome.value;
}

/** The code of an outcome that must be a refusal. */
export function refusal(outcome: Outcome<unknown>): string {
  if (outcome.kind !== 'refused')
    throw new Error(JSON.stringify(outcome, (_, v: unknown) => (typeof v === 'bigint' ? String(v) : v)));
  return outcome.code;
}

type Doc = Group['doc'];

/** The field rows of a section, to make one test of each. */
export const fieldsOf = (doc: Doc, section: string): (Row & { word: string })[] =>
  rowsOf(doc, section, 'field').map(row => ({
    ...row,
    word: `${row.shape!.word}${row.sometimes ? ', where there is one' : ''}`,
  }));

/** The same of its errors. */
export const errorsOf = (doc: Doc, section: string): readonly Row[] => rowsOf(doc, section, 'error');

function rowsOf(doc: Doc, section: string, kind: Row['kind']): readonly Row[] {
  const group = RULES.find(each => each.doc === doc && each.section === section);
  if (!group) throw new Error(`no section ${section} in ${doc}`);
  return group.rows.filter(row => row.kind === kind);
}

/** Trades of ann (maker, with an id of hers) and bob (taker) in btc_mxn: `count` of 0.01 at 1,500,000 upwards by ticks. */
export async function traded({ ann, bob }: Stage, count = 1, more: Fields = {}): Promise<void> {
  for (let i = 0; i < count; i++) {
    const price = String(1_500_000 + 10 * i);
    await ann.limit('sell', price, '0.01', { origin_id: `ann-${i}`, ...more });
    await bob.limit('buy', price, '0.01', more);
  }
}
