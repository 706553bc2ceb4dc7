/** What stops a book or lets it only close inventory: its kill switch, its position limit, and the regime that comes of these and the market. */
import type { HaltReason } from '../model/halts.ts';
import type { Inventory } from '../accounting/inventory.ts';
import { KillSwitch } from './killSwitch.ts';
import type { HaltLimits } from './killSwitch.ts';
import { beyondLimit, PositionLimit, RESUMED_BEYOND } from './positionLimit.ts';
import type { RiskContext, RiskLimits, RiskRefusal } from './preTradeRisk.ts';
import { RegimeWatch } from './regimeWatch.ts';
import type { RegimeRules } from './regimeWatch.ts';
import type { RegimeState } from './regimes.ts';
import { textOfMoney } from '../model/units.ts';
import type { Millis, Money } from '../model/units.ts';

/** Without `halts` neither losses nor counts nor inventory halt; without `limits` no inventory is too much. */
export type RiskRules = {
  readonly halts?: HaltLimits | undefined;
  readonly regimes?: RegimeRules | null | undefined;
  readonly limits: Pick<RiskLimits, 'positionMax'> | null;
};

export type RiskNews =
  | { readonly kind: 'regime'; readonly to: RegimeState; readonly from: RegimeState }
  /** Trading stops until a person resumes it. */
  | { readonly kind: 'halted'; readonly reason: string };

export class RiskSupervisor {
  /** Null: nothing is counted. */
  readonly killSwitch: KillSwitch | null;
  readonly regimes: RegimeWatch;
  readonly #limit: PositionLimit;
  readonly #isDrawdownAsked: boolean;
  readonly #inventory: Inventory;
  readonly #tell: (news: RiskNews) => void;

  constructor({ halts, regimes, limits }: RiskRules, inventory: Inventory, tell: (news: RiskNews) => void) {
    this.killSwitch = halts ? new KillSwitch(halts) : null;
    this.regimes = new RegimeWatch(regimes, (to, from) => tell({ kind: 'regime', to, from }));
    this.#limit = new PositionLimit(limits?.positionMax ?? null);
    this.#isDrawdownAsked = regimes?.reduceOnly?.drawdown !== undefined;
    this.#inventory = inventory;
    this.#tell = tell;
  }

  /** Why trading is halted; null when it is not. */
  get haltedBecause(): string | null {
    return this.regimes.state.halt;
  }

  /** Why a person lets nothing be quoted for now; null when nobody does. */
  get pausedBecause(): string | null {
    return this.regimes.state.pause;
  }

  /** Why only inventory is closed until a resume; null when it is not, or only because inventory is near its limit. */
  get reducingBecause(): string | null {
    return this.regimes.state.reduce;
  }

  /** Inventory is known, and no farther from its target than its limit. */
  get isWithinLimit(): boolean {
    return this.#inventory.isOpen && this.#limit.isWithin(this.#inventory.positionLots());
  }

  /** Trading stops until a person resumes it; the first reason stays. */
  halt(at: Millis, reason: string): void {
    if (this.haltedBecause !== null) return;
    this.regimes.take({ kind: 'halt', at, reason });
    this.#tell({ kind: 'halted', reason });
  }

  /** A person has looked: what was lost and counted before counts no more. */
  resume(event: { readonly kind: 'resume'; readonly at: Millis }): void {
    this.regimes.take(event);
    this.killSwitch?.reset();
    this.#limit.resumed();
  }

  /** Before each decision: halts by losses, counts and inventory. True when there is a reason to. */
  check(at: Millis): boolean {
    if (this.killSwitch === null || this.haltedBecause !== null || !this.#inventory.isOpen) return false;
    const breach = this.killSwitch.breach(this.#inventory.totalProfit(), at);
    if (breach !== null) this.halt(at, breach);
    const { reduces, halts } = this.#limit.heed(this.#inventory.positionLots(), this.reducingBecause !== null);
    if (reduces) this.regimes.take({ kind: 'reduce', at, reason: RESUMED_BEYOND });
    const beyond = halts ? this.#beyondLimit() : null;
    if (beyond !== null) this.halt(at, beyond);
    return breach !== null || beyond !== null;
  }

  /** At each decision: the regime by the market and by where the book stands. */
  look(at: Millis, { depth, limits, position }: RiskContext, refusal: RiskRefusal | null): void {
    this.regimes.look(at, depth, refusal, position, limits?.positionMax ?? 0, this.#drawdown());
  }

  /** Why trading is halted, or would be at the next decision by its inventory; null otherwise. */
  get haltToCome(): string | null {
    return this.haltedBecause ?? (this.reducingBecause === null ? this.#beyondLimit() : null);
  }

  #beyondLimit(): HaltReason | null {
    if (!this.#limit.isBeyond(this.#inventory.positionLots())) return null;
    return beyondLimit(`${textOfMoney(this.#inventory.position())} ${this.#inventory.currency}`);
  }

  #drawdown(): Money | null {
    if (!this.#isDrawdownAsked || this.killSwitch === null || !this.#inventory.isOpen) return null;
    return this.killSwitch.drawdown(this.#inventory.totalProfit());
  }
}
