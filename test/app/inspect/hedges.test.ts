/** `puntas hedges`: every hedge with its ways, its costs and its end, as the recordings have them. */
import { afterEach, expect, test } from 'vitest';
import { hedges, hedgesIn, linesOf, type ListedHedge } from '../../../src/app/inspect/hedges.ts';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { LineWriter } from '../../../src/live/recording/recording.ts';
import { recorderIn } from '../../../src/live/recording/recordings.ts';
import { readShipped } from '../../../src/wiring/configFile.ts';
import { Folders } from '../../live/states.ts';
import { dollars, hedgedWorld } from '../../hedge/hedgedWorld.ts';
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

const AT = Date.UTC(2026, 10, 21, 8, 30, 15, 250);
const listed: ListedHedge = {
  ...{ book: 'btc_mxn', run: 4, id: 'h-7', at: AT, state: 'unknown', amount: '0.08', why: 'no answer' },
  ...{ acceptedAt: AT + 1, conversionId: null, inventory: '0.31', middle: '1500000', costMax: '123.4567891' },
  ...{ dayCost: '77.7777777', flatten: { id: 'f-1', cost: '55.5' } },
  weighed: [
    { way: 'rfq', cost: '12.3456789', bps: 1.26, not: 'dearer' },
    { way: 'conversion', cost: null, bps: null, not: 'no offer' },
    { way: 'rfq via usd', cost: '-9.87654321', bps: -10.04, not: null },
  ],
  offer: {
    ...{ way: 'rfq', id: 'o-9', lifeMs: 5_000 },
    ...{ give: { currency: 'usd', amount: '6900' }, get: { currency: 'mxn', amount: '119000' } },
  },
  route: { via: 'usd', leg: 2, holds: '6901', worth: '119100', least: '1', until: null },
  states: [
    { at: AT, state: 'requested', why: null },
    { at: AT + 61_005, state: 'unknown', why: 'no answer' },
  ],
};
const bare: ListedHedge = {
  ...{ book: 'eth_usd', run: 1, id: 'h-8', at: AT, state: 'requested', amount: '-1.5', why: null },
  ...{ acceptedAt: null, conversionId: null, weighed: [], offer: null },
  states: [{ at: AT, state: 'requested', why: null }],
};

test('each figure of a hedge has its own place and currency in the text, and what it lacks is left out', () => {
  expect(linesOf(listed)).toEqual([
    'h-7  2026-11-21T08:30:15.250Z  unknown (no answer): 0.08 btc to hedge',
    '  inventory 0.31, mid price 1500000, maximum cost 123.457 mxn, earlier hedges of the UTC day cost at most 77.7778 mxn, earlier hedges of this flatten cost 55.5 mxn',
    '  rfq                1.3 bps  12.3457 mxn  dearer',
    '  conversion    no offer',
    '  rfq via usd      -10.0 bps  -9.87654 mxn  taken',
    '  6900 usd for 119000 mxn by rfq, o-9',
    '  route over usd, leg 2 of 2; the bot holds 6901 usd from this route, valued at 119100 mxn',
    '  requested 08:30:15.250, unknown 08:31:16.255',
  ]);
  expect(linesOf(bare)).toEqual([
    'h-8  2026-11-21T08:30:15.250Z  requested: 1.5 eth to acquire',
    '  requested 08:30:15.250',
  ]);
});

test('a hedge lists each of its states and reasons once, in order, and the last run that changed it', () => {
  const folders = new Folders();
  const dir = folders.fresh();
  const setup = JSON.stringify(readShipped('sandbox'));
  const writer = new LineWriter();
  const { book: _book, run: _run, states: _states, ...row } = bare;
  const changes = [
    ['requested', null, 1],
    ['requested', null, 1],
    ['requested', 'waits for a price', 1],
    ['quoted', 'waits for a price', 2],
    ['quoted', 'waits for a price', 2],
    ['failed', 'no price', 2],
  ] as const;
  for (const run of [1, 2]) {
    const recorder = recorderIn(dir, { run, startedAt: AT, setup, format: 2 });
    for (const [n, [state, why, of]] of changes.entries()) {
      if (of !== run) continue;
      recorder.write([writer.input({ kind: 'hedge', at: AT + n, row: { ...row, id: 'h-1', state, why } })]);
      const other = { ...row, id: `other-${run}`, state, why: 'another hedge' };
      recorder.write([writer.input({ kind: 'hedge', at: AT + n, row: other })]);
    }
    recorder.close();
  }
  const found = hedgesIn(dir);
  expect(found.map(({ id, run }) => [id, run])).toEqual([
    ['h-1', 2],
    ['other-1', 1],
    ['other-2', 2],
  ]);
  expect(found[0]!.states).toEqual([
    { at: AT, state: 'requested', why: null },
    { at: AT + 2, state: 'requested', why: 'waits for a price' },
    { at: AT + 3, state: 'quoted', why: 'waits for a price' },
    { at: AT + 5, state: 'failed', why: 'no price' },
  ]);
  expect(JSON.parse(hedges(dir, true)[0]!)).toEqual({ hedges: JSON.parse(JSON.stringify(found)) as unknown });
  folders.clear();
});
