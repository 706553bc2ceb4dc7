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
} from '../modelMaker.ts';
import { millisOf, toleranceOf } from '../parameters.ts';
import { ADVERSE, clamp } from '../quoteLevels.ts';
import { among } from '../tuning.ts';
import { finite, infinite } from './formula.ts';
import { avellanedaStoikovLimitProblems, avellanedaStoikovParameters } from './parameters.ts';

export const avellanedaStoikov = defineStrategy({
  name: 'avellaneda-stoikov',
  summary: 'Quotes around a reservation price that falls as inventory rises.',
  needs: 'volatility, arrivals, your risk',
  parameters: avellanedaStoikovParameters,
  steps: MODEL_STEPS,
  tuning: { ...modelTuning, horizon: among('infinite', '4h', '1d') },
  fromMarket: modelFromMarket,
  // An infinite horizon uses formulas E2, a finite horizon formulas E1. Sessions have the length of the horizon; the
  // first session starts at the beginning of 1970 (UTC).
  make: (p, instrument) =>
    modelMaker(p, instrument, p.horizon === 'infinite' ? withoutEnd : toTheEndOf(millisOf(p.horizon))),
  edgeProblem: feeInside,
  limitProblems: avellanedaStoikovLimitProblems,
  tolerance: toleranceOf,
});

/**
 * Returns the solver for finite sessions. It chooses gamma so that, halfway through a session, the reservation price
 * shifts per order of inventory by as much as the risk requires. That shift is gamma sigma^2 left.
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
 * Solves the model for an infinite horizon. It chooses gamma so that the shift of the quotes per order at zero
 * inventory, 2 / (gamma (qMax + 1)^2), is the shift that the risk requires.
 */
const withoutEnd = (input: ModelInput): Solution => {
  const { shift, cap } = input;
  const gamma = 2 / (shift * (cap + 1) * (cap + 1));
  // At the cap, the model has no value for one order more, so the bid is the bid at one order less; likewise for asks.
  return around(input, gamma, (side, q) =>
    side === 'buy'
      ? -infinite(gamma, cap, clamp(q, -cap, cap - 1)).buy
      : infinite(gamma, cap, clamp(q, 1 - cap, cap)).sell,
  );
};

/**
 * Adds the edge of a fill to the indifference price, whose distance from the fair value `asked` returns. The edge
 * follows from the measured curve, or from the formula if there is no curve.
 */
function around({ k, adverse, fee, curve }: ModelInput, gamma: number, asked: Solution['distance']): Solution {
  if (curve !== null) return solutionAlong(curve, gamma, asked);
  const parts = [
    { name: 'edge', distance: arrivalEdge(gamma, k) },
    // Each side gets half of the adverse move, as in GLFT.
    { name: ADVERSE, distance: adverse / 2 },
    { name: 'maker fee', distance: fee },
  ];
  const fixed = parts.reduce((sum, { distance }) => sum + distance, 0);
  return { gamma, parts, distance: (side, q, at) => fixed + asked(side, q, at) };
}
