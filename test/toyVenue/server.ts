/** A second exchange, unlike the first in every spelling: a real HTTP server with real matching of limit orders at price and time. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const PAIR = 'XBT/USD';
/** Decimals of a price and of an amount: the pair says no tick, it says digits. */
export const PRICE_DIGITS = 1;
export const AMOUNT_DIGITS = 8;
/** Of values, which are exact: a price times an amount. */
const VALUE_DIGITS = PRICE_DIGITS + AMOUNT_DIGITS;
/** Two parts of ten thousand, of both sides, in USD, rounded up. */
const FEE = 2n;

type Way = 'B' | 'S';
type Row = Record<'owner' | 'tag' | 'end', string> &
  Record<'p' | 'q' | 'left', bigint> & { id: number; way: Way; ms: number };
type Print = Record<'p' | 'q' | 'fee', bigint> &
  Pick<Row, 'owner' | 'way' | 'ms'> & { n: number; of: number; rested: boolean };
type Fields = Readonly<Record<string, unknown>>;

/** What becomes of a placement on its way: its answer is lost, or the network brings it twice. */
export type Mishap = 'lost' | 'twice' | null;

class Refusal extends Error {
  readonly why: string;
  constructor(why: string) {
    super(why);
    this.why = why;
  }
}

export class ToyServer {
  readonly rows: Row[] = [];
  readonly prints: Print[] = [];
  /** Of the next placements. */
  readonly mishaps: Mishap[] = [];
  readonly #secrets: ReadonlyMap<string, string>;
  readonly #money = new Map<string, { XBT: bigint; USD: bigint }>();
  readonly #stamps = new Set<string>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #steps = 0;

  /** Secrets by key; each key is an account, with 10 XBT and 1000000 USD. */
  constructor(secrets: Readonly<Record<string, string>>) {
    this.#secrets = new Map(Object.entries(secrets));
    for (const key of [...this.#secrets.keys(), 'house'])
      this.#money.set(key, { XBT: units('10', AMOUNT_DIGITS), USD: units('1000000', VALUE_DIGITS) });
  }

  /** Its address, on a free port of this machine. */
  async listen(): Promise<string> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>(resolve => this.#server.close(() => resolve()));
  }

  live(owner: string): readonly Row[] {
    return this.rows.filter(row => row.owner === owner && row.end === '');
  }

  /** Of an account, in its own small units. */
  total(owner: string, coin: 'XBT' | 'USD'): string {
    return digits(this.#money.get(owner)![coin], coin === 'XBT' ? AMOUNT_DIGITS : VALUE_DIGITS);
  }

  /** Matches at the prices of those who rest, the oldest first at each, and rests what is left unless it only takes. */
  place(owner: string, { tag = '', way, price, qty, keep = 'rest' }: Fields): number {
    const [p, q] = [units(price, PRICE_DIGITS), units(qty, AMOUNT_DIGITS)];
    if (way !== 'B' && way !== 'S') throw new Refusal('E_WAY');
    if (p === 0n || q < 1_000n) throw new Refusal('E_STEP');
    if (tag !== '' && this.live(owner).some(row => row.tag === tag)) throw new Refusal('E_TAG_TAKEN');
    const against = this.#resting(way === 'B' ? 'S' : 'B').filter(row => (way === 'B' ? row.p <= p : row.p >= p));
    if (keep === 'maker' && against.length > 0) throw new Refusal('E_WOULD_TAKE');
    if (way === 'B' ? this.#free(owner, 'USD') < p * q : this.#free(owner, 'XBT') < q) throw new Refusal('E_FUNDS');
    const row: Row = {
      id: 1_000 + this.rows.length,
      owner,
      tag: String(tag),
      way,
      p,
      q,
      left: q,
      end: '',
      ms: Date.now(),
    };
    this.rows.push(row);
    for (const other of against) if (row.left > 0n) this.#trade(other, row);
    if (row.end === '' && keep === 'take') row.end = 'pulled';
    this.#steps++;
    return row.id;
  }

  #trade(rested: Row, taker: Row): void {
    const q = rested.left < taker.left ? rested.left : taker.left;
    const n = this.prints.length / 2 + 1;
    for (const row of [rested, taker]) {
      const money = this.#money.get(row.owner)!;
      const value = rested.p * q;
      const fee = (value * FEE + 9_999n) / 10_000n;
      money.XBT += row.way === 'B' ? q : -q;
      money.USD += (row.way === 'B' ? -value : value) - fee;
      row.left -= q;
      if (row.left === 0n) row.end = 'done';
      const { id: of, owner, way } = row;
      this.prints.push({ n, of, owner, way, p: rested.p, q, fee, rested: row === rested, ms: Date.now() });
    }
  }

  #resting(way: Way): Row[] {
    const sign = way === 'B' ? -1 : 1;
    const rows = this.rows.filter(row => row.way === way && row.end === '');
    return rows.sort((a, b) => sign * Number(a.p - b.p) || a.id - b.id);
  }

  #locked(owner: string, coin: 'XBT' | 'USD'): bigint {
    const of = this.live(owner).filter(({ way }) => (way === 'B') === (coin === 'USD'));
    return of.reduce((sum, { p, left }) => sum + (coin === 'USD' ? p * left : left), 0n);
  }

  #free(owner: string, coin: 'XBT' | 'USD'): bigint {
    return this.#money.get(owner)![coin] - this.#locked(owner, coin);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const answer = (status: number, reply: unknown) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
    try {
      const url = new URL(request.url ?? '/', 'http://toy');
      if (url.pathname.startsWith('/pub/')) answer(200, { ok: true, got: this.#told(url) });
      else {
        const owner = this.#ownerOf(request, url.pathname, body);
        const asked = JSON.parse(body) as Fields;
        const mishap = url.pathname === '/me/place' ? this.mishaps.shift() : null;
        let got = this.#done(owner, url.pathname, asked);
        if (mishap === 'lost') return void request.socket.destroy();
        if (mishap === 'twice') got = this.#done(owner, url.pathname, asked);
        answer(200, { ok: true, got });
      }
    } catch (error) {
      const why = error instanceof Refusal ? error.why : 'E_BROKEN';
      answer(why === 'E_BROKEN' ? 500 : 422, { ok: false, why, say: `refused: ${why}` });
    }
  }

  /** HMAC with SHA-512 over stamp, path and body between bars; a stamp is good once, in any order. */
  #ownerOf({ headers }: IncomingMessage, path: string, body: string): string {
    const [key, stamp, seal] = ['t-key', 't-stamp', 't-seal'].map(name => String(headers[name] ?? ''));
    const secret = this.#secrets.get(key!);
    if (secret === undefined) throw new Refusal('E_KEY');
    const right = sealOf(secret, stamp!, path, body);
    if (right.length !== seal!.length || !timingSafeEqual(Buffer.from(right), Buffer.from(seal!)))
      throw new Refusal('E_SEAL');
    if (this.#stamps.has(stamp!)) throw new Refusal('E_STAMP');
    this.#stamps.add(stamp!);
    return key!;
  }

  #told(url: URL): unknown {
    if (url.pathname === '/pub/pairs')
      return [{ pair: PAIR, priceDigits: PRICE_DIGITS, amountDigits: AMOUNT_DIGITS, least: '0.00001', most: '1000' }];
    if (url.searchParams.get('pair') !== PAIR) throw new Refusal('E_PAIR');
    if (url.pathname === '/pub/depth') {
      const side = (way: Way) => {
        const levels = new Map<bigint, bigint>();
        for (const { p, left } of this.#resting(way)) levels.set(p, (levels.get(p) ?? 0n) + left);
        return [...levels].slice(0, 20).map(([p, q]) => [digits(p, PRICE_DIGITS), digits(q, AMOUNT_DIGITS)]);
      };
      return { step: this.#steps + this.prints.length, ms: Date.now(), b: side('B'), s: side('S') };
    }
    if (url.pathname === '/pub/prints')
      return page(
        this.prints.filter(({ rested }) => rested),
        url.searchParams,
      ).map(shown);
    throw new Refusal('E_PATH');
  }

  #done(owner: string, path: string, asked: Fields): unknown {
    const mine = this.rows.filter(row => row.owner === owner);
    const named = () => {
      const [tags, ids] = [(asked['tags'] ?? []) as string[], (asked['ids'] ?? []) as number[]];
      if (tags.length + ids.length > 20) throw new Refusal('E_TOO_MANY');
      return mine.filter(({ tag, id }) => tags.includes(tag) || ids.includes(id));
    };
    switch (path) {
      case '/me/place':
        return { id: this.place(owner, asked) };
      case '/me/pull':
        return named().flatMap(row => {
          if (row.end !== '') return [];
          row.end = 'pulled';
          this.#steps++;
          return [row.id];
        });
      case '/me/orders':
        return named().map(shown);
      case '/me/live':
        return this.live(owner).slice(-Number(asked['most'])).map(shown);
      case '/me/prints': {
        const tagOf = (id: number) => mine.find(row => row.id === id)?.tag;
        const own = this.prints
          .filter(print => print.owner === owner)
          .filter(({ of }) => asked['of'] === undefined || asked['of'] === of);
        const query = new URLSearchParams(asked as Record<string, string>);
        return page(own, query).map(print => ({ ...shown(print), tag: tagOf(print.of) }));
      }
      case '/me/purse':
        return (['XBT', 'USD'] as const).map(coin => {
          const decimals = coin === 'XBT' ? AMOUNT_DIGITS : VALUE_DIGITS;
          return {
            coin,
            all: this.total(owner, coin),
            held: digits(this.#locked(owner, coin), decimals),
            free: digits(this.#free(owner, coin), decimals),
          };
        });
      default:
        throw new Refusal('E_PATH');
    }
  }
}

/** Base64. */
export const sealOf = (secret: string, stamp: string, path: string, body: string): string =>
  createHmac('sha512', secret).update(`${stamp}|${path}|${body}`).digest('base64');

/** Whole units of 10^-decimals; refuses other text. */
function units(text: unknown, decimals: number): bigint {
  const [, whole = '', fraction = ''] = /^(\d{1,12})(?:\.(\d+))?$/.exec(String(text)) ?? [];
  if (whole === '' || fraction.slice(decimals).replace(/0/g, '') !== '') throw new Refusal('E_STEP');
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
}

const digits = (n: bigint, decimals: number): string => {
  const text = String(n).padStart(decimals + 1, '0');
  return `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
};

/** Numbers as text. */
const shown = (of: Row | Print) => ({
  ...of,
  ...{ p: digits(of.p, PRICE_DIGITS), q: digits(of.q, AMOUNT_DIGITS) },
  ...('left' in of ? { left: digits(of.left, AMOUNT_DIGITS) } : { fee: digits(of.fee, VALUE_DIGITS) }),
});

/** Of those beyond `after`, upwards; or the newest first. */
function page(prints: readonly Print[], query: URLSearchParams): readonly Print[] {
  const [after, most] = [query.get('after'), Number(query.get('most') ?? 30)];
  if (!(most >= 1 && most <= 30)) throw new Refusal('E_TOO_MANY');
  if (query.get('up') === 'yes') return prints.filter(({ n }) => n > Number(after ?? 0)).slice(0, most);
  const before = prints.filter(({ n }) => after === null || n < Number(after));
  return before.slice(-most).reverse();
}
