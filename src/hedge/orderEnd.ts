/** What became of a hedge that an order carries out, by that order's state in the engine. */
import { money, moneyOf } from '../core/index.ts';
import type { Engine, Money } from '../core/index.ts';
import type { HedgeRow } from './row.ts';

export type Became =
  | { readonly state: 'unknown' | 'executing'; readonly costMax?: undefined }
  | { readonly state: 'completed' | 'failed'; readonly why: string | null; readonly costMax?: Money };

/** `costMax` is what the part that traded may cost; null: nothing is known of it yet. */
export function becameOf(
  row: Pick<HedgeRow, 'costMax'>,
  order: ReturnType<Engine['order']>,
  taking: Engine['taking'],
  id: string,
): Became | null {
  if (order?.state === 'done') {
    if (order.filled === 0) {
      const why =
        order.ending === 'canceled' ? 'nothing was there at its price any more' : `its order: ${order.ending}`;
      return { state: 'failed', why };
    }
    const costMax = money((moneyOf(row.costMax ?? '0') * BigInt(order.filled)) / BigInt(order.amount));
    return { state: 'completed', why: order.filled < order.amount ? 'in part: no more was there' : null, costMax };
  }
  if (order) return { state: order.state === 'unknown' ? 'unknown' : 'executing' };
  if (taking?.id !== id)
    return {
      state: 'completed',
      why: 'a restart came before its end was noted: what it traded, if anything, is in the ledger',
    };
  return taking.state === 'refused' ? { state: 'failed', why: `it was not sent: ${taking.why}` } : null;
}
