import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { clientOf } from '../../src/cli/bot.ts';
import { randomOf, settle } from '../../src/core/index.ts';
import type { WireRequest } from '../../src/core/index.ts';
import { Secret } from '../../src/exchange/index.ts';
import { heartIn, readPulse, Watch } from '../../src/live/heart.ts';
import { latchIn } from '../../src/live/latch.ts';
import { watchOver } from '../../src/live/sentinel.ts';
import { wireTo } from './inProcess.ts';
import type { Fate } from './inProcess.ts';
import { Folders } from './states.ts';
import { memoryLog } from '../memoryLog.ts';
import { started, worldOf } from './world.ts';
import type { World } from './world.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const SECOND = 1_000;
const TTL = 30 * SECOND;
const account = (world: World) => world.box.exchange.venue.accounts.get(world.box.account.id)!;
const ours = (world: World) =>
  [...account(world).active.values()].filter(order => order.originId?.startsWith('demo-') === true);

/** A sentinel over a world's bot, with a key and a wire of its own. */
function sentinelOver(world: World, fate: (request: WireRequest) => Fate = () => 'arrives') {
  const { clock, box, config, stateDir } = world;
  const asked: WireRequest[] = [];
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
      heart: heartIn(stateDir, 'sentinel'),
      watch: new Watch(
        () => readPulse(stateDir, 'bot'),
        () => clock.elapsed(),
      ),
      book: config.book,
      instance: config.instance,
      ttlMs: TTL,
      ordersMax: config.limits.ordersMax,
    },
    ended.signal,
  );
  return {
    asked,
    log: lines,
    end: async () => {
      ended.abort();
      for (let i = 0; i < 100; i++) await clock.advance(100);
      await over;
    },
  };
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
  // To the exchange and to the sentinel the three look alike: nothing comes from the bot any more.
  test.each(['not sent', 'lost', 'unanswered'] as const)(
    'takes out a bot whose requests are %s from now on, within its time to live and ten seconds, latches, and never places',
    async fate => {
      const world = worldOf(41);
      let isDead = false;
      const bot = await started(world, { fate: () => (isDead ? fate : 'arrives') });
      const sentinel = sentinelOver(world);
      await world.clock.advance(30 * SECOND);
      expect(ours(world).length).toBeGreaterThan(0);
      expect(sentinel.log).toEqual([]);
      isDead = true;
      expect(await msToClear(world)).toBeLessThanOrEqual(TTL + 10 * SECOND);
      // A bot that still reaches the exchange takes its orders out by itself before.
      await world.clock.advance(TTL + 10 * SECOND);
      const halt = latchIn(world.stateDir).read();
      expect(halt?.by).toBe('sentinel');
      expect(halt?.reason).toMatch(/^sentinel: the bot has shown no life for 3\d s$/);
      expect(sentinel.asked.filter(({ method }) => method === 'POST')).toEqual([]);
      expect(sentinel.log.map(({ text }) => text).join('\n')).toMatch(/verified that no order of demo is left/);
      // The bot comes back, finds the latch and stays out.
      isDead = false;
      await world.clock.advance(60 * SECOND);
      expect(ours(world)).toEqual([]);
      await sentinel.end();
      await bot.stop();
      world.end();
    },
  );

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

  test('leaves a bot alone that is locked out and says so, though not for ever', async () => {
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
    expect(latchIn(world.stateDir).read()?.reason).toMatch(/^sentinel: the bot has shown no life/);
    await sentinel.end();
    await bot.stop();
    world.end();
  });

  test('takes out a bot that dies while it is locked out', async () => {
    const world = worldOf(50);
    heartIn(world.stateDir, 'bot').beat('alive');
    const sentinel = sentinelOver(world);
    world.other().limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: 'demo-1-1' });
    for (let s = 0; s < 20; s++) {
      heartIn(world.stateDir, 'bot').beat('kept out');
      await world.clock.advance(SECOND);
    }
    expect(await msToClear(world)).toBeLessThanOrEqual(TTL + 10 * SECOND);
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

  test('leaves a bot alone that a person resumed while its own wire was down, and latches its next death', async () => {
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
    expect([ours(world), latch.read()?.by]).toEqual([[], 'sentinel']);
    await sentinel.end();
    await bot.stop();
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

  test('latches a halt that the disk did not take as soon as it takes it', async () => {
    const world = worldOf(51);
    heartIn(world.stateDir, 'bot').beat('alive');
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
    heartIn(world.stateDir, 'bot').beat('alive');
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
    heartIn(world.stateDir, 'bot').beat('stopped');
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
  const watchOn = (dir: string) =>
    new Watch(
      () => readPulse(dir, 'bot'),
      () => clock.ms,
    );

  test('that was never felt is nothing to watch; one that stands still is counted from its last beat', async () => {
    const dir = folders.fresh();
    const watch = watchOn(dir);
    expect(watch.stillForMs()).toBeNull();
    const heart = heartIn(dir, 'bot');
    heart.beat('alive');
    expect(watch.stillForMs()).toBe(0);
    clock.ms += 500;
    expect(watch.stillForMs()).toBe(500);
    heart.beat('alive');
    expect(watch.stillForMs()).toBe(0);
    // A restart goes on counting, and is life.
    clock.ms += 100;
    heartIn(dir, 'bot').beat('alive');
    expect(watch.stillForMs()).toBe(0);
    await settle();
  });

  test('whose counter changed is life, whether it rose or fell: a state directory may have been put back', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { minLength: 1, maxLength: 20 }), counters => {
        let [now, counter] = [0, 0];
        const watch = new Watch(
          () => ({ counter, state: 'alive' }),
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

  test('that cannot be read any more stands still', () => {
    const dir = folders.fresh();
    const watch = watchOn(dir);
    heartIn(dir, 'bot').beat('alive');
    expect(watch.stillForMs()).toBe(0);
    writeFileSync(join(dir, 'heartbeat.json'), '{"coun');
    clock.ms += 700;
    expect(watch.stillForMs()).toBe(700);
  });

  test('on a disk that does not take it throws nothing', () => {
    const dir = folders.fresh();
    writeFileSync(dir, 'a file where a folder should be');
    expect(() => heartIn(dir, 'bot').beat('alive')).not.toThrow();
  });
});
