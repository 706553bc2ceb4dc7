/**
 * Trials around the best trial, which show whether the best trial is on a plateau or a peak. Neighbors are registered,
 * but never chosen.
 */
import { neighboursOf, textOfPoint } from '../../index.ts';
import { requireTuningAllowed } from './holdoutRule.ts';
import { NEVER_PRUNED } from './pruner.ts';
import type { NeighbourRecord, TrialRecord } from './registry.ts';
import { preparedAt, type StudyRun } from './trials.ts';
import type { AskedTrial, TrialOutcome } from './trialRuns.ts';

/** Runs the neighbors that the registry lacks, and returns all neighbors. Rejects like `runTrials`. */
export async function runNeighbours(best: TrialRecord, run: StudyRun): Promise<readonly NeighbourRecord[]> {
  const { study, registry, hours, terms, executor, progress } = run;
  const wanted = neighboursOf(study.space, best.point);
  const known = knownOf(best, run);
  const left = wanted.filter(({ point }) => !known.has(textOfPoint(point)));
  if (left.length > 0) {
    requireTuningAllowed(registry.records(), hours);
    const add = (
      asked: Pick<AskedTrial, 'number' | 'point'> & { readonly config: string | null },
      outcome: Omit<TrialOutcome, 'soFar' | 'blocks'>,
    ): void =>
      registry.append({
        ...{ kind: 'neighbour', ...run.signed(), of: best.number, key: left[asked.number]!.key },
        ...{ seed: study.keys.search.seed, tapes: hours.tapes, point: asked.point, config: asked.config, ...outcome },
      });
    const batch: AskedTrial[] = [];
    for (const [number, { point }] of left.entries()) {
      const prepared = preparedAt(point, run);
      if (prepared.why === null) batch.push({ number, point, digest: prepared.digest, config: prepared.config });
      else add({ number, point, config: prepared.digest }, { state: 'refused', why: prepared.why, measures: null });
    }
    progress.begin(1_000, 'around the best');
    try {
      if (batch.length > 0)
        await executor.run(
          batch,
          terms,
          NEVER_PRUNED,
          ({ number, point, digest }, { state, why, measures }) =>
            add({ number, point, config: digest }, { state, why, measures }),
          share => progress.at(1_000 * share),
        );
    } finally {
      progress.end();
    }
  }
  const made = knownOf(best, run);
  return wanted.flatMap(({ point }) => made.get(textOfPoint(point)) ?? []);
}

function knownOf({ number }: TrialRecord, { registry, hours }: StudyRun): ReadonlyMap<string, NeighbourRecord> {
  const own = registry
    .records()
    .filter(
      (record): record is NeighbourRecord =>
        record.kind === 'neighbour' && record.study === hours.study && record.of === number,
    );
  return new Map(own.map(record => [textOfPoint(record.point), record]));
}
