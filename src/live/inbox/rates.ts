/** How much may be delivered: a budget of bytes for each address and one for all of them, each filled again as time passes. */
import type { Millis } from '../../core/index.ts';
import { senderOf } from '../../guard/index.ts';

/** A budget is at most `burst` bytes, and gets `perSecond` more in a second. */
export type CallerBudget = { readonly burst: number; readonly perSecond: number };

export type DeliveryLimits = {
  /** Of one body, in bytes. */
  readonly bodyMax: number;
  readonly address: CallerBudget;
  readonly all: CallerBudget;
};

/**
 * For whom nothing but the path vouches. A delivery has about one kilobyte (rfq-and-webhooks 2.5), and one address may send a hundred of
 * them a second for as long as it likes.
 */
export const UNKNOWN_SENDERS: DeliveryLimits = {
  bodyMax: 16 * 1024,
  address: { burst: 4_000_000, perSecond: 128_000 },
  all: { burst: 16_000_000, perSecond: 1_000_000 },
};

/** For those whose address is listed, or whose signature was verified. */
export const KNOWN_SENDERS: DeliveryLimits = {
  bodyMax: 64 * 1024,
  address: { burst: 64_000_000, perSecond: 4_000_000 },
  all: { burst: 64_000_000, perSecond: 8_000_000 },
};

/** What a delivery costs beside its body: its row, its digest, and their indexes. */
export const ROW_BYTES = 512;

/** Addresses whose budgets are remembered; the one unused for longest begins anew, under the budget of all. */
const ADDRESSES_MAX = 4_096;

type Level = { bytes: number; at: Millis };

export class Rates {
  readonly #limits: Pick<DeliveryLimits, 'address' | 'all'>;
  readonly #elapsed: () => Millis;
  readonly #levels = new Map<string, Level>();
  readonly #all: Level;

  /** `elapsed` never goes back. */
  constructor(limits: Pick<DeliveryLimits, 'address' | 'all'>, elapsed: () => Millis) {
    this.#limits = limits;
    this.#elapsed = elapsed;
    this.#all = { bytes: limits.all.burst, at: elapsed() };
  }

  /** Takes a delivery with a body of so many bytes out of both budgets; false, and nothing is taken, when either has not enough. */
  take(address: string, bodyBytes: number): boolean {
    const cost = bodyBytes + ROW_BYTES;
    const own = this.#levelOf(senderOf(address));
    this.#fill(this.#all, this.#limits.all);
    if (!(own.bytes >= cost && this.#all.bytes >= cost)) return false;
    own.bytes -= cost;
    this.#all.bytes -= cost;
    return true;
  }

  #levelOf(sender: string): Level {
    const level = this.#levels.get(sender) ?? { bytes: this.#limits.address.burst, at: this.#elapsed() };
    this.#levels.delete(sender);
    this.#levels.set(sender, level);
    const [oldest] = this.#levels.keys();
    if (this.#levels.size > ADDRESSES_MAX && oldest !== undefined) this.#levels.delete(oldest);
    this.#fill(level, this.#limits.address);
    return level;
  }

  #fill(level: Level, { burst, perSecond }: CallerBudget): void {
    const now = this.#elapsed();
    level.bytes = Math.min(burst, level.bytes + ((now - level.at) / 1_000) * perSecond);
    level.at = now;
  }
}
