/** Further books of the account that one run quotes, besides the first. */
import { isBookEvent, type EngineEvent, type MarketStream } from '../../core/index.ts';
import type { LivePriceFeed } from '../market/livePriceSource.ts';
import type { PastTradesReads } from '../market/pastTrades.ts';
import type { ReferenceOptions } from '../market/reference.ts';
import { logOfBook } from '../log.ts';
import type { RunContext } from '../runContext.ts';

/** Market data of a further book; absent parts are as in `BesideQuoting` and `ExchangeSide`. */
export type OtherBook = {
  readonly book: string;
  readonly stream?: MarketStream | undefined;
  readonly reference?: ReferenceOptions | undefined;
  readonly newLivePrices?: (() => readonly LivePriceFeed[]) | undefined;
  readonly pastTrades?: PastTradesReads | undefined;
};

/** Returns the run context for the reads of one of several books, with the book named in their events and log lines. */
export const contextOfBook = (run: RunContext, symbol: string): RunContext => ({
  ...run,
  log: logOfBook(run.log, symbol),
  step: (event: EngineEvent) => run.step(isBookEvent(event) ? { ...event, symbol } : event),
});
