import { describe, expect, test } from 'vitest';
import { constantLatency, recordedLatencies, travel, type LatencySpec } from '../../../backtest/rows/latency.ts';
import { randomOf } from '../../../src/core/index.ts';
import { exponentialLatency } from '../exponentialLatency.ts';

describe('latency', () => {
  const dice = () => randomOf(4);

  test('is drawn with the mean or the median that was asked for, the same again from the same seed', () => {
    const drawn = (spec: LatencySpec) => {
      const way = travel(spec, dice());
      return Array.from({ length: 4_000 }, () => way(0)).sort((a, b) => a - b);
    };
    const mean = (all: number[]) => all.reduce((sum, ms) => sum + ms, 0) / all.length;
    const exponential = drawn({ kind: 'exponential', least: 5, mean: 20 });
    expect(mean(exponential)).toBeCloseTo(20, -1);
    expect(exponential[0]).toBeGreaterThanOrEqual(5);
    const lognormal = drawn({ kind: 'lognormal', median: 20, sigma: 0.5 });
    expect(lognormal[2_000]).toBeCloseTo(20, -1);
    // The 84th percentile is one sigma of the logarithm away.
    expect(Math.log(lognormal[3_360]! / lognormal[2_000]!)).toBeCloseTo(0.5, 1);
    expect(drawn({ kind: 'lognormal', median: 20, sigma: 0.5 })).toEqual(lognormal);
  });

  test('that was recorded is half of what a request took, straight between two of them, and repeated outside', () => {
    const spec = recordedLatencies('sent,answered\n2000,2060\n1000,1020\n', 'a file');
    const way = travel(spec, dice());
    expect([1000, 1500, 1999.999, 2500, 3000, 500].map(at => Math.round(way(at)))).toEqual([10, 20, 30, 20, 10, 20]);
  });

  test.each([
    ['at,ms\n1,2', /expected the header "sent,answered"/],
    ['sent,answered\n5,4', /line 2: expected a send time and an answer time that is not earlier, found "5,4"/],
    ['sent,answered\n', /no answered request/],
  ])('in a file is refused with the line that is wrong: %j', (csv, sentence) => {
    expect(() => recordedLatencies(csv, 'a file')).toThrow(sentence);
  });

  test('of cancels may be another than of placements', () => {
    const latency = constantLatency(5, 6, 7);
    expect([latency.there(0), latency.back(0), latency.cancel(0)]).toEqual([5, 6, 7]);
  });
});

test('latency is never negative, and an impossible one is refused', () => {
  const drawn = exponentialLatency(5, 20, randomOf(1));
  const draws = Array.from({ length: 2_000 }, () => drawn.there(0));
  expect(Math.min(...draws)).toBeGreaterThanOrEqual(5);
  expect(draws.reduce((sum, ms) => sum + ms, 0) / draws.length).toBeCloseTo(20, -1);
  expect(() => constantLatency(-1, 0)).toThrow(/at least 0/);
  expect(() => constantLatency(Number.NaN, 0)).toThrow(/at least 0/);
  expect(() => exponentialLatency(5, 4, randomOf(1))).toThrow(/minimum <= mean/);
});
