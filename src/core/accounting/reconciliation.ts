/** Whether the exchange's balances equal our ledger: when not, what is done about it, and when a person's word takes them for it. */
import type { HaltReason } from '../model/halts.ts';
import type { Holdings } from './holdings.ts';
import { textOfMoney } from '../model/units.ts';
import type { Millis, Money } from '../model/units.ts';

/** What the exchange reported on a quiet cut, and how the ledger stood to it at that moment. */
export type BalanceCheck = {
  readonly at: Millis;
  readonly reported: ReadonlyMap<string, Money>;
  /** Reported minus ours, where they differ. */
  readonly differences: ReadonlyMap<string, Money>;
};

/** A difference that the exchange's lists are still asked to explain: nothing is quoted meanwhile. */
export type Unexplained = {
  /** `-100 mxn, 0.5 btc`: reported minus ours. */
  readonly difference: string;
  /** When a halt follows, in the engine's time, unless something explains it before. */
  readonly haltsAt: Millis;
};

const MISMATCHES_TO_REFUSE = 2;
const MISMATCHES_TO_HALT = 3;
/** A difference that is younger may be a trade whose record, or a transfer whose line in the lists, is about to come: quotes stay. */
const REFUSE_AFTER_MS = 10_000;

export class Reconciliation {
  readonly #holdings: Holdings;
  readonly #tradeReportDelayMaxMs: Millis;
  readonly #listWaitMs: Millis;
  /** Quiet balance reads in a row that differed from the ledger. */
  #mismatches = 0;
  /** Since when they have differed, with nothing explained meanwhile; null while they equal. */
  #differedSince: Millis | null = null;
  /** They had differed for a while when they were last compared. */
  #isOld = false;
  #equalled = false;
  #checked: BalanceCheck | null = null;
  /** A person has resumed: a difference that stays the same for the settle time is taken into the ledger. */
  #adjusting: { readonly difference: string; readonly since: Millis } | null = null;

  /** `listWaitMs`: how long the exchange's lists may take to show what moved the balances. */
  constructor(holdings: Holdings, tradeReportDelayMaxMs: Millis, listWaitMs: Millis) {
    this.#holdings = holdings;
    this.#tradeReportDelayMaxMs = tradeReportDelayMaxMs;
    this.#listWaitMs = listWaitMs;
  }

  /** They equalled once since the start, and since a person last resumed. */
  get hasEqualled(): boolean {
    return this.#equalled;
  }

  /** The last comparison; null before the first. */
  get checked(): BalanceCheck | null {
    return this.#checked;
  }

  /** They differ for longer than a late record explains. */
  get differs(): boolean {
    return this.#mismatches >= MISMATCHES_TO_REFUSE && this.#isOld;
  }

  /** What differs while the lists are waited for; null while nothing does. */
  get unexplained(): Unexplained | null {
    if (!this.differs || this.#differedSince === null) return null;
    return { difference: this.#listOfDifferences(), haltsAt: this.#differedSince + this.#listWaitMs };
  }

  /** They equal the ledger, with or without a conversion whose end is not known. */
  equalledButForConversions(): void {
    // What a person took over stays to be compared as long as anything differs.
    if (this.#adjusting !== null && this.#listOfDifferences() !== '') return;
    this.#adjusting = null;
    this.#equalled = true;
  }

  /** A conversion moved: what differed may be explained by now. */
  again(): void {
    this.#mismatches = 0;
  }

  /** A part of what differed is booked: the rest has its own time. */
  explained(): void {
    this.again();
    this.#differedSince = null;
  }

  /** The balances that were read last may be older than trades that are in the ledger by now: only a new read tells what differs. */
  resumed(at: Millis): void {
    this.explained();
    this.#equalled = false;
    this.#adjusting ??= { difference: '', since: at };
  }

  /**
   * After a read of the balances on a quiet cut: why to halt, or null. Once may be a trade whose record is late; what stays is halted on once the
   * lists have had their time to explain it.
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

  /** A trade whose record is late would be counted twice: what differs must have stayed the same for longer than that takes. */
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
