/** The last words of a run: each of them true, false, or unknown where what it rests on could not be read. */
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { stopSummary } from '../../../src/alerts/sentences.ts';
import { describe as describeSummary } from '../../../src/messages/summary.ts';
import { Engine, moneyOf, type WireRequest } from '../../../src/core/index.ts';
import { PAGES } from '../../../src/exchange/bitso/wire/path.ts';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { botStatusText } from '../../../src/app/actions/botStatusText.ts';
import { runsOf, testInMany } from '../../many.ts';
import { Trader } from '../../sandbox/trader.ts';
import { doomed, restarted } from '../crashes.ts';
import type { Fate } from '../inProcess.ts';
import { Folders } from '../states.ts';
import { started, worldOf, type World } from '../world.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  ends.splice(0).forEach(end => end());
});

/** What may be unreadable from the stop on; cancels may fail too. */
const LISTS = { orders: /open_orders/, trades: /user_trades/, balances: /\/balance/ } as const;
const subsets = Object.keys(LISTS).reduce<string[][]>(
  (all, list) => [...all, ...all.map(some => [...some, list])],
  [[]],
);
const cases = subsets.flatMap(lost => [false, true].map(cancelsFail => ({ lost, cancelsFail })));

test('reads the trades after the open orders, so that no order is gone before its last trade is read', async () => {
  const world = worldOf(22);
  ends.push(() => world.end());
  const read: { readonly list: string; readonly at: number }[] = [];
  const running = await started(world, {
    fate: ({ method, target }) => {
      const list = method === 'GET' ? /open_orders|user_trades/.exec(target)?.[0] : undefined;
      if (list !== undefined) read.push({ list, at: world.clock.elapsed() });
      return 'arrives';
    },
  });
  await world.clock.advance(30_000);
  await running.stop();
  const orders = read.flatMap(({ list, at }, i) => (list === 'open_orders' ? [{ at, next: read[i + 1] }] : []));
  expect(orders.length).toBeGreaterThan(8);
  for (const { at, next } of orders) {
    expect(next?.list).toBe('user_trades');
    // Right after them, and not before the next read of the orders.
    expect(next!.at - at).toBeLessThan(300);
  }
});

describe('a stop', () => {
  test.each(cases)(
    'with $lost unreadable (cancels lost: $cancelsFail) says yes or no only of what it has read, and counts orders only',
    async ({ lost, cancelsFail }) => {
      const world = worldOf(21, { timing: { shutdownMs: 20_000 } });
      ends.push(() => world.end());
      let isStopping = false;
      const running = await started(world, {
        fate: ({ method, target }) => {
          if (!isStopping) return 'arrives';
          const isLost =
            method === 'DELETE' ? cancelsFail : lost.some(list => LISTS[list as keyof typeof LISTS].test(target));
          return isLost ? 'lost' : 'arrives';
        },
      });
      await world.clock.advance(30_000);
      isStopping = true;
      const { summary, left, unread } = await running.stop();
      const live = [...world.box.exchange.venue.accounts.get(world.box.account.id)!.active.values()];

      // Orders: all that live are named, every one that is named is an order, and none left is said only where it was read.
      const areRead = !lost.includes('orders');
      expect(live.map(({ originId }) => originId!).filter(id => !left.includes(id))).toEqual([]);
      expect(left.filter(id => !/^\S+-\d+$/.test(id))).toEqual([]);
      expect(unread === undefined).toBe(areRead);
      expect(summary.openOrdersLeft).toBe(left.length === 0 && !areRead ? null : left.length);

      // The ledger: compared with balances that were read between two readings of the trades.
      const isCompared = !lost.includes('balances') && !lost.includes('trades');
      expect(summary.ledgerMatches).toBe(isCompared ? true : null);

      const report = { left, ...(unread === undefined ? {} : { unread }), failure: null };
      for (const text of [
        describeSummary(summary, 'puntas resume'),
        stopSummary('SIGTERM', { ...report, ledgerMatches: summary.ledgerMatches }),
      ]) {
        expect(/differs/i.test(text)).toBe(false);
        expect(/not compared/.test(text)).toBe(!isCompared);
        expect(/verified: no open orders left/.test(text)).toBe(left.length === 0 && areRead);
      }
    },
  );
});

/** Possible results of the last comparison of one account with the ledger. */
const FOUND = ['equal', 'different', 'unread'] as const;
const pairs = FOUND.flatMap(here => FOUND.map(there => ({ here, there })));

test.each(pairs)(
  'a stop says that the ledger matches two exchanges only where both are read and equal, and that it differs where either does ($here here, $there there)',
  async ({ here, there }) => {
    const world = worldOf(7, { timing: { shutdownMs: 20_000 } }, 'elsewhere');
    ends.push(() => world.end());
    let isStopping = false;
    const unread = (found: (typeof FOUND)[number], list: RegExp) => (request: { readonly target: string }) =>
      isStopping && found === 'unread' && list.test(request.target) ? ('not sent' as const) : ('arrives' as const);
    const running = await started(world, {
      fate: unread(here, LISTS.balances),
      fateThere: unread(there, /\/account\?/),
    });
    await world.clock.advance(20_000);
    isStopping = true;
    const stopping = running.stop();
    const { box } = world;
    const { second } = box;
    if (here === 'different')
      box.exchange.venue.deposit(box.exchange.venue.accounts.get(box.account.id)!, 'mxn', moneyOf('7'), null);
    if (there === 'different')
      second!.exchange.venue.deposit(
        second!.exchange.venue.accounts.get(second!.account.id)!,
        'usdt',
        moneyOf('7'),
        null,
      );
    const { summary } = await stopping;
    const found = [here, there];
    const isDifferent = found.includes('different');
    expect(summary.ledgerMatches).toBe(isDifferent ? false : found.includes('unread') ? null : true);
    const text = describeSummary(summary, 'puntas resume');
    expect(/THE LEDGER DIFFERS/.test(text)).toBe(isDifferent);
    expect(/the ledger equals/.test(text)).toBe(summary.ledgerMatches === true);
  },
);

/** The longest answer to a read of open orders, all of another program but the first: orders of the bot may follow after its end. */
function fullPageWith(originId?: string) {
  const payload = Array.from({ length: PAGES.ordersPage }, (_, i) => ({
    ...{ book: 'btc_mxn', oid: `other${i}`, side: 'buy', type: 'limit', status: 'open', price: '1000' },
    ...{ original_amount: '1', unfilled_amount: '1', created_at: '2026-01-01T00:00:00+00:00' },
    ...(i === 0 && originId !== undefined && { origin_id: originId }),
  }));
  return { status: 200, headers: {}, body: JSON.stringify({ success: true, payload }) };
}
const FULL_PAGE = fullPageWith();

test('a stop verifies that no order is left only by two whole reads in a row, whichever reads fail in between', async () => {
  const told = { yes: 0, no: 0 };
  const kind = fc.constantFrom('whole', 'lost', 'cut off');
  await fc.assert(
    fc.asyncProperty(fc.array(kind, { maxLength: 5 }), kind, async (first, later) => {
      const world = worldOf(21, { timing: { shutdownMs: 20_000 } });
      ends.push(() => world.end());
      let isStopping = false;
      const reads: boolean[] = [];
      const running = await started(world, {
        fate: ({ target }) => {
          if (!isStopping || !LISTS.orders.test(target)) return 'arrives';
          const read = first[reads.length] ?? later;
          reads.push(read === 'whole');
          return read === 'lost' ? 'not sent' : read === 'whole' ? 'arrives' : { instead: FULL_PAGE };
        },
      });
      await world.clock.advance(2_000);
      world.box.stop();
      isStopping = true;
      const { left, unread, summary } = await running.stop();
      const isVerified = left.length === 0 && unread === undefined;
      if (isVerified) expect(reads.slice(-2)).toEqual([true, true]);
      if (reads.slice(-2).every(Boolean)) expect([left, unread]).toEqual([[], undefined]);
      expect(unread !== undefined).toBe(reads.at(-1) === false);
      expect(summary.openOrdersLeft === 0).toBe(isVerified);
      told[isVerified ? 'yes' : 'no']++;
    }),
    {
      ...runsOf(20, 2),
      examples: [
        [['whole'], 'lost'],
        [['lost', 'whole', 'cut off'], 'whole'],
        [['whole'], 'cut off'],
      ],
    },
  );
  expect(Math.min(told.yes, told.no)).toBeGreaterThan(0);
});

/** Failures of the list of open orders: the last shows an order that the bot does not know yet. */
const BROKEN_LISTS: Readonly<Record<string, Fate>> = {
  lost: 'lost',
  'not sent': 'not sent',
  refused: { instead: { status: 500, headers: {}, body: 'internal error' } },
  full: { instead: FULL_PAGE },
  'full with one': { instead: fullPageWith('demo-1-1') },
};
const brokenStops = [
  ...Object.keys(BROKEN_LISTS).map(list => ({ list, fails: 'in the middle' })),
  { list: 'lost', fails: 'at its start' },
];

test.each(brokenStops)(
  'a run whose engine fails at every step ($fails) cancels all orders that it knows, though no read succeeds (open orders: $list)',
  async ({ list, fails }) => {
    const world = worldOf(23, { timing: { shutdownMs: 20_000 } });
    ends.push(() => world.end());
    const folders = new Folders();
    ends.push(() => folders.clear());
    let isBroken = false;
    const fate = ({ method, target }: WireRequest): Fate => {
      if (!isBroken || method === 'DELETE') return 'arrives';
      return LISTS.orders.test(target) ? BROKEN_LISTS[list]! : 'not sent';
    };
    const running = async () => {
      if (fails === 'in the middle') return started(world, { fate });
      const killed = await doomed(world, folders);
      await world.clock.advance(30_000);
      const dir = killed.kill();
      await killed.running.stop();
      breakEngine();
      return restarted(world, dir, { fate });
    };
    const breakEngine = () =>
      vi.spyOn(Engine.prototype, 'step').mockImplementation(() => {
        isBroken = true;
        throw new RangeError('no step succeeds');
      });
    const bot = await running();
    const orders = () => [...world.box.exchange.venue.accounts.get(world.box.account.id)!.active.values()];
    if (fails === 'in the middle') {
      await world.clock.advance(30_000);
      expect(orders().length).toBeGreaterThan(1);
      breakEngine();
    }
    if (list === 'full with one') world.other().limit('btc_mxn', 'buy', '1000', '0.001', { origin_id: 'demo-1-1' });
    const { failure, unread } = await bot.stop();
    expect([failure, unread]).toEqual(['no step succeeds', 'open orders could not be read']);
    expect(orders().map(({ originId }) => originId)).toEqual([]);
  },
);

/** Balances, and number of trades, of the bot's account. */
function heldIn({ box }: World) {
  const { balances, trades } = box.exchange.truth().accounts.get(box.account.id)!;
  return { btc: balances.get('btc')!.total, mxn: balances.get('mxn')!.total, fills: trades.length };
}

const UNIT = 10n ** 18n;

testInMany('a stop prints each figure exactly or not at all, whichever sources fail, also in status', async () => {
  let filled = 0;
  const seen = { known: 0, unknown: 0, partly: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.subarray(['orders', 'lookUps', 'trades', 'balances', 'cancels']),
      fc.constantFrom(0, 400, 15_000),
      fc.boolean(),
      fc.integer({ min: 1, max: 1_000 }),
      async (lost, earlierMs, isDeposited, seed) => {
        const world = worldOf(seed, { timing: { shutdownMs: 20_000 } });
        ends.push(() => world.end());
        const { venue } = world.box.exchange;
        const opening = heldIn(world);
        let isOut = false;
        const isLost = (method: string, target: string): boolean => {
          if (method === 'DELETE') return lost.includes('cancels');
          if (/open_orders|user_trades|\/balance/.test(target))
            return lost.some(list => list in LISTS && LISTS[list as keyof typeof LISTS].test(target));
          return method === 'GET' && /\/orders/.test(target) && lost.includes('lookUps');
        };
        const running = await started(world, {
          fate: ({ method, target }) => (isOut && isLost(method, target) ? 'lost' : 'arrives'),
        });
        await world.clock.advance(30_000);
        isOut = true;
        await world.clock.advance(earlierMs);
        // Others trade with what the bot shows as it stops.
        const before = heldIn(world);
        const rich = { btc: '1000', mxn: '2000000000' };
        const taker = new Trader(world.box.exchange, world.box.exchange.openAccount({ balances: rich }));
        for (const side of ['sell', 'buy'])
          taker.call('POST', '/api/v3/orders', { book: 'btc_mxn', side, type: 'market', major: '2' });
        if (isDeposited) venue.deposit(venue.accounts.get(world.box.account.id)!, 'mxn', moneyOf('1000'), null);
        const { summary } = await running.stop();

        const held = heldIn(world);
        filled += Number(held.fills > before.fills);
        const { fills, position, profit, pnl, orders, figuresUnknown } = summary;
        if (fills !== null) expect(fills).toBe(held.fills);
        if (position !== null)
          expect([moneyOf(position['btc']!), moneyOf(position['mxn']!)]).toEqual([held.btc, held.mxn]);
        if (pnl !== null && profit !== null) {
          const deposited = isDeposited ? moneyOf('1000') : 0n;
          const gained = held.mxn - opening.mxn - deposited + ((held.btc - opening.btc) * moneyOf(profit.mid!)) / UNIT;
          for (const total of [pnl.total, profit.total])
            expect(Math.abs(Number(moneyOf(total) - gained))).toBeLessThan(1e6);
        }
        expect([profit, pnl, orders.filled].map(figure => figure === null)).toEqual(Array(3).fill(fills === null));
        expect(figuresUnknown !== undefined).toBe(fills === null || position === null);

        // Figures that the trades and balances prove are shown.
        if (lost.length === 0 && !isDeposited) expect(figuresUnknown).toBeUndefined();
        if (lost.includes('trades') && earlierMs > 0) expect(fills).toBeNull();
        if (lost.includes('balances')) expect(position).toBeNull();
        seen[figuresUnknown === undefined ? 'known' : fills === null ? 'unknown' : 'partly']++;

        const text = describeSummary(summary, 'puntas resume');
        expect(/unknown: fills, profit, position/.test(text)).toBe(fills === null);
        expect(/unknown: position/.test(text)).toBe(fills !== null && position === null);
        const status = await botStatus(world.stateDir, { ...world.clock, now: () => world.clock.now() } as never);
        if (status.bot.state === 'stopped') {
          expect(status.run!.fills).toBe(fills);
          expect(status.run!.unknown).toBe(figuresUnknown ?? null);
          expect(status.profit).toEqual(profit);
          expect(status.run!.holdings === null).toBe(position === null);
        } else if (status.bot.state === 'silent') expect(status.run!.fills).toBeNull();
        const shown = botStatusText(status, world.stateDir).replaceAll(/\s+/g, ' ');
        expect(/inventory unknown: /.test(shown)).toBe(status.run!.holdings === null);
        world.end();
        ends.pop();
      },
    ),
    {
      numRuns: 40,
      // One of each kind: some seeds draw no stop of which a part is known.
      examples: [
        [[], 400, false, 1],
        [['balances'], 400, false, 1],
        [['trades'], 400, false, 1],
      ],
    },
  );
  expect(filled).toBeGreaterThan(5);
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
});
