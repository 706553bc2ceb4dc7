/** Charts over five reloads of a real bot: one line for each, with its reason and the digest of its file. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { mergedChanges, notedChangesIn, withNotes } from '../../../src/app/console/history/configHistory.ts';
import { LiveRun } from '../../../src/app/console/liveRun.ts';
import { longHistory } from '../../../src/app/console/history/longHistory.ts';
import { digestOf } from '../../../src/app/run/reloading.ts';
import type { ShownChange } from '../../../src/console/index.ts';
import { money, moneyOf, pairOf } from '../../../src/core/index.ts';
import { ledgerFileIn } from '../../../src/live/state/ledgerFile.ts';
import { recordingName, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { ReloadedBot } from '../../live/loop/reloadedBot.ts';

const MINUTE = 60_000;
const SPREADS = [13, 19, 12, 22, 15] as const;
let live: LiveRun | null = null;
afterEach(() => live?.stop());

/** The long history as a console that is opened now draws it. */
async function drawn({ world: { stateDir, clock } }: ReloadedBot) {
  live?.stop();
  live = new LiveRun(stateDir, clock);
  live.start();
  while (live.catchingUp !== null) await clock.advance(0);
  const { engine, seen, history } = live.replay!.now!;
  const ledger = (await ledgerFileIn(stateDir, clock))!;
  const [major, minor] = pairOf(ledger.book!);
  const noted = notedChangesIn(stateDir)();
  const current = engine.book.snapshot(seen.at!).booked.sinceOpening;
  const long = longHistory({
    ...{ run: live.replay!.run, at: seen.at!, names: { book: ledger.book!, major, minor }, ledger, current },
    changes: mergedChanges(live.changesOf(), noted),
    otherBooks: [],
    recordedFrom: live.runs[0]!.from,
  })!;
  return { day: withNotes(history.shown.changes, noted), long, current, runs: live.runs };
}

test('five reloads are five lines with reasons and digests, and their results add up to the profit', async () => {
  const bot = new ReloadedBot(111);
  await bot.start();
  const expected: Partial<ShownChange>[] = [];
  let before: number = 16;
  for (const [i, halfSpreadBps] of SPREADS.entries()) {
    await bot.world.clock.advance(3 * MINUTE);
    bot.change({ strategy: { halfSpreadBps } });
    const answer = await bot.ask(false, null, `reason ${i}`);
    expect(answer.end).toBe('taken');
    expected.push({
      text: `strategy.halfSpreadBps: ${before} -> ${halfSpreadBps}`,
      ...{
        reason: `reason ${i}`,
        by: 'ann',
        digest: digestOf(bot.text),
        run: recordingsIn(bot.world.stateDir).at(-1)!.run,
      },
    });
    before = halfSpreadBps;
  }
  await bot.world.clock.advance(3 * MINUTE);

  const { day, long, current, runs } = await drawn(bot);
  expect(day).toMatchObject(expected);
  expect(day).toHaveLength(5);
  const shown = expected.map(each => ({ ...each, digest: each.digest!.slice(0, 8) }));
  expect(long.changes).toMatchObject(shown);
  expect(long.changes).toHaveLength(5);
  expect(new Set(long.changes.map(({ digest }) => digest)).size).toBe(5);
  expect(long.changes.map(({ at }) => at)).toEqual(runs.slice(1).map(({ from }) => from));
  expect(long.missing).toEqual([]);

  // The results are exact: together they are the profit since the opening, and each has its fills.
  expect(long.results.map(({ change }) => change?.reason ?? null)).toEqual([null, ...expected.map(e => e.reason)]);
  const sum = long.results.reduce((all, { net }) => all + moneyOf(net!), 0n);
  expect(money(sum)).toBe(current.profit.total);
  const fills = long.results.reduce((all, { fills: own }) => all + own!, 0);
  expect(fills).toBeGreaterThan(10);
  const [bought, sold] = [8, 10].map(column => long.opening.points.reduce((all, point) => all + point[column]!, 0));
  expect(bought! + sold!).toBe(fills);
  expect(long.opening.points.at(-1)![3]).toBeCloseTo(Number(current.profit.total) / 1e18, 6);

  // The log of reloads outlives the recordings.
  for (const { run } of runs.slice(0, -1)) rmSync(join(bot.world.stateDir, recordingName(run)));
  const after = await drawn(bot);
  expect(after.day).toEqual([]);
  expect(after.long.changes.map(({ text, digest, reason }) => ({ text, digest, reason }))).toEqual(
    shown.map(({ text, digest, reason }) => ({ text, digest, reason })),
  );
  expect(after.long.results.map(({ net }) => net)).toEqual(long.results.map(({ net }) => net));
  expect(await bot.running.stop()).toMatchObject({ left: [], failure: null });
  bot.world.end();
});
