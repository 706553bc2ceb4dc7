/** Cancel: every order is verified to be gone, and new ones come, at a good moment and at a bad one. */
import { describe, expect, test } from 'vitest';
import { actionsIn } from '../../../src/app/actions/actionJournal.ts';
import type { ActionEnd } from '../../../src/app/actions/actions.ts';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { started, worldOf, type World } from '../world.ts';

const SECOND = 1_000;
const ours = (world: World): string[] =>
  [...world.box.exchange.venue.accounts.get(world.box.account.id)!.active.values()].map(({ originId }) => originId!);

async function cancel(
  world: World,
  id = 'c-1',
): Promise<{ readonly end: ActionEnd; readonly live: readonly number[] }> {
  let end: ActionEnd | null = null;
  const ask = { id, action: 'cancel', reason: 'they look odd', by: 'ann', via: 'command' } as const;
  void executeAction({ stateDir: world.stateDir }, ask, world.clock).then(told => (end = told));
  const live: number[] = [];
  for (let ms = 0; end === null && ms < 300_000; ms += 100) {
    await world.clock.advance(100);
    live.push(ours(world).length);
  }
  return { end: end!, live };
}

describe('puntas cancel', () => {
  test('takes every order out, says that it is verified, and new ones come', async () => {
    const world = worldOf(181);
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    const before = ours(world);
    expect(before.length).toBeGreaterThan(0);
    const { end, live } = await cancel(world);
    expect(end.end).toBe('done');
    expect(end.lines[0]).toMatch(/^[56] orders were live; verified: no open orders of demo left on btc_mxn$/);
    expect(live).toContain(0);
    await world.clock.advance(10 * SECOND);
    expect(ours(world).length).toBeGreaterThan(0);
    expect(ours(world).filter(id => before.includes(id))).toEqual([]);
    expect(actionsIn(world.stateDir).map(({ action, end: of }) => [action, of])).toEqual([['cancel', 'done']]);
    await bot.stop();
    expect(replay(world.stateDir, 'all', () => undefined)).toBe(true);
    world.end();
  });

  test('names the book whose rules cannot be read if no run could follow, and cancels nothing then', async () => {
    const world = worldOf(183);
    let isLost = false;
    const bot = await started(world, {
      fate: ({ target }) => (isLost && target.includes('available_books') ? 'lost' : 'arrives'),
    });
    await world.clock.advance(20 * SECOND);
    isLost = true;
    const { end } = await cancel(world);
    expect([end.end, end.lines[0]]).toEqual([
      'refused',
      'nothing was canceled: the next run could not start within 120 s, because the rules of btc_mxn could not be read',
    ]);
    await bot.stop();
    world.end();
  });

  test('waits for no good moment: it goes at once while an order is unknown, and says what is not verified', async () => {
    const world = worldOf(182);
    let isLost = false;
    const bot = await started(world, {
      fate: ({ method }) => (isLost && method === 'POST' ? 'unanswered' : 'arrives'),
    });
    await world.clock.advance(20 * SECOND);
    isLost = true;
    for (const order of [...world.box.exchange.venue.accounts.get(world.box.account.id)!.active.values()])
      world.box.exchange.venue.cancel(order);
    await world.clock.advance(4 * SECOND);
    isLost = false;
    const { end, live } = await cancel(world);
    expect(['done', 'refused']).toContain(end.end);
    expect(live).toContain(0);
    await world.clock.advance(120 * SECOND);
    expect(ours(world).length).toBeGreaterThan(0);
    await bot.stop();
    expect(replay(world.stateDir, 'all', () => undefined)).toBe(true);
    world.end();
  });

  test('leaves a pause where it is: after it nothing is quoted either', async () => {
    const world = worldOf(183);
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    latchIn(world.stateDir).setPause({ reason: 'lunch', at: 0, by: 'person', until: null });
    await world.clock.advance(4 * SECOND);
    const { end } = await cancel(world);
    expect(end.lines.at(-1)).toMatch(/^run \d+ resumed after \S+ s \(paused: lunch\)$/);
    await world.clock.advance(20 * SECOND);
    expect(ours(world)).toEqual([]);
    await bot.stop();
    world.end();
  });

  test('of a bot that does not run is taken back, and says what else takes orders out', async () => {
    const world = worldOf(184);
    const { end } = await cancel(world);
    expect(end.end).toBe('refused');
    expect(end.lines.join()).toMatch(/no bot accepted the request within 10 s, .*puntas halt --cancel/);
    world.end();
  });
});
