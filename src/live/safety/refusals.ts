/** When a refusal that only a person can mend halts: at once, or, where a nonce or a wrong clock explains it too, after a minute of nothing else. */
import type { Clock, Millis } from '../../core/index.ts';
import type { ConnectivityLog } from '../loop/connectivityLog.ts';
import type { Failed } from '../account/reads.ts';

/** For so long, and in so many refusals, a code that may pass is taken for one that will. */
const PASSES_WITHIN_MS = 60_000;
const PASSES_WITHIN = 3;

export type RefusalRules = {
  readonly clock: Pick<Clock, 'elapsed'>;
  /** True for a refusal code after which trading must stop until a person has looked. */
  readonly isFatal: (code: string) => boolean;
  /** Of those, true for one that a single request may be answered with: its nonce came twice, or the clock is being set. */
  readonly mayPass?: ((code: string) => boolean) | undefined;
  /** What a person can do about such a code, in a clause; null when nothing can be said. */
  readonly remedyOf?: ((code: string) => string | null) | undefined;
};

export class Refusals {
  readonly #rules: RefusalRules;
  readonly #reach: Pick<ConnectivityLog, 'answered' | 'failed'>;
  #since: Millis | null = null;
  #count = 0;

  constructor(rules: RefusalRules, reach: Pick<ConnectivityLog, 'answered' | 'failed'>) {
    this.#rules = rules;
    this.#reach = reach;
  }

  /** Something signed was accepted: the key is good. */
  accepted(): void {
    this.#reach.answered();
    this.#since = null;
    this.#count = 0;
  }

  /** Says what a request ended in. Why trading must stop, or null when it need not. */
  failed(what: string, failed: Failed): string | null {
    this.#reach.failed(what, failed);
    if (failed.kind !== 'refused' || !this.#isFinal(failed.code)) return null;
    const remedy = this.#rules.remedyOf?.(failed.code) ?? null;
    return `${what} was refused with ${failed.code}: ${failed.message}${remedy === null ? '' : `; ${remedy}`}`;
  }

  #isFinal(code: string): boolean {
    if (!this.#rules.isFatal(code)) return false;
    if (this.#rules.mayPass?.(code) !== true) return true;
    const now = this.#rules.clock.elapsed();
    this.#since ??= now;
    return ++this.#count >= PASSES_WITHIN && now - this.#since >= PASSES_WITHIN_MS;
  }
}
