/** What came of several bots on several recordings, as plain numbers and text for JSON; everything is as in the report of a backtest unless it is said here. */
import { createHash } from 'node:crypto';
import type { Calibration, DataFlaw } from '../../src/tape/index.ts';
import type { MarkoutCurve } from '../../src/core/index.ts';
import type { ReplayReport } from '../report/report.ts';

/** Equal for equal recordings, options and configurations, `made` aside. */
export type Comparison = {
  readonly made: { readonly puntas: string; readonly node: string };
  readonly latencyMs: string;
  readonly feedLatencyMs: string;
  readonly seed: number;
  readonly models: readonly string[];
  /** What one standard deviation of the price may cost in an hour at full inventory, in each book's minor currency; null where configurations were given. */
  readonly riskPerHour: string | null;
  /** Share of each recording that the parameters come from, and that is not traded; null where configurations were given. */
  readonly calibratedShare: number | null;
  readonly tapes: readonly ComparedTape[];
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
  readonly runs: readonly ComparedRun[];
};

/** From the first part of a recording: bps unless the name says otherwise, each with its standard error; null where it cannot be told. */
export type Measured = Pick<Calibration, 'seconds' | 'trades' | 'volatilityBps' | 'adverseBps'> & {
  readonly arrivalsPerMinute: Calibration['volatilityBps'];
  readonly decayPerBps: Calibration['volatilityBps'];
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
  /** What kept it from trading, in sentences; none where nothing did. */
  readonly remarks: readonly string[];
  readonly models: readonly ComparedModel[];
};

export type ComparedModel = Pick<
  ReplayReport,
  | 'model'
  | 'seconds'
  | 'decisions'
  | 'orders'
  | 'fills'
  | 'volume'
  | 'pnl'
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
export const mainModel = (models: readonly ComparedModel[]): ComparedModel | null =>
  models.find(({ model }) => model === 'expected') ?? models[0] ?? null;

const CURVE_MAX = 256;

/** What a comparison keeps of a run: curves of at most 256 points, and the markouts of both sides and all levels together. */
export function comparedModel(report: ReplayReport): ComparedModel {
  const { model, seconds, decisions, orders, fills, volume, pnl, profitBps, feesBps, drawdown, inventory } = report;
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
    ...{ uptime, missing, spreadBps, requests, refusedPostOnly, haltedBecause, hash },
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

/** What fits on a terminal or in a pipe: everything but the curves over time and the configurations. */
export const withoutCurves = (comparison: Comparison): object => ({
  ...comparison,
  tapes: comparison.tapes.map(tape => ({
    ...tape,
    runs: tape.runs.map(({ config: _, ...run }) => ({
      ...run,
      models: run.models.map(({ curves: __, ...model }) => model),
    })),
  })),
});
