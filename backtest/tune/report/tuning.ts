/** Result of a study as plain numbers and text for JSON. */
import type { Interval } from '../../report/interval.ts';
import type { Point } from '../search/space.ts';

/**
 * Equal for equal studies, recordings and registries, except `made`. Sums are in the quote currency, amounts in the
 * base currency; both are approximate.
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
  /** Number of parts of each tape; every trial runs on each, starting without inventory. */
  readonly segments: number;
  readonly counts: {
    readonly done: number;
    readonly pruned: number;
    readonly refused: number;
    /** Trials that finished and satisfy every constraint. */
    readonly feasible: number;
    /** Distinct configurations in the registry for any of these hours, from all studies. */
    readonly onTheseTapes: number;
  };
  /** Trials in the order in which the search requested them. */
  readonly trials: readonly TunedTrial[];
  /** Numbers of the trials, best first. */
  readonly ranking: readonly number[];
  /** Numbers of the trials on the Pareto front; only with several objectives. */
  readonly front: readonly number[];
  /** Number of the best trial; `null` if no trial is feasible. */
  readonly chosen: number | null;
  readonly evidence: Evidence | null;
  readonly holdout: HeldOut | null;
  readonly verdict: { readonly better: boolean; readonly words: readonly string[] };
};

/** Times in ISO 8601; `null` if a tape has no tuning part, or no holdout. */
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
  /** First objective after each piece. */
  readonly soFar: readonly number[];
};

/** Evidence for and against the best trial. In the result of a time block, fills are valued after 60 s. */
export type Evidence = {
  readonly blocks: number;
  /** Results of the best trial, per time block. */
  readonly gains: readonly number[];
  readonly net: number;
  readonly interval: Interval | null;
  /** Sharpe ratio per time block, not annualized. */
  readonly sharpe: number;
  readonly deflated: { readonly trials: number; readonly threshold: number; readonly probability: number };
  /**
   * Probability of backtest overfitting by CSCV, and of a loss out of sample; `null` with fewer than two candidates, or
   * too few blocks.
   */
  readonly pbo: {
    readonly value: number;
    readonly interval: readonly [number, number] | null;
    readonly lossProbability: number;
    /**
     * Mean result per block of the configuration that is best in one half: in that half and in the other, over all
     * splits.
     */
    readonly inSample: number;
    readonly outOfSample: number;
    readonly logits: readonly number[];
  } | null;
  /** Results of purged and embargoed combinatorial cross-validation: one sum per path of choices through all blocks. */
  readonly paths: readonly number[];
  /** Results of walk-forward choices, in order of time. */
  readonly walkForward: readonly { readonly chosen: number; readonly net: number }[];
  /**
   * Results of the best trial's neighbors, each with one parameter moved: the share that lost at most `within`. `null`
   * if none ran.
   */
  readonly stability: {
    readonly share: number;
    readonly within: number;
    readonly neighbours: number;
    /** `worstLoss` of the first objective; `null` if a neighbor cannot run. */
    readonly byKey: readonly { readonly key: string; readonly share: number; readonly worstLoss: number | null }[];
  } | null;
  readonly parameters: readonly TunedParameter[];
};

/** Results of trials in the first objective, along one parameter. Values of choices are indices of `names`. */
export type TunedParameter = {
  readonly key: string;
  readonly scale: 'linear' | 'log' | 'choice';
  /** Whether more of the objective is better. */
  readonly upwards: boolean;
  readonly names: readonly string[];
  readonly points: readonly { readonly at: number; readonly value: number }[];
  /** Neighbors of the best with only this parameter moved. */
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
