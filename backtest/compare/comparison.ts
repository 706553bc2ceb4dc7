/**
 * Results of several bots on several recordings, as plain numbers and text for JSON. Unless noted, fields are as in the
 * report of a backtest.
 */
import { createHash } from 'node:crypto';
import type { Calibration, DataFlaw } from '../../src/tape/index.ts';
import type { BootstrapInterval, MarkoutCurve } from '../../src/core/index.ts';
import type { Pace } from '../exchange/fees.ts';
import type { ComparedBooks } from './comparedBooks.ts';
import { intervalOf, type Interval } from '../report/interval.ts';
import { mainOf } from '../report/mainModel.ts';
import type { HedgeTapeReport, ReplayReport } from '../report/report.ts';

/** Comparison of bots. Equal recordings, options and configurations give equal fields, except `made`. */
export type Comparison = {
  readonly made: { readonly puntas: string; readonly node: string };
  readonly latencyMs: string;
  /** Latency of cancels; if absent, the latency of requests applies. */
  readonly cancelLatencyMs?: string;
  readonly feedLatencyMs: string;
  /** Latency of notices of the bot's fills; if absent, the latency of answers applies. */
  readonly fillLatencyMs?: string;
  /** Recording on which the bots with `hedge.elsewhere` hedged; absent if there was none. */
  readonly hedge?: HedgeTapeReport;
  readonly seed: number;
  readonly models: readonly string[];
  /**
   * Loss at full inventory if the price moves one standard deviation in an hour, in each book's quote currency. `null`
   * if configurations were given.
   */
  readonly riskPerHour: string | null;
  /**
   * Share of each recording, 0 to 1, that determines the parameters and is not traded; `null` if configurations or the
   * start of trading were given.
   */
  readonly calibratedShare: number | null;
  readonly tapes: readonly ComparedTape[];
  /**
   * Results of each configuration with all its books together; absent unless a configuration has several books. Then
   * all recordings are replayed on one clock, and `tapes` has each of them once.
   */
  readonly desks?: readonly ComparedBooks[];
  /** Number of starts of each run at the first fee tier, spread over one hour; 1 if runs start only once. */
  readonly starts: number;
  readonly leftOut: readonly { readonly path: string; readonly why: string }[];
  /** Hash of all runs, from `hashOfRuns`. */
  readonly hash: string;
};

export type ComparedTape = {
  /** Short, unique name of the recording. */
  readonly name: string;
  readonly source: string;
  readonly book: string;
  readonly major: string;
  readonly minor: string;
  readonly hash: string;
  readonly dirt: readonly DataFlaw[];
  readonly gaps: { readonly count: number; readonly seconds: number };
  /**
   * Start of the recording, in ISO 8601. Parameters come from the time between the start of the recording and the start
   * of trading.
   */
  readonly tapeFrom: string;
  /** Start of trading, in ISO 8601. */
  readonly from: string;
  readonly to: string;
  readonly seconds: number;
  readonly measured: Measured | null;
  /**
   * Verdicts on quoting from the first part of the recording, one per maker fee of the exchange, lowest fee first;
   * empty if configurations were given.
   */
  readonly verdicts: readonly ComparedVerdict[];
  readonly runs: readonly ComparedRun[];
};

/**
 * Verdict of a recording's first part at a fee, tested on the rest of the recording. Net per hour is in the quote
 * currency, for one order per side.
 */
export type ComparedVerdict = {
  readonly feeBps: number;
  readonly quote: boolean;
  /** Reason against quoting, with the missing hours if the verdict is not known yet; `null` if quoting is advised. */
  readonly why: string | null;
  /**
   * Distance with the largest profit or smallest loss, in bps; `null` with too few trades. `distanceInterval` is its
   * 90% interval. The intervals of the nets are 90% intervals too.
   */
  readonly distanceBps: number | null;
  readonly distanceInterval: readonly [number, number] | null;
  /** Highest fee at which quoting pays, in bps, negative for a rebate; `null` if there is none. */
  readonly breakEvenFeeBps: number | null;
  readonly netPerHour: BootstrapInterval | null;
  /** Net per hour at `distanceBps` in the rest of the recording; `null` with too few trades. */
  readonly rest: (BootstrapInterval & { readonly fills: number; readonly seconds: number }) | null;
  /**
   * False if the rest of the recording significantly contradicts the verdict; `null` if the verdict could not be
   * tested.
   */
  readonly right: boolean | null;
};

/**
 * Measurements of a recording's first part, with standard errors; in bps unless the name states another unit. A
 * measurement with too little data is `null`.
 */
export type Measured = Pick<Calibration, 'seconds' | 'trades' | 'volatilityBps' | 'adverseBps'> & {
  readonly arrivalsPerMinute: Calibration['volatilityBps'];
  readonly decayPerBps: Calibration['volatilityBps'];
  /**
   * Predicted next move of the mid price, in bps per standard deviation of the imbalance of the levels within
   * `depthBps`. `null` if the imbalance does not predict the move.
   */
  readonly imbalanceSlope?: { readonly depthBps: number; readonly slope: number } | null;
  /**
   * Value of full inventory, in the quote currency, which follows from `riskPerHour`; `orderValue` is the value of one
   * order.
   */
  readonly fullValue: number | null;
  readonly orderValue: number | null;
};

/** Runs of one bot at one fee tier on one recording, with a result per fill model. */
export type ComparedRun = {
  readonly name: string;
  readonly strategy: string;
  readonly tier: string;
  /** Maker fee, in bps. */
  readonly feeBps: number;
  /** Text of the configuration; `null` if there is none. */
  readonly config: string | null;
  /** Full inventory: the configured limit, in the base currency. */
  readonly positionMax: number | null;
  /** Reason why the bot did not run; `null` if it did. */
  readonly notRun: string | null;
  /**
   * Reason against quoting, from measurements of the tape's first part; `null` if there is none. With a reason, the net
   * of the run counts as 0, even if the bot ran.
   */
  readonly declined: string | null;
  /** Reason why the profit of the run is not scored; `null` if it is scored. */
  readonly unscored: string | null;
  /**
   * Volume of the bot, scaled to 30 days, and the exchange's fee tier for that volume; `null` if the bot did not run.
   */
  readonly pace: Pace | null;
  /** Results of the starts after the first, under the main model; empty unless the run is at the first fee tier. */
  readonly staggered: readonly StaggeredStart[];
  /**
   * Net minus the net of the first bot that ran at this tier in the same hours, with a 95% interval from equal time
   * blocks. `null` for that first bot itself, and for a bot that did not run.
   */
  readonly againstFirst: { readonly value: number; readonly interval: Interval | null } | null;
  /** Obstacles to the bot's trading, in sentences; empty if there were none. */
  readonly remarks: readonly string[];
  readonly models: readonly ComparedModel[];
};

/** Run that started `laterS` seconds after the first start. */
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
  | 'strategyFault'
  | 'hash'
> & {
  /** Time-weighted mean size of the position, unsigned, in the base currency. */
  readonly positionMean: number;
  /** Markouts of both sides and all levels together. */
  readonly markouts: Omit<MarkoutCurve, 'side' | 'level'>;
  /** Curves over time, downsampled to the last value of each interval. */
  readonly curves: {
    readonly fromMs: number;
    readonly everyMs: number;
    readonly profit: readonly (number | null)[];
    readonly position: readonly (number | null)[];
  };
};

/**
 * Returns the representative model: `expected`, or the first model if `expected` was not run; `null` without models.
 */
export const mainModel = (models: readonly ComparedModel[]): ComparedModel | null => mainOf(models);

const CURVE_MAX = 256;

/**
 * Extracts the data of a run for a comparison: curves of at most 256 points, and markouts of both sides and all levels
 * together.
 */
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
    ...(report.strategyFault !== undefined && { strategyFault: report.strategyFault }),
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

/**
 * Returns the SHA-256 in hex over all tapes and runs. A tape counts with its name, hash and start of trading; a run
 * with its hashes by model, or its reason for not running. The order of tapes and runs matters.
 */
export function hashOfRuns(tapes: readonly ComparedTape[]): string {
  const hash = createHash('sha256');
  for (const tape of tapes) {
    hash.update(`${tape.name} ${tape.hash} ${tape.from}\n`);
    for (const { name, tier, notRun, models } of tape.runs)
      hash.update(`${name} ${tier} ${notRun ?? models.map(model => model.hash).join(' ')}\n`);
  }
  return hash.digest('hex');
}

/**
 * Adds `againstFirst` to runs on one tape: the bot's net minus the net of the first bot that ran at the same tier. For
 * that first bot, and for bots that did not run, `againstFirst` is `null`.
 */
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

/**
 * Returns the comparison without curves over time and without configurations, short enough for a terminal or a pipe.
 */
export const withoutCurves = (comparison: Comparison): object => ({
  ...comparison,
  ...(comparison.desks !== undefined && {
    desks: comparison.desks.map(desk => ({
      ...desk,
      models: desk.models.map(model => ({
        ...model,
        together: model.together.map(({ stretches: _, ...total }) => total),
      })),
    })),
  }),
  tapes: comparison.tapes.map(tape => ({
    ...tape,
    runs: tape.runs.map(({ config: _, ...run }) => ({
      ...run,
      models: run.models.map(({ curves: _c, stretches: _s, ...model }) => model),
    })),
  })),
});
