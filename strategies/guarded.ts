/**
 * Guard of a strategy from a file: after an error or an invalid quote, both sides are empty, with a reason that names
 * the file. The guard also logs the quotes for the recording. In a replay, another strategy repeats the recorded
 * quotes.
 */
import {
  bestOf,
  emptyDepth,
  type Amount,
  type AmountStep,
  type Depth,
  type Figure,
  type Instrument,
  type Level,
  type Millis,
  type PastTrades,
  type Quote,
  type QuoteLog,
  type Reference,
  type Step,
  type Strategy,
  type View,
} from '../src/core/index.ts';
import { unlimitedCall, type OwnCall } from './ownFiles/callLimit.ts';
import { errorPlace, foundText, oneLine } from './ownFiles/fileErrors.ts';
import { silent } from './quoteLevels.ts';

/** Maximum number of levels of a side, of steps of a level, and of figures. */
const ENTRIES_MAX = 100;
/** Number of past trades that share one time limit, because the limit costs more than a call. */
const TRADES_IN_CALL = 1_000;
/** Maximum length of a text in a quote, in characters. */
const TEXT_MAX = 400;

/**
 * Returns a strategy that never throws and that cannot change the engine's data. After an error, the strategy does not
 * quote until a reload makes it again, because its memory may be incomplete. `make` receives a frozen instrument.
 * `needs` returns two times, in ms, that must pass before the strategy quotes: `warmupMs` since its first view or
 * trade, and `historyMs` since the start of its complete trades. `ownCall` makes each call into the file; a limit of
 * its time is an error like any other.
 */
export function guarded(
  path: string,
  instrument: Instrument,
  make: (instrument: Instrument) => Strategy,
  needs: () => { readonly warmupMs: Millis; readonly historyMs: Millis } = () => NO_NEEDS,
  ownCall: OwnCall = unlimitedCall,
): Strategy {
  const file = shortPath(path);
  let failure: string | null = null;
  let fault: string | null = null;
  let given: readonly [own: Instrument, frozen: Instrument] = [instrument, Object.freeze({ ...instrument })];
  const frozen = (own: Instrument): Instrument => {
    if (given[0] !== own) given = [own, Object.freeze({ ...own })];
    return given[1];
  };
  let ownDepth = emptyDepth(0);
  // New arrays if the number of levels changes, which does not happen in a run.
  const depthFor = ({ bidPrices: { length } }: Depth): Depth => {
    if (ownDepth.bidPrices.length !== length) ownDepth = emptyDepth(length);
    return { ...ownDepth };
  };
  const attempt = <T>(name: string, work: () => T): T | undefined => {
    if (failure !== null) return undefined;
    try {
      return ownCall(name, work);
    } catch (error) {
      failure = `${file}${errorPlace(error, path)} failed: ${oneLine(error)}; ${REMEDY}`;
      return undefined;
    }
  };
  const strategy = attempt('make', () => strategyOf(make(given[1])));
  const { warmupMs, historyMs } = attempt('warmup and history', needs) ?? NO_NEEDS;
  if (historyMs > 0 && strategy?.trade === undefined)
    attempt('history', () => {
      throw new Error('history: expected a strategy with the function trade');
    });
  const taken: Quote[] = [];
  let startedAt = Infinity;
  /** Time since which the strategy has received every trade: that of the history, or of the first view or trade. */
  let completeSince = Infinity;
  let hasHistory = false;
  let isGapOpen = false;
  const seen = (at: Millis): void => {
    startedAt = Math.min(startedAt, at);
    if (!hasHistory) completeSince = Math.min(completeSince, at);
  };
  /** Returns why the strategy does not quote yet; `null` if it quotes. */
  const learning = (at: Millis): string | null => {
    if (isGapOpen)
      return `${file} waits for the latest public trades, which the bot reads from the exchange, so that none is missing`;
    const [warmupLeft, historyLeft] = [startedAt + warmupMs - at, completeSince + historyMs - at];
    if (warmupLeft <= 0 && historyLeft <= 0) return null;
    if (!hasHistory && historyLeft > 0)
      return `${file} needs the trades of ${inSeconds(historyMs)}, which are read when a run starts; quotes in at most ${inSeconds(Math.max(warmupLeft, historyLeft))}`;
    return warmupLeft >= historyLeft
      ? `${file} learns from the market for ${inSeconds(warmupMs)} before it quotes; ${inSeconds(warmupLeft)} left`
      : `${file} needs the trades of ${inSeconds(historyMs)} and has ${inSeconds(historyMs - historyLeft)}; quotes in ${inSeconds(historyLeft)}`;
  };
  const quoted = (view: View): Quote => {
    seen(view.at);
    // Before its first quote, the strategy gets its whole history; a warm-up learns from the views too.
    const isEarly = failure === null && completeSince + historyMs > view.at;
    if (isEarly) return learningQuote(learning(view.at)!);
    const found = attempt('quote', () => {
      const copy = quoteIn(strategy?.quote(ownView(view, frozen(view.instrument), depthFor(view.depth))));
      return typeof copy === 'string' ? copy : (beyondMarket(copy, view.depth) ?? copy);
    });
    const wrong =
      failure ?? (typeof found === 'string' ? `${file} returned an invalid quote: ${found}; ${REMEDY}` : null);
    fault ??= wrong;
    if (wrong !== null) return { ...silent(wrong), failure: wrong };
    const why = learning(view.at);
    return why === null ? (found as Quote) : learningQuote(why);
  };
  return {
    quote(view) {
      const quote = quoted(view);
      // A driver that records empties the log after each event. Without such a driver, the log must not grow.
      if (taken.length >= ENTRIES_MAX) taken.length = 0;
      taken.push(quote);
      return quote;
    },
    ...(strategy?.trade !== undefined && {
      trade: trade => {
        seen(trade.at);
        attempt('trade', () => strategy.trade?.({ ...trade }));
      },
    }),
    ...(historyMs > 0 && {
      historyMs,
      history: ({ since, trades }: PastTrades) => {
        [completeSince, hasHistory, isGapOpen] = [since, true, false];
        for (let i = 0; i < trades.length; i += TRADES_IN_CALL)
          attempt('trade', () => {
            for (const trade of trades.slice(i, i + TRADES_IN_CALL)) strategy?.trade?.({ ...trade });
          });
      },
      historyGap: (isOpen: boolean) => void (isGapOpen = isOpen),
    }),
    quoteLog: {
      take: () => taken.splice(0),
      give: () => undefined,
      get failure() {
        return failure;
      },
      get fault() {
        return failure ?? fault;
      },
      fail: earlier => void (failure ??= earlier),
    },
  };
}

/** Returns a path with short hashes: the copies of a promotion are in a folder with the name of their hash. */
const shortPath = (path: string): string => path.replace(/[0-9a-f]{64}/g, hash => hash.slice(0, 12));

const learningQuote = (why: string): Quote => ({ ...silent(why), isLearning: true });

const REMEDY = 'correct the file, and reload it in a running bot';

/** Returns a sentence of a strategy file's fault for a place without a running bot, such as a backtest. */
export const withoutReload = (sentence: string): string => sentence.replace(REMEDY, 'correct the file');

/**
 * Returns what a strategy file needs before it quotes, from a sentence about an empty side, without the numbers that
 * change with each decision; `null` if the file waits for nothing.
 */
export const neededBefore = (sentence: string): string | null => NEEDS.exec(sentence)?.[0] ?? null;

/** Constant part of the sentences of a file that waits for its history or learns. */
const NEEDS = /^\S{1,400} (?:needs the trades of|learns from the market for) \d+ s/;

const NO_NEEDS = { warmupMs: 0, historyMs: 0 } as const;

const inSeconds = (ms: number): string => `${Math.ceil(ms / 1_000)} s`;

const NOT_RECORDED = silent('the recording has no quote of the strategy file yet');

/** Returns the strategy of a replay: it repeats the recorded quotes, and runs no code of the file. */
export function recordedStrategy(): Strategy {
  let [next, last]: [readonly Quote[], Quote] = [[], NOT_RECORDED];
  const quoteLog: QuoteLog = {
    take: () => [],
    give: quotes => void (next = quotes),
    ...{ failure: null, fault: null },
    fail: () => undefined,
  };
  return {
    quote() {
      [last = last, ...next] = next;
      return last;
    },
    quoteLog,
  };
}

function strategyOf(made: unknown): Strategy {
  if (typeof (made as Strategy | undefined)?.quote !== 'function')
    throw new Error('make: expected a strategy with the function quote');
  return made as Strategy;
}

/**
 * Returns a copy of a view, with the arrays of `ownDepth`: the strategy can change it without an effect on the engine.
 */
function ownView(view: View, instrument: Instrument, ownDepth: Depth): View {
  const { depth, fair, reference, rfqPrices, widenBps, lastBuy, lastSell } = view;
  const own: Writable<View> = {
    ...view,
    instrument,
    depth: copiedInto(ownDepth, depth),
    reference: reference && ownReference(reference),
    widenBps: { buy: widenBps.buy, sell: widenBps.sell },
    lastBuy: lastBuy && { ...lastBuy },
    lastSell: lastSell && { ...lastSell },
  };
  if (fair !== undefined) own.fair = { price: fair.price, steps: fair.steps.map(step => ({ ...step })) };
  if (rfqPrices) own.rfqPrices = { ...rfqPrices };
  return own;
}

/** Copies a depth into the arrays of another one, which is faster than new arrays. */
function copiedInto(own: Depth, { bidPrices, bidAmounts, askPrices, askAmounts, bids, asks }: Depth): Depth {
  own.bidPrices.set(bidPrices);
  own.bidAmounts.set(bidAmounts);
  own.askPrices.set(askPrices);
  own.askAmounts.set(askAmounts);
  own.bids = bids;
  own.asks = asks;
  return own;
}

function ownReference(reference: Reference): Reference {
  const { live } = reference;
  return live === undefined
    ? { ...reference }
    : { ...reference, live: { ...live, sources: live.sources.map(source => ({ ...source })) } };
}

type Entry = Readonly<Record<string, unknown>>;
const isEntry = (one: unknown): one is Entry => typeof one === 'object' && one !== null;
const isText = (text: unknown): text is string => typeof text === 'string' && text.length <= TEXT_MAX;
const isFiniteNumber = (one: unknown): one is number => typeof one === 'number' && Number.isFinite(one);

/**
 * Returns a copy of a strategy's quote with the known keys only, in which all numbers are finite; or why the value is
 * not a quote. Written for speed, because it is a part of each decision.
 */
export function quoteIn(quote: unknown): Quote | string {
  if (!isEntry(quote)) return problemText('expected an object', quote);
  const { noBid, noAsk, figures } = quote;
  const bids = levelsIn('bids', quote['bids']);
  if (typeof bids === 'string') return bids;
  const asks = levelsIn('asks', quote['asks']);
  if (typeof asks === 'string') return asks;
  const copy: Writable<Quote> = { bids, asks };
  if (noBid !== undefined) {
    if (!isText(noBid)) return problemText(`noBid: ${TEXT}`, noBid);
    copy.noBid = noBid;
  }
  if (noAsk !== undefined) {
    if (!isText(noAsk)) return problemText(`noAsk: ${TEXT}`, noAsk);
    copy.noAsk = noAsk;
  }
  if (figures !== undefined) {
    const own = listIn(figures, figureIn);
    if (own === null) return listProblem('figures', figures, FIGURE);
    copy.figures = own;
  }
  return copy;
}

/** Price beyond the best price of the other side from which a quote of a file is an error, in bps of that price. */
const BEYOND_MAX_BPS = 200;

/**
 * Returns which price of a quote is far beyond the other side of the book; `null` if none is. The engine would move it
 * to the market, where the order trades at a loss again and again.
 */
export function beyondMarket({ bids, asks }: Quote, depth: Depth): string | null {
  const [bid, ask] = [bestOf(depth, 'buy'), bestOf(depth, 'sell')];
  for (const [side, levels, best, sign] of [['bids', bids, ask, 1] as const, ['asks', asks, bid, -1] as const])
    for (let i = 0; i < levels.length; i++) {
      const bps = (sign * (levels[i]!.price - best) * 10_000) / best;
      if (best > 0 && bps > BEYOND_MAX_BPS)
        return `${side}[${i}].price: expected at most ${BEYOND_MAX_BPS} bps ${sign > 0 ? 'above the best ask' : 'below the best bid'} of the book, found ${Math.round(bps)}`;
    }
  return null;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function levelsIn(side: string, levels: unknown): readonly Level[] | string {
  if (!Array.isArray(levels)) return problemText(`${side}: expected a list of levels`, levels);
  if (levels.length > ENTRIES_MAX) return `${side}: expected at most ${ENTRIES_MAX} levels, found ${levels.length}`;
  const copies: Level[] = [];
  for (let i = 0; i < levels.length; i++) {
    const copy = levelIn(levels[i]);
    if (copy === null) return levelProblem(`${side}[${i}]`, levels[i]);
    copies.push(copy);
  }
  return copies;
}

function levelIn(level: unknown): Level | null {
  if (!isEntry(level)) return null;
  const { price, amount, amounts } = level;
  const why = listIn(level['why'], stepIn);
  if (!isFiniteNumber(price) || !isFiniteNumber(amount) || amount < 0 || why === null) return null;
  const copy: Writable<Level> = { price: price + 0, amount: (amount + 0) as Amount, why };
  if (amounts === undefined) return copy;
  const own = listIn(amounts, amountStepIn);
  if (own === null) return null;
  copy.amounts = own;
  return copy;
}

/** Returns what is wrong with a level that `levelIn` refuses. Apart from it, because only an error needs the text. */
function levelProblem(place: string, level: unknown): string {
  if (!isEntry(level)) return problemText(`${place}: expected { price, amount, why }`, level);
  const { price, amount, why, amounts } = level;
  return (
    numberProblem(`${place}.price`, price) ??
    amountProblem(`${place}.amount`, amount) ??
    (listIn(why, stepIn) === null ? listProblem(`${place}.why`, why, STEP) : null) ??
    listProblem(`${place}.amounts`, amounts, AMOUNT_STEP)
  );
}

/** Returns what is wrong with a value that must be a finite number; `null` if it is one. */
export const numberProblem = (place: string, value: unknown): string | null =>
  isFiniteNumber(value) ? null : problemText(`${place}: expected a finite number`, value);

/** Returns what is wrong with a value that must be an amount in lots; `null` if it is one. */
export const amountProblem = (place: string, value: unknown): string | null =>
  isFiniteNumber(value) && value < 0
    ? problemText(`${place}: expected at least 0 lots`, value)
    : numberProblem(place, value);

/** Types of the keys of a list's entries. */
type EntryKeys = Readonly<Record<string, 'text' | 'number'>>;
const STEP: EntryKeys = { name: 'text', ticks: 'number' };
const AMOUNT_STEP: EntryKeys = { name: 'text', lots: 'number' };
const FIGURE: EntryKeys = { name: 'text', value: 'number', unit: 'text' };
const TEXT = `expected text of at most ${TEXT_MAX} characters`;

/** Returns what is wrong with a list that `listIn` refuses. */
function listProblem(place: string, list: unknown, keys: EntryKeys): string {
  const entry = `{ ${Object.keys(keys).join(', ')} }`;
  if (!Array.isArray(list)) return problemText(`${place}: expected a list of ${entry}`, list);
  if (list.length > ENTRIES_MAX) return `${place}: expected at most ${ENTRIES_MAX} entries, found ${list.length}`;
  for (let i = 0; i < list.length; i++) {
    const one: unknown = list[i];
    if (!isEntry(one)) return problemText(`${place}[${i}]: expected ${entry}`, one);
    for (const [key, type] of Object.entries(keys)) {
      const at = `${place}[${i}].${key}`;
      const isValid = type === 'text' ? isText(one[key]) : isFiniteNumber(one[key]);
      if (!isValid) return problemText(`${at}: ${type === 'text' ? TEXT : 'expected a finite number'}`, one[key]);
    }
  }
  // Only a getter that returns another value at each call gets here.
  return `${place}: expected a list of ${entry}, found values that change`;
}

const problemText = (expected: string, found: unknown): string => `${expected}, found ${foundText(found)}`;

/** Returns copies of a list's entries; `null` if `list` is not a list, is too long, or has an invalid entry. */
function listIn<T>(list: unknown, copyOf: (one: Entry) => T | null): readonly T[] | null {
  if (!Array.isArray(list) || list.length > ENTRIES_MAX) return null;
  const copies: T[] = [];
  for (let i = 0; i < list.length; i++) {
    const one: unknown = list[i];
    const copy = isEntry(one) ? copyOf(one) : null;
    if (copy === null) return null;
    copies.push(copy);
  }
  return copies;
}

// Adding 0 changes -0, which JSON cannot express, to 0.
const stepIn = ({ name, ticks }: Entry): Step | null =>
  isText(name) && isFiniteNumber(ticks) ? { name, ticks: ticks + 0 } : null;
const amountStepIn = ({ name, lots }: Entry): AmountStep | null =>
  isText(name) && isFiniteNumber(lots) ? { name, lots: lots + 0 } : null;
const figureIn = ({ name, value, unit }: Entry): Figure | null =>
  isText(name) && isFiniteNumber(value) && isText(unit) ? { name, value: value + 0, unit } : null;
