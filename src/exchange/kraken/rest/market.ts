/** Public endpoints: rules, book and trades. */
import {
  byTradeNumber,
  type AvailableBook,
  type BookSnapshot,
  type Clock,
  type Outcome,
  type Page,
  type PublicTrade,
} from '../../../core/index.ts';
import type { KrakenAsk, KrakenRequest } from '../wire/protocol.ts';
import { timedSequence } from '../wire/sequence.ts';
import type { Pairs } from './pairs.ts';
import type { KrakenPair } from '../wire/names.ts';
import { depth, krakenTrades, type TimedTrade } from '../wire/replies.ts';
import { doneWith } from '../../wire/requestParts.ts';
import { fault } from '../../wire/wire.ts';
import { buildAndSend } from '../../transport/requestSender.ts';

/** Levels per side of a book. The exchange returns up to 500. */
export const DEPTH = 100;
/** Maximum number of trades in a reply of the exchange. */
const TRADES_MAX = 1_000;
/** Number of trade times that are kept for each book, so that a later page can continue after one of these trades. */
const TIMES_KEPT = 5_000;

/** Returns the public endpoints. A call about a book reads the list of books first. */
export function marketEndpoints(ask: KrakenAsk, pairs: Pairs, clock: Clock) {
  /** Times of trades in nanoseconds, by book and trade id, the newest last. */
  const times = new Map<string, Map<string, bigint>>();
  const nextSequence = timedSequence(clock);

  async function orderBook(book: string): Promise<Outcome<BookSnapshot>> {
    const found = await pairs.of(book);
    if (found.kind !== 'done') return found;
    const { pair } = found.value;
    // The book is at least as new as its request, so the number is taken before the request.
    const number = nextSequence();
    const path = `/public/Depth?${new URLSearchParams({ pair: pair.id, count: String(DEPTH) }).toString()}`;
    return ask(publicGet('Depth', path, result => depth(pair, number, clock.now())(result)));
  }

  async function trades(book: string, page: Page = {}): Promise<Outcome<readonly PublicTrade[]>> {
    const found = await pairs.of(book);
    if (found.kind !== 'done') return found;
    return buildAndSend(ask, () => tradesRequest(found.value.pair, page));
  }

  /**
   * Returns the request for a page of trades. The exchange lists the trades since a time, oldest first, or the latest
   * trades. If the time of the marker trade is no longer known, the latest trades are read, and they must reach back to
   * the marker.
   */
  function tradesRequest(
    pair: KrakenPair,
    { marker, limit = 50, sort = 'desc' }: Page,
  ): KrakenRequest<readonly PublicTrade[]> {
    const { book } = pair.rules;
    if (!(Number.isSafeInteger(limit) && limit >= 1 && limit <= TRADES_MAX))
      throw fault('limit', `1 to ${TRADES_MAX}`, limit);
    if (marker !== undefined && !/^\d{1,19}$/.test(marker)) throw fault('marker', 'a trade id', marker);
    if (marker !== undefined && sort === 'desc')
      throw fault('sort', 'asc with a marker, because the exchange lists only the trades after the marker', sort);
    const since = marker === undefined ? undefined : times.get(book)?.get(marker);
    const query = new URLSearchParams({
      pair: pair.id,
      // One nanosecond earlier, so that the marker itself is in the page and proves that no trade is missing.
      ...(since === undefined ? {} : { since: String(since - 1n) }),
      count: String(marker === undefined ? limit : TRADES_MAX),
    });
    return publicGet('Trades', `/public/Trades?${query.toString()}`, result => {
      const found = [...krakenTrades(pair)(result)].sort(byTradeNumber);
      remember(book, found);
      if (marker === undefined) return sort === 'asc' ? found.slice(-limit) : found.reverse().slice(0, limit);
      const first = found[0];
      if (first !== undefined && BigInt(first.tid) > BigInt(marker) + 1n)
        throw fault('trades', `trades from ${marker} on`, first.tid);
      return found.filter(({ tid }) => BigInt(tid) > BigInt(marker)).slice(0, limit);
    });
  }

  function remember(book: string, found: readonly TimedTrade[]): void {
    const known = times.get(book) ?? new Map<string, bigint>();
    times.set(book, known);
    for (const { tid, atNanos } of found) known.set(tid, atNanos);
    for (const old of known.keys()) {
      if (known.size <= TIMES_KEPT) break;
      known.delete(old);
    }
  }

  return {
    availableBooks: async (): Promise<Outcome<readonly AvailableBook[]>> => {
      const outcome = await pairs.read();
      if (outcome.kind !== 'done') return outcome;
      const { byBook, unreadable } = outcome.value;
      const value = [...byBook.values()].map(({ rules }) => rules);
      return doneWith(value, unreadable);
    },
    /** Reads the best 100 levels of each side. The exchange lists no single orders. */
    orderBook,
    trades,
  };
}

const publicGet = <T>(name: string, path: string, read: (result: unknown) => T): KrakenRequest<T> => ({
  endpoint: `GET ${name}`,
  lane: 'public read',
  method: 'GET',
  path,
  effect: 'read',
  read,
});
