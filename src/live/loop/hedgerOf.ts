/** The hedger of a run, put together from what the loop has. */
import { Hedger, hedgeViewOf } from '../../hedge/index.ts';
import type { HedgerOptions } from '../../hedge/index.ts';
import type { Millis } from '../../core/index.ts';
import type { RunContext } from '../runContext.ts';
import type { LoopOptions } from './loopOptions.ts';
import type { Rules } from '../rules.ts';

type OfLoop = Pick<HedgerOptions, 'persist' | 'mayAct'> & {
  readonly rules: () => Rules;
  /** When the last read of the balances began. */
  readonly balancesAt: () => Millis;
};

/** The hedger of one run; null when inventory leaves by quotes alone. */
export function hedgerOf(
  { beside, bot: { instance }, engine, start, state: { journal, flatten } }: LoopOptions,
  run: RunContext,
  { rules, balancesAt, ...gate }: OfLoop,
): Hedger | null {
  if (!beside?.hedge) return null;
  return new Hedger({
    setup: beside.hedge,
    run,
    kept: {
      rows: journal.leftovers.hedges,
      prefix: `${instance}-h${journal.run}-`,
      orderPrefix: `${instance}-${journal.run}-t`,
    },
    pair: start.rules.instrument,
    ...(flatten ? { flatten: { asked: () => flatten.read(), done: why => flatten.end(why, run.clock.now()) } } : {}),
    view: () => hedgeViewOf(engine, { ...rules(), balancesAt: balancesAt() }, run.time()),
    ...gate,
  });
}
