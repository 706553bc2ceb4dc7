/** What a study came to, as plain numbers and text for JSON. */
import type { Interval } from '../../report/interval.ts';
import type { Point } from '../search/space.ts';

/** Equal for equal studies, recordings and registries, `made` aside. Sums are in the minor currency, amounts in the major one, approximate. */
export type Tuning = {
  readonly made: { readonly puntas: string; readonly node: string };
  /** Digest of all that decides the results of a trial. */
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
  /** Parts of each tape that every trial is run on, each begun without inventory. */
  readonly segments: number;
  readonly counts: {
    readonly done: number;
    readonly pruned: number;
    readonly refused: number;
    /** Run to the end, and within every constraint. */
    readonly feasible: number;
    /** Different configurations that the registry has of any of these hours, of all studies. */
    readonly onTheseTapes: number;
  };
  /** In the order in which they were asked for. */
  readonly trials: readonly TunedTrial[];
  /** Numbers of trials, best first; with several objectives the front that none is better than in all. */
  readonly ranking: readonly number[];
  readonly front: readonly number[];
  /** Number of the best; null where none is feasible. */
  readonly chosen: number | null;
  readonly evidence: Evidence | null;
  readonly holdout: HeldOut | null;
  readonly verdict: { readonly better: boolean; readonly words: readonly string[] };
};

/** ISO 8601; null where a tape is only tuned on, or only held out. */
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
  /** Names of constraints that it does not keep. */
  readonly breaks: readonly string[];
  readonly measures: Readonly<Record<string, number>> | null;
  /** The first objective after each piece. */
  readonly soFar: readonly number[];
};

/** What speaks for the best and against it. Everything of a block is what its time brought after 60 s. */
export type Evidence = {
  readonly blocks: number;
  /** Of the best, in each block. */
  readonly gains: readonly number[];
  readonly net: number;
  readonly interval: Interval | null;
  /** Of one block, not annualized. */
  readonly sharpe: number;
  readonly deflated: { readonly trials: number; readonly threshold: number; readonly probability: number };
  /** Probability of backtest overfitting, by CSCV, and of a loss where the choice was not made; null with fewer than two trials to choose from, or too few blocks. */
  readonly pbo: {
    readonly value: number;
    readonly interval: readonly [number, number] | null;
    readonly lossProbability: number;
    /** What the best of one half of the blocks brought in a block there, and in a block of the other half: the mean of all halves. */
    readonly inSample: number;
    readonly outOfSample: number;
    readonly logits: readonly number[];
  } | null;
  /** Purged and embargoed combinatorial cross-validation: what always choosing on other groups of blocks would have brought, one sum a path through all blocks. */
  readonly paths: readonly number[];
  /** Choosing always on what came before: the picture of it, in the order of time. */
  readonly walkForward: readonly { readonly chosen: number; readonly net: number }[];
  /** What neighbours of the best came to, each with one parameter moved: the share of them that lost at most `within` of it. Null where none was run. */
  readonly stability: {
    readonly share: number;
    readonly within: number;
    readonly neighbours: number;
    /** `worstLoss` of the first objective; null where a neighbour cannot run. */
    readonly byKey: readonly { readonly key: string; readonly share: number; readonly worstLoss: number | null }[];
  } | null;
  readonly parameters: readonly TunedParameter[];
};

/** Along one parameter: what trials brought in the first objective, by its value. Of choices the values are numbered as `names`. */
export type TunedParameter = {
  readonly key: string;
  readonly scale: 'linear' | 'log' | 'choice';
  /** Whether more of the objective is better. */
  readonly upwards: boolean;
  readonly names: readonly string[];
  readonly points: readonly { readonly at: number; readonly value: number }[];
  /** Of the best, with this parameter alone moved. */
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
