/** What market data is made of, and what it shows of itself. */
import type { Amount, Engine, Exchange, Instrument, MarketStream, Millis, Side } from '../../core/index.ts';
import type { RunContext } from '../runContext.ts';
import type { EventDrivenReadsOptions } from '../account/eventDrivenReads.ts';
import type { Reads } from '../account/reads.ts';
import type { Failed } from '../failed.ts';
import type { ReferenceOptions } from './reference.ts';

/** Reads of the account that the stream's news of our orders begin. */
export type AccountDoor = Pick<EventDrivenReadsOptions, 'readTrades' | 'readBalances' | 'look'> & {
  readonly reads: Reads;
};

export type MarketDataOptions = {
  readonly run: RunContext;
  readonly bot: { readonly book: string; readonly instance: string };
  /** Without a stream books are polled only. */
  readonly venue: { readonly exchange: Exchange; readonly stream?: MarketStream | undefined };
  readonly engine: Engine;
  readonly account: AccountDoor;
  readonly instrument: () => Instrument;
  /** What our price is elsewhere, and how often it is read. */
  readonly reference?: ReferenceOptions | undefined;
  /** Between two polls, and after which a stream without a frame is not trusted without one. */
  readonly bookPollMs: Millis;
  /** Told how a read that failed ended. */
  readonly note: (what: string, failed: Failed) => void;
  readonly host: HostWatch;
};

/** What befalls the process that all this runs in. */
export type HostWatch = {
  /** Called at each frame, before it is looked at. */
  readonly onTurn: () => void;
  /** What is heard now may have waited while this process stood still. */
  readonly isWaking: () => boolean;
  /** Something of our own broke. */
  readonly onBroken: (error: unknown) => void;
};

export type MarketDataStatus = {
  /** True while the engine's book is the stream's; null when there is no stream. */
  readonly streamUp: boolean | null;
  /** Lots of others before our best order of each side; null when it is not in the stream's book. */
  readonly queueAhead: Readonly<Record<Side, Amount | null>>;
};
