/** What came of several bots on several recordings, as plain numbers and text for JSON; everything is as in the report of a backtest unless it is said here. */
import { createHash } from 'node:crypto';
import type { Calibration, DataFlaw } from '../../src/tape/index.ts';
import type { BootstrapInterval, MarkoutCurve } from '../../src/core/index.ts';
import type { Pace } from '../exchange/fees.ts';
import { intervalOf } from '../report/interval.ts';
import type { Interval } from '../report/interval.ts';
import { mainOf } from '../report/models.ts';
import type { ReplayReport } from '../report/report.ts';

/** Equal for equal recordings, options and configurations, `made` aside. */
export type Comparison = {
  readonly made: { readonly puntas: string; readonly node: string };
  readonly latencyMs: string;
  readonly feedLatencyMs: string;
  /** Of notices of own fills; absent: they come as answers do. */
  readonly fillLatencyMs?: string;
  readonly seed: number;
  readonly models: readonly string[];
  /** What one standard deviation of the price may cost in an hour at full inventory, in each book's minor currency; null where configurations were given. */
  readonly riskPerHour: string | null;
  /** Share of each recording that the parameters come from, and that is not traded; null where configurations were given. */
  readonly calibratedShare: number | null;
  readonly tapes: readonly ComparedTape[];
  /** How many starts each run had at the first tier, the last of them an hour after the first; 1: no others. */
  readonly starts: number;
  readonly leftOut: readonly { readonly path: string; readonly why: string }[];
  /** Of every run. */
  readonly hash: string;
};

export type ComparedTape = {
  /** Short, and none else's. */
  readonly name: string;
  readonly source: string;
  readonly book: string;
  readonly major: string;
  readonly minor: string;
  readonly hash: string;
  readonly dirt: readonly DataFlaw[];
  readonly gaps: { readonly count: number; readonly seconds: number };
  /** Of trading; what lies before is what the parameters come from. ISO 8601. */
  readonly tapeFrom: string;
  readonly from: string;
  readonly to: string;
  readonly seconds: number;
  readonly measured: Measured | null;
  /** Of the first part, at each maker fee of the venue, best first; empty where configurations were given. */
  readonly verdicts: readonly ComparedVerdict[];
  readonly runs: readonly ComparedRun[];
};

/** Whether to quote at a fee, as the first part of a recording says; the rest says whether that was right. An hour's net is in the minor currency, of one order a side. */
export type ComparedVerdict = {
  readonly feeBps: number;
  readonly quote: boolean;
  /** Why not; null where it is to be quoted. */
  readonly why: string | null;
  /** Where most is earned, or least lost, and between which distances that is; null where too little was traded. */
  readonly distanceBps: number | null;
  readonly distanceInterval: readonly [number, number] | null;
  /** Up to this fee it would be quoted; below zero a rebate; null: at none. */
  readonly breakEvenFeeBps: number | null;
  readonly netPerHour: BootstrapInterval | null;
  /** The same at that distance in the rest; null where too little was traded. */
  readonly rest: (BootstrapInterval & { readonly fills: number; readonly seconds: number }) | null;
  /** False where the rest tells the contrary apart from nothing; null where it tells nothing. */
  readonly right: boolean | null;
};

/** From the first part of a recording: bps unless the name says otherwise, each with its standard error; null where it cannot be told. */
export type Measured = Pick<Calibration, 'seconds' | 'trades' | 'volatilityBps' | 'adverseBps'> & {
  readonly arrivalsPerMinute: Calibration['volatilityBps'];
  readonly decayPerBps: Calibration['volatilityBps'];
  /** Slope of the next move of the middle on the imbalance down to `depthBps`, bps a deviation; null where it foretells nothing. */
  readonly imbalanceSlope?: { readonly depthBps: number; readonly slope: number } | null;
  /** In the minor currency, and what follows from the risk: of full inventory and of one order. */
  readonly fullValue: number | null;
  readonly orderValue: number | null;
};

/** One bot at one fee tier on one recording. */
export type ComparedRun = {
  readonly name: string;
  readonly strategy: string;
  readonly tier: string;
  /** Of the maker, in bps. */
  readonly feeBps: number;
  /** The configuration's text; null where there is none. */
  readonly config: string | null;
  /** Full inventory: the configured limit, in the major currency. */
  readonly positionMax: number | null;
  /** Why it was not run; null where it was. */
  readonly notRun: string | null;
  /** Why the first part says not to quote at all: its net is 0, whether it was run to see or not. Null where it says to quote, or nothing. */
  readonly declined: string | null;
  /** Why nothing is said of its profit; null where something is. */
  readonly unscored: string | null;
  /** What it traded, as 30 days of that, and the tier of the venue that this gives; null where it was not run. */
  readonly pace: Pace | null;
  /** The same run begun later; of the first tier alone, under the main model. */
  readonly staggered: readonly StaggeredStart[];
  /** Its net less that of the first bot at the same tier in the same hours, 95 % from equal stretches of time; null where there is none. */
  readonly againstFirst: { readonly value: number; readonly interval: Interval | null } | null;
  /** What kept it from trading, in sentences; none where nothing did. */
  readonly remarks: readonly string[];
  readonly models: readonly ComparedModel[];
};

/** `laterS`: seconds after the first start. */
export type StaggeredStart = { readonly laterS: number; readonly net: string; readonly fills: number };

export type ComparedModel = Pick<
  ReplayReport,
  | 'model'
  | 'seconds'
  | 'decisions'
  | 'orders'
  | 'fills'
  | 'volume'
  | 'pnl'
  | 'netInterval'
  | 'net60s'
  | 'stretches'
  | 'profitBps'
  | 'feesBps'
  | 'drawdown'
  | 'inventory'
  | 'uptime'
  | 'missing'
  | 'spreadBps'
  | 'requests'
  | 'refusedPostOnly'
  | 'haltedBecause'
  | 'hash'
> & {
  /** Mean size over time, without sign, in the major currency. */
  readonly positionMean: number;
  /** Of both sides and all levels. */
  readonly markouts: Omit<MarkoutCurve, 'side' | 'level'>;
  /** Thinned: the last of each stretch. */
  readonly curves: {
    readonly fromMs: number;
    readonly everyMs: number;
    readonly profit: readonly (number | null)[];
    readonly position: readonly (number | null)[];
  };
};

/** The model that one number stands for: the expected one, or the first; null of none. */
export const mainModel = (models: readonly ComparedModel[]): ComparedModel | null => mainOf(models);

const CURVE_MAX = 256;

/** What a comparison keeps of a run: curves of at most 256 points, and the markouts of both sides and all levels together. */
export function comparedModel(report: ReplayReport): ComparedModel {
  const { model, seconds, decisions, orders, fills, volume, pnl, profitBps, feesBps, drawdown, inventory } = report;
  const { netInterval, net60s, stretches } = report;
  const { uptime, missing, spreadBps, requests, refusedPostOnly, haltedBecause, hash, position, series } = report;
  const all = report.markouts.find(({ side, level }) => side === null && level === null);
  const { seconds: after = [], fills: counts = [], bps = [], errorBps = [] } = all ?? {};
  const { profit, position: held } = series.columns;
  const every = Math.max(1, Math.ceil(profit.length / CURVE_MAX));
  const thinned = (values: readonly (number | null)[]): (number | null)[] =>
    Array.from(
      { length: Math.ceil(values.length / every) },
      (_, i) => values[Math.min(values.length, (i + 1) * every) - 1] ?? null,
    );
  return {
    ...{ model, seconds, decisions, orders, fills, volume, pnl, profitBps, feesBps, drawdown, inventory },
    ...{ uptime, missing, spreadBps, requests, refusedPostOnly, haltedBecause, hash, netInterval, net60s, stretches },
    positionMean: position.meanSize,
    markouts: { seconds: after, fills: counts, bps, errorBps },
    curves: {
      fromMs: series.fromMs,
      everyMs: series.everyMs * every,
      profit: thinned(profit),
      position: thinned(held),
    },
  };
}

/** SHA-256 in hex over each tape's name, hash and start of trading, and each run's hashes by model, or why it was not run; order counts. */
export function hashOfRuns(tapes: readonly ComparedTape[]): string {
  const hash = createHash('sha256');
  for (const tape of tapes) {
    hash.update(`${tape.name} ${tape.hash} ${tape.from}\n`);
    for (const { name, tier, notRun, models } of tape.runs)
      hash.update(`${name} ${tier} ${notRun ?? models.map(model => model.hash).join(' ')}\n`);
  }
  return hash.digest('hex');
}

/** Of runs on one tape, the first bot of each tier first: each with its difference to that one, where both traded the same hours. */
export function againstFirst(runs: readonly ComparedRun[]): readonly ComparedRun[] {
  return runs.map(run => {
    const first = runs.find(({ tier, models }) => tier === run.tier && models.length > 0);
    const [own, other] = [mainModel(run.models), mainModel(first?.models ?? [])];
    if (own === null || other === null || run === first) return run;
    const gains = own.stretches.net.map((net, i) => net - (other.stretches.net[i] ?? 0));
    const value = Number(own.pnl.total) - Number(other.pnl.total);
    return { ...run, againstFirst: { value, interval: intervalOf(gains) } };
  });
}

/** What fits on a terminal or in a pipe: everything but the curves over time and the configurations. */
export const withoutCurves = (comparison: Comparison): object => ({
  ...comparison,
  tapes: comparison.tapes.map(tape => ({
    ...tape,
    runs: tape.runs.map(({ config: _, ...run }) => ({
      ...run,
      models: run.models.map(({ curves: _c, stretches: _s, ...model }) => model),
    })),
  })),
});
