/**
 * The hedger over histories of lost answers, full disks, halts and deaths: nothing is accepted that is not on disk and
 * told first, nothing twice, and in the end the ledger has what the exchange has.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { money, moneyOf, textOfMoney } from '../../src/core/index.ts';
import { isOver } from '../../src/hedge/index.ts';
import { isMany, runsOf } from '../many.ts';
import { HedgedBot } from './hedgedBot.ts';
import type { AcceptFate } from './toyDesk.ts';

const ONE = 10n ** 18n;
const fates = fc.constantFrom<AcceptFate>(
  ...([
    'told',
    'untold',
    'pending',
    'pending, then failed',
    'lost',
    'refused',
    'executed before',
    'long after',
  ] as const),
);
const events = fc.array(
  fc.record({
    ms: fc.constantFrom(500, 1_000, 3_000, 9_000, 16_000),
    fate: fates,
    what: fc.constantFrom(
      ...(['none', 'none', 'none', 'dies', 'disk is full', 'halted', 'cannot look', 'lists omit', 'spread'] as const),
    ),
  }),
  { maxLength: 14 },
);
const worlds = fc.record({
  lots: fc.constantFrom(-12, -7, 7, 12),
  venues: fc.constantFrom<readonly ('rfq' | 'conversion' | 'book')[]>(
    ['rfq'],
    ['conversion'],
    ['rfq', 'conversion'],
    ['book'],
    ['book', 'rfq'],
  ),
  isRouted: fc.boolean(),
  residual: fc.constantFrom('0', '2'),
  costDayMax: fc.option(fc.constantFrom('10', '40', '70'), { nil: undefined }),
  answerMs: fc.constantFrom(0, 700, 2_500),
  events,
});

test('whatever happens to a hedge, it is on disk and told before it leaves, leaves once and within its limits, and the ledger has what came of it', async () => {
  const cameUp = new Set<string>();
  await fc.assert(
    fc.asyncProperty(worlds, async ({ lots, venues, isRouted, residual, costDayMax, answerMs, events: list }) => {
      const bot = new HedgedBot(lots, {
        venues,
        ...(isRouted ? { routes: { via: ['usd'], riskBps: 1, waitMs: 20_000 } } : {}),
        rules: {
          residual: moneyOf(residual),
          ...(costDayMax === undefined ? {} : { costDayMax: moneyOf(costDayMax) }),
        },
      });
      const { toy, clock } = bot;
      // By way of dollars it earns.
      if (isRouted) toy.bonusBps = { 'btc usd': 25n, 'usd btc': 25n };
      toy.answerMs = answerMs;
      toy.onAccept = ({ id, way }) => {
        const row = bot.disk.findLast(each => each.offer?.id === id);
        expect([row?.state, row?.offer?.way, bot.mayAct, bot.accepts]).toEqual(['accepted', way, true, true]);
        const flight = bot.told.findLast(event => event.kind === 'conversion' && event.phase === 'in flight');
        expect(flight).toMatchObject({
          conversion: {
            give: { currency: row!.offer!.give.currency, amount: moneyOf(row!.offer!.give.amount) },
            get: { currency: row!.offer!.get.currency, amount: moneyOf(row!.offer!.get.amount) },
          },
        });
        const { at, lifeMs } = toy.offers.get(id)!;
        expect(clock.elapsed() - at).toBeLessThanOrEqual(lifeMs - bot.setup.quoteLifeMinMs);
      };
      for (const { ms, fate, what } of list) {
        toy.fateOfAccept = () => fate;
        bot.desk.fateOfPlace = () =>
          fate === 'told' ? 'done' : fate === 'untold' ? 'done untold' : fate === 'refused' ? { code: 'x' } : 'lost';
        toy.canLook = what !== 'cannot look';
        toy.omitsShown = what === 'lists omit';
        bot.accepts = what !== 'disk is full';
        bot.mayAct = what !== 'halted';
        toy.spreadBps = what === 'spread' ? 60n : 10n;
        if (what === 'dies' && bot.accepts) bot.restart();
        await bot.passes(ms);
        expect(bot.rows.filter(row => !isOver(row)).length).toBeLessThanOrEqual(1);
      }
      // All answers again.
      Object.assign(toy, { fateOfAccept: () => 'told', canLook: true, omitsShown: false, spreadBps: 10n });
      Object.assign(bot, { accepts: true, mayAct: true });
      bot.desk.fateOfPlace = () => 'done';
      await bot.passes(60_000, 2_000);
      // And nothing new.
      toy.fateOfOffer = () => 'refused';
      await bot.passes(34_000, 2_000);
      bot.mayAct = false;
      await bot.passes(8_000, 2_000);
      expect(bot.rows.filter(row => !isOver(row))).toEqual([]);
      const offered = bot.rows.filter(({ offer }) => offer !== null);
      const ids = new Set(offered.map(({ id }) => id));
      // After a full disk the loop writes with its next entry.
      if (!list.some(({ what }) => what === 'disk is full'))
        expect(bot.disk.filter(({ id }) => ids.has(id))).toEqual(offered);
      for (const row of bot.rows) cameUp.add(`${row.state}${row.route ? ' route' : ''} ${row.offer?.way}`);

      // No quote and no leg of a hedge is accepted twice.
      expect(new Set(toy.accepted).size).toBe(toy.accepted.length);
      const done = toy.executed.filter(({ status }) => status === 'completed');
      for (const row of bot.rows) {
        const legs = done.filter(({ quote }) =>
          bot.told.some(event => event.kind === 'hedge' && event.row.id === row.id && event.row.offer?.id === quote),
        );
        const pairs = legs.map(({ give, get }) => `${give.currency} ${get.currency}`);
        expect(new Set(pairs).size).toBe(pairs.length);
        if (row.state === 'failed') expect(pairs).toEqual([]);
        if (row.state === 'completed' && row.offer?.way !== 'book') expect(pairs).toHaveLength(row.route ? 2 : 1);
        if (row.state === 'stranded') expect(pairs).toHaveLength(1);
      }
      // The ledger has what the exchange has, and no conversion waits.
      bot.readBalances();
      for (const currency of ['btc', 'mxn', 'usd'])
        expect([currency, bot.desk.engine.account.total(currency)]).toEqual([currency, bot.total(currency)]);
      expect(bot.desk.engine.account.isConverting).toBe(false);

      // Inventory only falls, to what should stay and never beyond, and what it cost is within the limits.
      const left = bot.inventory * Math.sign(lots);
      // A purchase over dollars takes a cent of them more at most.
      expect(left).toBeGreaterThanOrEqual(Number(residual) - 0.001);
      expect(left).toBeLessThanOrEqual(Math.abs(lots));
      const limit = (BigInt(Math.abs(lots)) * 1_000n * 30n * ONE) / 10_000n;
      const costs = bot.rows.flatMap(({ state, costMax }) => (state === 'failed' ? [] : [moneyOf(costMax ?? '0')]));
      const sum = costs.reduce<bigint>((a, b) => a + b, 0n);
      if (costDayMax !== undefined) expect(sum).toBeLessThanOrEqual(moneyOf(costDayMax));
      for (const cost of costs) expect(cost).toBeLessThanOrEqual(limit);
      const [btc, mxn, usd] = ['btc', 'mxn', 'usd'].map(currency => {
        const opening = currency === 'usd' ? 0n : 1_000_000_000n * ONE;
        return Number(textOfMoney(money(bot.total(currency) - opening)));
      });
      expect(-(btc! * 1_000 + mxn! + usd! * 20)).toBeLessThanOrEqual(Number(textOfMoney(money(sum))) + 1e-6);
      // A pause after each, whatever came of it.
      const begun = bot.told.flatMap(event =>
        event.kind === 'hedge' && event.row.state === 'requested' ? [event] : [],
      );
      begun.slice(1).forEach(({ at, row }, i) => {
        if (row.id.split('-')[1] === begun[i]!.row.id.split('-')[1])
          expect(at - begun[i]!.at).toBeGreaterThanOrEqual(bot.setup.pauseMs);
      });
    }),
    runsOf(400, 40),
  );
  if (!isMany) return;
  expect([...cameUp]).toEqual(
    expect.arrayContaining([
      'completed rfq',
      'completed conversion',
      'completed book',
      'completed route rfq',
      'stranded route rfq',
      'failed route rfq',
      'failed rfq',
      'failed conversion',
      'failed book',
      'failed undefined',
    ]),
  );
});

test('a conversion that nobody can look up gets the outcome that it had, from balances of its own time, whatever the ones before it had', async () => {
  const history = fc.record({
    isExecuted: fc.boolean(),
    /** Reads of the balances: time before each read, and whether transfers of others hide the outcome in this read. */
    reads: fc.array(fc.record({ ms: fc.constantFrom(500, 1_000, 2_999, 3_000, 9_000), isHidden: fc.boolean() }), {
      maxLength: 8,
    }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(history, { minLength: 2, maxLength: 3 }), async list => {
      const bot = new HedgedBot(12, { venues: ['conversion'], rules: { band: moneyOf('1') } });
      const { toy } = bot;
      Object.assign(toy, { most: { btc: 4n * ONE }, canLook: false });
      for (const { isExecuted, reads } of list) {
        toy.fateOfAccept = () => (isExecuted ? 'untold' : 'lost');
        bot.mayAct = true;
        await bot.clock.advance(bot.setup.pauseMs);
        await bot.turned();
        bot.mayAct = false;
        const { id, acceptedAt, offer } = bot.last;
        const of = () => bot.rows.find(row => row.id === id)!;
        expect(of().state).toBe('unknown');
        const sign = isExecuted ? -1n : 1n;
        const hiding = { btc: -sign * moneyOf(offer!.give.amount), mxn: sign * moneyOf(offer!.get.amount) };
        const dueMs = toy.lifeMs + bot.setup.tradeReportDelayMaxMs;
        await bot.clock.advance(dueMs - 3_000);
        const clear = Array.from({ length: 8 }, () => ({ ms: 1_000, isHidden: false }));
        let wasHidden = false;
        for (const { ms, isHidden } of [...reads, ...clear]) {
          await bot.clock.advance(ms);
          wasHidden = isHidden && !wasHidden;
          Object.assign(bot.others, wasHidden ? hiding : { btc: 0n, mxn: 0n });
          bot.readBalances();
          await bot.turned();
          if (!isOver(of())) continue;
          expect(of().state).toBe(isExecuted ? 'completed' : 'failed');
          expect(bot.balancesAt - acceptedAt!).toBeGreaterThanOrEqual(dueMs + bot.setup.tradeReportDelayMaxMs);
          break;
        }
        expect(isOver(of())).toBe(true);
        Object.assign(bot.others, { btc: 0n, mxn: 0n });
        bot.readBalances();
      }
      for (const currency of ['btc', 'mxn'])
        expect([currency, bot.desk.engine.account.total(currency)]).toEqual([currency, bot.total(currency)]);
    }),
    runsOf(400, 20),
  );
});

test('the second leg of a route leaves only within the time since its first leg, and the route is over soon after, whatever became of each try', async () => {
  const tries = fc.array(
    fc.record({
      fate: fc.constantFrom<AcceptFate>('refused', 'refused', 'pending, then failed', 'lost', 'told'),
      offer: fc.constantFrom('fit', 'fit', 'fit', 'dear', 'none'),
      ms: fc.constantFrom(1_000, 4_000, 5_000, 11_000),
    }),
    { maxLength: 20 },
  );
  const lasting = ['refused', 'pending, then failed', 'lost'] as const;
  await fc.assert(
    fc.asyncProperty(tries, fc.constantFrom<AcceptFate>(...lasting), async (list, last) => {
      const waitMs = 60_000;
      const bot = new HedgedBot(12, { routes: { via: ['usd'], riskBps: 1, waitMs } });
      const { toy, clock } = bot;
      toy.bonusBps = { 'btc usd': 25n, 'usd btc': 25n };
      await bot.turned();
      await bot.turned();
      const since = clock.now();
      expect(bot.rows.map(({ state }) => state)).toEqual(['between']);
      toy.onAccept = ({ id }) => {
        if (bot.rows[0]!.offer?.id === id) expect(clock.now()).toBeLessThan(since + waitMs);
      };
      for (const { fate, offer, ms } of list) {
        toy.fateOfAccept = () => fate;
        toy.spreadBps = offer === 'dear' ? 90n : 10n;
        toy.fateOfOffer = () => (offer === 'none' ? 'refused' : 'told');
        await bot.passes(ms);
      }
      Object.assign(toy, { spreadBps: 10n, fateOfOffer: () => 'told', fateOfAccept: () => last });
      const legMs = toy.lifeMs + bot.setup.tradeReportDelayMaxMs;
      // By then, an attempt that was sent in time has ended, and the next poll closes the hedge.
      await bot.passes(Math.max(0, since + waitMs + legMs + 6_000 - clock.now()), 2_000);
      const { state } = bot.rows[0]!;
      expect(['completed', 'stranded']).toContain(state);
      expect(bot.desk.engine.account.total('usd') === 0n).toBe(state === 'completed');
    }),
    runsOf(200, 15),
  );
});
