/** End of the view of a running bot: not before its last figures are shown, whatever became of the bot. */
import { expect, test } from 'vitest';
import { endOfWatch, type WatchedStatus } from '../../../src/app/watch/watchStatus.ts';

test.each(['runs', 'stopped', 'silent', 'never ran'] as const)(
  'of a bot that is %s ends once all is read, unless the bot runs',
  state => {
    const seen = (catchingUp: number | null) =>
      ({ status: { bot: { state } }, catchingUp }) as unknown as WatchedStatus;
    for (const share of [0, 0.5, 1]) expect(endOfWatch(seen(share))).toBeNull();
    expect(endOfWatch(seen(null)) === null).toBe(state === 'runs');
  },
);
