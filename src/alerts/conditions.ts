/**
 * Alert conditions of a running bot, checked twice per second: the conditions of config/prometheus/alerts.yml, and one
 * condition for each regime. Conditions of a book are checked and reported for each book; those of the account once.
 */
import {
  MINUTE_MS,
  counted,
  textOfMoney,
  type LimitUse,
  type Millis,
  type Snapshot,
  type SourceRefusal,
} from '../core/index.ts';
import type { AlertEvent } from '../config.ts';

/** State of one book of a bot, and of its account, at one point in time. */
export type Look = {
  /** Symbol of the book. */
  readonly symbol: string;
  /** Symbol of the book, by which its events are named; absent if the bot has only one. */
  readonly book?: string;
  /** Stops of this book alone. All other stops are those of the whole bot. Absent if the bot has only one book. */
  readonly ownStops?: readonly OwnStop[];
  /** Monotonic real time, in ms. */
  readonly elapsed: Millis;
  readonly snapshot: Pick<
    Snapshot,
    'quoting' | 'waitsFor' | 'unshown' | 'emptySidesText' | 'regime' | 'counts' | 'livePrice' | 'elsewhere'
  > & {
    readonly booked: Pick<Snapshot['booked'], 'fills'>;
  };
  readonly quotesLive: Readonly<Record<'buy' | 'sell', number>>;
  readonly uses: readonly LimitUse[];
  /** Command that lifts a halt. */
  readonly resumeCommand: string;
  readonly sentinelAgeMs: Millis | null;
  readonly diskFreeBytes: number | null;
  readonly journalWritable: boolean;
  readonly budget: { readonly public: number; readonly private: number };
  /** Numbers of requests since the start of the bot. */
  readonly requests: { readonly all: number; readonly failed: number; readonly slow: number };
  readonly decisions: { readonly all: number; readonly slow: number };
};

/** Stop that can be that of a single book. */
export type OwnStop = 'halt' | 'pause' | 'reduce';

/**
 * Cause of an event. `key` distinguishes causes; `text` is for the operator and may contain figures that change.
 * `isOfAccount`: the cause applies to all books, so it is reported once.
 */
type Cause = { readonly key: string; readonly text: string; readonly isOfAccount?: boolean };

type Condition = {
  readonly event: AlertEvent;
  /** Time in ms for which a condition must last before the event is reported. */
  readonly holdMs: Millis;
  /** Time in ms for which a condition must last before the event is reported with sound. */
  readonly loudMs: Millis;
  readonly cause: (look: Look, past: Past) => Cause | null;
};

/** Time in ms for which a pause or similar condition must last before it is reported. */
const BLINK = 1_000;
/** Maximum duration in ms of a normal start, or of a normal change from one run to the next. */
const START = 30_000;
const causeOfText = (text: string): Cause => ({ key: text, text });

const accountCause = (text: string, key = text): Cause => ({ key, text, isOfAccount: true });

/** Pause reasons that have their own alert events. */
const OWN_PAUSES = ['book stale', 'ledger differs from the balances', 'sentinel is missing', 'halted'];

/** Pause reasons that apply to all books. */
const ACCOUNT_PAUSES = [
  'stopping',
  'private data stale',
  'ledger differs from the balances',
  'sentinel is missing',
  'held by the sentinel',
];

/** Returns the cause that a book does not quote for a reason. */
function pauseCause(reason: NonNullable<Snapshot['quoting']>, look: Look): Cause {
  const isOfAccount = reason === 'paused by a person' ? isOfAll('pause', look) : ACCOUNT_PAUSES.includes(reason);
  return { ...causeOfText(`not quoting: ${reason}`), isOfAccount };
}

/** Returns whether a stop is that of the whole bot. */
const isOfAll = (stop: OwnStop, { ownStops = [] }: Look): boolean => !ownStops.includes(stop);

const pause = (reason: NonNullable<Snapshot['quoting']>) => (look: Look) =>
  look.snapshot.quoting === reason ? pauseCause(reason, look) : null;

const CONDITIONS: readonly Condition[] = [
  {
    ...{ event: 'halted', holdMs: 0, loudMs: 0 },
    cause: look => {
      const { halt } = look.snapshot.regime;
      if (halt === null) return null;
      const text = `${halt}; investigate, then resume with: ${look.resumeCommand}`;
      return { ...causeOfText(text), isOfAccount: isOfAll('halt', look) };
    },
  },
  { event: 'ledgerDiffers', holdMs: BLINK, loudMs: 15_000, cause: pause('ledger differs from the balances') },
  {
    ...{ event: 'sentinelGone', holdMs: BLINK, loudMs: BLINK },
    cause: look => {
      if (look.snapshot.quoting === 'sentinel is missing') return pauseCause('sentinel is missing', look);
      const age = look.sentinelAgeMs;
      return age !== null && age > MINUTE_MS
        ? accountCause('no sentinel heartbeat; if the bot goes down, its orders stay live')
        : null;
    },
  },
  {
    ...{ event: 'diskLow', holdMs: BLINK, loudMs: START },
    cause: ({ diskFreeBytes: free }) =>
      free !== null && free < 500e6
        ? accountCause(
            `only ${Math.round(free / 1e6)} MB are free on the disk of the state directory; expected at least 500 MB`,
            'low',
          )
        : null,
  },
  { event: 'bookStale', holdMs: BLINK, loudMs: START, cause: pause('book stale') },
  {
    ...{ event: 'ordersUnknown', holdMs: 0, loudMs: 0 },
    cause: (_, past) => {
      const unknown = past.rise(5 * MINUTE_MS, 'unknown');
      const text = `in the last 5 minutes, the outcome of ${counted(unknown, 'order')} became unknown`;
      return unknown > 3 ? { key: 'unknown', text } : null;
    },
  },
  { event: 'notQuoting', holdMs: BLINK, loudMs: 2 * MINUTE_MS, cause: notQuoting },
  { event: 'notQuoting', holdMs: 2 * BLINK, loudMs: 2 * MINUTE_MS, cause: nothingShown },
  { event: 'notQuoting', holdMs: START, loudMs: 2 * MINUTE_MS, cause: notBegun },
  { event: 'sourceLost', holdMs: START, loudMs: START, cause: sourceRefused(refusal => refusal !== 'divergent') },
  { event: 'sourceDivergent', holdMs: START, loudMs: START, cause: sourceRefused(refusal => refusal === 'divergent') },
  { event: 'hedgeDebt', holdMs: MINUTE_MS, loudMs: MINUTE_MS, cause: inHedgeDebt },
  { event: 'reduceOnly', holdMs: 0, loudMs: 0, cause: reducing },
  {
    ...{ event: 'wide', holdMs: 0, loudMs: 0 },
    cause: ({ snapshot: { regime } }) => (regime.wide === null ? null : causeOfText(regime.wide.why)),
  },
  { event: 'drawdownNear', holdMs: 0, loudMs: 0, cause: near('drawdownMax', 'the drawdown from the highest profit') },
  { event: 'dayLossNear', holdMs: 0, loudMs: 0, cause: near('dayLossMax', 'the loss since the start of the UTC day') },
  {
    ...{ event: 'ordersRefused', holdMs: 0, loudMs: 0 },
    cause: (_, past) => {
      const refused = past.rise(5 * MINUTE_MS, 'refused');
      const placed = past.rise(5 * MINUTE_MS, 'placed');
      const text = `in the last 5 minutes, the exchange rejected ${counted(refused, 'order')} and accepted ${placed}`;
      return refused > 10 && refused > 0.2 * placed ? { key: 'refused', text } : null;
    },
  },
  {
    ...{ event: 'oneSided', holdMs: 10 * MINUTE_MS, loudMs: 10 * MINUTE_MS },
    cause: ({ quotesLive: { buy, sell } }) =>
      buy > 0 === sell > 0
        ? null
        : causeOfText(
            `the bot has quoted only one side for 10 minutes, now only ${buy > 0 ? 'bids' : 'asks'}; for the reason, run puntas explain`,
          ),
  },
  {
    ...{ event: 'requestsSlow', holdMs: 5 * MINUTE_MS, loudMs: 5 * MINUTE_MS },
    cause: share('requests', 'slowRequests', 0.1, "of the bot's requests in the last 5 minutes took over 2 s"),
  },
  {
    ...{ event: 'requestsFailing', holdMs: 5 * MINUTE_MS, loudMs: 5 * MINUTE_MS },
    cause: share('requests', 'failedRequests', 0.2, "of the bot's requests in the last 5 minutes failed"),
  },
  {
    ...{ event: 'budgetSpent', holdMs: MINUTE_MS, loudMs: MINUTE_MS },
    cause: ({ budget }) => {
      const spent = (['public', 'private'] as const).filter(scope => !(budget[scope] > 0));
      return spent.length === 0
        ? null
        : accountCause(`the request budget is used up, so no ${spent.join(' or ')} request can be sent`);
    },
  },
  {
    ...{ event: 'loopSlow', holdMs: 5 * MINUTE_MS, loudMs: 5 * MINUTE_MS },
    cause: share('decisions', 'slowDecisions', 0.01, "of the bot's decisions in the last 5 minutes took over 50 ms"),
  },
  {
    ...{ event: 'noFills', holdMs: 60 * MINUTE_MS, loudMs: 60 * MINUTE_MS },
    cause: ({ quotesLive: { buy, sell } }, past) =>
      buy + sell > 0 && past.rise(360 * MINUTE_MS, 'fills') === 0
        ? causeOfText('the bot quotes, but has had no fill in the last 6 hours, or since its start')
        : null,
  },
];

function notQuoting(look: Look): Cause | null {
  const { quoting } = look.snapshot;
  if (!look.journalWritable) return accountCause('not quoting: the journal cannot be written to disk');
  const isOther = quoting === null || quoting === 'not ready' || quoting === 'stopping' || OWN_PAUSES.includes(quoting);
  return isOther ? null : pauseCause(quoting, look);
}

/** Returns a cause if quoting is allowed but neither side has a quote. */
function nothingShown({ snapshot: { quoting, unshown, emptySidesText } }: Look): Cause | null {
  if (quoting !== null || unshown.buy === null || unshown.sell === null) return null;
  const key = `${unshown.buy.reason} ${unshown.sell.reason}`;
  return { key, text: `nothing is quoted: ${emptySidesText ?? unshown.buy.reason}` };
}

/** Returns a cause while the bot has hedge debt: inventory that the other exchange should have hedged. */
function inHedgeDebt({ snapshot: { elsewhere } }: Look): Cause | null {
  if (elsewhere === null || elsewhere.debt === 0n) return null;
  const { place, debt, debtMax, baseCurrency, openOrders, failures } = elsewhere;
  const text = `hedge debt at ${place}: ${textOfMoney(debt)} ${baseCurrency} of at most ${textOfMoney(debtMax)} (hedge.elsewhere.debtMax); open orders at ${place}: ${openOrders}; consecutive failed hedges: ${failures}; for the reason, run puntas hedges`;
  return { key: 'debt', text };
}

/**
 * Returns a condition that at least one source of the reference price is refused for a reason that `isWanted` accepts.
 */
function sourceRefused(isWanted: (refusal: SourceRefusal) => boolean): Condition['cause'] {
  return ({ snapshot: { livePrice } }) => {
    const out = (livePrice?.sources ?? []).flatMap(({ name, refusal, detail }) =>
      refusal !== null && refusal !== 'no basis' && isWanted(refusal) ? [{ name, refusal, detail }] : [],
    );
    if (out.length === 0) return null;
    const texts = out.map(
      ({ name, refusal, detail }) =>
        `source ${name} of the reference price is ${STATES[refusal] ?? refusal} (${detail ?? ''})`,
    );
    return { key: out.map(({ name, refusal }) => `${name} ${refusal}`).join(', '), text: texts.join('; ') };
  };
}
const STATES: Readonly<Partial<Record<SourceRefusal, string>>> = { 'no data': 'without data' };

/**
 * Returns a cause if no run is quoting. An ended run stays `stopping` until the next run starts. A normal start or stop
 * causes no alert, because it is shorter than the hold time.
 */
function notBegun({ snapshot: { quoting, waitsFor } }: Look): Cause | null {
  if (quoting === 'stopping')
    return accountCause('not quoting: the last run has stopped, and the next run has not started; see the log');
  return quoting === 'not ready'
    ? { key: 'not ready', text: `not quoting: not ready${waitsFor === null ? '' : ` (${waitsFor})`}` }
    : null;
}

/**
 * Returns a cause if the bot is reduce-only. The cause remains during a pause or halt, because the bot is still
 * reduce-only afterwards.
 */
function reducing(look: Look): Cause | null {
  const { reduce, near } = look.snapshot.regime;
  const why = reduce ?? near?.why ?? null;
  if (why === null) return null;
  const text = `the bot quotes only to reduce inventory (reduce-only): ${why}`;
  return { ...causeOfText(text), isOfAccount: reduce !== null && isOfAll('reduce', look) };
}

function near(limit: LimitUse['limit'], words: string): Condition['cause'] {
  return ({ uses }) => {
    const use = uses.find(each => each.limit === limit);
    if (use === undefined || use.currency === null || !(use.used * 5n > use.max * 4n)) return null;
    const text = `${words} is ${textOfMoney(use.used)} ${use.currency}; trading halts at ${textOfMoney(use.max)} (limits.${limit})`;
    return { key: limit, text };
  };
}

/**
 * Returns the condition that, within five minutes, the count `all` rose by at least 20, and the count `which` by more
 * than `most` times the rise of `all`.
 */
function share(all: Share[0], which: Share[1], most: number, words: string): Condition['cause'] {
  return (_, past) => {
    const [of, some] = [past.rise(5 * MINUTE_MS, all), past.rise(5 * MINUTE_MS, which)];
    return of >= 20 && some > most * of ? accountCause(`${Math.round((100 * some) / of)}% ${words}`, which) : null;
  };
}

/** Numbers of orders, fills, requests and decisions since the start of the bot. */
type Counts = Readonly<Record<'unknown' | 'refused' | 'placed' | 'fills' | Share[0] | Share[1], number>>;
type Share = ['requests' | 'decisions', 'failedRequests' | 'slowRequests' | 'slowDecisions'];

const countsOf = ({ snapshot: { counts, booked }, requests, decisions }: Look): Counts => ({
  unknown: counts.buy.unknown + counts.sell.unknown,
  refused: counts.buy.refused + counts.sell.refused,
  placed: counts.buy.placed + counts.sell.placed,
  fills: booked.fills,
  requests: requests.all,
  failedRequests: requests.failed,
  slowRequests: requests.slow,
  decisions: decisions.all,
  slowDecisions: decisions.slow,
});

/** Counts of the last six hours, sampled every 10 s, from which increases are computed. */
class Past {
  readonly #kept: { readonly elapsed: Millis; readonly counts: Counts }[] = [];
  #elapsed: Millis = 0;
  #now: Counts | null = null;

  see(look: Look): void {
    this.#elapsed = look.elapsed;
    this.#now = countsOf(look);
    if (look.elapsed - (this.#kept.at(-1)?.elapsed ?? -Infinity) < KEEP_EVERY_MS) return;
    this.#kept.push({ elapsed: look.elapsed, counts: this.#now });
    if (this.#kept.length > KEEP_MAX) this.#kept.shift();
  }

  /**
   * Returns the increase of a count in the last `ms`, or since the start of the bot if the bot has run for less time.
   */
  rise(ms: Millis, of: keyof Counts): number {
    let i = this.#kept.length - 1;
    while (i > 0 && this.#kept[i - 1]!.elapsed >= this.#elapsed - ms) i--;
    const then = this.#kept[i]?.counts[of] ?? 0;
    return Math.max(0, (this.#now?.[of] ?? 0) - then);
  }
}
const KEEP_EVERY_MS = 10_000;
const KEEP_MAX = 6 * 60 * 6 + 1;

type Told = {
  raise(event: AlertEvent, text: string, isQuiet: boolean, book?: string): void;
  end(event: AlertEvent, book?: string): void;
};

/** One condition that holds. `book` is absent for a cause of the account, and if the bot has only one book. */
type Found = { readonly condition: Condition; readonly cause: Cause; readonly book?: string };

/** Lasting event that has not ended. Its condition and its cause may change. */
type Held = {
  readonly book?: string;
  readonly since: Millis;
  condition: Condition;
  conditionSince: Millis;
  key: string;
  keySince: Millis;
  /** Last reported cause. */
  told: Cause | null;
  wasLoud: boolean;
};

/**
 * Decides when to report an event:
 * - when its condition has lasted for the hold time,
 * - when it must be reported with sound,
 * - when a new cause has lasted for `loudMs`,
 * - when the event ends.
 */
export class Conditions {
  /** Counts of each book by symbol: a reload can add, remove and reorder books. */
  readonly #pasts = new Map<string, Past>();
  readonly #held = new Map<string, Held>();

  /** Checks all conditions. `looks`: one for each book that the bot has now. */
  look(looks: readonly Look[], to: Told): void {
    const now = looks[0]!.elapsed;
    const found = looks.flatMap(look => {
      const past = this.#pasts.get(look.symbol) ?? new Past();
      this.#pasts.set(look.symbol, past);
      past.see(look);
      return conditionsIn(look, past);
    });
    const seen = new Set<string>();
    for (const first of found) {
      const { condition, book } = first;
      const key = alertKey(condition.event, book);
      if (seen.has(key)) continue;
      seen.add(key);
      const same = found.filter(other => other.condition.event === condition.event && other.book === book);
      const cause = book === undefined && looks.length > 1 ? accountCauseOf(same, looks.length) : first.cause;
      tell(this.#heldAs(first, cause.key, now), cause, now, to);
    }
    for (const [key, { told, condition, book }] of this.#held) {
      if (seen.has(key)) continue;
      this.#held.delete(key);
      if (told !== null) to.end(condition.event, book);
    }
  }

  #heldAs({ condition, book }: Found, key: string, now: Millis): Held {
    const first = { since: now, condition, conditionSince: now, key, keySince: now, told: null, wasLoud: false };
    const slot = alertKey(condition.event, book);
    const held = this.#held.get(slot) ?? { ...first, ...(book === undefined ? {} : { book }) };
    if (held.condition !== condition) Object.assign(held, { condition, conditionSince: now });
    if (held.key !== key) Object.assign(held, { key, keySince: now });
    this.#held.set(slot, held);
    return held;
  }
}

/** Returns the key of an event of one book, or of the account: no two of them have the same. */
export const alertKey = (event: AlertEvent, book?: string): string => (book === undefined ? event : `${event} ${book}`);

/** Returns the conditions that hold in one book: of each event, the first. */
function conditionsIn(look: Look, past: Past): readonly (Found & { readonly of?: string })[] {
  const found = new Map<AlertEvent, Found & { readonly of?: string }>();
  for (const condition of CONDITIONS) {
    const cause = found.has(condition.event) ? null : condition.cause(look, past);
    if (cause === null) continue;
    const of = look.book === undefined ? {} : { of: look.book };
    const book = look.book === undefined || cause.isOfAccount === true ? {} : { book: look.book };
    found.set(condition.event, { condition, cause, ...of, ...book });
  }
  return [...found.values()];
}

/**
 * Returns all causes of an event of the account as one cause. A cause that not all books have names those that have it,
 * unless its text names one of them: the loss of a book halts the others a moment later.
 */
function accountCauseOf(found: readonly { readonly cause: Cause; readonly of?: string }[], books: number): Cause {
  const keys = [...new Set(found.map(({ cause }) => cause.key))].toSorted();
  const texts = keys.map(key => {
    const having = found.filter(({ cause }) => cause.key === key);
    const { text } = having[0]!.cause;
    const names = having.flatMap(({ of }) => of ?? []);
    const isNamed = having.length === books || names.some(name => text.includes(`${name}: `));
    return isNamed ? text : `${names.join(', ')}: ${text}`;
  });
  return { key: keys.join('; '), text: texts.join('; ') };
}

/**
 * Reports an event if a report is due. A change of the cause does not delay the first report. A new cause is reported
 * only if it lasts for `loudMs`.
 */
function tell(held: Held, cause: Cause, now: Millis, to: Told): void {
  const { event, holdMs, loudMs } = held.condition;
  const isOther = held.told?.key !== cause.key;
  const isNews = held.told === null ? now - held.conditionSince >= holdMs : isOther && now - held.keySince >= loudMs;
  const isLoudNow = !held.wasLoud && now - held.since >= loudMs;
  if (!isNews && !isLoudNow) return;
  // Further reports repeat the first text of a cause, so that its changing figures do not look like another cause.
  if (held.told === null || isOther) held.told = cause;
  held.wasLoud ||= isLoudNow;
  to.raise(event, held.told.text, !isLoudNow && holdMs < loudMs, held.book);
}
