/**
 * `puntas explain`: a decision of the bot and its reasons, from a replay of the recording up to that time. The running
 * bot is not affected.
 */
import { existsSync } from 'node:fs';
import {
  counted,
  bidOrAsk,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  type Amount,
  type Clock,
  type Decided,
  type Engine,
  type EngineEvent,
  type Fair,
  type HedgeRow,
  type Instrument,
  type Level,
  type Millis,
  type RegimeState,
  type Snapshot,
  type SourceStatus,
  type Step,
  textOfError,
} from '../../core/index.ts';
import { booksOf, recordedConfig, type Config } from '../../config.ts';
import type { Rules } from '../../live/rules.ts';
import { lineOf } from '../../live/recording/recording.ts';
import { readRecording, recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';
import { firstRules, firstRulesOfBooks, replayRun } from '../../live/replay/replay.ts';
import { engineOf } from '../../wiring/bot.ts';
import { venueOf } from '../../wiring/venueRegistry.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { timeText } from '../../messages/timeText.ts';
import { ElsewhereSeen, type BookInEngine } from './elsewhereSeen.ts';

/** Explanation as `--json` prints it (docs/json.md). Prices and amounts are exact decimal text, steps are in ticks. */
export type Explanation = {
  /** Time of the last engine input at or before the requested time. All other fields show the state at this time. */
  readonly at: Millis;
  readonly run: number;
  readonly book: string;
  readonly strategy: string;
  readonly tick: string;
  readonly decidedAt: Millis | null;
  readonly regime: RegimeChange;
  /** Last changes of the regime, oldest first; the last entry is the current regime. */
  readonly changes: readonly RegimeChange[];
  /** Reason why the bot could not quote; `null` if it could. */
  readonly refusal: string | null;
  readonly market: { readonly bid: string | null; readonly ask: string | null; readonly bookAgeMs: number | null };
  readonly fair: { readonly ticks: number; readonly steps: readonly Step[] } | null;
  /** One sentence for each exchange where orders have the smallest size. */
  readonly smallestSizes: readonly string[];
  /** Sources of the reference price; empty if none are configured. */
  readonly sources: readonly ExplainedSource[];
  readonly inventory: {
    readonly currency: string;
    readonly fromTarget: string;
    readonly max: string;
    readonly holdings: Readonly<Record<string, string>>;
  };
  readonly figures: Snapshot['figures'];
  readonly levels: readonly ExplainedLevel[];
  /** Last hedges, oldest first, in their states at `at`. */
  readonly hedges: readonly HedgeRow[];
  /**
   * First difference between the replayed and the recorded commands; `null` if all commands up to this time are equal.
   */
  readonly difference: string | null;
  /** Note on the requested time: the bot was not running, the recording has a gap, or the engine failed. */
  readonly note: string | null;
};

export type RegimeChange = {
  readonly regime: string;
  readonly since: Millis;
  readonly why: string;
  /** Error of the strategy file, with the remedy, also while a halt or a pause is the reason; absent without an error. */
  readonly failure?: string;
};

export type ExplainedLevel = {
  readonly side: 'bid' | 'ask';
  /**
   * Number of the level from 1, best first. `null` if the decision concerns the whole side, or an order that belongs to
   * no level.
   */
  readonly level: number | null;
  readonly decision: string;
  readonly reason: string;
  readonly detail: string | null;
  readonly price: string | null;
  readonly amount: string | null;
  /** Steps that add up to the price, in ticks. */
  readonly steps: readonly Step[];
  readonly order: {
    readonly id: string;
    readonly price: string;
    readonly remaining: string;
    /** State of the order at the decision. */
    readonly then: string;
    /** State of the order at the requested time, or `ended`. */
    readonly now: string;
  } | null;
};

/** Source of the reference price. `notUsed` is the reason why it is not used; `null` if it is. */
export type ExplainedSource = {
  readonly name: string;
  readonly notUsed: string | null;
  /** Price on the source's exchange, before the correction for the basis, in the quote currency. */
  readonly price: string | null;
  readonly ageMs: Millis | null;
  readonly lagMs: Millis | null;
  readonly basisBps: number | null;
  readonly basisErrorBps: number | null;
};

export type Asked = {
  readonly dir: string;
  /** Requested time; `null` for the last decision. */
  readonly at: Millis | null;
  /** Only a run with a lower number may be chosen. If absent, any run may be chosen. */
  readonly before?: number;
  /** Symbol of the book to show, if the run has several. Default: the first book. */
  readonly book?: string | undefined;
  /** Called with the time of each input, for progress reports. */
  readonly onInput?: (at: Millis) => void;
  /** Called with each input. */
  readonly onEvent?: (event: EngineEvent) => void;
};

/** Returns a function that reports the progress of a long replay every two seconds. */
export function progress(clock: Clock, write: (line: string) => void): (at: Millis) => void {
  let told = clock.elapsed();
  let inputs = 0;
  return at => {
    // The clock is read only after every thousandth input, because reading it takes longer than processing an input.
    if (++inputs % 1_000 !== 0 || clock.elapsed() - told < PROGRESS_EVERY_MS) return;
    told = clock.elapsed();
    write(`replaying: ${counted(inputs, 'input')}, at ${timeText(at)}\n`);
  };
}

const PROGRESS_EVERY_MS = 2_000;
/**
 * Time after the last recorded input for which the recording may still be incomplete, in ms, because a bot writes its
 * recording once per second.
 */
const SLACK_MS = 10_000;
/**
 * Time without an input after which the bot counts as not running, in ms. A running bot has an input every few seconds.
 */
const SILENT_MS = 30_000;
const HEDGES_MAX = 5;

/** State of a run at one point in time. */
export type ReplayedMoment = {
  /** Engine, whose `book` is the shown book. */
  readonly engine: Engine;
  readonly seen: Seen;
  /** Rules and configuration of the shown book. */
  readonly rules: Rules;
  readonly setup: Config;
  /** Rules and configurations of all books of the run, in order. */
  readonly books: readonly { readonly rules: Rules; readonly setup: Config }[];
  readonly run: number;
  readonly startedAt: Millis;
  readonly difference: string | null;
  readonly note: string | null;
};

/**
 * Explains a decision.
 * @throws UsageError if there is no recording at all, or no recording of the requested time.
 */
export function explain(asked: Asked): Explanation {
  const { engine, seen, rules, setup, run, difference, note } = replayedMoment(asked);
  return { ...explanationOf(engine, seen, rules.instrument, setup), run, difference, note };
}

/** Returns the state of the run at a time, with a traced engine. Throws as `explain` does. */
export function replayedMoment({ dir, at, before, book, onInput, onEvent }: Asked): ReplayedMoment {
  const { run, next } = chosenRun(dir, at, before);
  const { whole, books } = setupOfRun(dir, run);
  const [first, ...others] = books.map(one => one.rules);
  const engine = engineOf(whole, first!, run, undefined, true, others);
  const shown = book === undefined ? books[0] : books.find(one => one.setup.book === book);
  if (shown === undefined)
    throw new UsageError(
      `--book ${book}: expected a book of run ${run} (${books.map(one => one.setup.book).join(', ')})`,
    );
  const { setup, rules } = shown;
  engine.showBook(setup.book);
  const seen = new Seen(engine);
  const replayed = replayRun(dir, run, engine, {
    onInput: event => {
      seen.see(event);
      onInput?.(event.at);
      onEvent?.(event);
    },
    until: at ?? Infinity,
    meaningOf: venueOf(setup).meaningOf,
  });
  const { difference, gap, broke } = replayed;
  if (seen.at === null)
    throw new UsageError(
      `${dir}: the recording of run ${run} has no input${at === null ? '' : ` up to ${timeText(at)}`}`,
    );
  if (at !== null && next === null && at - seen.at > SLACK_MS && difference === null && !gap)
    throw new UsageError(outside(dir, at));
  return {
    ...{ engine, seen, rules, setup, books, run, difference },
    startedAt: startOf(dir, run) ?? seen.at,
    note: broke === null ? noteOf(at, seen.at, gap, next !== null) : `the engine failed in this run: ${broke}`,
  };
}

/**
 * Returns the run that was current at a time, or otherwise the last run before that time. `next` is the run after the
 * returned run.
 */
function chosenRun(
  dir: string,
  at: Millis | null,
  before = Infinity,
): { readonly run: number; readonly next: number | null } {
  const recorded = existsSync(dir) ? recordingsIn(dir).map(({ run }) => run) : [];
  const runs = recorded.filter(run => run < before);
  if (runs.length === 0)
    throw new UsageError(
      `${dir}: no recording of a run in this directory; expected the state directory of a bot that has run (state.dir, or --state)`,
    );
  for (let i = runs.length - 1; i >= 0; i--) {
    const run = runs[i]!;
    const startedAt = startOf(dir, run);
    if (startedAt === null || firstRulesOf(dir, run) === null) continue;
    if (at === null || startedAt <= at) return { run, next: runs[i + 1] ?? null };
  }
  throw new UsageError(
    at === null
      ? `${dir}: no run in this directory has read the rules of its book, so there is nothing to explain`
      : outside(dir, at),
  );
}

function outside(dir: string, at: Millis): string {
  const runs = recordingsIn(dir).map(({ run }) => run);
  const first = runs.map(run => startOf(dir, run)).find(start => start !== null) ?? null;
  const last = runs.map(run => endOf(dir, run)).findLast(end => end !== null) ?? null;
  const kept = first === null || last === null ? 'nothing' : `${timeText(first)} to ${timeText(last)}`;
  return `${dir}: no recording of ${timeText(at)}; the recordings cover ${kept}`;
}

/** Returns the time of the last input of a run; `null` if the run has no input. */
function endOf(dir: string, run: number): Millis | null {
  return readOfRun(dir, run, () => {
    let last: string | null = null;
    for (const text of readRecording(dir, run)?.lines ?? []) if (text.startsWith('i')) last = text;
    const line = last === null ? null : lineOf(last);
    return line?.kind === 'input' ? line.event.at : null;
  });
}

function startOf(dir: string, run: number): Millis | null {
  return readOfRun(dir, run, () => recordedRunOf(dir, run)?.startedAt ?? null);
}

const firstRulesOf = (dir: string, run: number): Rules | null => readOfRun(dir, run, () => firstRules(dir, run));

/** Returns the configuration of a run, and the rules and configuration of each of its books. */
function setupOfRun(dir: string, run: number): { readonly whole: Config } & Pick<ReplayedMoment, 'books'> {
  const of = readOfRun(dir, run, () => recordedRunOf(dir, run));
  const whole = of && recordedConfig(of.setup);
  const setups = whole === null ? [] : booksOf(whole);
  const rules = readOfRun(dir, run, () => firstRulesOfBooks(dir, run, setups.length));
  if (whole === null || rules.length < setups.length)
    throw new UsageError(
      `${dir}: run ${run} ended before it read the rules of its book, so there is nothing to explain`,
    );
  return { whole, books: setups.map((setup, i) => ({ setup, rules: rules[i]! })) };
}

/** Returns the result of `read`. Throws a `UsageError` that names the run if `read` throws an error. */
export function readOfRun<T>(dir: string, run: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`${dir}: run ${run}: ${textOfError(error)}`);
  }
}

function noteOf(asked: Millis | null, at: Millis, gap: boolean, isPast: boolean): string | null {
  if (gap) return 'the recording ends early because the disk was full; the last recorded state is shown';
  if (asked === null || asked - at <= SILENT_MS || !isPast) return null;
  return `the bot was not running at ${timeText(asked)}, so its state at the last stop before that time is shown`;
}

/** Replayed data that the engine does not store. */
export class Seen {
  at: Millis | null = null;
  /** Last reference price. */
  reference: Extract<EngineEvent, { kind: 'reference' }> | null = null;
  readonly elsewhere: ElsewhereSeen;
  readonly #of: BookInEngine;
  readonly #hedges = new Map<string, HedgeRow>();

  /** The engine of the book `of` must have processed each input before `see` receives it. */
  constructor(of: BookInEngine) {
    this.#of = of;
    this.elsewhere = new ElsewhereSeen(of);
  }

  see(event: EngineEvent): void {
    this.at = event.at;
    this.elsewhere.see(event, id => this.#hedges.get(id));
    if (event.kind === 'reference' && this.#isShown(event)) this.reference = event;
    if (event.kind !== 'hedge') return;
    this.#hedges.delete(event.row.id);
    this.#hedges.set(event.row.id, event.row);
    const [oldest] = this.#hedges.keys();
    if (this.#hedges.size > HEDGES_MAX && oldest !== undefined) this.#hedges.delete(oldest);
  }

  #isShown({ symbol }: { readonly symbol?: string }): boolean {
    return symbol === undefined || symbol === this.#of.book.symbol;
  }

  get hedges(): readonly HedgeRow[] {
    return [...this.#hedges.values()];
  }
}

/** Returns the last decision of a traced engine. `seen` must have received all inputs of the engine. */
export function explanationOf(
  engine: BookInEngine,
  seen: Seen,
  instrument: Instrument,
  setup: Config,
): Omit<Explanation, 'run' | 'difference' | 'note'> {
  const at = seen.at ?? 0;
  const snapshot = engine.book.snapshot(at);
  const { decision } = engine.book;
  const quote = decision?.quote ?? null;
  const priceText = (price: Snapshot['bid']) => (price > 0 ? textOfPrice(instrument, price) : null);
  const decided = [...(decision?.decided ?? [])].sort(byPlace);
  return {
    at,
    book: instrument.symbol,
    strategy: setup.strategy.name,
    tick: instrument.tick,
    decidedAt: decision?.at ?? null,
    regime: asChange(snapshot.regime),
    changes: engine.book.regimeChanges.map(asChange),
    refusal: decision?.refusal ?? null,
    market: {
      bid: priceText(snapshot.bid),
      ask: priceText(snapshot.ask),
      bookAgeMs: Number.isFinite(snapshot.bookAge) ? snapshot.bookAge : null,
    },
    fair: fairOf(quote?.fair, quote?.bids[0], quote?.asks[0]),
    smallestSizes: snapshot.smallestSizes,
    sources: (snapshot.livePrice?.sources ?? []).map(source => explainedSource(source, instrument)),
    inventory: {
      currency: instrument.major,
      fromTarget: textOfMoney(snapshot.booked.inventory),
      max: setup.limits.positionMax,
      holdings: Object.fromEntries([...snapshot.booked.holdings].map(([name, sum]) => [name, textOfMoney(sum)])),
    },
    figures: snapshot.figures,
    levels: decided.map(one =>
      levelOf(one, (one.side === 'buy' ? quote?.bids : quote?.asks)?.[one.index ?? -1], instrument, snapshot),
    ),
    hedges: seen.hedges,
  };
}

/**
 * Formats a price of another exchange, which is a float, with nine significant digits, so that no rounding errors show.
 */
export const roundedPrice = (price: number): string => String(Number(price.toPrecision(9)));

/** Returns a source with its price in the quote currency. */
export const explainedSource = (
  { name, refusal, detail, price, ageMs, lagMs, basisBps, basisErrorBps }: SourceStatus,
  { tick }: Instrument,
): ExplainedSource => ({
  name,
  notUsed: refusal === null || detail === null ? refusal : `${refusal} (${detail})`,
  price: price === null ? null : roundedPrice(price * Number(tick)),
  ...{ ageMs, lagMs, basisBps, basisErrorBps },
});

/**
 * Sorts as in a book: asks from the highest price down, then bids from the best price down. On each side, entries
 * without a level come last.
 */
function byPlace(a: Decided, b: Decided): number {
  if (a.side !== b.side) return a.side === 'sell' ? -1 : 1;
  const [i, j] = [a.index ?? Infinity, b.index ?? Infinity];
  if (i === j) return 0;
  return (a.side === 'buy' ? 1 : -1) * (i < j ? -1 : 1);
}

const asChange = ({ regime, since, why, failure }: RegimeState): RegimeChange => ({
  ...{ regime, since, why },
  ...(failure !== null && { failure }),
});

/**
 * Returns the fair value. If the strategy gives no fair value, returns the leading steps that bid and ask have in
 * common, without the inventory step.
 */
function fairOf(fair: Fair | undefined, bid: Level | undefined, ask: Level | undefined): Explanation['fair'] {
  const steps = fair?.steps ?? begun(bid?.why ?? ask?.why ?? [], ask?.why ?? bid?.why ?? []);
  return steps.length === 0 ? null : { ticks: steps.reduce((sum, { ticks }) => sum + ticks, 0), steps };
}

function begun(bid: readonly Step[], ask: readonly Step[]): readonly Step[] {
  if (bid === ask) return bid.slice(0, 1);
  const end = bid.findIndex(({ name, ticks }, i) => {
    const other = ask[i];
    return name === 'inventory' || other?.name !== name || other.ticks !== ticks;
  });
  return bid.slice(0, end < 0 ? bid.length : end);
}

function levelOf(
  { side, action, reason, detail, index, level, order }: Decided,
  wanted: Level | undefined,
  instrument: Instrument,
  snapshot: Snapshot,
): ExplainedLevel {
  const lots = (amount: Amount) => textOfAmount(instrument, amount);
  const now = order && snapshot.orders.find(({ id }) => id === order.id);
  return {
    side: bidOrAsk(side),
    level: index === null ? null : index + 1,
    decision: action,
    reason,
    detail,
    price: level && textOfPrice(instrument, level.price),
    amount: level && lots(level.amount),
    steps: level?.why ?? wanted?.why ?? [],
    order: order && {
      id: order.id,
      price: textOfPrice(instrument, order.price),
      remaining: lots(order.remaining),
      then: order.state,
      now: now?.state ?? 'ended',
    },
  };
}
