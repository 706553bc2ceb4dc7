/** Fees inside a replay: charged on the received currency, at the tier of the 30-day volume. */
import {
  money,
  moneyOf,
  moneyOfAmount,
  moneyOfValue,
  signedRateCeil,
  valueOf,
  type AccountTier,
  type Amount,
  type FeeTier,
  type Instrument,
  type Millis,
  type Money,
  type Price,
  type Side,
} from '../../src/core/index.ts';

export type FeeOptions = {
  /** Ascending by volume; each tier's volume is its upper bound. */
  readonly tiers: readonly FeeTier[];
  /** Volume of the previous 30 days, in the quote currency; it does not expire. */
  readonly volume30d: string;
};

/** Volume scaled to 30 days, with its tier's index in the schedule and maker fee. */
export type Pace = { readonly volume30d: number; readonly tier: number; readonly makerBps: number };

/** Returns the tier's maker fee in bps, rounded up to the exchange's smallest step. */
export const makerBpsOf = ({ maker }: FeeTier): number => signedRateCeil(maker) / 1e4;

/**
 * Extrapolates `traded`, in the quote currency over `seconds`, to 30 days. Approximate. `tiers` as in `FeeOptions`, at
 * least one.
 */
export function paceOf(traded: number, seconds: number, tiers: readonly FeeTier[]): Pace {
  const volume30d = seconds > 0 ? (traded * DAYS * DAY) / 1000 / seconds : 0;
  const found = tiers.findIndex(({ volume }) => volume30d < Number(volume));
  const tier = found < 0 ? tiers.length - 1 : found;
  return { volume30d: Math.round(volume30d), tier, makerBps: makerBpsOf(tiers[tier]!) };
}

const DAY = 86_400_000;
const DAYS = 30;
/** The exchange keeps eight decimals. */
const SMALLEST = 10n ** 10n;
const RATE_ONE = 10n ** 8n;

/** Rounds half up to integer units, also for negative numbers, which BigInt division would round towards zero. */
function halfUp(value: bigint, unit: bigint): bigint {
  const raised = value + unit / 2n;
  const whole = raised / unit;
  return raised < 0n && whole * unit !== raised ? whole - 1n : whole;
}

export class Fees {
  readonly #instrument: Instrument;
  readonly #tiers: readonly { readonly below: Money; readonly maker: number; readonly taker: number }[];
  readonly #base: Money;
  readonly #days = new Map<number, bigint>();
  #traded = 0n;
  #index = 0;

  constructor(instrument: Instrument, { tiers, volume30d }: FeeOptions) {
    if (tiers.length === 0) throw new RangeError(`${instrument.symbol}: no fee tier was given`);
    this.#instrument = instrument;
    this.#base = moneyOf(volume30d);
    this.#tiers = tiers.map(({ volume, maker, taker }) => ({
      below: moneyOf(volume),
      maker: signedRateCeil(maker),
      taker: signedRateCeil(taker),
    }));
    this.#choose();
  }

  get makerRate(): number {
    return this.#tiers[this.#index]!.maker;
  }

  /** Position of the account in the tiers. */
  get tier(): AccountTier {
    const { makerRate } = this;
    const volume = money(this.#base + this.#traded);
    const { below: above } = this.#tiers[this.#index]!;
    const next = this.#tiers[this.#index + 1];
    const place = { currency: this.#instrument.minor, volume, makerRate };
    if (next === undefined || !(next.maker < makerRate)) return { ...place, next: null };
    const monthly = money((volume * BigInt(makerRate - next.maker)) / RATE_ONE);
    return { ...place, next: { above, makerRate: next.maker, missing: money(above - volume), monthly } };
  }

  get takerRate(): number {
    return this.#tiers[this.#index]!.taker;
  }

  /**
   * Returns the amounts exchanged in one execution, and its fee, rounded half up to eight decimals; negative for a
   * rebate.
   */
  fill(
    side: Side,
    price: Price,
    lots: Amount,
    takes = false,
  ): { readonly major: Money; readonly minor: Money; readonly fee: Money } {
    const major = moneyOfAmount(this.#instrument, lots);
    const value = moneyOfValue(this.#instrument, valueOf(price, lots));
    const minor = money(value - (value % SMALLEST));
    const scaled = (side === 'buy' ? major : minor) * BigInt(takes ? this.takerRate : this.makerRate);
    const unit = RATE_ONE * SMALLEST;
    return { major, minor, fee: money(halfUp(scaled, unit) * SMALLEST) };
  }

  /** Adds a traded volume; returns true if it, or the expiry of old volume, changed the tier. */
  traded(minor: Money, at: Millis): boolean {
    const day = Math.floor(at / DAY);
    this.#days.set(day, (this.#days.get(day) ?? 0n) + minor);
    this.#traded += minor;
    for (const [old, volume] of this.#days) {
      if (old > day - DAYS) continue;
      this.#days.delete(old);
      this.#traded -= volume;
    }
    return this.#choose();
  }

  #choose(): boolean {
    const volume = this.#base + this.#traded;
    const found = this.#tiers.findIndex(tier => volume < tier.below);
    const index = found < 0 ? this.#tiers.length - 1 : found;
    const changed = index !== this.#index;
    this.#index = index;
    return changed;
  }
}
