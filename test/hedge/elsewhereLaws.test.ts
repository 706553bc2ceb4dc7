/**
 * The hedger with another exchange over histories of lost answers, partial fills, full disks and deaths: an order is on disk before
 * it leaves, leaves once, and in the end the ledger of both exchanges is what they have.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAtPlace, moneyOf, sleep, sumOfCauses } from '../../src/core/index.ts';
import { CheckBackoff } from '../../src/hedge/checkBackoff.ts';
import { isOver } from '../../src/hedge/index.ts';
import type { Fate } from '../live/inProcess.ts';
import { isMany, runsOf } from '../many.ts';
import { BAND, binanceThere, BotOfTwo, embeddedThere, krakenThere, LOTS } from './botOfTwo.ts';

const worlds = fc.record({
  lots: fc.constantFrom(-LOTS, LOTS),
  rounding: fc.constantFrom('nearest', 'up', 'down'),
  depth: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
  events: fc.array(
    fc.record({
      ms: fc.constantFrom(500, 1_000, 4_000, 20_000),
      fate: fc.constantFrom<Fate>('arrives', 'arrives', 'not sent', 'lost', 'unanswered', { heldMs: 9_000 }),
      what: fc.constantFrom('none', 'none', 'dies', 'disk is full', 'halted', 'cannot look', 'more', 'fills', 'third'),
      lots: fc.integer({ min: 1, max: LOTS }),
    }),
    { maxLength: 10 },
  ),
});

test.each([
  ['the embedded exchange', embeddedThere, 60_000],
  // Its lowest tier has one private request in 3 s.
  ['Kraken', krakenThere, 240_000],
  ['Binance', binanceThere, 60_000],
] as const)(
  'an order at %s is on disk before it leaves, leaves once, moves inventory only towards its target, and both ledgers are exact',
  async (_, opened, settledMs) => {
    const cameUp = new Set<string>();
    await fc.assert(
      fc.asyncProperty(worlds, async ({ lots, depth, events, rounding }) => {
        const bot = new BotOfTwo(lots, '0', '0', opened());
        const { there, clock } = bot;
        there.roundBy?.(rounding);
        const sells = lots > 0;
        const offer = () => {
          for (const [i, size] of depth.entries())
            there.offer(sells ? 'buy' : 'sell', String(50_000 + (sells ? -i : i) * 10), String(size));
          there.offer(sells ? 'sell' : 'buy', sells ? '50100' : '49900', '1');
        };
        offer();
        await clock.advance(1_000);
        for (const { ms, fate, what, lots: filled } of events) {
          bot.fate = fate;
          bot.fillsAtRead = what === 'fills' ? filled : 0;
          bot.fateOfLook = what === 'cannot look' ? 'lost' : 'arrives';
          bot.accepts = what !== 'disk is full';
          bot.mayAct = what !== 'halted';
          if (what === 'more') offer();
          if (what === 'dies') bot.live();
          if (what === 'third') there.payInThird?.();
          await bot.passes(ms);
          expect(bot.hedger.rows.filter(row => !isOver(row)).length).toBeLessThanOrEqual(1);
          // Inventory and the open order together never pass the target.
          const { converting, position } = bot.desk.engine.book.riskContext(clock.now());
          const worst = sells ? position - converting.sell : -position - converting.buy;
          expect(worst).toBeGreaterThanOrEqual(-1);
        }
        Object.assign(bot, { fate: 'arrives', fateOfLook: 'arrives', accepts: true, mayAct: true });
        there.offer(sells ? 'buy' : 'sell', '50000', '20');
        await bot.passes(settledMs, 2_000);
        bot.mayAct = false;
        await bot.passes(settledMs, 2_000);
        expect(bot.early).toEqual([]);
        expect(new Set(bot.sent).size).toBe(bot.sent.length);
        expect(bot.hedger.rows.filter(row => !isOver(row))).toEqual([]);
        const causes = [...bot.desk.engine.ledger([])!.causes].filter(([name]) => isAtPlace(name, 'there'));
        const ledger = new Map(causes.map(([name, row]) => [name.split('@')[0]!, sumOfCauses(row)]));
        // A currency that arrived later is in the ledger from the first fee in it.
        const isBooked = (currency: string) => ['btc', 'usd'].includes(currency) || there.fees().has(currency);
        for (const [currency, sum] of bot.balances)
          if (isBooked(currency)) expect([currency, ledger.get(currency) ?? 0n]).toEqual([currency, sum]);
        for (const currency of there.fees().keys()) if (currency === 'bnb') cameUp.add('fees in a third currency');
        const paid = causes.flatMap(([name, { fees }]) => (fees === 0n ? [] : [[name.split('@')[0]!, -fees] as const]));
        expect(new Map(paid)).toEqual(there.fees());
        expect(bot.desk.engine.book.haltedBecause).toBeNull();
        // Fees in the base currency leave less than the smallest order beyond the amount.
        const left = bot.inventory < 0n ? -bot.inventory : bot.inventory;
        expect(left <= moneyOf(String(BAND))).toBe(true);
        for (const { state, elsewhere } of bot.hedger.rows) if (elsewhere) cameUp.add(state);
      }),
      { ...runsOf(600, 12), seed: 17 },
    );
    const third = opened === binanceThere ? ['fees in a third currency'] : [];
    if (isMany) expect([...cameUp].toSorted()).toEqual(['completed', 'failed', ...third]);
  },
);

test('the first fee in a currency that arrived after the opening is booked with what was held before, wherever the bot dies', async () => {
  let diedOpen = 0;
  for (const isLost of [false, true])
    for (let diesAt = 0; diesAt <= 16; diesAt += 2) {
      const bot = new BotOfTwo(LOTS, '0', '0', binanceThere());
      const { there } = bot;
      there.offer('buy', '50000', '20');
      there.offer('sell', '50010', '20');
      bot.look();
      there.payInThird!();
      // This read is settled and has the new currency.
      bot.look();
      if (isLost) bot.fate = 'unanswered';
      for (let turn = 0; turn <= 20; turn++) {
        if (isLost && bot.sent.length > 0) bot.fateOfLook = 'lost';
        if (turn === diesAt) {
          if (bot.hedger.rows.some(row => row.elsewhere !== undefined && !isOver(row))) diedOpen++;
          bot.live();
        }
        await bot.passes(300, 300);
      }
      Object.assign(bot, { fate: 'arrives', fateOfLook: 'arrives' });
      await bot.passes(60_000, 2_000);
      const { engine } = bot.desk;
      expect([isLost, diesAt, engine.book.haltedBecause, engine.elsewhere!.view.differences()]).toEqual([
        ...[isLost, diesAt, null, []],
      ]);
      expect(there.fees().get('bnb')).toBeGreaterThan(0n);
      expect(engine.elsewhere!.view.total('bnb@there')).toBe(bot.balances.get('bnb'));
    }
  expect(diedOpen).toBeGreaterThan(3);
});

test('inventory below the minimum value of a hedge there leaves no row and no write to disk; above it, one hedge follows', async () => {
  for (const sign of [1, -1]) {
    // The mid price is 1,000.
    const [less, more] = [new BotOfTwo(sign * LOTS, '12001'), new BotOfTwo(sign * LOTS, '11999')];
    for (const bot of [less, more]) {
      bot.there.offer('buy', '50000', '20');
      bot.there.offer('sell', '50010', '20');
      await bot.clock.advance(1_000);
      await bot.passes(20_000);
    }
    expect([less.hedger.rows, less.disk.ledger]).toEqual([[], null]);
    expect(more.hedger.rows.map(({ state }) => state)).toEqual(['completed']);
  }
});

test.each([
  ['not if the bot may no longer act', 1_000, false, false],
  ['not if its price is older than 15 s', 16_000, true, false],
  ['if its price is younger than 15 s', 14_000, true, true],
] as const)('an order that waits in its client is sent %s', async (_, waitsMs, mayAct, isSent) => {
  const bot = new BotOfTwo(LOTS, '1');
  const { clock, hedger, there } = bot;
  there.offer('buy', '50000', '20');
  there.offer('sell', '50010', '20');
  await clock.advance(1_000);
  bot.beforePlace = async () => {
    bot.mayAct = mayAct;
    await sleep(clock, waitsMs);
  };
  bot.look();
  void hedger.turn();
  await clock.advance(waitsMs + 2_000);
  if (isSent) await bot.passes(4_000);
  expect(bot.sent.length).toBe(isSent ? 1 : 0);
  expect(hedger.rows.map(({ state }) => state)).toEqual([isSent ? 'completed' : 'failed']);
  expect(bot.balances.get('btc') === moneyOf('500')).toBe(!isSent);
});

test('a hedge costs at most what was counted for it, against the mid price of its decision, wherever that and the rate move meanwhile', async () => {
  const moves = fc.record({
    lots: fc.constantFrom(-LOTS, LOTS),
    mid: fc.integer({ min: 985, max: 1_015 }),
    rate: fc.constantFrom('0.0199', '0.02', '0.0201'),
  });
  await fc.assert(
    fc.asyncProperty(moves, async ({ lots, mid, rate }) => {
      const bot = new BotOfTwo(lots, '1');
      bot.there.offer('buy', '50000', '20');
      bot.there.offer('sell', '50010', '20');
      await bot.clock.advance(1_000);
      [bot.midAtRead, bot.rateAtRead] = [mid, rate];
      await bot.passes(10_000);
      const [row] = bot.hedger.rows;
      if (bot.balances.get('btc') === moneyOf('500')) return expect(row?.state).not.toBe('completed');
      expect([row?.state, row?.middle, row?.elsewhere?.rate]).toEqual(['completed', String(mid), rate]);
      const there = bot.balances;
      const base = there.get('btc')! - moneyOf('500');
      const cash = ((there.get('usd')! - moneyOf('20000000')) * moneyOf(rate)) / 10n ** 18n;
      const paid = -(base * BigInt(mid) + cash);
      expect(paid <= moneyOf(row!.costMax!)).toBe(true);
    }),
    runsOf(100, 12),
  );
});

test.each(['0', '2'])('a hedge that fails again and again, and leaves %s, is tried less often', async residual => {
  const bot = new BotOfTwo(LOTS, '1', residual);
  const { clock, hedger, there } = bot;
  const rejected: Fate = { instead: { status: 400, headers: {}, body: '{"success":false,"error":{"code":"0379"}}' } };
  there.offer('buy', '50000', '50');
  there.offer('sell', '50010', '50');
  await clock.advance(1_000);
  bot.fate = rejected;
  // Checks are 2 s apart. The second failure causes a pause of 2 s, each further one the longest pause, 4 s.
  await bot.passes(60_000, 2_000);
  expect([bot.sent.length, hedger.rows.length]).toEqual([11, 11]);
  bot.fate = 'arrives';
  await bot.passes(6_000, 2_000);
  expect([bot.sent.length, hedger.rows.at(-1)!.state]).toEqual([12, 'completed']);
});

test('a new request to close everything does not wait for the pause after failed hedges', async () => {
  const bot = new BotOfTwo(LOTS, '1');
  const { clock, there } = bot;
  there.offer('buy', '50000', '50');
  there.offer('sell', '50010', '50');
  await clock.advance(1_000);
  bot.fate = { instead: { status: 400, headers: {}, body: '{"success":false,"error":{"code":"0379"}}' } };
  await bot.passes(20_000, 2_000);
  // A check right after a failed one is in the pause.
  const before = bot.sent.length;
  while (bot.sent.length === before) await bot.passes(1_000);
  bot.fate = 'arrives';
  await bot.passes(500, 500);
  expect(bot.sent.length).toBe(before + 1);
  bot.flatten = 'f1';
  await bot.passes(500, 500);
  expect(bot.sent.length).toBe(before + 2);
});

test('a check of another amount never waits, and no pause is longer than the maximum', () => {
  const numbers = { everyMs: fc.integer({ min: 500, max: 60_000 }), maxMs: fc.integer({ min: 1_000, max: 3_600_000 }) };
  fc.assert(
    fc.property(fc.record({ ...numbers, count: fc.integer({ min: 1, max: 40 }) }), ({ everyMs, maxMs, count }) => {
      const backoff = new CheckBackoff(everyMs, maxMs);
      const [amount, other] = [moneyOf('1'), moneyOf('1.1')];
      for (let i = 0; i < count; i++) backoff.failed(amount, 0);
      const pauseMs = Math.min(maxMs, everyMs * (2 ** (count - 1) - 1));
      const rests = [Math.max(0, pauseMs - 1), pauseMs].map(at => backoff.isResting(amount, at));
      expect([...rests, backoff.isResting(other, 0)]).toEqual([count > 1, false, false]);
      backoff.failed(other, 0);
      expect([backoff.isResting(amount, 0), backoff.isResting(other, 0)]).toEqual([false, false]);
      backoff.failed(other, 0);
      for (let i = 0; i < count; i++) backoff.failed(other, 0, true);
      // A price that is too bad may become good for seconds.
      expect(backoff.isResting(other, 5_000)).toBe(false);
      backoff.reset();
      expect(backoff.isResting(other, 0)).toBe(false);
    }),
  );
});
