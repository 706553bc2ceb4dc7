/** Some studies of noise and of a planted edge, judged: the hundred of each are among the long tests. */
import { expect, test } from 'vitest';
import { DEFLATED_MIN, PBO_MAX, STUDY, verdictOf } from '../../../scripts/plantedStudies.ts';

test.each([1, 2, 3, 4])('noise %i is not believed, and its interval holds one half', seed => {
  const { probability, low, high, deflated } = verdictOf(seed, 0);
  expect([low <= 0.5 && 0.5 <= high, probability <= PBO_MAX, deflated >= DEFLATED_MIN]).toEqual([true, false, false]);
});

test('a planted edge is chosen in each of four studies, and believed in three and more', () => {
  const verdicts = [1, 2, 3, 4].map(seed => verdictOf(seed, STUDY.edge));
  expect(verdicts.map(({ probability, isPlanted }) => isPlanted && probability <= PBO_MAX)).toEqual(
    verdicts.map(() => true),
  );
  expect(verdicts.filter(({ deflated }) => deflated >= DEFLATED_MIN).length).toBeGreaterThanOrEqual(3);
});
