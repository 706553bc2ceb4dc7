/** Section `market.profile` of a configuration, for model strategies: fills and adverse moves by distance. */
import type { DistanceProfile } from './distanceProfile.ts';

/** Columns of equal length, ascending by distance. */
export type MarketProfile = {
  readonly distancesBps: readonly number[];
  /** Filled value of one side per minute, as a multiple of the profile's order value. */
  readonly fillsPerMinute: readonly number[];
  /** Adverse price move within the horizon after a fill, in bps: distance minus markout. */
  readonly adverseBps: readonly number[];
};

/** Minimum number of fills at a distance in the profile. */
const FILLS_MIN = 10;

/**
 * Returns the distances that have at least ten fills and a markout; `null` if there are fewer than two such distances.
 * `horizonS` must be one of the profile's horizons.
 */
export function marketProfileOf(profile: DistanceProfile, horizonS = 60): MarketProfile | null {
  const h = profile.horizonsS.indexOf(horizonS);
  const known = profile.points.flatMap(({ distanceBps, fills, valuePerHour, markoutBps }) => {
    const left = markoutBps[h];
    return fills >= FILLS_MIN && left
      ? [{ distanceBps, perHour: valuePerHour / profile.orderValue, left: left.value }]
      : [];
  });
  if (known.length < 2) return null;
  return {
    distancesBps: known.map(({ distanceBps }) => distanceBps),
    fillsPerMinute: known.map(({ perHour }) => perHour / 120),
    adverseBps: known.map(({ distanceBps, left }) => distanceBps - left),
  };
}
