import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { explain } from '../../../src/app/inspect/explain.ts';
import { reduce, resume } from '../../../src/app/actions/reduceAndResume.ts';
import { moneyOf, RESUMED_BEYOND_LIMIT } from '../../../src/core/index.ts';
import { Mailbox } from '../../../src/live/mailbox/mailbox.ts';
import { latchIn, liftedIn, retryingLatch, type Halt } from '../../../src/live/safety/latch.ts';
import { runsOf } from '../../many.ts';
import { memoryLog } from '../../memoryLog.ts';
import { Trader } from '../../sandbox/trader.ts';
import { Folders } from '../states.ts';
import { started, worldOf } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const halt = (reason: string): Halt => ({ reason, at: 1_767_225_600_000, by: 'bot' });
const SECOND = 1_000;
const AT = 1_767_225_700_000;

describe('the latch', () => {
  test('of a folder without one is open; what is set is read by every other process', () => {
    const dir = folders.fresh();
    expect(latchIn(dir).read()).toBeNull();
    latchIn(dir).set(halt('drawdown'));
    expect(latchIn(dir).read()).toEqual(halt('drawdown'));
  });

  test('keeps its first reason', () => {
    const latch = latchIn(folders.fresh());
    latch.set(halt('the cause'));
    latch.set(halt('a consequence'));
    expect(latch.read()?.reason).toBe('the cause');
  });

  test.each([
    ['empty', ''],
    ['cut', '{"reason":"draw'],
    ['not an object', 'null'],
  ])('that is %s counts as a halt', (_, text) => {
    const dir = folders.fresh();
    mkdirSync(dir);
    writeFileSync(join(dir, 'HALTED'), text);
    expect(latchIn(dir).read()?.reason).toMatch(/HALTED is there but not readable/);
  });

  test('that is a folder counts as a halt', () => {
    const dir = folders.fresh();
    mkdirSync(join(dir, 'HALTED'), { recursive: true });
    expect(latchIn(dir).read()?.reason).toMatch(/HALTED cannot be read/);
  });

  test('that was being written when the power failed is not there, or whole', () => {
    const dir = folders.fresh();
    mkdirSync(dir);
    writeFileSync(join(dir, 'HALTED.new'), '{"reason":"dra');
    expect(latchIn(dir).read()).toBeNull();
    latchIn(dir).set(halt('again'));
    expect(latchIn(dir).read()?.reason).toBe('again');
  });
});

describe('a resume', () => {
  test.each(['halt', 'reduce'] as const)(
    'that was killed before it removed the %s is taken once it is repeated',
    what => {
      const latch = latchIn(folders.fresh());
      const set = () => (what === 'halt' ? latch.set(halt('drawdown')) : latch.setReduce(halt('drawdown')));
      set();
      latch.lift('looked at it', AT);
      // The state as it was: the mark of the resume was written, and nothing was removed yet.
      set();
      expect([latch.isLifting(), latch.takeLifted(), latch.isLifting()]).toEqual([true, false, true]);
      latch.lift('again', AT + 1);
      expect([latch.isLifting(), latch.takeLifted(), latch.takeLifted()]).toEqual([false, true, false]);
    },
  );

  test('is taken though a later state is set, and though an earlier version wrote it', () => {
    const dir = folders.fresh();
    const latch = latchIn(dir);
    latch.set(halt('drawdown'));
    latch.lift('looked at it', AT);
    latch.set(halt('drawdown again'));
    expect([latch.isLifting(), latch.takeLifted()]).toEqual([false, true]);
    writeFileSync(join(dir, 'RESUMED'), 'looked at it');
    expect([latch.isLifting(), latch.takeLifted()]).toEqual([false, true]);
  });
});

test('a state directory has after every order of halts, holds, pauses, requests to close and ends of them exactly what is in force', () => {
  const DONE = 'RESUMED';
  const asked = fc.subarray(['halt', 'reduce', 'hold', 'pause', 'flatten'] as const);
  const ended = fc.constantFrom(
    ...(['resume', 'resume', 'resume on a full disk', 'end of hold', 'end of reduce', 'end of pause'] as const),
    ...(['end of an earlier pause', 'taken'] as const),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(asked, ended), { minLength: 2, maxLength: 6 }), turns => {
      const dir = folders.fresh();
      mkdirSync(dir);
      const flatten = new Mailbox(dir, 'flatten');
      const inForce = {
        ...{ halt: null, reduce: null, hold: null, pause: null, flatten: null, lifted: null },
      } as Record<'halt' | 'reduce' | 'hold' | 'pause' | 'flatten' | 'lifted', string | null>;
      let isResumed = false;
      turns.flat(2).forEach((op, n) => {
        // A new process each time.
        const latch = latchIn(dir);
        const said = { reason: `${op} ${n}`, at: AT + n, by: 'person' } as const;
        const costMax = moneyOf('1');
        if (op === 'halt') latch.set(said);
        if (op === 'reduce') latch.setReduce(said);
        if (op === 'hold') latch.setHold({ ...said, born: 1, reads: 2 });
        if (op === 'pause') latch.setPause({ ...said, until: null });
        if (op === 'flatten') flatten.put({ ...said, id: 'one', costMax });
        if (op === 'halt' || op === 'reduce' || op === 'hold') inForce[op] ??= said.reason;
        if (op === 'pause' || op === 'flatten') inForce[op] = said.reason;

        const { halt, hold, reduce, pause } = inForce;
        const [isWhole, isLost] = [halt !== null || reduce !== null, op === 'resume on a full disk'];
        if (isLost) mkdirSync(join(dir, `${DONE}.new`));
        if (op === 'resume' || isLost) {
          const lift = () => latch.lift(said.reason, said.at, 'ana');
          if (isLost && isWhole) expect(lift).toThrow();
          else lift();
          inForce.lifted = halt ?? hold ?? reduce;
          // A resume that the disk did not take can be repeated: nothing of it has happened yet.
          if (!isLost || !isWhole) Object.assign(inForce, { halt: null, reduce: null, hold: null, flatten: null });
          if (!isLost && isWhole) isResumed = true;
        }
        if (isLost) rmSync(join(dir, `${DONE}.new`), { recursive: true });
        if (op === 'end of hold') latch.liftHold({ reason: said.reason, at: said.at, by: 'sentinel' });
        if (op === 'end of hold') Object.assign(inForce, { lifted: hold, hold: null });
        if (op === 'end of reduce') expect(latch.liftReduce(said.reason, said.at)).toBe(true);
        if (op === 'end of reduce') Object.assign(inForce, { lifted: reduce, reduce: null });
        const now = latch.readPause();
        if (op === 'end of pause' && now !== null) {
          expect(latch.endPause(now, said)).toBe(true);
          Object.assign(inForce, { lifted: pause, pause: null });
        }
        if (op === 'end of an earlier pause' && now !== null)
          expect(latch.endPause({ ...now, at: now.at - 1 }, said)).toBe(false);
        if (op === 'taken') {
          expect([latch.takeLifted(), latch.takeLifted()]).toEqual([isResumed, false]);
          isResumed = false;
        }
        const reasonOf = (found: { readonly reason: string } | null | undefined) => found?.reason ?? null;
        expect({
          halt: reasonOf(latch.read()),
          reduce: reasonOf(latch.readReduce()),
          hold: reasonOf(latch.readHold()),
          pause: reasonOf(latch.readPause()),
          flatten: reasonOf(flatten.read()?.message),
          lifted: reasonOf(liftedIn(dir).at(-1)?.lifted),
        }).toEqual(inForce);
        expect(existsSync(join(dir, DONE))).toBe(isResumed);
      });
    }),
    runsOf(150, 15),
  );
});

describe('a disk that is full when trading must halt', () => {
  /** A latch on a disk that takes no new file; what is there can be renamed. */
  const fill = (dir: string) => mkdirSync(join(dir, 'HALTED.new'));
  const free = (dir: string) => rmSync(join(dir, 'HALTED.new'), { recursive: true });

  test('takes the latch that was reserved at the start, with the reason of this halt', () => {
    const dir = folders.fresh();
    latchIn(dir).reserve();
    expect(latchIn(dir).read()).toBeNull();
    fill(dir);
    latchIn(dir).set(halt('drawdown'));
    expect(latchIn(dir).read()).toEqual(halt('drawdown'));
    expect(resume({ stateDir: dir }, 'made room, looked at the account', AT)).toMatch(/^lifted: halt by .* \(drawdown/);
    expect(latchIn(dir).read()).toBeNull();
  });

  test('without a reserve is halted for as long as the process lives, and latched as soon as there is room', () => {
    const dir = folders.fresh();
    mkdirSync(dir);
    fill(dir);
    const { log, texts } = memoryLog();
    const latch = retryingLatch(latchIn(dir), log);
    expect(() => latchIn(dir).set(halt('drawdown'))).toThrow();
    latch.set(halt('drawdown'));
    for (let i = 0; i < 5; i++) expect(latch.read()?.reason).toBe('drawdown');
    expect(latchIn(dir).read()).toBeNull();
    free(dir);
    expect(latch.read()?.reason).toBe('drawdown');
    expect(latchIn(dir).read()?.reason).toBe('drawdown');
    expect(texts()).toEqual([
      'halt could not be written to disk; do not restart this bot before you have investigated',
    ]);
    resume({ stateDir: dir }, 'looked at it', AT);
    expect(latch.read()).toBeNull();
  });

  test('forgets at a resume a reduce-only state that was set before it, whether or when the disk takes it', () => {
    for (const [isTaken, isFreeBefore] of [
      [true, true],
      [false, true],
      [false, false],
    ]) {
      const dir = folders.fresh();
      const disk = latchIn(dir);
      let isFull = false;
      const setReduce = (reduce: Halt): void => {
        if (isFull) throw new Error('ENOSPC');
        disk.setReduce(reduce);
      };
      const latch = retryingLatch({ ...disk, setReduce }, memoryLog().log);
      latch.set(halt('drawdown'));
      isFull = isTaken === false;
      latch.setReduce(halt('a loss'));
      expect(latch.readReduce()?.reason).toBe('a loss');
      resume({ stateDir: dir }, 'looked at it', AT);
      if (isFreeBefore) isFull = false;
      expect(latch.takeLifted()).toBe(true);
      isFull = false;
      expect([latch.readReduce(), latchIn(dir).readReduce(), latch.read()]).toEqual([null, null, null]);
      // A later state is a new one.
      latch.setReduce(halt('another loss'));
      expect(latchIn(dir).readReduce()?.reason).toBe('another loss');
    }
  });

  test('keeps a bot halted that nobody resumes', async () => {
    const world = worldOf(62, { limits: { dayLossMax: '0.00000001', drawdownMax: '0.00000001' } });
    rmSync(world.stateDir, { recursive: true });
    mkdirSync(world.stateDir);
    const bot = await started(world);
    rmSync(join(world.stateDir, 'HALTED.reserve'));
    fill(world.stateDir);
    const isHalted = () => bot.log.some(({ text }) => text.startsWith('halted: '));
    for (let s = 0; !isHalted() && s < 600; s++) await world.clock.advance(SECOND);
    await world.clock.advance(60 * SECOND);
    expect(bot.log.filter(({ text }) => /^quoting|^halted/.test(text)).map(({ text }) => text.split(':')[0])).toEqual([
      'quoting',
      'halted',
    ]);
    expect(world.box.exchange.venue.accounts.get(world.box.account.id)!.active.size).toBe(0);
    free(world.stateDir);
    await world.clock.advance(5 * SECOND);
    expect(latchIn(world.stateDir).read()?.reason).toMatch(/^(drawdown|loss)/);
    expect((await bot.stop()).summary.halted).toMatch(/^(drawdown|loss)/);
    world.end();
  });
});

describe('puntas resume', () => {
  test('lifts, says what it was, and keeps the reason with what was lifted', () => {
    const dir = folders.fresh();
    latchIn(dir).set(halt('drawdown: 5001'));
    expect(resume({ stateDir: dir }, 'a deposit, looked at the account', AT)).toMatch(
      /^lifted: halt by the bot since 2026-01-01T\S+ \(drawdown: 5001\)/,
    );
    expect(latchIn(dir).read()).toBeNull();
    const line = JSON.parse(readFileSync(join(dir, 'resumed.jsonl'), 'utf8')) as unknown;
    expect(line).toEqual({
      ...{ at: AT, by: 'person', lifted: halt('drawdown: 5001') },
      reason: 'a deposit, looked at the account',
    });
    expect(() => resume({ stateDir: dir }, 'once more', AT)).toThrow(/nothing to resume/);
  });

  test.each(['', '   ', 'ok'])('wants a reason, not %j', reason => {
    const dir = folders.fresh();
    latchIn(dir).set(halt('drawdown'));
    expect(() => resume({ stateDir: dir }, reason, AT)).toThrow(/--reason/);
    expect(latchIn(dir).read()).not.toBeNull();
  });
});

describe('a run', () => {
  test('that is latched from outside takes its quotes out, stays so over a restart, and goes on within seconds of a resume', async () => {
    const world = worldOf(61);
    const ours = () => [...world.box.exchange.venue.accounts.get(world.box.account.id)!.active.values()].length;
    const latch = latchIn(world.stateDir);
    const first = await started(world);
    await world.clock.advance(20 * SECOND);
    expect(ours()).toBeGreaterThan(0);
    latch.set({ ...halt('a person says so'), by: 'person' });
    await world.clock.advance(8 * SECOND);
    expect(ours()).toBe(0);
    await first.stop();

    await world.clock.advance(60 * SECOND);
    const second = await started(world);
    await world.clock.advance(30 * SECOND);
    expect(second.arrived.filter(({ method }) => method === 'POST')).toEqual([]);
    expect(second.log.map(({ text }) => text).join('\n')).toContain('halted: a person says so');
    resume({ stateDir: world.stateDir }, 'looked at it', AT);
    await world.clock.advance(15 * SECOND);
    expect(ours()).toBeGreaterThan(0);
    await second.stop();
    world.end();
  });

  test('places nothing that was decided before it has seen a latch', async () => {
    const world = worldOf(62);
    const latch = latchIn(world.stateDir);
    const running = await started(world);
    await world.clock.advance(20 * SECOND);
    latch.set({ ...halt('this very moment'), by: 'sentinel' });
    const before = running.arrived.filter(({ method }) => method === 'POST').length;
    await world.clock.advance(2 * SECOND);
    // At most what had left when the latch was set.
    const after = running.arrived.filter(({ method }) => method === 'POST').length;
    expect(after).toBe(before);
    await running.stop();
    world.end();
  });

  test('that is told to reduce only closes inventory, over a restart too, until a resume', async () => {
    const world = worldOf(64);
    const ours = () => [...world.box.exchange.venue.accounts.get(world.box.account.id)!.active.values()];
    const first = await started(world);
    await world.clock.advance(20 * SECOND);
    expect(ours().length).toBeGreaterThan(2);
    expect(reduce({ stateDir: world.stateDir }, 'closing for the night', world.clock.now())).toMatch(
      /^reduce-only: within seconds, a running bot quotes only to reduce inventory/,
    );
    expect(() => reduce({ stateDir: world.stateDir }, 'once more', world.clock.now())).toThrow(
      /already reduce-only \(closing for the night\), so nothing was changed; resume with: puntas resume --state /,
    );
    await world.clock.advance(10 * SECOND);
    const told = explain({ dir: world.stateDir, at: null });
    expect(told.regime).toMatchObject({ regime: 'reduce only', why: 'closing for the night' });
    const away = Number(told.inventory.fromTarget) > 0 ? 'bid' : 'ask';
    expect(told.levels.filter(({ side, order }) => side === away && order !== null)).toEqual([]);
    await first.stop();
    const second = await started(world);
    await world.clock.advance(60 * SECOND);
    expect(explain({ dir: world.stateDir, at: null }).regime.regime).toBe('reduce only');
    expect(resume({ stateDir: world.stateDir }, 'it is morning', AT)).toMatch(
      /^lifted: reduce-only since \S+ \(closing for the night\)/,
    );
    await world.clock.advance(20 * SECOND);
    expect(new Set(ours().map(({ side }) => side)).size).toBe(2);
    expect(second.log.some(({ text }) => text.startsWith('regime: reduce only (closing for the night)'))).toBe(true);
    await second.stop();
    world.end();
  });

  test('that loses its soft share of the drawdown only closes inventory from then on, and keeps that for its next run', async () => {
    const world = worldOf(62, { regimes: { reduceOnly: { drawdownShare: 0.001 } } });
    const first = await started(world);
    const reduced = () => latchIn(world.stateDir).readReduce();
    for (let s = 0; reduced() === null && s < 600; s++) await world.clock.advance(SECOND);
    expect(reduced()).toMatchObject({ by: 'bot', reason: expect.stringMatching(/^drawdown: profit fell/) as string });
    await first.stop();
    const second = await started(world);
    await world.clock.advance(30 * SECOND);
    expect(explain({ dir: world.stateDir, at: null }).regime.regime).toBe('reduce only');
    await second.stop();
    world.end();
  });

  test('that halts by itself latches the reason', async () => {
    const world = worldOf(63, { halts: { messagesPerMinute: 5 } });
    const running = await started(world);
    await world.clock.advance(20 * SECOND);
    expect(latchIn(world.stateDir).read()).toMatchObject({ by: 'bot', reason: 'messages: more than 5 in 1 min' });
    await running.stop();
    expect(existsSync(join(world.stateDir, 'HALTED'))).toBe(true);
    rmSync(world.stateDir, { recursive: true, force: true });
    world.end();
  });

  test('whose inventory is beyond its limit closes it once a person has resumed, over a restart too, and then quotes both sides by itself', async () => {
    // It holds half a bitcoin more than it wants to.
    const world = worldOf(65, { inventory: { target: '1' }, limits: { positionMax: '0.4' } });
    const account = world.box.exchange.venue.accounts.get(world.box.account.id)!;
    const sides = () => [...new Set([...account.active.values()].map(({ side }) => side))].sort();
    const first = await started(world);
    await world.clock.advance(10 * SECOND);
    const latch = latchIn(world.stateDir);
    expect(latch.read()?.reason).toMatch(/^position: 0\.5 btc from the target is beyond its limit$/);
    expect(resume({ stateDir: world.stateDir, configFile: 'my.yaml' }, 'a deposit of mine', AT)).toMatch(
      /^lifted: halt by the bot since \S+ \(position: .*\)\. While inventory is beyond its limit, the bot quotes only to reduce inventory, .* set limits\.positionMax or inventory\.target in my\.yaml, and restart the bot$/,
    );
    await world.clock.advance(20 * SECOND);
    expect([latch.read(), sides(), latch.readReduce()?.reason]).toEqual([null, ['sell'], RESUMED_BEYOND_LIMIT]);
    await first.stop();

    const second = await started(world);
    await world.clock.advance(20 * SECOND);
    expect([latch.read(), sides()]).toEqual([null, ['sell']]);
    const { exchange } = world.box;
    const buyer = new Trader(exchange, exchange.openAccount({ balances: { btc: '0', mxn: '100000000' } }));
    for (let i = 0; i < 400 && (latch.readReduce() !== null || sides().length < 2); i++) {
      buyer.call('POST', '/api/v3/orders', { book: 'btc_mxn', side: 'buy', type: 'market', major: '0.05' });
      await world.clock.advance(5 * SECOND);
    }
    await world.clock.advance(20 * SECOND);
    expect([latch.read(), latch.readReduce(), sides()]).toEqual([null, null, ['buy', 'sell']]);
    await second.stop();
    world.end();
  });

  test('that was not running when a person resumed it closes what is beyond its limit from its first decision', async () => {
    const world = worldOf(66, { inventory: { target: '1' }, limits: { positionMax: '0.4' } });
    const account = world.box.exchange.venue.accounts.get(world.box.account.id)!;
    const first = await started(world);
    await world.clock.advance(10 * SECOND);
    await first.stop();
    const latch = latchIn(world.stateDir);
    expect(latch.read()?.reason).toMatch(/beyond its limit/);
    resume({ stateDir: world.stateDir }, 'a deposit of mine', AT);
    const second = await started(world);
    await world.clock.advance(20 * SECOND);
    expect(second.log.filter(({ text }) => text.startsWith('halted'))).toEqual([]);
    expect([latch.read(), new Set([...account.active.values()].map(({ side }) => side))]).toEqual([
      null,
      new Set(['sell']),
    ]);
    await second.stop();
    world.end();
  });
});
