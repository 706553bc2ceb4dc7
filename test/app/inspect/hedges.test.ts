/** `puntas hedges`: every hedge with its ways, its costs and its end, as the recordings have them. */
import { afterEach, expect, test } from 'vitest';
import { hedges, hedgesIn } from '../../../src/app/inspect/hedges.ts';
import { replay } from '../../../src/app/inspect/stateCommands.ts';
import { dollars, hedgedWorld } from '../../live/hedge/hedgedWorld.ts';
import { started, type World } from '../../live/world.ts';

const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));

test('every hedge is told with its alternatives and what they would have cost, and the run replays', async () => {
  const made = hedgedWorld(3, { venues: ['rfq', 'conversion', 'book'], routes: { via: ['usd'] }, costDayMax: '9000' });
  worlds.push(made);
  dollars(made, 100);
  const running = await started(made);
  await made.clock.advance(40_000);
  // While it runs, too.
  const before = hedgesIn(made.stateDir);
  expect(before.length).toBeGreaterThan(0);
  await running.stop();
  const [told] = hedgesIn(made.stateDir);
  expect(told).toMatchObject({
    book: 'btc_mxn',
    state: 'completed',
    amount: '0.08',
    dayCost: '0',
    route: { via: 'usd', leg: 2 },
  });
  expect(told?.weighed.map(({ way }) => way)).toEqual(['rfq', 'conversion', 'rfq via usd', 'book', 'wait']);
  expect(told?.weighed.filter(({ not }) => not === null).map(({ way }) => way)).toEqual(['rfq via usd']);
  expect(told?.states.map(({ state }) => state)).toEqual(
    expect.arrayContaining(['requested', 'quoted', 'accepted', 'executing', 'between', 'completed']),
  );
  const text = hedges(made.stateDir, false).join('\n');
  expect(text).toMatch(/completed.*: 0\.08 btc to hedge/);
  expect(text).toMatch(/rfq via usd +-[\d.]+ bps .* taken/);
  const [line] = hedges(made.stateDir, true);
  expect(JSON.parse(line ?? '')).toMatchObject({ hedges: [{ id: told?.id }] });
  expect(replay(made.stateDir, 'all', () => undefined)).toBe(true);
});

test('a folder without a recording is said to be one', () => {
  expect(() => hedges('/nowhere', false)).toThrow('no recording of a run in this directory');
});
