import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ClusteredMean,
  MARKOUT_LEVELS_MAX,
  Markouts,
  type MarkoutOptions,
  type Side,
} from '../../../src/core/index.ts';
import { between } from '../../draws.ts';

const sides = fc.constantFrom<Side[]>('buy', 'sell');
const lives = fc.array(
  fc.record({
    passed: fc.nat({ max: 90_000 }),
    side: sides,
    level: fc.option(fc.nat({ max: MARKOUT_LEVELS_MAX + 2 }), { nil: null }),
    price: fc.integer({ min: 900, max: 1_100 }),
    weight: fc.integer({ min: 1, max: 1_000 }),
    middle: fc.integer({ min: 0, max: 1_100 }),
  }),
  { minLength: 1, maxLength: 60 },
);

/** Lives through it; at one place it goes on in another object, from a state that went through text. */
function lived(life: readonly Step[], options: MarkoutOptions, cutAt = -1) {
  let markouts = new Markouts(options);
  let at = 0;
  life.forEach(({ passed, side, level, price, weight, middle }, i) => {
    if (i === cutAt) {
      const state = JSON.parse(JSON.stringify(markouts.state())) as ReturnType<Markouts['state']>;
      markouts = new Markouts(options);
      markouts.restore(state);
    }
    at += passed;
    markouts.advanceTo(at, due => 1_000 + (due % 7));
    markouts.fill(at, side, level, price, weight, middle);
  });
  markouts.advanceTo(at + 400_000, 1_000);
  return markouts;
}

type Step = {
  readonly passed: number;
  readonly side: Side;
  readonly level: number | null;
  readonly price: number;
  readonly weight: number;
  readonly middle: number;
};

describe('markouts', () => {
  test('go on from their state as if nothing had happened, wherever they were cut', () => {
    const options = { horizons: [0, 1, 15, 300], memoryMs: 3_600_000, waitingMax: 20 };
    fc.assert(
      fc.property(lives, fc.nat({ max: 60 }), (life, cutAt) => {
        const [whole, cut] = [lived(life, options), lived(life, options, cutAt)];
        expect(cut.curves()).toEqual(whole.curves());
        expect(cut.state()).toEqual(whole.state());
        expect(cut.dueAt).toBe(Infinity);
      }),
      { numRuns: 100 },
    );
  });

  test('are the edge less the adverse selection, fill by fill', () => {
    fc.assert(
      fc.property(
        sides,
        fc.integer({ min: 900, max: 1_100 }),
        fc.integer({ min: 900, max: 1_100 }),
        (side, before, after) => {
          let adverse = Number.NaN;
          const markouts = new Markouts({ horizons: [0, 1], onAdverse: (_, __, bps) => (adverse = bps) });
          markouts.fill(0, side, 0, 1_000, 5, before);
          markouts.advanceTo(1_000, after);
          const [edge, markout] = markouts.curves()[0]!.bps;
          expect(markout).toBeCloseTo(edge! - adverse, 9);
        },
      ),
    );
  });

  test('keep at most so many fills waiting: the oldest goes, and what it has found stays', () => {
    const markouts = new Markouts({ horizons: [0, 1, 300], waitingMax: 3 });
    for (let n = 0; n < 10; n++) {
      markouts.advanceTo(n * 2_000, 1_001);
      markouts.fill(n * 2_000, 'buy', 0, 1_000, 1, 1_000);
    }
    expect(markouts.state().waiting).toHaveLength(3);
    markouts.advanceTo(1_000_000, 1_002);
    expect(markouts.curves()[0]!.fills).toEqual([10, 10, 3]);
  });
});

describe('a mean that forgets', () => {
  const values = fc.array(fc.tuple(between(-50, 50), fc.integer({ min: 1, max: 9 }), fc.nat({ max: 3 })), {
    minLength: 2,
    maxLength: 40,
  });

  test('is the mean under weights that fade by e with each memory', () => {
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 30 }), (list, memory) => {
        const mean = new ClusteredMean(memory);
        let cluster = 0;
        const seen = list.map(([value, weight, passed]) => {
          cluster += passed;
          mean.add(value, weight, cluster);
          return { value, weight, cluster };
        });
        const faded = seen.map(x => ({ ...x, weight: x.weight * Math.exp((x.cluster - cluster) / memory) }));
        const total = faded.reduce((sum, { weight }) => sum + weight, 0);
        const naive = faded.reduce((sum, { value, weight }) => sum + value * weight, 0) / total;
        expect(mean.mean()).toBeCloseTo(naive, 6);
        expect(mean.kept(cluster + memory)).toBeCloseTo(Math.exp(-1), 12);
      }),
    );
  });

  test('says what it stands on, and asking changes nothing', () => {
    const mean = new ClusteredMean();
    expect([mean.effective(), mean.mean(), mean.error()]).toEqual([0, null, null]);
    for (let cluster = 0; cluster < 5; cluster++) {
      mean.add(cluster % 2, 3, cluster);
      mean.error();
      mean.add(cluster % 2, 4, cluster);
    }
    expect(mean.effective()).toBeCloseTo(5, 12);
    const [first, again] = [mean.error(), mean.error()];
    expect(first).toBe(again);
    const plain = new ClusteredMean();
    for (let cluster = 0; cluster < 5; cluster++) plain.add(cluster % 2, 7, cluster);
    expect(first).toBeCloseTo(plain.error()!, 12);
  });
});
