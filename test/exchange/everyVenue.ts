/** Clients of every registered exchange over a transport whose answers a test chooses. */
import {
  randomOf,
  Secret,
  unstored,
  VirtualClock,
  type ExchangeVenue,
  type Observation,
  type VenueClient,
  type WireReply,
  type WireRequest,
} from '../../src/core/index.ts';
import { SYMBOLS } from './binance/fakes.ts';
import { ASSET_PAIRS, ASSETS } from './kraken/scripted.ts';

/** Lists of books and times, by the end of the path. */
const LISTS: Readonly<Record<string, unknown>> = {
  Assets: { error: [], result: ASSETS },
  AssetPairs: { error: [], result: ASSET_PAIRS },
  exchangeInfo: SYMBOLS,
  time: { serverTime: 1_700_000_000_000 },
};

/** A book of each exchange. */
export const BOOKS: Readonly<Record<string, string>> = { bitso: 'btc_mxn', binance: 'btc_usdt', kraken: 'btc_usd' };

/** Returns the answer to a request for a list of books or the time; undefined for other requests. */
export function listAnswer({ target }: WireRequest): WireReply | undefined {
  const list = LISTS[new URL(target, 'http://127.0.0.1').pathname.split('/').at(-1)!];
  return list === undefined ? undefined : { status: 200, headers: {}, body: JSON.stringify(list) };
}

export type VenueClientOptions = {
  readonly book?: string;
  readonly key?: string;
  readonly secret?: string;
  readonly onRequest?: (seen: Observation) => void;
};

/** Returns a client of an exchange on a clock of its own. */
export function clientOn(
  venue: ExchangeVenue,
  send: (request: WireRequest) => Promise<WireReply>,
  { book, key = 'key', secret = 'c2VjcmV0', onRequest }: VenueClientOptions = {},
): { readonly client: VenueClient; readonly clock: VirtualClock } {
  const clock = new VirtualClock(1_700_000_000_000);
  const client = venue.connect({
    ...{ clock, random: randomOf(1), restUrl: venue.restUrl('http://127.0.0.1'), deadlineMs: 2_000, onRequest },
    book: book ?? BOOKS[venue.name]!,
    transport: { send, close: () => Promise.resolve() },
    credentials: { key, secret: new Secret(secret), nonceAbove: 0n, durable: unstored },
    budgets: { public: 10_000, private: 60 },
  });
  return { client, clock };
}

/** Lets the clock run until a call has ended, at most 200 s. Returns `null` if it has not. */
export async function endOf<T>(clock: VirtualClock, call: Promise<T>): Promise<T | null> {
  let isOver = false;
  const mark = (): void => void (isOver = true);
  void call.then(mark, mark);
  for (let n = 0; n < 200 && !isOver; n++) await clock.advance(1_000);
  return isOver ? call : null;
}
