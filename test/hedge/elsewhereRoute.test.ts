/** Orders for another exchange: of which side and size each is, and that what the operator states ends it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  emptyDepth,
  instrumentOf,
  money,
  moneyOf,
  moneyOfValue,
  textOfMoney,
  valueOf,
  VirtualClock,
  type EngineEvent,
  type HedgeRow,
  type Moved,
  type Instrument,
  type Money,
  type Side,
} from '../../src/core/index.ts';
import { ElsewhereDesk } from '../../src/hedge/index.ts';
import { ElsewhereRoute } from '../../src/hedge/elsewhereRoute.ts';
import { bookRules } from '../core/market.ts';
import { runsOf } from '../many.ts';

const there = instrumentOf(bookRules({ book: 'btc_usdt', tickSize: '0.01', minimumValue: '1' }), '0.001');
const here = instrumentOf(bookRules());
const LOT = there.lotMoney;
const CLOSED = { buy: 'no buys now', sell: 'no sales now' };

type Drawn = {
  readonly sizes: readonly number[];
  readonly step: number;
  readonly marginBps: number;
  readonly baseLots: number;
  readonly quote: number;
  readonly closed: readonly Side[];
  /** Minimum value of a hedge in the quote currency of the bot's book, and number of hedges of the smallest size. */
  readonly valueMin?: Money;
  readonly smallestUntil?: number;
  readonly isOpen?: boolean;
  readonly instrument?: Instrument;
  /** Returns the latest rules there. */
  readonly now?: () => Instrument;
  /** Called while the book there is read. */
  readonly onRead?: () => void;
};

function hedges(drawn: Drawn): ElsewhereRoute {
  const { sizes, step, marginBps, baseLots, quote, closed } = drawn;
  const { valueMin = money(0n), smallestUntil = 0, isOpen = false, instrument = there } = drawn;
  const { now = () => instrument, onRead } = drawn;
  const depth = emptyDepth(50);
  for (const [i, size] of sizes.entries()) {
    [depth.bidPrices[i], depth.askPrices[i]] = [100_000 - step * i, 100_010 + step * i];
    [depth.bidAmounts[i], depth.askAmounts[i]] = [size, size];
  }
  Object.assign(depth, { bids: sizes.length, asks: sizes.length });
  const setup = {
    desk: {
      isOpen,
      depth: async () => {
        onRead?.();
        return { depth, instrument, startedAt: 0 };
      },
    },
    get instrument() {
      return now();
    },
    takerRate: 100_000,
    ...{ rate: () => moneyOf('20'), latencyMs: 0, riskZ: 0, perRootSecond: () => 0, valueMin, smallestUntil },
    funds: (currency: string) =>
      currency === 'btc' ? money(BigInt(baseLots) * LOT) : moneyOf(currency === 'usdt' ? String(quote) : '0'),
    closedBecause: (side: Side) => (closed.includes(side) ? CLOSED[side] : null),
    ...{ marginBps, backBps: 0 },
    bounds: { costMaxBps: 9_000, collarBps: 9_000, orderValueMax: 10n ** 30n, room: 10 ** 9 },
  };
  return new ElsewhereRoute(setup as never, { time: () => 0, step: () => undefined });
}

test('an order is of the wanted side, which may be open while the other is closed, and costs at its limit at most the funds there', async () => {
  let orders = 0;
  const drawn = fc.record({
    sizes: fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 6 }),
    step: fc.constantFrom(1, 100, 10_000),
    marginBps: fc.constantFrom(0, 10, 50, 2_000),
    baseLots: fc.nat(2_000),
    quote: fc.nat(2_000),
    closed: fc.subarray<Side>(['buy', 'sell']),
  });
  await fc.assert(
    fc.asyncProperty(drawn, fc.integer({ min: 1, max: 2_000 }), fc.boolean(), async (book, lots, sells) => {
      const side = sells ? 'sell' : 'buy';
      const amount = money((sells ? 1n : -1n) * BigInt(lots) * LOT);
      const view = { instrument: here, mid: moneyOf('20000') } as never;
      const route = await hedges(book).price(view, amount, { reconciled: 0, isAll: true });
      if (route.by !== 'elsewhere') {
        const why = 'unavailableReason' in route.out ? route.out.unavailableReason : '';
        expect(why === CLOSED[side]).toBe(book.closed.includes(side));
        return;
      }
      orders++;
      const { take } = route;
      expect([take.side, book.closed.includes(side)]).toEqual([side, false]);
      expect(take.amount).toBeLessThanOrEqual(lots);
      if (sells) expect(take.amount).toBeLessThanOrEqual(book.baseLots);
      else expect(moneyOfValue(there, valueOf(take.price, take.amount)) <= moneyOf(String(book.quote))).toBe(true);
    }),
    runsOf(2_000, 200),
  );
  expect(orders).toBeGreaterThan(20);
});

test('an ask far from the market does not make a purchase smaller', async () => {
  const drawn = { step: 1, marginBps: 10, baseLots: 0, quote: 500, closed: [] };
  const view = { instrument: here, mid: moneyOf('20000') } as never;
  const priced = (sizes: readonly number[], step: number) =>
    hedges({ ...drawn, sizes, step }).price(view, money(-400n * LOT), { reconciled: 0, isAll: true });
  const found = await priced([400], 1);
  expect(found).toHaveProperty('take.amount', 400);
  expect(await priced([400, 1], 10_000_000)).toEqual(found);
});

test.each([
  ['not executed', null],
  ['executed', { base: LOT, quote: LOT, fee: 0n, feeCurrency: 'usdt' }],
])(
  'after the operator has stated its outcome (%s), the order is looked up no more, and another may be sent',
  (_, stated) => {
    const times = { requestDelayMaxMs: 1, tradeReportDelayMaxMs: 1 };
    const desk = new ElsewhereDesk({ client: {}, clock: new VirtualClock(), instrument: () => there, times } as never);
    const hedges = new ElsewhereRoute({ desk } as never, { time: () => 0, step: () => undefined });
    const order = { id: 'h1', book: 'btc_usdt', side: 'buy', price: '1000', amount: '0.001' };
    const row = { id: 'h1', elsewhere: { place: 'there', order, rate: '20' } } as never as HedgeRow;
    desk.restore(order as never, false);
    expect(desk.isOpen).toBe(true);
    const { trades } = hedges.endAsStated(row, stated as never);
    expect([desk.isOpen, trades.length]).toEqual([false, stated === null ? 0 : 1]);
  },
);

test('a hedge that no list shows, but that the balances there show as executed, is not sent again', async () => {
  const clock = new VirtualClock();
  const none = () => Promise.resolve({ kind: 'done', value: [] });
  const times = { requestLifeMs: 1_000, listingDelayMs: 1_000 };
  const client = { lookUp: none, orderTrades: none };
  const desk = new ElsewhereDesk({ client, clock, instrument: () => there, times } as never);
  let moved: Moved | null = { base: moneyOf('0.001'), quote: moneyOf('-1.001') };
  const hedges = new ElsewhereRoute({ desk, readMoved: () => Promise.resolve(moved) } as never, {
    time: () => 0,
    step: () => undefined,
  });
  desk.restore({ id: 'h1', book: 'btc_usdt', side: 'buy', price: '1001', amount: '0.001' }, false);
  for (let look = 0; look < 3; look++) {
    await clock.advance(3_000);
    expect(await hedges.find()).toContain('as if the order had been executed');
  }
  expect([desk.isOpen, hedges.isUndecidable]).toEqual([true, true]);
  moved = null;
  expect(await hedges.find()).toContain('its balances are unknown');
  // A person has moved these amounts, and the ledger contains this by now.
  moved = { base: moneyOf('0'), quote: moneyOf('0') };
  expect(typeof (await hedges.find())).toBe('string');
  await clock.advance(1_000);
  expect(await hedges.find()).toMatchObject({ filled: 0n, trades: [] });
  expect(desk.isOpen).toBe(false);
});

test('of the first hedges each has the smallest size, and one below the minimum value waits unless all inventory is closed', async () => {
  const [bestBid, mid] = [100_000, moneyOf('20000')];
  const rules = bookRules({ book: 'btc_usdt', tickSize: '0.01', minimumValue: '7' });
  const instrument = instrumentOf(rules, '0.001');
  const lots = fc.integer({ min: 1, max: 40 });
  const drawn = fc.record({
    sizes: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 4 }),
    step: fc.constantFrom(1, 10_000),
    lots,
    baseLots: fc.nat(40),
    /** Lots whose value is the minimum value of a hedge. */
    leastLots: lots,
    smallestUntil: fc.nat(3),
    reconciled: fc.nat(3),
    isAll: fc.boolean(),
    isOpen: fc.constantFrom(false, false, false, true),
  });
  const reasons = new Set<string>();
  await fc.assert(
    fc.asyncProperty(drawn, async ({ lots, leastLots, reconciled, isAll, ...book }) => {
      const valueMin = money((BigInt(leastLots) * LOT * mid) / 10n ** 18n);
      const setup = { ...book, instrument, valueMin, marginBps: 0, quote: 0, closed: [] };
      const view = { instrument: here, mid } as never;
      const route = await hedges(setup).price(view, money(BigInt(lots) * LOT), { reconciled, isAll });
      const why = 'unavailableReason' in route.out ? route.out.unavailableReason : 'priced';
      reasons.add(why);
      const refusal = book.isOpen
        ? 'an earlier order on the other exchange is still open'
        : !isAll && lots < leastLots
          ? 'the value of the hedge is below hedge.elsewhere.valueMin'
          : book.baseLots === 0
            ? 'no free funds for this hedge on the other exchange'
            : null;
      if (refusal !== null) {
        expect(why).toBe(refusal);
        return;
      }
      let smallest = 1;
      while (BigInt(smallest * bestBid) * 4n < instrument.valueMin * 5n || smallest < instrument.amountMin) smallest++;
      const visible = book.sizes.reduce((sum, size) => sum + size, 0);
      const taken = Math.min(lots, book.baseLots, visible, reconciled < book.smallestUntil ? smallest : Infinity);
      let [worst, left] = [bestBid, taken];
      for (const [i, size] of book.sizes.entries())
        if (left > 0) [worst, left] = [bestBid - book.step * i, left - size];
      // An order below the minimum value of the book there, at its limit, has another reason.
      expect(route.by === 'elsewhere' ? route.take.amount : 'none').toBe(
        BigInt(worst * taken) < instrument.valueMin ? 'none' : taken,
      );
    }),
    runsOf(2_000, 300),
  );
  expect(reasons.size).toBe(5);
});

test('an order is too small exactly if it is below a minimum of the book there at the worst accepted price', () => {
  const drawn = fc.record({
    sizes: fc.constant([1]),
    ...{ step: fc.constant(1), baseLots: fc.constant(0), quote: fc.constant(0), closed: fc.constant([]) },
    marginBps: fc.integer({ min: 0, max: 4_000 }),
  });
  fc.assert(
    fc.property(drawn, fc.nat(5), fc.integer({ min: 0, max: 4_000 }), fc.integer(), (book, lots, costMaxBps, sign) => {
      const amount = money(BigInt(sign < 0 ? -lots : lots) * LOT + (sign < 0 ? -1n : 1n));
      const isBelow = hedges(book).isBelowMinimum({ mid: moneyOf('20000') }, amount, costMaxBps);
      // One lot is worth 1 usdt at the mid price, and the minimum value there is 1 usdt.
      expect(isBelow).toBe(lots * (10_000 - book.marginBps - costMaxBps) < 10_000);
    }),
    runsOf(2_000, 300),
  );
});

test('the end is booked with the rate of the decision, and names the sum of the fees in each other currency', () => {
  const steps: EngineEvent[] = [];
  const setup = { instrument: there, rate: () => moneyOf('21') };
  const hedges = new ElsewhereRoute(setup as never, { time: () => 7, step: event => steps.push(event) });
  const legs = { give: { currency: 'btc', amount: '0.3' }, get: { currency: 'usdt', amount: '30' } };
  const row = { id: 'h1', offer: { way: 'elsewhere', id: 'o', ...legs }, elsewhere: { rate: '20' } } as never;
  const fees = [
    ['btc', '0.1'],
    ['usdt', '0.2'],
    ['bnb', '0.003'],
    ['kcs', '0'],
    ['bnb', '0.004'],
    ['leo', '5'],
  ] as const;
  const trades = fees.map(([feeCurrency, feeAmount], n) => ({ tid: `${n}`, feeCurrency, feeAmount })) as never;
  hedges.end(row, { filled: LOT, trades });
  expect(steps).toMatchObject([{ kind: 'elsewhere', at: 7, phase: 'ended', rate: moneyOf('20'), trades }]);
  expect(hedges.feesBesides({ filled: LOT, trades })).toEqual([
    'fee of 0.007 bnb, not included in the profit',
    'fee of 5 leo, not included in the profit',
  ]);
});

test('an order is stored with the price and the amount that were priced, or not at all, whenever tick and lot there change', async () => {
  const factor = fc.constantFrom('0.1', '1', '10');
  await fc.assert(
    fc.asyncProperty(factor, factor, fc.boolean(), fc.boolean(), async (tick, lot, isDuringRead, sells) => {
      const scaled = (of: string, by: string) => textOfMoney(money((moneyOf(of) * moneyOf(by)) / ONE));
      const rules = { book: 'btc_usdt', tickSize: scaled(there.tick, tick), minimumValue: '1' };
      const changed = instrumentOf(bookRules(rules), scaled(there.lot, lot));
      const setup = { current: there };
      const route = hedges({
        ...{ sizes: [500], step: 1, marginBps: 10, baseLots: 1_000, quote: 100_000, closed: [] },
        ...{ instrument: there, now: () => setup.current },
        onRead: () => (setup.current = isDuringRead ? changed : there),
      });
      const view = { instrument: here, mid: moneyOf('20000') } as never;
      const priced = await route.price(view, money((sells ? 30n : -30n) * LOT), { reconciled: 0, isAll: true });
      expect(priced.by === 'elsewhere').toBe(!isDuringRead || (tick === '1' && lot === '1'));
      if (priced.by !== 'elsewhere') return;
      setup.current = changed;
      const { order } = route.rowOf('h1', priced).elsewhere;
      const { price, amount } = priced.take;
      expect([order.price, order.amount].map(moneyOf)).toEqual([
        BigInt(price) * moneyOf(there.tick),
        BigInt(amount) * LOT,
      ]);
    }),
    {
      examples: [
        ['10', '1', true, true],
        ['0.1', '10', false, false],
      ],
    },
  );
});

const ONE = moneyOf('1');
