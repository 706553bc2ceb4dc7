/** Tests of the bot's orders against a slow model, after every operation of a random, possibly unrealistic history. */
import { expect, it } from 'vitest';
import { randomOf } from '../../../src/core/index.ts';
import { divergenceOf, orders } from '../../differential/orders.ts';
import { drawnList, shrunk } from '../../differential/subject.ts';
import { sized } from '../../many.ts';

it('orders say what the model says, after every operation of any history', () => {
  const reached = new Set<string>();
  for (let seed = 1; seed <= sized(300, 80); seed++) {
    const { operations, setting } = drawnList(orders, randomOf(seed));
    const found = divergenceOf(operations, setting, orders.compareEvery, kind => reached.add(kind));
    if (found === null) continue;
    const few = shrunk(orders, { operations, setting });
    expect(few.what, JSON.stringify({ seed, setting, ...few }, null, 1)).toBe('no difference');
  }
  // The histories must reach all of these kinds of news.
  const endings = ['filled', 'canceled', 'refused', 'vanished', 'never arrived'].map(one => `ended ${one}`);
  const others = ['adopted', 'late fill', 'reopened', 'resolved', 'trades missing', 'unknown'];
  expect([...reached].toSorted()).toEqual([...endings, ...others].toSorted());
});
