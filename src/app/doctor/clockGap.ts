/** How far this machine's clock is from the exchange's, by the time that its answers carry: each narrows the bounds. */
import type { Millis, Observation } from '../../core/index.ts';
import { finding } from './finding.ts';
import type { Finding } from './finding.ts';

const { pass, warn, fail } = finding;

/** Below this nobody can tell from whole seconds. */
const NEAR_MS = 2_000;
/** Nonces are made of the time, and so is what the ledger takes for late. */
const FAR_MS = 60_000;

export class ClockGap {
  /** Exchange less ours. */
  #least: Millis = -Infinity;
  #most: Millis = Infinity;

  /** To be called at the end of each request, with the time of then. */
  hear({ answeredAt, ms }: Pick<Observation, 'answeredAt' | 'ms'>, now: Millis): void {
    if (answeredAt === undefined) return;
    // It was written between our question and now, some time in the second that it tells.
    this.#least = Math.max(this.#least, answeredAt - now);
    this.#most = Math.min(this.#most, answeredAt + 1_000 - (now - ms));
  }

  get finding(): Finding {
    const check = 'clock';
    if (this.#least === -Infinity)
      return warn(
        check,
        'no answer contained the time of the exchange',
        'make sure that NTP sets the clock of this machine',
      );
    const gap = this.#least > 0 ? this.#least : this.#most < 0 ? this.#most : 0;
    const away = Math.abs(gap);
    if (away < NEAR_MS) return pass(check, "equals the exchange's, to the second");
    const says = `${(away / 1_000).toFixed(0)} s ${gap > 0 ? 'behind' : 'ahead of'} the exchange's`;
    const todo = 'enable NTP on this machine (timedatectl set-ntp true)';
    return away < FAR_MS ? warn(check, says, todo) : fail(check, says, todo);
  }
}
