/** Result of a study as numbers and text for JSON. */
import type { Interval } from '../../report/interval.ts';
import type { HedgeTapeReport } from '../../report/report.ts';
import type { Point } from '../search/space.ts';

/**
 * Result of a study. Equal studies, recordings and registries give equal results, except `made`. Money is in the quote
 * currency, amounts are in the base currency; both are approximate.
 */
export type Tuning = {
  readonly made: { readonly puntas: string; readonly node: string };
  /** Digest of everything that determines the results of a trial. */
  readonly study: string;
  readonly book: string;
  readonly major: string;
  readonly minor: string;
  readonly strategy: string;
  readonly tapes: readonly TunedTape[];
  readonly search: {
    readonly algorithm: string;
    readonly seed: number;
    readonly trials: number;
    readonly batch: number;
  };
  readonly parameters: readonly string[];
  readonly objectives: readonly string[];
  readonly constraints: readonly string[];
  readonly models: readonly string[];
  readonly latenciesMs: readonly string[];
  readonly startsAfterSeconds: readonly number[];
  /** Recording on which the trials hedged; absent if there was none. */
  readonly hedge?: HedgeTapeReport;
  /** Sections of the configuration that no trial simulates, one sentence each; absent if there are none. */
  readonly notSimulated?: readonly string[];
  /** Number of pieces of each tape. Every trial runs on each piece, and starts each piece without inventory. */
  readonly segments: number;
  readonly counts: {
    readonly done: number;
    readonly pruned: number;
    readonly refused: number;
    /** Number of trials that finished and satisfy every constraint. */
    readonly feasible: number;
    /** Number of distinct configurations that studies in the registry have tried on any hour of this study's tapes. */
    readonly onTheseTapes: number;
  };
  /** Trials in the order in which the search requested them. */
  readonly trials: readonly TunedTrial[];
  /** Numbers of the feasible trials, best first. */
  readonly ranking: readonly number[];
  /** Numbers of the trials on the Pareto front; empty with only one objective. */
  readonly front: readonly number[];
  /** Number of the best trial; `null` if no trial is feasible. */
  readonly chosen: number | null;
  readonly evidence: Evidence | null;
  readonly holdout: HeldOut | null;
  readonly verdict: { readonly better: boolean; readonly words: readonly string[] };
};

/**
 * Tape with the start and end of its tuning part and of its holdout, in ISO 8601; `null` for a part that the tape does
 * not have.
 */
export type TunedTape = {
  readonly name: string;
  readonly market: string;
  readonly digest: string;
  readonly tuned: readonly [string, string] | null;
  readonly heldOut: readonly [string, string] | null;
};

export type TunedTrial = {
  readonly number: number;
  readonly point: Point;
  readonly state: 'done' | 'pruned' | 'refused';
  readonly why: string | null;
  /** Names of the constraints that the trial violates. */
  readonly breaks: readonly string[];
  readonly measures: Readonly<Record<string, number>> | null;
  /** Value of the first objective after each piece of the recording. */
  readonly soFar: readonly number[];
};

/** Evidence for and against the best trial. In the profit of a time block, fills are valued after 60 s. */
export type Evidence = {
  readonly blocks: number;
  /** Profit of the best trial in each time block, in order of time. */
  readonly gains: readonly number[];
  readonly net: number;
  readonly interval: Interval | null;
  /** Sharpe ratio per time block, not annualized. */
  readonly sharpe: number;
  readonly deflated: { readonly trials: number; readonly threshold: number; readonly probability: number };
  /**
   * Probability of backtest overfitting by CSCV, with the probability of a loss out of sample. `null` for fewer than
   * two candidates, or too few blocks.
   */
  readonly pbo: {
    readonly value: number;
    readonly interval: readonly [number, number] | null;
    readonly lossProbability: number;
    /**
     * Mean profit per block of each split's best configuration, in the half in which it was chosen. `outOfSample` is
     * the mean profit per block in the other half.
     */
    readonly inSample: number;
    readonly outOfSample: number;
    readonly logits: readonly number[];
  } | null;
  /** Profits of combinatorial cross-validation with purging and embargo: the total for each path through all blocks. */
  readonly paths: readonly number[];
  /** Profits of walk-forward choices, in order of time; `chosen` is the number of the trial. */
  readonly walkForward: readonly { readonly chosen: number; readonly net: number }[];
  /**
   * Results of the best trial's neighbors, each with one parameter changed. `share` is the share of neighbors that are
   * worse than the best trial by at most the fraction `within` of its value. `null` if no neighbor ran.
   */
  readonly stability: {
    readonly share: number;
    readonly within: number;
    readonly neighbours: number;
    /**
     * Results per parameter. `worstLoss` is how much worse the worst neighbor is than the best trial in the first
     * objective; `null` if a neighbor cannot run.
     */
    readonly byKey: readonly { readonly key: string; readonly share: number; readonly worstLoss: number | null }[];
  } | null;
  readonly parameters: readonly TunedParameter[];
};

/**
 * Values of the first objective by one parameter. `at` is the parameter's value; for a choice, it is an index of
 * `names`.
 */
export type TunedParameter = {
  readonly key: string;
  readonly scale: 'linear' | 'log' | 'choice';
  /** Whether a higher value of the objective is better. */
  readonly upwards: boolean;
  readonly names: readonly string[];
  readonly points: readonly { readonly at: number; readonly value: number }[];
  /** Neighbors of the best trial that differ only in this parameter. */
  readonly neighbours: readonly { readonly at: number; readonly value: number }[];
  readonly chosen: number | null;
};

export type HeldOut = {
  readonly at: string;
  readonly by: string;
  readonly measures: Readonly<Record<string, number>>;
  readonly gains: readonly number[];
  readonly net: number;
  readonly interval: Interval | null;
};
