import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACTION_NAMES, type ActionAsk } from '../../../src/app/actions/actions.ts';
import { actionsIn, noteAction } from '../../../src/app/actions/actionJournal.ts';
import { BesideRun } from '../../../src/app/console/besideRun.ts';
import { actionEvents, consoleActions, shownParameters } from '../../../src/app/console/consoleActions.ts';
import { ConsoleReplayer } from '../../../src/app/console/consoleReplayer.ts';
import type { Config } from '../../../src/config.ts';
import { moneyOf, VirtualClock } from '../../../src/core/index.ts';
import { flattenIn } from '../../../src/live/safety/flatten.ts';
import { heartbeatIn } from '../../../src/live/safety/heartbeat.ts';
import { bookLatchIn } from '../../../src/live/safety/bookLatch.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { runsOf } from '../../many.ts';

let dir: string;
beforeAll(() => void (dir = mkdtempSync(join(tmpdir(), 'puntas-console-'))));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const configOf = (stateDir: string) => ({ state: { dir: stateDir } }) as Config;

describe('an action of the console', () => {
  const ask = { reason: 'odd fills', by: 'Ana', minutes: null, costMax: null };
  const quiet = () => undefined;

  test('is what was previewed: a pause for so long from the preview on, once, in the journal', async () => {
    const stateDir = mkdtempSync(join(dir, 'state-'));
    const clock = new VirtualClock(1_000_000);
    const now = clock.now();
    const desk = new ConsoleReplayer({ config: configOf(stateDir), bot: { stateDir } }, clock);
    const actions = consoleActions(
      { stateDir },
      clock,
      () => false,
      (asked, onShare) => desk.preview(asked, onShare),
    );
    const prepared = await actions.prepare({ ...ask, action: 'pause', minutes: 10 }, quiet);
    expect(prepared.lines.length).toBeGreaterThan(0);
    expect([actionsIn(stateDir), latchIn(stateDir).readPause()]).toEqual([[], null]);
    await clock.advance(30_000);
    expect(await prepared.execute()).toMatchObject({ end: 'done' });
    expect(latchIn(stateDir).readPause()).toMatchObject({ reason: 'odd fills', who: 'Ana', until: now + 600_000 });
    expect(actionsIn(stateDir)).toMatchObject([{ action: 'pause', by: 'Ana', via: 'console', end: 'done' }]);
  });

  test('is refused exactly if a stop that it would replace or end has changed since its preview', async () => {
    const pause = fc.option(
      fc.record({ reason: fc.constantFrom('lunch', 'odd'), until: fc.constantFrom(null, 3_000) }),
    );
    const stops = fc.record({ pause, isReduceOnly: fc.boolean() });
    // Stops of the whole bot, of the book of the action, and of another book.
    const all = fc.tuple(stops, stops, stops);
    const [own, other] = ['eth_mxn', 'usd_mxn'];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('pause', 'resume'),
        fc.boolean(),
        all,
        fc.option(all),
        fc.constantFrom(1_000, 5_000),
        async (action, isOfBook, before, after, waitMs) => {
          const stateDir = mkdtempSync(join(dir, 'state-'));
          const clock = new VirtualClock(1_000_000);
          const start = clock.now();
          const latches = [latchIn(stateDir), bookLatchIn(stateDir, own), bookLatchIn(stateDir, other)];
          const set = (all: typeof before) => {
            for (const [i, { pause, isReduceOnly }] of all.entries()) {
              const [latch, found] = [latches[i]!, latches[i]!.readPause()];

              if (found !== null) latch.endPause(found, { reason: 'over', at: clock.now(), by: 'person' });
              latch.liftReduce('over', clock.now());
              const after = pause?.until ?? null;
              const until = after === null ? null : start + after;
              if (pause !== null) latch.setPause({ reason: pause.reason, at: start, by: 'person', who: 'Bea', until });
              if (isReduceOnly) latch.setReduce({ reason: 'losses', at: start, by: 'bot' });
            }
          };
          const basis = (all: typeof before) =>
            all.flatMap(({ pause, isReduceOnly }, i) => {
              const isOver = start + (pause?.until ?? Infinity) <= clock.now();
              const isAsked = action === 'resume' || i === 0 || (i === 1 && isOfBook);
              return isAsked ? [isOver ? null : pause, action === 'resume' && isReduceOnly] : [];
            });
          set(before);
          const bot = { stateDir, configFile: shippedConfig('desk') };
          const actions = consoleActions(
            bot,
            clock,
            () => false,
            async () => [],
          );
          const request = { ...ask, action, ...(isOfBook && { book: own }) };
          const prepared = await actions.prepare(request, quiet);
          const seen = basis(before);
          await clock.advance(waitMs);
          if (after !== null) set(after);
          const isChanged = JSON.stringify(basis(after ?? before)) !== JSON.stringify(seen);
          const { lines } = await prepared.execute();
          const refusal = 'the stops in force have changed since the preview; preview the action again';
          expect(lines.includes(refusal)).toBe(isChanged);
        },
      ),
      runsOf(300, 60),
    );
  });

  test('closes everything only where there is a hedger, at no more than was allowed', async () => {
    const stateDir = mkdtempSync(join(dir, 'state-'));
    const previews: ActionAsk[] = [];
    let hasHedger = false;
    const actions = consoleActions(
      { stateDir },
      new VirtualClock(1_000_000),
      () => hasHedger,
      async asked => {
        previews.push(asked);
        return ['it would cost about 12 mxn'];
      },
    );
    expect(actions.names).not.toContain('flatten');
    hasHedger = true;
    expect(actions.names).toEqual([...ACTION_NAMES]);
    expect(await actions.cost('Ana', quiet)).toEqual(['it would cost about 12 mxn']);
    const prepared = await actions.prepare({ ...ask, action: 'flatten', costMax: '20.50' }, quiet);
    expect(prepared.lines).toEqual([
      'total cost: at most 20.50 in quote currency, fees included',
      'it would cost about 12 mxn',
    ]);
    // Each under an id of its own, which is not that of what is done.
    expect(previews).toMatchObject([
      { action: 'flatten', by: 'Ana' },
      { costMax: '20.50', reason: 'odd fills' },
    ]);
    expect(await prepared.execute()).toMatchObject({
      end: 'refused',
      lines: [expect.stringContaining('no recorded run shows')],
    });
    const [entry] = actionsIn(stateDir);
    expect(entry).toMatchObject({ action: 'flatten', costMax: '20.50', via: 'console', end: 'refused' });
    expect(previews.map(({ id }) => id)).not.toContain(entry?.id);
    for (const costMax of [null, '', '0', '-1', '1e9'])
      await expect(actions.prepare({ ...ask, action: 'flatten', costMax }, quiet)).rejects.toThrow('--max-cost');
  });

  test('that changed a parameter is among the last 20 changes, the newest first, and a refused one is not', () => {
    const stateDir = mkdtempSync(join(dir, 'state-'));
    for (let n = 0; n < 60; n++)
      noteAction(
        stateDir,
        n,
        {
          ...{ id: `s-${n}`, action: 'set', reason: 'odd fills', by: 'Ana', via: 'console' },
          ...{ key: 'strategy.halfSpreadBps', value: String(n), from: '1' },
        },
        { end: n % 2 === 0 ? 'done' : 'refused', lines: [] },
      );
    const { changes } = shownParameters({ stateDir, configFile: shippedConfig('sandbox') });
    expect(changes.map(({ at }) => at)).toEqual(Array.from({ length: 20 }, (_, i) => 58 - 2 * i));
  });

  test('is shown beside those of commands, with who and why, and so is what holds', () => {
    const stateDir = mkdtempSync(join(dir, 'state-'));
    const end = { end: 'done', lines: [] } as const;
    const asked = { id: '1', reason: 'odd fills', by: 'Ana' } as const;
    noteAction(stateDir, 5, { ...asked, action: 'pause', untilMs: 600_000, via: 'console' }, end);
    noteAction(stateDir, 6, { ...asked, action: 'cancel', via: 'command' }, { end: 'refused', lines: ['nobody runs'] });
    expect(actionEvents(stateDir)()).toEqual([
      { at: 5, who: 'Ana', level: 'warn', text: 'pause until 1970-01-01T00:10Z in the console: odd fills' },
      { at: 6, who: 'Ana', level: 'error', text: 'cancel: odd fills; refused: nobody runs' },
    ]);
    const clock = new VirtualClock(1_000_000);
    const latch = latchIn(stateDir);
    latch.setReduce({ reason: 'losses', at: 1, by: 'bot' });
    latch.setPause({ reason: 'lunch', at: 2, by: 'person', who: 'Ana', until: clock.now() + 1_000 });
    const beside = new BesideRun(configOf(stateDir), clock);
    const shown = () => beside.bot(null).halts.map(({ what, by, reason }) => `${what} ${by} ${reason}`);
    expect(shown()).toEqual(['paused Ana lunch', 'reduce only bot losses']);
    latch.set({ reason: 'enough', at: 3, by: 'person', who: 'Bea' });
    expect(shown()).toEqual(['halted Bea enough', 'paused Ana lunch', 'reduce only bot losses']);
    flattenIn(stateDir).set({ id: 'f', at: 4, by: 'Luz', reason: 'weekend', costMax: moneyOf('300') });
    expect(shown().at(-1)).toBe('flatten Luz weekend (total cost at most 300)');
  });

  test('has its place among the events of an accelerated bot: at the time of the bot, not of the machine', () => {
    const stateDir = mkdtempSync(join(dir, 'state-'));
    const latch = latchIn(stateDir);
    const wall = Date.now();
    // An hour of the bot has passed in six minutes.
    const born = wall - 360_000;
    const bot = { now: () => born + 3_600_000, elapsed: () => 0 };
    const started = heartbeatIn(stateDir, 'bot', { ...bot, now: () => born }, 10);
    started.beat('alive');
    const file = join(stateDir, 'heartbeat.json');
    const record = { ...(JSON.parse(readFileSync(file, 'utf8')) as object), clock: { at: bot.now(), speed: 10 } };
    writeFileSync(file, JSON.stringify(record));
    const writtenAt = statSync(file).mtimeMs;
    latch.set({ reason: 'a person halts', at: Math.round(writtenAt) - 60_000, by: 'person', who: 'Ana' });
    latch.setReduce({ reason: 'the bot reduces', at: born + 3_000_000 - 500, by: 'bot' });
    noteAction(
      stateDir,
      Math.round(writtenAt) - 30_000,
      { id: '1', reason: 'odd fills', by: 'Ana', action: 'cancel', via: 'command' },
      { end: 'done', lines: [] },
    );
    noteAction(
      stateDir,
      born - 86_400_000,
      { id: '2', reason: 'yesterday', by: 'Ana', action: 'cancel', via: 'command' },
      { end: 'done', lines: [] },
    );
    const events = new BesideRun(configOf(stateDir), new VirtualClock(wall), actionEvents(stateDir)).events();
    expect(events.map(({ at, text }) => [Math.round((at - born) / 1_000), text])).toEqual([
      [-86_400, 'cancel: yesterday'],
      [3_000, 'reduce only: the bot reduces'],
      [3_000, 'halted: a person halts'],
      [3_300, 'cancel: odd fills'],
    ]);
    const halts = new BesideRun(configOf(stateDir), new VirtualClock(wall)).bot(null).halts;
    expect(halts.map(({ at, reason }) => [Math.round((at - born) / 1_000), reason])).toEqual([
      [3_000, 'a person halts'],
      [3_000, 'the bot reduces'],
    ]);
  });
});
