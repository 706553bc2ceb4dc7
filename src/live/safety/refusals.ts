/** When a refusal that only a person can mend halts: at once, or, where a nonce or a wrong clock explains it too, after a minute of nothing else. */
import { isFatal } from '../../core/index.ts';
import type { Clock, Meaning, Millis } from '../../core/index.ts';
import type { ConnectivityLog } from '../connectivityLog.ts';
import type { Failed } from '../failed.ts';

/** For so long, and in so many refusals, one that may pass is taken for one that will. */
const PASSES_WITHIN_MS = 60_000;
const PASSES_WITHIN = 3;

export class Refusals {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #connectivity: Pick<ConnectivityLog, 'answered' | 'failed'>;
  #since: Millis | null = null;
  #count = 0;

  constructor(clock: Pick<Clock, 'elapsed'>, connectivity: Pick<ConnectivityLog, 'answered' | 'failed'>) {
    this.#clock = clock;
    this.#connectivity = connectivity;
  }

  /** Something signed was accepted: the key is good. */
  accepted(): void {
    this.#connectivity.answered();
    this.#since = null;
    this.#count = 0;
  }

  /** Says what a request ended in. Why trading must stop, or null when it need not. */
  failed(what: string, failed: Failed): string | null {
    this.#connectivity.failed(what, failed);
    if (failed.kind !== 'refused' || !this.#isFinal(failed.meaning)) return null;
    const { code, message, remedy } = failed;
    return `${what} was refused with ${code}: ${message}${remedy === undefined ? '' : `; ${remedy}`}`;
  }

  #isFinal(meaning: Meaning | undefined): boolean {
    if (!isFatal(meaning)) return false;
    if (meaning !== 'nonce') return true;
    const now = this.#clock.elapsed();
    this.#since ??= now;
    return ++this.#count >= PASSES_WITHIN && now - this.#since >= PASSES_WITHIN_MS;
  }
}
