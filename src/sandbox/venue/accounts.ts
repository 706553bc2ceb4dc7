/** Accounts of the embedded exchange: exact balances with locks, API keys, and the volume that decides the fee tier. */
import { DAY_MS, VOLUME_DAYS, money, textOfMoney, type FeeTier, type Millis, type Money } from '../../core/index.ts';
import { Fifo } from '../matching/fifo.ts';
import type { VenueOrder } from './order.ts';
import { OwnTrades } from './ownTrades.ts';
import { Transfers } from './transfers.ts';

/** Permission of an API key (public-facts 2.4). */
export type Permission = 'account' | 'balances' | 'orders' | 'withdrawals' | 'security';
export const PERMISSIONS: readonly Permission[] = ['account', 'balances', 'orders', 'withdrawals', 'security'];

export type ApiKey = {
  readonly key: string;
  readonly secret: string;
  readonly account: Account;
  readonly permissions: ReadonlySet<Permission>;
  /** IP addresses that may use the key; all addresses if absent. */
  readonly addresses?: ReadonlySet<string>;
  active: boolean;
};

/** Balances and locks by currency, and traded volume by quote group and day. */
export type AccountHoldings = {
  readonly total: readonly (readonly [currency: string, sum: bigint])[];
  readonly locked: readonly (readonly [currency: string, sum: bigint])[];
  readonly volume: readonly (readonly [group: string, days: readonly (readonly [day: number, sum: bigint])[]])[];
};

export class Account {
  readonly id: string;
  /** Owner number of the account's orders in the matching engine; above SYNTHETIC_OWNER. */
  readonly owner: number;
  readonly createdAt: Millis;
  /** Live orders by oid, oldest first. */
  readonly active = new Map<string, VenueOrder>();
  /** Live orders by origin_id. */
  readonly activeOrigins = new Map<string, VenueOrder>();
  /** Finished orders that lookup still shows, in the order in which they finished. */
  readonly finished = new Fifo<VenueOrder>();
  /** Finished orders by origin_id, which several orders may have used in succession. */
  readonly finishedOrigins = new Map<string, VenueOrder[]>();
  readonly trades = new OwnTrades();
  readonly transfers = new Transfers();
  /** Country of residence, ISO 3166-1 alpha-2. */
  country = 'MX';
  /** Whether the account may trade. If false, its orders are rejected with 1008. */
  trading = true;
  /** Whether the account is restricted. If true, its requests are rejected with 0216. */
  restricted = false;
  readonly #total = new Map<string, bigint>();
  readonly #locked = new Map<string, bigint>();
  readonly #baseline: ReadonlyMap<string, Money>;
  readonly #volume = new Map<string, Map<number, bigint>>();

  /**
   * Creates an account. `volume30d` is a constant per quote group that is added to the traded volume, to set the fee
   * tier.
   */
  constructor(id: string, owner: number, createdAt: Millis, volume30d: ReadonlyMap<string, Money>) {
    this.id = id;
    this.owner = owner;
    this.createdAt = createdAt;
    this.#baseline = volume30d;
  }

  /** Adds an ended order to the lists of ended orders. */
  addFinished(order: VenueOrder): void {
    this.finished.push(order);
    if (order.originId === undefined) return;
    const shared = this.finishedOrigins.get(order.originId);
    if (shared) shared.push(order);
    else this.finishedOrigins.set(order.originId, [order]);
  }

  /** Balances, locks and daily volume, to store. */
  get holdings(): AccountHoldings {
    return {
      total: [...this.#total],
      locked: [...this.#locked],
      volume: [...this.#volume].map(([group, days]) => [group, [...days]]),
    };
  }

  /** Replaces balances, locks and daily volume with those of an earlier process. */
  hold({ total, locked, volume }: AccountHoldings): void {
    for (const [currency, sum] of total) this.#total.set(currency, sum);
    for (const [currency, sum] of locked) this.#locked.set(currency, sum);
    for (const [group, days] of volume) this.#volume.set(group, new Map(days));
  }

  total(currency: string): Money {
    return money(this.#total.get(currency) ?? 0n);
  }

  locked(currency: string): Money {
    return money(this.#locked.get(currency) ?? 0n);
  }

  available(currency: string): Money {
    return money(this.total(currency) - this.locked(currency));
  }

  currencies(): Iterable<string> {
    return this.#total.keys();
  }

  credit(currency: string, sum: Money): void {
    if (!(sum >= 0n))
      throw new RangeError(`account ${this.id}: cannot credit a negative sum (${textOfMoney(sum)} ${currency})`);
    this.#total.set(currency, this.total(currency) + sum);
  }

  /** Debits a sum from the available balance. Throws if the balance is too small; callers check first. */
  debit(currency: string, sum: Money): void {
    if (!(sum >= 0n && sum <= this.available(currency))) {
      throw new RangeError(
        `account ${this.id}: cannot debit ${textOfMoney(sum)} ${currency}; available: ${textOfMoney(this.available(currency))}`,
      );
    }
    this.#total.set(currency, this.total(currency) - sum);
  }

  /**
   * Changes the lock by `change`, which may be negative. Throws if the lock would not be between 0 and the total;
   * callers check first.
   */
  lock(currency: string, change: Money): void {
    const next = this.locked(currency) + change;
    if (!(next >= 0n && next <= this.total(currency))) {
      throw new RangeError(
        `account ${this.id}: cannot lock ${textOfMoney(money(next))} ${currency}; total balance: ${textOfMoney(this.total(currency))}`,
      );
    }
    this.#locked.set(currency, next);
  }

  addVolume(group: string, sum: Money, now: Millis): void {
    let days = this.#volume.get(group);
    if (!days) this.#volume.set(group, (days = new Map<number, bigint>()));
    const day = Math.floor(now / DAY_MS);
    days.set(day, (days.get(day) ?? 0n) + sum);
    if (days.size > VOLUME_DAYS) for (const old of days.keys()) if (old <= day - VOLUME_DAYS) days.delete(old);
  }

  /** Returns the traded volume of the last 30 days in a quote group, plus the constant volume. */
  volume(group: string, now: Millis): Money {
    let sum: bigint = this.#baseline.get(group) ?? 0n;
    const oldest = Math.floor(now / DAY_MS) - VOLUME_DAYS;
    for (const [day, traded] of this.#volume.get(group) ?? []) if (day > oldest) sum += traded;
    return money(sum);
  }
}

/** Fee tier in exact units: rates in parts of 10^-8, `bound` as Money. */
export type Tier = FeeTier & { readonly bound: Money; readonly makerRate: bigint; readonly takerRate: bigint };

/**
 * Returns the index of a volume's tier: the first with an upper bound at or above the volume (rest-api 2.8), else the
 * last.
 */
export function tierOf(tiers: readonly Tier[], volume: Money): number {
  const found = tiers.findIndex(tier => volume <= tier.bound);
  return found < 0 ? tiers.length - 1 : found;
}
