/** The peg: a spread around a price from elsewhere, as long as it is fresh and our own market agrees roughly. */
import { amountFloor } from '../../src/core/index.ts';
import type { Instrument, Step, Strategy, View } from '../../src/core/index.ts';
import { millisOf } from '../parameters.ts';
import { silent, totalOf } from '../rungs.ts';
import { quoteAround, unknownIn } from '../spread.ts';
import type { PegParameters } from './parameters.ts';

/** Remembers the usual ratio of our book to the reference, if asked to; nothing else. */
export function peg(p: PegParameters, instrument: Instrument): Strategy {
  const lots = amountFloor(instrument, p.amount);
  const memoryMs = p.basisMemory === undefined ? null : millisOf(p.basisMemory);
  let logBasis = Number.NaN;
  let followedAt = Number.NaN;

  return {
    quote(view) {
      const unknown = unknownIn(view);
      if (unknown !== null) return silent(unknown);
      const { reference, mid } = view;
      if (reference === null) return silent('no reference was seen yet');
      if (!(view.at - reference.at <= p.maxAgeMs)) return silent('the reference is stale');
      if (!(reference.price > 0 && reference.price < Infinity)) return silent('the reference is no price');
      const centre: Step[] = [{ name: 'fair value: reference', ticks: reference.price }];
      if (memoryMs !== null) {
        follow(view, Math.log(mid / reference.price), memoryMs);
        centre.push({ name: 'usual basis', ticks: reference.price * (Math.exp(logBasis) - 1) });
      }
      const away = totalOf(centre) - mid;
      if (!(Math.abs(away) * 10_000 <= p.maxDivergenceBps * mid))
        return silent('the reference is too far from our book');
      if (p.weight < 1) centre.push({ name: 'own middle', ticks: (p.weight - 1) * away });
      return quoteAround(p, lots, view, centre);
    },
  };

  function follow({ at }: View, now: number, memory: number): void {
    const weight = at > followedAt ? 1 - Math.exp(-(at - followedAt) / memory) : 0;
    logBasis = Number.isNaN(logBasis) ? now : logBasis + weight * (now - logBasis);
    if (Number.isFinite(at)) followedAt = at;
  }
}
