/** The account's place in the fee schedule of a book: its 30-day volume, what is missing to the next tier, and what that would be worth. */
import { rateCeil } from '../model/instrument.ts';
import type { BookFee, FeeTier } from '../ports/port.ts';
import { money, moneyOf, textOfMoney } from '../model/units.ts';
import type { Money } from '../model/units.ts';

export type AccountTier = {
  /** Of the volumes: that of the schedule, which several books share. */
  readonly currency: string;
  /** Traded in the last 30 days. */
  readonly volume: Money;
  readonly makerRate: number;
  /** Null in the best tier. */
  readonly next: {
    readonly above: Money;
    readonly makerRate: number;
    /** More in 30 days than now. */
    readonly missing: Money;
    /** What a month like the last one would have cost less, had all of it been made at that rate. */
    readonly monthly: Money;
  } | null;
};

const RATE_ONE = 10n ** 8n;

/** Null when the exchange does not say how much was traded. The row of `fees` comes first, the public schedule where it is silent (public-facts 9.1, rest-api 2.8). */
export function accountTierOf(fee: BookFee, schedule: readonly FeeTier[], minor: string): AccountTier | null {
  if (fee.currentVolume === undefined) return null;
  const volume = moneyOf(fee.currentVolume);
  const makerRate = rateCeil(fee.maker);
  const place = { currency: fee.volumeCurrency ?? minor, volume, makerRate };
  // Each tier's volume is its upper bound.
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
 * What one more unit of volume is worth because the next tier comes nearer, in parts of 10^-8 of it. Of the 30 days in which `volume` is traded, `missing` goes
 * until the tier and the rest is at its fee: what the rest saves, spread over what is missing, is what each unit of that may cost; never more than the step
 * between the fees, so that nobody quotes below the fee of the next tier. Nothing where as much is missing as was traded. That what leaves the 30 days is replaced is taken for given.
 */
export function tierWorth({ volume, makerRate, next }: AccountTier): number {
  if (next === null) return 0;
  const step = makerRate - next.makerRate;
  const after = volume - next.missing;
  if (!(after > 0n && step > 0)) return 0;
  return after >= next.missing ? step : Number((BigInt(step) * after) / next.missing);
}

/** Returns a rate in ten thousandths of a bp as ratePercent, such as `0.500 %`. */
export const ratePercent = (rate: number): string => `${(rate / 1e6).toFixed(3)} %`;
const wholeUnits = (sum: Money): string => textOfMoney(money(sum - (sum % 10n ** 16n)));

/** One line for a person. */
export function describeTier({ currency, volume, makerRate, next }: AccountTier): string {
  const now = `30-day volume ${wholeUnits(volume)} ${currency}, maker fee ${ratePercent(makerRate)}`;
  if (next === null) return `${now}: no better tier`;
  return `${now}; the next tier is ${ratePercent(next.makerRate)} above ${wholeUnits(next.above)} ${currency}: ${wholeUnits(next.missing)} more in 30 days, worth ${wholeUnits(next.monthly)} ${currency} a month at the present volume`;
}
