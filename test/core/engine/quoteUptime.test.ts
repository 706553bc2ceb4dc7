import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OrderState, Side } from '../../../src/core/index.ts';
import { QuoteUptime } from '../../../src/core/engine/quoteUptime.ts';

const START = 1.7e12;

describe('uptime', () => {
  const states: readonly OrderState[] = [
    'sending',
    'open',
    'partially filled',
    'canceling',
    'unknown',
    'closed-unsettled',
  ];
  const step = fc.record({
    passed: fc.constantFrom(0, 1, 200, 5_000, -10),
    orders: fc.array(fc.record({ side: fc.constantFrom<Side>('buy', 'sell'), state: fc.constantFrom(...states) }), {
      maxLength: 3,
    }),
  });

  it('is the share of the time in which a confirmed order of that side was there', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), steps => {
        const uptime = new QuoteUptime();
        expect([uptime.isRunning, uptime.shares()]).toEqual([false, { bid: 0, ask: 0 }]);
        let [at, latest, total] = [START, START, 0];
        const quoted = { buy: 0, sell: 0 };
        uptime.advanceTo(at, { live: [{ side: 'buy', state: 'open' }] } as never);
        for (const { passed, orders } of steps) {
          at += passed;
          uptime.advanceTo(at, { live: orders } as never);
          const ms = Math.max(0, at - latest);
          latest = Math.max(latest, at);
          total += ms;
          for (const side of ['buy', 'sell'] as const)
            if (orders.some(one => one.side === side && (one.state === 'open' || one.state === 'partially filled')))
              quoted[side] += ms;
        }
        const share = (side: Side) => (total === 0 ? 0 : quoted[side] / total);
        expect([uptime.isRunning, uptime.shares()]).toEqual([true, { bid: share('buy'), ask: share('sell') }]);
      }),
    );
  });
});
