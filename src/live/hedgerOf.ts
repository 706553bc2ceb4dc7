/** The hedger of a run, put together from what the loop has. */
import { Hedger } from '../hedge/index.ts';
import type { HedgerOptions } from '../hedge/index.ts';
import type { LoopOptions } from './loopOptions.ts';

/** The hedger of one run; null when inventory leaves by quotes alone. */
export function hedgerOf(
  { hedge, clock, engine, journal, log, instance }: LoopOptions,
  loop: Pick<HedgerOptions, 'instrument' | 'takerRate' | 'time' | 'step' | 'persist' | 'mayAct'>,
): Hedger | null {
  if (!hedge) return null;
  const prefix = `${instance}-h${journal.run}-`;
  return new Hedger({ ...hedge, ...loop, clock, engine, log, prefix, rows: journal.leftovers.hedges });
}
