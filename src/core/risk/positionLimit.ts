/**
 * Inventory limit. Inventory beyond the limit halts the bot. After a resume, the bot is reduce-only until inventory is
 * within the limit.
 */

import type { HaltReason } from '../model/halts.ts';

/** Reason for reduce-only after a resume with inventory beyond its limit. This reduce-only ends automatically. */
export const RESUMED_BEYOND_LIMIT =
  'inventory is beyond its limit, and a person has resumed: it is only closed until it is within limits.positionMax';

/** Returns the halt reason. `text` is the distance of inventory from its target, with its currency. */
export const positionLimitReason = (text: string): HaltReason =>
  `position: ${text} from the target is beyond its limit`;

/** Whether the halt reason is inventory beyond its limit. */
export const isPositionLimitReason = (reason: string): boolean => /^position: .* is beyond its limit$/.test(reason);

/**
 * Multiple of the limit above which inventory counts as beyond the limit. The risk gate keeps the worst case within the
 * limit, so only activity outside the bot exceeds the limit.
 */
const TOLERANCE_FACTOR = 1.05;

/** Check of inventory against its limit, both in lots. If the limit is `null`, any inventory is allowed. */
export class PositionLimit {
  readonly #max: number | null;
  /**
   * Whether the operator has resumed since the last check. `#beyond` is the inventory, in lots, at which the limit was
   * first found exceeded.
   */
  #isResumed = false;
  #beyond: number | null = null;

  constructor(max: number | null) {
    this.#max = max;
  }

  isBeyond(lots: number): boolean {
    return this.#max !== null && Math.abs(lots) > this.#max * TOLERANCE_FACTOR;
  }

  isWithin(lots: number): boolean {
    return this.#max !== null && Math.abs(lots) <= this.#max;
  }

  resumed(): void {
    this.#isResumed = true;
  }

  /**
   * Checks inventory. Beyond the limit, the check halts the bot, unless the bot is reduce-only (`isReducing`, or first
   * check after a resume). A reduce-only bot is halted only if inventory grows.
   */
  check(lots: number, isReducing: boolean): { readonly reduces: boolean; readonly halts: boolean } {
    const isFirst = this.#isResumed;
    this.#isResumed = false;
    if (!this.isBeyond(lots)) {
      this.#beyond = null;
      return { reduces: false, halts: false };
    }
    this.#beyond ??= Math.abs(lots);
    const hasGrown = !(Math.abs(lots) <= this.#beyond * TOLERANCE_FACTOR);
    return { reduces: isFirst, halts: hasGrown || !(isReducing || isFirst) };
  }
}
