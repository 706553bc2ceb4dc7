/**
 * One run after the other in one process: when a run is long enough, or the next one is to be configured otherwise, it ends as a stop would, and the
 * next begins as a restart would, with a number, an engine and a recording of its own. Every recording can be replayed from its beginning.
 */
import { sleep } from '../../core/index.ts';
import type { MarketStream, Millis, Order } from '../../core/index.ts';
import type { Journal } from '../state/journal.ts';
import type { ExchangeSide, StopReport } from './loopOptions.ts';
import { readRules } from './opening.ts';
import type { Rules } from '../rules.ts';
import { openSession } from './session.ts';
import type { Session, SessionOptions } from './session.ts';

export type RollingOptions = Omit<SessionOptions, 'rules' | 'venue'> & {
  readonly venue: Omit<ExchangeSide, 'stream'> & {
    /** Every run has a stream of its own. */
    readonly newStream?: () => MarketStream | undefined;
  };
  readonly roll: {
    readonly afterMs: Millis;
    /** Of a recording; twice this, and a run ends also when it is no good moment. */
    readonly bytes: number;
    /** What the recordings of earlier runs may take; absent: as the journal was opened. */
    readonly recordings?: number;
    /** Called between two runs, with the one that has ended and the journal of the next. */
    readonly onRolled?: (ended: Session, journal: Journal) => void;
  };
};

/** All of a run that its configuration makes; `setup` is that, as text. */
export type RunSetup = { readonly setup: string } & Pick<
  RollingOptions,
  'beside' | 'timing' | 'watchers' | 'makeEngine' | 'roll'
>;

/** What became of a new configuration. `kept`: the run that was, or one like it, goes on, and why. */
export type Reloaded =
  | {
      readonly kind: 'taken';
      readonly run: number;
      readonly ms: Millis;
      /** Origin ids of the run before that could not be verified to be gone: the next one looks for them. */
      readonly left: readonly string[];
      /** As in `StopReport`. */
      readonly unread?: string;
    }
  | { readonly kind: 'kept'; readonly why: string };

/** `next` null: a run like the one that goes on, at once, whatever is unknown. */
type Asked = { readonly next: RunSetup | null; readonly since: Millis; tell(end: Reloaded): void };

const LOOK_EVERY_MS = 5_000;
/** While a new configuration waits for a good moment. */
const ASKED_LOOK_EVERY_MS = 250;
/** Longer than any order stays unknown by the defaults; what is not calm by then needs a person. */
const ASKED_WAIT_MAX_MS = 120_000;
const STOPPING = 'the bot is stopping';
const OTHER = 'another change of runs is in progress; retry when it has ended';

export class Rolling {
  /** Of the run that goes on. */
  #options: RollingOptions;
  readonly #stopping = new AbortController();
  #journal: Journal;
  #session: Session;
  #startedAt: Millis;
  #onFailure: () => void = () => undefined;
  #rolling: Promise<void> = Promise.resolve();
  /** Of the last run, while there is no next one. */
  #ended: StopReport | null = null;
  /** A new configuration that waits for its run. */
  #asked: Asked | null = null;
  /** Why no next run can be made, as it was told last. */
  #whyNotNext: string | null = null;
  /** Rules were asked for in vain last time. */
  #isUnread = false;
  /** Ends a pause before its time. */
  #wake = new AbortController();
  #isOver = false;

  /** Use `openRolling`. */
  constructor(options: RollingOptions, session: Session) {
    this.#options = options;
    this.#journal = options.state.journal;
    this.#session = session;
    this.#startedAt = options.clock.elapsed();
  }

  /** The run that goes on. */
  get session(): Session {
    return this.#session;
  }

  /** Begins to quote. `onFailure` is called once when something broke: then stop. */
  start(onFailure: () => void): void {
    this.#onFailure = onFailure;
    this.#session.start(onFailure);
    this.#rolling = this.#watch();
  }

  /** Ends the run that goes on, or waits for the end of the one that is ending. To be called once. */
  async stop(): Promise<StopReport> {
    this.#stopping.abort();
    this.#wake.abort();
    await this.#rolling;
    return this.#ended ?? this.#session.stop();
  }

  /**
   * The next run has another configuration, as soon as nothing is unknown. It is taken whole or not at all: where its engine cannot be made the run goes on
   * untouched, and where its run cannot begin the configuration that was takes over again. One at a time.
   */
  reload(next: RunSetup): Promise<Reloaded> {
    return this.#ask(next);
  }

  /**
   * The run ends now, which cancels and verifies, and another of the same configuration begins, as after a restart. It waits for no good moment: what is
   * unknown is for the next run to find out. `kept` where a next run could not begin: then nothing was canceled.
   */
  beginAnew(): Promise<Reloaded> {
    return this.#ask(null);
  }

  /** The run that goes on can quote no more: the next one is not waited for. */
  outdated(): void {
    this.#wake.abort();
  }

  #ask(next: RunSetup | null): Promise<Reloaded> {
    if (this.#isOver) return Promise.resolve({ kind: 'kept', why: STOPPING });
    if (this.#asked !== null) return Promise.resolve({ kind: 'kept', why: OTHER });
    return new Promise(tell => {
      this.#asked = { next, since: this.#options.clock.elapsed(), tell };
      this.#wake.abort();
    });
  }

  /** Of the one that waits. */
  #answer(end: Reloaded): void {
    const asked = this.#asked;
    this.#asked = null;
    asked?.tell(end);
  }

  async #watch(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    for (;;) {
      if (this.#asked === null) this.#wake = new AbortController();
      const isSoon = this.#asked !== null || this.#session.engine.isOutdated;
      const pause = !isSoon || this.#isUnread ? LOOK_EVERY_MS : ASKED_LOOK_EVERY_MS;
      await sleep(clock, pause, this.#asked === null ? this.#wake.signal : signal);
      if (signal.aborted) break;
      const rules = await this.#rulesToRollWith();
      if (signal.aborted) break;
      if (this.#asked !== null && clock.elapsed() - this.#asked.since > ASKED_WAIT_MAX_MS)
        this.#answer({
          kind: 'kept',
          why: `the run could not be changed within ${ASKED_WAIT_MAX_MS / 1000} s: an outcome stayed unknown, or the exchange could not be read`,
        });
      if (rules === null) continue;
      const isDue = this.#isDue();
      const refusal = this.#asked === null ? null : this.#refusalOf(this.#asked.next ?? this.#options, rules);
      if (refusal !== null) this.#answer({ kind: 'kept', why: refusal });
      if (this.#asked === null && (!isDue || this.#mustStay(rules))) continue;
      await this.#roll(rules);
      if (this.#ended !== null) break;
    }
    this.#isOver = true;
    this.#answer({ kind: 'kept', why: STOPPING });
  }

  /** Why an engine cannot be made for a next run; null when it can. */
  #refusalOf({ makeEngine }: Pick<RunSetup, 'makeEngine'>, rules: Rules): string | null {
    try {
      makeEngine(rules, () => undefined, this.#journal.run + 1);
      return null;
    } catch (error) {
      return textOf(error);
    }
  }

  /** The next run, of the same configuration, could not begin: the one that goes on is better than none. */
  #mustStay(rules: Rules): boolean {
    const { log, roll } = this.#options;
    const why = this.#refusalOf(this.#options, rules);
    const isTold = why === this.#whyNotNext;
    this.#whyNotNext = why;
    // It can quote no more, or would take more of the disk than it may.
    if (why === null || this.#session.engine.isOutdated || this.#journal.recordedBytes() >= 2 * roll.bytes)
      return false;
    if (!isTold) log.error({ run: this.#journal.run }, `the next run could not start, so this one continues: ${why}`);
    return true;
  }

  #isDue(): boolean {
    const { clock, roll } = this.#options;
    return (
      this.#session.engine.isOutdated ||
      clock.elapsed() - this.#startedAt >= roll.afterMs ||
      this.#journal.recordedBytes() >= roll.bytes
    );
  }

  /** The rules of the book when a next run should begin and can: a run that has nothing unknown leaves little to do to the next. */
  async #rulesToRollWith(): Promise<Rules | null> {
    const { bot, roll, state, venue } = this.#options;
    const { engine } = this.#session;
    this.#isUnread = false;
    const bytes = this.#journal.recordedBytes();
    if (this.#asked === null && !this.#isDue()) return null;
    // Without a ledger there is nothing to go on with; a halt that is not on disk would be forgotten.
    if (engine.ledger([]) === null || (engine.haltedBecause !== null && state.latch.read() === null)) return null;
    const isCalm = engine.account.isReconciled && !engine.account.isConverting && engine.unfinished.every(isFound);
    const isAtOnce = this.#asked?.next === null;
    if (!isCalm && !isAtOnce && bytes < 2 * roll.bytes) return null;
    // Why this run can quote no more was read just now.
    const nextRules = this.#session.loop.nextRules();
    if (engine.isOutdated && nextRules !== null) return nextRules;
    // What cannot be read now could not be read by the next run either.
    const rules = await readRules(venue.exchange, bot.book).catch(() => null);
    this.#isUnread = rules === null;
    return rules;
  }

  async #roll(known: Rules): Promise<void> {
    const { clock, log } = this.#options;
    const ended = this.#session;
    const from = clock.elapsed();
    const last = this.#journal.run;
    const why = ended.engine.isOutdated
      ? 'counts in an old tick'
      : this.#asked === null
        ? 'has reached its length'
        : this.#asked.next === null
          ? 'ends because the operator canceled every order'
          : 'ends for a new configuration';
    log.info({ run: last, bytes: this.#journal.recordedBytes() }, `run ${last} ${why}; the next run takes over`);
    // Nothing is quoted until the next run has compared the balances itself.
    this.#ended = await ended.stop(ended.engine.isOutdated);
    const { failure, left, unread } = this.#ended;
    if (failure !== null) return;
    const taken = await this.#openNext(known);
    if (this.#session === ended) return;
    this.#options.roll.onRolled?.(ended, this.#journal);
    this.#ended = null;
    this.#startedAt = clock.elapsed();
    this.#session.start(this.#onFailure);
    const ms = clock.elapsed() - from;
    log.info({ run: this.#journal.run, ms }, `run ${this.#journal.run} resumed`);
    // One that came while the run was opened waits for the next.
    if (taken !== null)
      this.#answer({ kind: 'taken', run: this.#journal.run, ms, left, ...(unread === undefined ? {} : { unread }) });
  }

  /** Tries until the next run has begun, or all is to end. A new configuration has one try: then the one that was takes over again. The one that was taken, or null. */
  async #openNext(known: Rules): Promise<Asked | null> {
    const before = { options: this.#options, setup: this.#journal.setup };
    const { bot, clock, log, venue } = before.options;
    let rules: Rules | null = known;
    while (!this.#stopping.signal.aborted) {
      // Another may come while this try waits for the exchange.
      const asked = this.#asked;
      const { setup = before.setup, ...parts } = asked?.next ?? {};
      const options = { ...before.options, ...parts };
      try {
        this.#journal = this.#journal.next(clock.now(), setup, options.roll.recordings);
        const next = rules ?? (await readRules(venue.exchange, bot.book));
        this.#session = await sessionOf({
          ...options,
          rules: next,
          state: { ...options.state, journal: this.#journal },
        });
        this.#options = options;
        return asked;
      } catch (error) {
        const why = textOf(error);
        // What was read before may be why.
        rules = null;
        if (asked !== null && asked.next !== null) {
          log.error(
            { error: String(error) },
            `the next run cannot start with the new configuration; the previous configuration applies again: ${why}`,
          );
          this.#answer({ kind: 'kept', why });
          continue;
        }
        log.error(
          { error: String(error) },
          `the next run cannot start yet, and nothing is quoted until it starts: ${why}`,
        );
        await sleep(clock, LOOK_EVERY_MS, this.#stopping.signal);
      }
    }
    return null;
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The next run finds it at the exchange, or its end. One that never arrived, or went without a word, it would have to wait for once more. */
const isFound = ({ state, ending }: Order): boolean =>
  state !== 'unknown' && !(state === 'closed-unsettled' && ending !== 'canceled' && ending !== 'filled');

/** Reads what a start needs. Rejects with `CannotStart` when the exchange does not let it. */
export async function openRolling(options: RollingOptions): Promise<Rolling> {
  let rolling: Rolling | null = null;
  const heard: RollingOptions = {
    ...options,
    onNews: (news, rules) => {
      options.onNews?.(news, rules);
      if (news.kind === 'quoting' && news.reason === 'rules of the book changed') rolling?.outdated();
    },
  };
  return (rolling = new Rolling(heard, await sessionOf(heard)));
}

function sessionOf(options: RollingOptions & { readonly rules?: Rules }): Promise<Session> {
  const { newStream, ...venue } = options.venue;
  return openSession({ ...options, venue: { ...venue, stream: newStream?.() } });
}
