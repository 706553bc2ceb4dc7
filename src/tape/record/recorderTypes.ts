/** Options and status of a recorder. */
import type { BookRules, Clock, Exchange, MarketStream, Millis, DecimalText } from '../../core/index.ts';
import type { RecordSink } from './reorderBuffer.ts';

export type RecorderOptions = {
  readonly exchange: Pick<Exchange, 'limits' | 'availableBooks' | 'orderBook' | 'trades'>;
  readonly stream: MarketStream;
  readonly clock: Clock;
  readonly sink: RecordSink;
  /** Current rules of the book. */
  readonly rules: BookRules;
  /** Lot of the tape, which does not change with the rules. Default: the lot in `rules`. */
  readonly lot?: DecimalText;
  /** Exchange time up to which an earlier recording of the same tape had the book; `null` for a new tape. */
  readonly resumedFrom: Millis | null;
  /** Interval in ms between two checks, each of which compares a complete book with the state from the stream. */
  readonly checkEveryMs?: Millis;
  /**
   * Interval in ms between two reads of a complete book while the stream is down. Complete books are large. Default and
   * minimum: 10 s.
   */
  readonly wholeEveryMs?: Millis;
  /** Interval between two reads of the book's rules, in ms. */
  readonly rulesEveryMs?: Millis;
  readonly log: (line: string) => void;
  /** Called if the recording cannot continue, because a write to disk or an internal assertion failed. */
  readonly onBroken: (error: unknown) => void;
};

export type RecorderStatus = {
  readonly rows: number;
  readonly trades: number;
  readonly gaps: number;
  readonly gapMs: Millis;
  /** Number of orders in the book. */
  readonly orders: number;
  /**
   * Source of the book. `stream`: every step. `polled`: occasional complete books, with gaps between. `none`: no data
   * yet.
   */
  readonly source: 'stream' | 'polled' | 'none';
};
