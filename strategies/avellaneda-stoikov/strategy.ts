/**
 * Avellaneda-Stoikov: quotes around a reservation price that falls with inventory, with a finite or an infinite
 * horizon.
 */
import { defineStrategy } from '../defineStrategy.ts';
import { feeInside } from '../fees.ts';
import { modelFromMarket } from '../fromMarket.ts';
import {
  MODEL_STEPS,
  modelMaker,
  modelTuning,
  solutionAlong,
  arrivalEdge,
  type ModelInput,
  type Solution,
} from '../model.ts';
import { millisOf, toleranceOf } from '../parameters.ts';
import { ADVERSE, clamp } from '../quoteLevels.ts';
import { among } from '../tuning.ts';
import { finite, infinite } from './formula.ts';
import { avellanedaStoikovLimitProblems, avellanedaStoikovParameters } from './parameters.ts';

export const avellanedaStoikov = defineStrategy({
  name: 'avellaneda-stoikov',
  summary: 'Quotes around a reservation price that falls with inventory.',
  needs: 'volatility, arrivals, your risk',
  parameters: avellanedaStoikovParameters,
  steps: MODEL_STEPS,
  tuning: { ...modelTuning, horizon: among('infinite', '4h', '1d') },
  fromMarket: modelFromMarket,
  // Formulas E2 without a horizon, formulas E1 with one; sessions of that length follow each other since 1970 UTC.
  make: (p, instrument) =>
    modelMaker(p, instrument, p.horizon === 'infinite' ? withoutEnd : toTheEndOf(millisOf(p.horizon))),
  edgeProblem: feeInside,
  limitProblems: avellanedaStoikovLimitProblems,
  tolerance: toleranceOf,
});

/**
 * Finite sessions. gamma is chosen so that halfway through the session the shift of the reservation price by one order,
 * gamma sigma^2 left, equals the one from the risk.
 */
const toTheEndOf =
  (horizonMs: number) =>
  (input: ModelInput): Solution => {
    const { sigma, shift } = input;
    const gamma = shift / (sigma * sigma * (horizonMs / 2_000));
    return around(input, gamma, (side, q, at) => {
      const left = (horizonMs - (at % horizonMs)) / 1_000;
      const { shift: centre, halfRisk } = finite(gamma, sigma, left, q);
      return halfRisk + (side === 'buy' ? -centre : centre);
    });
  };

/**
 * Infinite horizon. gamma is chosen so that at zero inventory the shift by one order, 2 / (gamma (qMax + 1)^2), equals
 * the one from the risk.
 */
const withoutEnd = (input: ModelInput): Solution => {
  const { shift, cap } = input;
  const gamma = 2 / (shift * (cap + 1) * (cap + 1));
  // At the cap another order has no value, so the last bid is the one before it; likewise for asks.
  return around(input, gamma, (side, q) =>
    side === 'buy'
      ? -infinite(gamma, cap, clamp(q, -cap, cap - 1)).buy
      : infinite(gamma, cap, clamp(q, 1 - cap, cap)).sell,
  );
};

/**
 * Adds the required edge per fill to the indifference price, which is `asked` from the fair value: by the formula or
 * from the measured curve.
 */
function around({ k, adverse, fee, curve }: ModelInput, gamma: number, asked: Solution['distance']): Solution {
  if (curve !== null) return solutionAlong(curve, gamma, asked);
  const parts = [
    { name: 'edge', distance: arrivalEdge(gamma, k) },
    // Half of the move on each side, as in GLFT.
    { name: ADVERSE, distance: adverse / 2 },
    { name: 'maker fee', distance: fee },
  ];
  const fixed = parts.reduce((sum, { distance }) => sum + distance, 0);
  return { gamma, parts, distance: (side, q, at) => fixed + asked(side, q, at) };
}
