/** Memory of a shadow that persists across runs and restarts, as plain data. */
import type { Millis } from '../../src/core/index.ts';
import { DETECTOR_NAMES, GAP_PARTS, type DetectorName, type DivergenceCause, type GapPart } from './causes.ts';
import { newCusum, type CusumState } from './cusum.ts';

/** Money as an integer in units of 10^-18, as text, because JSON has no bigint. */
type Atto = string;

/**
 * Alarm of one detector. `after`: more basic causes that may explain the alarm, because they were then raised, or at
 * least a quarter of the way to an alarm.
 */
export type ShadowAlarm = {
  readonly run: number;
  readonly at: Millis;
  readonly cause: DivergenceCause;
  readonly detector: DetectorName | 'decisions';
  readonly text: string;
  readonly after: readonly DivergenceCause[];
};

/** Sums of one hour, or of all time. The parts add up to `actual` minus `expected`, exactly. */
export type GapSums = { expected: Atto; actual: Atto; parts: Record<GapPart, Atto> };

type HourSums = GapSums & { readonly from: Millis };

/** Order or hedge with a large difference. */
type LargeGap = {
  readonly id: string;
  readonly at: Millis;
  readonly gap: Atto;
  readonly parts: Record<GapPart, Atto>;
};

export type ShadowMemory = {
  /** Number of the next run to replay. */
  nextRun: number;
  /** Observed time, in ms. */
  observedMs: number;
  readonly counts: {
    orders: number;
    fills: number;
    /**
     * Orders whose fills cannot be modeled, because the market was polled or the outcome of the placement was unknown.
     */
    unmeasured: number;
    hedges: number;
    requests: number;
    /** Trades of orders of an earlier run or of another program; these trades have no expectation. */
    earlier: number;
  };
  /** Filled lots, and filled lots that the models expected, of measured orders. */
  readonly lots: { actual: number; expected: number };
  readonly total: GapSums;
  hours: HourSums[];
  largest: LargeGap[];
  alarms: ShadowAlarm[];
  /** Number of alarms by cause, since the shadow's file was created. */
  readonly alarmCounts: Partial<Record<DivergenceCause, number>>;
  readonly detectors: Record<DetectorName, CusumState>;
  /** First difference of a decision; `null` if all were equal. */
  decision: { readonly run: number; readonly at: Millis; readonly text: string } | null;
  /**
   * Times from decision to answer of the first requests, in ms. Half of their median is the modeled one-way latency.
   */
  readonly latency: Record<'placements' | 'cancels', { readonly times: number[] }>;
  /** Whether every time of the exchange was a whole second. */
  wholeSeconds: boolean;
};

/** Maximum numbers of entries that are kept. */
export const SHADOW_HOURS_MAX = 24 * 14;
export const ALARMS_MAX = 200;
export const LARGEST_MAX = 20;
/** Number of first requests whose median time gives the modeled latency. */
export const LATENCY_REQUESTS = 50;

const zeros = (): Record<GapPart, Atto> =>
  Object.fromEntries(GAP_PARTS.map(part => [part, '0'])) as Record<GapPart, Atto>;
/** Returns sums of zero. */
export const newSums = (): GapSums => ({ expected: '0', actual: '0', parts: zeros() });

/** Returns the memory before the first run. */
export const newMemory = (): ShadowMemory => ({
  nextRun: 0,
  observedMs: 0,
  counts: { orders: 0, fills: 0, unmeasured: 0, hedges: 0, requests: 0, earlier: 0 },
  lots: { actual: 0, expected: 0 },
  total: newSums(),
  hours: [],
  largest: [],
  alarms: [],
  alarmCounts: {},
  detectors: Object.fromEntries(DETECTOR_NAMES.map(name => [name, newCusum()])) as Record<DetectorName, CusumState>,
  decision: null,
  latency: { placements: { times: [] }, cancels: { times: [] } },
  wholeSeconds: true,
});
