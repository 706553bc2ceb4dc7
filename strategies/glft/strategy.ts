/** GLFT: optimal quotes under inventory risk, exact under a hard cap or in closed form. */
import { defineStrategy } from '../defineStrategy.ts';
import { feeInside } from '../fees.ts';
import { modelFromMarket } from '../fromMarket.ts';
import type { FillCurve } from '../fillCurve.ts';
import { MODEL_STEPS, modelMaker, modelTuning, solutionAlong, type ModelInput, type Solution } from '../modelMaker.ts';
import { toleranceOf } from '../parameters.ts';
import { ADVERSE, clamp } from '../quoteLevels.ts';
import { among } from '../tuning.ts';
import { askDistance, aversionFor, bidDistance, closedForm, exactDistances, shiftPerOrder } from './formula.ts';
import { askedByInventory } from './optimum.ts';
import { glftLimitProblems, glftParameters } from './parameters.ts';

export const glft = defineStrategy({
  name: 'glft',
  summary: 'Optimal quotes under inventory risk, exact under an inventory cap.',
  needs: 'volatility, arrivals, your risk',
  parameters: glftParameters,
  steps: MODEL_STEPS,
  tuning: { ...modelTuning, solution: among('exact', 'closed form') },
  fromMarket: modelFromMarket,
  // The solution follows formulas E3. Exact distances exist for whole orders of inventory; between whole orders, they
  // are interpolated linearly.
  make: (p, instrument) =>
    modelMaker(p, instrument, input =>
      input.curve !== null
        ? measured(input, input.curve, p.solution)
        : p.solution === 'exact'
          ? exact(input)
          : closed(input),
    ),
  edgeProblem: feeInside,
  limitProblems: glftLimitProblems,
  tolerance: toleranceOf,
});

/**
 * Solves the model for measured fills. gamma is derived from an exponential curve that has the measured rate and decay
 * at the best distance.
 */
function measured({ sigma, shift, cap }: ModelInput, curve: FillCurve, solution: 'exact' | 'closed form'): Solution {
  const market = { sigma, a: Math.E * curve.calm.rate, k: curve.decay, drift: 0, adverse: 0, fee: 0 };
  const gamma = aversionFor(market, shift);
  if (solution === 'closed form') {
    const r = shiftPerOrder(market, gamma);
    return solutionAlong(curve, gamma, (side, q) => (side === 'buy' ? 0.5 + q : 0.5 - q) * r);
  }
  const half = askedByInventory(curve.worthTo(gamma), sigma, gamma, cap);
  const bids = Float64Array.from({ length: 2 * cap }, (_, i) => (i < cap ? -half[cap - 1 - i]! : half[i - cap]!));
  return solutionAlong(curve, gamma, (side, q) =>
    side === 'buy' ? between(bids, clamp(q, -cap, cap - 1) + cap) : -between(bids, clamp(q, 1 - cap, cap) + cap - 1),
  );
}

function exact(input: ModelInput): Solution {
  const { market, gamma, parts } = common(input);
  const { cap } = input;
  const { bids, asks } = exactDistances(market, gamma, cap);
  return {
    gamma,
    parts,
    // There is no bid at the upper cap and no ask at the lower cap. The distance at one order nearer to zero is used
    // instead.
    distance: (side, q) =>
      side === 'buy' ? between(bids, clamp(q, -cap, cap - 1) + cap) : between(asks, clamp(q, -cap + 1, cap) + cap),
  };
}

function closed(input: ModelInput): Solution {
  const { market, gamma, parts } = common(input);
  return {
    gamma,
    parts,
    distance: (side, q) => {
      const { bid, ask } = closedForm(market, gamma, q);
      return side === 'buy' ? bidDistance(bid) : askDistance(ask);
    },
  };
}

function common({ sigma, a, k, adverse, fee, shift }: ModelInput) {
  const market = { sigma, a, k, drift: 0, adverse, fee };
  const gamma = aversionFor(market, shift);
  const { bid } = closedForm(market, gamma, 0);
  const parts = [
    { name: 'edge', distance: bid.edge },
    { name: ADVERSE, distance: bid.adverse },
    { name: 'maker fee', distance: bid.fee },
  ];
  return { market, gamma, parts };
}

/** Interpolates linearly between the values of whole orders. */
function between(values: Float64Array, at: number): number {
  const i = Math.floor(at);
  const share = at - i;
  const low = values[i] ?? Number.NaN;
  return share === 0 ? low : low + share * ((values[i + 1] ?? Number.NaN) - low);
}
