import { describe, expect, it } from 'vitest';
import type { Order, OrderNews } from '../../../src/core/index.ts';
import { OrderCounts } from '../../../src/core/orders/orderCounts.ts';

const order = (side: 'buy' | 'sell') => ({ side }) as Order;
const none = { placed: 0, canceled: 0, filled: 0, refused: 0, unknown: 0 };

describe('counts of orders', () => {
  it('count each end and each unknown on its side, and nothing for any other news', () => {
    const told: string[] = [];
    const counts = new OrderCounts((side, event) => told.push(`${side} ${event}`));
    const ends = (['filled', 'canceled', 'refused', 'vanished', 'never arrived'] as const).map((ending): OrderNews => ({
      kind: 'ended',
      order: order('sell'),
      ending,
    }));
    const others = (['resolved', 'reopened', 'late fill', 'adopted', 'trades missing'] as const).map(
      (kind): OrderNews => ({ kind, order: order('sell') }),
    );
    for (const news of [...others, ...ends]) counts.count(news);
    expect(counts.all).toEqual({ buy: none, sell: { ...none, filled: 1, canceled: 2 } });
    counts.count({ kind: 'unknown', order: order('buy') });
    // The engine counts placements and rejections itself.
    for (const event of ['placed', 'refused', 'placed'] as const) counts.add('buy', event);
    expect(counts.all.buy).toEqual({ ...none, unknown: 1, placed: 2, refused: 1 });
    expect(told).toEqual([
      ...['sell filled', 'sell canceled', 'sell canceled'],
      ...['buy unknown', 'buy placed', 'buy refused', 'buy placed'],
    ]);
  });
});
