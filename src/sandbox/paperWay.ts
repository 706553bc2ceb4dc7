/** The bot's way to its exchange on paper: in process, with latency; what a strategy reads of other books comes from the followed exchange. */
import { sleep, TransportFailure } from '../core/index.ts';
import type { BookEntry, Clock, Exchange, Millis, Transport, WireReply } from '../core/index.ts';
import type { EmbeddedExchange } from './exchange.ts';

export type PaperWayOptions = {
  readonly box: EmbeddedExchange;
  readonly clock: Clock;
  /** The book that is traded; every other one is read from `elsewhere`. */
  readonly book: string;
  /** Each way. */
  readonly latencyMs: Millis;
  /** The followed market is there: while it is not, its public data is not either, as when an exchange is silent. */
  readonly isThere: () => boolean;
  readonly elsewhere: Pick<Exchange, 'orderBook'>;
};

const PEER = '127.0.0.1';
const PUBLIC_MARKET = /\/(?:order_book|trades|ticker|ohlc)(?:[/?]|$)/;

/** `send` rejects with a TransportFailure (`sent` is true) for market data while the followed market is gone, and for a book that cannot be read. */
export function paperWay({ box, clock, book, latencyMs, isThere, elsewhere }: PaperWayOptions): Transport {
  return {
    send: async request => {
      const asked = request.method === 'GET' ? bookAskedFor(request.target) : undefined;
      if (asked !== undefined && asked !== book) return otherBook(elsewhere, asked);
      await sleep(clock, latencyMs);
      if (PUBLIC_MARKET.test(request.target) && !isThere())
        throw new TransportFailure('the followed market is silent, behind or gone', true);
      const reply = box.respond(request, PEER);
      await sleep(clock, latencyMs);
      return reply;
    },
    close: () => Promise.resolve(),
  };
}

/** Read within the followed exchange's budget, and told on as an exchange would. */
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

/** The book whose levels a request is for; undefined for any other request. */
function bookAskedFor(target: string): string | undefined {
  const [path = '', query = ''] = target.split('?');
  const book = path.endsWith('/v3/order_book') ? new URLSearchParams(query).get('book') : null;
  return book !== null && /^[a-z0-9_]+$/.test(book) ? book : undefined;
}
