/** Measures of a trial by name, for objectives and constraints of a study. */
import type { ReplayReport } from '../../index.ts';

/**
 * Results of all runs of a trial under one fill model. `net60s`, `net`, `volume`, `fills` and `requests` are means over
 * starts and latencies, summed over the pieces of the recordings.
 */
export type Sums = {
  readonly net60s: number;
  readonly net: number;
  readonly volume: number;
  readonly fills: number;
  readonly halts: number;
  /** Maximum drawdown of any run, in the quote currency. */
  readonly drawdown: number;
  readonly inventoryMost: number;
  /** Sum of the durations of all runs, in seconds. */
  readonly seconds: number;
  /** Size of the inventory, in the base currency, integrated over the seconds of all runs. */
  readonly inventorySeconds: number;
  /** Time with both a bid and an ask in the book, summed over all runs, in seconds. */
  readonly quotedSeconds: number;
  readonly requests: number;
};

export const NO_SUMS: Sums = {
  ...{ net60s: 0, net: 0, volume: 0, fills: 0, halts: 0, drawdown: 0, inventoryMost: 0 },
  ...{ seconds: 0, inventorySeconds: 0, quotedSeconds: 0, requests: 0 },
};

/** Adds one run to the sums. `runs` is the number of runs on one piece of a recording: one per start and latency. */
export function summed(sums: Sums, report: ReplayReport, runs: number): Sums {
  const { seconds, position, requests } = report;
  return {
    net60s: sums.net60s + (report.net60s?.total ?? 0) / runs,
    net: sums.net + Number(report.pnl.total) / runs,
    volume: sums.volume + Number(report.volume.minor) / runs,
    fills: sums.fills + report.fills / runs,
    halts: sums.halts + (report.haltedBecause === null ? 0 : 1),
    drawdown: Math.max(sums.drawdown, Number(report.drawdown.most)),
    inventoryMost: Math.max(sums.inventoryMost, position.mostSize),
    seconds: sums.seconds + seconds,
    inventorySeconds: sums.inventorySeconds + position.meanSize * seconds,
    quotedSeconds: sums.quotedSeconds + report.uptime.both * seconds,
    requests: sums.requests + (requests.placed + requests.canceled) / runs,
  };
}

type Measure = {
  /** Whether a trial is better with more or with less of the measure. */
  readonly better: 'more' | 'less';
  /** Unit of the measure: quote currency, base currency, or if empty, the unit in `says`. */
  readonly unit: 'minor' | 'major' | '';
  /** Present if the measure of a trial is the sum over the pieces of the recordings. */
  readonly adds?: true;
  readonly says: string;
  readonly of: (sums: Sums) => number;
};

/** Measures by name, in the order of the report's page. */
export const MEASURES = {
  net60s: {
    ...{ better: 'more', unit: 'minor', adds: true, of: sums => sums.net60s },
    says: 'profit after fees, if each fill were closed at the mid price 60 s later (markout times volume)',
  },
  net: {
    better: 'more',
    unit: 'minor',
    adds: true,
    of: sums => sums.net,
    says: 'profit after fees, with the final inventory valued at the mid price',
  },
  volume: { better: 'more', unit: 'minor', adds: true, of: sums => sums.volume, says: 'traded value' },
  fills: { better: 'more', unit: '', adds: true, of: sums => sums.fills, says: 'executions' },
  uptime: {
    ...{ better: 'more', unit: '', of: sums => over(sums.quotedSeconds, sums.seconds) },
    says: 'share of time with a bid and an ask, from 0 to 1',
  },
  drawdown: {
    better: 'less',
    unit: 'minor',
    of: sums => sums.drawdown,
    says: 'largest fall of the profit from its peak in any run',
  },
  inventoryMost: {
    ...{ better: 'less', unit: 'major', of: sums => sums.inventoryMost },
    says: 'largest absolute inventory (balance minus target) in any run',
  },
  inventoryMean: {
    ...{ better: 'less', unit: 'major', of: sums => over(sums.inventorySeconds, sums.seconds) },
    says: 'mean absolute inventory (balance minus target) over time',
  },
  orderToTrade: {
    ...{ better: 'less', unit: '', of: sums => over(sums.requests, sums.fills, sums.requests) },
    says: 'placements and cancels per fill',
  },
  halts: { better: 'less', unit: '', of: sums => sums.halts, says: 'runs that halted' },
} as const satisfies Readonly<Record<string, Measure>>;

/** Whether the measure of a trial is the sum over its pieces. */
export const addsUp = (name: MeasureName): boolean => 'adds' in MEASURES[name];

export type MeasureName = keyof typeof MEASURES;
export const MEASURE_NAMES = Object.keys(MEASURES) as MeasureName[];
export type Measures = Readonly<Record<MeasureName, number>>;

const over = (part: number, whole: number, without = 0): number => (whole > 0 ? part / whole : without);

/** Rounds to nine significant digits, as in reports. */
export const rounded = (x: number): number => Number(x.toPrecision(9));

/** Returns the worst value of each measure over the fill models. */
export function measuresOf(models: readonly Sums[]): Measures {
  const worse = (name: MeasureName): number => {
    const { better, of } = MEASURES[name];
    const values = models.map(of);
    return rounded(better === 'more' ? Math.min(...values) : Math.max(...values));
  };
  return Object.fromEntries(MEASURE_NAMES.map(name => [name, worse(name)])) as Measures;
}

/** Returns the value, negated if less is better, so that searches and Pareto fronts can always maximize. */
export const upwards = (name: MeasureName, value: number): number =>
  MEASURES[name].better === 'more' ? value : 0 - value;
