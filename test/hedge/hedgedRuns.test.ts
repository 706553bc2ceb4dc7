/** The hedger in whole runs on the embedded exchange: inventory leaves once, at most at its limit, whatever becomes of the requests. */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { moneyOf, randomOf, type WireRequest } from '../../src/core/index.ts';
import { few } from '../many.ts';
import { doomed, restarted } from '../live/crashes.ts';
import { Folders } from '../live/states.ts';
import { started, type RunChanges, type World } from '../live/world.ts';
import { converted, hedgedWorld, held, isAccept } from './hedgedWorld.ts';

const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));

function world(seed: number, hedge: object = {}, btc = '1.58'): World {
  const made = hedgedWorld(seed, hedge, btc);
  // With the default padding no conversion is within the limit of cost.
  made.box.exchange.venue.set({ conversionPaddingPips: 30 });
  worlds.push(made);
  return made;
}

describe('inventory past its band', () => {
  test.each([
    ['sold', '1.58'],
    ['bought', '1.42'],
  ])('is %s back by the cheapest way, once, and the ledger equals the balances', async (_, btc) => {
    const made = world(3, {}, btc);
    const running = await started(made);
    await made.clock.advance(60_000);
    const { summary, left, failure } = await running.stop();
    expect({ left, failure, ledger: summary.ledgerMatches }).toEqual({ left: [], failure: null, ledger: true });
    expect(held(made)).toBe(moneyOf('1.5'));
    expect(running.arrived.filter(isAccept)).toHaveLength(1);
    // Paid, and not more than the limit: 100 bps of 0.08 btc.
    const hedging = Number(summary.pnl!.hedging);
    expect(hedging).toBeLessThan(0);
    expect(hedging).toBeGreaterThan(-0.08 * 1_600_000 * 0.01);
    expect(running.log.map(({ text }) => text).join('\n')).toMatch(
      /hedge routes for .*\(taken\).*book .*may not take liquidity/,
    );
  });

  test('stays when every way costs more than the limit', async () => {
    const made = world(3, { costMaxBps: 0.1 });
    const running = await started(made);
    await made.clock.advance(60_000);
    await running.stop();
    expect(running.arrived.filter(isAccept)).toEqual([]);
    expect(held(made)).toBe(moneyOf('1.58'));
  });

  test('leaves below the band only when carrying it costs more than leaving', async () => {
    const rest = { band: '0.09', residual: '0' };
    for (const [carryBpsPerHour, leaves] of [
      [1, false],
      [5_000, true],
    ] as const) {
      const made = world(3, { ...rest, carryBpsPerHour, unwindMs: 3_600_000 });
      const running = await started(made);
      await made.clock.advance(40_000);
      await running.stop();
      expect(held(made) < moneyOf('1.58')).toBe(leaves);
    }
  });

  test('without a band by hand leaves as far as risk, flow and what leaving costs say', async () => {
    const flow = { volatilityBps: 57, fillsPerMinute: 1, decayPerBps: 0.19 };
    const heldAt = async (risk: string): Promise<bigint> => {
      const made = world(3, { band: undefined, risk, flow });
      const running = await started(made);
      await made.clock.advance(120_000);
      const { summary } = await running.stop();
      expect(summary.ledgerMatches).toBe(true);
      return held(made);
    };
    const [little, more, much] = [await heldAt('2 mxn'), await heldAt('20 mxn'), await heldAt('20000 mxn')];
    expect(much).toBe(moneyOf('1.58'));
    expect(more).toBeLessThan(much);
    expect(little).toBeLessThan(more);
    expect(little).toBeGreaterThanOrEqual(moneyOf('1.5'));
  });

  test('is asked for in a size that can be confirmed; what cannot is never accepted', async () => {
    const made = world(3, { venues: ['rfq'] });
    made.box.exchange.venue.set({ rfqCapacityPips: 20 });
    const running = await started(made);
    await made.clock.advance(120_000);
    const { summary } = await running.stop();
    expect(summary.ledgerMatches).toBe(true);
    expect(held(made)).toBeLessThan(moneyOf('1.58'));
    expect(converted(made).length).toBeGreaterThan(0);
    expect(running.log.filter(({ text }) => text.includes('not executed: refused'))).toEqual([]);
  });

  test('is not accepted when the offer would expire before its acceptance reaches the exchange', async () => {
    const made = world(3, { quoteLifeMinMs: 40_000 });
    const running = await started(made);
    await made.clock.advance(60_000);
    await running.stop();
    expect(running.arrived.filter(isAccept)).toEqual([]);
  });
});

describe('a hedge whose answers go wrong', () => {
  const FATES: readonly (readonly [string, RunChanges['fate']])[] = [
    ['was carried out and not answered', request => (isAccept(request) ? 'unanswered' : 'arrives')],
    ['never arrived', request => (isAccept(request) ? 'lost' : 'arrives')],
    ['arrived long after it was given up', request => (isAccept(request) ? { heldMs: 15_000 } : 'arrives')],
    ['was never sent', request => (isAccept(request) ? 'not sent' : 'arrives')],
  ];
  const WAYS = ['rfq', 'conversion'] as const;
  // First each fate, by one way or the other.
  const cases = WAYS.flatMap((_, shift) =>
    FATES.map(([name, fate], i) => [WAYS[(i + shift) % WAYS.length]!, name, fate] as const),
  );
  test.each(few(cases, FATES.length))(
    'by %s, when its acceptance %s, is found out, carried out at most once, and the ledger stays exact',
    async (way, _, fate) => {
      const made = world(5, { venues: [way], pauseMs: 600_000 });
      let accepts = 0;
      const running = await started(made, {
        fate: request => {
          if (isAccept(request)) accepts++;
          return fate!(request);
        },
      });
      await made.clock.advance(150_000);
      expect(accepts, running.log.map(({ text }) => text).join('\n')).toBe(1);
      const { summary, left } = await running.stop();
      expect({ left, ledger: summary.ledgerMatches, halted: summary.halted }).toEqual({
        left: [],
        ledger: true,
        halted: undefined,
      });
      expect(running.arrived.filter(isAccept).length).toBeLessThanOrEqual(1);
      expect([moneyOf('1.5'), moneyOf('1.58')]).toContain(held(made));
    },
  );

  test.each([
    ['was carried out and not answered', 'unanswered', 1],
    ['never arrived', 'lost', 0],
  ] as const)(
    'by conversion, when its acceptance %s while somebody else moves both of its currencies, is asked for by its quote and known within its settle time',
    async (_, fate, count) => {
      const made = world(5, { venues: ['conversion'], pauseMs: 600_000 });
      const { venue } = made.box.exchange;
      const account = venue.accounts.get(made.box.account.id)!;
      let moved = false;
      const running = await started(made, {
        fate: request => {
          if (!isAccept(request)) return 'arrives';

          if (!moved)
            for (const currency of ['btc', 'mxn']) venue.deposit(account, currency, moneyOf('0.0003'), 'funding');
          moved = true;
          return fate;
        },
      });
      await made.clock.advance(120_000);
      expect(moved).toBe(true);
      expect(converted(made)).toHaveLength(count);
      const told = running.log.map(({ text }) => text).join('\n');
      expect(told).toMatch(count === 1 ? /hedge \S+: converted/ : /hedge \S+ was not executed/);
      const { summary, left } = await running.stop();
      expect({ left, ledger: summary.ledgerMatches, halted: summary.halted }).toEqual({
        left: [],
        ledger: true,
        halted: undefined,
      });
      expect(running.arrived.filter(isAccept)).toHaveLength(fate === 'lost' ? 0 : 1);
    },
  );

  test('over many seeds: what the exchange carried out is what the bot says, to the last digit', async () => {
    for (const seed of few([1, 2, 3], 1)) {
      const random = randomOf(seed);
      const made = world(seed, { pauseMs: 5_000, band: '0.02' });
      let calm = false;
      const fate = (request: WireRequest) => {
        const isDesk = /rfq|currency_conversions/.test(request.target);
        if (calm || !isDesk || random.next() < 0.6) return 'arrives';
        const roll = random.next();
        return roll < 0.3 ? 'unanswered' : roll < 0.6 ? 'lost' : roll < 0.8 ? { heldMs: 15_000 } : 'not sent';
      };
      const running = await started(made, { fate });
      await made.clock.advance(200_000);
      calm = true;
      await made.clock.advance(60_000);
      const { summary, left } = await running.stop();
      expect({ seed, left, ledger: summary.ledgerMatches, halted: summary.halted }).toEqual({
        seed,
        left: [],
        ledger: true,
        halted: undefined,
      });
      const told = running.log.filter(({ text }) => /^hedge \S+: converted /.test(text));
      expect([seed, told.length]).toEqual([seed, converted(made).length]);
    }
  });
});

describe('a bot that is killed with a hedge under way', () => {
  const folders = new Folders();
  afterAll(() => folders.clear());

  test.each([
    ['as it leaves, which never arrives', 'lost' as const],
    ['as it leaves, and it is carried out', 'unanswered' as const],
  ])('%s, finds out after its start, and carries nothing out twice', async (_, fate) => {
    const made = world(7, { venues: ['rfq'], pauseMs: 600_000 });
    const { left } = await doomed(made, folders, request => (isAccept(request) ? fate : null));
    for (let n = 0; n < 200 && left() === null; n++) await made.clock.advance(500);
    const dir = left();
    if (dir === null) throw new Error('it was never killed');
    const second = await restarted(made, dir, { fate: request => (isAccept(request) ? 'not sent' : 'arrives') });
    await made.clock.advance(90_000);
    const { summary, left: orders } = await second.stop();
    expect({ orders, ledger: summary.ledgerMatches, halted: summary.halted }).toEqual({
      orders: [],
      ledger: true,
      halted: undefined,
    });
    expect(converted(made)).toHaveLength(fate === 'unanswered' ? 1 : 0);
    expect(second.log.map(({ text }) => text).join('\n')).toMatch(
      fate === 'unanswered' ? /hedge \S+: converted/ : /hedge \S+ was not executed/,
    );
  });
});
