/**
 * Hours of the day with a much wider spread than the other hours. In these hours, the market may be closed or without
 * its makers.
 */
import { HOUR_MS, type Millis } from '../../core/index.ts';
import type { Tape } from '../model/tape.ts';
import { walk } from '../model/walk.ts';

/**
 * Hours of the day in UTC with a much wider spread than usual; median spread in these and in the other hours, in bps.
 */
export type WideHours = { readonly hours: readonly number[]; readonly spreadBps: number; readonly otherBps: number };

/** Ratio of an hour's median spread to the usual spread, above which the hour counts as wide. */
const FAR_BEYOND = 5;
/** Minimum number of samples for an hour of the day to be judged. */
const LOOKS_MIN = 60;
/** Lower end of the first bin of spreads, in bps. The upper end of each bin is 10% above its lower end. */
const FIRST_BPS = 0.01;
const STEP = Math.log(1.1);
const BINS = 180;

export class SpreadHours {
  readonly #bins = new Uint32Array(24 * BINS);
  readonly #looks = new Uint32Array(24);

  /** Adds a sample of the spread. Samples must be at equal time intervals. */
  put(at: Millis, spreadBps: number): void {
    const hour = Math.floor(at / HOUR_MS) % 24;
    const bin = Math.floor(Math.log(Math.max(spreadBps, FIRST_BPS) / FIRST_BPS) / STEP);
    this.#bins[hour * BINS + Math.min(bin, BINS - 1)]!++;
    this.#looks[hour]!++;
  }

  /**
   * Returns the wide hours; `null` if there are no wide hours, or too few samples. The usual spread is the lower
   * quartile of the hourly medians.
   */
  wide(): WideHours | null {
    const told = Array.from({ length: 24 }, (_, hour) => hour).filter(hour => this.#looks[hour]! >= LOOKS_MIN);
    const medians = told.map(hour => this.#medianOf([hour])).sort((a, b) => a - b);
    const ordinary = medians[Math.floor((medians.length - 1) / 4)];
    if (ordinary === undefined) return null;
    const isWide = (hour: number) => this.#medianOf([hour]) > FAR_BEYOND * ordinary;
    const hours = told.filter(isWide);
    if (hours.length === 0) return null;
    return {
      hours,
      spreadBps: this.#medianOf(hours),
      otherBps: this.#medianOf(told.filter(hour => !isWide(hour))),
    };
  }

  /** Returns the center of the bin that contains the median. */
  #medianOf(hours: readonly number[]): number {
    let left = hours.reduce((sum, hour) => sum + this.#looks[hour]!, 0) / 2;
    for (let bin = 0; bin < BINS; bin++) {
      left -= hours.reduce((sum, hour) => sum + this.#bins[hour * BINS + bin]!, 0);
      if (left <= 0) return Number((FIRST_BPS * Math.exp((bin + 0.5) * STEP)).toPrecision(2));
    }
    return 0;
  }
}

/** Describes hours with a wide spread, and names the command-line option that excludes them. */
export function wideHoursText({ hours, spreadBps, otherBps }: WideHours): string {
  return `The median spread at ${hoursText(hours)} UTC is ${spreadBps} bps, against ${otherBps} bps in the other hours. The market may be closed during these hours; to exclude them, pass the market's hours, such as --session 09:30-16:00@America/New_York.`;
}

/** Formats hours as ranges: 20, 21, 22, 23, 0, 1 becomes "20:00 to 02:00". */
function hoursText(hours: readonly number[]): string {
  const has = new Set(hours);
  const starts = hours.filter(hour => !has.has((hour + 23) % 24));
  const clock = (hour: number) => `${String(hour % 24).padStart(2, '0')}:00`;
  if (starts.length === 0) return 'all hours';
  const stretches = starts.map(start => {
    let end = start + 1;
    while (has.has(end % 24)) end++;
    return `${clock(start)} to ${clock(end)}`;
  });
  return stretches.join(' and ');
}

/** Returns the wide hours of a tape, from one sample for each second with a known book. */
export function wideHoursOf(tape: Tape): WideHours | null {
  const hours = new SpreadHours();
  const { gaps, columns } = tape;
  let spreadBps = 0;
  let gap = 0;
  let second = Math.floor((columns.at[0] ?? 0) / 1_000) + 1;
  const upTo = (at: Millis): void => {
    for (; second * 1_000 <= at; second++) {
      while (gap < gaps.length && gaps[gap]!.to <= second * 1_000) gap++;
      const isGap = gap < gaps.length && gaps[gap]!.from < second * 1_000;
      if (spreadBps > 0 && !isGap) hours.put(second * 1_000, spreadBps);
    }
  };
  walk(tape, {
    time: upTo,
    touch: (_at, { bid, ask }) => (spreadBps = (20_000 * (ask - bid)) / (ask + bid)),
    trade: () => undefined,
  });
  return hours.wide();
}
