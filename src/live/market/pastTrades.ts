/**
 * Public trades from before a run, for a strategy that needs a history of trades: from sources such as recordings,
 * completed with the trades that the exchange lists. Trades are joined by their numbers, so none is missing or doubled.
 */
import {
  counted,
  byTradeNumber,
  opposite,
  PAST_TRADES_MAX,
  pastTradesUpTo,
  textOfError,
  type Amount,
  type EngineEvent,
  type Exchange,
  type Instrument,
  type Millis,
  type Page,
  type Price,
  type PublicTrade,
} from '../../core/index.ts';
import { amountOrNull, priceOrNull } from '../account/reads.ts';

/** Public trade with its number at the exchange; 0 if the source does not have the number. */
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
   * Resolves to the latest complete trades that the source has for a run, or to `null` if it has none. `signal` aborts
   * if the trades are no longer needed. Rejects with the problem of the source.
   */
  readonly read: (wanted: WantedTrades, signal: AbortSignal) => Promise<CompleteTrades | null>;
};

/** Trades that a run needs. Plain data, which can be sent to another thread. */
export type WantedTrades = {
  readonly instrument: Pick<Instrument, 'symbol' | 'tick' | 'lot'>;
  /** Time since which the run needs the trades. */
  readonly since: Millis;
  /** Number of the run, whose own recording is not a source. */
  readonly run: number;
  /** Maximum number of runs before `run` in whose recordings the trades are looked for. Default: a few. */
  readonly runsMax?: number;
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

type HistoryEvent = Extract<EngineEvent, { kind: 'history' }>;

/** Newest trades of a source, at most `PAST_TRADES_MAX` of them, and the time since which they are complete. */
export class RecentTrades {
  #since: Millis;
  #trades: NumberedTrade[] = [];

  constructor(since: Millis) {
    this.#since = since;
  }

  add(trade: NumberedTrade): void {
    this.#trades.push(trade);
    if (this.#trades.length >= 2 * PAST_TRADES_MAX) this.#dropOldest();
  }

  get complete(): Pick<CompleteTrades, 'since' | 'trades'> {
    if (this.#trades.length > PAST_TRADES_MAX) this.#dropOldest();
    return { since: this.#since, trades: this.#trades };
  }

  #dropOldest(): void {
    this.#trades = this.#trades.slice(-PAST_TRADES_MAX);
    this.#since = Math.max(this.#since, this.#trades[0]!.at);
  }
}

/**
 * Returns the trades of the last `ms`, as far as the sources and the lists have them without a gap. `warn` receives
 * the problem of a source that is then not used. After `signal` aborts, the sources are no longer read; after `end`
 * aborts, the lists are not read either.
 */
export async function readPastTrades(
  of: { readonly instrument: Instrument; readonly run: number; readonly time: () => Millis; readonly ms: Millis },
  { sources, lists }: { readonly sources: readonly PastTradesSource[]; readonly lists: TradeLists },
  warn: (why: string) => void,
  signal: AbortSignal,
  end?: AbortSignal,
): Promise<HistoryEvent> {
  const { instrument, run, time, ms } = of;
  const { symbol, tick, lot } = instrument;
  const wanted = time() - ms;
  const found: { readonly name: string; readonly complete: CompleteTrades }[] = [];
  for (const { name, read } of sources) {
    try {
      const complete = await read({ instrument: { symbol, tick, lot }, since: wanted, run }, signal);
      if (complete !== null) found.push({ name, complete });
    } catch (error) {
      warn(`${name}: ${textOfError(error)}; the trades there are not used`);
    }
  }
  let best: Joined = { source: 'the exchange', since: Infinity, trades: [], last: null };
  const reads = new ListReads(lists, instrument, end);
  for (const { name, complete } of [...found].sort((a, b) => a.complete.since - b.complete.since)) {
    const later = await tradesContinuing(reads, complete);
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
  const listed = best.since > wanted ? await latestTrades(reads, wanted) : null;
  if (listed !== null && (best.last === null || listed.since < best.since))
    best = { source: 'the exchange', ...listed };
  if (reads.problem !== null) warn(reads.problem);
  const [now, { source, since, last }] = [time(), best];
  const past = pastTradesUpTo({ now, ms, since }, best.trades);
  return { kind: 'history', at: now, source, last: last === null ? null : String(last), ...past };
}

/**
 * Returns every trade after those of a source, oldest first; `null` if the lists do not have the last trade of the
 * source, with the same price, amount and side, or have too many later ones. Numbers alone prove nothing: another
 * exchange has a trade with nearly every number.
 */
async function tradesContinuing(
  reads: ListReads,
  { last, lastTrade }: CompleteTrades,
): Promise<readonly NumberedTrade[] | null> {
  if (last <= 0n) return tradesAfter(reads, 0n);
  const listed = await tradesAfter(reads, last - 1n);
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

/** Reads of the exchange's lists, one page each, and the listed trades that could not be used. */
export class ListReads {
  readonly #lists: TradeLists;
  readonly #instrument: Instrument;
  readonly #end: AbortSignal | undefined;
  readonly #leftOut: string[] = [];
  #oddId: string | null = null;

  /** Creates reads of the lists. After `end` aborts, each page counts as unreadable, even if its read has started. */
  constructor(lists: TradeLists, instrument: Instrument, end?: AbortSignal) {
    this.#end = end;
    this.#lists = lists;
    this.#instrument = instrument;
  }

  /** Maximum number of trades on a page. */
  get limit(): number {
    return this.#lists.limits.tradesPage;
  }

  /** Reason why the history lacks listed trades, as text for the operator; `null` if it lacks none. */
  get problem(): string | null {
    if (this.#oddId !== null)
      return `the exchange lists a trade with the id ${JSON.stringify(this.#oddId)}, expected a whole number; the list is not used`;
    const [first, ...others] = this.#leftOut;
    if (first === undefined) return null;
    const which = others.length === 0 ? `trade ${first}` : `trade ${first} and ${counted(others.length, 'other')}`;
    return `the history lacks ${which} of the exchange's list, because the price or amount is not valid in this book`;
  }

  /** Returns the trades of a page in the order of the list; `null` if a row cannot be read. */
  async page(query: Pick<Page, 'marker' | 'sort'>): Promise<readonly PublicTrade[] | null> {
    const read = () => this.#lists.trades(this.#instrument.symbol, { ...query, limit: this.limit });
    const found = await unlessEnded(read, this.#end);
    if (found?.kind !== 'done' || (found.unreadable ?? []).length > 0) return null;
    const odd = found.value.find(({ tid }) => !/^\d+$/.test(tid));
    if (odd !== undefined) this.#oddId = odd.tid;
    return odd === undefined ? found.value : null;
  }

  /** Returns trades in units of the instrument, without trades whose price or amount is not valid in the book. */
  numbered(rows: readonly PublicTrade[]): readonly NumberedTrade[] {
    return rows.flatMap(({ tid, createdAt, price: text, amount, makerSide }): readonly NumberedTrade[] => {
      const price = priceOrNull(this.#instrument, text);
      const lots = amountOrNull(this.#instrument, amount);
      if (price && lots !== null)
        return [{ tid: BigInt(tid), at: createdAt, price, amount: lots, side: opposite(makerSide) }];
      this.#leftOut.push(tid);
      return [];
    });
  }
}

/** Resolves to the result of a read, or to `null` as soon as `end` aborts. A later result is discarded. */
export async function unlessEnded<T>(read: () => Promise<T>, end: AbortSignal | undefined): Promise<T | null> {
  if (end === undefined) return read();
  if (end.aborted) return null;
  const listening = new AbortController();
  const ended = new Promise<null>(resolve => {
    end.addEventListener('abort', () => resolve(null), { once: true, signal: listening.signal });
  });
  try {
    return await Promise.race([read(), ended]);
  } finally {
    listening.abort();
  }
}

/** Page of the trades after the trade with a given number, oldest first. */
export type LaterTrades = {
  readonly trades: readonly NumberedTrade[];
  /** Number of the newest trade of the page, even if this trade is not valid; the given number on an empty page. */
  readonly newest: bigint;
  /** Time of the newest trade; `null` on an empty page. */
  readonly newestAt: Millis | null;
  /** Whether later trades may follow. */
  readonly isFull: boolean;
};

/** Returns the page of the trades after the trade with the number `last`; `null` if the list cannot be read. */
export async function pageAfter(reads: ListReads, last: bigint): Promise<LaterTrades | null> {
  const found = await reads.page({ marker: String(last), sort: 'asc' });
  if (found === null) return null;
  const next = found.filter(({ tid }) => BigInt(tid) > last);
  const isFull = found.length >= reads.limit;
  const newest = next.at(-1);
  if (isFull && newest === undefined) return null;
  const newestAt = newest?.createdAt ?? null;
  return { trades: reads.numbered(next), newest: BigInt(newest?.tid ?? last), newestAt, isFull };
}

/**
 * Returns every trade after the trade with the number `last`, oldest first; `null` if the lists cannot be read, or if
 * these trades fill more than `PAGES_MAX` pages.
 */
async function tradesAfter(reads: ListReads, last: bigint): Promise<readonly NumberedTrade[] | null> {
  const trades: NumberedTrade[] = [];
  for (let page = 0, newest = last; page < PAGES_MAX; page++) {
    const found = await pageAfter(reads, newest);
    if (found === null) return null;
    trades.push(...found.trades);
    newest = found.newest;
    if (!found.isFull) return trades;
  }
  return null;
}

/** Returns the latest trades that the lists have without a gap, back to `wanted` if possible; `null` if unreadable. */
async function latestTrades(reads: ListReads, wanted: Millis): Promise<Omit<Joined, 'source'> | null> {
  let trades: readonly NumberedTrade[] = [];
  let oldest: PublicTrade | undefined;
  let newest: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const marker = oldest === undefined ? {} : { marker: oldest.tid };
    const found = await reads.page({ sort: 'desc', ...marker });
    if (found === null) break;
    const rows = [...found].sort(byTradeNumber);
    trades = [...reads.numbered(rows), ...trades];
    newest ??= rows.at(-1)?.tid;
    oldest = rows[0] ?? oldest;
    // A page that is not full ends the list: there were no earlier trades.
    if (rows.length < reads.limit) return { since: wanted, trades, last: BigInt(newest ?? 0) };
    if (rows[0]!.createdAt < wanted) break;
  }
  if (oldest === undefined) return null;
  return { since: Math.max(wanted, oldest.createdAt), trades, last: BigInt(newest!) };
}

/** Returns the history event as one sentence for the log. */
export function historyText({ at, since, source, trades }: HistoryEvent, needsMs: Millis): string {
  const [had, needed] = [at - since, needsMs].map(ms => `${Math.round(ms / 1_000)} s`);
  const rest = at - since < needsMs ? `; the strategy quotes in ${Math.ceil((needsMs - at + since) / 1_000)} s` : '';
  return `the strategy got ${counted(trades.length, 'trade')} from ${source}: the last ${had}, of which it needs ${needed}${rest}`;
}
