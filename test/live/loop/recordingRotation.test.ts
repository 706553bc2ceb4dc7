import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { clientOf, engineOf, marketStreamOf } from '../../../src/wiring/bot.ts';
import { randomOf, Secret, settle, type WireRequest } from '../../../src/core/index.ts';
import { RecordingRotation, type Reloaded, type RunSetup } from '../../../src/live/loop/recordingRotation.ts';
import { journalIn, openDatabase } from '../../../src/live/state/journal.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { recordingsIn } from '../../../src/live/recording/recordings.ts';
import { inProcessStream } from '../../../src/sandbox/stream/streamInProcess.ts';
import { few, runsOf as runsOfMany, testInMany } from '../../many.ts';
import { memoryLog } from '../../memoryLog.ts';
import { wireTo, type Fate } from '../inProcess.ts';
import { advanceUntil, started, worldOf, type World } from '../world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const account = (world: World) => world.box.exchange.venue.accounts.get(world.box.account.id)!;
const oursIn = (world: World): string[] =>
  [...account(world).active.values()].flatMap(({ originId }) => (originId?.startsWith('demo-') ? [originId] : []));
const sizeOf = (dir: string): number => readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
const streamOf = (world: World) => ({ stream: inProcessStream(world.box.exchange.stream, world.clock) });

function replayed(dir: string): { same: boolean; printed: string[] } {
  const printed: string[] = [];
  return { same: replay(dir, 'all', line => printed.push(line)), printed };
}

describe('a run that lasts', () => {
  test('gives way to a next one by time: each is recorded whole, the ledger goes on, and quotes are away for seconds', async () => {
    const world = worldOf(81, { journal: { rollHours: 0.03 } });
    const bot = await started(world, streamOf(world));
    let away = 0;
    await world.clock.advance(10 * SECOND);
    for (let s = 10; s < 420; s++) {
      await world.clock.advance(SECOND);
      if (oursIn(world).length === 0) away++;
    }
    const { summary } = await bot.stop();
    const runs = recordingsIn(world.stateDir).map(({ run }) => run);
    expect(runs).toHaveLength(4);
    const { same, printed } = replayed(world.stateDir);
    expect(printed.join('\n')).not.toMatch(/DIFFERENT/);
    expect(same).toBe(true);
    expect(printed.filter(line => / [1-9]\d* commands, all commands identical$/.test(line))).toHaveLength(4);
    expect(summary).toMatchObject({ openOrdersLeft: 0, ledgerMatches: true });
    // Of all runs together, not of the last one.
    expect(summary.orders.placed).toBe(bot.arrived.filter(({ method }) => method === 'POST').length);
    expect(summary.uptime.bid).toBeGreaterThan(0.9);
    expect(away).toBeLessThan(8 * (runs.length - 1));
    expect(bot.log.filter(({ level }) => level !== 'info' && level !== 'debug')).toEqual([]);
    world.end();
  });

  testInMany('takes a bounded part of the disk, however long it lasts', async () => {
    const world = worldOf(82, { journal: { keepMb: 0.1 } });
    const bot = await started(world, streamOf(world));
    let runs = 0;
    for (let minute = 0; minute < 15; minute++) {
      await world.clock.advance(MINUTE);
      const recordings = recordingsIn(world.stateDir);
      runs = recordings.at(-1)!.run - recordings[0]!.run;
      expect(recordings.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(100_000);
    }
    const { summary } = await bot.stop();
    expect(summary.ledgerMatches).toBe(true);
    expect(
      bot.log.filter(({ text }) => /has reached its maximum duration or recording size/.test(text)).length,
    ).toBeGreaterThan(8);
    expect(runs).toBeGreaterThan(5);
    const { same, printed } = replayed(world.stateDir);
    expect(printed.length).toBeGreaterThan(5);
    expect(same).toBe(true);
    // Beside the recordings: the orders, the ledger, and their log.
    expect(sizeOf(world.stateDir)).toBeLessThan(100_000 + 12_000_000);
    world.end();
  });

  test('gives way at twice its size although the rules of its book cannot be read, and the next one quotes', async () => {
    const world = worldOf(82, { journal: { keepMb: 0.1 } });
    let isLost = false;
    const bot = await started(world, {
      ...streamOf(world),
      fate: ({ target }) => (isLost && target.includes('available_books') ? 'lost' : 'arrives'),
    });
    isLost = true;
    const { run } = recordingsIn(world.stateDir).at(-1)!;
    await advanceUntil(world.clock, SECOND, () => recordingsIn(world.stateDir).at(-1)!.run > run);
    for (const { bytes } of recordingsIn(world.stateDir)) expect(bytes).toBeLessThan(100_000 / 3);
    await advanceUntil(world.clock, SECOND, () => oursIn(world).length > 0);
    expect((await bot.stop()).summary).toMatchObject({ openOrdersLeft: 0, ledgerMatches: true });
    world.end();
  });

  test('goes on while the exchange cannot be reached, and gives way when it can', async () => {
    const world = worldOf(83, { journal: { rollHours: 0.03 } });
    let fate: Fate = 'arrives';
    const bot = await started(world, { fate: () => fate });
    await world.clock.advance(MINUTE);
    fate = 'lost';
    await world.clock.advance(3 * MINUTE);
    expect(recordingsIn(world.stateDir)).toHaveLength(1);
    fate = 'arrives';
    await world.clock.advance(2 * MINUTE);
    expect(recordingsIn(world.stateDir).length).toBeGreaterThanOrEqual(2);
    expect(oursIn(world).length).toBeGreaterThan(0);
    expect((await bot.stop()).summary).toMatchObject({ openOrdersLeft: 0, ledgerMatches: true });
    expect(replayed(world.stateDir).same).toBe(true);
    world.end();
  });

  test('takes its halt along', async () => {
    const world = worldOf(84, { journal: { rollHours: 0.01 } });
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    latchIn(world.stateDir).set({ reason: 'by hand', at: 0, by: 'person' });
    await world.clock.advance(2 * MINUTE);
    expect(recordingsIn(world.stateDir).length).toBeGreaterThanOrEqual(3);
    expect(oursIn(world)).toEqual([]);
    expect((await bot.stop()).summary.halted).toBe('by hand');
    world.end();
  });

  test.each(few([50, 1_500, 0, 400, 4_000], 1))(
    'can be stopped %i ms into the change of runs, and leaves nothing',
    async ms => {
      const world = worldOf(85, { journal: { rollHours: 0.01 } });
      const bot = await started(world);
      await advanceUntil(world.clock, 10, () =>
        bot.log.some(({ text }) => text.includes('has reached its maximum duration or recording size')),
      );
      await world.clock.advance(ms);
      const { summary, left, failure } = await bot.stop();
      expect({ left, failure }).toEqual({ left: [], failure: null });
      expect(summary.ledgerMatches).toBe(true);
      expect(oursIn(world)).toEqual([]);
      expect(replayed(world.stateDir).same).toBe(true);
      world.end();
    },
  );
});

type Made = RunSetup['makeEngine'];

/** Runs of five seconds whose engines a test makes, or not. */
async function runsOf(world: World, makeEngine: Made, onArrival: (request: WireRequest) => void = () => undefined) {
  const { box, clock, config, seed, stateDir } = world;
  const { log, lines } = memoryLog();
  const journal = journalIn(openDatabase(':memory:'), { account: 'x', at: clock.now(), setup: 'first' });
  const random = randomOf(seed);
  const transport = wireTo({ exchange: box.exchange, clock, random, deadlineMs: 2_000, onArrival });
  const venue = {
    ...{ restUrl: 'http://127.0.0.1/api', key: box.account.key, secret: new Secret(box.account.secret), speed: 1 },
    ...{ transport, streamTransport: streamOf(world).stream },
  };
  const setups = new Map<number, string>([[journal.run, 'first']]);
  const setup = {
    timing: config.timing,
    roll: {
      ...{ afterMs: 5 * SECOND, bytes: Infinity },
      onRolled: (_: unknown, { run, setup: text }: { run: number; setup: string }) => void setups.set(run, text),
    },
    makeEngine,
  };
  const exchange = clientOf(config, venue, clock, seed, { journal });
  const opening = RecordingRotation.open({
    ...{ clock, log, ...setup, state: { journal, latch: latchIn(stateDir) } },
    bot: { book: config.book, instance: 'demo', resumeCommand: '' },
    venue: {
      exchange,
      newStream: () => marketStreamOf(config, venue, clock, seed, exchange),
    },
  });
  await clock.advance(SECOND);
  const rotation = await opening;
  rotation.start(() => undefined);
  const stop = async () => {
    let report = null as Awaited<ReturnType<RecordingRotation['stop']>> | null;
    void rotation.stop().then(told => (report = told));
    for (await settle(); report === null; await clock.advance(100));
    expect(report).toMatchObject({ left: [], ledgerMatches: true, failure: null });
    world.end();
  };
  return { rotation, setups, setup, lines, stop };
}

test('a run goes on quoting while the next one, of the same configuration, could not begin', async () => {
  const world = worldOf(86);
  let refusal: string | null = null;
  const runs = await runsOf(world, (rules, onNews, run) => {
    if (refusal !== null) throw new Error(refusal);
    return engineOf(world.config, rules, run, onNews);
  });
  refusal = 'its spread cannot pay the fees any more';
  const { run: first } = runs.rotation;
  await world.clock.advance(15 * SECOND);
  for (let s = 0; s < 60; s++) {
    await world.clock.advance(SECOND);
    expect(oursIn(world).length, `after ${s} s`).toBeGreaterThan(0);
  }
  expect(runs.rotation.run).toBe(first);
  // Once, not at each look.
  expect(runs.lines.filter(({ level }) => level === 'error').map(({ text }) => text)).toEqual([
    'the next run could not start, so the current run continues: its spread cannot pay the fees any more',
  ]);
  refusal = null;
  await world.clock.advance(10 * SECOND);
  expect(runs.rotation.run).not.toBe(first);
  await runs.stop();
});

test.each([
  ['configuration', 'next'],
  ['restart', 'first'],
] as const)(
  'a %s that is asked for while the next run is opened is told to be taken by the run that has it',
  async (what, setup) => {
    const world = worldOf(87);
    let isBroken = false;
    let told = null as Promise<Reloaded> | null;
    const makeEngine: Made = (rules, onNews, run) => {
      if (isBroken) throw new Error('not now');
      return engineOf(world.config, rules, run, onNews);
    };
    let onArrival = (_: WireRequest): void => undefined;
    const runs = await runsOf(world, makeEngine, request => onArrival(request));
    // The engine could be made before the last run ended, and cannot after.
    const isSaid = (words: string) => (): boolean => runs.lines.some(({ text }) => text.includes(words));
    await advanceUntil(world.clock, 50, isSaid('has reached its maximum duration or recording size'));
    isBroken = true;
    await advanceUntil(world.clock, 50, isSaid('cannot start yet'));
    isBroken = false;
    onArrival = ({ target }) => {
      if (!target.includes('available_books')) return;
      const { rotation } = runs;
      told ??=
        what === 'restart' ? rotation.restartRun() : rotation.reload({ ...runs.setup, setup: 'next', leaving: [] });
    };
    let end = null as Reloaded | null;
    await advanceUntil(world.clock, 50, () => told !== null);
    void (told as Promise<Reloaded>).then(answer => (end = answer));
    await advanceUntil(world.clock, 50, () => end !== null);
    expect(end).toMatchObject({ kind: 'taken' });
    const { run } = end as { run: number };
    expect(runs.setups.get(run)).toBe(setup);
    // The first run, the one that was being opened, and the one that was asked for.
    expect([...runs.setups.keys()].slice(2)).toContain(run);
    await runs.stop();
  },
);

test('a halted run gives way to no next one until its halt is on disk, whatever asks for it; the next one is halted too', async () => {
  const world = worldOf(62, { limits: { dayLossMax: '0.00000001', drawdownMax: '0.00000001' } });
  let placed = 0;
  const runs = await runsOf(
    world,
    (rules, onNews, run) => engineOf(world.config, rules, run, onNews),
    ({ method }) => (placed += method === 'POST' ? 1 : 0),
  );
  const { rotation, setup } = runs;
  const latch = latchIn(world.stateDir);
  // A folder where the latch is written first: no file can be made there.
  const inTheWay = join(world.stateDir, 'HALTED.new');
  const asks = {
    age: () => null,
    reload: () => rotation.reload({ ...setup, setup: 'next', leaving: [] }),
    cancel: () => rotation.restartRun(),
  };
  for (const [what, ask] of Object.entries(asks)) {
    mkdirSync(inTheWay);
    if (latch.read() !== null) latch.lift('seen');
    await advanceUntil(world.clock, 250, () => rotation.run.engine.book.haltedBecause === null);
    await advanceUntil(world.clock, 250, () => rotation.run.engine.book.haltedBecause !== null);
    const { run: halted } = rotation;
    const { haltedBecause } = halted.engine.book;
    const before = placed;
    const answer = ask();
    await world.clock.advance(8 * SECOND);
    expect([rotation.run === halted, latch.read()], what).toEqual([true, null]);
    rmSync(inTheWay, { recursive: true });
    await advanceUntil(world.clock, 250, () => rotation.run !== halted);
    await world.clock.advance(3 * SECOND);
    expect([latch.read()?.reason, rotation.run.engine.book.haltedBecause === null], what).toEqual([
      haltedBecause,
      false,
    ]);
    expect(placed - before, what).toBe(0);
    if (answer !== null) expect((await answer).kind, what).toBe('taken');
  }
  await runs.stop();
});

test('every run is recorded with the configuration of its engine, whichever reloads could not begin', async () => {
  const failure = fc.constantFrom('none', 'at its trial', 'as a run');
  await fc.assert(
    fc.asyncProperty(fc.array(failure, { minLength: 1, maxLength: 4 }), async failures => {
      const world = worldOf(88);
      const engines = new Map<number, string>();
      /** Makes the engines of one configuration, of which the first is a trial and the second a run. */
      const makerOf = (name: string, fails: string): Made => {
        let made = 0;
        return (rules, onNews, run) => {
          made++;
          if (fails === (made === 1 ? 'at its trial' : 'as a run')) throw new Error('not now');
          engines.set(run, name);
          return engineOf(world.config, rules, run, onNews);
        };
      };
      const runs = await runsOf(world, makerOf('first', 'none'));
      for (const [n, fails] of failures.entries()) {
        const next = { ...runs.setup, setup: `change ${n}`, leaving: [], makeEngine: makerOf(`change ${n}`, fails) };
        let answer = null as Reloaded | null;
        void runs.rotation.reload(next).then(told => (answer = told));
        await advanceUntil(world.clock, 50, () => answer !== null);
        expect(answer?.kind).toBe(fails === 'none' ? 'taken' : 'kept');
        await world.clock.advance(2 * SECOND);
      }
      await runs.stop();
      expect([...runs.setups].map(([run]) => [run, engines.get(run)])).toEqual([...runs.setups]);
      expect(runs.setups.size).toBeGreaterThan(failures.filter(fails => fails !== 'at its trial').length);
    }),
    { ...runsOfMany(6, 1), examples: [[['as a run', 'none', 'as a run', 'at its trial']]] },
  );
});
