/** GLFT: optimal quotes under inventory risk, exact under a hard cap or in closed form. */
import { defineStrategy } from '../defineStrategy.ts';
import { feeInside } from '../fees.ts';
import { modelFromMarket } from '../fromMarket.ts';
import { MODEL_STEPS, modelMaker, modelTuning } from '../model.ts';
import type { ModelInput, Solution } from '../model.ts';
import { toleranceOf } from '../parameters.ts';
import { ADVERSE, clamp } from '../quoteLevels.ts';
import { among } from '../tuning.ts';
import { askDistance, aversionFor, bidDistance, closedForm, exactDistances } from './formula.ts';
import { glftLimitProblems, glftParameters } from './parameters.ts';

export const glft = defineStrategy({
  name: 'glft',
  summary: 'Optimal quotes under inventory risk, exact under a hard cap.',
  needs: 'volatility, arrivals, your risk',
  parameters: glftParameters,
  steps: MODEL_STEPS,
  tuning: { ...modelTuning, solution: among('exact', 'closed form') },
  fromMarket: modelFromMarket,
  // By formulas E3; exact distances are those of whole orders, with straight lines between.
  make: (p, instrument) => modelMaker(p, instrument, p.solution === 'exact' ? exact : closed),
  edgeProblem: feeInside,
  limitProblems: glftLimitProblems,
  tolerance: toleranceOf,
});

function exact(input: ModelInput): Solution {
  const { market, gamma, parts } = common(input);
  const { cap } = input;
  const { bids, asks } = exactDistances(market, gamma, cap);
  return {
    gamma,
    parts,
    // No bid stands at the cap and no ask at the other: the next to them is the last that is quoted.
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

/** Between whole orders along the straight line. */
function between(values: Float64Array, at: number): number {
  const i = Math.floor(at);
  const share = at - i;
  const low = values[i] ?? Number.NaN;
  return share === 0 ? low : low + share * ((values[i + 1] ?? Number.NaN) - low);
}
