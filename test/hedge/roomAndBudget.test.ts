/** What hedges of a day have cost is known from the rows alone, whatever became of each, and after any restart. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  emptyDepth,
  money,
  moneyOf,
  textOfMoney,
  type HedgeRow,
  type HedgeState,
  type Order,
  type OrderState,
  type Snapshot,
  type RiskContext,
} from '../../src/core/index.ts';
import { HedgeHistory } from '../../src/hedge/hedgeHistory.ts';
import {
  amountInRoom,
  reconciledElsewhere,
  remainingBudget,
  hedgeableAmount,
  lateProblem,
  spentOnDay,
  spentOnFlatten,
} from '../../src/hedge/roomAndBudget.ts';
import { hedgeInputsOf, type HedgeInputs } from '../../src/hedge/hedgeInputs.ts';
import { btcMxn, plain } from '../core/market.ts';
import { runsOf } from '../many.ts';
import { NOW, rowOf } from './hedgeRows.ts';

const DAY_MS = 86_400_000;
const ends: readonly HedgeState[] = ['completed', 'failed', 'stranded'];

/** Room of a side: the amount that is left of more than any room has. */
const roomOf = (view: HedgeInputs, side: 'buy' | 'sell'): bigint =>
  side === 'sell' ? amountInRoom(view, money(10n ** 45n)) : -amountInRoom(view, money(-(10n ** 45n)));

test('the cost of a day is that of every hedge which was not certainly left undone, and a clock set back begins no day', () => {
  const hedge = fc.record({
    days: fc.constantFrom(0, 0, 0, 0, 1, -1),
    cost: fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: null }),
    end: fc.constantFrom(...ends),
    restarts: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(hedge, { maxLength: 60 }), list => {
      let now = 10 * DAY_MS;
      let spent = 0;
      const made = (rows: readonly HedgeRow[]) =>
        new HedgeHistory({ prefix: 'h', rows }, { time: () => now, step: () => undefined });
      let rows = made([]);
      for (const { days, cost, end, restarts } of list) {
        if (days > 0) spent = 0;
        now += days * DAY_MS;
        rows.begin(moneyOf('1'), { dayCost: textOfMoney(spentOnDay(rows.list, now)) });
        // Without a cost nothing was accepted.
        if (cost === null) rows.change({ state: 'failed' });
        else {
          rows.change({ state: 'accepted', costMax: String(cost) });
          expect(Number(textOfMoney(spentOnDay(rows.list, now)))).toBe(spent + cost);
          rows.change({ state: end });
          if (end !== 'failed') spent += cost;
        }
        if (restarts) {
          rows = made(rows.list);
          rows.restore(1_000);
        }
        expect(Number(textOfMoney(spentOnDay(rows.list, now)))).toBe(spent);
      }
    }),
  );
});

test('a hedge counts at its exchange when the first comparison after it agrees, and never after one that does not, over restarts and forgotten rows', () => {
  const step = fc.record({
    place: fc.constantFrom(null, 'here', 'there'),
    end: fc.constantFrom('executed', 'settled', 'failed'),
    restarts: fc.boolean(),
    compared: fc.constantFrom(null, null, true, false),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom('here', 'there'), (list, own) => {
      const made = (rows: readonly HedgeRow[]) =>
        new HedgeHistory({ prefix: 'h', rows }, { time: () => NOW, step: () => undefined });
      let rows = made([]);
      let count = 0;
      /** Whether each order that was sent and is kept waits for a comparison. */
      let sent: boolean[] = [];
      for (const { place, end, restarts, compared } of list) {
        const { left: _left, budgetName: _name, ...earlier } = remainingBudget(rows.list, {}, null, NOW);
        rows.begin(moneyOf('1'), earlier);
        // Rows that are forgotten before a comparison do not count.
        sent = sent.slice(-20);
        const order = { id: 'o', book: 'btc_usdt', side: 'sell', price: '1', amount: '1' } as const;
        if (place !== null) rows.change({ acceptedAt: NOW, elsewhere: { place, account: 'one', order, rate: '1' } });
        if (place !== null && end === 'executed') rows.change({ state: 'completed', reconciled: null });
        else rows.change({ state: end === 'failed' ? 'failed' : 'completed' });
        if (place !== null) sent.push(place === own && end === 'executed');
        if (restarts) rows = made(rows.list);
        if (compared !== null) {
          rows.compared(own, compared);
          if (compared) count += sent.filter(Boolean).length;
          sent = sent.map(() => false);
        }
        expect(reconciledElsewhere(rows.list, own)).toBe(count);
        expect(reconciledElsewhere(rows.list, own === 'here' ? 'there' : 'here')).toBe(0);
      }
    }),
    runsOf(1_000, 100),
  );
});

test('a hedge on another exchange starts the count there from 1, and hedges of earlier versions keep their count', () => {
  const old = rowOf({ state: 'completed', elsewhere: { place: 'here' } as never, placed: { place: 'here', count: 7 } });
  const history = new HedgeHistory({ prefix: 'h', rows: [old] }, { time: () => NOW, step: () => undefined });
  history.compared('here', true);
  expect(reconciledElsewhere(history.list, 'here')).toBe(7);
  history.begin(moneyOf('1'), { placed: { place: 'here', count: 7 } });
  history.change({ elsewhere: { place: 'there' } as never, state: 'completed', reconciled: null });
  history.compared('there', true);
  expect(['here', 'there'].map(one => reconciledElsewhere(history.list, one))).toEqual([0, 1]);
});

/** What a hedger sees of that. */
function viewOf(snapshot: object, standing: RiskContext): HedgeInputs {
  const account = { differences: () => [], isReconciled: true };
  const book = { snapshot: () => snapshot as Snapshot, riskContext: () => standing };
  const shown = { book, account };
  const { instrument } = standing;
  return hedgeInputsOf(shown, { instrument, takerRate: 0, balancesAt: 0 }, 0);
}

/** Orders of ours in any state, what is held, and how far inventory is from its target. */
const standings = fc
  .record({
    instrument: fc.constantFrom(plain, btcMxn),
    orders: fc.array(
      fc.record({
        side: fc.constantFrom('buy' as const, 'sell' as const),
        price: fc.integer({ min: 1, max: 2_000_000 }),
        amount: fc.integer({ min: 1, max: 1_000_000 }),
        filledShare: fc.constantFrom(0, 0, 0.3, 0.9),
        state: fc.constantFrom<OrderState>(
          'sending',
          'open',
          'partially filled',
          'canceling',
          'unknown',
          'closed-unsettled',
        ),
      }),
      { maxLength: 6 },
    ),
    major: fc.bigInt({ min: 0n, max: 10n ** 25n }),
    minor: fc.bigInt({ min: 0n, max: 10n ** 27n }),
    position: fc.integer({ min: -3_000_000, max: 3_000_000 }),
    positionMax: fc.integer({ min: 1, max: 5_000_000 }),
    converting: fc.record({ buy: fc.nat(1_000_000), sell: fc.nat(1_000_000) }),
    bid: fc.integer({ min: 1, max: 1_999_999 }),
    spread: fc.integer({ min: 1, max: 1_000 }),
  })
  .map(({ orders, instrument, major, minor, bid, spread, ...of }) => {
    const list = orders.map(
      ({ filledShare, ...order }, i) =>
        ({ ...order, id: `o${i}`, filled: Math.floor(order.amount * filledShare) }) as unknown as Order,
    );
    const holdings = new Map([
      [instrument.major, money(major)],
      [instrument.minor, money(minor)],
    ]);
    const snapshot = { orders: list, booked: { holdings }, bid, ask: bid + spread };
    const standing = {
      ...of,
      instrument,
      orders: list,
      depth: emptyDepth(1),
      foreignBests: { buy: null, sell: null },
      limits: { positionMax: of.positionMax },
    } as unknown as RiskContext;
    return { instrument, snapshot, standing, view: viewOf(snapshot, standing), major, minor };
  });
const left = ({ amount, filled }: Order): bigint => BigInt(amount - filled);

test('what leaves is as much of what should as is free and has room, never more, and never the other way', () => {
  const wanted = fc.bigInt({ min: -(10n ** 26n), max: 10n ** 26n }).filter(sum => sum !== 0n);
  fc.assert(
    fc.property(standings, wanted, ({ instrument, snapshot, standing, view, major, minor }, sum) => {
      const { mid: middle } = view;
      const size = hedgeableAmount(view, money(sum));
      const [sells, abs] = [sum > 0n, size < 0n ? -size : size];
      if (size !== 0n) expect(size > 0n).toBe(sells);
      const own = snapshot.orders.filter(({ side }) => side === (sells ? 'sell' : 'buy'));
      // What is free: held, less what every order of ours on that side may still take, whatever state it is in.
      const lots = own.reduce((all, order) => all + left(order), 0n);
      const value = own.reduce((all, order) => all + left(order) * BigInt(order.price), 0n);
      const free = sells ? major - lots * instrument.lotMoney : minor - value * instrument.tickLotMoney;
      // A buy is paid at a hundredth above the middle; of the smallest unit of a price times an amount nothing is lost.
      const isAffordable = (amount: bigint) =>
        sells ? amount <= free : amount * middle * 101n <= free * 100n * 10n ** 18n;
      // What has room: with everything that may still be filled, converted and now sold, inventory is within its limit.
      const sign = sells ? -1n : 1n;
      const inFlight = BigInt(standing.converting[sells ? 'sell' : 'buy']);
      const hasRoom = (amount: bigint) =>
        (sign * BigInt(standing.position) + lots + inFlight) * instrument.lotMoney + amount <=
        BigInt(standing.limits!.positionMax) * instrument.lotMoney;
      const asked = sells ? sum : -sum;
      if (abs > 0n) expect([abs <= asked, isAffordable(abs), hasRoom(abs)]).toEqual([true, true, true]);
      // And no more would do.
      expect(abs < asked && isAffordable(abs + 1n) && hasRoom(abs + 1n)).toBe(false);
    }),
    { numRuns: 2_000 },
  );
});

test('a chosen hedge is too late if it is larger than what should leave by now, or than the room of its own side', () => {
  const whole = (n: number) => money(BigInt(n) * 10n ** 18n);
  const lots = fc.integer({ min: 0, max: 9 });
  fc.assert(
    fc.property(
      fc.integer({ min: -9, max: 9 }),
      fc.integer({ min: 1, max: 9 }),
      lots,
      lots,
      fc.boolean(),
      (inventory, base, buy, sell, sells) => {
        const view = {
          instrument: plain,
          inventory: whole(inventory),
          sides: { buy: { room: buy }, sell: { room: sell } },
        };
        const rules = { band: money(0n), residual: whole(1), costMaxBps: 0, carryBpsPerHour: 0, unwindMs: 0 };
        const late = lateProblem(view as never, rules, whole(sells ? 5 : -5), whole(base));
        const wanted = Math.max(0, (sells ? inventory : -inventory) - 1);
        const word =
          base > wanted ? 'inventory changed' : base > (sells ? sell : buy) ? 'orders now use too much' : null;
        if (word === null) expect(late).toBeNull();
        else expect(late).toContain(word);
      },
    ),
    runsOf(2_000, 300),
  );
});

test('room counts orders that may still be filled as filled, and is never below zero', () => {
  fc.assert(
    fc.property(standings, ({ instrument, snapshot, standing, view }) => {
      for (const side of ['buy', 'sell'] as const) {
        const room = roomOf(view, side);
        expect(room >= 0n && room % instrument.lotMoney === 0n).toBe(true);
        const order = { side, amount: 1_000, filled: 0, state: 'unknown' } as unknown as Order;
        const more = roomOf(viewOf(snapshot, { ...standing, orders: [...standing.orders, order] }), side);
        const less = room - 1_000n * instrument.lotMoney;
        expect(more).toBe(less > 0n ? less : 0n);
      }
    }),
  );
});

test('the middle is exactly half way between the best prices, also where it is between two ticks', () => {
  fc.assert(
    fc.property(standings, ({ instrument, snapshot, view: { mid: middle } }) => {
      const [bid, ask] = [BigInt(snapshot.bid) * instrument.tickMoney, BigInt(snapshot.ask) * instrument.tickMoney];
      expect(middle - bid).toBe(ask - middle);
      expect(bid < middle && middle < ask).toBe(true);
    }),
  );
  const none = {
    ...{ instrument: plain, orders: [], converting: { buy: 0, sell: 0 }, depth: emptyDepth(1) },
    foreignBests: { buy: null, sell: null },
  };
  const { mid: middle } = viewOf(
    { orders: [], booked: { holdings: new Map() }, bid: 10, ask: 11 },
    none as unknown as RiskContext,
  );
  expect(textOfMoney(middle)).toBe('10.5');
});

test('what is left is the smaller of the day and the request to close, and each row has what came before it', () => {
  const step = fc.record({
    days: fc.constantFrom(0, 0, 0, 1),
    request: fc.constantFrom('a', 'a', 'b', null),
    cost: fc.integer({ min: 0, max: 9 }),
    end: fc.constantFrom(...ends),
  });
  const limit = fc.option(fc.integer({ min: 0, max: 40 }), { nil: undefined });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), limit, fc.integer({ min: 0, max: 40 }), (steps, day, most) => {
      // A day begins at midnight UTC, and the clock is far from it.
      let now = 19_676 * DAY_MS + 3_600_000;
      const rows = new HedgeHistory({ prefix: 'h', rows: [] }, { time: () => now, step: () => undefined });
      const costDayMax = day === undefined ? undefined : moneyOf(String(day));
      let today = 0;
      const spent = new Map<string, number>();
      for (const { days, request, cost, end } of steps) {
        if (days > 0) today = 0;
        now += days * DAY_MS;
        const flatten = request === null ? null : { id: request, costMax: moneyOf(String(most)) };
        const { left, budgetName, ...row } = remainingBudget(rows.list, { costDayMax }, flatten, now);
        const ofRequest = request === null ? Infinity : most - (spent.get(request) ?? 0);
        const ofDay = day === undefined ? Infinity : day - today;
        const least = Math.min(ofRequest, ofDay);
        expect(left === null ? Infinity : Number(textOfMoney(left))).toBe(least);
        expect(budgetName).toBe(request === null || ofDay < ofRequest ? 'today' : 'flatten');
        expect(row).toEqual({
          dayCost: String(today),
          ...(request === null ? {} : { flatten: { id: request, cost: String(spent.get(request) ?? 0) } }),
        });
        rows.begin(moneyOf('1'), row);
        rows.change({ costMax: String(cost), state: end });
        if (end === 'failed') continue;
        today += cost;
        if (request !== null) spent.set(request, (spent.get(request) ?? 0) + cost);
      }
    }),
    { numRuns: 200 },
  );
});

test('rows of before these sums were kept count as nothing, and a day ends at midnight UTC', () => {
  const midnight = 19_677 * DAY_MS;
  const old = rowOf({ state: 'completed', at: midnight - 1, costMax: '7' });
  expect([spentOnDay([old], midnight - 2), spentOnDay([old], midnight)]).toEqual([moneyOf('7'), 0n]);
  expect(spentOnDay([rowOf({ state: 'completed' })], old.at)).toBe(0n);
  expect(spentOnDay([], old.at)).toBe(0n);
  expect(spentOnFlatten([old], 'a')).toBe(0n);
  // The last row of the request counts, whatever came after it.
  const asked = { ...old, flatten: { id: 'a', cost: '2' } };
  expect(spentOnFlatten([rowOf(), asked, old], 'a')).toBe(moneyOf('9'));
  expect(spentOnFlatten([{ ...asked, flatten: { id: 'a', cost: '2' }, costMax: '0' }], 'a')).toBe(moneyOf('2'));
});
