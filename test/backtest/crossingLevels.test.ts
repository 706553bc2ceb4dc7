/** Recorded levels that grow to or through resting orders of the bot: the orders get the lots that were added, and no more. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedExchange } from '../../backtest/exchange/simulatedExchange.ts';
import { constantLatency, fillModel, RowBuilder } from '../../backtest/index.ts';
import { MESSAGE } from '../../backtest/exchange/messageRing.ts';
import { OrderPool } from '../../backtest/exchange/ownOrders.ts';
import { NO_WATCHER } from '../../backtest/exchange/watcher.ts';
import { BUY, FLAG, SELL } from '../../backtest/rows/rows.ts';
import { runsOf } from '../many.ts';

const orders = fc.array(fc.record({ away: fc.integer({ min: 1, max: 4 }), lots: fc.integer({ min: 1, max: 40 }) }), {
  minLength: 1,
  maxLength: 3,
});
/** Levels of the other side at a distance from the mid price, one after the other; 0 takes a level away. */
const changes = fc.array(
  fc.record({ away: fc.integer({ min: -1, max: 5 }), lots: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 30 })) }),
  { minLength: 1, maxLength: 25 },
);

test.each([
  ['pessimistic', BUY],
  ['expected', SELL],
  ['log', SELL],
] as const)('orders that levels cross are filled with what was added at or beyond their prices (%s)', (name, side) => {
  // Distances grow away from the side of the bot's orders, towards worse prices of the other side.
  const sign = side === SELL ? 1 : -1;
  fc.assert(
    fc.property(orders, changes, (own, levels) => {
      const builder = new RowBuilder();
      const far = 1_000;
      builder.add(0, 0, far - 500, 7, 0);
      builder.add(0, 0, far + 500, 7, FLAG.sell);
      levels.forEach(({ away, lots }, i) =>
        builder.add(1_000 + i, 1_000 + i, far + sign * away, lots, side === SELL ? 0 : FLAG.sell),
      );
      builder.add(9_000, 9_000, far - 500, 8, 0);
      const market = builder.rows();
      let filled = 0;
      const exchange = new SimulatedExchange(market, fillModel(name, market), constantLatency(0, 0), {
        ...NO_WATCHER,
        filled: (_, lots) => void (filled += lots),
      });
      const pool = new OrderPool();
      for (const { away, lots } of own)
        exchange.requests.push(
          500,
          MESSAGE.place,
          pool.take(side, far + sign * away - market.base, lots),
          lots,
          500,
          0,
        );
      exchange.runTo(10_000);
      // Best price first: each added lot goes to an order at or before its price.
      const left = own.map(({ lots }) => lots);
      const best = own.map((_, i) => i).sort((a, b) => own[a]!.away - own[b]!.away);
      const shown = new Map<number, number>();
      for (const { away, lots } of levels) {
        let added = lots - (shown.get(away) ?? 0);
        shown.set(away, lots);
        for (const i of best) {
          if (own[i]!.away > away || !(added > 0)) break;
          const part = Math.min(added, left[i]!);
          left[i]! -= part;
          added -= part;
        }
      }
      expect(filled).toBe(own.reduce((sum, { lots }, i) => sum + lots - left[i]!, 0));
    }),
    runsOf(1_000, 100),
  );
});
