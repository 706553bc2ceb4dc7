/** Balances against the ledger: read on a quiet cut, and what differs looked for among the exchange's transfers and the bookings of a person. */
import { sleep, textOfMoney } from '../core/index.ts';
import type { Clock, Engine, EngineEvent, Millis, MoneyLists } from '../core/index.ts';
import type { AdjustmentBox } from './adjustments.ts';
import type { Log } from './log.ts';
import type { Reach } from './reach.ts';
import { isFailed } from './reads.ts';
import type { Failed, Reads } from './reads.ts';
import { TransferReads } from './transferReads.ts';
import type { Found, Transfer } from './transferReads.ts';

export type BalanceReadsOptions = {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log;
  readonly reach: Reach;
  readonly reads: Reads;
  /** The engine's time. */
  readonly time: () => Millis;
  readonly step: (event: EngineEvent) => void;
  readonly readTrades: () => Promise<boolean>;
  readonly note: (what: string, failed: Failed) => void;
  /** Makes the ledger durable; false when the disk does not take it. */
  readonly persist: () => boolean;
  /** Absent: nothing explains what came or went, except a person. */
  readonly lists?: MoneyLists | undefined;
  readonly adjustments?: AdjustmentBox | undefined;
  /** Transfers that an earlier run has known. */
  readonly known: readonly string[] | null;
};

/** Transfers that cancel out are seen in no balance: the lists are looked at now and then all the same. */
const LOOK_ANYWAY_MS = 600_000;
/** After the lists could not be read, and nothing differs. */
const LOOK_AGAIN_MS = 60_000;
/** While something differs: a halted bot compares every two seconds, and must not use up its requests. */
const LOOK_EVERY_MS = 5_000;
const TRIES = 10;
const TRY_EVERY_MS = 500;

export class BalanceReads {
  readonly #o: BalanceReadsOptions;
  readonly #transfers: TransferReads | null;
  readonly #taken = new Set<string>();
  /** When the lists are looked at though nothing differs, and when they were last because something did. */
  #lookAt: Millis = -Infinity;
  #lookedAt: Millis = -Infinity;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: BalanceReadsOptions) {
    this.#o = options;
    this.#transfers = options.lists ? new TransferReads(options.lists, options.known) : null;
  }

  /** Transfers that are in the ledger or were before it; for the journal. */
  get known(): readonly string[] | null {
    return this.#transfers === null ? this.#o.known : this.#transfers.known;
  }

  /** Balances between two equal readings of the trades; true when nothing was traded meanwhile. One after the other, so that nothing is booked twice. */
  read(): Promise<boolean> {
    const turn = this.#turn.then(() => this.#readNow());
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #readNow(): Promise<boolean> {
    const { reads, readTrades, engine, step, time, note } = this.#o;
    const before = await this.#lookBefore();
    if (!(await readTrades())) return false;
    const newest = reads.newest;
    const event = await reads.balances();
    if (isFailed(event)) {
      note('balance', event);
      return false;
    }
    const quiet = (await readTrades()) && newest === reads.newest;
    step({ ...event, at: time(), quiet });
    if (!quiet) return false;
    const differs = engine.differences().length > 0;
    // Nothing is missing: what had been listed before is in the balances that the ledger equals.
    if (!differs && before !== null) this.#transfers?.take(before);
    if (differs) await this.#explain();
    return true;
  }

  /** Balances on a quiet cut must equal the ledger; trades that are still being recorded get a moment. */
  async match(): Promise<boolean> {
    const { engine, clock, log } = this.#o;
    for (let tries = 0; tries < TRIES; tries++) {
      if ((await this.read()) && engine.differences().length === 0) return true;
      await sleep(clock, TRY_EVERY_MS);
    }
    for (const { currency, difference } of engine.differences()) {
      log.error(
        { currency, difference: textOfMoney(difference) },
        'our ledger and the balance differ (reported minus ours)',
      );
    }
    return false;
  }

  /** Books what a person has left. */
  takeUp(): void {
    const { adjustments, persist, log, reach } = this.#o;
    if (!adjustments) return;
    const waiting = adjustments.waiting(name =>
      reach.say(name, { name }, `${name} in the state directory cannot be read: nothing of it is booked`, 'error'),
    );
    if (waiting.length === 0) return;
    for (const { id, at, currency, amount, reason, by } of waiting) {
      if (this.#taken.has(id)) continue;
      this.#taken.add(id);
      const why = `${by}: ${reason}`;
      this.#book({ source: `adjust ${id}`, cause: 'adjustments', currency, amount, occurredAt: at, why });
    }
    if (!persist()) return;
    try {
      for (const { id } of waiting) adjustments.done(id);
    } catch (error) {
      // It stays, and is known by its id.
      log.warn(
        { error: String(error) },
        'a booking that is in the ledger could not be taken out of the state directory',
      );
    }
  }

  /** What the lists show before the balances are read, when it is time to learn it; the transfers among it that cancel out are booked. */
  async #lookBefore(): Promise<Found | null> {
    const now = this.#o.clock.elapsed();
    if (this.#transfers === null || now < this.#lookAt || this.#o.engine.differences().length > 0) return null;
    const found = await this.#look();
    this.#lookAt = now + (found === null ? LOOK_AGAIN_MS : LOOK_ANYWAY_MS);
    if (found === null || this.#transfers.known === null || found.transfers.length === 0) return found;
    if (cancelsOut(found.transfers)) this.#take(found);
    return null;
  }

  async #explain(): Promise<void> {
    if (this.#transfers === null || this.#transfers.known === null) {
      // Learnt anew as soon as nothing differs.
      this.#lookAt = -Infinity;
      return;
    }
    const now = this.#o.clock.elapsed();
    // What a conversion has moved would be taken for what a list shows, which may have been offset by something that no list has.
    if (this.#o.engine.isConverting || now - this.#lookedAt < LOOK_EVERY_MS) return;
    this.#lookedAt = now;
    const found = await this.#look();
    if (found !== null && found.transfers.length > 0) this.#take(found);
  }

  async #look(): Promise<Found | null> {
    const found = await this.#transfers?.look();
    if (found === undefined) return null;
    if (!isFailed(found)) return found;
    const why = found.kind === 'refused' ? `${found.code} ${found.message}` : found.reason;
    const text = `deposits and withdrawals cannot be looked up (${why}): what they change, a person has to book`;
    this.#o.reach.also('transfers', {}, text);
    return null;
  }

  #take(found: Found): void {
    for (const transfer of found.transfers) this.#book(transfer);
    this.#transfers?.take(found);
  }

  #book(transfer: Transfer): void {
    const { step, time, log } = this.#o;
    const { source, cause, currency, amount, why } = transfer;
    step({ kind: 'transfer', at: time(), ...transfer });
    log[cause === 'withdrawals' ? 'warn' : 'info'](
      { source, cause, currency, amount: textOfMoney(amount), why },
      told(transfer),
    );
  }
}

const told = ({ cause, currency, amount, why }: Transfer): string =>
  `booked under ${cause}: ${textOfMoney(amount)} ${currency} (${why})${cause === 'fees' ? '' : '; it is no profit'}`;

function cancelsOut(transfers: readonly Transfer[]): boolean {
  const sums = new Map<string, bigint>();
  for (const { currency, amount } of transfers) sums.set(currency, (sums.get(currency) ?? 0n) + amount);
  return [...sums.values()].every(sum => sum === 0n);
}
