/** Outcome of the taker order of a hedge, from engine news. */
import { money, moneyOf, type Amount, type Ending, type EngineNews, type HedgeRow, type Money } from '../core/index.ts';

/** Latest state of a taker order. Amounts are in lots. */
export type TakerOrderState =
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

/**
 * Returns the state of the order that the engine news reports; `null` for other news. The order may also be a quote, so
 * the caller checks the id.
 */
export function takerOrderFromNews(news: EngineNews): TakerOrderState | null {
  if (news.kind === 'taking') return { id: news.command.id, state: 'executing' };
  if (news.kind === 'not taken') return { id: news.id, state: 'refused', why: news.why };
  if (news.kind !== 'order') return null;
  const { kind, order } = news.news;
  const { id, state, filled, amount, ending } = order;
  // The `reopened` news arrives before the order's state changes from `done`, so the order then counts as executing.
  if (state === 'done' && kind !== 'reopened') return { id, state, filled, amount, ending };
  return { id, state: kind === 'unknown' ? 'unknown' : 'executing' };
}

export type TakerOrderOutcome =
  | { readonly state: 'unknown' | 'executing'; readonly costMax?: undefined }
  | { readonly state: 'completed' | 'failed'; readonly why: string | null; readonly costMax?: Money };

/**
 * Returns the state of the hedge that follows from its taker order; `null` if the order is not sent yet. `costMax` is
 * the maximum cost of the filled part. A `null` order means that this process has received no news of the order.
 */
export function takerOrderOutcome(
  row: Pick<HedgeRow, 'costMax'>,
  order: TakerOrderState | null,
): TakerOrderOutcome | null {
  if (order === null)
    return {
      state: 'completed',
      why: 'the bot restarted before the end of the order was recorded; the ledger has the trades of the order, if any',
    };
  if (order.state === 'waiting') return null;
  if (order.state === 'refused') return { state: 'failed', why: `the order was not sent: ${order.why}` };
  if (order.state !== 'done') return { state: order.state };
  const { filled, amount, ending } = order;
  if (filled === 0) {
    const why =
      ending === 'canceled' ? 'nothing was available at the price of the order' : `the order ended: ${ending}`;
    return { state: 'failed', why };
  }
  const costMax = money((moneyOf(row.costMax ?? '0') * BigInt(filled)) / BigInt(amount));
  return {
    state: 'completed',
    why: filled < amount ? 'partly filled; nothing more was available at the price of the order' : null,
    costMax,
  };
}
