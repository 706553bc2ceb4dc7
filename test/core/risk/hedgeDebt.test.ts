/** Room of each side beside its definition (E17), for any inventory, pending amounts, failed hedges, funds and bounds. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { money, type Money, type Quote, type Side } from '../../../src/core/index.ts';
import { HedgeDebt } from '../../../src/core/risk/hedgeDebt.ts';
import { runsOf } from '../../many.ts';
import { plain } from '../market.ts';

const UNIT = 10n ** 18n;
const MID = 100;
/** Maximum lots of one order. */
const ORDER_MAX = 15;
const instrument = { ...plain, amountMax: ORDER_MAX as never };
/** Units of 10^-18 of a number with at most one decimal. */
const exact = (tenths: number): Money => money((BigInt(Math.round(tenths * 10)) * UNIT) / 10n);
const amounts = fc.integer({ min: 0, max: 40 });

const worlds = fc.record({
  inventory: fc.integer({ min: -400, max: 400 }).map(tenths => tenths / 10),
  converting: fc.record({ buy: amounts, sell: amounts }),
  levels: fc.array(fc.integer({ min: 1, max: 25 }), { maxLength: 3 }),
  asks: fc.array(fc.integer({ min: 1, max: 25 }), { maxLength: 3 }),
  band: fc.integer({ min: 0, max: 20 }),
  debtMax: fc.integer({ min: 0, max: 60 }),
  failuresMax: fc.integer({ min: 0, max: 4 }),
  failures: fc.integer({ min: 0, max: 6 }),
  openOrders: fc.integer({ min: 0, max: 1 }),
  isOnlyRoute: fc.boolean(),
  base: fc.integer({ min: -5, max: 60 }),
  quote: fc.integer({ min: -5, max: 60 }),
  rate: fc.constantFrom(null, 51, 102, 204),
  closed: fc.constantFrom<Side | null>(null, null, 'buy', 'sell'),
});
type World = typeof worlds extends fc.Arbitrary<infer T> ? T : never;

const opposite = (side: Side): Side => (side === 'buy' ? 'sell' : 'buy');
const sumOf = (levels: readonly number[]): number => levels.reduce((sum, lots) => sum + Math.min(lots, ORDER_MAX), 0);

/** Lots of a side's orders, with and without a hedge on this side, and the bound that limits them. */
function expectedRoom(side: Side, of: World) {
  const towards = side === 'buy' ? of.inventory : -of.inventory;
  const worst = towards + of.converting[side];
  const isInDebt = worst > of.band;
  const isOtherInDebt = -towards + of.converting[opposite(side)] > of.band;
  const { failures, failuresMax } = of;
  const mustWait = isInDebt && (failuresMax === 0 ? of.openOrders > 0 : failures >= failuresMax);
  // One side of quotes, and one more before each failure that is allowed; of each further failure nothing.
  const sides = failuresMax === 0 ? 1 : failures < failuresMax ? failures + 2 : failuresMax + 1;
  const full = Math.max(sumOf(of.levels), sumOf(of.asks));
  const bounds: (readonly [number, string])[] = [
    [of.debtMax, 'hedge debt limit'],
    [mustWait ? 0 : sides * full, 'waits for a hedge'],
  ];
  // Purchases there cost up to 2% more than the mid price.
  const free = side === 'buy' ? of.base : of.rate === null ? 0 : (of.quote * of.rate) / (MID * 1.02);
  if (of.isOnlyRoute) bounds.push([of.closed === opposite(side) ? 0 : Math.max(0, free), 'no hedge elsewhere']);
  const [beyond, refusal] = bounds.reduce((a, b) => (b[0] < a[0] ? b : a));
  const left = (from: number) => Math.max(0, Math.floor(of.band + beyond - from + 1e-9));
  // A hedge that is due on this side keeps its room.
  return { lots: left(worst < 0 && isOtherInDebt ? 0 : worst), hedgeLots: left(worst), refusal };
}

it('the room of each side is the smallest of its bounds, without what a due hedge needs', () => {
  fc.assert(
    fc.property(worlds, of => {
      const account = {
        ...{ openOrders: of.openOrders, rate: of.rate === null ? null : exact(of.rate) },
        reserves: { major: exact(of.base), minor: exact(of.quote) },
        closedBecause: (side: Side) => (side === of.closed ? 'closed' : null),
      };
      const bounds = {
        ...{ band: exact(of.band), debtMax: exact(of.debtMax) },
        ...{ failuresMax: of.failuresMax, isOnlyRoute: of.isOnlyRoute },
      };
      const debt = new HedgeDebt({ place: 'there', major: 'btc', minor: 'usd' }, bounds, account as never);
      const exposure = { instrument, inventory: exact(of.inventory), converting: of.converting, mid: exact(MID) };
      for (let i = 0; i < of.failures; i++) debt.apply({ kind: 'elsewhere', phase: 'ended', trades: [] } as never);
      const level = (amount: number) => ({ price: MID, amount, why: [] });
      debt.wanted({ bids: of.levels.map(level), asks: of.asks.map(level) } as unknown as Quote, exposure);
      // A smaller quote later does not make the largest side smaller.
      debt.wanted({ bids: [], asks: [] }, exposure);
      const rooms = debt.rooms(exposure);
      for (const side of ['buy', 'sell'] as const) {
        const { lots, hedgeLots, refusal } = rooms[side];
        expect({ side, lots, hedgeLots, refusal }).toEqual({ side, ...expectedRoom(side, of) });
      }
    }),
    runsOf(20_000, 600),
  );
});
