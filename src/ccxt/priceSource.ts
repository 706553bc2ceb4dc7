/** Live price of one book through ccxt: streamed if the class has a stream, otherwise polled within its rate limit. */
import { textOfError, type Clock, type Millis, type Timer } from '../core/index.ts';
import type { Log } from '../live/log.ts';
import type { LiveLevel, LivePriceNews, LivePriceSource } from '../live/market/livePriceSource.ts';
import { CcxtMarket, type CcxtMarketNews } from './ccxtMarket.ts';
import type { TextBook, TextLevel } from './messages.ts';

export type CcxtPriceOptions = {
  /** Id of the exchange in ccxt, like `binance`. */
  readonly id: string;
  /** Book, like `btc_usdt`. */
  readonly book: string;
  /** Levels per side. With one level, a class with a stream of best prices sends only these. */
  readonly levels: number;
  /** Time without a change of the book after which the connection is replaced, in ms. */
  readonly silentAfterMs: Millis;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  /** `url`: origin that replaces the origin of the exchange's addresses. */
  readonly options?: { readonly url?: string };
};

/** Minimum interval of polls, in ms. */
const POLL_MS = 1_000;
/** Interval of polls as a multiple of the rate limit, so that the requests of ccxt never wait for each other. */
const POLL_RATE = 1.2;

/** Returns the source. ccxt is loaded by `start`; a missing or wrong ccxt is reported as `lost`. */
export function ccxtPriceSource(of: CcxtPriceOptions): LivePriceSource {
  const { clock, id, book, silentAfterMs, levels, log, options = {} } = of;
  const name = `ccxt:${id} ${book}`;
  const market = new CcxtMarket({ id, book, wants: 'prices', levels, silentAfterMs, clock, ...options });
  let onNews: (news: LivePriceNews) => void = () => undefined;
  let last: TextBook | null = null;
  let timer: Timer | null = null;
  let isClosed = false;
  /** Number of the connection, so that the polls of a replaced connection end. */
  let connection = 0;
  let readAt = -Infinity;

  const tell = (news: LivePriceNews): void => {
    if (!isClosed) onNews(news);
  };
  const tellBook = (found: TextBook, ageMs: Millis): void => {
    last = found;
    tell({ kind: 'book', bids: numbers(found.bids), asks: numbers(found.asks), sentAt: found.sentAt, ageMs });
  };

  async function poll(everyMs: Millis, of: number): Promise<void> {
    const from = clock.elapsed();
    const outcome = await market.ask('book');
    if (isClosed || connection !== of) return;
    const now = clock.elapsed();
    if (outcome.kind === 'done') {
      readAt = now;
      tellBook(outcome.value, now - from);
    } else {
      const why = outcome.kind === 'unknown' ? outcome.reason : outcome.message;
      log.warn({ source: name }, `${name}: the book could not be read (${why}); retrying`);
      if (!(now - readAt <= silentAfterMs)) {
        tell({ kind: 'lost', reason: why });
        // A class may keep state of a broken connection.
        return market.restart(why);
      }
    }
    timer = clock.after(everyMs, () => void poll(everyMs, of));
  }

  function hear(news: CcxtMarketNews): void {
    if (news.kind === 'book') tellBook(news.book, 0);
    else if (news.kind === 'same' && last !== null) tellBook({ ...last, sentAt: news.sentAt }, 0);
    else if (news.kind === 'ready') {
      readAt = clock.elapsed();
      if (!news.streams) void poll(Math.max(POLL_MS, news.rateLimitMs * POLL_RATE), connection);
    } else if (news.kind === 'lost') {
      connection++;
      last = null;
      timer?.stop();
      tell({ kind: 'lost', reason: news.reason });
    }
  }

  return {
    name,
    start: listener => {
      onNews = listener;
      market.start(news => {
        try {
          hear(news);
        } catch (error) {
          market.restart(textOfError(error));
        }
      });
    },
    close: async () => {
      isClosed = true;
      timer?.stop();
      await market.close();
    },
  };
}

const numbers = (levels: readonly TextLevel[]): readonly LiveLevel[] =>
  levels.map(([price, amount]) => [Number(price), Number(amount)] as const);
