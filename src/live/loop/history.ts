/** History of public trades with which a run starts, if its strategy needs one. */
import type { Engine, EngineEvent } from '../../core/index.ts';
import { historyText, readPastTrades } from '../market/pastTrades.ts';
import type { Rules } from '../rules.ts';
import type { RunParts } from './loopOptions.ts';

/** Returns the history for the strategy of the first book; `null` if it needs none. Logs what it got. */
export async function historyOf(
  { beside = {}, clock, log, venue: { exchange } }: Pick<RunParts, 'beside' | 'clock' | 'log' | 'venue'>,
  engine: Engine,
  { instrument }: Rules,
  run: number,
): Promise<Extract<EngineEvent, { kind: 'history' }> | null> {
  const ms = engine.books[0]?.historyMs ?? 0;
  if (ms === 0) return null;
  const { sources = [], lists } = beside.pastTrades ?? {};
  // Read first: the trades of the own exchange continue from here, whatever the other lists have.
  const newest = lists && (await exchange.trades(instrument.symbol, { limit: 1 }));
  const found = await readPastTrades(
    { instrument, run, now: clock.now(), ms },
    { sources, lists: lists ?? exchange },
    why => log.warn({}, why),
  );
  const isRead = newest?.kind === 'done' && (newest.unreadable ?? []).length === 0;
  const ownLast = isRead ? (newest.value[0]?.tid ?? '0') : null;
  const history = newest === undefined ? found : { ...found, last: ownLast };
  log.info({ trades: history.trades.length, since: history.since }, historyText(history, ms));
  return history;
}
