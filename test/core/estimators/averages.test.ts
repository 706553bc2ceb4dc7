/** Running averages beside the sums that define them, over any times, also those of a clock that was set back. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Basis, OrderFlow, RunningDeviation } from '../../../src/core/index.ts';
import { flowOf } from '../../../src/core/estimators/orderFlow.ts';
import { between } from '../../draws.ts';
import { runsOf } from '../../many.ts';

const T = 1.7e12;
const memories = fc.constantFrom(1_000, 5_000, 60_000);
const passed = fc.oneof(
  fc.integer({ min: 0, max: 2_000 }),
  fc.constantFrom(9_999, 10_000, 10_001, 60_000, 60_001),
  fc.integer({ min: -3_000, max: -1 }),
);
const historyOf = <V>(value: fc.Arbitrary<V>) =>
  fc
    .array(fc.record({ passed, value }), { minLength: 1, maxLength: 20, size: 'medium' })
    .map(all => all.map((one, i) => ({ ...one, at: T + all.slice(0, i + 1).reduce((sum, x) => sum + x.passed, 0) })));

/** Part of an average that a value gets: what was forgotten since the value before. Nothing if no time has passed. */
const weightOf = (at: number, before: number, memoryMs: number): number =>
  at > before ? 1 - Math.exp((before - at) / memoryMs) : 0;

test('a deviation is measured from the mean and the deviation of the values before it, since the last gap that is longer than ten seconds and than the memory', () => {
  fc.assert(
    fc.property(historyOf(between(-1, 1)), memories, (history, memoryMs) => {
      const usual = new RunningDeviation(memoryMs);
      let [mean, square, before, since] = [0, 0.3 ** 2, Infinity, history[0]!.at];
      for (const { at, value } of history) {
        const gap = at - before;
        if (gap > 10_000 && gap > memoryMs) [mean, square, before, since] = [0, 0.3 ** 2, Infinity, at];
        const deviation = Math.max(0.02, Math.sqrt(Math.max(0, square - mean * mean)));
        expect(usual.deviations(at, value)).toBeCloseTo((value - mean) / deviation, 6);
        const weight = weightOf(at, before, memoryMs);
        [mean, square, before] = [mean + weight * (value - mean), square + weight * (value * value - square), at];
      }
      expect(usual.since).toBe(since);
    }),
    runsOf(5_000, 300),
  );
});

test('a basis is the average of the logarithms, within all ratios, and new for as long as its memory', () => {
  fc.assert(
    fc.property(historyOf(between(0.5, 2)), memories, (history, memoryMs) => {
      const basis = new Basis(memoryMs);
      let [mean, before] = [Math.log(history[0]!.value), Infinity];
      const ratios: number[] = [];
      for (const { at, value } of history) {
        mean += weightOf(at, before, memoryMs) * (Math.log(value) - mean);
        before = at;
        ratios.push(value);
        const usual = basis.ratio(at, value);
        expect(usual).toBeCloseTo(Math.exp(mean), 9);
        expect(usual).toBeGreaterThanOrEqual(Math.min(...ratios) - 1e-9);
        expect(usual).toBeLessThanOrEqual(Math.max(...ratios) + 1e-9);
        expect(basis.isNew(at)).toBe(at - history[0]!.at < memoryMs);
      }
    }),
    runsOf(5_000, 300),
  );
});

test('order flow is the sum of all changes since the last gap that is longer than ten seconds and than the memory', () => {
  const best = fc.record({
    bid: fc.integer({ min: 10, max: 12 }),
    spread: fc.integer({ min: 1, max: 2 }),
    bidAmount: fc.integer({ min: 1, max: 9 }),
    askAmount: fc.integer({ min: 1, max: 9 }),
  });
  fc.assert(
    fc.property(historyOf(best), memories, (history, memoryMs) => {
      const flow = new OrderFlow(memoryMs);
      let changes: { readonly flow: number; left: number }[] = [];
      let since = Number.NaN;
      let last: Parameters<typeof flowOf>[0] | null = null;
      for (const { at, value } of history) {
        const now = { ...value, at, ask: value.bid + value.spread };
        const gap = last === null ? Infinity : at - last.at;
        if (last === null || (gap > 10_000 && gap > memoryMs)) [changes, since] = [[], at];
        else {
          for (const one of changes) one.left *= Math.exp(-Math.max(0, gap) / memoryMs);
          changes.push({ flow: flowOf(last, now), left: 1 });
        }
        last = now;
        flow.observe(now);
        expect(flow.sum).toBeCloseTo(
          changes.reduce((sum, one) => sum + one.flow * one.left, 0),
          6,
        );
        expect(flow.since).toBe(since);
      }
    }),
    runsOf(5_000, 300),
  );
});
