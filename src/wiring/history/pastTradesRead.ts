/** Reads of past trades from the disk, as plain data that can be sent to a thread. */
import { textOfError } from '../../core/index.ts';
import type { CompleteTrades, WantedTrades } from '../../live/market/pastTrades.ts';
import { recordedTrades } from '../../live/market/recordedTrades.ts';
import { tapeTrades } from './tapeTrades.ts';

/** Read of past trades: those of a state directory's recordings, or of a tape. */
export type PastTradesRead = {
  readonly from: 'recordings' | 'tape';
  readonly dir: string;
  readonly wanted: WantedTrades;
};

/** Trades of a source, or its problem. */
export type PastTradesFound = { readonly found: CompleteTrades | null } | { readonly problem: string };

/** Reads the past trades of a source in the caller's thread. Never throws. */
export function foundPastTrades({ from, dir, wanted }: PastTradesRead): PastTradesFound {
  try {
    return { found: from === 'tape' ? tapeTrades(dir, wanted) : recordedTrades(dir, wanted) };
  } catch (error) {
    return { problem: textOfError(error) };
  }
}
