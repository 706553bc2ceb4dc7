/** Correlation of asynchronous prices: check values of formulas-desk E13, its laws, and what chance alone shows. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { between } from '../../draws.ts';
import { runsOf, sized } from '../../many.ts';
import {
  asynchrony,
  comovementOf,
  correlationOf,
  intervalsToKnow,
  isKnown,
  normal,
  randomOf,
  repairOf,
  shrinkageOf,
  twoScaleVariance,
  usableCorrelations,
  type Correlation,
} from '../../../src/core/index.ts';
import { symmetricEigenvalues } from '../../../src/core/estimators/linear.ts';

describe('check values of E13', () => {
  test('the factor of random reads: .5 and .2 per second over 30 s and 60 s', () => {
    expect(1 - asynchrony(1 / 0.5, 1 / 0.2) / 30).toBeCloseTo(0.8619047619048, 12);
    expect(1 - asynchrony(1 / 0.5, 1 / 0.2) / 60).toBeCloseTo(0.9309523809524, 12);
  });

  test('the interval of 60 intervals: .25 contains zero, .26 does not', () => {
    const [zero, known] = [correlationOf(0.25, 60)!, correlationOf(0.26, 60)!];
    // The document rounds the quantile to 1.96.
    expect([zero.low, zero.high]).toEqual([expect.closeTo(-0.0041907352, 5), expect.closeTo(0.4738444967, 5)]);
    expect([known.low, known.high]).toEqual([expect.closeTo(0.0065047435, 5), expect.closeTo(0.4820964885, 5)]);
    expect([isKnown(zero), isKnown(known)]).toEqual([false, true]);
  });

  const rows = [
    [1, 2, -1],
    [-2, -1, 0],
    [3, 2, 1],
    [0, 1, 2],
    [-1, -3, -2],
    [-1, 0, 1],
    [2, 1, -1],
    [-2, -2, 1],
  ] as const;

  test('check B: the shrinkage towards the diagonal and what it leaves', () => {
    const entries = (
      [
        [0, 1],
        [0, 2],
        [1, 2],
      ] as const
    ).map(([i, j]) => {
      const products = rows.map(row => row[i] * row[j]);
      const value = products.reduce((sum, x) => sum + x, 0) / 8;
      return { value, variance: products.reduce((sum, x) => sum + (x - value) ** 2, 0) / 8 / 8 };
    });
    expect(entries.map(({ value }) => 8 * value)).toEqual([19, -1, 5]);
    const weight = shrinkageOf(entries);
    expect(weight).toBeCloseTo(0.2600129198966, 12);
    expect(entries.map(({ value }) => (1 - weight) * value)).toEqual([
      expect.closeTo(1.757469315245, 11),
      expect.closeTo(-0.092498385013, 11),
      expect.closeTo(0.462491925065, 11),
    ]);
  });

  test('the repair of three correlations that contradict each other', () => {
    const matrix = [
      [1, 0.9, 0.2],
      [0.9, 1, 0.9],
      [0.2, 0.9, 1],
    ];
    expect(Math.min(...symmetricEigenvalues(matrix))).toBeCloseTo(-0.1767145334804, 12);
    expect(repairOf(matrix, 0.05)).toBeCloseTo(0.192667403206, 12);
  });

  test('check C: over 30 s, the path with a correlation of .6 gives less, and the interval holds it', () => {
    const { x, y } = checkC();
    const { correlation } = comovementOf(x, y, 30)!;
    // On a single grid: .5638.
    expect(correlation.value).toBeGreaterThan(0.45);
    expect(correlation.value).toBeLessThan(0.65);
    expect(correlation.low).toBeLessThan(0.6);
    expect(correlation.high).toBeGreaterThan(0.6);
  });
});

/** The last reads of check C at each second. */
function checkC(): { readonly x: readonly number[]; readonly y: readonly number[] } {
  let state = 42;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const gauss = (): number => {
    const [u, v] = [next(), next()];
    return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
  };
  const paths = [[0, 0]];
  for (let i = 1; i <= 36_000; i++) {
    const [first, second] = [gauss(), gauss()];
    const [a = 0, b = 0] = paths[i - 1]!;
    paths.push([a + Math.sqrt(0.1) * first, b + Math.sqrt(0.1) * (0.6 * first + 0.8 * second)]);
  }
  const [x, y] = [[0], [0]];
  let [lastX, lastY] = [0, 0];
  for (let i = 1; i <= 36_000; i++) {
    const [a = 0, b = 0] = paths[i]!;
    if (next() < 0.05) lastX = a + 0.5 * gauss();
    if (next() < 0.02) lastY = b + 0.5 * gauss();
    if (i % 10 === 0) {
      x.push(lastX);
      y.push(lastY);
    }
  }
  return { x, y };
}

type Walks = {
  readonly correlation?: number;
  readonly seconds?: number;
  /** Share of the seconds in which each price is read; between reads, its last value stays. */
  readonly reads?: readonly [number, number];
  readonly noise?: number;
  /** Deviation of the logarithm of the volatility, which both prices share and which changes over half an hour. */
  readonly gusts?: number;
};

/** Two random walks with a deviation of 1 per second, as they are read at each second. */
function walks(seed: number, of: Walks = {}): readonly [Float64Array, Float64Array] {
  const { correlation = 0, seconds = 3_600, reads = [1, 1], noise = 0, gusts = 0 } = of;
  const random = randomOf(seed);
  // The first numbers of neighboring seeds are alike.
  for (let i = 0; i < 50; i++) random.next();
  const kept = Math.exp(-1 / 1_800);
  const [x, y] = [new Float64Array(seconds), new Float64Array(seconds)];
  let [a, b, gust] = [0, 0, 0];
  for (let i = 0; i < seconds; i++) {
    if (gusts > 0) gust = kept * gust + Math.sqrt(1 - kept ** 2) * normal(random);
    const size = Math.exp(gusts * gust);
    const [first, second] = [normal(random), normal(random)];
    a += size * first;
    b += size * (correlation * first + Math.sqrt(1 - correlation ** 2) * second);
    x[i] = random.next() < reads[0] || i === 0 ? a + noise * normal(random) : x[i - 1]!;
    y[i] = random.next() < reads[1] || i === 0 ? b + noise * normal(random) : y[i - 1]!;
  }
  return [x, y];
}

describe('the interval', () => {
  test.each<readonly [string, Walks, number]>([
    ['independent walks', {}, 60],
    ['independent walks with noise, read at different times', { reads: [0.5, 0.2], noise: 0.5 }, 60],
    ['independent walks whose common volatility changes', { gusts: 0.7 }, 60],
    ['walks with a correlation of .9', { correlation: 0.9 }, 60],
    ['walks with a correlation of .6 whose common volatility changes', { correlation: 0.6, gusts: 0.7 }, 60],
    ['walks with a correlation of -.5', { correlation: -0.5, reads: [0.5, 0.5] }, 60],
  ])('holds the true correlation in at least 95 of 100 seeds: %s', (_, of, horizon) => {
    const seeds = sized(300, 60);
    let held = 0;
    for (let seed = 1; seed <= seeds; seed++) {
      const { correlation } = comovementOf(...walks(seed, of), horizon)!;
      const truth = of.correlation ?? 0;
      if (correlation.low <= truth && truth <= correlation.high) held++;
    }
    expect(held).toBeGreaterThanOrEqual(0.95 * seeds);
  });

  test('noise and reads at different times cost no more of a correlation than their factor says', () => {
    const seeds = sized(200, 40);
    let sum = 0;
    for (let seed = 1; seed <= seeds; seed++)
      sum += comovementOf(...walks(seed, { correlation: 0.6, reads: [0.5, 0.2], noise: 0.5 }), 60)!.correlation.value;
    const expected = 0.6 * (1 - asynchrony(2, 5) / 60);
    expect(Math.abs(sum / seeds - expected)).toBeLessThan(4 * (0.12 / Math.sqrt(seeds)));
  });

  test('excludes zero after as many intervals as are said to be needed', () => {
    for (const value of [0.05, -0.2, 0.7]) {
      const needed = intervalsToKnow(value);
      expect(isKnown(correlationOf(value, needed + 0.01)!)).toBe(true);
      expect(isKnown(correlationOf(value, needed - 0.01)!)).toBe(false);
    }
    expect(intervalsToKnow(0)).toBe(Infinity);
  });
});

describe('laws of the joint moves', () => {
  const [x, y] = walks(7, { correlation: 0.5, reads: [0.5, 0.5] });
  const found = comovementOf(x, y, 60)!;

  test('a price with itself has the variance of the two-scale estimate, and a correlation of 1', () => {
    const own = comovementOf(x, x, 60)!;
    const variance = twoScaleVariance(x, 60) / (x.length - 1);
    for (const each of [own.varianceX, own.varianceY, own.covariance]) expect(each / variance).toBeCloseTo(1, 12);
    expect(own.correlation.value).toBeCloseTo(1, 12);
    expect(found.varianceX / variance).toBeCloseTo(1, 12);
  });

  test('are symmetric, and do not depend on the level of a price', () => {
    const swapped = comovementOf(y, x, 60)!;
    expect([swapped.varianceX, swapped.varianceY]).toEqual([found.varianceY, found.varianceX]);
    expect(swapped.correlation).toEqual(found.correlation);
    const moved = comovementOf(
      x.map(value => value + 64),
      y,
      60,
    )!;
    expect(moved.covariance).toBeCloseTo(found.covariance, 9);
  });

  test('grow with the scale of a price, which leaves the correlation or turns its sign', () => {
    fc.assert(
      fc.property(between(0.01, 100), fc.boolean(), (size, isTurned) => {
        const factor = isTurned ? -size : size;
        const scaled = comovementOf(
          x.map(value => factor * value),
          y,
          60,
        )!;
        expect(scaled.varianceX / (factor ** 2 * found.varianceX)).toBeCloseTo(1, 9);
        expect(scaled.covariance / (factor * found.covariance)).toBeCloseTo(1, 9);
        expect(scaled.correlation.value).toBeCloseTo((isTurned ? -1 : 1) * found.correlation.value, 9);
        expect(scaled.correlation.intervals).toBeCloseTo(found.correlation.intervals, 6);
      }),
      runsOf(100, 10),
    );
  });

  test('prices that are 3 s apart lose less than a tenth of their correlation over a minute', () => {
    const [early, other] = walks(5, { correlation: 0.9, seconds: 40_000 });
    const together = comovementOf(early.subarray(3), other.subarray(3), 60)!.correlation.value;
    const apart = comovementOf(early.subarray(3), other, 60)!.correlation.value;
    expect(apart).toBeGreaterThan(0.9 * together);
    expect(apart).toBeLessThan(together);
  });

  test('are unknown for too little time, for a price that stands still, and for one that is only noise', () => {
    expect(comovementOf(x.subarray(0, 1_801), y, 60)).not.toBeNull();
    expect(comovementOf(x.subarray(0, 1_800), y, 60)).toBeNull();
    expect(comovementOf(x, new Float64Array(x.length), 60)).toBeNull();
    expect(
      comovementOf(
        x,
        Float64Array.from(x, (_, i) => i % 2),
        60,
      ),
    ).toBeNull();
    expect(comovementOf(x, y, 1)).toBeNull();
    expect(comovementOf([], [], 60)).toBeNull();
    expect(correlationOf(0.5, 3)).toBeNull();
  });
});

describe('laws of the matrix of several books', () => {
  const estimate = fc
    .tuple(between(-0.99, 0.99), between(4, 5_000))
    .map(([value, intervals]) => correlationOf(value, intervals)!);
  const books = fc.integer({ min: 1, max: 7 }).chain(count =>
    fc.record({
      count: fc.constant(count),
      pairs: fc.array(fc.option(estimate, { nil: null }), {
        minLength: count * count,
        maxLength: count * count,
      }),
      order: fc.shuffledSubarray(
        Array.from({ length: count }, (_, i) => i),
        { minLength: count },
      ),
    }),
  );
  type Books = { readonly count: number; readonly pairs: readonly (Correlation | null)[] };
  const pairOf =
    ({ count, pairs }: Books) =>
    (i: number, j: number): Correlation | null =>
      pairs[Math.min(i, j) * count + Math.max(i, j)] ?? null;

  test('it is symmetric, has ones, no negative eigenvalue, and no entry larger than its estimate', () => {
    fc.assert(
      fc.property(books, of => {
        const matrix = usableCorrelations(of.count, pairOf(of));
        expect(Math.min(...symmetricEigenvalues(matrix))).toBeGreaterThan(-1e-9);
        matrix.forEach((row, i) =>
          row.forEach((value, j) => {
            expect(value).toBe(matrix[j]![i]);
            const found = i === j ? null : pairOf(of)(i, j);
            if (i === j) expect(value).toBe(1);
            else if (found === null || !isKnown(found)) expect(value).toBe(0);
            else expect(value * Math.sign(found.value)).toBeGreaterThanOrEqual(0);
            if (found !== null) expect(Math.abs(value)).toBeLessThanOrEqual(Math.abs(found.value));
          }),
        );
      }),
      runsOf(1_000, 100),
    );
  });

  test('another order of the books gives the same entries in that order', () => {
    fc.assert(
      fc.property(books, of => {
        const matrix = usableCorrelations(of.count, pairOf(of));
        const ordered = usableCorrelations(of.count, (i, j) => pairOf(of)(of.order[i]!, of.order[j]!));
        ordered.forEach((row, i) =>
          row.forEach((value, j) => expect(value).toBeCloseTo(matrix[of.order[i]!]![of.order[j]!]!, 9)),
        );
      }),
      runsOf(500, 50),
    );
  });

  test('the eigenvalues add up to the trace, and their squares to all squared entries', () => {
    fc.assert(
      fc.property(books, of => {
        const matrix = Array.from({ length: of.count }, (_, i) =>
          Array.from({ length: of.count }, (__, j) => (i === j ? 1 + i : (pairOf(of)(i, j)?.value ?? 0))),
        );
        const values = symmetricEigenvalues(matrix);
        const trace = matrix.reduce((sum, row, i) => sum + row[i]!, 0);
        expect(values.reduce((sum, x) => sum + x, 0)).toBeCloseTo(trace, 9);
        expect(values.reduce((sum, x) => sum + x * x, 0)).toBeCloseTo(
          matrix.flat().reduce((sum, x) => sum + x * x, 0),
          8,
        );
      }),
      runsOf(500, 50),
    );
  });
});
