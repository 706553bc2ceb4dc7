/** A change of runs is the bot's own affair: the page goes on over cancel-all, reloads, restarts and crashes. */
import { afterEach, describe, expect, test } from 'vitest';
import { LiveRun } from '../../../src/app/console/liveRun.ts';
import { PastMoments } from '../../../src/app/console/pastMoments.ts';
import { botOfPast, consoleView } from '../../../src/app/console/consoleView.ts';
import type { ConsoleView } from '../../../src/console/index.ts';
import { WatchedBot } from './watchedBot.ts';

let bot: WatchedBot | null = null;
afterEach(() => bot?.close());

type Seen = {
  readonly view: ConsoleView;
  readonly firstPoint: number;
  readonly points: number;
  readonly fills: number;
};

/** What a page that is opened anew would show. */
async function pageOf({ dir, clock }: WatchedBot): Promise<Seen> {
  const live = new LiveRun(dir, clock);
  live.start();
  while (live.catchingUp !== null) await clock.advance(0);
  const outside = { bot: botOfPast('running'), runs: live.runs, catchingUp: null, budgets: null, ledger: null };
  const view = consoleView(live.replay!, { ...outside, kind: 'live', events: [], note: null })!;
  const { recent, fills } = live.replay!.now!.history.shown;
  live.stop();
  return { view, firstPoint: recent[0]![0]!, points: recent.length, fills: fills.length };
}

describe('the page', () => {
  test('keeps its chart, fills, events and counts, whatever becomes of the runs', async () => {
    const views: ConsoleView[] = [];
    bot = new WatchedBot(71, ({ view }) => void views.push(view));
    bot.start();
    await bot.clock.advance(120_000);
    let before = await pageOf(bot);
    expect(before.fills).toBeGreaterThan(0);
    const runs = new Set([before.view.run]);
    for (const change of ['cancel', 'restart', 'crash', 'cancel'] as const) {
      if (change === 'cancel')
        void bot.act({ action: 'cancel', by: 'ana', via: 'command', reason: 'to see', id: `c${runs.size}` } as never);
      else {
        bot.kill();
        await bot.clock.advance(change === 'crash' ? 40_000 : 3_000);
        bot.start();
      }
      await bot.clock.advance(30_000);
      const after = await pageOf(bot);
      expect(runs.has(after.view.run)).toBe(false);
      runs.add(after.view.run);
      expect(after.firstPoint).toBe(before.firstPoint);
      expect(after.points).toBeGreaterThan(before.points);
      expect(after.fills).toBeGreaterThanOrEqual(before.fills);
      expect(after.view.fills.count).toBeGreaterThanOrEqual(before.view.fills.count!);
      // Nothing that was shown is gone.
      for (const { text, at } of before.view.events.slice(0, 10))
        expect(after.view.events.map(e => `${e.at} ${e.text}`)).toContain(`${at} ${text}`);
      for (const { id, at } of before.view.fills.last.slice(0, 10))
        expect(after.view.fills.last.map(fill => `${fill.id} ${fill.at}`)).toContain(`${id} ${at}`);
      for (const side of [0, 1])
        for (const [name, count] of Object.entries(before.view.counts[side]!.counts))
          expect(after.view.counts[side]!.counts[name]).toBeGreaterThanOrEqual(count);
      before = after;
    }
    // The page that was open all the time never lost anything either.
    for (const [i, view] of views.entries())
      expect(view.fills.count).toBeGreaterThanOrEqual(views[Math.max(0, i - 1)]!.fills.count!);
    expect(new Set(views.map(({ run }) => run))).toEqual(runs);

    // A moment of the last run, by the slider, has what came before it too.
    const moments = new PastMoments(bot.dir, bot.clock, (replay, note, all) =>
      consoleView(replay, {
        ...{ kind: 'past', bot: botOfPast('running'), runs: all, catchingUp: null, budgets: null },
        ledger: null,
        events: [],
        note,
      }),
    );
    const past = await moments.at(
      before.view.at - 5_000,
      before.view.runs,
      new AbortController().signal,
      () => undefined,
    );
    moments.close();
    expect(past!.history.recent[0]![0]).toBe(before.firstPoint);
    expect(past!.view.run).toBe(before.view.run);
  });
});
