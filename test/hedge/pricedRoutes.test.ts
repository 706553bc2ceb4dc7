/** Other ways out in whole runs: the book, and routes over a third currency; what they cost, and what is left where. */
import { afterEach, describe, expect, test } from 'vitest';
import { moneyOf, textOfMoney } from '../../src/core/index.ts';
import { started, type World } from '../live/world.ts';
import { converted, dollars, hedgedWorld, held, isAccept, isTake, WANTED } from './hedgedWorld.ts';

const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));
const kept = (made: World): World => {
  worlds.push(made);
  return made;
};
const CLEAN = { left: [], failure: null, ledger: true, halted: undefined };
const wide = { limits: { orderValueMax: '200000' } };

describe('taking the book', () => {
  test.each([
    ['sold', '1.58'],
    ['bought', '1.42'],
  ])('is the way by which inventory is %s when it is the cheapest, in one order that never rests', async (_, btc) => {
    const made = kept(hedgedWorld(3, { venues: ['book', 'rfq'] }, btc, wide));
    made.box.exchange.venue.set({ rfqSpreadPips: 80 });
    const running = await started(made);
    await made.clock.advance(90_000);
    const { summary, left, failure } = await running.stop();
    expect({ left, failure, ledger: summary.ledgerMatches, halted: summary.halted }).toEqual(CLEAN);
    expect(running.arrived.filter(isAccept)).toEqual([]);
    expect(running.arrived.filter(isTake).length).toBeGreaterThan(0);
    const off = Number(textOfMoney(held(made))) - 1.5;
    expect(Math.abs(off)).toBeLessThan(0.051);
    const told = running.log.map(({ text }) => text).join('\n');
    expect(told).toMatch(/book [\d.]+ bps \(taken\)/);
    expect(told).toMatch(/filled in the bot's book by order \S+-40000001/);
    expect(Number(summary.pnl!.hedging)).toBeLessThan(0);
  });

  test('never happens unless it is among the ways', async () => {
    const made = kept(hedgedWorld(3, { venues: ['rfq'], costMaxBps: 50 }, '1.58', wide));
    made.box.exchange.venue.set({ rfqSpreadPips: 300 });
    const running = await started(made);
    await made.clock.advance(60_000);
    await running.stop();
    expect(running.arrived.filter(request => isTake(request) || isAccept(request))).toEqual([]);
  });

  test('whose answer is lost is found by its origin id, counted once, and never sent twice', async () => {
    for (const fate of ['unanswered', 'lost', { heldMs: 15_000 }] as const) {
      const made = kept(hedgedWorld(5, { venues: ['book'], pauseMs: 600_000 }, '1.58', wide));
      const running = await started(made, { fate: request => (isTake(request) ? fate : 'arrives') });
      await made.clock.advance(150_000);
      const { summary, left, failure } = await running.stop();
      expect({ left, failure, ledger: summary.ledgerMatches, halted: summary.halted }).toEqual(CLEAN);
      expect(running.arrived.filter(isTake).length).toBeLessThanOrEqual(1);
      const sold = moneyOf('1.58') - held(made);
      expect(sold > 0n).toBe(fate !== 'lost');
    }
  });
});

describe('a route over a third currency', () => {
  test.each([
    ['sold', '1.58', 100],
    ['bought', '1.42', -100],
  ])(
    'is taken when inventory is %s best that way, in two legs, and nothing stays between them',
    async (_, btc, bps) => {
      const made = kept(hedgedWorld(3, { venues: ['rfq', 'conversion'], routes: { via: ['usd'] } }, btc));
      dollars(made, bps);
      const running = await started(made);
      await made.clock.advance(60_000);
      const { summary, left, failure } = await running.stop();
      expect({ left, failure, ledger: summary.ledgerMatches, halted: summary.halted }).toEqual(CLEAN);
      const off = held(made) - WANTED;
      expect(off < 0n ? -off : off).toBeLessThan(moneyOf('0.002'));
      expect(held(made, 'usd')).toBeLessThan(moneyOf('0.02'));
      expect(running.arrived.filter(isAccept)).toHaveLength(2);
      expect(converted(made)).toHaveLength(2);
      // Dearer there by 100 bps, less twice 20 bps: it earns.
      expect(Number(summary.pnl!.hedging)).toBeGreaterThan(0);
      expect(running.log.map(({ text }) => text).join('\n')).toMatch(/rfq via usd -[\d.]+ bps \(taken\)/);
    },
  );

  test('is not taken when what it may lose between its legs makes it dearer', async () => {
    const made = kept(hedgedWorld(3, { venues: ['rfq'], routes: { via: ['usd'], riskBps: 200 } }));
    dollars(made, 100);
    const running = await started(made);
    await made.clock.advance(40_000);
    await running.stop();
    expect(running.arrived.filter(isAccept)).toHaveLength(1);
    expect(held(made, 'usd')).toBe(0n);
  });

  test('whose second leg costs more than the hedge may is waited with, and then stranded by name; it counts as what it was worth', async () => {
    const made = kept(hedgedWorld(3, { venues: ['rfq'], costMaxBps: 30, routes: { via: ['usd'], waitMs: 20_000 } }));
    dollars(made, 40);
    const running = await started(made, {
      // The desk wants more than two per cent from the moment at which the first leg is accepted.
      onArrival: request => {
        if (isAccept(request)) made.box.exchange.venue.set({ rfqSpreadPips: 220 });
      },
    });
    await made.clock.advance(90_000);
    const { summary, left, failure } = await running.stop();
    expect({ left, failure, ledger: summary.ledgerMatches, halted: summary.halted }).toEqual(CLEAN);
    const told = running.log.map(({ text }) => text).join('\n');
    expect(told).toMatch(/waits after its first leg: second leg: the offer returns less than/);
    expect(told).toMatch(/stopped after its first leg: [\d.]+ usd, valued at [\d.]+ mxn/);
    expect(held(made, 'usd')).toBeGreaterThan(moneyOf('1000'));
    // What lies in dollars is not lost: the profit counts it.
    expect(Math.abs(Number(summary.pnl!.hedging))).toBeLessThan(0.08 * 1_700_000 * 0.01);
  });
});

describe('a limit of the day', () => {
  test('ends hedging for the day, whichever way is left', async () => {
    const made = kept(hedgedWorld(3, { costDayMax: '1' }));
    const running = await started(made);
    await made.clock.advance(60_000);
    await running.stop();
    expect(running.arrived.filter(isAccept)).toEqual([]);
    expect(running.log.map(({ text }) => text).join('\n')).toMatch(/exceeds the remaining hedge budget \(today\)/);
  });
});
