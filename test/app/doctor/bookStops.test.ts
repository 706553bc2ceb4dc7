/** Findings about the stops of single books. */
import { afterAll, expect, test } from 'vitest';
import { stateFindings } from '../../../src/app/doctor/machine.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { bookLatchIn } from '../../../src/live/safety/bookLatch.ts';
import { Folders, opened } from '../../live/states.ts';
import { sandboxConfig } from '../../live/world.ts';

const folders = new Folders();
afterAll(() => folders.clear());

test('the stop of a book fails the check only if the configuration has this book', async () => {
  const dir = folders.fresh();
  opened(dir).close();
  for (const book of ['btc_usd', 'sol_mxn'])
    bookLatchIn(dir, book).set({ reason: 'odd prices', at: 1, by: 'person', who: 'ann' });
  const config = sandboxConfig({ state: { dir } }, 'desk');
  const found = await stateFindings(config, { configFile: undefined, stateDir: dir }, new VirtualClock());
  expect(found.filter(({ check }) => check === 'halt')).toMatchObject([
    { result: 'fail', says: 'quoting of btc_usd is stopped or limited by ann: odd prices' },
    {
      result: 'warn',
      says: 'quoting of sol_mxn is stopped or limited by ann: odd prices; this configuration does not quote sol_mxn',
    },
  ]);
  for (const { todo } of found.filter(({ check }) => check === 'halt'))
    expect(todo).toMatch(/--book (btc_usd|sol_mxn)/);
});
