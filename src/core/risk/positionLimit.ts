/** Inventory beyond its limit: a halt, and once a person has resumed, only closed until it is within. */

import type { HaltReason } from '../model/halts.ts';

/** Why only inventory is closed then. Ends by itself. */
export const RESUMED_BEYOND =
  'inventory is beyond its limit, and a person has resumed: it is only closed until it is within limits.positionMax';

/** `text`: how far inventory is from its target, with its currency. */
export const beyondLimit = (text: string): HaltReason => `position: ${text} from the target is beyond its limit`;

/** Whether a halt was for that. */
export const isBeyondLimit = (reason: string): boolean => /^position: .* is beyond its limit$/.test(reason);

/** The gate keeps the worst case within the limit; only something that is not ours can carry inventory this far beyond. */
const SLACK = 1.05;

/** Inventory against its limit, both in lots; null: nothing is limited. */
export class PositionLimit {
  readonly #max: number | null;
  /** A person has resumed, and inventory was not looked at since; and how far beyond its limit it was then. */
  #isResumed = false;
  #beyond: number | null = null;

  constructor(max: number | null) {
    this.#max = max;
  }

  isBeyond(lots: number): boolean {
    return this.#max !== null && Math.abs(lots) > this.#max * SLACK;
  }

  isWithin(lots: number): boolean {
    return this.#max !== null && Math.abs(lots) <= this.#max;
  }

  resumed(): void {
    this.#isResumed = true;
  }

  /** Beyond its limit inventory halts, unless it is only closed (`isReducing`, and from a resume on); then it halts only when it grows. */
  heed(lots: number, isReducing: boolean): { readonly reduces: boolean; readonly halts: boolean } {
    const isFirst = this.#isResumed;
    this.#isResumed = false;
    if (!this.isBeyond(lots)) {
      this.#beyond = null;
      return { reduces: false, halts: false };
    }
    this.#beyond ??= Math.abs(lots);
    const hasGrown = !(Math.abs(lots) <= this.#beyond * SLACK);
    return { reduces: isFirst, halts: hasGrown || !(isReducing || isFirst) };
  }
}
