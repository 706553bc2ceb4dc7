/** Made studies of many configurations whose truth is known: pure noise, or noise and one configuration that really earns. */
import { bestOn } from '../../backtest/tune/judge/outOfSample.ts';
import { overfittingOf } from '../../backtest/tune/judge/overfitting.ts';
import { deflatedSharpe, momentsOf, varianceByLuck } from '../../backtest/tune/judge/sharpe.ts';
import { normal, randomOf } from '../../src/core/index.ts';

/** Of every made study: configurations, spans (ten days of hours), the Sharpe ratio of one span that is planted, and how much of each result all share, as configurations of one strategy do. */
export const STUDY = { configurations: 40, spans: 240, edge: 0.4, shared: 0.5, blocks: 12, samples: 200 };

/** What the judge says of one study. */
export type Verdict = {
  readonly probability: number;
  readonly low: number;
  readonly high: number;
  readonly deflated: number;
  /** Whether the chosen configuration is the planted one. */
  readonly isPlanted: boolean;
};

/** One study, judged. */
export function verdictOf(seed: number, edge: number): Verdict {
  const random = randomOf(seed);
  const { configurations, spans, shared, blocks, samples } = STUDY;
  const market = Array.from({ length: spans }, () => normal(random));
  const results = Array.from({ length: configurations }, (_, i) =>
    market.map(all => Math.sqrt(shared) * all + Math.sqrt(1 - shared) * normal(random) + (i === 0 ? edge : 0)),
  );
  const { value, interval } = overfittingOf(results, { blocks, random, samples });
  const moments = results.map(momentsOf);
  const all = Array.from({ length: spans }, (_, i) => i);
  const chosen = bestOn(results, all, values => momentsOf(values).sharpe);
  const variance = varianceByLuck(
    moments.map(({ sharpe }) => sharpe),
    spans,
  );
  return {
    probability: value,
    low: interval!.low,
    high: interval!.high,
    deflated: deflatedSharpe(moments[chosen]!, configurations, variance).probability,
    isPlanted: chosen === 0,
  };
}

/** The limits that the judge is read by. */
export const PBO_MAX = 0.05;
export const DEFLATED_MIN = 0.95;

/** How often the judge is right, over seeds from 1 on. */
export type ErrorRates = {
  readonly seeds: number;
  /** Of pure noise: the mean PBO, how often its interval leaves out one half, how often a limit passes noise, and how often both do. */
  readonly noise: {
    readonly pbo: number;
    readonly outside: number;
    readonly byPbo: number;
    readonly byDeflated: number;
    readonly byBoth: number;
  };
  /** Of a planted edge: the mean PBO, how often a limit refuses it, how often one of both does, and how often another configuration is chosen. */
  readonly edge: {
    readonly pbo: number;
    readonly byPbo: number;
    readonly byDeflated: number;
    readonly byEither: number;
    readonly other: number;
  };
};

/** Judges so many studies of each kind. */
export function errorRates(seeds: number): ErrorRates {
  const all = Array.from({ length: seeds }, (_, i) => i + 1);
  const noise = all.map(seed => verdictOf(seed, 0));
  const edge = all.map(seed => verdictOf(seed, STUDY.edge));
  const mean = (of: readonly Verdict[]): number => of.reduce((sum, { probability }) => sum + probability, 0) / seeds;
  const count = (of: readonly Verdict[], is: (one: Verdict) => boolean): number => of.filter(is).length;
  const pbo = ({ probability }: Verdict): boolean => probability <= PBO_MAX;
  const deflated = (one: Verdict): boolean => one.deflated >= DEFLATED_MIN;
  return {
    seeds,
    noise: {
      pbo: mean(noise),
      outside: count(noise, ({ low, high }) => !(low <= 0.5 && 0.5 <= high)),
      byPbo: count(noise, pbo),
      byDeflated: count(noise, deflated),
      byBoth: count(noise, one => pbo(one) && deflated(one)),
    },
    edge: {
      pbo: mean(edge),
      byPbo: count(edge, one => !pbo(one)),
      byDeflated: count(edge, one => !deflated(one)),
      byEither: count(edge, one => !(pbo(one) && deflated(one))),
      other: count(edge, ({ isPlanted }) => !isPlanted),
    },
  };
}
