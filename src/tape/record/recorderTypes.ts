/** What a recorder is given, and what it tells of itself. */
import type { BookRules, Clock, Exchange, MarketStream, Millis, DecimalText } from '../../core/index.ts';
import type { RecordSink } from './reorderBuffer.ts';

export type RecorderOptions = {
  readonly exchange: Pick<Exchange, 'limits' | 'availableBooks' | 'orderBook' | 'trades'>;
  readonly stream: MarketStream;
  readonly clock: Clock;
  readonly sink: RecordSink;
  /** As they are now. */
  readonly rules: BookRules;
  /** Lot of the tape, which no change of the rules changes. Default: that of the rules. */
  readonly lot?: DecimalText;
  /** Exchange time at which an earlier recording of the same tape ended; null for a new one. */
  readonly resumedFrom: Millis | null;
  /** Between two whole books that are compared with what the stream told. */
  readonly checkEveryMs?: Millis;
  /** Between two whole books while the stream is not there: they are large. 10 s without it, and at least. */
  readonly wholeEveryMs?: Millis;
  /** Between two reads of the book's rules. */
  readonly rulesEveryMs?: Millis;
  readonly log: (line: string) => void;
  /** It cannot go on: a disk that takes nothing, a belief about our own code that is broken. */
  readonly onBroken: (error: unknown) => void;
};

export type RecorderStatus = {
  readonly rows: number;
  readonly trades: number;
  readonly gaps: number;
  readonly gapMs: Millis;
  /** Orders in the book. */
  readonly orders: number;
  /** `stream`: step by step; `polled`: whole books now and then, with gaps between; `none`: nothing yet. */
  readonly source: 'stream' | 'polled' | 'none';
};
