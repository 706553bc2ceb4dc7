/** `puntas status --watch` beside the engine of the bot that it watches, until that stops, is killed or loses its files. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  endOfWatch,
  watchedLine,
  watchedRows,
  watchStatus,
  type StatusWatch,
} from '../../../src/app/watch/watchStatus.ts';
import { HEARTBEAT_FILES } from '../../../src/live/safety/heartbeat.ts';
import { started, worldOf, type Running, type World } from '../../live/world.ts';

let world: World;
let running: Running;
let watch: StatusWatch;
let isStopped = false;
beforeEach(async () => {
  world = worldOf(2);
  running = await started(world);
  isStopped = false;
  await world.clock.advance(60_000);
  watch = watchStatus(world.stateDir, world.clock);
  await world.clock.advance(3_000);
});
afterEach(async () => {
  watch.close();
  if (!isStopped) await running.stop();
  world.end();
});

test('shows regime, quotes, inventory, limits, profit and the last fills, in 80 columns and in 40', () => {
  const seen = watch.read();
  expect([endOfWatch(seen), seen.catchingUp]).toEqual([null, null]);
  const run = seen.status.run!;
  expect(seen.fills.length).toBeGreaterThan(0);
  expect(seen.fills.length).toBeLessThanOrEqual(5);
  for (const width of [79, 39]) {
    const rows = watchedRows(seen, width);
    expect(rows.filter(row => row.length > width)).toEqual([]);
    const names = rows.map(row => row.slice(0, 10).trim()).filter(name => name !== '');
    expect(names.slice(1)).toEqual(
      expect.arrayContaining(['regime', 'bid', 'ask', 'market', 'inventory', 'limits', 'fills', 'profit', 'last']),
    );
    // The rows start again in the same column, and lose nothing.
    const text = rows.map(row => row.slice(10)).join(' ');
    for (const [best] of [run.bids!, run.asks!]) expect(text).toContain(` at ${Number(best!.price)}`);
  }
});

test('is one line without control characters where the output is not a terminal', () => {
  const line = watchedLine(watch.read());
  expect(line).toMatch(/^\d\d:\d\d:\d\d UTC \| runs for \d+ min \| \w+.* \| bid .* at .* \| ask .* at .* \| fills \d+/);
  expect(line).not.toMatch(/[\u0000-\u001f\u007f]/);
});

test('follows the bot, and ends when it stops', async () => {
  const before = watch.read().status.recordedTo!;
  await world.clock.advance(5_000);
  expect(watch.read().status.recordedTo).toBeGreaterThan(before);
  await running.stop();
  isStopped = true;
  await world.clock.advance(3_000);
  const seen = watch.read();
  expect(seen.status.bot.state).toBe('stopped');
  expect(endOfWatch(seen)).toBe('the bot has stopped cleanly');
});

test('says of a bot that was killed that it sends no heartbeat, and shows none of its quotes as live', () => {
  const file = join(world.stateDir, HEARTBEAT_FILES.bot);
  const beat = JSON.parse(readFileSync(file, 'utf8')) as { process: object };
  // No process has such a number.
  writeFileSync(file, JSON.stringify({ ...beat, process: { ...beat.process, pid: 2 ** 22 + 1 } }));
  const seen = watch.read();
  expect(endOfWatch(seen)).toMatch(/down or sends no heartbeat, and was not stopped/);
  const rows = watchedRows(seen, 79);
  expect(rows[0]).toContain('NO HEARTBEAT');
  expect(rows.filter(row => /^(?:bid|ask) /.test(row)).map(row => row.slice(10))).toEqual(['unknown', 'unknown']);
});

test('ends with one line when the state directory is removed', async () => {
  await running.stop();
  isStopped = true;
  rmSync(world.stateDir, { recursive: true });
  await world.clock.advance(3_000);
  expect(endOfWatch(watch.read())).toBe('the state directory has no bot: none has run yet, or its files were removed');
});
