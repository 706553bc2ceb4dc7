/** The peg: a spread around a price from elsewhere, as long as it is fresh and our own market agrees roughly. */
import { amountFloor } from '../../src/core/index.ts';
import type { Instrument, Step, Strategy } from '../../src/core/index.ts';
import { Basis, unusableReference } from '../fairValueParts.ts';
import { millisOf } from '../parameters.ts';
import { fairPrice, silent, totalOf } from '../quoteLevels.ts';
import { quoteAround, unknownIn } from '../spread.ts';
import type { PegParameters } from './parameters.ts';

/** Remembers the usual ratio of our book to the reference, if asked to; nothing else. */
export function peg(p: PegParameters, instrument: Instrument): Strategy {
  const lots = amountFloor(instrument, p.amount);
  const basis = p.basisMemory === undefined ? null : new Basis(millisOf(p.basisMemory));

  return {
    quote(view) {
      const unknown = unknownIn(view) ?? unusableReference(view, p.maxAgeMs);
      const { reference } = view;
      if (unknown !== null || reference === null) return silent(unknown ?? 'no reference was seen yet');
      const own = fairPrice(view);
      const centre: Step[] = [{ name: 'fair value: reference', ticks: reference.price }];
      if (basis !== null) {
        const usual = basis.ratio(view.at, own / reference.price);
        centre.push({ name: 'usual basis', ticks: reference.price * (usual - 1) });
      }
      const away = totalOf(centre) - own;
      if (!(Math.abs(away) * 10_000 <= p.maxDivergenceBps * own))
        return silent('the reference is too far from our book');
      if (p.weight < 1)
        centre.push({ name: view.fair ? 'own fair value' : 'own middle', ticks: (p.weight - 1) * away });
      return quoteAround(p, lots, view, centre);
    },
  };
}
