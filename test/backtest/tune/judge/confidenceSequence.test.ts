import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runningRatio, type TradedBlock } from '../../../../backtest/index.ts';
import { normal, randomOf } from '../../../../src/core/index.ts';
import { between } from '../../../draws.ts';

/** Blocks of one to four fills with fat tails; `edge` per unit of volume. */
function stream(seed: number, edge: number, length: number): readonly TradedBlock[] {
  const random = randomOf(seed);
  const draw = () => normal(random);
  return Array.from({ length }, () => {
    const volume = random.integer(1, 4);
    // Student t with four degrees of freedom.
    const scale = Math.sqrt(4 / (draw() ** 2 + draw() ** 2 + draw() ** 2 + draw() ** 2));
    return { volume, net: volume * edge + Math.sqrt(volume) * draw() * scale };
  });
}

describe('the interval of what a stream of trades earns', () => {
  test('holds at every look of a person who looks after each block, where one of a single look does not', () => {
    const [streams, edge] = [400, 0.3];
    let [missed, missedBySingle] = [0, 0];
    for (let seed = 1; seed <= streams; seed++) {
      const blocks = stream(seed, edge, 300);
      let [wrong, wrongBySingle] = [false, false];
      for (let n = 20; n <= blocks.length; n += 4) {
        const seen = blocks.slice(0, n);
        const { interval, ratio } = runningRatio(seen);
        if (interval === null) continue;
        wrong ||= interval.low > edge || interval.high < edge;
        const mean = seen.reduce((sum, { volume }) => sum + volume, 0) / n;
        const squares = seen.reduce((sum, { net, volume }) => sum + (net - ratio * volume) ** 2, 0);
        wrongBySingle ||= Math.abs(ratio - edge) > (1.96 * Math.sqrt(squares / (n - 1) / n)) / mean;
      }
      if (wrong) missed++;
      if (wrongBySingle) missedBySingle++;
    }
    expect(missed / streams).toBeLessThanOrEqual(0.05);
    expect(missedBySingle / streams).toBeGreaterThan(0.2);
  });

  test('is null before twenty blocks have traded, and does not count those that have not', () => {
    const blocks = stream(1, 0.3, 40);
    expect(runningRatio(blocks.slice(0, 19)).interval).toBeNull();
    const padded = blocks.flatMap(block => [block, { net: 0, volume: 0 }]);
    expect(runningRatio(padded)).toMatchObject({ interval: runningRatio(blocks).interval, blocks: 40 });
    expect(runningRatio([]).ratio).toBeNaN();
  });

  test('says how many blocks are missing: with so many more of the same the lower end is there, where it was not', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), between(0.05, 0.6), (seed, share) => {
        const blocks = stream(seed, 0.5, 40);
        const { ratio, interval, blocksMissing } = runningRatio(blocks);
        if (interval === null || !(ratio > 0)) return;
        const least = ratio - share * (ratio - interval.low);
        const missing = blocksMissing(least);
        expect(missing).toBeGreaterThan(0);
        // The same blocks again and again have nearly the deviation of the first.
        const repeated = (n: number) => Array.from({ length: n }, (_, i) => blocks[i % 40]!);
        const rounds = Math.ceil((40 + missing!) / 40) + 1;
        expect(runningRatio(repeated(40 * rounds)).interval!.low).toBeGreaterThan(least - 1e-3);
        expect(runningRatio(blocks).interval!.low).toBeLessThan(least);
      }),
      { numRuns: 50 },
    );
  });
});
