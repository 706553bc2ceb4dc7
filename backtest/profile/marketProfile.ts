/** A profile as the models take it: `market.profile` of a configuration. */
import type { DistanceProfile } from './distanceProfile.ts';

/** Columns of one length, ascending by distance. */
export type MarketProfile = {
  readonly distancesBps: readonly number[];
  /** Of one side, in orders of the profile's value. */
  readonly fillsPerMinute: readonly number[];
  /** What a fill has lost of the distance that was asked for, after the horizon: distance less markout. */
  readonly adverseBps: readonly number[];
};

/** Fewer fills say nothing of what they are worth. */
const FILLS_MIN = 10;

/** Of the distances with at least ten fills and a markout; null where those are fewer than two. `horizonS` must be one of the profile's. */
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
