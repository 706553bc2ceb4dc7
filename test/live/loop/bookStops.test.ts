import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { actionsIn } from '../../../src/app/actions/actionJournal.ts';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { botStatusText } from '../../../src/app/actions/botStatusText.ts';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { resumed, resumeOnce } from '../../../src/app/actions/resumeOnce.ts';
import { bookLatchIn } from '../../../src/live/safety/bookLatch.ts';
import { previewAction } from '../../../src/app/actions/previewAction.ts';
import { replayedMoment } from '../../../src/app/inspect/explain.ts';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { runExit } from '../../../src/cli/commands/trade.ts';
import { runsOf } from '../../many.ts';
import { doomed, restarted } from '../crashes.ts';
import { Folders } from '../states.ts';
import { started, worldOf, type Running, type World } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const MINUTE = 60_000;
const BOOKS = ['btc_mxn', 'eth_mxn', 'btc_usd'] as const;
type Name = 'pause' | 'reduce' | 'halt' | 'resume';

/** Asks for an action on one book, or on all. */
const act = (world: World, dir: string, action: Name, book?: string) =>
  executeAction(
    { stateDir: dir },
    { id: 'a-1', reason: 'the test', by: 'ann', via: 'command', action, ...(book === undefined ? {} : { book }) },
    world.clock,
  );

/** Open orders of the account by book, as the exchange has them. */
function openIn(world: World): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { btc_mxn: 0, eth_mxn: 0, btc_usd: 0 };
  for (const { book } of world.other().get<{ book: string }[]>('GET', '/api/v3/open_orders')) counts[book]!++;
  return counts;
}

/** Number of orders that the bot has placed in each book. */
function placedIn({ arrived }: Running): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { btc_mxn: 0, eth_mxn: 0, btc_usd: 0 };
  for (const { method, target, body } of arrived)
    if (method === 'POST' && target === '/api/v3/orders') counts[(JSON.parse(body) as { book: string }).book]!++;
  return counts;
}

/** Orders placed in each book during two minutes. */
async function placedMeanwhile(world: World, running: Running): Promise<Readonly<Record<string, number>>> {
  const before = placedIn(running);
  await world.clock.advance(2 * MINUTE);
  const after = placedIn(running);
  return Object.fromEntries(BOOKS.map(book => [book, after[book]! - before[book]!]));
}

const isReplayedAlike = (dir: string) => replay(dir, 'all', () => undefined);

describe('one book of a bot', () => {
  test.each(['pause', 'halt'] as const)(
    'has no order after its own %s, also after a kill and a restart, while the others go on; a resume ends it',
    async action => {
      const world = worldOf(5, {}, 'desk');
      const first = await doomed(world, folders);
      await world.clock.advance(MINUTE);
      await act(world, world.stateDir, action, 'eth_mxn');
      await world.clock.advance(5_000);
      expect(openIn(world)['eth_mxn']).toBe(0);
      const meanwhile = await placedMeanwhile(world, first.running);
      expect(meanwhile['eth_mxn']).toBe(0);
      expect(meanwhile['btc_mxn']! * meanwhile['btc_usd']!).toBeGreaterThan(0);

      const dir = first.kill();
      const second = await restarted(world, dir);
      const again = await placedMeanwhile(world, second);
      expect(again['eth_mxn']).toBe(0);
      expect(again['btc_mxn']! * again['btc_usd']!).toBeGreaterThan(0);
      const { heldBy, otherBooks, run, lastAction } = await botStatus(dir, world.clock);
      expect(heldBy).toMatchObject([{ what: action, book: 'eth_mxn', who: 'ann', reason: 'the test' }]);
      const regimes = [run!, ...otherBooks!].map(({ regime }) => regime.regime);
      expect(regimes[1]).toBe(action === 'halt' ? 'halted' : 'paused');
      expect([regimes[0], regimes[2]]).not.toContain(regimes[1]);
      expect(lastAction).toMatchObject({ action, book: 'eth_mxn' });
      expect(actionsIn(dir)).toMatchObject([{ action, book: 'eth_mxn' }]);
      const text = botStatusText(await botStatus(dir, world.clock), dir);
      expect(text).toContain(`${action} of eth_mxn by ann`);

      await act(world, dir, 'resume', 'eth_mxn');
      await world.clock.advance(20_000);
      expect(openIn(world)['eth_mxn']).toBeGreaterThan(0);
      const ended = await second.stop();
      const { summary, left, failure } = ended;
      expect([left, failure, summary.ledgerMatches, summary.halted]).toEqual([[], null, true, undefined]);
      expect([ended.haltedAlone, runExit(ended)]).toEqual([undefined, 0]);
      expect(isReplayedAlike(dir)).toBe(true);
      await first.running.stop();
      world.end();
    },
  );

  test('that is reduced places only what brings its inventory nearer to the target, and the others both sides', async () => {
    const world = worldOf(5, {}, 'desk');
    const running = await started(world);
    await world.clock.advance(MINUTE);
    await act(world, world.stateDir, 'reduce', 'btc_usd');
    await world.clock.advance(5_000);
    const { otherBooks, run } = await botStatus(world.stateDir, world.clock);
    expect([run!, ...otherBooks!].map(({ regime }) => regime.regime)).toEqual([
      run!.regime.regime,
      otherBooks![0]!.regime.regime,
      'reduce only',
    ]);
    const { inventory, bids, asks } = otherBooks![1]!;
    const from = Number(inventory.fromTarget);
    if (from >= 0) expect(bids).toEqual([]);
    if (from <= 0) expect(asks).toEqual([]);
    expect(openIn(world)['eth_mxn']).toBeGreaterThan(1);
    await act(world, world.stateDir, 'resume', 'btc_usd');
    await world.clock.advance(20_000);
    expect(openIn(world)['btc_usd']).toBeGreaterThan(1);
    await running.stop();
    world.end();
  });

  test('that is halted still halts the others when its inventory loses more than its limit', async () => {
    const world = worldOf(5, {}, 'desk');
    const first = await doomed(world, folders);
    await world.clock.advance(3 * MINUTE);
    await act(world, world.stateDir, 'halt', 'eth_mxn');
    await world.clock.advance(5_000);
    const dir = first.kill();
    const [btc, eth, usd] = world.config.books!;
    const books = [btc!, { ...eth!, limits: { ...eth!.limits!, drawdownMax: '0.01' } }, usd!];
    const running = await restarted(world, dir, { config: { ...world.config, books } });
    await world.clock.advance(10 * MINUTE);
    expect(openIn(world)).toEqual({ btc_mxn: 0, eth_mxn: 0, btc_usd: 0 });
    const { heldBy } = await botStatus(dir, world.clock);
    expect(heldBy.map(({ what, book, who, reason }) => ({ what, book, who, reason }))).toEqual([
      { what: 'halt', book: undefined, who: null, reason: expect.stringMatching(/^eth_mxn: drawdown: /) as string },
      { what: 'halt', book: 'eth_mxn', who: 'ann', reason: 'the test' },
    ]);
    expect(isReplayedAlike(dir)).toBe(true);
    const ended = await running.stop();
    expect([ended.haltedAlone, runExit(ended)]).toEqual([undefined, 1]);
    await first.running.stop();
    world.end();
  });

  test('that is halted ends a run as clean, and is named in its end', async () => {
    const world = worldOf(5, {}, 'desk');
    const running = await started(world);
    await world.clock.advance(20_000);
    await act(world, world.stateDir, 'halt', 'eth_mxn');
    await world.clock.advance(5_000);
    const ended = await running.stop();
    expect([ended.haltedAlone, ended.summary.halted, runExit(ended)]).toEqual([['eth_mxn'], 'eth_mxn: the test', 0]);
    expect(runExit({ ...ended, failure: 'a defect' })).toBe(1);
    world.end();
  });

  test('keeps its own stop when those of the whole bot end, and these stay when its own ends', async () => {
    const world = worldOf(5, {}, 'desk');
    const running = await started(world);
    await world.clock.advance(MINUTE);
    const dir = world.stateDir;
    await act(world, dir, 'pause', 'eth_mxn');
    await act(world, dir, 'halt');
    await world.clock.advance(10_000);
    expect(openIn(world)).toEqual({ btc_mxn: 0, eth_mxn: 0, btc_usd: 0 });
    const { lines } = await act(world, dir, 'resume');
    expect(lines.join('\n')).toContain('still in force: pause of eth_mxn by ann (the test)');
    await world.clock.advance(20_000);
    expect([openIn(world)['eth_mxn'], openIn(world)['btc_mxn']! > 0]).toEqual([0, true]);
    const refused = await act(world, dir, 'resume');
    expect(refused).toMatchObject({ end: 'refused' });
    expect(refused.lines.join('\n')).toContain('single books are stopped: pause of eth_mxn by ann');
    await act(world, dir, 'halt');
    await world.clock.advance(5_000);
    await act(world, dir, 'resume', 'eth_mxn');
    expect((await placedMeanwhile(world, running))['eth_mxn']).toBe(0);
    await act(world, dir, 'resume');
    await world.clock.advance(20_000);
    expect(openIn(world)['eth_mxn']).toBeGreaterThan(0);
    expect(isReplayedAlike(dir)).toBe(true);
    await running.stop();
    world.end();
  });

  test('has a preview of its own actions, and a name that no book has is one clear line', async () => {
    const world = worldOf(5, {}, 'desk');
    const running = await started(world);
    await world.clock.advance(MINUTE);
    const ask = { id: 'a-1', reason: 'the test', by: 'ann', via: 'command', action: 'pause' } as const;
    const open = openIn(world);
    const bot = { stateDir: world.stateDir };
    const { lines } = await previewAction(bot, { ...ask, book: 'eth_mxn' }, world.clock);
    const all = BOOKS.reduce((sum, book) => sum + open[book]!, 0);
    expect(lines.join('\n')).toContain(`${open['eth_mxn']} of ${all} live orders would be canceled`);
    expect(lines.join('\n')).toContain('quotes of eth_mxn, one of 3 books:');
    for (const work of [previewAction, executeAction] as const)
      await expect(work(bot, { ...ask, book: 'sol_mxn' }, world.clock)).rejects.toThrow(
        /^--book sol_mxn: expected a book of this bot \(btc_mxn, eth_mxn, btc_usd\)$/,
      );
    expect(actionsIn(world.stateDir)).toEqual([]);
    await running.stop();
    world.end();
  });

  test('has a preview of a resume with the stops of both levels that would stay in force', async () => {
    const world = worldOf(5, {}, 'desk');
    const running = await started(world);
    await world.clock.advance(MINUTE);
    const bot = { stateDir: world.stateDir };
    // A bot is known to run by the age of a file, which is of the machine's own time.
    const clock = Object.assign(Object.create(world.clock) as typeof world.clock, { now: () => Date.now() });
    const then = async (book?: string): Promise<string> => {
      await world.clock.advance(10_000);
      const named = book === undefined ? {} : { book };
      const ask = { id: 'a-1', reason: 'the test', by: 'ann', via: 'command', action: 'resume', ...named } as const;
      return (await previewAction(bot, ask, clock)).lines.join('\n');
    };
    const row = /^ +(ask|bid) 1 +.* \d+ at|^ +(ask|bid) 1 +- +\S+ at/m;

    await act(world, world.stateDir, 'halt', 'btc_mxn');
    await act(world, world.stateDir, 'halt');
    for (const book of ['btc_mxn', undefined]) {
      const text = await then(book);
      const [mine, other] = book === undefined ? ['halt by', 'halt of btc_mxn by'] : ['halt of btc_mxn by', 'halt by'];
      expect(text).toContain(`${mine} ann (the test) would be lifted`);
      expect(text).toContain(`${other} ann (the test) would stay in force`);
      expect(text).not.toMatch(row);
      expect(text).toContain(`halt ${book === undefined ? 'of btc_mxn ' : ''}by ann (the test)`);
    }
    await act(world, world.stateDir, 'resume');
    expect(await then('btc_mxn')).toMatch(row);

    await act(world, world.stateDir, 'reduce');
    const text = await then('btc_mxn');
    expect(text).toContain('reduce by ann (the test) would stay in force');
    const sides = ['ask', 'bid'].filter(side => new RegExp(`^ +${side} 1 +- +\\S+ at`, 'm').test(text));
    expect(sides.length).toBeLessThan(2);
    await running.stop();
    world.end();
  });

  test('has texts about its stops that name those of the whole bot too', async () => {
    const world = worldOf(5, {}, 'desk');
    const running = await started(world);
    await world.clock.advance(20_000);
    const said = async (action: Name, book?: string) =>
      (await act(world, world.stateDir, action, book)).lines.join('\n');
    expect(await said('pause')).not.toContain('also');
    expect(await said('pause', 'eth_mxn')).toContain(
      'the bot is also paused (the test), and stays paused after the pause',
    );
    expect(await said('reduce')).toMatch(
      /; also in force: pause by ann \(the test\), pause of eth_mxn by ann \(the test\)$/,
    );
    expect(await said('reduce', 'eth_mxn')).toMatch(
      /; also in force: pause by ann \(the test\), reduce by ann \(the test\), pause of eth_mxn by ann \(the test\)$/,
    );
    expect(await said('halt', 'eth_mxn')).toMatch(
      /; also in force: pause by ann .*, reduce of eth_mxn by ann \(the test\)$/,
    );
    await said('halt');
    const all = await said('pause', 'eth_mxn');
    for (const line of ['the bot is also halted', 'eth_mxn is also halted', 'the bot is also reduce-only'])
      expect(all).toContain(`${line} (the test), and stays`);
    expect(all).toContain('eth_mxn is also reduce-only (the test), and stays');
    expect(await said('halt', 'eth_mxn')).toContain('trading of eth_mxn is already halted by ann (the test)');
    expect(await said('reduce', 'eth_mxn')).toContain(
      'eth_mxn is already reduce-only (the test), so nothing was changed',
    );
    await running.stop();
    world.end();
  });

  test('of a bot with one book has no stop of its own', async () => {
    const world = worldOf(5);
    const running = await started(world);
    const refused = /has one book only; omit --book$/;
    await expect(act(world, world.stateDir, 'halt', 'btc_mxn')).rejects.toThrow(refused);
    // Stops from a time when the bot had several books.
    for (const book of ['btc_mxn', 'eth_mxn']) {
      bookLatchIn(world.stateDir, book).set({ reason: 'a halt', at: 1, by: 'person', who: 'ann' });
      for (const action of ['pause', 'reduce', 'halt'] as const)
        await expect(act(world, world.stateDir, action, book)).rejects.toThrow(refused);
      expect(await act(world, world.stateDir, 'resume', book)).toMatchObject({ end: 'done' });
    }
    expect((await botStatus(world.stateDir, world.clock)).heldBy).toEqual([]);
    await running.stop();
    world.end();
  });

  test('that a killed resume left keeps its halt, also if another book is resumed meanwhile', () => {
    const dir = folders.copyOf(folders.fresh());
    const ask = { by: 'ann', reason: 'it is over' };
    for (const book of ['btc_mxn', 'eth_mxn']) {
      const latch = bookLatchIn(dir, book);
      latch.set({ reason: 'a halt', at: 1, by: 'person' });
      latch.setPause({ reason: 'a pause', at: 1, by: 'person', who: 'ann', until: null });
    }
    const [btc, eth] = [
      { stateDir: dir, book: 'btc_mxn' },
      { stateDir: dir, book: 'eth_mxn' },
    ];
    // Killed after the pause ended, before the record of the resume was deleted.
    resumeOnce(btc, ask, 2);
    resumeOnce(eth, ask, 3);
    resumed(eth);
    expect(resumeOnce(btc, ask, 4)).toContain('an interrupted run of this command');
    expect(bookLatchIn(dir, 'btc_mxn').read()?.reason).toBe('a halt');
  });

  test('has its own stops after a kill at any request, whatever was asked before', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('pause', 'reduce', 'halt', 'resume'), fc.constantFrom(undefined, ...BOOKS)), {
          minLength: 1,
          maxLength: 5,
        }),
        fc.nat(1_000),
        async (asks, seed) => {
          const world = worldOf(seed, {}, 'desk');
          const first = await doomed(world, folders);
          await world.clock.advance(20_000);
          for (const [action, book] of asks) {
            await act(world, world.stateDir, action, book);
            await world.clock.advance(seed % 3 === 0 ? 3_000 : 500);
          }
          const dir = first.kill();
          const second = await restarted(world, dir);
          await world.clock.advance(30_000);
          const { heldBy } = await botStatus(dir, world.clock);
          const isStopped = (book: string) =>
            heldBy.some(held => (held.book ?? book) === book && (held.what === 'halt' || held.what === 'pause'));
          for (const book of BOOKS)
            if (isStopped(book)) expect({ book, ...openIn(world) }).toMatchObject({ [book]: 0 });
          for (const { symbol, haltedBecause, pausedBecause, reducingBecause } of replayedMoment({ dir, at: null })
            .engine.books) {
            expect(haltedBecause !== null || pausedBecause !== null).toBe(isStopped(symbol));
            const isReduced = heldBy.some(held => (held.book ?? symbol) === symbol && held.what === 'reduce');
            expect(reducingBecause !== null).toBe(isReduced);
          }
          expect((await second.stop()).left).toEqual([]);
          await first.running.stop();
          world.end();
        },
      ),
      runsOf(30, 3),
    );
  });
});
