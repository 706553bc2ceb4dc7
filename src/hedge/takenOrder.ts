/** What became of an order by which a hedge takes the book, as the engine tells it. */
import { money, moneyOf } from '../core/index.ts';
import type { Amount, Ending, EngineNews, HedgeRow, Money } from '../core/index.ts';

/** The last that was told of such an order. Amounts in lots. */
export type TakenOrder =
  | { readonly id: string; readonly state: 'waiting' }
  | { readonly id: string; readonly state: 'executing' | 'unknown' }
  | { readonly id: string; readonly state: 'refused'; readonly why: string }
  | {
      readonly id: string;
      readonly state: 'done';
      readonly filled: Amount;
      readonly amount: Amount;
      readonly ending: Ending | null;
    };

/** Of an order's news; null for all other news. Not every such order takes: the id says which one is meant. */
export function takenOrderOf(news: EngineNews): TakenOrder | null {
  if (news.kind === 'taking') return { id: news.command.id, state: 'executing' };
  if (news.kind === 'not taken') return { id: news.id, state: 'refused', why: news.why };
  if (news.kind !== 'order') return null;
  const { kind, order } = news.news;
  const { id, state, filled, amount, ending } = order;
  // Told that it lives after all before its state says so.
  if (state === 'done' && kind !== 'reopened') return { id, state, filled, amount, ending };
  return { id, state: kind === 'unknown' ? 'unknown' : 'executing' };
}

export type Became =
  | { readonly state: 'unknown' | 'executing'; readonly costMax?: undefined }
  | { readonly state: 'completed' | 'failed'; readonly why: string | null; readonly costMax?: Money };

/** What that makes of its hedge. `costMax` is what the part that traded may cost. Null: it has not left yet. `order` null: nothing was told of it since the start. */
export function becameOf(row: Pick<HedgeRow, 'costMax'>, order: TakenOrder | null): Became | null {
  if (order === null)
    return {
      state: 'completed',
      why: 'a restart came before its end was noted: what it traded, if anything, is in the ledger',
    };
  if (order.state === 'waiting') return null;
  if (order.state === 'refused') return { state: 'failed', why: `it was not sent: ${order.why}` };
  if (order.state !== 'done') return { state: order.state };
  const { filled, amount, ending } = order;
  if (filled === 0) {
    const why = ending === 'canceled' ? 'nothing was there at its price any more' : `its order: ${ending}`;
    return { state: 'failed', why };
  }
  const costMax = money((moneyOf(row.costMax ?? '0') * BigInt(filled)) / BigInt(amount));
  return { state: 'completed', why: filled < amount ? 'in part: no more was there' : null, costMax };
}
