import fc from 'fast-check';
import { expect, test } from 'vitest';
import { latenciesOf, withRequests } from '../../../../backtest/app/backtest/latencyFlags.ts';

const flag = fc.oneof(
  fc.integer({ min: 0, max: 900 }).map(String),
  fc.constantFrom('exponential:3,40', 'lognormal:20,0.5'),
);

test('a row of a report for another latency is the backtest with that latency alone for its requests', () => {
  const flags = fc.record(
    { latencyMs: flag, feedLatencyMs: flag, cancelLatencyMs: flag, fillLatencyMs: flag },
    { requiredKeys: ['latencyMs', 'feedLatencyMs'] },
  );
  fc.assert(
    fc.property(flags, fc.integer({ min: 0, max: 900 }), (of, ms) => {
      const { cancelLatencyMs: _, ...others } = of;
      expect(withRequests(latenciesOf(of), ms)).toEqual(latenciesOf({ ...others, latencyMs: String(ms) }));
    }),
  );
});

test('cancels take as long as placements unless they have a flag of their own, and fills as long as answers', () => {
  fc.assert(
    fc.property(flag, flag, flag, flag, (latencyMs, feedLatencyMs, cancelLatencyMs, fillLatencyMs) => {
      const [own, feed, cancels, fills] = [latencyMs, feedLatencyMs, cancelLatencyMs, fillLatencyMs].map(
        text => latenciesOf({ latencyMs: text, feedLatencyMs: '0' }).orders,
      );
      expect(latenciesOf({ latencyMs, feedLatencyMs })).toEqual({ orders: own, cancels: own, answers: own, feed });
      expect(latenciesOf({ latencyMs, feedLatencyMs, cancelLatencyMs, fillLatencyMs })).toEqual({
        ...{ orders: own, cancels, answers: own, feed, fills },
      });
    }),
  );
});
