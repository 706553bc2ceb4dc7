/**
 * Transport of a paper bot: in process, with latency. Books other than the simulated books are read from the followed
 * exchange.
 */
import {
  sleep,
  TransportFailure,
  type BookEntry,
  type Clock,
  type Exchange,
  type Millis,
  type Transport,
  type WireReply,
} from '../core/index.ts';
import type { Respond } from './http/rest.ts';

export type PaperTransportOptions = {
  /** Answers a request; throws a TransportFailure if the exchange must not answer. */
  readonly respond: Respond;
  readonly clock: Clock;
  /** Simulated books; all other books are read from `followedExchange`. */
  readonly books: readonly string[];
  /** Latency of each direction, in ms. */
  readonly latencyMs: Millis;
  /**
   * Whether the followed market of a simulated book has data. Otherwise requests for its public data fail, as if the
   * exchange did not answer.
   */
  readonly hasMarketData: (book: string) => boolean;
  readonly followedExchange: Pick<Exchange, 'orderBook'>;
};

const PEER = '127.0.0.1';
const PUBLIC_MARKET = /\/(?:order_book|trades|ticker|ohlc)(?:[/?]|$)/;

/**
 * Returns the paper transport. `send` rejects with a TransportFailure (`sent` is true) if another book cannot be read,
 * or if the followed market of the book has no data.
 */
export function paperTransport({
  respond,
  clock,
  books,
  latencyMs,
  hasMarketData,
  followedExchange,
}: PaperTransportOptions): Transport {
  return {
    send: async request => {
      const asked = request.method === 'GET' ? requestedBook(request.target) : undefined;
      if (asked !== undefined && !books.includes(asked)) return otherBook(followedExchange, asked);
      await sleep(clock, latencyMs);
      if (PUBLIC_MARKET.test(request.target) && !askedBooksOf(request.target, books).every(hasMarketData))
        throw new TransportFailure('the live market that paper trading copies has no data', true);
      const reply = respond(request, PEER);
      await sleep(clock, latencyMs);
      return reply;
    },
    close: () => Promise.resolve(),
  };
}

/** Reads another book within the followed exchange's rate budget, and formats it as an exchange reply. */
async function otherBook(exchange: Pick<Exchange, 'orderBook'>, book: string): Promise<WireReply> {
  const outcome = await exchange.orderBook(book, true);
  if (outcome.kind !== 'done')
    throw new TransportFailure(
      outcome.kind === 'refused' ? `${outcome.code} ${outcome.message}` : outcome.reason,
      true,
    );
  const { sequence, updatedAt, bids, asks } = outcome.value;
  const levels = (side: readonly BookEntry[]) => side.map(({ price, amount }) => ({ book, price, amount }));
  const payload = {
    updated_at: new Date(updatedAt).toISOString(),
    bids: levels(bids),
    asks: levels(asks),
    sequence: String(sequence),
  };
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ success: true, payload }),
  };
}

/** Returns the simulated books whose data a public request asks for: the book that it names, otherwise all. */
function askedBooksOf(target: string, books: readonly string[]): readonly string[] {
  const named = new URLSearchParams(target.split('?')[1]).get('book');
  return named === null || books.length === 1 ? books : books.filter(book => book === named);
}

/** Returns the book of an order book request, or undefined for any other request. */
function requestedBook(target: string): string | undefined {
  const [path = '', query = ''] = target.split('?');
  const book = path.endsWith('/v3/order_book') ? new URLSearchParams(query).get('book') : null;
  return book !== null && /^[a-z0-9_]+$/.test(book) ? book : undefined;
}
