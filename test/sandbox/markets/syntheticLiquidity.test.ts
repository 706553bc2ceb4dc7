import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock, instrumentOf, price, randomOf, type Side } from '../../../src/core/index.ts';
import { SyntheticLiquidity } from '../../../src/sandbox/markets/syntheticLiquidity.ts';
import { flowRules } from './recordMarket.ts';
import { ReferenceMarketplace } from './referenceMarketplace.ts';

function open() {
  const exchange = new ReferenceMarketplace(
    instrumentOf(flowRules('eth_usd', '0.01')),
    new VirtualClock(),
    randomOf(1),
  );
  const house = new SyntheticLiquidity(exchange);
  const want = (side: Side, at: number, lots: number) => {
    house.shrink(side, price(at), lots);
    house.grow();
  };
  return { exchange, house, want };
}

describe('the levels of the house', () => {
  it('are forgotten when nothing is wanted there any more, also where executions emptied them', () => {
    const { exchange, house, want } = open();
    for (let at = 100; at < 1100; at++) {
      want('buy', at, 5);
      if (at % 2 === 0) exchange.placeFor('user', 'sell', price(at), 5, 'IOC');
      want('buy', at, 0);
    }
    expect(house.prices('buy')).toEqual([]);
    expect(house.size).toBe(0);
  });

  it('stay few orders however often they grow, as long as nobody else stands there', () => {
    const { exchange, want } = open();
    for (let lots = 1; lots <= 1000; lots++) want('buy', 100, lots);
    expect(exchange.amountAt('buy', price(100))).toBe(1000);
    expect(exchange.book.buy.length).toBeLessThanOrEqual(8);
  });

  it('never move a user forward in the queue except by an execution', () => {
    const step = fc.record({
      act: fc.constantFrom('want', 'want', 'take', 'join'),
      lots: fc.integer({ min: 0, max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        const { exchange, want } = open();
        const ahead = (id: number) => {
          const index = exchange.book.buy.findIndex(order => order.id === id);
          return exchange.book.buy.slice(0, index).reduce((sum, order) => sum + order.left, 0);
        };
        want('buy', 100, 20);
        const { id } = exchange.placeFor('first', 'buy', price(100), 10_000, 'GTC');
        let traded = 0;
        let cancelledAhead = 0;
        for (const { act, lots } of steps) {
          const before = ahead(id);
          const house = exchange.amountOf('house', 'buy', price(100));
          if (act === 'want') {
            want('buy', 100, lots);
            // Only what could not be taken from behind may come from ahead of him.
            const shrunk = Math.max(0, house - lots);
            const behind = house - before;
            expect(before - ahead(id)).toBe(Math.max(0, shrunk - behind));
            cancelledAhead += before - ahead(id);
          } else if (act === 'take' && lots > 0)
            traded += exchange.placeFor('t', 'sell', price(100), lots, 'IOC').traded;
          else if (lots > 0) exchange.placeFor('later', 'buy', price(100), lots, 'GTC');
        }
        expect(ahead(id)).toBe(Math.max(0, 20 - traded - cancelledAhead));
      }),
    );
  });
});
