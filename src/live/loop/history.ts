/** Histories of public trades with which a run starts, for the books whose strategies need one. */
import { repeatEvery, type BookEngine, type Engine, type EngineEvent } from '../../core/index.ts';
import { logOfBook } from '../log.ts';
import { historyText, readPastTrades, unlessEnded } from '../market/pastTrades.ts';
import type { Rules } from '../rules.ts';
import type { RunParts } from './loopOptions.ts';
import type { OtherBook } from './otherBooks.ts';

/** Maximum time for which a start waits for past trades on the disk, in ms. */
const READ_MAX_MS = 20_000;
/** Maximum time for which a start waits for past trades on the disk and in the exchange's lists, in ms. */
const ALL_MAX_MS = 60_000;
const BEAT_EVERY_MS = 1_000;

type HistoryParts = Pick<RunParts, 'beside' | 'clock' | 'log' | 'venue'> & {
  /** Writes a heartbeat. Called every second until the history has been read. Default: none. */
  readonly onBeat?: (() => void) | undefined;
  /** Aborts when the bot stops. The history then has only the trades that were already read. Default: never. */
  readonly stopping?: AbortSignal | undefined;
};

type HistoryEvent = Extract<EngineEvent, { kind: 'history' }>;

/**
 * Returns the histories of the books whose strategies need one, by symbol, and reads them together. `rules` are those
 * of all books, in order; `others` are the books after the first.
 */
export async function historiesOf(
  { beside, log, ...parts }: HistoryParts,
  { books }: Pick<Engine, 'books'>,
  rules: readonly Rules[],
  others: readonly OtherBook[],
  run: number,
): Promise<ReadonlyMap<string, HistoryEvent>> {
  const found = await Promise.all(
    books.map(async (book, i): Promise<readonly (readonly [string, HistoryEvent])[]> => {
      const { symbol } = book;
      const own = i === 0 ? beside : { pastTrades: others[i - 1]?.pastTrades };
      const ownLog = books.length === 1 ? log : logOfBook(log, symbol);
      const history = await historyOf({ ...parts, ...(own && { beside: own }), log: ownLog }, book, rules[i]!, run);
      return history === null ? [] : [[symbol, books.length === 1 ? history : { ...history, symbol }]];
    }),
  );
  return new Map(found.flat());
}

/**
 * Returns the history for the strategy of a book; `null` if the strategy needs none. Logs the number of trades and their
 * source.
 */
export async function historyOf(
  { beside = {}, clock, log, venue: { exchange }, onBeat, stopping }: HistoryParts,
  { historyMs: ms }: Pick<BookEngine, 'historyMs'>,
  { instrument }: Rules,
  run: number,
): Promise<HistoryEvent | null> {
  if (ms === 0) return null;
  const { sources = [], lists } = beside.pastTrades ?? {};
  const limit = new AbortController();
  const whole = new AbortController();
  const end = whole.signal;
  end.addEventListener('abort', () => limit.abort(end.reason));
  const onStop = () => whole.abort(new Error('the bot is stopping'));
  if (stopping?.aborted === true) onStop();
  stopping?.addEventListener('abort', onStop);
  const timers = [
    ...(onBeat ? [repeatEvery(clock, BEAT_EVERY_MS, onBeat)] : []),
    clock.after(READ_MAX_MS, () => limit.abort(new Error(`reading takes longer than ${READ_MAX_MS / 1_000} s`))),
    clock.after(ALL_MAX_MS, () => whole.abort(new Error(`reading takes longer than ${ALL_MAX_MS / 1_000} s`))),
  ];
  try {
    // The newest trade of the bot's exchange is read before the history: the stream continues from this trade, even if
    // the lists are those of another exchange.
    const newest = lists && (await unlessEnded(() => exchange.trades(instrument.symbol, { limit: 1 }), end));
    const found = await readPastTrades(
      { instrument, run, time: () => clock.now(), ms },
      { sources, lists: lists ?? exchange },
      why => log.warn({}, why),
      limit.signal,
      end,
    );
    const isRead = newest?.kind === 'done' && (newest.unreadable ?? []).length === 0;
    const ownLast = isRead ? (newest.value[0]?.tid ?? '0') : null;
    const history = newest === undefined ? found : { ...found, last: ownLast };
    log.info({ trades: history.trades.length, since: history.since }, historyText(history, ms));
    return history;
  } finally {
    stopping?.removeEventListener('abort', onStop);
    for (const timer of timers) timer.stop();
  }
}
