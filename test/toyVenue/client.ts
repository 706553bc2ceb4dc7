/** The toy exchange behind the public ports: every word of it is translated here, and nowhere else. */
import type * as ports from '../../src/core/index.ts';
import type { Outcome } from '../../src/core/index.ts';
import { sealOf } from './server.ts';

/** The line by which the registry of venues has it: `VENUES.push(toy)`. */
export const toy: ports.ExchangeVenue = {
  name: 'toy',
  restUrl: address => address,
  orderIds: { instanceMax: 12, runMax: Number.MAX_SAFE_INTEGER, counterMax: 99_999_999 },
  connect,
  meaningOf: code => MEANINGS[code],
};

const MEANINGS: Readonly<Record<string, ports.Meaning>> = {
  E_TAG_TAKEN: 'duplicate id',
  E_STAMP: 'nonce',
  E_KEY: 'person',
  E_SEAL: 'person',
  E_PAIR: 'rules',
  E_STEP: 'rules',
};

const COINS: Readonly<Record<string, string>> = { XBT: 'btc', USD: 'usd' };
const ours = (coin: string): string => COINS[coin] ?? coin.toLowerCase();
const theirs = (currency: string): string =>
  Object.keys(COINS).find(coin => COINS[coin] === currency) ?? currency.toUpperCase();
const bookOf = (pair: string): string => pair.split('/').map(ours).join('_');
const pairOfBook = (book: string): string => book.split('_').map(theirs).join('/');

const NAMES_MAX = 20;
const KEEP = {
  'post only': 'maker',
  'immediate or cancel': 'take',
  'good till canceled': 'rest',
  'fill or kill': 'all',
} as const;

type Told = Record<'tag' | 'p' | 'q' | 'left' | 'end', string> & { id: number; way: 'B' | 'S'; ms: number };
type Print = Omit<Told, 'id' | 'left' | 'end'> & { n: number; of: number; fee: string; rested: boolean };
type Depth = { step: number; ms: number; b: [string, string][]; s: [string, string][] };
type Ids = { readonly oids: readonly string[] } | { readonly originIds: readonly string[] };

const sideOf = (way: 'B' | 'S'): ports.Side => (way === 'B' ? 'buy' : 'sell');
const done = <T>(value: T): Outcome<T> => ({ kind: 'done', value });
const map = <T, U>(outcome: Outcome<T>, to: (value: T) => U): Outcome<U> =>
  outcome.kind === 'done' ? done(to(outcome.value)) : outcome;

/** Nanoseconds since 1970, each once. */
function stamps(clock: ports.Clock, above: bigint): ports.NonceSource {
  let last = above;
  return {
    ordered: false,
    last: () => last,
    next: () => {
      const now = BigInt(Math.floor(clock.now())) * 1_000_000n;
      return String((last = now > last ? now : last + 1n));
    },
  };
}

function connect({ clock, restUrl, credentials, deadlineMs, onRequest }: ports.Connection): ports.Exchange {
  const source = credentials && stamps(clock, credentials.nonceAbove);
  const nonces = source && credentials.durable(source);
  let isClosed = false;
  const underWay = new Set<Promise<unknown>>();

  async function sent<T>(path: string, init: RequestInit): Promise<Outcome<T>> {
    if (isClosed) return { kind: 'refused', code: 'closed', message: 'the exchange client is closed' };
    try {
      const reply = await fetch(`${restUrl}${path}`, { ...init, signal: AbortSignal.timeout(deadlineMs) });
      const told = (await reply.json()) as { ok: boolean; got?: T; why?: string; say?: string };
      if (told.ok) return done(told.got as T);
      if (reply.status >= 500) return { kind: 'unknown', reason: `HTTP ${reply.status}` };
      const code = told.why ?? 'no word';
      const meaning = MEANINGS[code];
      return { kind: 'refused', code, message: told.say ?? '', status: reply.status, ...(meaning && { meaning }) };
    } catch (error) {
      const cause = error instanceof Error ? (error.cause as { code?: string } | undefined) : undefined;
      const never = cause?.code === 'ECONNREFUSED';
      return never
        ? { kind: 'refused', code: 'not-sent', message: String(error) }
        : { kind: 'unknown', reason: String(error) };
    }
  }

  /** Told to whoever counts requests. */
  async function asked<T>(path: string, init: RequestInit): Promise<Outcome<T>> {
    const from = clock.elapsed();
    const flight = sent<T>(path, init);
    underWay.add(flight);
    const outcome = await flight.finally(() => underWay.delete(flight));
    onRequest?.({ endpoint: path.split('?')[0]!, outcome: outcome.kind, ms: clock.elapsed() - from });
    return outcome;
  }

  const pub = <T>(what: string, query: Record<string, string> = {}) =>
    asked<T>(`/pub/${what}?${new URLSearchParams(query).toString()}`, {});

  async function me<T>(what: string, fields: object = {}): Promise<Outcome<T>> {
    if (!credentials || !nonces) return { kind: 'refused', code: 'not-sent', message: `${what} needs a key` };
    const [path, body, stamp] = [`/me/${what}`, JSON.stringify(fields), nonces.next()];
    const seal = sealOf(credentials.secret.reveal(), stamp, path, body);
    const headers = { 't-key': credentials.key, 't-stamp': stamp, 't-seal': seal };
    return asked<T>(path, { method: 'POST', body, headers });
  }

  /** In requests of so many names; done when all of them are. */
  async function named<T>(what: string, of: Ids): Promise<Outcome<readonly T[]>> {
    const all = 'oids' in of ? of.oids.map(Number) : of.originIds;
    const found: T[] = [];
    for (let i = 0; i < all.length; i += NAMES_MAX) {
      const some = all.slice(i, i + NAMES_MAX);
      const outcome = await me<readonly T[]>(what, 'oids' in of ? { ids: some } : { tags: some });
      if (outcome.kind !== 'done') return outcome;
      found.push(...outcome.value);
    }
    return done(found);
  }

  const cursor = ({ marker, limit, sort }: ports.Page) => ({
    ...(marker === undefined ? {} : { after: marker }),
    ...(limit === undefined ? {} : { most: String(limit) }),
    ...(sort === 'asc' ? { up: 'yes' } : {}),
  });

  return {
    limits: { ordersPage: 50, tradesPage: 30, depth: 20 },
    availableBooks: async () =>
      map(await pub<readonly { pair: string; priceDigits: number; least: string; most: string }[]>('pairs'), pairs =>
        pairs.map(({ pair, priceDigits, least, most }) => ({
          book: bookOf(pair),
          tickSize: priceDigits === 0 ? '1' : `0.${'1'.padStart(priceDigits, '0')}`,
          ...{ minimumAmount: least, maximumAmount: most, minimumPrice: '1', maximumPrice: '10000000' },
          ...{ minimumValue: '0.1', maximumValue: '10000000', tiers: [] },
        })),
      ),
    orderBook: async book =>
      map(await pub<Depth>('depth', { pair: pairOfBook(book) }), ({ step, ms, b, s }) => {
        return { book, sequence: BigInt(step), updatedAt: ms, bids: b.map(entry), asks: s.map(entry) };
      }),
    trades: async (book, of = {}) =>
      map(await pub<readonly Print[]>('prints', { pair: pairOfBook(book), ...cursor(of) }), prints =>
        prints.map(({ n, way, p: price, q: amount, ms: createdAt }) => {
          return { book, tid: String(n), createdAt, price, amount, makerSide: sideOf(way) };
        }),
      ),
    balances: async () =>
      map(await me<readonly Record<'coin' | 'all' | 'held' | 'free', string>[]>('purse'), purse =>
        purse.map(({ coin, all: total, held: locked, free: available }) => {
          return { currency: ours(coin), total, locked, available };
        }),
      ),
    fees: () => Promise.resolve(done([{ book: 'btc_usd', maker: '0.0002', taker: '0.0002' }])),
    openOrders: async ({ limit = 50 }) =>
      map(await me<readonly Told[]>('live', { most: limit }), rows => rows.map(reportOf)),
    userTrades: async page => map(await me<readonly Print[]>('prints', cursor(page)), prints => prints.map(ownTrade)),
    orderTrades: async of => {
      const ids: Outcome<readonly { readonly id: number }[]> =
        'oid' in of
          ? { kind: 'done', value: [{ id: Number(of.oid) }] }
          : await named<Told>('orders', { originIds: [of.originId] });
      const found = ids.kind === 'done' ? ids.value[0] : undefined;
      if (!found) return map(ids, () => []);
      return map(await me<readonly Print[]>('prints', { of: found.id, up: 'yes' }), prints => prints.map(ownTrade));
    },
    lookUp: async of => map(await named<Told>('orders', of), rows => rows.map(reportOf)),
    place: async ({ side, price, major, originId, timeInForce }, isWanted = () => true) => {
      if (!isWanted()) return { kind: 'refused', code: 'not-sent', message: 'not wanted any more' };
      const way = side === 'buy' ? 'B' : 'S';
      const fields = { tag: originId, pair: 'XBT/USD', way, price, qty: major, keep: KEEP[timeInForce] };
      return map(await me<{ id: number }>('place', fields), ({ id }) => ({ oid: String(id) }));
    },
    cancel: async of => map(await named<number>('pull', of), ids => ids.map(String)),
    budget: () => ({ public: 1_000, private: 1_000 }),
    close: async () => {
      isClosed = true;
      await Promise.allSettled([...underWay]);
    },
  };
}

const entry = ([price, amount]: [string, string]) => ({ price, amount });

function reportOf({ id, tag, way, p, q, left, end, ms }: Told): ports.OrderReport {
  const live = left === q ? 'open' : 'partially filled';
  const status = end === '' ? live : end === 'done' ? 'completed' : 'cancelled';
  const [price, originalAmount, unfilledAmount] = [p, q, left];
  const common = { book: 'btc_usd', oid: String(id), side: sideOf(way), type: 'limit', createdAt: ms } as const;
  return { ...common, status, price, originalAmount, unfilledAmount, ...(tag === '' ? {} : { originId: tag }) };
}

function ownTrade({ n, of, tag, way, p, q, fee, rested, ms }: Print): ports.OwnTrade {
  const value = product(p, q);
  return {
    ...{ book: 'btc_usd', tid: String(n), oid: String(of), createdAt: ms, side: sideOf(way), price: p },
    ...{ major: q, minor: value, feeAmount: fee, feeCurrency: 'usd', maker: rested },
    ...(tag === '' ? {} : { originId: tag }),
  };
}

/** Exact: whole digits are multiplied. */
function product(a: ports.DecimalText, b: ports.DecimalText): ports.DecimalText {
  const decimals = (a.split('.')[1] ?? '').length + (b.split('.')[1] ?? '').length;
  const text = String(BigInt(a.replace('.', '')) * BigInt(b.replace('.', ''))).padStart(decimals + 1, '0');
  return decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
}
