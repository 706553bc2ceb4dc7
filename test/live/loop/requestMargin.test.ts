/** A bot that wants more requests than the exchange allows: its own budgets keep below the limits, and nobody locks it out. */
import { expect, test, vi } from 'vitest';
import type { WireRequest } from '../../../src/core/index.ts';
import { started, worldOf } from '../world.ts';

const MINUTE = 60_000;

/** The most of them in any minute. */
function mostIn(times: readonly number[]): number {
  let most = 0;
  for (let last = 0, first = 0; last < times.length; last++) {
    while (times[last]! - times[first]! >= MINUTE) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

test('keeps a tenth of what the exchange allows free, however much it wants, and is never told that it asks too often', async () => {
  const world = worldOf(3, {
    timing: { decideEveryMs: 100, privatePollMs: 450 },
    strategy: { refreshToleranceBps: 0, levels: 6 },
    halts: { messagesPerMinute: 100_000, fillsPer10Min: 100_000 },
  });
  const { clock, box } = world;
  const respond = vi.spyOn(box.exchange, 'respond');
  const asked: { readonly at: number; readonly scope: 'public' | 'private' }[] = [];
  const onArrival = ({ headers, method }: WireRequest) => {
    const scope = headers['authorization'] === undefined ? 'public' : 'private';
    if (method !== 'DELETE') asked.push({ at: clock.elapsed(), scope });
  };
  const running = await started(world, { onArrival });
  await clock.advance(3 * MINUTE);
  const { failure } = await running.stop();
  const most = (scope: string) => mostIn(asked.filter(one => one.scope === scope).map(({ at }) => at));
  const answered = respond.mock.results.flatMap(({ type, value }) => (type === 'return' ? [value.status] : []));
  world.end();
  expect(failure).toBe(null);
  expect(answered.filter(status => status === 420 || status === 429)).toEqual([]);
  // It wanted more: its budget was spent to the last place.
  expect(running.log.some(({ text }) => text.includes('budget'))).toBe(true);
  expect(most('private')).toBe(270);
  expect(most('public')).toBeLessThanOrEqual(54);
});
