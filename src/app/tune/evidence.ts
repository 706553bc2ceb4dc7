/** What speaks for the best trial of a study and against it: its blocks of time beside those of all others it was chosen from. */
import { deflatedSharpe, intervalOf, momentsOf, varianceOfSharpes } from '../../../backtest/index.ts';
import type { Evidence, Space, SpaceParameter, StableParameter } from '../../../backtest/index.ts';
import { upwards } from './measures.ts';
import type { MeasureName } from './measures.ts';
import type { TrialRecord } from './registry.ts';
import type { Piece } from './tuneTapes.ts';

export type EvidenceTerms = {
  /** Configurations ever tried on these hours, by whomever. */
  readonly trials: number;
  readonly space: Space;
  readonly pieces: readonly Piece[];
  readonly embargoMs: number;
  readonly objective: MeasureName;
};

/** `feasible` are the trials that could have been chosen, the best among them. */
export function evidenceOf(best: TrialRecord, feasible: readonly TrialRecord[], terms: EvidenceTerms): Evidence {
  const { pieces, trials, space, objective } = terms;
  const others = distinct(feasible);
  const sharpes = others.map(({ blocks }) => momentsOf(blocks).sharpe);
  const moments = momentsOf(best.blocks);
  const deflated = deflatedSharpe(moments, trials, varianceOfSharpes(sharpes));
  return {
    blocks: best.blocks.length,
    gains: best.blocks,
    net: best.blocks.reduce((sum, gain) => sum + gain, 0),
    interval: intervalOf(best.blocks),
    sharpe: moments.sharpe,
    deflated: { trials, ...deflated },
    pbo: null,
    paths: [],
    pathsInterval: null,
    walkForward: pieces.length < 2 ? [] : [],
    stability: space.map(parameter => stable(parameter, feasible, best, objective)),
  };
}

/** Each configuration once. */
const distinct = (trials: readonly TrialRecord[]): readonly TrialRecord[] => [
  ...new Map(trials.map(trial => [trial.config, trial])).values(),
];

/** Along one parameter: where it was, and what the trial brought. */
function stable(
  parameter: SpaceParameter,
  feasible: readonly TrialRecord[],
  best: TrialRecord,
  objective: MeasureName,
): StableParameter {
  const { key } = parameter;
  const names = parameter.kind === 'choice' ? parameter.values.map(String) : [];
  const placeOf = ({ point }: TrialRecord): number | null => {
    const value = point[key];
    if (value === undefined) return null;
    return parameter.kind === 'choice' ? names.indexOf(String(value)) : Number(value);
  };
  return {
    key,
    scale: parameter.kind === 'choice' ? 'choice' : parameter.kind === 'log' ? 'log' : 'linear',
    names,
    points: feasible.flatMap(trial => {
      const at = placeOf(trial);
      return at === null || trial.measures === null
        ? []
        : [{ at, value: upwards(objective, trial.measures[objective]) }];
    }),
    chosen: placeOf(best),
  };
}
