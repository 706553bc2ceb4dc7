/** Options and status of market data. */
import type { Amount, Engine, Exchange, Instrument, MarketStream, Millis, Side } from '../../core/index.ts';
import type { RunContext } from '../runContext.ts';
import type { EventDrivenReadsOptions } from '../account/eventDrivenReads.ts';
import type { Reads } from '../account/reads.ts';
import type { ContinuedHistory } from './completeTrades.ts';
import type { Failed } from '../failedRequest.ts';
import type { LivePriceFeed } from './livePriceSource.ts';
import type { ReferenceOptions } from './reference.ts';

/** Account reads that start when the stream shows a change of the bot's orders. */
export type AccountReader = Pick<EventDrivenReadsOptions, 'readTrades' | 'readBalances' | 'look'> & {
  readonly reads: Reads;
};

export type MarketDataOptions = {
  readonly run: RunContext;
  readonly bot: { readonly book: string; readonly instance: string };
  /** Exchange and its stream. Without `stream`, books are only polled. */
  readonly venue: { readonly exchange: Exchange; readonly stream?: MarketStream | undefined };
  /** Engine of the book. */
  readonly engine: Pick<Engine, 'liveOrders'>;
  readonly account: AccountReader;
  readonly instrument: () => Instrument;
  /** Sources of the reference price and interval of its reads. */
  readonly reference?: ReferenceOptions | undefined;
  /** Creates the feeds of live prices from which the reference price is computed; absent if none are configured. */
  readonly newLivePrices?: (() => readonly LivePriceFeed[]) | undefined;
  /**
   * History of trades that the strategy got at the start of the run. The trades of the stream continue after its `last`
   * trade. Absent if the strategy needs no history.
   */
  readonly history?: ContinuedHistory | undefined;
  /** Pause between two polls of the book. If the stream sends nothing for this time, a poll checks the book. */
  readonly bookPollMs: Millis;
  readonly note: (what: string, failed: Failed) => void;
  readonly host: HostWatch;
};

/** Detection of a suspended process. */
export type HostWatch = {
  /** Called at each frame, before the frame is handled. */
  readonly onTurn: () => void;
  /** Whether received data may have waited while the process was suspended. */
  readonly isWaking: () => boolean;
  /** Called on an internal error. */
  readonly onBroken: (error: unknown) => void;
};

export type MarketDataStatus = {
  /** Whether the engine's book comes from the stream; `null` if there is no stream. */
  readonly streamUp: boolean | null;
  /**
   * Lots of other traders ahead of the bot's best order on each side; `null` if the stream's book does not have that
   * order.
   */
  readonly queueAhead: Readonly<Record<Side, Amount | null>>;
};
