import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { moneyOf, textOfMoney, type WireRequest } from '../../../src/core/index.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import type { Config } from '../../../src/config.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { CannotStart } from '../../../src/live/loop/opening.ts';
import { few } from '../../many.ts';
import type { Fate } from '../inProcess.ts';
import { doomed, failedStart, restarted } from '../crashes.ts';
import { Folders, opened, textOf } from '../states.ts';
import { advanceUntil, worldOf, type Running, type World } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const SECOND = 1_000;
const PREFIX = 'demo-';
const account = (world: World) => world.box.exchange.venue.accounts.get(world.box.account.id)!;
const ours = (world: World) =>
  [...account(world).active.values()].filter(order => order.originId?.startsWith(PREFIX) === true);
const truth = (world: World) => world.box.exchange.truth().accounts.get(world.box.account.id)!;
const isPlacing = ({ method, target }: WireRequest): boolean => method === 'POST' && target.includes('/orders');
const idOf = ({ body }: WireRequest): string => (JSON.parse(body) as { origin_id: string }).origin_id;
const placedIds = (running: Running): string[] => running.arrived.filter(isPlacing).map(idOf);
const texts = (running: Running): string => running.log.map(({ text }) => text).join('\n');

/** Seconds until both sides are quoted; at no second more than the configured levels stand on a side. */
async function secondsToQuote(world: World, most: number): Promise<number> {
  const { levels = 1 } = world.config.strategy;
  for (let second = 0; second <= most; second++) {
    const [bids, asks] = (['buy', 'sell'] as const).map(side => ours(world).filter(o => o.side === side).length);
    expect(Math.max(bids!, asks!)).toBeLessThanOrEqual(levels);
    if (Math.min(bids!, asks!) > 0 && ours(world).every(order => order.status !== 'queued')) return second;
    await world.clock.advance(SECOND);
  }
  return Infinity;
}

/** A clean end in which every number equals the exchange's. */
async function endsClean(world: World, running: Running): Promise<void> {
  const { summary, left, failure } = await running.stop();
  expect({ left, failure, live: ours(world) }).toEqual({ left: [], failure: null, live: [] });
  expect(summary.ledgerMatches).toBe(true);
  for (const [currency, held] of Object.entries(summary.position!))
    expect(held).toBe(textOfMoney(truth(world).balances.get(currency)!.total));
}

describe('after a kill', () => {
  test('every nonce is above all that left before, also when the clock was set back meanwhile', async () => {
    const world = worldOf(33);
    const noncesOf = ({ arrived }: Running): bigint[] =>
      arrived.flatMap(({ headers }) => {
        const nonce = headers['authorization']?.split(':')[1];
        return nonce === undefined ? [] : [BigInt(nonce)];
      });
    const first = await doomed(world, folders);
    await world.clock.advance(10 * SECOND);
    const left = first.kill();
    world.clock.step(-7_200_000);
    const second = await restarted(world, left);
    await world.clock.advance(10 * SECOND);
    const [before, after] = [noncesOf(first.running), noncesOf(second)];
    expect(Math.min(before.length, after.length)).toBeGreaterThan(10);
    const highest = before.reduce((a, b) => (a > b ? a : b));
    expect(after.filter(nonce => nonce <= highest)).toEqual([]);
    await endsClean(world, second);
    world.end();
  });

  test('with nothing unknown it quotes both sides again within ten seconds, and leaves no order of before', async () => {
    const world = worldOf(21);
    const first = await doomed(world, folders);
    await world.clock.advance(30 * SECOND);
    const before = new Set(ours(world).map(order => order.originId));
    expect(before.size).toBeGreaterThan(3);
    const second = await restarted(world, first.kill());
    await advanceUntil(world.clock, 100, () => !ours(world).some(order => before.has(order.originId)));
    expect(await secondsToQuote(world, 10)).toBeLessThanOrEqual(10);
    expect(placedIds(second).filter(id => placedIds(first.running).includes(id))).toEqual([]);
    await endsClean(world, second);
    await first.running.stop();
    world.end();
  });

  // The fate of the placement during which the process dies, and which of the placements it is.
  const fates: readonly (readonly [string, Fate])[] = [
    ['before its request has left', 'not sent'],
    ['while its request is lost', 'lost'],
    ['when its request was carried out and no answer has come', 'unanswered'],
    ['while its request is held for 20 s on its way', { heldMs: 20_000 }],
  ];
  // First each fate, at another placement.
  const deaths = [0, 1, 2].flatMap(shift =>
    fates.map(([what, fate], i) => [[1, 4, 9][(i + shift) % 3]!, what, fate] as const),
  );
  test.each(few(deaths, fates.length))(
    'at placement %i, %s, every order is known, no fill is counted twice, and it quotes again',
    async (n, _what, fate) => {
      const world = worldOf(30 + n);
      let count = 0;
      const first = await doomed(world, folders, request => (isPlacing(request) && ++count === n ? fate : null));
      for (let i = 0; first.left() === null && i < 200; i++) await world.clock.advance(SECOND);
      await world.clock.advance(3 * SECOND);
      const second = await restarted(world, first.left()!);
      const { requestDelayMaxMs, tradeReportDelayMaxMs } = world.config.timing;
      expect(await secondsToQuote(world, (requestDelayMaxMs + tradeReportDelayMaxMs) / SECOND + 30)).toBeLessThan(
        Infinity,
      );
      expect(new Set(placedIds(second)).size).toBe(placedIds(second).length);
      expect(placedIds(second).filter(id => placedIds(first.running).includes(id))).toEqual([]);
      await endsClean(world, second);
      await first.running.stop();
      world.end();
    },
  );

  test('fills of the time in which nothing ran are counted once, as our own', async () => {
    const world = worldOf(22);
    const first = await doomed(world, folders);
    await world.clock.advance(30 * SECOND);
    const dir = first.kill();
    const known = truth(world).trades.length;
    for (let i = 0; truth(world).trades.length < known + 2 && i < 100; i++) await world.clock.advance(10 * SECOND);
    const missed = truth(world).trades.length - known;
    expect(missed).toBeGreaterThan(1);
    const second = await restarted(world, dir);
    await world.clock.advance(20 * SECOND);
    const booked = second.log.filter(({ text }) => / as (maker|taker), /.test(text));
    // What the first run had not yet written counts as missed too.
    expect(booked.length).toBeGreaterThanOrEqual(missed);
    const tids = booked.map(({ known: fields }) => (fields as { tid: string; id: string | null }).tid);
    expect(new Set(tids).size).toBe(tids.length);
    expect(booked.map(({ known: fields }) => (fields as { id: string | null }).id)).not.toContain(null);
    await endsClean(world, second);
    await first.running.stop();
    world.end();
  });

  test('during recovery, again and again, the end is the same as after one start', async () => {
    const world = worldOf(23);
    let doom = await doomed(world, folders);
    const victims = [doom.running];
    await world.clock.advance(40 * SECOND);
    for (const ms of few([400, 50, 2_500, 150, 900], 2)) {
      const dir = doom.kill();
      const config = { ...world.config, state: { dir } };
      doom = await doomed(world, folders, undefined, { config });
      victims.push(doom.running);
      await world.clock.advance(ms);
    }
    const last = await restarted(world, doom.kill());
    expect(await secondsToQuote(world, 100)).toBeLessThan(Infinity);
    await endsClean(world, last);
    for (const victim of victims) await victim.stop();
    world.end();
  });

  test('reading what is left twice is reading it once', async () => {
    const world = worldOf(24);
    const first = await doomed(world, folders);
    await world.clock.advance(40 * SECOND);
    const dir = first.kill();
    const once = opened(dir);
    once.close();
    const twice = opened(dir);
    twice.close();
    expect(textOf(twice.leftovers)).toBe(textOf(once.leftovers));
    await first.running.stop();
    world.end();
  });

  test('without any state left, orders of the name are found by it and taken out before the first quote', async () => {
    const world = worldOf(25);
    const first = await doomed(world, folders);
    await world.clock.advance(30 * SECOND);
    first.kill();
    const before = new Set(ours(world).map(order => order.originId));
    const liveAtFirstQuote: unknown[] = [];
    const second = await restarted(world, folders.fresh(), {
      onArrival: request => {
        if (isPlacing(request)) liveAtFirstQuote.push(ours(world).filter(order => before.has(order.originId)).length);
      },
    });
    expect(await secondsToQuote(world, 60)).toBeLessThan(Infinity);
    await world.clock.advance(20 * SECOND);
    expect(liveAtFirstQuote[0]).toBe(0);
    expect(placedIds(second).filter(id => placedIds(first.running).includes(id))).toEqual([]);
    await endsClean(world, second);
    await first.running.stop();
    world.end();
  });
});

describe('a start that cannot go on', () => {
  const taken = createServer();
  beforeAll(() => new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve)));
  afterAll(() => void taken.close());
  const onTakenPort = (config: Config): Config => ({
    ...config,
    metrics: { ...config.metrics, port: (taken.address() as AddressInfo).port },
  });
  const belowFees = (config: Config): Config => {
    if (config.strategy.name !== 'ladder') throw new Error('the sandbox quotes a ladder');
    return { ...config, strategy: { ...config.strategy, halfSpreadBps: 5 } };
  };

  test.each([
    [
      'its metrics port is taken',
      onTakenPort,
      /in use by another process; .*--metrics-port 0 for any free port; canceled [1-9] orders?/,
    ],
    ['its spread does not cover the fees', belowFees, /fee.*; canceled [1-9] orders? of the last run; two reads/],
  ] as const)(
    'when %s takes out what the last run left, says how many, and ends with code 2',
    async (_, change, says) => {
      const world = worldOf(30);
      const first = await doomed(world, folders);
      await world.clock.advance(20 * SECOND);
      const dir = first.kill();
      const mine = world.other().limit('btc_mxn', 'buy', '1000000', '0.001');
      const left = ours(world).length;
      expect(left).toBeGreaterThan(2);
      const config = change({ ...world.config, state: { dir } });
      const arrived: WireRequest[] = [];
      const error = await failedStart(world, dir, { config, onArrival: request => void arrived.push(request) });
      expect(error).toBeInstanceOf(UsageError);
      expect((error as UsageError).message).toMatch(says);
      expect((error as UsageError).code).toBe(2);
      expect([...account(world).active.keys()]).toEqual([mine]);
      expect(arrived.filter(({ method }) => method === 'POST')).toEqual([]);
      // The next one has nothing left to do but to quote.
      const next = await restarted(world, dir);
      await world.clock.advance(10 * SECOND);
      expect(ours(world).length).toBeGreaterThan(0);
      expect((await next.stop()).summary).toMatchObject({ ledgerMatches: true, openOrdersLeft: 0 });
      await first.running.stop();
      world.end();
    },
  );

  test('because of a refusal, as of a strategy file, takes out what the last run left, trades nothing, and frees its state', async () => {
    const world = worldOf(31);
    const first = await doomed(world, folders);
    await world.clock.advance(20 * SECOND);
    const dir = first.kill();
    expect(ours(world).length).toBeGreaterThan(2);
    const refusal = new UsageError('own.ts: no one has approved the change');
    const arrived: WireRequest[] = [];
    const error = await failedStart(world, dir, { refusal, onArrival: request => void arrived.push(request) });
    expect((error as Error).message).toMatch(
      /^own\.ts: no one has approved the change; canceled [1-9] orders? of the last run; two reads/,
    );
    expect([(error as UsageError).code, ours(world)]).toEqual([2, []]);
    expect(arrived.filter(({ method }) => method === 'POST')).toEqual([]);
    // Without orders, the error is that of the refusal.
    expect(await failedStart(world, folders.fresh(), { refusal })).toBe(refusal);
    const next = await restarted(world, dir);
    expect((await next.stop()).summary).toMatchObject({ ledgerMatches: true, openOrdersLeft: 0 });
    await first.running.stop();
    world.end();
  });

  test('when nobody answers says in bounded time which orders of the last run may live, and ends with code 3; without any, with its own code', async () => {
    const world = worldOf(29);
    const first = await doomed(world, folders);
    await world.clock.advance(20 * SECOND);
    const dir = first.kill();
    const live = ours(world).map(order => order.originId!);
    const from = world.clock.elapsed();
    const error = await failedStart(world, dir, { fate: () => 'not sent' });
    expect(world.clock.elapsed() - from).toBeLessThan(world.config.timing.requestDelayMaxMs + 20 * SECOND);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).code).toBe(3);
    const said = [...(error as UsageError).message.matchAll(/^order (\S+) may still be open$/gm)].map(([, id]) => id);
    expect(said).toEqual(expect.arrayContaining(live));
    expect(await failedStart(world, folders.fresh(), { fate: () => 'not sent' })).toBeInstanceOf(CannotStart);
    await first.running.stop();
    world.end();
  });
});

describe('a difference that nobody explains', () => {
  test.each([
    ['btc', '0.025', /0\.025 btc/],
    ['mxn', '12.34', /12\.34 mxn/],
  ])(
    'of %s %s stops quoting, says currency and sum, and is latched; resume takes it in, and it is no profit',
    async (currency, sum, says) => {
      const world = worldOf(26, { timing: { transferListDelayMaxMs: 20_000 } });
      const first = await doomed(world, folders);
      await world.clock.advance(30 * SECOND);
      const dir = first.kill();
      world.box.exchange.venue.deposit(account(world), currency, moneyOf(sum), null);
      const second = await restarted(world, dir);
      await world.clock.advance(60 * SECOND);
      expect(placedIds(second)).toEqual([]);
      expect(ours(world)).toEqual([]);
      expect(texts(second)).toMatch(says);
      expect(latchIn(dir).read()?.reason).toMatch(says);
      const stopped = await second.stop();
      expect(stopped.summary.ledgerMatches).toBe(false);

      // What the second has asked the exchange counts for a minute.
      await world.clock.advance(60 * SECOND);
      const third = await restarted(world, dir);
      await world.clock.advance(60 * SECOND);
      expect(placedIds(third)).toEqual([]);
      latchIn(dir).lift('deposited by hand');
      // A difference is taken in when it has stayed for a few quiet reads.
      await world.clock.advance(60 * SECOND);
      expect(placedIds(third).length).toBeGreaterThan(3);
      const { summary } = await third.stop();
      expect(summary.ledgerMatches).toBe(true);
      // 0.025 btc are worth some 37,500 mxn; what is left is the market's move since.
      expect(Math.abs(Number(summary.pnl!.total))).toBeLessThan(300);
      await first.running.stop();
      world.end();
    },
  );

  test('while it runs stops quoting too', async () => {
    const world = worldOf(27, { timing: { transferListDelayMaxMs: 20_000 } });
    const { running } = await doomed(world, folders);
    await world.clock.advance(30 * SECOND);
    world.box.exchange.venue.deposit(account(world), 'mxn', moneyOf('1'), null);
    await world.clock.advance(45 * SECOND);
    expect(ours(world)).toEqual([]);
    expect(texts(running)).toMatch(/halted: the exchange's balances differ from our ledger by 1 mxn/);
    await running.stop();
    world.end();
  });
});

describe('another process under the same name', () => {
  test('started later on a state of its own makes the older one halt and leave its orders alone', async () => {
    const world = worldOf(28);
    const older = await doomed(world, folders);
    await world.clock.advance(20 * SECOND);
    const intruder = world.other();
    const oid = intruder.limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: `${PREFIX}9999999999-1` });
    await world.clock.advance(10 * SECOND);
    expect(texts(older.running)).toMatch(/halted: order demo-9999999999-1 is of a later run of demo: another process/);
    expect(ours(world).map(order => order.oid)).toEqual([oid]);
    const { left } = await older.running.stop();
    expect(left).toEqual([`${PREFIX}9999999999-1`]);
    world.end();
  });

  test('started while the older one lives never quotes, halts itself, and leaves the older one to its work', async () => {
    const world = worldOf(31);
    const { clock } = world;
    // Both poll from one address here.
    world.box.exchange.venue.set({ rateLimits: 'off' });
    const older = await doomed(world, folders);
    await clock.advance(20 * SECOND);
    const ids = (running: Running) => placedIds(running);
    const newer = await restarted(world, folders.fresh());
    await clock.advance(60 * SECOND);
    expect(ids(newer)).toEqual([]);
    expect(texts(newer)).toMatch(
      /halted: orders of demo keep coming that this process did not place: another one trades/,
    );
    expect(texts(older.running)).not.toMatch(/halted/);
    const before = ours(world).map(order => order.originId);
    expect(before.length).toBeGreaterThan(2);
    expect(ids(older.running)).toEqual(expect.arrayContaining(before));
    // From here on it leaves them alone.
    const arrived = newer.arrived.length;
    await clock.advance(30 * SECOND);
    expect(newer.arrived.slice(arrived).filter(({ method }) => method !== 'GET')).toEqual([]);
    const ended = newer.stop();
    expect((await ended).left.length).toBeGreaterThan(0);
    await older.running.stop();
    world.end();
  });
});
