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
  /** Lot of the tape, which stays fixed when the rules change. Default: that of the rules. */
  readonly lot?: DecimalText;
  /** Exchange time at which an earlier recording of the same tape ended; `null` for a new one. */
  readonly resumedFrom: Millis | null;
  /** Interval between two complete books that are compared with the stream's state. */
  readonly checkEveryMs?: Millis;
  /** Interval between two complete books while the stream is down; they are large. Default and minimum: 10 s. */
  readonly wholeEveryMs?: Millis;
  /** Interval between two reads of the book's rules. */
  readonly rulesEveryMs?: Millis;
  readonly log: (line: string) => void;
  /** Called if recording cannot continue: the disk rejects writes, or an internal assertion failed. */
  readonly onBroken: (error: unknown) => void;
};

export type RecorderStatus = {
  readonly rows: number;
  readonly trades: number;
  readonly gaps: number;
  readonly gapMs: Millis;
  /** Orders in the book. */
  readonly orders: number;
  /** `stream`: step by step; `polled`: occasional complete books, with gaps between; `none`: nothing yet. */
  readonly source: 'stream' | 'polled' | 'none';
};
