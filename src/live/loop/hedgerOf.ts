/** The hedger of a run, put together from what the loop has. */
import { Hedger, hedgeViewOf } from '../../hedge/index.ts';
import type { HedgerOptions } from '../../hedge/index.ts';
import type { LoopOptions } from './loopOptions.ts';
import type { Rules } from './opening.ts';
import type { Reads } from '../account/reads.ts';

type OfLoop = Pick<HedgerOptions, 'persist' | 'mayAct'> &
  Pick<HedgerOptions['run'], 'time' | 'step'> & { readonly rules: () => Rules };

/** The hedger of one run; null when inventory leaves by quotes alone. */
export function hedgerOf(
  { hedge, clock, engine, journal, log, instance, rules: { instrument: pair } }: LoopOptions,
  reads: Pick<Reads, 'balancesAt'>,
  { rules, time, step, persist, mayAct }: OfLoop,
): Hedger | null {
  if (!hedge) return null;
  return new Hedger({
    setup: hedge,
    run: { clock, time, log, step },
    kept: {
      rows: journal.leftovers.hedges,
      prefix: `${instance}-h${journal.run}-`,
      orderPrefix: `${instance}-${journal.run}-t`,
    },
    pair,
    view: () => hedgeViewOf(engine, { ...rules(), balancesAt: reads.balancesAt }, time()),
    persist,
    mayAct,
  });
}
