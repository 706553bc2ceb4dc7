/** Balances against the ledger: read on a quiet cut, and what differs looked for among the exchange's transfers and the bookings of a person. */
import { sleep, textOfMoney } from '../../core/index.ts';
import type { Engine, Millis, TransferLists } from '../../core/index.ts';
import type { NumberedMailbox } from '../mailbox/mailbox.ts';
import { explaining } from './explaining.ts';
import type { RunContext } from '../runContext.ts';
import type { ConnectivityLog } from '../connectivityLog.ts';
import { isFailed } from '../failed.ts';
import type { Failed } from '../failed.ts';
import type { Reads } from './reads.ts';
import { TransferReads } from './transferReads.ts';
import type { Booking, FoundTransfers, ListedTransfer } from './transferReads.ts';

/** What explains a difference of the balances. */
export type Explanations = {
  /** Absent: nothing explains what came or went, except a person. */
  readonly lists?: TransferLists | undefined;
  readonly adjustments?: NumberedMailbox<'adjust'> | undefined;
  /** Transfers that an earlier run has known. */
  readonly known: readonly string[] | null;
  /** A list is not ahead of the balances by more than this. */
  readonly listAheadMaxMs: Millis;
};

export type BalanceReadsOptions = {
  readonly run: RunContext;
  readonly engine: Engine;
  readonly connectivity: ConnectivityLog;
  readonly reads: Reads;
  readonly explained: Explanations;
  readonly readTrades: () => Promise<boolean>;
  readonly note: (what: string, failed: Failed) => void;
  /** Makes the ledger durable; false when the disk does not take it. */
  readonly persist: () => boolean;
};

/** Transfers that cancel out are seen in no balance: the lists are looked at now and then all the same. */
const LOOK_ANYWAY_MS = 600_000;
/** The same for as long as a line may still come of what is in the ledger otherwise; and after the lists could not be read. */
const LOOK_AGAIN_MS = 60_000;
/** While something differs: a halted bot compares every two seconds, and must not use up its requests. */
const LOOK_EVERY_MS = 5_000;
/** As long as quotes stay: a list that is little late must not take them out. */
const LOOK_SOON_MS = 1_500;
/** Without usable balances for this time only inventory is closed. */
const UNREAD_AFTER_MS = 60_000;
const UNREAD = 'the balances cannot be read';
const TRIES = 10;
const TRY_EVERY_MS = 500;

export class BalanceReads {
  readonly #o: BalanceReadsOptions;
  readonly #transfers: TransferReads | null;
  readonly #taken = new Set<string>();
  /** When the lists are looked at though nothing differs, and when they were last because something did. */
  #lookAt: Millis = -Infinity;
  #lookedAt: Millis = -Infinity;
  /** What the lists showed lately, until balances that were read after it are compared: a read may fail, or trades come between. */
  #shown: FoundTransfers | null = null;
  /** Until then a line may come of something that was in the opening balances, or was taken over by a resume: it must be seen while nothing differs. */
  #linesMayComeUntil: Millis;
  /** They differed, and nothing has been booked since. */
  #isUnbooked = false;
  /** First failed read in a row, by the clock; `null` after one that was answered. */
  #failingSince: Millis | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: BalanceReadsOptions) {
    this.#o = options;
    const { lists, known, listAheadMaxMs } = options.explained;
    this.#linesMayComeUntil = options.run.clock.elapsed() + listAheadMaxMs;
    this.#transfers = lists ? new TransferReads(lists, known, listAheadMaxMs, options.reads.currencies) : null;
  }

  /** Transfers that are in the ledger or were before it; for the journal. */
  get known(): readonly string[] | null {
    return this.#transfers === null ? this.#o.explained.known : this.#transfers.known;
  }

  /** Balances between two equal readings of the trades; true when nothing was traded meanwhile. One after the other, so that nothing is booked twice. */
  read(): Promise<boolean> {
    const turn = this.#turn.then(() => this.#readNow());
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #readNow(): Promise<boolean> {
    const { reads, readTrades, engine, note } = this.#o;
    const { step, time } = this.#o.run;
    this.#shown = (await this.#lookBefore()) ?? this.#shown;
    if (!(await readTrades())) return false;
    const newest = reads.newest;
    const event = await reads.balances();
    if (isFailed(event)) {
      note('balance', event);
      this.#failed(event);
      return false;
    }
    this.#failingSince = null;
    const quiet = (await readTrades()) && newest === reads.newest;
    step({ ...event, at: time(), quiet });
    if (!quiet) return false;
    const differs = engine.account.differences().length > 0;
    const now = this.#o.run.clock.elapsed();
    if (!differs && this.#shown !== null) this.#transfers?.seenEqual(this.#shown, now);
    this.#shown = null;
    if (!differs && this.#isUnbooked) this.#linesMayComeUntil = now + this.#o.explained.listAheadMaxMs;
    this.#isUnbooked = differs;
    if (differs) await this.#explain();
    this.#sayUnexplained();
    return true;
  }

  /** The exchange answers other reads: what it says of the balances is no answer. */
  #failed(failed: Failed): void {
    const { clock, step, time } = this.#o.run;
    this.#failingSince ??= clock.elapsed();
    const ms = clock.elapsed() - this.#failingSince;
    if (!(ms >= UNREAD_AFTER_MS)) return;
    const why = failed.kind === 'refused' ? `${failed.code} ${failed.message}` : failed.reason;
    step({ kind: 'balances unread', at: time(), reason: `${UNREAD}: ${why}` });
  }

  /** Whether balances on a quiet cut equal the ledger; trades that are still being recorded get a moment. `null` if the balances could not be read. */
  async match(): Promise<boolean | null> {
    const { engine } = this.#o;
    const { clock, log } = this.#o.run;
    let isCompared = false;
    for (let tries = 0; tries < TRIES; tries++) {
      if (await this.read()) {
        isCompared = true;
        if (engine.account.differences().length === 0) return true;
      }
      await sleep(clock, TRY_EVERY_MS);
    }
    if (!isCompared) {
      log.error({}, 'the ledger was not compared with the balances, which could not be read');
      return null;
    }
    for (const { currency, difference } of engine.account.differences()) {
      log.error(
        { currency, difference: textOfMoney(difference) },
        'our ledger and the balance differ (reported minus ours)',
      );
    }
    return false;
  }

  /** Books what a person has left. */
  takeUp(): void {
    const { explained, persist, connectivity } = this.#o;
    const { adjustments } = explained;
    const { log } = this.#o.run;
    if (!adjustments) return;
    const waiting = adjustments.waiting(sentence => connectivity.say(sentence, {}, sentence, 'error'));
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
  async #lookBefore(): Promise<FoundTransfers | null> {
    const now = this.#o.run.clock.elapsed();
    if (this.#transfers === null || now < this.#lookAt || this.#o.engine.account.differences().length > 0) return null;
    // A ledger that goes on is compared first: what its lines tell can wait for the quotes.
    if (this.#transfers.known !== null && !this.#o.engine.account.isReconciled) return null;
    const found = await this.#look();
    const isSoon = found === null || now < this.#linesMayComeUntil;
    this.#lookAt = now + (isSoon ? LOOK_AGAIN_MS : LOOK_ANYWAY_MS);
    if (found === null || this.#transfers.known === null || found.transfers.length === 0) return found;
    if (!cancelsOut(found.transfers)) return found;
    this.#take(found, found.transfers);
    this.#shown = null;
    return null;
  }

  async #explain(): Promise<void> {
    if (this.#transfers === null || this.#transfers.known === null) {
      // Learnt anew as soon as nothing differs.
      this.#lookAt = -Infinity;
      return;
    }
    const now = this.#o.run.clock.elapsed();
    // What a conversion has moved would be taken for what a list shows, which may have been offset by something that no list has.
    const everyMs = this.#o.engine.account.unexplained === null ? LOOK_SOON_MS : LOOK_EVERY_MS;
    if (this.#o.engine.account.isConverting || now - this.#lookedAt < everyMs) return;
    this.#lookedAt = now;
    const found = await this.#look();
    if (found === null) return;
    const differences = new Map(
      this.#o.engine.account.differences().map(({ currency, difference }) => [currency, difference]),
    );
    const transfers = this.#transfers;
    const booked = explaining(found.transfers, differences, transfer => transfers.isEarly(transfer));
    this.#take(found, booked);
  }

  /** Once for each difference, and once a minute while it stays. */
  #sayUnexplained(): void {
    const { engine, connectivity } = this.#o;
    const { time } = this.#o.run;
    const { unexplained } = engine.account;
    if (unexplained === null || engine.haltedBecause !== null) return;
    const { difference, haltsAt } = unexplained;
    const seconds = Math.max(0, Math.round((haltsAt - time()) / 1000));
    connectivity.say(
      `unexplained ${difference}`,
      { difference, seconds },
      `the exchange's balances differ from our ledger by ${difference} (reported minus ours): nothing is quoted while ${this.#asked(seconds)} (timing.transferListDelayMaxMs) trading halts. If you know what it is, book it: puntas ledger adjust --help`,
    );
  }

  #asked(seconds: number): string {
    return (this.#transfers?.known ?? null) === null
      ? `that is so, and its lists of deposits and withdrawals cannot tell why (none was read while nothing differed); if it stays for ${seconds} s`
      : `its lists of deposits and withdrawals are asked for the reason; if they do not show it within ${seconds} s`;
  }

  async #look(): Promise<FoundTransfers | null> {
    const found = await this.#transfers?.look();
    if (found === undefined) return null;
    if (!isFailed(found)) return found;
    const why = found.kind === 'refused' ? `${found.code} ${found.message}` : found.reason;
    const text = `deposits and withdrawals cannot be looked up (${why}): what they change, a person has to book`;
    this.#o.connectivity.also('transfers', {}, text);
    return null;
  }

  #take(found: FoundTransfers, booked: readonly ListedTransfer[]): void {
    for (const { id: _line, ...transfer } of booked) this.#book(transfer);
    if (booked.length > 0) this.#isUnbooked = false;
    this.#transfers?.take(found, booked, this.#o.run.clock.elapsed());
  }

  #book(transfer: Booking): void {
    const { step, time, log } = this.#o.run;
    const { source, cause, currency, amount, why } = transfer;
    step({ kind: 'transfer', at: time(), ...transfer });
    log[cause === 'withdrawals' ? 'warn' : 'info'](
      { source, cause, currency, amount: textOfMoney(amount), why },
      bookingText(transfer),
    );
  }
}

const bookingText = ({ cause, currency, amount, why }: Booking): string =>
  `booked under ${cause}: ${textOfMoney(amount)} ${currency} (${why})${cause === 'fees' ? '' : '; it is no profit'}`;

function cancelsOut(transfers: readonly ListedTransfer[]): boolean {
  const sums = new Map<string, bigint>();
  for (const { currency, amount } of transfers) sums.set(currency, (sums.get(currency) ?? 0n) + amount);
  return [...sums.values()].every(sum => sum === 0n);
}
