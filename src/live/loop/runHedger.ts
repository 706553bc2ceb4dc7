/** Construction of a run's hedger from the options of the run. */
import {
  Hedger,
  hedgeInputsOf,
  type FlattenRequest,
  type HedgerOptions,
  type ElsewhereRunSetup,
} from '../../hedge/index.ts';
import type { FlattenFile } from '../safety/flatten.ts';
import type { Millis } from '../../core/index.ts';
import type { RunContext } from '../runContext.ts';
import type { LoopOptions } from './loopOptions.ts';
import type { Rules } from '../rules.ts';

type OfLoop = Pick<HedgerOptions, 'persist' | 'mayAct'> & {
  /** Setup of hedges on the other exchange; `null` if there are none. */
  readonly place: ElsewhereRunSetup | null;
  readonly rules: () => Rules;
  /** Returns the start time of the last read of the balances. */
  readonly balancesAt: () => Millis;
};

/**
 * Returns the hedger's access to the flatten request. While the bot is not reduce-only, the hedger sees no request,
 * because quotes could reopen the inventory that the hedger closes.
 */
const flattenOf = (file: FlattenFile, engine: LoopOptions['engine'], { clock }: RunContext): FlattenRequest => ({
  current: () => (engine.reducingBecause === null ? null : file.read()),
  end: why => file.end(why, clock.now()),
});

/** Returns the hedger of one run; `null` if hedging is not configured. */
export function hedgerOf(
  { beside, bot: { instance }, engine, start, state: { journal, flatten } }: LoopOptions,
  run: RunContext,
  { rules, balancesAt, place, ...gate }: OfLoop,
): Hedger | null {
  if (!beside?.hedge) return null;
  return new Hedger({
    setup: { ...beside.hedge, ...(place === null ? {} : { elsewhere: place.setup }) },
    run,
    kept: {
      rows: journal.leftovers.hedges,
      prefix: `${instance}-h${journal.run}-`,
      orders: { instance, run: journal.run },
    },
    pair: start.rules.instrument,
    ...(flatten ? { flatten: flattenOf(flatten, engine, run) } : {}),
    view: () => {
      const view = hedgeInputsOf(engine, { ...rules(), balancesAt: balancesAt() }, run.time());
      place?.observe(run.time(), view);
      return view;
    },
    ...gate,
  });
}
