import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { moneyOf, textOfMoney, type WireRequest } from '../../../src/core/index.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import type { Fate } from '../inProcess.ts';
import { started, worldOf, type Running, type World } from '../world.ts';

const MINUTE = 60_000;
const PREFIX = 'demo-';

const account = (world: World) => world.box.exchange.venue.accounts.get(world.box.account.id)!;
/** Orders of the bot that live at the exchange, whatever the bot believes. */
const ours = (world: World) =>
  [...account(world).active.values()].filter(order => order.originId?.startsWith(PREFIX) === true);
const count = (world: World, side: 'buy' | 'sell') => ours(world).filter(order => order.side === side).length;

/** Whether within a minute every level of both sides stands at once; between two refreshes one is missing now and then. */
async function isFullSoon(world: World): Promise<boolean> {
  const { levels = 1 } = world.config.strategy;
  for (let second = 0; second < 60; second++) {
    if (count(world, 'buy') === levels && count(world, 'sell') === levels) return true;
    await world.clock.advance(1_000);
  }
  return false;
}

const isPlacing = ({ method, target }: WireRequest): boolean => method === 'POST' && target.includes('/orders');
const idOf = ({ body }: WireRequest): string => (JSON.parse(body) as { origin_id: string }).origin_id;
const placedIds = (running: Running): string[] => running.arrived.filter(isPlacing).map(idOf);

/** The first request that fits meets this fate; all others arrive. */
function once(fits: (request: WireRequest) => boolean, fate: Fate): (request: WireRequest) => Fate {
  let spent = false;
  return request => {
    if (spent || !fits(request)) return 'arrives';
    spent = true;
    return fate;
  };
}

describe('a run', () => {
  test('quotes both sides, is filled by the seeded flow, equals the exchange to the last digit and leaves nothing', async () => {
    const world = worldOf(1);
    const running = await started(world);
    expect(await isFullSoon(world)).toBe(true);
    await world.clock.advance(9 * MINUTE);
    const { summary, left, failure } = await running.stop();
    const truth = world.box.exchange.truth().accounts.get(world.box.account.id)!;
    expect({ left, failure, open: truth.live }).toEqual({ left: [], failure: null, open: [] });
    expect(summary.fills).toBeGreaterThan(0);
    expect(summary.fills).toBe(truth.trades.length);
    expect(summary.ledgerMatches).toBe(true);
    expect(summary.openOrdersLeft).toBe(0);
    expect(summary.orders.refused).toBe(0);
    for (const [currency, held] of Object.entries(summary.position!)) {
      expect(held).toBe(textOfMoney(truth.balances.get(currency)!.total));
    }
    const { spread, inventory, fees, total } = summary.pnl!;
    expect(moneyOf(spread) + moneyOf(inventory) + moneyOf(fees)).toBe(moneyOf(total));
    expect(Math.min(summary.uptime.bid, summary.uptime.ask)).toBeGreaterThan(0.9);
    world.end();
  });

  test('sends the same requests at the same seed, and others at another', async () => {
    const story = async (seed: number) => {
      const world = worldOf(seed);
      const running = await started(world);
      await world.clock.advance(MINUTE);
      await running.stop();
      world.end();
      return running.arrived.map(({ method, target, body }) => `${method} ${target} ${body}`);
    };
    const [first, again, other] = [await story(5), await story(5), await story(6)];
    expect(first.length).toBeGreaterThan(100);
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  test("never touches another program's orders on the account, and counts no fill of theirs as its own", async () => {
    const world = worldOf(2);
    const other = world.other();
    const theirs = [
      other.limit('btc_mxn', 'buy', '1000000', '0.001'),
      other.limit('btc_mxn', 'sell', '2000000', '0.001', { origin_id: 'hand-1' }),
      // Looks like ours at a careless glance: another instance whose name begins with ours.
      other.limit('btc_mxn', 'buy', '1000010', '0.001', { origin_id: 'demo2-1-1' }),
      other.limit('eth_mxn', 'buy', '1000', '0.1', { origin_id: 'demo' }),
    ];
    const running = await started(world);
    await world.clock.advance(MINUTE);
    const market = other.place({ book: 'btc_mxn', side: 'buy', type: 'market', major: '0.002' });
    await world.clock.advance(MINUTE);
    const { summary, left, failure } = await running.stop();
    expect({ left, failure }).toEqual({ left: [], failure: null });
    expect([...account(world).active.keys()].sort()).toEqual([...theirs].sort());
    expect(other.order(market)?.['status']).toBe('completed');
    const trades = world.box.exchange.truth().accounts.get(world.box.account.id)!.trades;
    const theirTrades = trades.filter(trade => trade.order.originId?.startsWith(PREFIX) !== true);
    expect(theirTrades.length).toBeGreaterThan(0);
    expect(summary.fills).toBe(trades.length - theirTrades.length);
    expect(summary.ledgerMatches).toBe(true);
    world.end();
  });

  test('cancels what an earlier run left before its first quote', async () => {
    const world = worldOf(3);
    const other = world.other();
    const leftovers = [
      other.limit('btc_mxn', 'buy', '1400000', '0.01', { origin_id: `${PREFIX}77-1` }),
      other.limit('btc_mxn', 'sell', '1600000', '0.01', { origin_id: `${PREFIX}77-2` }),
    ];
    const liveAtFirstQuote: string[][] = [];
    const running = await started(world, {
      onArrival: request => {
        if (isPlacing(request)) liveAtFirstQuote.push(leftovers.filter(oid => account(world).active.has(oid)));
      },
    });
    await world.clock.advance(MINUTE);
    expect(liveAtFirstQuote[0]).toEqual([]);
    expect(await isFullSoon(world)).toBe(true);
    await running.stop();
    world.end();
  });

  test('writes an intent to disk before its order reaches the exchange', async () => {
    const world = worldOf(4);
    const missing: string[] = [];
    let seen = 0;
    const running = await started(world, {
      onArrival: request => {
        if (!isPlacing(request)) return;
        seen++;
        // The file is locked for its process, so its bytes are read.
        const onDisk = readdirSync(world.stateDir).some(name =>
          readFileSync(join(world.stateDir, name)).includes(idOf(request)),
        );
        if (!onDisk) missing.push(idOf(request));
      },
    });
    await world.clock.advance(MINUTE);
    await running.stop();
    expect(seen).toBeGreaterThan(10);
    expect(missing).toEqual([]);
    world.end();
  });

  test('never uses an origin id or a nonce of an earlier run again, however the clock was set between them', async () => {
    const world = worldOf(5);
    const first = await started(world);
    await world.clock.advance(30_000);
    await first.stop();
    world.clock.step(-3_600_000);
    const second = await started(world);
    await world.clock.advance(30_000);
    const { summary } = await second.stop();
    const [before, after] = [placedIds(first), placedIds(second)];
    expect(Math.min(before.length, after.length)).toBeGreaterThan(5);
    expect(new Set([...before, ...after]).size).toBe(before.length + after.length);
    const nonces = [...first.arrived, ...second.arrived].flatMap(({ headers }) => {
      const signed = headers['authorization'];
      return signed === undefined ? [] : [signed.split(':')[1]!];
    });
    expect(new Set(nonces).size).toBe(nonces.length);
    expect(summary.orders.refused).toBe(0);
    expect(summary.ledgerMatches).toBe(true);
    world.end();
  });

  test('goes on when the clock steps back an hour under it', async () => {
    const world = worldOf(6);
    const running = await started(world);
    await world.clock.advance(30_000);
    world.clock.step(-3_600_000);
    await world.clock.advance(MINUTE);
    expect(await isFullSoon(world)).toBe(true);
    const { summary, failure } = await running.stop();
    expect({ failure, refused: summary.orders.refused, ledger: summary.ledgerMatches }).toEqual({
      failure: null,
      refused: 0,
      ledger: true,
    });
    world.end();
  });

  test('takes its quotes out of a market that it cannot see, and comes back with the view', async () => {
    const world = worldOf(7);
    let blind = false;
    const running = await started(world, {
      fate: ({ target }) => (blind && target.includes('/order_book') ? 'lost' : 'arrives'),
    });
    expect(await isFullSoon(world)).toBe(true);
    blind = true;
    await world.clock.advance(world.config.timing.staleAfterMs + 3_000);
    expect(ours(world)).toEqual([]);
    blind = false;
    expect(await isFullSoon(world)).toBe(true);
    const { summary } = await running.stop();
    expect(summary.orders.refused).toBe(0);
    world.end();
  });

  test('reads the rules of the book again within seconds when a read of them failed', async () => {
    let isDown = false;
    const world = worldOf(5);
    const rulesRead = (request: WireRequest) => request.target.includes('available_books');
    const running = await started(world, { fate: request => (isDown && rulesRead(request) ? 'not sent' : 'arrives') });
    const reads = () => running.arrived.filter(rulesRead).length;
    isDown = true;
    await world.clock.advance(6 * MINUTE);
    const before = reads();
    isDown = false;
    await world.clock.advance(20_000);
    expect(reads()).toBe(before + 1);
    await running.stop();
    world.end();
  });

  test('refuses a state directory that another process has, in one line', async () => {
    const world = worldOf(8);
    const running = await started(world);
    const error = await started(world).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(/^the state directory is in use by another process .*state\.dir$/);
    await running.stop();
    world.end();
  });
});

describe('an order whose answer is lost', () => {
  // In the first case a read shows the order before the answer is given up, so that it is never unknown.
  const cases: readonly (readonly [string, Fate, number])[] = [
    ['after it was carried out', 'unanswered', 0],
    ['because it never arrived', 'lost', 1],
    ['because it is held for 20 s on its way', { heldMs: 20_000 }, 1],
  ];

  test.each(cases)('%s stays reserved, is never sent again and is resolved', async (_, fate, unknown) => {
    const world = worldOf(9);
    const { levels = 1 } = world.config.strategy;
    const running = await started(world, { fate: once(isPlacing, fate) });
    let most = 0;
    for (let second = 0; second < 150; second++) {
      await world.clock.advance(1_000);
      most = Math.max(most, count(world, 'buy'), count(world, 'sell'));
    }
    // It was one of the first six: had its place been given away, seven would have stood for a while.
    expect(most).toBe(levels);
    expect(await isFullSoon(world)).toBe(true);
    const ids = placedIds(running);
    expect(new Set(ids).size).toBe(ids.length);
    const { summary, left, failure } = await running.stop();
    expect({ left, failure }).toEqual({ left: [], failure: null });
    expect(summary.orders.unknown).toBe(unknown);
    expect(summary.ledgerMatches).toBe(true);
    expect(ours(world)).toEqual([]);
    world.end();
  });

  test('because it never arrived is resolved also where an unknown id is refused instead of left out', async () => {
    const world = worldOf(9);
    world.box.exchange.venue.set({ cancelUnknown: '0312', lookupUnknown: '0312' });
    const running = await started(world, { fate: once(isPlacing, 'lost') });
    await world.clock.advance(150_000);
    expect(await isFullSoon(world)).toBe(true);
    const { summary, left, failure } = await running.stop();
    expect({ left, failure, unknown: summary.orders.unknown }).toEqual({ left: [], failure: null, unknown: 1 });
    expect(ours(world)).toEqual([]);
    world.end();
  });

  test.each(cases)('%s just before a stop is verified to be gone, or listed', async (_, fate) => {
    const world = worldOf(10);
    const lost: string[] = [];
    let armed = false;
    const running = await started(world, {
      fate: request => {
        if (!armed || !isPlacing(request)) return 'arrives';
        lost.push(idOf(request));
        return fate;
      },
    });
    await world.clock.advance(20_000);
    armed = true;
    for (let second = 0; second < 120 && lost.length === 0; second++) await world.clock.advance(1_000);
    expect(lost.length).toBeGreaterThan(0);
    const { left, summary } = await running.stop();
    const live = ours(world).map(order => order.originId!);
    expect(live.filter(id => !left.includes(id))).toEqual([]);
    expect(summary.openOrdersLeft).toBe(left.length);
    world.end();
  });
});

describe('a stop', () => {
  test('without an exchange that answers ends in bounded time and lists every order that may live', async () => {
    const world = worldOf(11);
    let dead = false;
    const running = await started(world, { fate: () => (dead ? 'lost' : 'arrives') });
    await world.clock.advance(30_000);
    dead = true;
    const from = world.clock.elapsed();
    const { left, summary } = await running.stop();
    const live = ours(world).map(order => order.originId!);
    expect(live.length).toBeGreaterThan(0);
    expect(live.filter(id => !left.includes(id))).toEqual([]);
    // Neither the open orders nor the balances could be read: both counts are what is known, and no more.
    expect(summary.openOrdersLeft).toBe(left.length);
    expect(left.filter(id => !id.startsWith(`${world.config.instance}-`))).toEqual([]);
    expect(summary.ledgerMatches).toBe(null);
    expect(world.clock.elapsed() - from).toBeLessThan(5 * MINUTE);
    world.end();
  });

  test('lists what it cannot cancel', async () => {
    const world = worldOf(12);
    let stuck = false;
    const running = await started(world, {
      fate: ({ method }) => (stuck && method === 'DELETE' ? 'lost' : 'arrives'),
    });
    await world.clock.advance(30_000);
    stuck = true;
    const { left } = await running.stop();
    expect([...left].sort()).toEqual(
      ours(world)
        .map(order => order.originId!)
        .sort(),
    );
    expect(left.length).toBeGreaterThan(0);
    world.end();
  });

  test('sends no placement once it has begun', async () => {
    const world = worldOf(13);
    const running = await started(world);
    await world.clock.advance(30_000);
    const before = placedIds(running).length;
    await running.stop();
    expect(placedIds(running).length).toBe(before);
    world.end();
  });
});

describe('a placement that waits for its place in the budget', () => {
  const tight = { exchange: { budgets: { privatePerMinute: 66 } } };
  // Spent on the start, so that a minute later the first placements of the run all wait for places.
  const waiting = async () => {
    const world = worldOf(1, tight);
    const running = await started(world);
    await world.clock.advance(61_000);
    return { world, running, before: placedIds(running).length };
  };
  const wasDropped = (running: Running) => running.log.some(({ text }) => text.includes('was no longer needed'));

  test('is not sent any more when a stop comes first', async () => {
    const { world, running, before } = await waiting();
    const { left } = await running.stop();
    expect(placedIds(running).length).toBe(before);
    expect([wasDropped(running), left]).toEqual([true, []]);
    world.end();
  });

  test('is not sent any more when somebody halts trading first', async () => {
    const { world, running, before } = await waiting();
    latchIn(world.stateDir).set({ reason: 'looked odd', at: world.clock.now(), by: 'person' });
    await world.clock.advance(30_000);
    expect(placedIds(running).length).toBe(before);
    expect(wasDropped(running)).toBe(true);
    await running.stop();
    world.end();
  });
});

describe('a code that only a person can mend', () => {
  const denied = (code: string, message: string) => ({
    instead: {
      status: 401,
      headers: {},
      body: JSON.stringify({ success: false, error: { code, message, details: [] } }),
    },
  });
  const isSigned = ({ headers }: WireRequest) => headers['authorization'] !== undefined;

  test('ends the run: everything is canceled, and the code is in what it says', async () => {
    const world = worldOf(14);
    let angry = false;
    const running = await started(world, {
      fate: ({ target }) =>
        angry && target.includes('/balance') ? denied('0202', 'The key lacks the permission') : 'arrives',
    });
    await world.clock.advance(20_000);
    angry = true;
    await world.clock.advance(20_000);
    angry = false;
    const { failure, left } = await running.stop();
    expect(failure).toContain('0202');
    expect(left).toEqual([]);
    expect(ours(world)).toEqual([]);
    world.end();
  });

  test.each([
    ['0201', 'Invalid nonce or invalid credentials'],
    ['0207', 'Invalid nonce'],
  ])('and may be a nonce or the clock (%s) ends nothing when it has passed within a minute', async (code, message) => {
    const world = worldOf(15);
    let angry = false;
    const running = await started(world, {
      fate: request => (angry && isSigned(request) ? denied(code, message) : 'arrives'),
    });
    await world.clock.advance(20_000);
    angry = true;
    await world.clock.advance(45_000);
    expect(running.log.filter(({ text }) => text === 'not quoting: private data stale')).toHaveLength(1);
    angry = false;
    await world.clock.advance(20_000);
    expect(latchIn(world.stateDir).read()).toBeNull();
    expect(new Set(ours(world).map(({ side }) => side)).size).toBe(2);
    const { failure, left, summary } = await running.stop();
    expect([failure, left, summary.ledgerMatches]).toEqual([null, [], true]);
    world.end();
  });

  test('and may be a nonce or the clock ends the run when nothing else is answered for a minute, as with a key that expired', async () => {
    const world = worldOf(16);
    let angry = false;
    const running = await started(world, {
      fate: request =>
        angry && isSigned(request) ? denied('0201', 'Invalid nonce or invalid credentials') : 'arrives',
    });
    await world.clock.advance(20_000);
    angry = true;
    await world.clock.advance(59_000);
    expect(latchIn(world.stateDir).read()).toBeNull();
    await world.clock.advance(10_000);
    expect(latchIn(world.stateDir).read()?.reason).toMatch(/was refused with 0201: .*a new key of the same account/);
    angry = false;
    expect((await running.stop()).failure).toContain('0201');
    world.end();
  });
});
