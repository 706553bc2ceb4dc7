/** What a trial is measured by, by name: objectives and constraints of a study are of these. */
import type { ReplayReport } from '../../index.ts';

/** Of all runs of a trial under one fill model, over the pieces of the tapes that were replayed. Sums are over pieces, means over starts and latencies. */
export type Sums = {
  readonly net60s: number;
  readonly net: number;
  readonly volume: number;
  readonly fills: number;
  readonly halts: number;
  /** The largest of any run. */
  readonly drawdown: number;
  readonly inventoryMost: number;
  /** Seconds of runs, and with them the mean size of the inventory and the share of time with both quotes. */
  readonly seconds: number;
  readonly inventorySeconds: number;
  readonly quotedSeconds: number;
  readonly requests: number;
};

export const NO_SUMS: Sums = {
  ...{ net60s: 0, net: 0, volume: 0, fills: 0, halts: 0, drawdown: 0, inventoryMost: 0 },
  ...{ seconds: 0, inventorySeconds: 0, quotedSeconds: 0, requests: 0 },
};

/** With one more run, of which there are `runs` on each piece: one for each start and latency. */
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
  /** Which way is better. */
  readonly better: 'more' | 'less';
  /** In which unit: the book's two currencies, or what it says. */
  readonly unit: 'minor' | 'major' | '';
  /** Grows with every piece. */
  readonly adds?: true;
  readonly says: string;
  readonly of: (sums: Sums) => number;
};

/** In the order of the page. */
export const MEASURES = {
  net60s: {
    ...{ better: 'more', unit: 'minor', adds: true, of: sums => sums.net60s },
    says: 'markout of the fills after 60 s times volume, less fees: what they would have made, had each been closed then',
  },
  net: {
    better: 'more',
    unit: 'minor',
    adds: true,
    of: sums => sums.net,
    says: 'profit with what is still held at the end',
  },
  volume: { better: 'more', unit: 'minor', adds: true, of: sums => sums.volume, says: 'traded value' },
  fills: { better: 'more', unit: '', adds: true, of: sums => sums.fills, says: 'executions' },
  uptime: {
    ...{ better: 'more', unit: '', of: sums => over(sums.quotedSeconds, sums.seconds) },
    says: 'share of the time with a bid and an ask, from 0 to 1',
  },
  drawdown: { better: 'less', unit: 'minor', of: sums => sums.drawdown, says: 'largest fall of the profit in any run' },
  inventoryMost: {
    ...{ better: 'less', unit: 'major', of: sums => sums.inventoryMost },
    says: 'largest inventory beyond the target in any run, without sign',
  },
  inventoryMean: {
    ...{ better: 'less', unit: 'major', of: sums => over(sums.inventorySeconds, sums.seconds) },
    says: 'mean size of the inventory over time, without sign',
  },
  orderToTrade: {
    ...{ better: 'less', unit: '', of: sums => over(sums.requests, sums.fills, sums.requests) },
    says: 'placements and cancels for each fill',
  },
  halts: { better: 'less', unit: '', of: sums => sums.halts, says: 'runs that halted themselves' },
} as const satisfies Readonly<Record<string, Measure>>;

/** Whether it is a sum over pieces. */
export const addsUp = (name: MeasureName): boolean => 'adds' in MEASURES[name];

export type MeasureName = keyof typeof MEASURES;
export const MEASURE_NAMES = Object.keys(MEASURES) as MeasureName[];
export type Measures = Readonly<Record<MeasureName, number>>;

const over = (part: number, whole: number, without = 0): number => (whole > 0 ? part / whole : without);

/** Nine digits, as reports have them. */
export const rounded = (x: number): number => Number(x.toPrecision(9));

/** Each the worse of what the fill models say: none of them may make it look better than another does. */
export function measuresOf(models: readonly Sums[]): Measures {
  const worse = (name: MeasureName): number => {
    const { better, of } = MEASURES[name];
    const values = models.map(of);
    return rounded(better === 'more' ? Math.min(...values) : Math.max(...values));
  };
  return Object.fromEntries(MEASURE_NAMES.map(name => [name, worse(name)])) as Measures;
}

/** As a search and a front look at it: more is better. */
export const upwards = (name: MeasureName, value: number): number =>
  MEASURES[name].better === 'more' ? value : 0 - value;
