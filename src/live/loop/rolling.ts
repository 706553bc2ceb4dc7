/**
 * One run after the other in one process, so that no recording grows without end: when a run is long enough, it ends as a stop would, and the
 * next begins as a restart would, with a number, an engine and a recording of its own. Every recording can be replayed from its beginning.
 */
import { sleep, textOfPrice, worstPrice } from '../../core/index.ts';
import type { Instrument, MarketStream, Millis, Order } from '../../core/index.ts';
import type { Journal } from '../state/journal.ts';
import type { ExchangeSide, StopReport } from './loopOptions.ts';
import { readRules } from './opening.ts';
import type { Rules } from '../rules.ts';
import { isOtherGrid } from './rulesChange.ts';
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
    /** Called between two runs, with the one that has ended and the journal of the next. */
    readonly onRolled?: (ended: Session, journal: Journal) => void;
  };
};

const LOOK_EVERY_MS = 5_000;

export class Rolling {
  readonly #options: RollingOptions;
  readonly #stopping = new AbortController();
  #journal: Journal;
  #session: Session;
  #startedAt: Millis;
  #onFailure: () => void = () => undefined;
  #rolling: Promise<void> = Promise.resolve();
  /** Of the last run, while there is no next one. */
  #ended: StopReport | null = null;

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
    await this.#rolling;
    return this.#ended ?? this.#session.stop();
  }

  async #watch(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    for (;;) {
      await sleep(clock, LOOK_EVERY_MS, signal);
      if (signal.aborted) return;
      const rules = await this.#rulesToRollWith();
      if (rules === null || signal.aborted) continue;
      await this.#roll(rules);
      if (this.#ended !== null) return;
    }
  }

  /** The rules of the book when a next run should begin and can: a run that has nothing unknown leaves little to do to the next. */
  async #rulesToRollWith(): Promise<Rules | null> {
    const { bot, clock, roll, state, venue } = this.#options;
    const { engine } = this.#session;
    const bytes = this.#journal.recordedBytes();
    const isDue = engine.isOutdated || clock.elapsed() - this.#startedAt >= roll.afterMs || bytes >= roll.bytes;
    if (!isDue) return null;
    // Without a ledger there is nothing to go on with; a halt that is not on disk would be forgotten.
    if (engine.ledger([]) === null || (engine.haltedBecause !== null && state.latch.read() === null)) return null;
    const isCalm = engine.account.isReconciled && !engine.account.isConverting && engine.unfinished.every(isFound);
    if (!isCalm && bytes < 2 * roll.bytes) return null;
    // What cannot be read now could not be read by the next run either.
    return readRules(venue.exchange, bot.book).catch(() => null);
  }

  async #roll(known: Rules): Promise<void> {
    const { bot, clock, log, roll, venue } = this.#options;
    let rules: Rules | null = known;
    const ended = this.#session;
    const from = clock.elapsed();
    const last = this.#journal.run;
    log.info(
      { run: last, bytes: this.#journal.recordedBytes() },
      `${ended.engine.isOutdated ? `run ${last} counts in an old tick` : `run ${last} is long enough`}: the next one takes over`,
    );
    this.#ended = await ended.stop();
    if (this.#ended.failure !== null) return;
    while (!this.#stopping.signal.aborted) {
      try {
        this.#journal = this.#journal.next(clock.now());
        const next = rules ?? (await readRules(venue.exchange, bot.book));
        const journal = onGridOf(this.#journal, ended.rules.instrument, next.instrument);
        this.#session = await sessionOf({ ...this.#options, rules: next, state: { ...this.#options.state, journal } });
        break;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        log.error({ error: String(error) }, `the next run cannot begin yet, nothing is quoted until it does: ${why}`);
        // What was read before may be why.
        rules = null;
        await sleep(clock, LOOK_EVERY_MS, this.#stopping.signal);
      }
    }
    if (this.#session === ended) return;
    roll.onRolled?.(ended, this.#journal);
    this.#ended = null;
    this.#startedAt = clock.elapsed();
    this.#session.start(this.#onFailure);
    log.info({ run: this.#journal.run, ms: clock.elapsed() - from }, `run ${this.#journal.run} goes on`);
  }
}

/** The next run finds it at the exchange, or its end. One that never arrived, or went without a word, it would have to wait for once more. */
const isFound = ({ state, ending }: Order): boolean =>
  state !== 'unknown' && !(state === 'closed-unsettled' && ending !== 'canceled' && ending !== 'filled');

/** What the last run left, with its prices on the grid of the next one, at their worst for us. */
function onGridOf(journal: Journal, from: Instrument, to: Instrument): Journal {
  if (!isOtherGrid(from, to)) return journal;
  const orders = journal.leftovers.orders.map(order => ({
    ...order,
    price: worstPrice(to, order.side, textOfPrice(from, order.price)),
  }));
  return { ...journal, leftovers: { ...journal.leftovers, orders } };
}

/** Reads what a start needs. Rejects with `CannotStart` when the exchange does not let it. */
export async function openRolling(options: RollingOptions): Promise<Rolling> {
  return new Rolling(options, await sessionOf(options));
}

function sessionOf(options: RollingOptions & { readonly rules?: Rules }): Promise<Session> {
  const { newStream, ...venue } = options.venue;
  return openSession({ ...options, venue: { ...venue, stream: newStream?.() } });
}
