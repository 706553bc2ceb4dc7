/**
 * Position of the account in the fee schedule of a book: 30-day volume, volume missing for the next tier, and the value
 * of the next tier.
 */
import { rateCeil } from '../model/instrument.ts';
import type { BookFee, FeeTier } from '../ports/port.ts';
import { money, moneyOf, textOfMoney, type Money } from '../model/units.ts';

export type AccountTier = {
  /** Currency of the volumes. Books that share a fee schedule also share the volume currency. */
  readonly currency: string;
  /** Traded volume of the last 30 days, in `currency`. */
  readonly volume: Money;
  readonly makerRate: number;
  /** Next tier; `null` in the best tier. */
  readonly next: {
    readonly above: Money;
    readonly makerRate: number;
    /** Additional 30-day volume required for the next tier, in `currency`. */
    readonly missing: Money;
    /** Saving per month if the maker fee of the next tier applied to the current volume, in `currency`. */
    readonly monthly: Money;
  } | null;
};

/** Number of days, today included, whose trades count for the fee tier. */
export const VOLUME_DAYS = 30;
const RATE_ONE = 10n ** 8n;

/**
 * Returns the account's tier; `null` if the exchange does not report the volume. `fee`, the account's own row, takes
 * precedence over the public `schedule` (public-facts 9.1, rest-api 2.8).
 */
export function accountTierOf(fee: BookFee, schedule: readonly FeeTier[], minor: string): AccountTier | null {
  if (fee.currentVolume === undefined) return null;
  const volume = moneyOf(fee.currentVolume);
  const makerRate = rateCeil(fee.maker);
  const place = { currency: fee.volumeCurrency ?? minor, volume, makerRate };
  // The `volume` of a tier is the upper bound of that tier.
  const index = schedule.findIndex(tier => volume <= moneyOf(tier.volume));
  const after = index < 0 ? undefined : schedule[index + 1];
  const above = fee.nextVolume ?? schedule[index]?.volume;
  const maker = fee.nextMaker ?? after?.maker;
  if (above === undefined || maker === undefined) return { ...place, next: null };
  const nextRate = rateCeil(maker);
  if (!(nextRate < makerRate && moneyOf(above) >= volume)) return { ...place, next: null };
  const monthly = money((volume * BigInt(makerRate - nextRate)) / RATE_ONE);
  return {
    ...place,
    next: { above: moneyOf(above), makerRate: nextRate, missing: money(moneyOf(above) - volume), monthly },
  };
}

/**
 * Returns the value of one more unit of volume towards the next tier, in 10^-8 of the unit.
 *
 * The calculation assumes that the next 30 days have the same volume. Its first `missing` units still pay the present
 * fee; all later units pay the fee of the next tier. The value per unit is the saving on these later units, divided by
 * `missing`. The value is at most the fee difference, so that no quote goes below the next tier's fee. The value is 0
 * if `missing` is at least the volume.
 */
export function tierWorth({ volume, makerRate, next }: AccountTier): number {
  if (next === null) return 0;
  const step = makerRate - next.makerRate;
  const after = volume - next.missing;
  if (!(after > 0n && step > 0)) return 0;
  return after >= next.missing ? step : Number((BigInt(step) * after) / next.missing);
}

/** Formats a rate, in 10^-8, as percent, such as `0.500%`. */
export const ratePercent = (rate: number): string => `${(rate / 1e6).toFixed(3)}%`;
const wholeUnits = (sum: Money): string => textOfMoney(money(sum - (sum % 10n ** 16n)));

/** Describes the tier in one line for the operator. */
export function describeTier({ currency, volume, makerRate, next }: AccountTier): string {
  const now = `30-day volume ${wholeUnits(volume)} ${currency}, maker fee ${ratePercent(makerRate)}`;
  if (next === null) return `${now}, the best tier`;
  const saved = wholeUnits(next.monthly);
  const saves = saved === '0' ? '' : `, which saves ${saved} ${currency} per month at the current volume`;
  return `${now}; above ${wholeUnits(next.above)} ${currency} (${wholeUnits(next.missing)} ${currency} more), the maker fee is ${ratePercent(next.makerRate)}${saves}`;
}
