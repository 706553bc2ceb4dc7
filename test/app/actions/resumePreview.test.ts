/** Before a person lifts what holds a bot, the quotes that it would show then are seen. */
import { afterEach, describe, expect, test } from 'vitest';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { previewAction } from '../../../src/app/actions/previewAction.ts';
import { started, worldOf, type World } from '../../live/world.ts';

const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));

describe('the preview of a resume', () => {
  test.each(['halt', 'pause'] as const)('of a %s has a row for each quote that would be', async action => {
    const world = worldOf(61);
    worlds.push(world);
    const running = await started(world);
    await world.clock.advance(20_000);
    const bot = { configFile: undefined, stateDir: world.stateDir };
    const ask = { id: 'a', by: 'ana', via: 'command', reason: 'a look at it' } as const;
    // A bot is known to run by the age of a file, which is of the machine's own time.
    const clock = Object.assign(Object.create(world.clock) as typeof world.clock, { now: () => Date.now() });
    expect((await executeAction(bot, { ...ask, action }, clock)).end).toBe('done');
    await world.clock.advance(20_000);
    const { lines } = await previewAction(bot, { ...ask, id: 'b', action: 'resume' }, clock);
    const text = lines.join('\n');
    expect(text).toMatch(/ would be lifted$/m);
    for (const row of ['ask 3', 'ask 2', 'ask 1', 'bid 1', 'bid 2', 'bid 3'])
      expect(text).toMatch(new RegExp(`^ +${row} +- +0\\.\\d+ at \\d+`, 'm'));
    expect(text).not.toContain('then: none');
    await running.stop();
  });

  test.each([
    { set: ['halt', 'pause'], isQuoting: false },
    { set: ['reduce', 'pause'], isQuoting: false },
    { set: ['halt', 'reduce'], isQuoting: true },
    { set: ['reduce'], isQuoting: true },
  ] as const)('of $set has quotes exactly if no stop stays in force', async ({ set, isQuoting }) => {
    const world = worldOf(61);
    worlds.push(world);
    const running = await started(world);
    await world.clock.advance(20_000);
    const bot = { configFile: undefined, stateDir: world.stateDir };
    const ask = { by: 'ana', via: 'command', reason: 'a look at it' } as const;
    const clock = Object.assign(Object.create(world.clock) as typeof world.clock, { now: () => Date.now() });
    for (const action of set) await executeAction(bot, { ...ask, id: action, action }, clock);
    await world.clock.advance(20_000);
    const { lines } = await previewAction(bot, { ...ask, id: 'b', action: 'resume' }, clock);
    const then = lines.filter(line => /^ +(?:bid|ask) \d/.test(line));
    expect(lines.some(line => line.includes('would stay in force'))).toBe(!isQuoting);
    expect([set, lines, then.length > 0]).toEqual([set, lines, isQuoting]);
    await running.stop();
  });
});
