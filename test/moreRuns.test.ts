import fc from 'fast-check';
import { afterAll, expect, test, vi } from 'vitest';

const runs = (assert: typeof fc.assert, numRuns?: number): number => {
  let count = 0;
  const law = fc.property(fc.nat(), () => void count++);
  assert(law, numRuns === undefined ? undefined : { numRuns });
  return count;
};

test('each law has PUNTAS_RUNS times its runs, whether or not it says how many', () => {
  const factor = Number(process.env['PUNTAS_RUNS'] ?? 1);
  expect([runs(fc.assert), runs(fc.assert, 7)]).toEqual([100 * factor, 7 * factor]);
});

test('by a factor of three they are three times as many', async () => {
  vi.stubEnv('PUNTAS_RUNS', '3');
  const { default: more } = await import('./moreRuns.ts');
  expect([runs(more.assert), runs(more.assert, 7)]).toEqual([300, 21]);
});

afterAll(() => vi.unstubAllEnvs());
