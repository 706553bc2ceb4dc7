/**
 * Comparison of the exchange's balances with the bot's ledger: reaction to differences, and booking of differences
 * after a resume.
 */
import type { LedgerHalt } from '../model/halts.ts';
import type { Bookings } from './bookings.ts';
import { textOfMoney, type Millis, type Money } from '../model/units.ts';

/** Result of comparing a quiet balance read with the ledger. A read is quiet if no trade was recorded around it. */
export type BalanceCheck = {
  readonly at: Millis;
  readonly reported: ReadonlyMap<string, Money>;
  /** Reported balance minus ledger balance, for each currency with a difference. */
  readonly differences: ReadonlyMap<string, Money>;
};

/** Latest comparison of the balances on another exchange with their ledger. */
export type ElsewhereCheck = BalanceCheck & { readonly place: string };

/**
 * Difference between balances and ledger that newly listed transfers or trades may still explain. The bot does not
 * quote until the difference is explained.
 */
export type Unexplained = {
  /** Reported balances minus ledger balances, such as `-100 mxn, 0.5 btc`. */
  readonly difference: string;
  /** Engine time at which the bot halts if no transfer or trade has explained the difference by then. */
  readonly haltsAt: Millis;
};

const MISMATCHES_TO_REFUSE = 2;
const MISMATCHES_TO_HALT = 3;
/** Minimum age of a difference that stops quoting. A younger difference may be a late trade record or transfer. */
const REFUSE_AFTER_MS = 10_000;

export class Reconciliation {
  readonly #bookings: Bookings;
  readonly #tradeReportDelayMaxMs: Millis;
  readonly #listWaitMs: Millis;
  /** Number of consecutive quiet balance reads that differed from the ledger. */
  #mismatches = 0;
  /** Start of the current unexplained difference; `null` if balances equal the ledger. */
  #differedSince: Millis | null = null;
  /** Whether the difference was at least REFUSE_AFTER_MS old at the last comparison. */
  #isOld = false;
  #equalled = false;
  #checked: BalanceCheck | null = null;
  /**
   * Difference that a resume allows the bot to book; `null` if there is none. The bot books the difference once it has
   * been constant for the trade report delay.
   */
  #adjusting: { readonly difference: string; readonly since: Millis } | null = null;

  /** `listWaitMs` is the maximum delay until the exchange's transfer lists show a balance change. */
  constructor(bookings: Bookings, tradeReportDelayMaxMs: Millis, listWaitMs: Millis) {
    this.#bookings = bookings;
    this.#tradeReportDelayMaxMs = tradeReportDelayMaxMs;
    this.#listWaitMs = listWaitMs;
  }

  /** Whether balances have equaled the ledger at least once since the start or, if later, the last resume. */
  get hasEqualled(): boolean {
    return this.#equalled;
  }

  /** Latest comparison of balances with the ledger; `null` before the first comparison. */
  get checked(): BalanceCheck | null {
    return this.#checked;
  }

  /** Whether balances have differed from the ledger for so long that a late trade record cannot be the cause. */
  get differs(): boolean {
    return this.#mismatches >= MISMATCHES_TO_REFUSE && this.#isOld;
  }

  /** Current difference that the exchange's transfer lists may still explain; `null` if none. */
  get unexplained(): Unexplained | null {
    if (!this.differs || this.#differedSince === null) return null;
    return { difference: this.#listOfDifferences(), haltsAt: this.#differedSince + this.#listWaitMs };
  }

  /** Records that balances equal the ledger, with or without a conversion whose outcome is unknown. */
  recordEqualBalances(): void {
    // After a resume, the comparison continues until the balances equal the ledger.
    if (this.#adjusting !== null && this.#listOfDifferences() !== '') return;
    this.#adjusting = null;
    this.#equalled = true;
  }

  /** Restarts the count of mismatches after a conversion, which may explain the difference. */
  restartCount(): void {
    this.#mismatches = 0;
  }

  /** Restarts the waiting time after a part of the difference was booked. */
  restartWait(): void {
    this.restartCount();
    this.#differedSince = null;
  }

  /**
   * Applies a resume. Waits for a new read of the balances, because the last read may be older than some trades in the
   * ledger.
   */
  resumed(at: Millis): void {
    this.restartWait();
    this.#equalled = false;
    this.#adjusting ??= { difference: '', since: at };
  }

  /**
   * Checks a quiet balance read. Returns the halt reason, or `null`. A difference in a single read may come from a late
   * trade record. A lasting difference halts the bot if the exchange's transfer lists have not explained it in time.
   */
  read(startedAt: Millis): LedgerHalt | null {
    this.#bookings.settleResidue(startedAt);
    this.#bookings.settleRounding(startedAt);
    const differences = this.#bookings.differences();
    this.#checked = {
      at: startedAt,
      reported: new Map(this.#bookings.reported),
      differences: new Map(differences.map(({ currency, difference }) => [currency, difference])),
    };
    const list = this.#listOfDifferences();
    if (this.#adjusting !== null && list !== '') {
      this.#adjust(list, this.#adjusting, startedAt);
      return null;
    }
    this.#adjusting = null;
    this.#mismatches = list === '' ? 0 : this.#mismatches + 1;
    if (list === '') {
      this.#equalled = true;
      this.#differedSince = null;
      return null;
    }
    this.#differedSince ??= startedAt;
    this.#isOld = !(startedAt - this.#differedSince < Math.min(REFUSE_AFTER_MS, this.#listWaitMs));
    if (this.#mismatches < MISMATCHES_TO_HALT || startedAt - this.#differedSince < this.#listWaitMs) return null;
    return `the exchange's balances differ from our ledger by ${list} (reported minus ours)`;
  }

  #listOfDifferences(): string {
    const differences = this.#bookings.differences();
    return differences.map(({ currency, difference }) => `${textOfMoney(difference)} ${currency}`).join(', ');
  }

  /**
   * Books a difference that has been constant for the maximum trade report delay. If the bot booked the difference
   * earlier, a late trade record would count twice.
   */
  #adjust(list: string, before: { readonly difference: string; readonly since: Millis }, startedAt: Millis): void {
    if (before.difference !== list) {
      this.#adjusting = { difference: list, since: startedAt };
      return;
    }
    if (!(startedAt - before.since >= this.#tradeReportDelayMaxMs)) return;
    this.#bookings.adjust(startedAt);
    this.#adjusting = null;
    this.#equalled = true;
  }
}
