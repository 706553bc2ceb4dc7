/** Report of a shadow, as `puntas shadow --json` prints it: sums and parts of the gap, detectors, alarms. */
import { money, textOfMoney, type Instrument, type Millis } from '../../src/core/index.ts';
import {
  DETECTORS,
  DETECTOR_NAMES,
  GAP_PARTS,
  type DetectorName,
  type DivergenceCause,
  type GapPart,
} from './causes.ts';
import { ALARM_THRESHOLD } from './cusum.ts';
import type { GapSums, ShadowAlarm, ShadowMemory } from './memory.ts';
import { raisedCauses } from './shadow.ts';

/** Money as exact decimal text in the quote currency. */
type Sum = string;
type Sums = {
  readonly expected: Sum;
  readonly actual: Sum;
  readonly gap: Sum;
  readonly parts: Readonly<Record<GapPart, Sum>>;
};

export type DetectorRow = {
  readonly name: DetectorName;
  readonly cause: DivergenceCause;
  readonly unit: string;
  readonly observations: number;
  /** Number of first observations from which the normal value is learned; 0 if it is fixed. */
  readonly learns: number;
  /** Normal value; `null` until `learns` observations were made. */
  readonly normal: number | null;
  /** Larger of the two sums, as a share of the height at which the alarm is raised. */
  readonly height: number;
  readonly isRaised: boolean;
};

export type ShadowReport = {
  readonly book: string;
  readonly currency: string;
  readonly model: string;
  readonly runs: number;
  readonly observedMs: Millis;
  readonly orders: number;
  readonly fills: number;
  /**
   * Orders and trades without an expectation. `unmeasured`: orders while the market was polled or with an unknown
   * outcome; `earlier`: trades of orders of an earlier run or of another program.
   */
  readonly unmeasured: number;
  readonly earlier: number;
  readonly hedges: number;
  readonly requests: number;
  /** Filled amount as a share of the expected amount; `null` if none was expected. */
  readonly fillRatio: number | null;
  readonly total: Sums;
  /** Gap and its parts per observed hour, rounded towards zero at 10^-18; `null` if no time was observed. */
  readonly perHour: { readonly gap: Sum; readonly parts: Readonly<Record<GapPart, Sum>> } | null;
  readonly hours: readonly (Sums & { readonly from: Millis })[];
  readonly largest: readonly {
    readonly id: string;
    readonly at: Millis;
    readonly gap: Sum;
    readonly parts: Readonly<Record<GapPart, Sum>>;
  }[];
  /** First decision that differs from the recording; `null` if all are equal. */
  readonly decision: ShadowMemory['decision'];
  /** Causes with a raised alarm, in the order of `CAUSES_IN_ORDER`. The first probably explains the others. */
  readonly raised: readonly DivergenceCause[];
  readonly detectors: readonly DetectorRow[];
  readonly alarms: readonly ShadowAlarm[];
};

/** Returns the report of a memory. Sums are exact; `runs` is the number of replayed runs. */
export function shadowReport(memory: ShadowMemory, instrument: Instrument, model: string, runs: number): ShadowReport {
  const { counts, lots, observedMs } = memory;
  const total = sumsOf(memory.total);
  const perHour = (text: string): Sum =>
    textOfMoney(money((BigInt(text) * 3_600_000n) / BigInt(Math.round(observedMs))));
  return {
    ...{ book: instrument.symbol, currency: instrument.minor, model, runs, observedMs, ...counts },
    fillRatio: lots.expected > 0 ? lots.actual / lots.expected : null,
    total,
    perHour:
      Math.round(observedMs) > 0
        ? { gap: perHour(gapOf(memory.total).toString()), parts: shownParts(memory.total.parts, perHour) }
        : null,
    hours: memory.hours.map(hour => ({ from: hour.from, ...sumsOf(hour) })),
    largest: memory.largest.map(({ id, at, gap, parts }) => ({
      id,
      at,
      gap: attoText(gap),
      parts: shownParts(parts, attoText),
    })),
    decision: memory.decision,
    raised: raisedCauses(memory),
    detectors: DETECTOR_NAMES.map(name => detectorRow(name, memory)),
    alarms: memory.alarms,
  };
}

const attoText = (text: string): Sum => textOfMoney(money(BigInt(text)));
const gapOf = ({ expected, actual }: GapSums): bigint => BigInt(actual) - BigInt(expected);
const shownParts = (parts: Readonly<Record<GapPart, string>>, shown: (text: string) => Sum): Record<GapPart, Sum> =>
  Object.fromEntries(GAP_PARTS.map(part => [part, shown(parts[part])])) as Record<GapPart, Sum>;

const sumsOf = (sums: GapSums): Sums => ({
  expected: attoText(sums.expected),
  actual: attoText(sums.actual),
  gap: attoText(gapOf(sums).toString()),
  parts: shownParts(sums.parts, attoText),
});

function detectorRow(name: DetectorName, memory: ShadowMemory): DetectorRow {
  const { cause, unit, mean, ...rest } = DETECTORS[name];
  const state = memory.detectors[name];
  const learns = 'learned' in rest ? rest.learned : 0;
  return {
    ...{ name, cause, unit, observations: state.count, learns },
    normal: learns === 0 ? mean : state.count >= learns ? state.mean : null,
    height: Math.max(state.above, state.below) / ALARM_THRESHOLD,
    isRaised: state.isRaised,
  };
}
