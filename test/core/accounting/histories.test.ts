/** Tests of the account and its books against a slow model, after every operation of a random history. */
import { expect, it } from 'vitest';
import { randomOf } from '../../../src/core/index.ts';
import { account, divergenceOf } from '../../differential/account.ts';
import { drawnList, shrunk } from '../../differential/subject.ts';
import { sized } from '../../many.ts';

it('the account says what the sum of all its entries says, after every operation of any history', () => {
  const reached = new Set<string>();
  for (let seed = 1; seed <= sized(500, 60); seed++) {
    const { operations, setting } = drawnList(account, randomOf(seed));
    const found = divergenceOf(operations, setting, account.compareEvery, what => reached.add(what));
    if (found === null) continue;
    const few = shrunk(account, { operations, setting });
    expect(few.what, JSON.stringify({ seed, setting, ...few }, null, 1)).toBe('no difference');
  }
  // The histories must reach all of these events. A residue is the rounding difference of conversions.
  const events = ['conversion', 'halt', 'late opening', 'quotes stop', 'residue', 'resume', 'transfer'];
  expect([...reached].toSorted()).toEqual(events);
});
