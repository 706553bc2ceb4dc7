/**
 * Rule for rejections that only the operator can fix. Such a rejection halts the bot immediately, unless a nonce or a
 * wrong clock may be the cause. In that case the bot halts after three rejections over at least a minute, without an
 * accepted request in between.
 */
import { isFatal, type Clock, type Meaning, type Millis } from '../../core/index.ts';
import type { ConnectivityLog } from '../connectivityLog.ts';
import type { Failed } from '../failedRequest.ts';

/** Time for which rejections with a possibly temporary cause do not halt the bot. */
const PASSES_WITHIN_MS = 60_000;
/**
 * Minimum number of rejections with a possibly temporary cause before the bot halts; `PASSES_WITHIN_MS` must also have
 * passed.
 */
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

  /** Records an accepted signed request, which proves that the key is valid. */
  accepted(): void {
    this.#connectivity.answered();
    this.#since = null;
    this.#count = 0;
  }

  /** Logs a failed request. Returns why trading must stop; `null` if trading may continue. */
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
