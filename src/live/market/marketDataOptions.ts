/** What market data is made of, and what it shows of itself. */
import type { Amount, EngineEvent, Exchange, Instrument, MarketStream, Millis, Side } from '../../core/index.ts';
import type { Log } from '../log.ts';
import type { EventDrivenReadsOptions } from '../account/eventDrivenReads.ts';
import type { Failed, Reads } from '../account/reads.ts';
import type { ReferenceOptions } from './reference.ts';

export type MarketDataOptions = EventDrivenReadsOptions & {
  readonly exchange: Exchange;
  /** Without it books are polled only. */
  readonly stream?: MarketStream | undefined;
  /** What our price is elsewhere, and how often it is read. */
  readonly reference?: ReferenceOptions | undefined;
  readonly log: Log;
  readonly book: string;
  readonly instance: string;
  readonly reads: Reads;
  /** `bookPollMs`: between two polls, and after which a stream without a frame is not trusted without one. */
  readonly timing: { readonly bookPollMs: Millis };
  readonly instrument: () => Instrument;
  /** Time for the engine. */
  readonly time: () => Millis;
  readonly step: (event: EngineEvent) => void;
  readonly note: (what: string, failed: Failed) => void;
  /** Called at each frame, before it is looked at. */
  readonly onTurn: () => void;
  /** What is heard now may have waited while this process stood still. */
  readonly isWaking: () => boolean;
};

export type MarketDataStatus = {
  /** True while the engine's book is the stream's; null when there is no stream. */
  readonly streamUp: boolean | null;
  /** Lots of others before our best order of each side; null when it is not in the stream's book. */
  readonly queueAhead: Readonly<Record<Side, Amount | null>>;
};
