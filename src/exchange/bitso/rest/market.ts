/** Public endpoints: rules of all books, orders of one book, trades, tickers and candles. */
import type { Millis, Outcome, Page } from '../../../core/index.ts';
import { buildAndSend } from '../../transport/requestSender.ts';
import type { BitsoAsk, BitsoRequest } from '../wire/protocol.ts';
import * as replies from '../wire/marketReplies.ts';
import { pageQuery } from '../wire/path.ts';
import { bookPart, query } from '../../wire/requestParts.ts';
import { fault } from '../../wire/wire.ts';

export type CandleQuery = {
  readonly book: string;
  readonly seconds: number;
  readonly from: Millis;
  readonly to: Millis;
};

/** Candle widths that clients of the exchange use, in seconds (public facts 4.5). */
const CANDLE_SECONDS = [60, 300, 900, 1_800, 3_600, 14_400, 43_200, 86_400, 604_800];

export type MarketEndpoints = ReturnType<typeof market>;

/**
 * Returns the public endpoints, which need no key (rest-api 4.6, 4.7, 4.8, public-facts 4). An invalid book, page,
 * candle width or time range is rejected as `not-sent`. `orderBook` is aggregated by price unless `aggregate` is false.
 */
export function market(ask: BitsoAsk) {
  return {
    availableBooks: () => buildAndSend(ask, () => publicGet('available_books', '', replies.availableBooks)),
    orderBook: (book: string, aggregate = true) =>
      buildAndSend(ask, () => {
        const asks = { book: bookPart(book), aggregate: String(aggregate) };
        return publicGet('order_book', query(asks), replies.orderBook(book));
      }),
    trades: (book: string, page: Page = {}) =>
      buildAndSend(ask, () =>
        publicGet('trades', query({ book: bookPart(book), ...pageQuery(page) }), replies.publicTrades),
      ),
    ticker: (book: string) =>
      buildAndSend(ask, () => publicGet('ticker', query({ book: bookPart(book) }), replies.ticker)),
    tickers: (): Promise<Outcome<readonly replies.Ticker[]>> =>
      buildAndSend(ask, () => publicGet('ticker', '', replies.tickers)),
    candles: ({ book, seconds, from, to }: CandleQuery) =>
      buildAndSend(ask, () => {
        if (!CANDLE_SECONDS.includes(seconds)) throw fault('seconds', CANDLE_SECONDS.join(', '), seconds);
        if (!Number.isSafeInteger(to)) throw fault('to', 'whole milliseconds', to);
        if (!(Number.isSafeInteger(from) && from >= 0 && from <= to)) {
          throw fault('from', 'whole milliseconds from 0 to the value of `to`', from);
        }
        const span = { time_bucket: String(seconds), start: String(from), end: String(to) };
        return publicGet('ohlc', query({ book: bookPart(book), ...span }), replies.candles);
      }),
  };
}

const publicGet = <T>(name: string, rest: string, read: BitsoRequest<T>['read']): BitsoRequest<T> => ({
  endpoint: `GET ${name}`,
  lane: 'public read',
  method: 'GET',
  path: `/v3/${name}${rest}`,
  effect: 'read',
  envelope: 'payload',
  read,
});
