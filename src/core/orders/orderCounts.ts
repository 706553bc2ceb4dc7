/** Counts of order outcomes, by side. */
import type { OrderNews } from './orders.ts';
import type { Side } from '../model/units.ts';

export type OrderCount = 'placed' | 'canceled' | 'filled' | 'refused' | 'unknown';

const noOrders = (): Record<OrderCount, number> => ({ placed: 0, canceled: 0, filled: 0, refused: 0, unknown: 0 });

export class OrderCounts {
  readonly all: Readonly<Record<Side, Record<OrderCount, number>>> = { buy: noOrders(), sell: noOrders() };
  readonly #onCount: (side: Side, event: OrderCount) => void;

  constructor(onCount: (side: Side, event: OrderCount) => void) {
    this.#onCount = onCount;
  }

  add(side: Side, event: OrderCount): void {
    this.all[side][event]++;
    this.#onCount(side, event);
  }

  count(news: OrderNews): void {
    const { side } = news.order;
    if (news.kind === 'unknown') this.add(side, 'unknown');
    const ending = news.kind === 'ended' ? news.ending : null;
    if (ending === 'filled') this.add(side, 'filled');
    if (ending === 'canceled' || ending === 'vanished') this.add(side, 'canceled');
  }
}
