/**
 * Peg: a spread around a reference price. The strategy quotes while the reference price is fresh and close enough to
 * the bot's own market.
 */
import { amountFloor, Basis, type Instrument, type Step, type Strategy } from '../../src/core/index.ts';
import { defineStrategy } from '../defineStrategy.ts';
import { unusableReference } from '../fairValueParts.ts';
import { millisOf, toleranceOf } from '../parameters.ts';
import { fairPrice, silent, totalOf, unknownIn } from '../quoteLevels.ts';
import { quoteAround, SPREAD_STEPS, spreadTuning } from '../fixedSpread.ts';
import { linear, among } from '../tuning.ts';
import { pegEdgeProblem, pegLimitProblems, pegParameters, type PegParameters } from './parameters.ts';

const { 'fair value: mid': _, ...aroundSteps } = SPREAD_STEPS;

export const peg = defineStrategy({
  name: 'peg',
  summary: 'A spread around a reference price, like a cross rate of other books.',
  needs: 'a spread, reference books',
  parameters: pegParameters,
  steps: {
    ...aroundSteps,
    'fair value: reference': 'The reference price.',
    'usual basis': "Usual distance of the bot's book from the reference, over `basisMemory`.",
    'own middle': "Shift to the mid price of the bot's book, by the fraction 1 - `weight` of the distance.",
    'own fair value': 'Shift to the price of `fairValue`, by the fraction 1 - `weight` of the distance.',
  },
  tuning: { ...spreadTuning, weight: linear(0.1, 1), basisMemory: among('1m', '10m', '1h', '6h') },
  fromMarket: () => 'needs a reference price from other books; name the books in a configuration file (-c FILE)',
  make: pegging,
  edgeProblem: pegEdgeProblem,
  limitProblems: pegLimitProblems,
  tolerance: toleranceOf,
  needsReference: true,
});

/** Builds the strategy. Its only state is the usual ratio of the book's price to the reference price, if configured. */
function pegging(p: PegParameters, instrument: Instrument): Strategy {
  const lots = amountFloor(instrument, p.amount);
  const basis = p.basisMemory === undefined ? null : new Basis(millisOf(p.basisMemory));

  return {
    quote(view) {
      const unknown = unknownIn(view) ?? unusableReference(view, p.maxAgeMs);
      const { reference } = view;
      if (unknown !== null || reference === null) return silent(unknown ?? 'no reference was received yet');
      const own = fairPrice(view);
      const centre: Step[] = [{ name: 'fair value: reference', ticks: reference.price }];
      if (basis !== null) {
        const usual = basis.ratio(view.at, own / reference.price);
        centre.push({ name: 'usual basis', ticks: reference.price * (usual - 1) });
      }
      const away = totalOf(centre) - own;
      if (!(Math.abs(away) * 10_000 <= p.maxDivergenceBps * own))
        return silent('the reference is further than maxDivergenceBps from the fair value');
      if (p.weight < 1)
        centre.push({ name: view.fair ? 'own fair value' : 'own middle', ticks: (p.weight - 1) * away });
      return quoteAround(p, lots, view, centre);
    },
  };
}
