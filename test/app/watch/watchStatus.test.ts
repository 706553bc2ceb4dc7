/** `puntas status --watch` beside the engine of the bot that it watches, until that stops, is killed or loses its files. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { moneyOf, settle, shortDecimal, VirtualClock } from '../../../src/core/index.ts';
import { LiveRun } from '../../../src/app/console/liveRun.ts';
import {
  endOfWatch,
  showUntilEnd,
  watchedLine,
  watchedRows,
  watchStatus,
  type StatusWatch,
} from '../../../src/app/watch/watchStatus.ts';
import { HEARTBEAT_FILES } from '../../../src/live/safety/heartbeat.ts';
import { signedCents } from '../../../src/messages/shownProfit.ts';
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

test('says first what holds the bot, also if nothing does, and counts the first minute in seconds', () => {
  const { status, ...rest } = watch.read();
  const { since } = status.bot;
  const at = since! + 59_000;
  const pause = { what: 'pause', reason: 'a test', at, by: 'person', who: 'ana', until: null } as const;
  const rows = (of: Partial<typeof status>) => watchedRows({ ...rest, status: { ...status, at, ...of } }, 79);
  expect(rows({}).slice(0, 2)).toEqual([
    expect.stringContaining(': runs for 59 s, '),
    expect.stringMatching(/^held by {3}none$/),
  ]);
  expect(rows({ at: at + 1_000 })[0]).toContain(': runs for 1 min, ');
  const heldBy = [pause];
  expect(rows({ heldBy })[1]).toMatch(/^held by .*ana.*: a test$/);
  expect(watchedLine({ ...rest, status: { ...status, heldBy } })).toMatch(/ \| held by [^|]*ana[^|]*: a test \| /);
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

test('shows no figures before all of the recording is read, also if it could not be read at first', () => {
  const files = readdirSync(world.stateDir).filter(name => name.startsWith('run-'));
  const bytes = files.map(name => readFileSync(join(world.stateDir, name)));
  for (const name of files) rmSync(join(world.stateDir, name));
  // A recording that cannot be opened when the view starts, and is there later.
  for (const name of files) mkdirSync(join(world.stateDir, name));
  // A clock on which a replay takes many slices.
  let ticks = 0;
  const slow = {
    now: () => world.clock.now(),
    elapsed: () => world.clock.elapsed() + 30 * ++ticks,
    after: (ms: number, call: () => void) => world.clock.after(ms, call),
  };
  const end = watch.read().status.recordedTo!;
  const late = watchStatus(world.stateDir, slow);
  const before = late.read();
  expect([before.status.run, before.fills]).toEqual([null, []]);
  files.forEach((name, i) => {
    rmSync(join(world.stateDir, name), { recursive: true });
    writeFileSync(join(world.stateDir, name), bytes[i]!);
  });
  let behind = 0;
  let seen = late.read();
  for (let i = 0; i < 5_000 && seen.status.run === null; i++) {
    world.clock.runNext();
    seen = late.read();
    if (seen.catchingUp === null) continue;
    behind++;
    expect([seen.status.run, seen.status.profit, seen.fills]).toEqual([null, null, []]);
  }
  expect(behind).toBeGreaterThan(0);
  expect(seen.status.recordedTo).toBeGreaterThanOrEqual(end);
  late.close();
});

test('of several books shows each with its quotes, its profit and its fills', async () => {
  const desk = worldOf(5, {}, 'desk');
  const bot = await started(desk);
  await desk.clock.advance(5 * 60_000);
  const books = watchStatus(desk.stateDir, desk.clock);
  while (books.read().catchingUp !== null || books.read().status.run === null) await desk.clock.advance(0);
  const seen = books.read();
  const { run, otherBooks, profit, otherProfits } = seen.status;
  const rows = watchedRows(seen, 120);
  expect(rows[0]).toMatch(/^desk on 3 books: runs/);
  const starts = ['btc_mxn', 'eth_mxn', 'btc_usd'].map(book => rows.indexOf(book));
  expect(starts.every((at, i) => at > (starts[i - 1] ?? 0))).toBe(true);
  [run!, ...otherBooks!].forEach((each, i) => {
    const own = rows.slice(starts[i], starts[i + 1]).join('\n');
    for (const { price } of [each.bids![0]!, each.asks![0]!]) expect(own).toContain(` at ${shortDecimal(price)}`);
    const total = (i === 0 ? profit : otherProfits![i - 1]!.profit)!;
    expect(own).toContain(`${signedCents(moneyOf(total.total))} ${total.currency} (`);
  });
  expect(seen.fills.length).toBeGreaterThan(0);
  const times = seen.fills.map(({ at }) => at);
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  for (const { book, price } of seen.fills) {
    const shown = bot.log.some(
      ({ text }) => text.startsWith(`${book}: `) && text.includes(` at ${shortDecimal(price)} `),
    );
    expect(shown, `${book} at ${price}`).toBe(true);
  }
  expect(watchedLine(seen)).toMatch(/\| btc_mxn \| .* mxn \| eth_mxn \| .* mxn \| btc_usd \| .* usd$/);
  expect(watchedRows(watch.read(), 120)[0]).not.toContain('books');
  books.close();
  await bot.stop();
  desk.end();
});

test('ends with the reader of its output, and writes nothing while nobody reads', async () => {
  const clock = new VirtualClock();
  const seen = watch.read();
  const output = { shown: 0, lostTexts: 0, unreadBytes: 0 };
  let isOver = false;
  const ended = showUntilEnd(
    { read: () => seen, close: () => undefined },
    { show: () => void output.shown++, lost: () => output.lostTexts, unread: () => output.unreadBytes },
    clock,
    new AbortController().signal,
  ).finally(() => (isOver = true));
  const views = async (seconds: number) => {
    const before = output.shown;
    await clock.advance(1_000 * seconds);
    await settle();
    return output.shown - before;
  };
  expect(await views(5)).toBe(5);
  output.unreadBytes = 60;
  expect(await views(1_000)).toBe(0);
  output.unreadBytes = 0;
  expect(await views(5)).toBe(5);
  output.lostTexts = 1;
  expect([await views(5), isOver]).toEqual([0, true]);
  expect(await ended).toBeNull();
});

test('a replay that stopped with an error has not read the whole recording', async () => {
  const live = new LiveRun(join(world.stateDir, 'not-there'), world.clock);
  live.start();
  expect(live.isCaughtUp).toBe(false);
  live.stop();
  const there = new LiveRun(world.stateDir, world.clock);
  there.start();
  for (let i = 0; i < 40 && !there.isCaughtUp; i++) await world.clock.advance(100);
  expect([there.isCaughtUp, there.catchingUp]).toEqual([true, null]);
  there.trouble = 'the recording cannot be read';
  expect(there.isCaughtUp).toBe(false);
  there.stop();
});
