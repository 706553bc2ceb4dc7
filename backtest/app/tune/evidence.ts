/** Evidence for and against the best trial of a study, from the time blocks of all feasible trials. */
import {
  chooseAndJudge,
  combinatorialSplits,
  deflatedSharpe,
  meanOf,
  momentsOf,
  overfittingOf,
  pathResults,
  stabilityOf,
  stationaryInterval,
  varianceByLuck,
  walkForwardSplits,
  type CombinatorialSplits,
  type Evidence,
  type Interval,
  type Space,
  type SpaceParameter,
  type ResultSpan,
  type TunedParameter,
} from '../../index.ts';
import { randomOf } from '../../../src/core/index.ts';
import { MEASURES, rounded, upwards, type MeasureName } from './measures.ts';
import type { NeighbourRecord, TrialRecord } from './registry.ts';
import type { Piece } from './tuneTapes.ts';

export type EvidenceTerms = {
  /** Number of configurations that the studies in the registry have tried on the hours of this study, in total. */
  readonly trials: number;
  readonly space: Space;
  readonly pieces: readonly Piece[];
  readonly embargoMs: number;
  readonly objective: MeasureName;
  /** Trials around the best trial, each with one parameter changed. */
  readonly neighbours: readonly NeighbourRecord[];
};

/** Time after a fill, in ms, at which its markout is known and the fill counts. */
const MARKOUT_MS = 60_000;
const GROUPS = 10;
const FOLDS = 6;
const PBO_BLOCKS = 16;

/** Computes the evidence. `feasible` contains the trials that satisfy the constraints, including `best`. */
export function evidenceOf(best: TrialRecord, feasible: readonly TrialRecord[], terms: EvidenceTerms): Evidence {
  const { pieces, trials, embargoMs } = terms;
  const { spans, order } = spansInTime(pieces);
  const rowOf = ({ blocks }: TrialRecord): readonly number[] => order.map(at => blocks[at] ?? 0);
  const results = distinct(feasible).map(rowOf);
  const own = rowOf(best);
  const sharpes = results.map(row => momentsOf(row).sharpe);
  const deflated = deflatedSharpe(momentsOf(own), trials, varianceByLuck(sharpes, own.length));
  const canJudge = results.length >= 2;
  const cross = crossSplits(spans, embargoMs);
  const forward = walkForwardSplits(spans, { folds: Math.min(FOLDS, spans.length - 1), embargo: embargoMs });
  return {
    blocks: own.length,
    gains: own,
    net: sum(own),
    interval: intervalOfSum(own),
    sharpe: momentsOf(own).sharpe,
    deflated: {
      trials,
      threshold: deflated.threshold,
      probability: Number.isNaN(deflated.probability) ? 0 : deflated.probability,
    },
    pbo: canJudge && spans.length >= PBO_BLOCKS ? overfitting(results) : null,
    paths: canJudge ? pathResults(results, cross, meanOf).map(({ values }) => sum(values)) : [],
    walkForward: !canJudge
      ? []
      : forward.flatMap(split => {
          const choice = chooseAndJudge(results, split, meanOf);
          return choice === null
            ? []
            : [{ chosen: distinct(feasible)[choice.chosen]!.number, net: sum(choice.values) }];
        }),
    stability: stabilityAround(best, terms),
    parameters: terms.space.map(parameter => along(parameter, feasible, best, terms)),
  };
}

/** Splits the time spans into ten groups, two of which are for testing. Training data is purged and embargoed. */
export const crossSplits = (spans: readonly ResultSpan[], embargoMs: number): CombinatorialSplits =>
  combinatorialSplits(spans, {
    groups: Math.min(GROUPS, spans.length),
    tested: Math.min(2, spans.length - 1),
    embargo: embargoMs,
  });

/** Minimum number of blocks for an interval. */
const BLOCKS_MIN = 20;

const sum = (values: readonly number[]): number => values.reduce((all, x) => all + x, 0);

/**
 * Returns the 95% interval of the sum of `gains`, which are in order of time. Returns `null` for fewer than 20 blocks,
 * or if all resampled sums are equal.
 */
export function intervalOfSum(gains: readonly number[]): Interval | null {
  if (gains.length < BLOCKS_MIN) return null;
  const found = stationaryInterval(gains, sum, { random: randomOf(1) });
  return found === null || found.low === found.high ? null : { low: rounded(found.low), high: rounded(found.high) };
}

function overfitting(results: readonly (readonly number[])[]): NonNullable<Evidence['pbo']> {
  const { value, interval, logits, lossProbability, inSample, outOfSample } = overfittingOf(results, {
    ...{
      blocks: PBO_BLOCKS,
      measure: 'mean',
      random: randomOf(1),
      samples: Math.max(20, Math.min(100, Math.floor(5_000 / results.length))),
    },
  });
  return {
    value,
    interval: interval && [Math.max(0, interval.low), Math.min(1, interval.high)],
    lossProbability,
    ...{ inSample: meanOf(inSample), outOfSample: meanOf(outOfSample) },
    logits,
  };
}

/** Returns one trial per distinct configuration, the first of each, like the best trial of a study. */
export const distinct = (trials: readonly TrialRecord[]): readonly TrialRecord[] => {
  const tried = new Set<TrialRecord['config']>();
  return trials.filter(({ config }) => !tried.has(config) && tried.add(config));
};

/**
 * Sorts the time blocks of all pieces of the recordings by start. The span of a block ends when the last markout of its
 * fills is known.
 */
export function spansInTime(pieces: readonly Piece[]): {
  readonly spans: readonly ResultSpan[];
  readonly order: readonly number[];
} {
  const spans = pieces.flatMap(({ from, to, blocks }) =>
    Array.from({ length: blocks }, (_, i) => ({
      from: from + (i * (to - from)) / blocks,
      to: from + ((i + 1) * (to - from)) / blocks + MARKOUT_MS,
    })),
  );
  const order = spans.map((_, i) => i).sort((a, b) => spans[a]!.from - spans[b]!.from || a - b);
  return { spans: order.map(at => spans[at]!), order };
}

/** Maximum amount by which a stable neighbor is worse than the best trial, as a share of the best trial's value. */
const WITHIN_SHARE = 0.25;

function stabilityAround({ measures }: TrialRecord, { neighbours, objective }: EvidenceTerms): Evidence['stability'] {
  if (measures === null || neighbours.length === 0) return null;
  const best = upwards(objective, measures[objective]);
  const judged = neighbours.map(({ key, measures: found }) => ({
    key,
    value: found && upwards(objective, found[objective]),
  }));
  const { share, byKey } = stabilityOf(best, judged, WITHIN_SHARE * Math.abs(best));
  return {
    ...{ share, within: WITHIN_SHARE, neighbours: neighbours.length },
    byKey: byKey.map(({ key, share: of, worstLoss }) => ({
      key,
      share: of,
      worstLoss: Number.isFinite(worstLoss) ? worstLoss : null,
    })),
  };
}

/**
 * Returns the values of the objective against the values of one parameter, for the feasible trials and for the best
 * trial's neighbors.
 */
function along(
  parameter: SpaceParameter,
  feasible: readonly TrialRecord[],
  best: TrialRecord,
  { objective, neighbours }: EvidenceTerms,
): TunedParameter {
  const { key } = parameter;
  const names = parameter.kind === 'choice' ? parameter.values.map(String) : [];
  const placeOf = ({ point }: Pick<TrialRecord, 'point'>): number | null => {
    const value = point[key];
    if (value === undefined) return null;
    return parameter.kind === 'choice' ? names.indexOf(String(value)) : Number(value);
  };
  const placed = (of: readonly Pick<TrialRecord, 'point' | 'measures'>[]): TunedParameter['points'] =>
    of.flatMap(one => {
      const at = placeOf(one);
      return at === null || one.measures === null ? [] : [{ at, value: one.measures[objective] }];
    });
  return {
    key,
    scale: parameter.kind === 'choice' ? 'choice' : parameter.kind === 'log' ? 'log' : 'linear',
    upwards: MEASURES[objective].better === 'more',
    names,
    points: placed(feasible),
    neighbours: placed(neighbours.filter(one => one.key === key)),
    chosen: placeOf(best),
  };
}
