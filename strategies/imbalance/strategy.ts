/** The imbalance maker: a spread around a fair value that leans to where the book is heavy less than usual. */
import { amountFloor, depthImbalance, Unusual } from '../../src/core/index.ts';
import type { Instrument, Strategy } from '../../src/core/index.ts';
import { DEVIATIONS_MAX } from '../fairValueParameters.ts';
import { millisOf } from '../parameters.ts';
import { clamp, fairSteps, silent } from '../quoteLevels.ts';
import { quoteAround, unknownIn } from '../spread.ts';

import type { ImbalanceParameters } from './parameters.ts';

/** Remembers the mean and the deviation of the imbalance; nothing else. */
export function imbalance(p: ImbalanceParameters, instrument: Instrument): Strategy {
  const lots = amountFloor(instrument, p.amount);
  const usual = new Unusual(millisOf(p.memory));

  return {
    quote(view) {
      const unknown = unknownIn(view);
      if (unknown !== null) return silent(unknown);
      const deviations = usual.deviations(view.at, depthImbalance(view.depth, view.mid, p.depthBps));
      if (!Number.isFinite(deviations)) return silent('the imbalance of the book is not known');
      const lean = (clamp(deviations, -DEVIATIONS_MAX, DEVIATIONS_MAX) * p.bpsPerDeviation * view.mid) / 10_000;
      return quoteAround(p, lots, view, [...fairSteps(view), { name: 'book imbalance', ticks: lean }]);
    },
  };
}
