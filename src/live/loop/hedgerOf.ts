/** The hedger of a run, put together from what the loop has. */
import { Hedger } from '../../hedge/index.ts';
import type { HedgerOptions } from '../../hedge/index.ts';
import type { LoopOptions } from './loopOptions.ts';
import type { Reads } from '../account/reads.ts';

/** The hedger of one run; null when inventory leaves by quotes alone. */
export function hedgerOf(
  { hedge, clock, engine, journal, log, instance }: LoopOptions,
  reads: Pick<Reads, 'balancesAt'>,
  loop: Pick<HedgerOptions, 'instrument' | 'takerRate' | 'time' | 'step' | 'persist' | 'mayAct'>,
): Hedger | null {
  if (!hedge) return null;
  const { hedges: rows } = journal.leftovers;
  const ids = { prefix: `${instance}-h${journal.run}-`, orderPrefix: `${instance}-${journal.run}-t` };
  return new Hedger({ ...hedge, ...loop, ...ids, clock, engine, log, rows, balancesAt: () => reads.balancesAt });
}
