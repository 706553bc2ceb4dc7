/** Detection of gaps: times without data that are too long for a connected recorder. */
import type { Millis } from '../../core/index.ts';
import type { ImportReading } from './lines.ts';

export class Silence {
  readonly #gap: ImportReading['gap'];
  readonly #maxMs: Millis;
  readonly #why: string;
  #before = Number.NaN;

  /**
   * Creates a gap detector. More than `maxMs` between two times, or between the last time and the end of the recording,
   * is a gap. `what` names the missing data in the reason of the gap.
   */
  constructor({ gap, onEnd }: Pick<ImportReading, 'gap' | 'onEnd'>, maxMs: Millis, what: string) {
    this.#gap = gap;
    this.#maxMs = maxMs;
    this.#why = `no ${what} during the gap`;
    onEnd(at => this.heard(at));
  }

  heard(at: Millis): void {
    if (at - this.#before > this.#maxMs) this.#gap({ from: this.#before, to: at, why: this.#why });
    if (!(at < this.#before)) this.#before = at;
  }
}
