/** Before a person lifts what holds a bot, the quotes that it would show then are seen. */
import { mkdirSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { previewAction } from '../../../src/app/actions/previewAction.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { bookLatchIn } from '../../../src/live/safety/bookLatch.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { Folders } from '../../live/states.ts';
import { started, worldOf, type World } from '../../live/world.ts';
import { runsOf } from '../../many.ts';

const folders = new Folders();
afterAll(() => folders.clear());

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

  test('of one of several books has the quotes that the book then gets, by its own inventory', async () => {
    const world = worldOf(5, {}, 'desk');
    worlds.push(world);
    const running = await started(world);
    await world.clock.advance(5 * 60_000);
    // Without other traders, the prices stay.
    world.box.stop();
    const bot = { configFile: undefined, stateDir: world.stateDir };
    const ask = { by: 'ana', via: 'command', reason: 'a look at it', book: 'btc_usd' } as const;
    const clock = Object.assign(Object.create(world.clock) as typeof world.clock, { now: () => Date.now() });
    await executeAction(bot, { ...ask, id: 'a', action: 'halt' }, clock);
    await world.clock.advance(20_000);
    const { lines } = await previewAction(bot, { ...ask, id: 'b', action: 'resume' }, clock);
    const shown = lines.flatMap(line => {
      const [, amount, price] = /^ +(?:bid|ask) \d +- +(\S+) at (\S+)$/.exec(line) ?? [];
      return amount === undefined ? [] : `${Number(amount)} at ${Number(price)}`;
    });
    await executeAction(bot, { ...ask, id: 'c', action: 'resume' }, clock);
    await world.clock.advance(20_000);
    const open = world
      .other()
      .get<Record<'book' | 'price' | 'original_amount', string>[]>('GET', '/api/v3/open_orders');
    const placed = open.flatMap(({ book, price, original_amount: amount }) =>
      book === 'btc_usd' ? `${Number(amount)} at ${Number(price)}` : [],
    );
    expect(shown).toHaveLength(4);
    expect(shown.toSorted()).toEqual(placed.toSorted());
    await running.stop();
  });

  test('lifts the stops of its own level alone, and after a pause leaves the others there until a second resume', async () => {
    const stop = fc.record({
      of: fc.constantFrom(undefined, 'btc_mxn', 'eth_mxn'),
      what: fc.constantFrom('pause', 'halt', 'reduce'),
    });
    const stops = fc.uniqueArray(stop, { selector: ({ of, what }) => `${of} ${what}`, minLength: 1 });
    await fc.assert(
      fc.asyncProperty(stops, fc.constantFrom(undefined, 'btc_mxn', 'eth_mxn'), async (all, book) => {
        const dir = folders.fresh();
        mkdirSync(dir, { mode: 0o700 });
        for (const { of, what } of all) {
          const latch = of === undefined ? latchIn(dir) : bookLatchIn(dir, of);
          const held = { reason: `${what} of ${of ?? 'all'}`, at: 0, by: 'person', who: 'ana' } as const;
          if (what === 'pause') latch.setPause({ ...held, until: null });
          else if (what === 'halt') latch.set(held);
          else latch.setReduce(held);
        }
        const ask = { id: 'a', by: 'ana', via: 'command', reason: 'a look at it', action: 'resume' } as const;
        const bot = { configFile: shippedConfig('desk'), stateDir: dir };
        const { lines } = await previewAction(bot, { ...ask, ...(book && { book }) }, new VirtualClock());
        const isPaused = all.some(({ of, what }) => of === book && what === 'pause');
        const found = all.map(
          ({ of, what }) => lines.find(line => line.includes(`(${what} of ${of ?? 'all'})`))?.split(') ')[1],
        );
        expect(found).toEqual(
          all.map(({ of, what }) => {
            if (of !== book) return 'would stay in force';
            return isPaused && what !== 'pause' ? 'would stay in force until a second resume' : 'would be lifted';
          }),
        );
      }),
      runsOf(100, 25),
    );
  });
});
