/** Risk supervision of one book: kill switch, position limit, and the regime that follows from them and the market. */
import type { HaltReason } from '../model/halts.ts';
import type { Inventory } from '../accounting/inventory.ts';
import { KillSwitch, type HaltLimits } from './killSwitch.ts';
import { positionLimitReason, PositionLimit, RESUMED_BEYOND_LIMIT } from './positionLimit.ts';
import type { RiskContext, RiskLimits, RiskRefusal } from './preTradeRisk.ts';
import { RegimeWatch, type RegimeRules } from './regimeWatch.ts';
import type { RegimeState } from './regimes.ts';
import { textOfMoney, type Millis, type Money } from '../model/units.ts';

/**
 * Rules of the supervision. Without `halts`, neither losses nor event counts nor inventory halt the bot. Without
 * `limits`, inventory is unlimited.
 */
export type RiskRules = {
  readonly halts?: HaltLimits | undefined;
  readonly regimes?: RegimeRules | null | undefined;
  readonly limits: Pick<RiskLimits, 'positionMax'> | null;
  /**
   * Symbol with which the reasons of this book start. Absent if the bot has only one book. A loss in one book stops all
   * books, so the reason must name the book with the loss.
   */
  readonly nameInReasons?: string | undefined;
};

export type RiskNews =
  | { readonly kind: 'regime'; readonly to: RegimeState; readonly from: RegimeState }
  /** Trading stops until the operator resumes it. */
  | { readonly kind: 'halted'; readonly reason: string };

export class RiskSupervisor {
  /** Kill switch; `null` without halt limits. */
  readonly killSwitch: KillSwitch | null;
  readonly regimes: RegimeWatch;
  readonly #limit: PositionLimit;
  readonly #isDrawdownAsked: boolean;
  /** Whether a limit that was exceeded during a halt was reported since the last resume. */
  #isLossTold = false;
  readonly #inventory: Inventory;
  readonly #onNews: (news: RiskNews) => void;
  readonly #named: <Reason extends string>(reason: Reason) => string;

  constructor(
    { halts, regimes, limits, nameInReasons: name }: RiskRules,
    inventory: Inventory,
    tell: (news: RiskNews) => void,
  ) {
    this.killSwitch = halts ? new KillSwitch(halts) : null;
    this.#named = reason => (name === undefined ? reason : `${name}: ${reason}`);
    this.regimes = new RegimeWatch(regimes, (to, from) => tell({ kind: 'regime', to, from }), this.#named);
    this.#limit = new PositionLimit(limits?.positionMax ?? null);
    this.#isDrawdownAsked = regimes?.reduceOnly?.drawdown !== undefined;
    this.#inventory = inventory;
    this.#onNews = tell;
  }

  /** Reason for the halt; null if not halted. */
  get haltedBecause(): string | null {
    return this.regimes.state.halt;
  }

  /** Reason for the operator's pause; null if not paused. */
  get pausedBecause(): string | null {
    return this.regimes.state.pause;
  }

  /** Reason for reduce-only that lasts until a resume; `null` if none, or if inventory is only near its limit. */
  get reducingBecause(): string | null {
    return this.regimes.state.reduce;
  }

  /**
   * Reason of the first loss since the last resume that requires reduce-only, even if another reason had set
   * reduce-only before; `null` if there is none.
   */
  get reducingLoss(): string | null {
    return this.regimes.loss;
  }

  /** Whether inventory is known and within its limit. */
  get isWithinLimit(): boolean {
    return this.#inventory.isOpen && this.#limit.isWithin(this.#inventory.positionLots());
  }

  /** Halts trading until the operator resumes; later reasons do not replace the first. */
  halt(at: Millis, reason: string): void {
    if (this.haltedBecause !== null) return;
    this.regimes.apply({ kind: 'halt', at, reason });
    this.#onNews({ kind: 'halted', reason });
  }

  /** Applies the operator's resume: the measurement of losses and the counts of events restart from zero. */
  resume(event: { readonly kind: 'resume'; readonly at: Millis }): void {
    this.regimes.apply(event);
    this.killSwitch?.reset();
    this.#limit.resumed();
    this.#isLossTold = false;
  }

  /**
   * Checks losses, counts and inventory before each decision, and halts the bot if one of them exceeds its limit.
   * Returns true if the check halted the bot.
   */
  check(at: Millis): boolean {
    if (this.killSwitch === null || this.haltedBecause !== null || !this.#inventory.isOpen) return false;
    const breach = this.killSwitch.breach(this.#inventory.profitForLimits(), at);
    if (breach !== null) this.halt(at, this.#named(breach));
    const { reduces, halts } = this.#limit.check(this.#inventory.positionLots(), this.reducingBecause !== null);
    if (reduces) this.regimes.apply({ kind: 'reduce', at, reason: RESUMED_BEYOND_LIMIT });
    const beyond = halts ? this.#beyondLimit() : null;
    if (beyond !== null) this.halt(at, this.#named(beyond));
    return breach !== null || beyond !== null;
  }

  /**
   * Checks losses and counts of a book that is already halted, and reports the first that exceeds its limit: its
   * inventory can still lose, which halts the other books.
   */
  checkHalted(at: Millis): void {
    if (this.killSwitch === null || this.haltedBecause === null || !this.#inventory.isOpen || this.#isLossTold) return;
    const breach = this.killSwitch.breach(this.#inventory.profitForLimits(), at);
    if (breach === null) return;
    this.#isLossTold = true;
    const reason = this.#named(breach);
    if (reason !== this.haltedBecause) this.#onNews({ kind: 'halted', reason });
  }

  /** Updates the regime at each decision from the market and the inventory. */
  look(at: Millis, { depth, limits, position }: RiskContext, refusal: RiskRefusal | null): void {
    this.regimes.look(at, depth, refusal, position, limits?.positionMax ?? 0, this.#drawdown());
  }

  /** Reason for a halt that is in effect now, or that a loss or inventory causes at the next decision; else `null`. */
  pendingHaltReason(at: Millis): string | null {
    if (this.haltedBecause !== null) return this.haltedBecause;
    const profit = this.#inventory.profitForLimits();
    const loss = profit === null ? null : (this.killSwitch?.lossBeyond(profit, at) ?? null);
    return loss === null ? (this.reducingBecause === null ? this.#beyondLimit() : null) : this.#named(loss);
  }

  #beyondLimit(): HaltReason | null {
    if (!this.#limit.isBeyond(this.#inventory.positionLots())) return null;
    return positionLimitReason(`${textOfMoney(this.#inventory.position())} ${this.#inventory.currency}`);
  }

  #drawdown(): Money | null {
    if (!this.#isDrawdownAsked || this.killSwitch === null || !this.#inventory.isOpen) return null;
    return this.killSwitch.drawdown(this.#inventory.profitForLimits());
  }
}
