/**
 * Imbalance maker: a spread around a fair value that shifts towards the side on which the book is thinner than usual.
 */
import { amountFloor, depthImbalance, RunningDeviation, type Instrument, type Strategy } from '../../src/core/index.ts';
import { defineStrategy } from '../defineStrategy.ts';
import { DEVIATIONS_MAX } from '../fairValueParameters.ts';
import { spreadFromMarket } from '../fromMarket.ts';
import { millisOf, toleranceOf } from '../parameters.ts';
import { clamp, fairSteps, silent, unknownIn } from '../quoteLevels.ts';
import { quoteAround, SPREAD_STEPS, spreadTuning } from '../fixedSpread.ts';
import { linear, log, among } from '../tuning.ts';
import {
  imbalanceEdgeProblem,
  imbalanceLimitProblems,
  imbalanceParameters,
  type ImbalanceParameters,
} from './parameters.ts';

export const imbalance = defineStrategy({
  name: 'imbalance',
  summary: 'A spread around a fair value that shifts with the imbalance of the book.',
  needs: 'a spread, a slope',
  parameters: imbalanceParameters,
  steps: {
    ...SPREAD_STEPS,
    'book imbalance':
      'Shift of the fair value towards the thin side of the book: `bpsPerDeviation` per standard deviation of imbalance.',
  },
  tuning: {
    ...spreadTuning,
    depthBps: log(1, 100),
    bpsPerDeviation: linear(0, 20),
    memory: among('1m', '5m', '10m', '30m', '1h'),
  },
  fromMarket: (terms, feeBps) => ({
    ...spreadFromMarket(terms, feeBps),
    ...(terms.imbalance ?? { bpsPerDeviation: 0 }),
  }),
  make: leaning,
  edgeProblem: imbalanceEdgeProblem,
  limitProblems: imbalanceLimitProblems,
  tolerance: toleranceOf,
});

/** Builds the strategy. Its only state is the mean and the deviation of the imbalance. */
function leaning(p: ImbalanceParameters, instrument: Instrument): Strategy {
  const lots = amountFloor(instrument, p.amount);
  const usual = new RunningDeviation(millisOf(p.memory));

  return {
    quote(view) {
      const unknown = unknownIn(view);
      if (unknown !== null) return silent(unknown);
      const deviations = usual.deviations(view.at, depthImbalance(view.depth, view.mid, p.depthBps));
      if (!Number.isFinite(deviations)) return silent('the imbalance of the book is not known');
      const shift = (clamp(deviations, -DEVIATIONS_MAX, DEVIATIONS_MAX) * p.bpsPerDeviation * view.mid) / 10_000;
      return quoteAround(p, lots, view, [...fairSteps(view), { name: 'book imbalance', ticks: shift }]);
    },
  };
}
