import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { clientOf } from '../../../src/wiring/bot.ts';
import { randomOf, Secret, settle, type WireRequest } from '../../../src/core/index.ts';
import { heartbeatIn, readHeartbeat, Watch } from '../../../src/live/safety/heartbeat.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { watchOver, type OrderBounds } from '../../../src/live/safety/sentinel.ts';
import { wireTo, type Fate } from '../inProcess.ts';
import { runsOf, testInMany } from '../../many.ts';
import { Folders } from '../states.ts';
import { memoryLog } from '../../memoryLog.ts';
import { started, worldOf, type World } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const SECOND = 1_000;
const TTL = 30 * SECOND;
const account = (world: World) => world.box.exchange.venue.accounts.get(world.box.account.id)!;
const ours = (world: World) =>
  [...account(world).active.values()].filter(order => order.originId?.startsWith('demo-') === true);

/** A sentinel over a world's bot, with a key and a wire of its own. */
function sentinelOver(
  world: World,
  fate: (request: WireRequest) => Fate = () => 'arrives',
  ttlMs = TTL,
  readBounds?: () => Promise<OrderBounds>,
) {
  const { clock, box, config, stateDir } = world;
  const asked: WireRequest[] = [];
  const counts: number[] = [];
  const { log, lines } = memoryLog();
  const key = box.exchange.venue.addKey(box.account.id, {});
  const transport = wireTo({
    exchange: box.exchange,
    clock,
    random: randomOf(77),
    deadlineMs: config.exchange.requestTimeoutMs,
    onArrival: request => void asked.push(request),
    fate,
  });
  const venue = { restUrl: 'http://127.0.0.1/api', key: key.key, secret: new Secret(key.secret), speed: 1, transport };
  const ended = new AbortController();
  const over = watchOver(
    {
      exchange: clientOf(config, venue, clock, 5),
      clock,
      log,
      latch: latchIn(stateDir),
      heartbeat: heartbeatIn(stateDir, 'sentinel', clock),
      watch: new Watch(
        () => readHeartbeat(stateDir, 'bot'),
        () => clock.elapsed(),
      ),
      book: config.book,
      instance: config.instance,
      ttlMs,
      ordersMax: config.limits.ordersMax,
      ...(readBounds && { readBounds }),
      resumeCommand: 'puntas resume -c my.yaml --reason "..."',
      onOrders: count => void counts.push(count),
    },
    ended.signal,
  );
  return {
    asked,
    counts,
    log: lines,
    end: async () => {
      ended.abort();
      for (let i = 0; i < 100; i++) await clock.advance(100);
      await over;
    },
  };
}

const said = ({ log }: ReturnType<typeof sentinelOver>): string[] => log.map(({ text }) => text);

/** What was lifted, by whom and why. */
function liftings({ stateDir }: World): unknown[] {
  const file = join(stateDir, 'resumed.jsonl');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map(line => JSON.parse(line) as unknown);
}

/** Milliseconds until no order of the bot lives. */
async function msToClear(world: World): Promise<number> {
  const from = world.clock.elapsed();
  while (ours(world).length > 0) {
    if (world.clock.elapsed() - from > 200 * SECOND) return Infinity;
    await world.clock.advance(250);
  }
  return world.clock.elapsed() - from;
}

describe('the sentinel', () => {
  // To the exchange and to the sentinel the three look alike: the bot lives, says so, and reads nothing any more.
  test.each(['not sent', 'lost', 'unanswered'] as const)(
    'takes out a bot whose requests are %s from now on, within its time to live and ten seconds, holds it back, never places, and lifts that by itself',
    async fate => {
      const world = worldOf(41);
      let isCut = false;
      const bot = await started(world, { fate: () => (isCut ? fate : 'arrives') });
      const sentinel = sentinelOver(world);
      await world.clock.advance(30 * SECOND);
      expect(ours(world).length).toBeGreaterThan(0);
      expect(sentinel.log).toEqual([]);
      isCut = true;
      expect(await msToClear(world)).toBeLessThanOrEqual(TTL + 10 * SECOND);
      // A bot that still reaches the exchange takes its orders out by itself before.
      await world.clock.advance(TTL + 10 * SECOND);
      const latch = latchIn(world.stateDir);
      expect(latch.readHold()?.reason).toMatch(
        /^sentinel: cut off: the bot runs but has read nothing for 3\d s, while the exchange answers the sentinel$/,
      );
      expect(latch.read()).toBeNull();
      expect(sentinel.asked.filter(({ method }) => method === 'POST')).toEqual([]);
      expect(said(sentinel).join('\n')).toMatch(
        /verified: no open orders of demo left; the bot's quotes are blocked until it reads the exchange again/,
      );
      await world.clock.advance(120 * SECOND);
      expect([ours(world), latch.read()]).toEqual([[], null]);
      // The bot reads again, and nobody had to come.
      isCut = false;
      await world.clock.advance(60 * SECOND);
      expect(latch.readHold()).toBeNull();
      expect(ours(world).length).toBeGreaterThan(0);
      expect(liftings(world)).toEqual([
        expect.objectContaining({ by: 'sentinel', reason: 'the bot kept running and reads the exchange again' }),
      ]);
      expect(bot.log.map(({ text }) => text).join('\n')).toMatch(/quotes are blocked until .* puntas resume --state /);
      await sentinel.end();
      await bot.stop();
      world.end();
    },
  );

  test('does nothing while the exchange answers neither it nor the bot, for ten minutes; then the bot quotes without a person', async () => {
    const world = worldOf(51);
    let isAway = false;
    const bot = await started(world, { fate: () => (isAway ? 'lost' : 'arrives') });
    const sentinel = sentinelOver(world, () => (isAway ? 'lost' : 'arrives'));
    await world.clock.advance(30 * SECOND);
    isAway = true;
    await world.clock.advance(600 * SECOND);
    isAway = false;
    await world.clock.advance(90 * SECOND);
    const latch = latchIn(world.stateDir);
    expect([latch.read(), latch.readHold(), liftings(world)]).toEqual([null, null, []]);
    expect(ours(world).length).toBeGreaterThan(0);
    // Once, once a minute, and once when it is over; and as often why nothing is done.
    const times = (pattern: RegExp) => said(sentinel).filter(text => pattern.test(text)).length;
    expect(times(/the exchange (has been|is still) unreachable since/)).toBeLessThanOrEqual(11);
    expect(times(/answers neither the running bot nor the sentinel/)).toBeLessThanOrEqual(11);
    // It counts from its own first request that was lost, up to ten seconds and a deadline after the exchange went away, to its own next one.
    const back = said(sentinel).flatMap(text => /the exchange answers again after (\d+) s/.exec(text)?.[1] ?? []);
    expect(back).toHaveLength(1);
    expect(Number(back[0])).toBeGreaterThanOrEqual(600 - 10 - 5 - 1);
    expect(Number(back[0])).toBeLessThanOrEqual(600 + 2 + 5 + 1);
    expect(sentinel.log.length).toBeLessThanOrEqual(25);
    expect(sentinel.asked.filter(({ method }) => method === 'DELETE')).toEqual([]);
    await sentinel.end();
    await bot.stop();
    world.end();
  });

  test('gives a bot time to find out that an outage is over', async () => {
    const world = worldOf(52);
    const away = { bot: false, sentinel: false };
    const bot = await started(world, { fate: () => (away.bot ? 'lost' : 'arrives') });
    const sentinel = sentinelOver(world, () => (away.sentinel ? 'lost' : 'arrives'));
    await world.clock.advance(30 * SECOND);
    away.bot = away.sentinel = true;
    await world.clock.advance(120 * SECOND);
    away.sentinel = false;
    await world.clock.advance(9 * SECOND);
    away.bot = false;
    await world.clock.advance(60 * SECOND);
    expect([latchIn(world.stateDir).readHold(), liftings(world)]).toEqual([null, []]);
    expect(ours(world).length).toBeGreaterThan(0);
    await sentinel.end();
    await bot.stop();
    world.end();
  });

  test('lifts no halt of a person or of the bot, and a hold no longer by itself when the bot was started anew', async () => {
    const world = worldOf(53);
    let isCut = false;
    const bot = await started(world, { fate: () => (isCut ? 'not sent' : 'arrives') });
    const sentinel = sentinelOver(world);
    const latch = latchIn(world.stateDir);
    await world.clock.advance(30 * SECOND);
    isCut = true;
    await world.clock.advance(60 * SECOND);
    expect(latch.readHold()).not.toBeNull();
    latch.set({ reason: 'by hand', at: 0, by: 'person' });
    isCut = false;
    await world.clock.advance(60 * SECOND);
    expect([latch.readHold(), latch.read()?.reason]).toEqual([null, 'by hand']);
    expect(ours(world)).toEqual([]);
    latch.lift('seen');
    await world.clock.advance(20 * SECOND);
    expect(ours(world).length).toBeGreaterThan(0);
    isCut = true;
    await world.clock.advance(60 * SECOND);
    expect(latch.readHold()).not.toBeNull();
    heartbeatIn(world.stateDir, 'bot', world.clock).read();
    await world.clock.advance(5 * SECOND);
    expect(latch.readHold()).toBeNull();
    expect(latch.read()?.reason).toMatch(/^sentinel: the bot was started anew while it was held back \(cut off/);
    await sentinel.end();
    await bot.stop();
    world.end();
  });

  test('cancels what a cut off bot left also while the disk does not take the hold, and writes the hold when it does', async () => {
    const world = worldOf(57);
    let isCut = false;
    const bot = await started(world, { fate: () => (isCut ? 'not sent' : 'arrives') });
    const sentinel = sentinelOver(world);
    await world.clock.advance(30 * SECOND);
    expect(ours(world).length).toBeGreaterThan(0);
    // A folder where the hold is written first: no file can be made there.
    const inTheWay = join(world.stateDir, 'HELD.new');
    mkdirSync(inTheWay);
    isCut = true;
    await world.clock.advance(60 * SECOND);
    expect([latchIn(world.stateDir).readHold(), ours(world)]).toEqual([null, []]);
    rmSync(inTheWay, { recursive: true });
    await world.clock.advance(20 * SECOND);
    expect(latchIn(world.stateDir).readHold()).not.toBeNull();
    isCut = false;
    await world.clock.advance(60 * SECOND);
    expect(latchIn(world.stateDir).readHold()).toBeNull();
    expect(ours(world).length).toBeGreaterThan(0);
    await sentinel.end();
    await bot.stop();
    world.end();
  });

  test('a bot that is no longer held back goes on as it was: what it lost still counts, and inventory is only closed', async () => {
    const world = worldOf(54);
    let isCut = false;
    const bot = await started(world, { fate: () => (isCut ? 'not sent' : 'arrives') });
    const sentinel = sentinelOver(world);
    const latch = latchIn(world.stateDir);
    latch.setReduce({ reason: 'a person says so', at: 0, by: 'person' });
    await world.clock.advance(30 * SECOND);
    isCut = true;
    await world.clock.advance(60 * SECOND);
    isCut = false;
    await world.clock.advance(60 * SECOND);
    expect([latch.read(), latch.readHold(), latch.readReduce()?.reason]).toEqual([null, null, 'a person says so']);
    const regimes = bot.log.flatMap(({ text }) => /^(?:not quoting: (.*)|quoting)$/.exec(text)?.[1] ?? []);
    expect(regimes).toContain('held by the sentinel');
    expect(regimes).not.toContain('halted');
    await sentinel.end();
    await bot.stop();
    world.end();
  });

  test('works on through an exchange that answers with errors', async () => {
    const world = worldOf(42);
    let isDead = false;
    const dice = randomOf(9);
    const broken = { status: 500, headers: {}, body: '<html>oops</html>' };
    const bot = await started(world, { fate: () => (isDead ? 'not sent' : 'arrives') });
    const sentinel = sentinelOver(world, () => (isDead && dice.next() < 0.6 ? { instead: broken } : 'arrives'));
    await world.clock.advance(30 * SECOND);
    isDead = true;
    expect(await msToClear(world)).toBeLessThanOrEqual(TTL + 10 * SECOND);
    await sentinel.end();
    await bot.stop();
    world.end();
  });

  testInMany('leaves a bot alone that is locked out and says so, though not for ever', async () => {
    const world = worldOf(49);
    let lockedOut = false;
    const answer = { status: 420, headers: {}, body: '{"success":false,"error":{"code":"0801","message":"too many"}}' };
    const isPrivate = ({ headers }: WireRequest) => 'authorization' in headers;
    const bot = await started(world, {
      fate: request =>
        lockedOut && isPrivate(request) && request.method !== 'DELETE' ? { instead: answer } : 'arrives',
    });
    const sentinel = sentinelOver(world);
    await world.clock.advance(30 * SECOND);
    lockedOut = true;
    // It knows, and takes its orders out by itself.
    expect(await msToClear(world)).toBeLessThanOrEqual(20 * SECOND);
    await world.clock.advance(100 * SECOND);
    expect(sentinel.log).toEqual([]);
    expect(latchIn(world.stateDir).read()).toBeNull();
    lockedOut = false;
    await world.clock.advance(70 * SECOND);
    expect(ours(world).length).toBeGreaterThan(0);
    expect(latchIn(world.stateDir).read()).toBeNull();
    lockedOut = true;
    await world.clock.advance(240 * SECOND);
    expect(latchIn(world.stateDir).readHold()?.reason).toMatch(/^sentinel: cut off: the bot runs but has read nothing/);
    lockedOut = false;
    await world.clock.advance(90 * SECOND);
    expect([latchIn(world.stateDir).readHold(), latchIn(world.stateDir).read()]).toEqual([null, null]);
    expect(ours(world).length).toBeGreaterThan(0);
    await sentinel.end();
    await bot.stop();
    world.end();
  });

  test('takes out a bot that dies while it is locked out', async () => {
    const world = worldOf(50);
    heartbeatIn(world.stateDir, 'bot', world.clock).beat('alive');
    const sentinel = sentinelOver(world);
    world.other().limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: 'demo-1-1' });
    for (let s = 0; s < 20; s++) {
      heartbeatIn(world.stateDir, 'bot', world.clock).beat('kept out');
      await world.clock.advance(SECOND);
    }
    expect(await msToClear(world)).toBeLessThanOrEqual(TTL + 10 * SECOND);
    await sentinel.end();
    world.end();
  });

  test.each([
    ['is not sent', 'not sent'],
    ['is not answered', 'lost'],
    ['is answered with an error', { instead: { status: 500, headers: {}, body: '<html>oops</html>' } }],
  ] as const)(
    'takes a count that %s for no count: it reports none, and counts again within seconds of the next answer',
    async (_, failed) => {
      const world = worldOf(61);
      world.box.stop();
      let [isAway, tries] = [false, 0];
      const sentinel = sentinelOver(world, () => (isAway ? (tries++, failed) : 'arrives'));
      latchIn(world.stateDir).set({ reason: 'by hand', at: 0, by: 'person' });
      for (let times = 0; times < 3; times++) {
        await world.clock.advance(5 * SECOND);
        [isAway, tries] = [true, 0];
        const counted = sentinel.counts.length;
        while (tries === 0) await world.clock.advance(250);
        await world.clock.advance(SECOND);
        // A request of the halted bot arrives late.
        world.other().limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: `demo-1-${times + 1}` });
        isAway = false;
        // The next regular count would be ten seconds after the one that failed.
        expect(await msToClear(world)).toBeLessThanOrEqual(failed === 'lost' ? 7_500 : 4_000);
        expect(sentinel.counts.slice(counted)).toEqual([]);
        for (let n = 0; n < 120 && sentinel.counts.length === counted; n++) await world.clock.advance(SECOND);
        expect(sentinel.counts.at(-1)).toBe(0);
      }
      await sentinel.end();
      world.end();
    },
  );

  test.each([
    ['reads within a round of reads', 10, false],
    ['reads nothing all the same', 60, true],
  ])('holds a bot back that was kept out for a minute and then %s after %i s: %s', async (_, seconds, isHeld) => {
    const world = worldOf(58);
    const beat = heartbeatIn(world.stateDir, 'bot', world.clock);
    beat.read();
    const sentinel = sentinelOver(world);
    const passes = async (count: number, state: 'alive' | 'kept out') => {
      for (let s = 0; s < count; s++) {
        beat.beat(state);
        await world.clock.advance(SECOND);
      }
    };
    await passes(5, 'alive');
    await passes(62, 'kept out');
    await passes(seconds, 'alive');
    expect(latchIn(world.stateDir).readHold() !== null).toBe(isHeld);
    beat.read();
    await passes(20, 'alive');
    expect(latchIn(world.stateDir).readHold()).toBeNull();
    await sentinel.end();
    world.end();
  });

  test("cancels no order of somebody else's", async () => {
    const world = worldOf(43);
    const other = world.other();
    const theirs = [
      other.limit('btc_mxn', 'buy', '1000000', '0.001'),
      other.limit('btc_mxn', 'buy', '1000010', '0.001', { origin_id: 'demo2-1-1' }),
    ];
    let isDead = false;
    const bot = await started(world, { fate: () => (isDead ? 'not sent' : 'arrives') });
    const sentinel = sentinelOver(world);
    await world.clock.advance(20 * SECOND);
    isDead = true;
    expect(await msToClear(world)).toBeLessThan(Infinity);
    await world.clock.advance(10 * SECOND);
    expect([...account(world).active.keys()].sort()).toEqual([...theirs].sort());
    await sentinel.end();
    await bot.stop();
    world.end();
  });

  test('leaves a bot alone that stopped cleanly, and one that lives', async () => {
    const world = worldOf(44);
    const bot = await started(world);
    const sentinel = sentinelOver(world);
    await world.clock.advance(120 * SECOND);
    await bot.stop();
    await world.clock.advance(120 * SECOND);
    expect(latchIn(world.stateDir).read()).toBeNull();
    expect(sentinel.log).toEqual([]);
    expect(sentinel.asked.filter(({ method }) => method === 'DELETE')).toEqual([]);
    await sentinel.end();
    world.end();
  });

  test('leaves a bot alone that a person resumed while its own wire was down, and holds it back when it is cut off the next time', async () => {
    const world = worldOf(49);
    let isCut = false;
    let isDead = false;
    const bot = await started(world, { fate: () => (isDead ? 'not sent' : 'arrives') });
    const sentinel = sentinelOver(world, () => (isCut ? 'not sent' : 'arrives'));
    const latch = latchIn(world.stateDir);
    await world.clock.advance(20 * SECOND);
    isCut = true;
    latch.set({ reason: 'by hand', at: 0, by: 'person' });
    await world.clock.advance(20 * SECOND);
    latch.lift('by hand');
    await world.clock.advance(60 * SECOND);
    expect(ours(world).length).toBeGreaterThan(0);
    isCut = false;
    await world.clock.advance(60 * SECOND);
    expect(ours(world).length).toBeGreaterThan(0);
    expect(sentinel.asked.filter(({ method }) => method === 'DELETE')).toEqual([]);
    isDead = true;
    await world.clock.advance(TTL + 10 * SECOND);
    expect([ours(world), latch.readHold()?.by]).toEqual([[], 'sentinel']);
    await sentinel.end();
    await bot.stop();
    world.end();
  });

  test('cancels nothing after the resume of a person, though the bot still reads nothing; its next silence is a new one', async () => {
    const world = worldOf(55);
    let isCut = false;
    const bot = await started(world, { fate: () => (isCut ? 'not sent' : 'arrives') });
    const sentinel = sentinelOver(world);
    const latch = latchIn(world.stateDir);
    await world.clock.advance(30 * SECOND);
    isCut = true;
    await world.clock.advance(60 * SECOND);
    expect(ours(world)).toEqual([]);
    latch.lift('a person knows of the line');
    await world.clock.advance(2 * SECOND);
    // Of the bot that was resumed: what it sent before, and arrives now.
    world.other().limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: 'demo-1-1' });
    const before = sentinel.asked.length;
    await world.clock.advance(120 * SECOND);
    expect(sentinel.asked.slice(before).filter(({ method }) => method === 'DELETE')).toEqual([]);
    expect([ours(world).length, latch.readHold(), latch.read()]).toEqual([1, null, null]);
    isCut = false;
    await world.clock.advance(20 * SECOND);
    isCut = true;
    await world.clock.advance(60 * SECOND);
    expect([ours(world), latch.readHold()?.by]).toEqual([[], 'sentinel']);
    await sentinel.end();
    await bot.stop();
    world.end();
  });

  test('holds back each silence of each process once: none again that a person resumed, and each later one, after however many reads', async () => {
    const episode = fc.record({ isNew: fc.boolean(), reads: fc.nat(2) });
    await fc.assert(
      fc.asyncProperty(fc.array(episode, { minLength: 2, maxLength: 4 }), async episodes => {
        const world = worldOf(60);
        world.box.stop();
        const latch = latchIn(world.stateDir);
        const sentinel = sentinelOver(world, () => 'arrives', 6 * SECOND);
        let heart = heartbeatIn(world.stateDir, 'bot', world.clock);
        for (const [n, { isNew, reads }] of episodes.entries()) {
          if (isNew) heart = heartbeatIn(world.stateDir, 'bot', world.clock);
          for (let i = 0; i < reads; i++) heart.read();
          let seconds = 0;
          for (; latch.readHold() === null && seconds < 14; seconds++) {
            heart.beat('alive');
            await world.clock.advance(SECOND);
          }
          expect(latch.readHold() !== null, `episode ${n}`).toBe(n === 0 || isNew || reads > 0);
          if (latch.readHold() !== null) latch.lift('seen');
        }
        expect(latch.read()).toBeNull();
        await sentinel.end();
        world.end();
      }),
      {
        ...runsOf(20, 2),
        // One by one: the same silence, the next one, and those of three new processes, the last two after as many reads.
        examples: [
          [
            [
              [false, 0],
              [false, 0],
              [false, 1],
              [true, 0],
              [true, 1],
              [true, 1],
              [true, 0],
            ].map(([isNew, reads]) => ({ isNew, reads }) as never),
          ],
        ],
      },
    );
  });

  test('that slept while the bot was cut off and came back knows only of how it is now', async () => {
    const world = worldOf(56);
    const clock = world.clock;
    const beat = heartbeatIn(world.stateDir, 'bot', clock);
    const watch = new Watch(
      () => readHeartbeat(world.stateDir, 'bot'),
      () => clock.elapsed(),
    );
    beat.read();
    expect(watch.look()?.unreadMs).toBe(0);
    // Nobody looks for five minutes, in which it was cut off, read once, and was cut off again.
    await clock.advance(200 * SECOND);
    beat.read();
    await clock.advance(100 * SECOND);
    beat.beat('kept out');
    expect(watch.look()).toMatchObject({ stillMs: 0, unreadMs: 100 * SECOND, record: { reads: 2, state: 'kept out' } });
    // And nothing at all is counted from waking, not from before.
    await clock.advance(300 * SECOND);
    expect(watch.look()?.stillMs).toBe(0);
    await clock.advance(20 * SECOND);
    expect(watch.look()?.stillMs).toBe(20 * SECOND);
    world.end();
  });

  test.each([
    ['dead', 'dead: its process \\d+ is gone'],
    ['frozen', 'frozen: its process \\d+ is there'],
  ])('says of a bot without life that it is %s, and both are halted until a person resumes', async (how, words) => {
    const world = worldOf(57);
    const file = join(world.stateDir, 'heartbeat.json');
    heartbeatIn(world.stateDir, 'bot', world.clock).read();
    const pulse = JSON.parse(readFileSync(file, 'utf8')) as { process: { pid: number } };
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const pid = child.pid!;
    if (how === 'dead') {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    writeFileSync(file, JSON.stringify({ ...pulse, process: { ...pulse.process, pid } }));
    const sentinel = sentinelOver(world);
    await world.clock.advance(TTL + 5 * SECOND);
    child.kill('SIGKILL');
    expect(latchIn(world.stateDir).read()?.reason).toMatch(
      new RegExp(`^sentinel: the bot has shown no life for 3\\d s; ${words}$`),
    );
    expect(said(sentinel).join('\n')).toContain(
      'trading stays halted; investigate, then resume with: puntas resume -c my.yaml --reason "..."',
    );
    await sentinel.end();
    world.end();
  });

  test('fires on more live orders than the limit, whatever the bot says', async () => {
    const world = worldOf(45);
    const other = world.other();
    for (let i = 0; i < 13; i++)
      other.limit('btc_mxn', 'buy', String(1_000_000 + i * 10), '0.001', { origin_id: `demo-1-${i}` });
    const sentinel = sentinelOver(world);
    expect(await msToClear(world)).toBeLessThanOrEqual(15 * SECOND);
    expect(latchIn(world.stateDir).read()?.reason).toBe('sentinel: 13 live orders, the limit is 12');
    await sentinel.end();
    world.end();
  });

  test('cancels the orders that the state of a halted bot lists, though no read of open orders has an answer', async () => {
    const world = worldOf(46);
    world.box.stop();
    const known = ['demo-1-1', 'demo-1-2'];
    for (const originId of known) world.other().limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: originId });
    latchIn(world.stateDir).set({ reason: 'by the test', at: world.clock.now(), by: 'person' });
    const sentinel = sentinelOver(
      world,
      ({ method }) => (method === 'GET' ? 'lost' : 'arrives'),
      TTL,
      () => Promise.resolve({ others: [], known, ordersMax: 12 }),
    );
    await world.clock.advance(20 * SECOND);
    expect(ours(world)).toEqual([]);
    // Unanswered reads verify no end.
    expect(said(sentinel).join('\n')).not.toMatch(/verified/);
    await sentinel.end();
    world.end();
  });

  test('counts by the limit and in the books of the last run, and gives a lower limit the time until the next count', async () => {
    const world = worldOf(45);
    world.box.stop();
    heartbeatIn(world.stateDir, 'bot', world.clock).read();
    const other = world.other();
    const place = (book: string, from: number, count: number) => {
      for (let i = from; i < from + count; i++)
        other.limit(book, 'buy', String(1_000_000 + i * 10), '0.001', { origin_id: `demo-1-${i}` });
    };
    const bounds = { others: [] as readonly string[], known: [], ordersMax: 12 };
    const sentinel = sentinelOver(
      world,
      () => 'arrives',
      600 * SECOND,
      () => Promise.resolve({ ...bounds }),
    );
    const reason = () => latchIn(world.stateDir).read()?.reason ?? null;
    place('btc_mxn', 0, 12);
    await world.clock.advance(15 * SECOND);
    expect(reason()).toBeNull();
    // A reload raises the limit, and then lowers it: orders beyond it are permitted until the next count.
    bounds.ordersMax = 20;
    place('btc_mxn', 12, 8);
    await world.clock.advance(40 * SECOND);
    expect([reason(), ours(world).length]).toEqual([null, 20]);
    bounds.ordersMax = 15;
    await world.clock.advance(11 * SECOND);
    expect(reason()).toBeNull();
    await world.clock.advance(11 * SECOND);
    expect(reason()).toBe('sentinel: 20 live orders, the limit is 15');
    await world.clock.advance(15 * SECOND);
    expect(ours(world)).toEqual([]);
    await sentinel.end();
    world.end();
  });

  test.each([0, 700, 5_000])(
    'counts by a limit that a reload raises while the orders are read, though its read takes %i ms',
    async readMs => {
      const world = worldOf(45);
      const { clock } = world;
      world.box.stop();
      heartbeatIn(world.stateDir, 'bot', clock).read();
      const place = (from: number, count: number) => {
        for (let i = from; i < from + count; i++)
          world.other().limit('btc_mxn', 'buy', String(1_000_000 + i * 10), '0.001', { origin_id: `demo-1-${i}` });
      };
      let ordersMax = 12;
      let next: (() => void) | null = null;
      const sentinel = sentinelOver(
        world,
        ({ target }) => {
          if (/open_orders/.test(target)) {
            next?.();
            next = null;
          }
          return 'arrives';
        },
        600 * SECOND,
        () => new Promise(resolve => clock.after(readMs, () => resolve({ others: [], known: [], ordersMax }))),
      );
      const reason = () => latchIn(world.stateDir).read()?.reason ?? null;
      place(0, 12);
      await clock.advance(30 * SECOND);
      next = () => {
        ordersMax = 20;
        place(12, 8);
      };
      await clock.advance(30 * SECOND);
      expect([next, reason(), ours(world).length]).toEqual([null, null, 20]);
      // A limit that is raised too little is the one that the reason names.
      next = () => {
        ordersMax = 21;
        place(20, 2);
      };
      await clock.advance(30 * SECOND);
      expect([next, reason()]).toEqual([null, 'sentinel: 22 live orders, the limit is 21']);
      await sentinel.end();
      world.end();
    },
  );

  test('takes out the second bot that dies, is halted or has too many orders as soon as the first, and says each time that none is left', async () => {
    const BOUND = { halted: 4, dead: 10, 'too many orders': 14 } as const;
    const episode = fc.record({
      cause: fc.constantFrom('halted', 'halted', 'too many orders', 'dead'),
      aliveS: fc.integer({ min: 1, max: 12 }),
    });
    const causes = [...(['halted', 'halted', 'dead', 'dead', 'too many orders'] as const).entries()];
    await fc.assert(
      fc.asyncProperty(fc.array(episode, { minLength: 2, maxLength: 3 }), async episodes => {
        const world = worldOf(59);
        world.box.stop();
        const latch = latchIn(world.stateDir);
        const heart = heartbeatIn(world.stateDir, 'bot', world.clock);
        heart.read();
        const sentinel = sentinelOver(world, () => 'arrives', 6 * SECOND);
        const other = world.other();
        let count = 0;
        const place = (orders: number) => {
          for (let i = 0; i < orders; i++)
            other.limit('btc_mxn', 'buy', String(1_000_000 + ++count * 10), '0.001', { origin_id: `demo-1-${count}` });
        };
        const passes = async () => {
          heart.read();
          await world.clock.advance(SECOND);
        };
        for (const [n, { cause, aliveS }] of episodes.entries()) {
          for (let s = 0; s < aliveS; s++) await passes();
          place(cause === 'too many orders' ? 13 : 2);
          if (cause === 'halted') latch.set({ reason: 'by hand', at: world.clock.now(), by: 'person' });
          let seconds = 0;
          for (; ours(world).length > 0 && seconds <= BOUND[cause]; seconds++)
            await (cause === 'dead' ? world.clock.advance(SECOND) : passes());
          expect(seconds, cause).toBeLessThanOrEqual(BOUND[cause]);
          for (let s = 0; s < 3; s++) await (cause === 'dead' ? world.clock.advance(SECOND) : passes());
          expect(said(sentinel).filter(text => text.includes('verified: no open orders of demo left'))).toHaveLength(
            n + 1,
          );
          expect(latch.read()?.by).toBe(cause === 'halted' ? 'person' : 'sentinel');
          heart.read();
          latch.lift('seen');
        }
        await sentinel.end();
        world.end();
      }),
      {
        ...runsOf(10, 1),
        examples: [[causes.map(([n, cause]) => ({ cause, aliveS: 3 + n }))]],
      },
    );
  });

  // Each of these turns the hold of a bot that reads nothing into a halt.
  test.each(['dead', 'halted', 'started anew'] as const)(
    'says that trading stays halted when a bot that it holds back is %s, and verifies its orders again',
    async cause => {
      const world = worldOf(53);
      world.box.stop();
      const latch = latchIn(world.stateDir);
      const heart = heartbeatIn(world.stateDir, 'bot', world.clock);
      heart.read();
      const sentinel = sentinelOver(world, () => 'arrives', 6 * SECOND);
      const beatFor = async (seconds: number, beat: () => void) => {
        for (let s = 0; s < seconds; s++) {
          beat();
          await world.clock.advance(SECOND);
        }
      };
      await beatFor(12, () => heart.beat('alive'));
      const verified = () => said(sentinel).filter(text => text.includes('verified: no open orders of demo left'));
      expect(verified()).toEqual([expect.stringContaining('blocked until it reads the exchange again')]);
      expect(latch.read()).toBeNull();
      if (cause === 'halted') latch.set({ reason: 'by hand', at: world.clock.now(), by: 'person' });
      const next = cause === 'started anew' ? heartbeatIn(world.stateDir, 'bot', world.clock) : heart;
      await beatFor(14, cause === 'dead' ? () => undefined : () => next.beat('alive'));
      expect(latch.read()?.by).toBe(cause === 'halted' ? 'person' : 'sentinel');
      expect(ours(world)).toEqual([]);
      expect(verified().at(-1)).toContain('trading stays halted');
      await sentinel.end();
      world.end();
    },
  );

  test('latches a halt that the disk did not take as soon as it takes it', async () => {
    const world = worldOf(51);
    heartbeatIn(world.stateDir, 'bot', world.clock).beat('alive');
    const sentinel = sentinelOver(world);
    // A folder where the latch is written first: no file can be made there.
    const inTheWay = join(world.stateDir, 'HALTED.new');
    mkdirSync(inTheWay);
    await world.clock.advance(TTL + 20 * SECOND);
    expect(latchIn(world.stateDir).read()).toBeNull();
    rmSync(inTheWay, { recursive: true });
    await world.clock.advance(20 * SECOND);
    expect(latchIn(world.stateDir).read()).toMatchObject({ by: 'sentinel' });
    await sentinel.end();
    world.end();
  });

  test('takes out what arrives late of a bot that it took for dead', async () => {
    const world = worldOf(46);
    heartbeatIn(world.stateDir, 'bot', world.clock).beat('alive');
    const sentinel = sentinelOver(world);
    await world.clock.advance(TTL + 10 * SECOND);
    expect(latchIn(world.stateDir).read()).not.toBeNull();
    world.other().limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: 'demo-1-1' });
    await world.clock.advance(15 * SECOND);
    expect(ours(world)).toEqual([]);
    await sentinel.end();
    world.end();
  });

  test('asks little while it has nothing to do: a halted bot costs no more than a healthy one', async () => {
    const world = worldOf(47);
    heartbeatIn(world.stateDir, 'bot', world.clock).beat('stopped');
    latchIn(world.stateDir).set({ reason: 'by hand', at: 0, by: 'person' });
    const sentinel = sentinelOver(world);
    await world.clock.advance(5 * SECOND);
    const before = sentinel.asked.length;
    await world.clock.advance(60 * SECOND);
    expect(sentinel.asked.length - before).toBeLessThanOrEqual(7);
    await sentinel.end();
    world.end();
  });
});

describe('a bot that is asked to have a sentinel', () => {
  test('quotes only while it shows life, and withdraws when it has shown none for a minute', async () => {
    const world = worldOf(48, { sentinel: { required: true } });
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    expect(ours(world)).toEqual([]);
    const sentinel = sentinelOver(world);
    await world.clock.advance(20 * SECOND);
    expect(ours(world).length).toBeGreaterThan(0);
    await sentinel.end();
    rmSync(join(world.stateDir, 'sentinel.json'), { force: true });
    await world.clock.advance(70 * SECOND);
    expect(ours(world)).toEqual([]);
    expect(bot.log.map(({ text }) => text).join('\n')).toContain('not quoting: sentinel is missing');
    await bot.stop();
    world.end();
  });
});

describe('a pulse', () => {
  const clock = { ms: 0 };
  const time = { now: () => clock.ms, elapsed: () => clock.ms };
  const watchOn = (dir: string) =>
    new Watch(
      () => readHeartbeat(dir, 'bot'),
      () => clock.ms,
    );

  test('that was never felt is nothing to watch; one that stands still is counted from its last beat', async () => {
    const dir = folders.fresh();
    const watch = watchOn(dir);
    expect(watch.stillForMs()).toBeNull();
    const heart = heartbeatIn(dir, 'bot', time);
    heart.beat('alive');
    expect(watch.stillForMs()).toBe(0);
    clock.ms += 500;
    expect(watch.stillForMs()).toBe(500);
    heart.beat('alive');
    expect(watch.stillForMs()).toBe(0);
    // A restart goes on counting, and is life.
    clock.ms += 100;
    heartbeatIn(dir, 'bot', time).beat('alive');
    expect(watch.stillForMs()).toBe(0);
    await settle();
  });

  test('whose counter changed is life, whether it rose or fell: a state directory may have been put back', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { minLength: 1, maxLength: 20 }), counters => {
        let [now, counter] = [0, 0];
        const watch = new Watch(
          () => ({ counter, state: 'alive', born: 0, reads: 0, unreadMs: 0 }),
          () => now,
        );
        watch.stillForMs();
        let movedAt = 0;
        for (const next of counters) {
          now += 1_000;
          if (next !== counter) movedAt = now;
          counter = next;
          expect(watch.stillForMs()).toBe(now - movedAt);
        }
      }),
    );
  });

  test('of a process that is started again and again counts what nobody has read, until one has, or has stopped', () => {
    const step = fc.record({
      what: fc.constantFrom('beat', 'beat', 'read', 'crash', 'stop'),
      ms: fc.integer({ min: 500, max: 20_000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), steps => {
        const dir = folders.fresh();
        clock.ms += 1_000_000;
        const watch = watchOn(dir);
        let heart = heartbeatIn(dir, 'bot', time);
        heart.beat('alive');
        // Of the bot, whichever process it was: its last whole read, or its beginning where nothing had run before.
        let readAt = clock.ms;
        let isOver = false;
        watch.look();
        for (const { what, ms } of steps) {
          for (let left = ms; left > 0; left -= 1_000) {
            clock.ms += Math.min(left, 1_000);
            watch.look();
          }
          if (isOver && what === 'stop') continue;
          if (isOver || what === 'crash') {
            heart = heartbeatIn(dir, 'bot', time);
            if (isOver) readAt = clock.ms;
          }
          isOver = what === 'stop';
          if (what === 'read') heart.read();
          else heart.beat(isOver ? 'stopped' : 'alive');
          if (what === 'read') readAt = clock.ms;
          expect(watch.look()?.unreadMs ?? null).toBe(isOver ? null : clock.ms - readAt);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('that cannot be read any more stands still', () => {
    const dir = folders.fresh();
    const watch = watchOn(dir);
    heartbeatIn(dir, 'bot', time).beat('alive');
    expect(watch.stillForMs()).toBe(0);
    writeFileSync(join(dir, 'heartbeat.json'), '{"coun');
    clock.ms += 700;
    expect(watch.stillForMs()).toBe(700);
  });

  test('on a disk that does not take it throws nothing', () => {
    const dir = folders.fresh();
    writeFileSync(dir, 'a file where a folder should be');
    expect(() => heartbeatIn(dir, 'bot', time).beat('alive')).not.toThrow();
  });
});
