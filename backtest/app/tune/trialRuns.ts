/**
 * Parallel trials of a batch, one piece of the tapes at a time, with pruning after each piece. Results do not depend on
 * the number of threads.
 */
import { Fees, type HedgeTape, type ModelName, type Point, type ReplayReport } from '../../index.ts';
import { edgeProblem, externalReferenceOf, type Config } from '../../../src/config.ts';
import { simulatedAccountOf } from '../backtest/backtest.ts';
import type { Latencies, ModelJob } from '../backtest/backtestModel.ts';
import type { ModelRunner } from '../backtest/backtestThreads.ts';
import { missingReference, recordedElsewhere } from '../backtest/recordedReference.ts';
import { bothAccountsOf, requireBothAccounts, withHedgeTape } from '../backtest/hedgedElsewhere.ts';
import { recordedRoutes, routeBooks, type ReferenceTapes } from '../backtest/hedgeRoutes.ts';
import { measuresOf, NO_SUMS, rounded, summed, upwards, type MeasureName, type Sums } from './measures.ts';
import type { TrialRecord } from './registry.ts';
import type { Piece } from './tuneTapes.ts';

export type AskedTrial = {
  readonly number: number;
  readonly point: Point;
  /** Digest of the complete configuration. */
  readonly digest: string;
  readonly config: Config;
};

export type TrialOutcome = Pick<TrialRecord, 'state' | 'why' | 'measures' | 'soFar' | 'blocks'>;

export type TrialTerms = {
  readonly pieces: readonly Piece[];
  readonly models: readonly ModelName[];
  /** Start times of the runs, in seconds after the start of a piece of a recording. */
  readonly starts: readonly number[];
  readonly latencies: readonly Latencies[];
  readonly seed: number;
  readonly references: ReferenceTapes;
  /** Recording of the other exchange, on which bots with `hedge.elsewhere` hedge; absent if no bot hedges there. */
  readonly hedge?: HedgeTape | null;
  /** Measure whose values `soFar` contains. */
  readonly objective: MeasureName;
  readonly runner: ModelRunner;
};

/**
 * Returns the trials that are pruned after a piece of the recording, by trial number, with the reason. Pieces are
 * numbered from 1. `soFar` contains a trial's objective after each piece; more is better.
 */
export type Pruner = (
  piece: number,
  trials: readonly { readonly number: number; readonly soFar: readonly number[] }[],
) => ReadonlyMap<number, string>;

/** Returns why a configuration cannot run on the pieces of the recording; `null` if it can. */
export function notRunReason(
  config: Config,
  { pieces, starts, references, hedge = null }: Pick<TrialTerms, 'pieces' | 'starts' | 'references' | 'hedge'>,
): string | null {
  const tapes = hedge === null ? references : withHedgeTape(config, references, hedge);
  const missing = missingReference(config, tapes);
  if (missing !== null) return missing;
  const { instrument, firstTicks } = pieces[0]!.market;
  const { fees, balances } = simulatedAccountOf(config, instrument, firstTicks);
  const { makerRate } = new Fees(instrument, fees);
  const dear = edgeProblem(config, makerRate);
  if (dear !== null || hedge === null || config.hedge?.elsewhere === undefined) return dear;
  for (const piece of pieces) {
    const span = spanFrom(piece, Math.max(...starts));
    const both = bothAccountsOf(config, balances, hedge, span, recordedElsewhere(config, tapes, span) ?? undefined);
    if (typeof both === 'string') return `--hedge-tape: ${both}`;
  }
  return null;
}

/** Returns the time of a run that starts `start` seconds after the start of a piece. */
const spanFrom = ({ from, to }: Piece, start: number) => ({ from: from + 1_000 * start, to });

/**
 * Runs a batch. `onEnded` receives each trial as soon as it ends, in batch order if several end together. Rejects with
 * the error of a replay.
 */
export async function runBatch(
  batch: readonly AskedTrial[],
  terms: TrialTerms,
  prune: Pruner,
  onEnded: (asked: AskedTrial, outcome: TrialOutcome) => void,
  onShare: (share: number) => void,
): Promise<void> {
  const { pieces, runner } = terms;
  let left = batch.map(asked => new Running(asked, terms));
  for (const [i, piece] of pieces.entries()) {
    const jobs = left.map(running => jobsOf(running.asked.config, piece, terms));
    const reports = await runner.run(jobs.flat(), piece.market.rows, share => onShare((i + share) / pieces.length));
    let next = 0;
    for (const [at, running] of left.entries()) running.add(piece, reports.slice(next, (next += jobs[at]!.length)));
    const isLast = i === pieces.length - 1;
    const hopeless = isLast
      ? new Map<number, string>()
      : prune(
          i + 1,
          left.map(({ asked, soFar }) => ({ number: asked.number, soFar })),
        );
    for (const running of left) {
      const why = hopeless.get(running.asked.number) ?? null;
      if (isLast || why !== null) onEnded(running.asked, running.outcome(why));
    }
    left = left.filter(({ asked }) => !hopeless.has(asked.number));
    if (left.length === 0) return;
  }
}

/** Returns the jobs of one trial on one piece of a recording, in order of latency, then start, then fill model. */
function jobsOf(
  config: Config,
  piece: Piece,
  { models, starts, latencies, seed, references, hedge: hedgeTape = null }: TrialTerms,
): readonly ModelJob[] {
  const { instrument, firstTicks } = piece.market;
  const account = simulatedAccountOf(config, instrument, firstTicks);
  const uses = externalReferenceOf(config) !== null || routeBooks(config).length > 0;
  const hedge = config.hedge?.elsewhere === undefined ? null : hedgeTape;
  const given: ReferenceTapes = uses ? references : new Map();
  const tapes = hedge === null ? given : withHedgeTape(config, given, hedge);
  return latencies.flatMap(latency =>
    starts.flatMap(start => {
      const span = spanFrom(piece, start);
      const elsewhere = recordedElsewhere(config, tapes, span) ?? undefined;
      const both = hedge && requireBothAccounts(config, account.balances, hedge, span, elsewhere);
      const shared = {
        ...{ config, instrument, seed, latencies: latency, csv: null, ...span, ...account, ...both, elsewhere },
        gaps: piece.gaps.filter(gap => gap.to > span.from && gap.from < span.to),
        routes: recordedRoutes(config, tapes, span),
      };
      return models.map((model): ModelJob => ({ ...shared, model }));
    }),
  );
}

/** Accumulated results of a trial that is still running. */
class Running {
  readonly asked: AskedTrial;
  readonly soFar: number[] = [];
  readonly #terms: TrialTerms;
  readonly #sums: Sums[];
  readonly #blocks: number[][];

  constructor(asked: AskedTrial, terms: TrialTerms) {
    this.asked = asked;
    this.#terms = terms;
    this.#sums = terms.models.map(() => NO_SUMS);
    this.#blocks = terms.models.map(() => []);
  }

  add(piece: Piece, reports: readonly ReplayReport[]): void {
    const { models, objective } = this.#terms;
    const runs = reports.length / models.length;
    for (const m of models.keys()) {
      const own = reports.filter((_, i) => i % models.length === m);
      for (const report of own) this.#sums[m] = summed(this.#sums[m]!, report, runs);
      this.#blocks[m]!.push(...blocksOf(piece, own));
    }
    this.soFar.push(upwards(objective, measuresOf(this.#sums)[objective]));
  }

  /** Returns the outcome. `pruned` is the reason why the trial was stopped; `null` if it finished. */
  outcome(pruned: string | null): TrialOutcome {
    const nets = this.#sums.map(({ net60s }) => net60s);
    const lower = nets.indexOf(Math.min(...nets));
    return {
      state: pruned === null ? 'done' : 'pruned',
      why: pruned,
      measures: measuresOf(this.#sums),
      soFar: this.soFar,
      blocks: pruned === null ? (this.#blocks[lower] ?? []) : [],
    };
  }
}

/**
 * Returns the profit of each time block of a piece, with fills valued after 60 s, as the mean over all runs. The time
 * blocks of a run differ in length from the piece's blocks, so the profit of each run block is divided among the
 * piece's blocks that it overlaps.
 */
export function blocksOf(
  { from, to, blocks }: Pick<Piece, 'from' | 'to' | 'blocks'>,
  runs: readonly Pick<ReplayReport, 'from' | 'stretches'>[],
): readonly number[] {
  const sums = new Array<number>(blocks).fill(0);
  const width = (to - from) / blocks;
  for (const { from: begun, stretches } of runs) {
    const length = 1_000 * stretches.seconds;
    for (const [i, value] of stretches.after60.entries()) {
      const start = Date.parse(begun) + i * length;
      const first = Math.max(0, Math.floor((start - from) / width));
      for (let block = first; block < blocks && from + block * width < start + length; block++) {
        const shared = Math.min(start + length, from + (block + 1) * width) - Math.max(start, from + block * width);
        sums[block]! += (value * Math.max(0, shared)) / length / runs.length;
      }
    }
  }
  return sums.map(rounded);
}
