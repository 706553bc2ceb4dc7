/**
 * Criteria of a promotion, and the evidence of replays and runs as the journal stores it. Research code gathers the
 * evidence.
 */
import type { Millis } from '../../core/index.ts';
import type { LevelModelName } from '../../fills/index.ts';

type Model = LevelModelName | 'exact';

/** Criteria of a stage in which a bot runs. */
export type RunningCriteria = {
  readonly hoursLeast: number;
  readonly fillsLeast: number;
  readonly uptimeLeast: number;
  readonly net60sBpsLeast: number | null;
  readonly haltsMost: number;
};

/** Criteria of all stages; research code reads them from YAML. Paths of recordings are absolute. */
export type Criteria = {
  readonly replay: {
    readonly tapes?: readonly object[] | undefined;
    readonly reference: Readonly<Record<string, string>>;
    readonly models: readonly Model[];
    readonly latenciesMs: readonly (number | string)[];
    readonly feedLatencyMs: number | string;
    readonly segments: number;
    readonly tuned?: boolean | undefined;
    readonly net60sLeast: number | null;
    readonly fillsLeast: number;
    readonly uptimeLeast: number;
    readonly drawdownMost?: number | undefined;
    readonly haltsMost: number;
  };
  readonly paper: RunningCriteria & { readonly models: readonly Model[] };
  readonly smallest: RunningCriteria;
};

/** Result of a candidate on recordings. */
export type ReplayEvidence = {
  readonly tapes: readonly {
    readonly name: string;
    readonly market: string;
    readonly digest: string;
    readonly from: number;
    readonly to: number;
  }[];
  readonly models: readonly Model[];
  readonly latenciesMs: readonly string[];
  readonly minor: string;
  readonly major: string;
  /** Worst value over all fill models, for each measure. `puntas tune` defines the measures. */
  readonly measures: {
    readonly net60s: number;
    readonly net: number;
    readonly volume: number;
    readonly fills: number;
    readonly uptime: number;
    readonly drawdown: number;
    readonly inventoryMost: number;
    readonly inventoryMean: number;
    readonly orderToTrade: number;
    readonly halts: number;
  };
  /** Confidence interval (95%) of `net60s`, in the quote currency; `null` with fewer than 20 time blocks. */
  readonly interval: { readonly low: number; readonly high: number } | null;
};

/** Results of all runs of a stage, each replayed from its recording. */
export type RunEvidence = {
  readonly state: string;
  /** Whether the state belongs to `puntas run --paper`. */
  readonly isPaper: boolean;
  readonly runs: readonly ReplayedRun[];
  /** Number of runs with another configuration since the start of the stage. */
  readonly others: number;
  readonly hours: number;
  /** Number of fills of the bot's orders. */
  readonly fills: number;
  /** Number of fills that are at least 60 s old, so their markout is known. */
  readonly judged: number;
  readonly volume: number;
  /** Share of the recorded time with a bid and an ask of the bot in the book. */
  readonly uptime: number;
  /** Markout after 60 s less fees, in bps of the volume; `null` if `judged` is 0. */
  readonly net60sBps: number | null;
  readonly interval: { readonly low: number; readonly high: number } | null;
  readonly halts: readonly { readonly at: Millis; readonly reason: string }[];
  readonly minor: string | null;
  /** Fill model of the paper runs; `null` with real orders. */
  readonly model: string | null;
  /**
   * Differences between ledger and exchange at the last comparison, by currency; `null` if there was no comparison
   * since the start of the stage.
   */
  readonly ledger: { readonly at: Millis; readonly differences: Readonly<Record<string, string>> } | null;
};

export type ReplayedRun = {
  readonly run: number;
  readonly from: Millis;
  readonly to: Millis;
  /** SHA-256 of the recording as read. */
  readonly sha256: string;
  /**
   * First difference between the recorded and the replayed commands; `null` if all are equal. The run counts only up to
   * this difference.
   */
  readonly difference: string | null;
};
