/**
 * Limits of the second exchange: weight per address and minute, unfilled orders per account, and the ban of addresses
 * that continue after rejections. Source: rest-api.md (LIMITS) of github.com/binance/binance-spot-api-docs at a5e0bc3.
 */
import { DAY_MS, MINUTE_MS, counted, type Clock } from '../../core/index.ts';
import type { SecondSwitches } from './binanceSwitches.ts';
import { BinanceFailure } from './failures.ts';

const TEN_SECONDS = 10_000;
/** Maximum number of addresses and accounts tracked; the oldest is dropped first. */
const TRACKED_MAX = 10_000;
/** Shortest ban. Source: rest-api.md, IP limits. */
const BAN_S = 120;

type Counter = { window: number; count: number };
type Address = Counter & { refused: number; bannedUntil: number };
type Orders = { readonly short: Counter; readonly day: Counter };

export class RequestWeights {
  readonly #clock: Pick<Clock, 'now' | 'elapsed'>;
  readonly #addresses = new Map<string, Address>();
  readonly #orders = new Map<string, Orders>();

  constructor(clock: Pick<Clock, 'now' | 'elapsed'>) {
    this.#clock = clock;
  }

  /** Counts a request of an address and returns the weight used in this minute. Throws -1003 above the limit. */
  charge(peer: string, weight: number, switches: SecondSwitches): number {
    const now = this.#clock.elapsed();
    const address = tracked(this.#addresses, peer, () => ({ window: -1, count: 0, refused: 0, bannedUntil: -1 }));
    const used = countIn(address, MINUTE_MS, now);
    if (switches.rateLimits === 'off') return (address.count = used + weight);
    if (now < address.bannedUntil) throw this.#ban(address.bannedUntil - now);
    if (used + weight <= switches.weightPerMinute) {
      address.refused = 0;
      return (address.count = used + weight);
    }
    if (++address.refused > switches.banAfter) {
      address.bannedUntil = now + BAN_S * 1_000;
      throw this.#ban(BAN_S * 1_000);
    }
    throw new BinanceFailure(
      -1003,
      `Too much request weight used; current limit is ${switches.weightPerMinute} request weight per 1 MINUTE. Please use WebSocket Streams for live updates to avoid polling the API.`,
      429,
      Math.max(1, Math.ceil((MINUTE_MS - (now % MINUTE_MS)) / 1_000)),
    );
  }

  /** Counts an order of an account. Throws -1015 above a limit. */
  chargeOrder(account: string, switches: SecondSwitches): void {
    if (switches.rateLimits === 'off') return;
    const now = this.#clock.elapsed();
    const { short, day } = this.#ordersOf(account);
    const limits = [
      [short, TEN_SECONDS, switches.ordersPer10s, '10 SECOND'],
      [day, DAY_MS, switches.ordersPerDay, '1 DAY'],
    ] as const;
    for (const [counter, window, max, name] of limits) {
      if (countIn(counter, window, now) < max) continue;
      throw new BinanceFailure(
        -1015,
        `Too many new orders; current limit is ${counted(max, 'order')} per ${name}.`,
        429,
        Math.max(1, Math.ceil((window - (now % window)) / 1_000)),
      );
    }
    for (const [counter] of limits) counter.count++;
  }

  /**
   * Returns the numbers of orders of an account in the current 10 s and the current day, for headers and the list of
   * counts.
   */
  ordersUsed(account: string): { readonly short: number; readonly day: number } {
    const now = this.#clock.elapsed();
    const { short, day } = this.#ordersOf(account);
    return { short: countIn(short, TEN_SECONDS, now), day: countIn(day, DAY_MS, now) };
  }

  #ban(leftMs: number): BinanceFailure {
    const until = Math.round(this.#clock.now() + leftMs);
    return new BinanceFailure(
      -1003,
      `Way too much request weight used; IP banned until ${until}. Please use WebSocket Streams for live updates to avoid bans.`,
      418,
      Math.max(1, Math.ceil(leftMs / 1_000)),
    );
  }

  #ordersOf(account: string): Orders {
    return tracked(this.#orders, account, () => ({
      short: { window: -1, count: 0 },
      day: { window: -1, count: 0 },
    }));
  }
}

/** Returns the count in the current window. If a new window has started, first resets the count to 0. */
function countIn(counter: Counter, windowMs: number, now: number): number {
  const window = Math.floor(now / windowMs);
  if (counter.window !== window) {
    counter.window = window;
    counter.count = 0;
  }
  return counter.count;
}

function tracked<V>(map: Map<string, V>, key: string, make: () => V): V {
  let found = map.get(key);
  if (found) return found;
  const oldest = map.size >= TRACKED_MAX ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
  found = make();
  map.set(key, found);
  return found;
}
