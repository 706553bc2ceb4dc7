/** Searches: the same again by seed and after a resume, within their space, and quicker than chance on known functions. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SearchName } from '../../../../backtest/tune/search/search.ts';
import { newSearch, SEARCHES } from '../../../../backtest/tune/search/searches.ts';
import {
  countOf,
  cubeOf,
  flawOfSpace,
  holdsAt,
  mayBe,
  pointAt,
  textOfPoint,
  type Parameter,
  type Point,
  type Space,
} from '../../../../backtest/tune/search/space.ts';
import { few } from '../../../many.ts';
import { KNOWN, medianOf, trialsToFind } from '../../../scripts/knownFunctions.ts';
import { between } from '../../../draws.ts';

const NAMES = Object.keys(SEARCHES) as SearchName[];
const MIXED = KNOWN.find(({ name }) => name.startsWith('mixed'))!;

const NUMERIC = fc
  .record({
    kind: fc.constantFrom('linear', 'log', 'integer'),
    low: fc.integer({ min: 1, max: 50 }),
    width: fc.integer({ min: 0, max: 50 }),
    step: fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined }),
  })
  .map(({ kind, low, width, step }, i = 0) => ({
    key: `n${i}`,
    kind,
    low,
    high: low + width,
    ...(step === undefined ? {} : { step }),
  }));
const CHOICE = fc
  .constantFrom(['a'], ['a', 'b'], [1, 'two', false])
  .map(values => ({ key: '', kind: 'choice' as const, values }));
const SPACE: fc.Arbitrary<Space> = fc.array(fc.oneof(NUMERIC, CHOICE), { minLength: 1, maxLength: 6 }).map(all => {
  const named = all.map((one, i): Parameter => ({ ...one, key: `k${i}` }));
  const [first] = named;
  if (first?.kind !== 'choice') return named;
  return named.map((one, i): Parameter => (i % 2 === 1 ? { ...one, when: { key: 'k0', is: first.values[0]! } } : one));
});

/** Asks and tells in batches; the value of a point is a plain function of it, and one in seven fails. */
function course(name: SearchName, space: Space, batch: number, batches: number, value: (point: Point) => number) {
  const search = newSearch(name, space, { seed: 5, batch });
  const told: (readonly [Point, number | null])[] = [];
  for (let i = 0; i < batches; i++) {
    const asked = Array.from({ length: batch }, () => search.ask());
    for (const point of asked) {
      const outcome = told.length % 7 === 3 ? null : value(point);
      search.tell(point, outcome);
      told.push([point, outcome]);
    }
  }
  return { search, told };
}

describe.each(NAMES)('%s', name => {
  test('asks for points of its space alone', () => {
    fc.assert(
      fc.property(SPACE, fc.integer({ min: 1, max: 4 }), (space, batch) => {
        const { told } = course(name, space, batch, 8, point => textOfPoint(point).length);
        for (const [point] of told) {
          const active = space.filter(parameter => holdsAt(parameter, point));
          expect(Object.keys(point).sort()).toEqual(active.map(({ key }) => key).sort());
          for (const parameter of active) expect(mayBe(parameter, point[parameter.key]!)).toBe(true);
        }
      }),
      { numRuns: 30 },
    );
  });

  test('goes on after a resume as if it had never stopped, in batches too, whatever failed', () => {
    for (const batch of [1, 3]) {
      for (const batches of [1, 4, 5, 17]) {
        const { search, told } = course(name, MIXED.space, batch, batches, MIXED.valueOf);
        const resumed = newSearch(name, MIXED.space, { seed: 5, batch });
        // As they come back from a file.
        for (const [point, value] of JSON.parse(JSON.stringify(told)) as typeof told) resumed.tell(point, value);
        for (let i = 0; i < 5; i++) {
          const [own, other] = [search, resumed].map(one => Array.from({ length: batch }, () => one.ask()));
          expect(other).toEqual(own);
          own!.forEach(point => [search, resumed].forEach(one => one.tell(point, MIXED.valueOf(point))));
        }
      }
    }
  });

  test('another seed asks for other points', () => {
    const first = (seed: number) => newSearch(name, MIXED.space, { seed }).ask();
    expect(first(1)).toEqual(first(1));
    expect(new Set([1, 2, 3, 4].map(seed => textOfPoint(first(seed)))).size).toBe(4);
  });

  test("survives when every trial fails, and points of one's own", () => {
    const search = newSearch(name, MIXED.space, { seed: 2 });
    search.tell({ kind: 'flat', far: 1, levels: 5, skewed: false }, -2);
    for (let i = 0; i < 60; i++) search.tell(search.ask(), null);
    expect(mayBe(MIXED.space[0]!, search.ask().kind!)).toBe(true);
  });
});

test('TPE spreads the points of a batch, because those without a value count as bad', () => {
  const space: Space = [{ key: 'x', kind: 'linear', low: 0, high: 1 }];
  const deviations = Array.from({ length: 20 }, (_, seed) => {
    const search = newSearch('tpe', space, { seed: seed + 1 });
    for (let i = 0; i < 30; i++) {
      const point = search.ask();
      search.tell(point, -Math.abs(Number(point.x) - 0.5));
    }
    const batch = Array.from({ length: 16 }, () => Number(search.ask().x));
    const mean = batch.reduce((sum, x) => sum + x, 0) / batch.length;
    return Math.sqrt(batch.reduce((sum, x) => sum + (x - mean) ** 2, 0) / batch.length);
  });
  // 0.127; if points without a value did not count, 0.017.
  expect(deviations.reduce((sum, one) => sum + one, 0) / deviations.length).toBeGreaterThan(0.06);
});

test('CMA-ES goes on trying a value of a choice that has lost every time', () => {
  const numbers = Array.from({ length: 8 }, (_, i): Parameter => ({ key: `x${i}`, kind: 'linear', low: 0, high: 1 }));
  const space: Space = [{ key: 'kind', kind: 'choice', values: ['good', 'bad'] }, ...numbers];
  for (const seed of [1, 2, 3]) {
    const search = newSearch('cmaEs', space, { seed });
    let tried = 0;
    for (let i = 0; i < 600; i++) {
      const point = search.ask();
      if (i >= 200 && point.kind === 'bad') tried++;
      const off = numbers.reduce((sum, { key }) => sum + (Number(point[key]) - 0.5) ** 2, 0);
      search.tell(point, (point.kind === 'good' ? 10 : 0) - off);
    }
    // The minimum is 0.5 in a generation of ten.
    expect([seed, tried >= 8]).toEqual([seed, true]);
  }
});

describe('a space', () => {
  test('leads from the cube to a point and back to the same point', () => {
    fc.assert(
      fc.property(SPACE, fc.array(between(0, 1), { minLength: 6, maxLength: 6 }), (space, cube) => {
        expect(flawOfSpace(space)).toBeNull();
        const point = pointAt(space, cube);
        const back = cubeOf(space, point);
        const again = pointAt(
          space,
          back.map(x => x ?? 0.5),
        );
        expect(Object.keys(again)).toEqual(Object.keys(point));
        for (const [key, value] of Object.entries(point)) {
          const parameter = space.find(one => one.key === key)!;
          if (countOf(parameter) < Infinity) expect(again[key]).toBe(value);
          else expect(Number(again[key]) / Number(value)).toBeCloseTo(1, 12);
        }
      }),
    );
  });

  test.each<[string, Space]>([
    ['expected at least one parameter', []],
    [
      'a: listed twice',
      [
        { key: 'a', kind: 'linear', low: 0, high: 1 },
        { key: 'a', kind: 'linear', low: 0, high: 1 },
      ],
    ],
    ['a: expected two numbers with low <= high, found low 2', [{ key: 'a', kind: 'linear', low: 2, high: 1 }]],
    ['a: expected low above 0 on a logarithmic scale, found 0', [{ key: 'a', kind: 'log', low: 0, high: 1 }]],
    ['a: expected a step above 0, found 0', [{ key: 'a', kind: 'linear', low: 0, high: 1, step: 0 }]],
    ['a: expected whole numbers, found low 0.5', [{ key: 'a', kind: 'integer', low: 0.5, high: 1 }]],
    ['a: expected at least one value', [{ key: 'a', kind: 'choice', values: [] }]],
    ['a: lists a value twice', [{ key: 'a', kind: 'choice', values: [1, 1] }]],
    ['a: depends on b; expected b earlier', [{ key: 'a', kind: 'choice', values: [1], when: { key: 'b', is: 1 } }]],
    [
      'b: depends on a = 3',
      [
        { key: 'a', kind: 'choice', values: [1] },
        { key: 'b', kind: 'choice', values: [1], when: { key: 'a', is: 3 } },
      ],
    ],
  ])('that is wrong says so: %s', (flaw, space) => {
    expect(flawOfSpace(space)).toContain(flaw);
    expect(() => newSearch('random', space, { seed: 1 })).toThrow(flaw);
  });

  test('in steps of a tenth has tenths, both ends included', () => {
    const space: Space = [{ key: 'a', kind: 'linear', low: 0.1, high: 0.7, step: 0.1 }];
    const seen = new Set(Array.from({ length: 70 }, (_, i) => pointAt(space, [i / 69]).a));
    expect([...seen]).toEqual([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]);
  });
});

test('on every known function TPE and CMA-ES are nearer sooner than Sobol and random, in the median of nine seeds', () => {
  for (const known of few(KNOWN, 1)) {
    const trials = (name: SearchName) =>
      medianOf(Array.from({ length: 9 }, (_, seed) => trialsToFind(name, known, seed + 1, 300)));
    const chance = Math.min(trials('random'), trials('sobol'));
    expect(trials('tpe'), `tpe, ${known.name}`).toBeLessThan(chance);
    expect(trials('cmaEs'), `cmaEs, ${known.name}`).toBeLessThan(chance);
  }
});
