/** What is known of levels that slid out of a recording's pictures: what they held then, until they are recorded or traded again. */
import { RecordedSide } from '../../src/tape/index.ts';
import { SELL } from '../rows/rows.ts';
import type { SideIndex } from '../rows/rows.ts';

export class Unrecorded {
  readonly #sides = [new RecordedSide(-1), new RecordedSide(1)] as const;

  /** A place of a side held so many lots, and is not told of any more. */
  slidOut(side: SideIndex, place: number, lots: number): void {
    this.#sides[side].set(place, lots);
  }

  /** Every level of a side is recorded that is not worse than `place`. */
  recorded(side: SideIndex, place: number): void {
    const levels = this.#sides[side];
    const sign = side === SELL ? 1 : -1;
    while (levels.length > 0 && levels.priceAt(0) * sign <= place * sign) levels.set(levels.priceAt(0), 0);
  }

  /** So many lots of a side were met at a place, and all that stood at better ones. */
  traded(side: SideIndex, place: number, met: number): void {
    const levels = this.#sides[side];
    if (levels.length === 0) return;
    this.recorded(side, side === SELL ? place - 1 : place + 1);
    levels.set(place, Math.max(0, levels.amountOf(place) - met));
  }

  isEmpty(side: SideIndex): boolean {
    return this.#sides[side].length === 0;
  }

  /** 0 where nothing was ever told. */
  at(side: SideIndex, place: number): number {
    return this.#sides[side].amountOf(place);
  }
}
