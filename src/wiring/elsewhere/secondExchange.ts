/** Second embedded exchange with its markets, linked to those of the first, and one funded account. */
import { pairOf, type Clock } from '../../core/index.ts';
import { flowMarketOf, marketBooksOf, type Config, type SecondSettings } from '../../config.ts';
import {
  createSecondExchange,
  linkedFlows,
  SECOND_BOOKS,
  type Market,
  type SecondExchange,
} from '../../sandbox/index.ts';

export type SecondBox = {
  readonly exchange: SecondExchange;
  readonly account: { readonly id: string; readonly key: string; readonly secret: string };
  /** Returns the market of a book of the first exchange. Its prices are linked to those of the second exchange. */
  marketHere(book: string): Market;
  /** Starts the markets of the second exchange. Markets of both exchanges must start at the same time. */
  start(): void;
  stop(): void;
};

/** Spread of the books of the second exchange that are not the configured book, in bps. */
const OTHER_SPREAD_BPS = 4;
/** Book in which commissions are converted. */
const COMMISSION_BOOK = 'bnb_usdt';

/** Returns why the second exchange cannot have the configured book; `null` if it can. */
export function secondProblem({ book }: SecondSettings): string | null {
  const names = SECOND_BOOKS.map(({ book: name }) => name);
  return names.includes(book) ? null : `elsewhere.book: expected one of ${names.join(', ')}, found ${book}`;
}

/** Returns the second exchange, whose markets are not started yet. `secondProblem` must have returned `null`. */
export function openSecond(config: Config, settings: SecondSettings, clock: Clock, firstSeed: number): SecondBox {
  const names = SECOND_BOOKS.map(({ book }) => book);
  const seed = settings.seed ?? firstSeed + 1_009;
  const { leadMs, basis, noiseBps, latencyMs, fees, balances, spreadBps } = settings;
  const exchange = createSecondExchange({
    clock,
    seed,
    fees,
    switches: {
      requestDelayMinMs: latencyMs,
      requestDelayMaxMs: latencyMs,
      answerDelayMinMs: latencyMs,
      answerDelayMaxMs: latencyMs,
      streamDelayMs: latencyMs,
    },
  });
  const correlation = flowMarketOf(config.exchange)?.correlation;
  const flows = linkedFlows({ seed, leadMs, basis, noiseBps, correlation });
  const between = bookBetween(names, pairOf(config.book)[1], pairOf(settings.book)[1]);
  const books = new Set([settings.book, ...(between === null ? [] : [between]), COMMISSION_BOOK]);
  const markets: Market[] = [];
  return {
    exchange,
    account: exchange.openAccount({ balances }),
    marketHere: book => {
      const [base, quote] = pairOf(book);
      return flows.here(base, quote, book === config.book, marketBooksOf(config.exchange)?.[book]);
    },
    start: () => {
      for (const book of books) {
        const [base, quote] = pairOf(book);
        const market = flows.there(base, quote, book === settings.book ? spreadBps : OTHER_SPREAD_BPS);
        market.start(exchange.marketplace(book));
        markets.push(market);
      }
    },
    stop: () => {
      for (const market of markets) market.stop();
      exchange.close();
    },
  };
}

/** Returns the book that joins two currencies, or `null` if there is none or they are equal. */
export function bookBetween(books: readonly string[], a: string, b: string): string | null {
  return [`${a}_${b}`, `${b}_${a}`].find(name => books.includes(name)) ?? null;
}
