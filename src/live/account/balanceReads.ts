/**
 * Comparison of the exchange's balances with the ledger, at times without trades. Transfers and the operator's bookings
 * explain differences.
 */
import { sleep, textOfMoney, type Engine, type Millis, type TransferLists } from '../../core/index.ts';
import type { MailMessage } from '../mailbox/kinds.ts';
import type { NumberedMailbox } from '../mailbox/mailbox.ts';
import { explaining } from './transferSelection.ts';
import type { RunContext } from '../runContext.ts';
import type { ConnectivityLog } from '../connectivityLog.ts';
import { isFailed, type Failed } from '../failedRequest.ts';
import type { Reads } from './reads.ts';
import { TransferReads, type Booking, type FoundTransfers, type ListedTransfer } from './transferReads.ts';

/** Data that can explain a difference between the balances and the ledger. */
export type Explanations = {
  /** Transfer lists. If absent, only the operator's bookings explain a difference. */
  readonly lists?: TransferLists | undefined;
  readonly adjustments?: NumberedMailbox<'adjust'> | undefined;
  /** Ids of the transfers that an earlier run recorded; `null` if these ids are unknown. */
  readonly known: readonly string[] | null;
  /** Whether a listed transfer may be one side of a transfer between the bot's two exchanges. If absent, none is. */
  readonly isBetween?: (transfer: Booking) => boolean;
  /** Whether a transfer between the bot's two exchanges can have the currency. If absent, none can. */
  readonly isTransferable?: (currency: string) => boolean;
  /** Whether the currency is in an account whose opening balances are not read yet. If absent, none is. */
  readonly isUnread?: (currency: string) => boolean;
  /** Maximum time by which a list may show a transfer before the balances do. */
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
  /** Makes the ledger durable. Returns `false` if the disk accepts no write. */
  readonly persist: () => boolean;
};

/**
 * Pause between reads of the transfer lists while balances equal the ledger. These reads find transfers that cancel
 * each other out and therefore change no balance.
 */
const LOOK_ANYWAY_MS = 600_000;
/**
 * Pause between reads of the transfer lists after a failed read, and while new lines of the lists may still refer to
 * amounts that the ledger already includes.
 */
const LOOK_AGAIN_MS = 60_000;
/**
 * Pause between reads of the transfer lists while balances differ from the ledger and the bot does not quote. A halted
 * bot compares balances every two seconds, so reads of the lists must not use up the request budget.
 */
const LOOK_EVERY_MS = 5_000;
/**
 * Pause between reads of the transfer lists while balances differ from the ledger and quotes are live. The pause is
 * short, so that a slightly late list does not lead to a cancel.
 */
const LOOK_SOON_MS = 1_500;
/** Time for which reads of the balances must fail before the bot becomes reduce-only. */
const UNREAD_AFTER_MS = 60_000;
const UNREAD = 'the balances cannot be read';
const TRIES = 10;
const TRY_EVERY_MS = 500;

export class BalanceReads {
  readonly #o: BalanceReadsOptions;
  readonly #transfers: TransferReads | null;
  /** Adjustments that were booked or refused, by id. */
  readonly #taken = new Map<string, 'booked' | 'refused'>();
  /** Time of the next read of the transfer lists while balances equal the ledger. */
  #lookAt: Millis = -Infinity;
  /** Time of the last read of the transfer lists that was caused by a difference between balances and ledger. */
  #lookedAt: Millis = -Infinity;
  /** Result of the last read of the transfer lists; stored until the next comparison of balances. */
  #shown: FoundTransfers | null = null;
  /**
   * Time until which a new line may refer to an amount that the opening or a resume has already booked. Until then, the
   * transfer lists are read often while balances equal the ledger.
   */
  #linesMayComeUntil: Millis;
  /**
   * Whether balances differed from the ledger at the last comparison, and no transfer was booked since that comparison.
   */
  #isUnbooked = false;
  /**
   * Time of the first failed read after the last successful read of the balances; `null` if the last read succeeded.
   */
  #failingSince: Millis | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: BalanceReadsOptions) {
    this.#o = options;
    const { lists, known, listAheadMaxMs } = options.explained;
    this.#linesMayComeUntil = options.run.clock.elapsed() + listAheadMaxMs;
    this.#transfers = lists ? new TransferReads(lists, known, listAheadMaxMs, options.reads.currencies) : null;
  }

  /** Ids of transfers that the ledger contains or that are older than the ledger, for the journal. */
  get known(): readonly string[] | null {
    return this.#transfers === null ? this.#o.explained.known : this.#transfers.known;
  }

  /**
   * Reads the balances between two reads of the trades. Resolves to `true` if the second read of the trades found no
   * newer trade. Only one call runs at a time, so that no transfer is booked twice.
   */
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
    const event = await reads.balances([...engine.account.totals.keys()]);
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

  /**
   * Reports to the engine that the balances cannot be read, once reads have failed for `UNREAD_AFTER_MS` while the
   * exchange answers other requests.
   */
  #failed(failed: Failed): void {
    const { clock, step, time } = this.#o.run;
    this.#failingSince ??= clock.elapsed();
    const ms = clock.elapsed() - this.#failingSince;
    if (!(ms >= UNREAD_AFTER_MS)) return;
    const why = failed.kind === 'refused' ? `${failed.code} ${failed.message}` : failed.reason;
    step({ kind: 'balances unread', at: time(), reason: `${UNREAD}: ${why}` });
  }

  /**
   * Whether the balances equal the ledger; `null` if the balances could not be read. Reads again after a difference,
   * because the exchange may record trades late.
   */
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
      log.error({}, 'the balances could not be read, so they were not compared with the ledger');
      return null;
    }
    for (const { currency, difference } of engine.account.differences()) {
      log.error(
        { currency, difference: textOfMoney(difference) },
        'the balances differ from the ledger (field difference: balance minus ledger)',
      );
    }
    return false;
  }

  /**
   * Books the adjustments that the operator requested in the state directory. An adjustment of an account that has not
   * been read yet waits in the directory.
   */
  bookAdjustments(): void {
    const { explained, persist, connectivity } = this.#o;
    const { adjustments } = explained;
    if (!adjustments) return;
    const waiting = adjustments.waiting(sentence => connectivity.say(sentence, {}, sentence, 'error'));
    const taken = waiting.filter(request => this.#taken.has(request.id) || this.#bookAdjustment(request));
    if (taken.length === 0) return;
    if (!persist()) return;
    for (const { id } of taken)
      try {
        adjustments.done(id);
      } catch (error) {
        const file = adjustments.path(id);
        const isBooked = this.#taken.get(id) === 'booked';
        // A booked request cannot be booked again, because the ledger has its id. A refused request could be booked by
        // a later run with another configuration, so its file must be deleted.
        const sentence = isBooked
          ? `a booking is in the ledger, but its request file could not be deleted: ${file}`
          : `an adjustment was refused and not booked, but its request file could not be deleted; delete ${file}`;
        connectivity.say(`file ${id}`, { error: String(error) }, sentence, isBooked ? 'warn' : 'error');
      }
  }

  /** Books the adjustment, or logs why it is not booked. Returns false if the adjustment must wait. */
  #bookAdjustment({ id, at, currency, amount, reason, by, inTransit = false }: MailMessage<'adjust'>): boolean {
    const { explained, connectivity } = this.#o;
    const why = `${by}: ${reason}`;
    const text = `${textOfMoney(amount)} ${currency}${inTransit ? ' in transit' : ''} (${why})`;
    const known = { source: `adjust ${id}`, currency, amount: textOfMoney(amount) };
    if (explained.isUnread?.(currency) === true) {
      const sentence = `not booked yet: ${text}; the bot books the amount after its first read of the balances on the other exchange`;
      connectivity.say(`adjustment ${id}`, known, sentence, 'error');
      return false;
    }
    if (inTransit && explained.isTransferable?.(currency) !== true) {
      // The request is refused instead of waiting, because meanwhile a transfer list or a resume could book the amount
      // too.
      this.#taken.set(id, 'refused');
      this.#o.run.log.error(
        known,
        `not booked: ${text}, because this bot does not hedge on another exchange in a book with this currency; book the amount without --in-transit`,
      );
      return true;
    }
    const of = { source: `adjust ${id}`, cause: 'adjustments', currency, amount, occurredAt: at, why } as const;
    this.#taken.set(id, 'booked');
    this.#book(inTransit ? { ...of, inTransit: true } : of);
    return true;
  }

  /**
   * Reads the transfer lists before the balances, if a read is due. Books the new transfers if together they change no
   * balance.
   */
  async #lookBefore(): Promise<FoundTransfers | null> {
    const now = this.#o.run.clock.elapsed();
    if (this.#transfers === null || now < this.#lookAt || this.#o.engine.account.differences().length > 0) return null;
    // A restored ledger is compared with the balances first, because quotes wait for this comparison. The lists can be
    // read later.
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
      // The lists are read again as soon as balances equal the ledger.
      this.#lookAt = -Infinity;
      return;
    }
    const now = this.#o.run.clock.elapsed();
    // The lists are not read during a conversion, because its amounts could look like the amounts of a listed transfer.
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

  /**
   * Logs a new difference between balances and ledger immediately, then once per minute while the difference remains.
   */
  #sayUnexplained(): void {
    const { engine, connectivity } = this.#o;
    const { time } = this.#o.run;
    const { unexplained } = engine.account;
    // A halt of single books leaves the others to be quoted.
    if (unexplained === null || engine.books.every(book => book.haltedBecause !== null)) return;
    const { difference, haltsAt } = unexplained;
    const seconds = Math.max(0, Math.round((haltsAt - time()) / 1000));
    connectivity.say(
      `unexplained ${difference}`,
      { difference, seconds },
      `the exchange's balances differ from the bot's ledger by ${difference} (balance minus ledger); quoting is paused. ${this.#asked(seconds)}. If you know the cause, book the difference (see puntas ledger adjust --help)`,
    );
  }

  #asked(seconds: number): string {
    if (seconds === Infinity)
      return 'The trial order does not search for the cause; the bot searches at its next start';
    return (this.#transfers?.known ?? null) === null
      ? `The lists of deposits and withdrawals cannot explain the difference, because they were not read before the difference appeared; trading halts if the difference lasts another ${seconds} s (timing.transferListDelayMaxMs)`
      : `The bot searches the lists of deposits and withdrawals for the cause; trading halts if the lists do not show the cause within ${seconds} s (timing.transferListDelayMaxMs)`;
  }

  async #look(): Promise<FoundTransfers | null> {
    const found = await this.#transfers?.look();
    if (found === undefined) return null;
    if (!isFailed(found)) return found;
    const why = found.kind === 'refused' ? `${found.code} ${found.message}` : found.reason;
    const text = `cannot read deposits and withdrawals (${why}); book each transfer manually with puntas ledger adjust`;
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
    const isBetween = this.#o.explained.isBetween?.(transfer) === true;
    step({ kind: 'transfer', at: time(), ...transfer, ...(isBetween ? { inTransit: true } : {}) });
    log[cause === 'withdrawals' ? 'warn' : 'info'](
      { source, cause, currency, amount: textOfMoney(amount), why },
      bookingText(transfer),
    );
  }
}

const bookingText = ({ cause, currency, amount, why }: Booking): string =>
  `booked under ${cause}: ${textOfMoney(amount)} ${currency} (${why})${cause === 'fees' ? '' : '; not counted as profit'}`;

function cancelsOut(transfers: readonly ListedTransfer[]): boolean {
  const sums = new Map<string, bigint>();
  for (const { currency, amount } of transfers) sums.set(currency, (sums.get(currency) ?? 0n) + amount);
  return [...sums.values()].every(sum => sum === 0n);
}
