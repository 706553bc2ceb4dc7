/** Fees inside a replay: charged in the received currency, at the tier of the 30-day volume. */
import {
  DAY_MS,
  VOLUME_DAYS,
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
import { TradedVolume } from './tradedVolume.ts';

export type FeeOptions = {
  /** Fee tiers, ascending by volume; each tier's volume is its upper bound. */
  readonly tiers: readonly FeeTier[];
  /** Volume before the replay, in the quote currency; it counts for the whole replay. */
  readonly volume30d: string;
};

/** Volume scaled to 30 days, with the index of its tier and the maker fee of that tier. */
export type Pace = { readonly volume30d: number; readonly tier: number; readonly makerBps: number };

/** Returns the tier's maker fee in bps, rounded up to the exchange's smallest step of a rate. */
export const makerBpsOf = ({ maker }: FeeTier): number => signedRateCeil(maker) / 1e4;

/**
 * Extrapolates `traded`, in the quote currency over `seconds`, to 30 days; approximate. `tiers` must have at least one
 * tier, ascending by volume.
 */
export function paceOf(traded: number, seconds: number, tiers: readonly FeeTier[]): Pace {
  const volume30d = seconds > 0 ? (traded * VOLUME_DAYS * DAY_MS) / 1000 / seconds : 0;
  const found = tiers.findIndex(({ volume }) => volume30d <= Number(volume));
  const tier = found < 0 ? tiers.length - 1 : found;
  return { volume30d: Math.round(volume30d), tier, makerBps: makerBpsOf(tiers[tier]!) };
}

/** Smallest step of an amount at the exchange, which has eight decimals. */
const SMALLEST = 10n ** 10n;
const RATE_ONE = 10n ** 8n;

/** Rounds half up to integer units, also for negative numbers, for which BigInt division rounds towards zero. */
function halfUp(value: bigint, unit: bigint): bigint {
  const raised = value + unit / 2n;
  const whole = raised / unit;
  return raised < 0n && whole * unit !== raised ? whole - 1n : whole;
}

export class Fees {
  readonly #instrument: Instrument;
  readonly #tiers: readonly { readonly bound: Money; readonly maker: number; readonly taker: number }[];
  readonly #base: Money;
  readonly #volume: TradedVolume;
  #index = 0;

  /** `volume` is the traded volume of the account, which all books with one quote currency share. */
  constructor(instrument: Instrument, { tiers, volume30d }: FeeOptions, volume = new TradedVolume()) {
    if (tiers.length === 0) throw new RangeError(`${instrument.symbol}: expected at least one fee tier, found none`);
    this.#instrument = instrument;
    this.#base = moneyOf(volume30d);
    this.#volume = volume;
    this.#tiers = tiers.map(({ volume, maker, taker }) => ({
      bound: moneyOf(volume),
      maker: signedRateCeil(maker),
      taker: signedRateCeil(taker),
    }));
    this.#choose();
  }

  get makerRate(): number {
    return this.#tiers[this.#index]!.maker;
  }

  /** Fee tier of the account, and the additional volume that the next tier requires. */
  get tier(): AccountTier {
    const { makerRate } = this;
    const volume = money(this.#base + this.#volume.sum);
    const { bound: above } = this.#tiers[this.#index]!;
    const next = this.#tiers[this.#index + 1];
    const place = { currency: this.#instrument.minor, volume, makerRate };
    if (next === undefined || !(next.maker < makerRate)) return { ...place, next: null };
    const monthly = money((volume * BigInt(makerRate - next.maker)) / RATE_ONE);
    return { ...place, next: { above, makerRate: next.maker, missing: money(above - volume), monthly } };
  }

  get takerRate(): number {
    return this.#tiers[this.#index]!.taker;
  }

  /** Returns the current fee rate of taker orders (`takes`) or of maker orders. */
  rate(takes: boolean): number {
    return takes ? this.takerRate : this.makerRate;
  }

  /**
   * Returns the amounts exchanged in one execution, and its fee at `rate`, which is rounded half up to eight decimals.
   * The fee is negative for a rebate.
   */
  fill(
    side: Side,
    price: Price,
    lots: Amount,
    takes = false,
    rate = this.rate(takes),
  ): { readonly major: Money; readonly minor: Money; readonly fee: Money } {
    const major = moneyOfAmount(this.#instrument, lots);
    const value = moneyOfValue(this.#instrument, valueOf(price, lots));
    const minor = money(value - (value % SMALLEST));
    const scaled = (side === 'buy' ? major : minor) * BigInt(rate);
    const unit = RATE_ONE * SMALLEST;
    return { major, minor, fee: money(halfUp(scaled, unit) * SMALLEST) };
  }

  /** Adds a traded volume. Returns true if this volume, or the expiry of old volume, changed the tier. */
  traded(minor: Money, at: Millis): boolean {
    this.#volume.add(minor, at);
    return this.#choose();
  }

  /** Applies the volume that other books of the account have traded. Returns true if this volume changed the tier. */
  review(): boolean {
    return this.#choose();
  }

  #choose(): boolean {
    const volume = this.#base + this.#volume.sum;
    const found = this.#tiers.findIndex(tier => volume <= tier.bound);
    const index = found < 0 ? this.#tiers.length - 1 : found;
    const changed = index !== this.#index;
    this.#index = index;
    return changed;
  }
}
