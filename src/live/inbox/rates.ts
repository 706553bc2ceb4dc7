/** Rate limits for deliveries: a byte budget for each address and one for all addresses. */
import type { Millis } from '../../core/index.ts';
import { senderOf } from '../../guard/index.ts';

/** Byte budget: at most `burst` bytes, refilled by `perSecond` bytes per second. */
export type CallerBudget = { readonly burst: number; readonly perSecond: number };

export type DeliveryLimits = {
  /** Maximum size of one body, in bytes. */
  readonly bodyMax: number;
  readonly address: CallerBudget;
  readonly all: CallerBudget;
};

/**
 * Limits for senders that only the secret path identifies. A delivery has about 1 kB (rfq-and-webhooks 2.5), so an
 * address can send about 100 deliveries per second.
 */
export const UNKNOWN_SENDERS: DeliveryLimits = {
  bodyMax: 16 * 1024,
  address: { burst: 4_000_000, perSecond: 128_000 },
  all: { burst: 16_000_000, perSecond: 1_000_000 },
};

/** Limits for senders with a listed address or a verified signature. */
export const KNOWN_SENDERS: DeliveryLimits = {
  bodyMax: 64 * 1024,
  address: { burst: 64_000_000, perSecond: 4_000_000 },
  all: { burst: 64_000_000, perSecond: 8_000_000 },
};

/** Bytes stored per delivery in addition to its body: row, digest and index entries. */
export const ROW_BYTES = 512;

/**
 * Maximum number of addresses with their own budgets. If there are more, the least recently used address is dropped,
 * and gets a new budget when it sends again. The budget of all addresses always applies.
 */
const ADDRESSES_MAX = 4_096;

type Level = { bytes: number; at: Millis };

export class Rates {
  readonly #limits: Pick<DeliveryLimits, 'address' | 'all'>;
  readonly #elapsed: () => Millis;
  readonly #levels = new Map<string, Level>();
  readonly #all: Level;

  /** `elapsed` returns monotonic time. */
  constructor(limits: Pick<DeliveryLimits, 'address' | 'all'>, elapsed: () => Millis) {
    this.#limits = limits;
    this.#elapsed = elapsed;
    this.#all = { bytes: limits.all.burst, at: elapsed() };
  }

  /**
   * Charges a delivery with a body of `bodyBytes` to both budgets. Returns `false`, and charges nothing, if either
   * budget is too low.
   */
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
