/**
 * Backoff of a side after the exchange rejected an order. The pause doubles with each rejection, until a placement is
 * accepted.
 */
import type { Millis, Side } from '../model/units.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

export class RefusalBackoff {
  readonly #sides: Record<Side, { refusals: number; until: Millis }> = {
    buy: { refusals: 0, until: -Infinity },
    sell: { refusals: 0, until: -Infinity },
  };

  /** Records a rejection; several rejections during one pause count as one. */
  refused(side: Side, at: Millis): void {
    const pause = this.#sides[side];
    if (at >= pause.until) pause.until = at + Math.min(LONGEST_MS, FIRST_MS * 2 ** pause.refusals++);
  }

  /** Pauses the side for the shortest time. Does not lengthen later pauses. */
  waits(side: Side, at: Millis): void {
    const pause = this.#sides[side];
    pause.until = Math.max(pause.until, at + FIRST_MS);
  }

  accepted(side: Side): void {
    this.#sides[side].refusals = 0;
  }

  isPaused(side: Side, at: Millis): boolean {
    return at < this.#sides[side].until;
  }
}
