/**
 * Public trades from before a run, for a strategy that needs a history of trades: from sources such as recordings,
 * completed with the trades that the exchange lists. Trades are joined by their numbers, so none is missing or doubled.
 */
import {
  opposite,
  type Amount,
  type EngineEvent,
  type Exchange,
  type Instrument,
  type Millis,
  type PastTrade,
  type Price,
  type PublicTrade,
} from '../../core/index.ts';
import { amountOrNull, priceOrNull } from '../account/reads.ts';

/** Public trade with its number at the exchange. */
export type NumberedTrade = {
  readonly tid: bigint;
  readonly at: Millis;
  readonly price: Price;
  readonly amount: Amount;
  readonly side: 'buy' | 'sell';
};

/** Trades of a book, complete from `since` up to the trade with the number `last`. */
export type CompleteTrades = {
  readonly since: Millis;
  readonly last: bigint;
  /** Trade with the number `last`; absent if only its number is known. */
  readonly lastTrade?: Omit<NumberedTrade, 'at'>;
  readonly trades: readonly NumberedTrade[];
};

export type PastTradesSource = {
  /** Name of the source, as text for the operator. */
  readonly name: string;
  /**
   * Returns the latest complete trades of the book since a time, or `null` if there are none. `run`: number of the run
   * that needs them. Throws an error with the problem of the source.
   */
  readonly read: (instrument: Instrument, since: Millis, run: number) => CompleteTrades | null;
};

/** Lists of public trades of the exchange. */
export type TradeLists = Pick<Exchange, 'limits' | 'trades'>;

export type PastTradesReads = {
  readonly sources: readonly PastTradesSource[];
  /**
   * Lists from which the history is completed, if they are not those of the bot's exchange: in paper trading. Their
   * numbers differ from those of the bot's exchange.
   */
  readonly lists?: TradeLists;
};

/** Maximum number of pages that complete a history, because the requests share the budget of the market data. */
const PAGES_MAX = 10;
/** Maximum number of trades of a history; of a longer one, the oldest are left out. */
export const PAST_TRADES_MAX = 20_000;

type HistoryEvent = Extract<EngineEvent, { kind: 'history' }>;

/**
 * Returns the trades of the last `ms`, as far as the sources and the lists have them without a gap. `warn` receives
 * the problem of a source that is then not used.
 */
export async function readPastTrades(
  of: { readonly instrument: Instrument; readonly run: number; readonly now: Millis; readonly ms: Millis },
  { sources, lists }: { readonly sources: readonly PastTradesSource[]; readonly lists: TradeLists },
  warn: (why: string) => void,
): Promise<HistoryEvent> {
  const { instrument, run, now, ms } = of;
  const wanted = now - ms;
  const found = sources.flatMap(({ name, read }) => {
    try {
      const complete = read(instrument, wanted, run);
      return complete === null ? [] : [{ name, complete }];
    } catch (error) {
      warn(`${name}: ${error instanceof Error ? error.message : String(error)}; the trades there are not used`);
      return [];
    }
  });
  let best: Joined = { source: 'the exchange', since: now, trades: [], last: null };
  for (const { name, complete } of [...found].sort((a, b) => a.complete.since - b.complete.since)) {
    const later = await tradesContinuing(lists, instrument, complete);
    if (later === null) {
      warn(
        `${name}: the list of the exchange does not continue the trade ${complete.last} there, which is too old or of another exchange; the trades there are not used`,
      );
      continue;
    }
    const since = Math.max(wanted, complete.since);
    const last = later.at(-1)?.tid ?? complete.last;
    best = { source: `${name} and the exchange`, since, last, trades: [...complete.trades, ...later] };
    break;
  }
  // The lists are read too if they may reach back further.
  const listed = best.since > wanted ? await latestTrades(lists, instrument, wanted) : null;
  if (listed !== null && (best.last === null || listed.since < best.since))
    best = { source: 'the exchange', ...listed };
  return historyEvent(of, best);
}

/**
 * Returns every trade after those of a source, oldest first; `null` if the lists do not have the last trade of the
 * source, with the same price, amount and side, or have too many later ones. Numbers alone prove nothing: another
 * exchange has a trade with nearly every number.
 */
async function tradesContinuing(
  lists: TradeLists,
  instrument: Instrument,
  { last, lastTrade }: CompleteTrades,
): Promise<readonly NumberedTrade[] | null> {
  if (last <= 0n) return tradesAfter(lists, instrument, 0n);
  const listed = await tradesAfter(lists, instrument, last - 1n);
  const [same, ...later] = listed ?? [];
  if (same?.tid !== last) return null;
  const isSame = ({ price, amount, side }: Omit<NumberedTrade, 'at'>) =>
    same.price === price && same.amount === amount && same.side === side;
  return lastTrade === undefined || isSame(lastTrade) ? later : null;
}

type Joined = {
  readonly source: string;
  readonly since: Millis;
  readonly trades: readonly NumberedTrade[];
  readonly last: bigint | null;
};

function historyEvent({ now, ms }: { readonly now: Millis; readonly ms: Millis }, joined: Joined): HistoryEvent {
  let before = -Infinity;
  const all = joined.trades.flatMap((trade): readonly PastTrade[] => {
    // Times of a recording are of this clock, those of the lists of the exchange's; the order is that of the numbers.
    before = Math.max(before, Math.min(trade.at, now));
    return trade.at < now - ms ? [] : [[before, trade.price, trade.amount, trade.side === 'buy' ? 0 : 1]];
  });
  const trades = all.slice(-PAST_TRADES_MAX);
  const since = trades.length < all.length ? trades[0]![0] : Math.min(joined.since, now);
  const { source, last } = joined;
  return { kind: 'history', at: now, since, source, last: last === null ? null : String(last), trades };
}

/**
 * Returns every trade after the one with a number, oldest first; `null` if the lists cannot be read, or have more of
 * them than `pagesMax` pages.
 */
export async function tradesAfter(
  lists: TradeLists,
  instrument: Instrument,
  last: bigint,
  pagesMax = PAGES_MAX,
): Promise<readonly NumberedTrade[] | null> {
  const limit = lists.limits.tradesPage;
  const trades: NumberedTrade[] = [];
  for (let page = 0, newest = last; page < pagesMax; page++) {
    const found = await lists.trades(instrument.symbol, { marker: String(newest), sort: 'asc', limit });
    if (found.kind !== 'done' || (found.unreadable ?? []).length > 0) return null;
    const next = found.value.filter(({ tid }) => BigInt(tid) > newest);
    for (const row of next) trades.push(...numbered(row, instrument));
    newest = BigInt(next.at(-1)?.tid ?? newest);
    if (found.value.length < limit) return trades;
    if (next.length === 0) return null;
  }
  return null;
}

/** Returns the latest trades that the lists have without a gap, back to `wanted` if possible; `null` if unreadable. */
async function latestTrades(
  lists: TradeLists,
  instrument: Instrument,
  wanted: Millis,
): Promise<Omit<Joined, 'source'> | null> {
  const limit = lists.limits.tradesPage;
  let trades: readonly NumberedTrade[] = [];
  let oldest: PublicTrade | undefined;
  let newest: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const marker = oldest === undefined ? {} : { marker: oldest.tid };
    const found = await lists.trades(instrument.symbol, { limit, sort: 'desc', ...marker });
    if (found.kind !== 'done' || (found.unreadable ?? []).length > 0) break;
    const rows = [...found.value].sort((a, b) => (BigInt(a.tid) < BigInt(b.tid) ? -1 : 1));
    trades = [...rows.flatMap(row => numbered(row, instrument)), ...trades];
    newest ??= rows.at(-1)?.tid;
    oldest = rows[0] ?? oldest;
    // A page that is not full ends the list: there were no earlier trades.
    if (rows.length < limit) return { since: wanted, trades, last: BigInt(newest ?? 0) };
    if (rows[0]!.createdAt < wanted) break;
  }
  if (oldest === undefined) return null;
  return { since: Math.max(wanted, oldest.createdAt), trades, last: BigInt(newest!) };
}

/** Returns a trade in units of the instrument. A trade that is no whole number of units has none, as in live data. */
function numbered({ tid, createdAt, price: text, amount, makerSide }: PublicTrade, of: Instrument): NumberedTrade[] {
  const price = priceOrNull(of, text);
  const lots = amountOrNull(of, amount);
  if (!price || lots === null) return [];
  return [{ tid: BigInt(tid), at: createdAt, price, amount: lots, side: opposite(makerSide) }];
}

/** Returns the history event as one sentence for the log. */
export function historyText({ at, since, source, trades }: HistoryEvent, needsMs: Millis): string {
  const [had, needed] = [at - since, needsMs].map(ms => `${Math.round(ms / 1_000)} s`);
  const rest = at - since < needsMs ? `; the strategy quotes in ${Math.ceil((needsMs - at + since) / 1_000)} s` : '';
  return `the strategy got the ${trades.length} trades of the last ${had} of the ${needed} that it needs, from ${source}${rest}`;
}
