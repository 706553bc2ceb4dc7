/**
 * Levels that moved beyond the depth of a recording's snapshots, with their last amounts. A level is removed when it is
 * recorded or traded again.
 */
import { RecordedSide } from '../../src/tape/index.ts';
import { SELL, type SideIndex } from '../rows/rows.ts';

export class Unrecorded {
  readonly #sides = [new RecordedSide(-1), new RecordedSide(1)] as const;

  /** Stores the last lots of a price level that is no longer recorded. */
  slidOut(side: SideIndex, place: number, lots: number): void {
    this.#sides[side].set(place, lots);
  }

  /** Removes the levels at `place` or better prices, because they are recorded again. */
  recorded(side: SideIndex, place: number): void {
    const levels = this.#sides[side];
    const sign = side === SELL ? 1 : -1;
    while (levels.length > 0 && levels.priceAt(0) * sign <= place * sign) levels.set(levels.priceAt(0), 0);
  }

  /** Applies an execution of `met` lots at a price index; the execution also consumed all better levels. */
  traded(side: SideIndex, place: number, met: number): void {
    const levels = this.#sides[side];
    if (levels.length === 0) return;
    this.recorded(side, side === SELL ? place - 1 : place + 1);
    levels.set(place, Math.max(0, levels.amountOf(place) - met));
  }

  isEmpty(side: SideIndex): boolean {
    return this.#sides[side].length === 0;
  }

  /** Returns the last lots at a price index; 0 if unknown. */
  at(side: SideIndex, place: number): number {
    return this.#sides[side].amountOf(place);
  }
}
