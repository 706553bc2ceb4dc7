/** Comparison of the exchange's balances with the bot's ledger: reaction to differences, and adjustment after the operator resumes. */
import type { HaltReason } from '../model/halts.ts';
import type { Holdings } from './holdings.ts';
import { textOfMoney, type Millis, type Money } from '../model/units.ts';

/** Balances reported in a quiet read, and their difference from the ledger at that time. */
export type BalanceCheck = {
  readonly at: Millis;
  readonly reported: ReadonlyMap<string, Money>;
  /** Reported minus ledger, where they differ. */
  readonly differences: ReadonlyMap<string, Money>;
};

/** Difference that the exchange's lists may still explain; nothing is quoted meanwhile. */
export type Unexplained = {
  /** `-100 mxn, 0.5 btc`: reported minus ledger. */
  readonly difference: string;
  /** Time of the halt, in engine time, unless an explanation arrives before. */
  readonly haltsAt: Millis;
};

const MISMATCHES_TO_REFUSE = 2;
const MISMATCHES_TO_HALT = 3;
/** Minimum age of a difference for a refusal. A younger one may be a late trade record or transfer, so quotes stay. */
const REFUSE_AFTER_MS = 10_000;

export class Reconciliation {
  readonly #holdings: Holdings;
  readonly #tradeReportDelayMaxMs: Millis;
  readonly #listWaitMs: Millis;
  /** Consecutive quiet balance reads that differed from the ledger. */
  #mismatches = 0;
  /** Start of the current difference, without any explanation since; null while equal. */
  #differedSince: Millis | null = null;
  /** Whether the difference was old at the last comparison. */
  #isOld = false;
  #equalled = false;
  #checked: BalanceCheck | null = null;
  /** Set by a resume: a difference that stays constant for the settle time is booked into the ledger. */
  #adjusting: { readonly difference: string; readonly since: Millis } | null = null;

  /** `listWaitMs` is the maximum delay until the exchange's lists show a balance change. */
  constructor(holdings: Holdings, tradeReportDelayMaxMs: Millis, listWaitMs: Millis) {
    this.#holdings = holdings;
    this.#tradeReportDelayMaxMs = tradeReportDelayMaxMs;
    this.#listWaitMs = listWaitMs;
  }

  /** Whether balances equaled the ledger since the start and since the last resume. */
  get hasEqualled(): boolean {
    return this.#equalled;
  }

  /** The last comparison; null before the first. */
  get checked(): BalanceCheck | null {
    return this.#checked;
  }

  /** Whether they differ for longer than a late record explains. */
  get differs(): boolean {
    return this.#mismatches >= MISMATCHES_TO_REFUSE && this.#isOld;
  }

  /** Difference while waiting for the lists; null if there is none. */
  get unexplained(): Unexplained | null {
    if (!this.differs || this.#differedSince === null) return null;
    return { difference: this.#listOfDifferences(), haltsAt: this.#differedSince + this.#listWaitMs };
  }

  /** Records that balances equal the ledger, with or without a conversion of unknown outcome. */
  equalledButForConversions(): void {
    // After a resume, the comparison continues until nothing differs.
    if (this.#adjusting !== null && this.#listOfDifferences() !== '') return;
    this.#adjusting = null;
    this.#equalled = true;
  }

  /** Restarts the count after a conversion, which may explain the difference. */
  restartCount(): void {
    this.#mismatches = 0;
  }

  /** Restarts the time after a part of the difference was booked. */
  restartWait(): void {
    this.restartCount();
    this.#differedSince = null;
  }

  /** Applies a resume. The last balances may be older than trades in the ledger, so only a new read shows the difference. */
  resumed(at: Millis): void {
    this.restartWait();
    this.#equalled = false;
    this.#adjusting ??= { difference: '', since: at };
  }

  /**
   * Checks a quiet balance read. Returns the halt reason, or null. A single difference may be a late trade record; a
   * lasting one halts once the lists had time to explain it.
   */
  read(startedAt: Millis): HaltReason | null {
    this.#holdings.settleResidue(startedAt);
    const differences = this.#holdings.differences();
    this.#checked = {
      at: startedAt,
      reported: new Map(this.#holdings.reported),
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
    const differences = this.#holdings.differences();
    return differences.map(({ currency, difference }) => `${textOfMoney(difference)} ${currency}`).join(', ');
  }

  /** Books a difference that stayed constant for longer than a trade record can be late. Otherwise a late trade would count twice. */
  #adjust(list: string, before: { readonly difference: string; readonly since: Millis }, startedAt: Millis): void {
    if (before.difference !== list) {
      this.#adjusting = { difference: list, since: startedAt };
      return;
    }
    if (!(startedAt - before.since >= this.#tradeReportDelayMaxMs)) return;
    this.#holdings.adjust(startedAt);
    this.#adjusting = null;
    this.#equalled = true;
  }
}
