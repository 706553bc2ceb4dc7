/** A pause by a person: what it does to a bot that runs, over a restart, and what its end leaves alone. */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { actionsIn } from '../../../src/app/actions/actionJournal.ts';
import type { ActionAsk } from '../../../src/app/actions/actions.ts';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { previewAction } from '../../../src/app/actions/previewAction.ts';
import { explain, replayedMoment } from '../../../src/app/inspect/explain.ts';
import { resume } from '../../../src/app/actions/reduceAndResume.ts';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { lineOf } from '../../../src/live/recording/recording.ts';
import { readRecording } from '../../../src/live/recording/recordings.ts';
import { latchIn, type Pause } from '../../../src/live/safety/latch.ts';
import { pauseAt, pauseInForce } from '../../../src/live/safety/pauseWatch.ts';
import { Folders } from '../states.ts';
import { started, worldOf, type World } from '../world.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const folders = new Folders();
afterAll(() => folders.clear());

const ours = (world: World) => world.box.exchange.venue.accounts.get(world.box.account.id)!.active.size;
const isReplayed = (world: World) => {
  const lines: string[] = [];
  expect([replay(world.stateDir, 'all', line => lines.push(line)), lines.join('\n')]).toEqual([true, lines.join('\n')]);
};
let asked = 0;
type Plain = Exclude<ActionAsk, { action: 'flatten' | 'set' }>;
const act = (world: World, of: Partial<Plain> & Pick<Plain, 'action'>) =>
  executeAction(
    { stateDir: world.stateDir },
    { id: `t-${asked++}`, reason: 'a look at the feed', by: 'ann', via: 'command', ...of },
    world.clock,
  );

const pause = (changes: Partial<Pause> = {}): Pause => ({
  ...{ reason: 'lunch', at: 1_767_225_600_000, by: 'person', who: 'ann', until: null },
  ...changes,
});

describe('the file of a pause', () => {
  test('is read as it was set; a later one replaces it', () => {
    const dir = folders.fresh();
    mkdirSync(dir, { mode: 0o700 });
    expect(latchIn(dir).readPause()).toBeNull();
    latchIn(dir).setPause(pause());
    expect(latchIn(dir).readPause()).toEqual(pause());
    latchIn(dir).setPause(pause({ until: 5 }));
    expect(latchIn(dir).readPause()).toEqual(pause({ until: 5 }));
  });

  test.each([
    ['empty', ''],
    ['cut', '{"reason":"lun'],
    ['not an object', 'null'],
  ])('that is %s counts as a pause without an end, and a resume ends it', (_, text) => {
    const dir = folders.fresh();
    mkdirSync(dir, { mode: 0o700 });
    writeFileSync(join(dir, 'PAUSED'), text, { mode: 0o600 });
    expect(pauseAt(latchIn(dir), Number.MAX_SAFE_INTEGER)?.reason).toMatch(/PAUSED is there but not readable/);
    expect(resume({ stateDir: dir }, 'looked at it', 0)).toMatch(/^the pause has ended/);
    expect(latchIn(dir).readPause()).toBeNull();
  });

  test('is not taken away by the end of one that it replaced', () => {
    const dir = folders.fresh();
    mkdirSync(dir, { mode: 0o700 });
    const [first, second] = [pause({ until: 5 }), pause({ until: 500 })];
    latchIn(dir).setPause(second);
    expect(latchIn(dir).endPause(first, { reason: 'the pause expired', at: 6, by: 'bot' })).toBe(false);
    expect(latchIn(dir).readPause()).toEqual(second);
    expect(existsSync(join(dir, 'resumed.jsonl'))).toBe(false);
    expect(latchIn(dir).endPause(second, { reason: 'the pause expired', at: 501, by: 'bot' })).toBe(true);
    expect(JSON.parse(readFileSync(join(dir, 'resumed.jsonl'), 'utf8'))).toMatchObject({ lifted: second, by: 'bot' });
  });

  test('stays as it was while its end cannot be noted, and ends when it can', () => {
    const dir = folders.fresh();
    mkdirSync(join(dir, 'resumed.jsonl'), { recursive: true, mode: 0o700 });
    const expired = { reason: 'the pause expired', at: 6, by: 'bot' } as const;
    for (const until of [null, 5]) {
      latchIn(dir).setPause(pause({ until }));
      for (let tries = 0; tries < 2; tries++) {
        expect(latchIn(dir).endPause(pause({ until }), expired)).toBe(false);
        expect(latchIn(dir).readPause()).toEqual(pause({ until }));
      }
    }
    expect(readdirSync(dir).sort()).toEqual(['PAUSED', 'resumed.jsonl']);
    rmSync(join(dir, 'resumed.jsonl'), { recursive: true });
    expect(latchIn(dir).endPause(pause({ until: 5 }), expired)).toBe(true);
    expect(latchIn(dir).readPause()).toBeNull();
  });

  test('holds until its end and not at it', () => {
    const dir = folders.fresh();
    mkdirSync(dir, { mode: 0o700 });
    latchIn(dir).setPause(pause({ until: 500 }));
    expect([pauseAt(latchIn(dir), 499) !== null, pauseAt(latchIn(dir), 500)]).toEqual([true, null]);
  });
});

describe('puntas pause', () => {
  test('takes every order out beside a running bot, stays so over a restart and a reload of the run, and ends at a resume', async () => {
    const world = worldOf(161);
    const first = await started(world);
    await world.clock.advance(20 * SECOND);
    expect(ours(world)).toBeGreaterThan(0);
    const end = await act(world, { action: 'pause' });
    expect(end.lines.join()).toMatch(/until you resume with: puntas resume --state \S+ --reason "\.\.\."$/);
    await world.clock.advance(6 * SECOND);
    expect(ours(world)).toBe(0);
    expect(explain({ dir: world.stateDir, at: null })).toMatchObject({
      regime: { regime: 'paused', why: 'a look at the feed' },
      refusal: 'paused by a person',
    });
    await first.stop();

    const second = await started(world);
    await world.clock.advance(30 * SECOND);
    expect(second.arrived.filter(({ method }) => method === 'POST')).toEqual([]);
    await act(world, { action: 'resume', reason: 'it is fine' });
    await world.clock.advance(10 * SECOND);
    expect(ours(world)).toBeGreaterThan(0);
    await second.stop();
    expect(actionsIn(world.stateDir).map(({ action, by, end: of }) => [action, by, of])).toEqual([
      ['pause', 'ann', 'done'],
      ['resume', 'ann', 'done'],
    ]);
    isReplayed(world);
    world.end();
  });

  test('ends by itself when its time comes; a second one replaces its end, and the journal has both', async () => {
    const world = worldOf(162);
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    const from = world.clock.now();
    await act(world, { action: 'pause', untilMs: from + 20 * SECOND });
    await act(world, { action: 'pause', untilMs: from + 2 * MINUTE, reason: 'longer than thought' });
    await world.clock.advance(MINUTE);
    expect(ours(world)).toBe(0);
    await world.clock.advance(MINUTE + 10 * SECOND);
    expect(ours(world)).toBeGreaterThan(0);
    expect(latchIn(world.stateDir).readPause()).toBeNull();
    expect(bot.log.some(({ text }) => /^the pause expired at/.test(text))).toBe(true);
    expect(actionsIn(world.stateDir).map(entry => (entry.untilMs === undefined ? null : entry.untilMs - from))).toEqual(
      [20 * SECOND, 2 * MINUTE],
    );
    await bot.stop();
    isReplayed(world);
    world.end();
  });

  test.each([
    ['back before the pause', -40 * MINUTE, 0],
    ['ahead during the pause, as by a suspension', 0, 40 * MINUTE],
  ])('lasts by the clock of the machine, which is set %s', async (_, before, during) => {
    const world = worldOf(167);
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    world.clock.step(before);
    const untilMs = world.clock.now() + MINUTE;
    await act(world, { action: 'pause', untilMs });
    const isInForce = () => pauseInForce(latchIn(world.stateDir), world.stateDir, world.clock.now()) !== null;
    await world.clock.advance(10 * SECOND);
    expect([isInForce(), ours(world)]).toEqual([true, 0]);
    world.clock.step(during);
    await world.clock.advance(Math.max(0, untilMs - world.clock.now()));
    expect(isInForce()).toBe(false);
    await world.clock.advance(10 * SECOND);
    expect(ours(world)).toBeGreaterThan(0);
    await bot.stop();
    isReplayed(world);
    world.end();
  });

  test('that was set while nobody ran holds from the first look, and one whose end is past is dropped with a line', async () => {
    const world = worldOf(163);
    await act(world, { action: 'pause', untilMs: world.clock.now() + 10 * MINUTE });
    const held = await started(world);
    await world.clock.advance(20 * SECOND);
    expect(held.arrived.filter(({ method }) => method === 'POST')).toEqual([]);
    await held.stop();
    await world.clock.advance(10 * MINUTE);
    const free = await started(world);
    await world.clock.advance(20 * SECOND);
    expect(ours(world)).toBeGreaterThan(0);
    expect(free.log.filter(({ text }) => text.startsWith('the pause expired at'))).toHaveLength(1);
    expect(free.log.filter(({ text }) => text.startsWith('paused by'))).toEqual([]);
    await free.stop();
    world.end();
  });

  test.each(['its time', 'a resume'])(
    'that ends by %s lifts no reduce, and not what keeps inventory closing',
    async how => {
      const world = worldOf(164);
      const bot = await started(world);
      await world.clock.advance(20 * SECOND);
      await act(world, { action: 'reduce', reason: 'closing for the night' });
      await act(world, {
        action: 'pause',
        ...(how === 'its time' ? { untilMs: world.clock.now() + 10 * SECOND } : {}),
      });
      await world.clock.advance(6 * SECOND);
      expect(ours(world)).toBe(0);
      if (how === 'a resume')
        expect((await act(world, { action: 'resume' })).lines.join()).toMatch(
          /^the pause has ended \(its reason was: .*\), but the bot is still reduce-only by ann \(closing for the night\); .* puntas resume/,
        );
      await world.clock.advance(15 * SECOND);
      expect(explain({ dir: world.stateDir, at: null }).regime).toMatchObject({
        regime: 'reduce only',
        why: 'closing for the night',
      });
      expect((await act(world, { action: 'resume' })).lines.join()).toMatch(
        /^lifted: reduce-only since \S+ \(closing for the night\)/,
      );
      await world.clock.advance(10 * SECOND);
      expect(explain({ dir: world.stateDir, at: null }).regime.regime).toBe('normal');
      await bot.stop();
      isReplayed(world);
      world.end();
    },
  );

  test.each(['its time', 'a resume'])('that ends by %s lifts no halt', async how => {
    const world = worldOf(165);
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    await act(world, { action: 'pause', ...(how === 'its time' ? { untilMs: world.clock.now() + 10 * SECOND } : {}) });
    await world.clock.advance(4 * SECOND);
    await act(world, { action: 'halt', reason: 'something is wrong' });
    await world.clock.advance(4 * SECOND);
    if (how === 'a resume') await act(world, { action: 'resume' });
    await world.clock.advance(15 * SECOND);
    expect([ours(world), latchIn(world.stateDir).read()?.reason, latchIn(world.stateDir).readPause()]).toEqual([
      0,
      'something is wrong',
      null,
    ]);
    await bot.stop();
    isReplayed(world);
    world.end();
  });

  test('forgets no loss of the day: the drawdown and the loss that a halt counts stand as they did', async () => {
    // A market that costs it something within minutes.
    const world = worldOf(62);
    const bot = await started(world);
    const moment = () => replayedMoment({ dir: world.stateDir, at: null });
    await world.clock.advance(20 * SECOND);
    const guardOf = ({ engine }: Pick<ReturnType<typeof moment>, 'engine'>) => engine.ledger([])?.guard ?? null;
    const lost = () => (guardOf(moment())?.drawdown ?? 0n) > 0n;
    for (let s = 0; s < 60 && !lost(); s++) await world.clock.advance(20 * SECOND);
    expect(lost()).toBe(true);
    const { engine, seen } = moment();
    const [at, before] = [seen.at!, guardOf({ engine })];
    engine.step({ kind: 'pause', at, reason: 'a look' });
    engine.step({ kind: 'pause over', at });
    expect(guardOf({ engine })).toEqual(before);
    // A resume forgets it: that is why the end of a pause is none.
    engine.step({ kind: 'resume', at });
    expect(guardOf({ engine })).not.toEqual(before);

    await act(world, { action: 'pause' });
    await world.clock.advance(6 * SECOND);
    await act(world, { action: 'resume' });
    await world.clock.advance(6 * SECOND);
    expect(moment().engine.book.pausedBecause).toBeNull();
    expect(existsSync(join(world.stateDir, 'RESUMED'))).toBe(false);
    const heard = [...(readRecording(world.stateDir, moment().run)?.lines ?? [])].flatMap(text => {
      const line = lineOf(text);
      return line.kind === 'input' ? [line.event.kind] : [];
    });
    expect([heard.includes('pause over'), heard.includes('resume')]).toEqual([true, false]);
    await bot.stop();
    isReplayed(world);
    world.end();
  });

  test('is shown before: how many orders go, and that nothing would be quoted; nothing is changed', async () => {
    const world = worldOf(166);
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    const live = ours(world);
    const ask = { id: 'p', action: 'pause', reason: 'a look', by: 'ann', via: 'console' } as const;
    // The files of a heartbeat have the time of the machine.
    const now = { ...world.clock, now: () => Date.now(), elapsed: () => world.clock.elapsed() } as typeof world.clock;
    const { lines } = await previewAction({ stateDir: world.stateDir }, ask, now);
    expect(lines[0]).toMatch(new RegExp(`^${live} of ${live} live orders would be canceled`));
    expect(lines.at(-1)).toBe('  then: none, paused by a person');
    await world.clock.advance(10 * SECOND);
    expect([ours(world), actionsIn(world.stateDir), latchIn(world.stateDir).readPause()]).toEqual([live, [], null]);
    await bot.stop();
    world.end();
  });
});
