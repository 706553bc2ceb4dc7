/** The other exchange of a replay: what its orders get of the recorded depth, when, and what the account then has. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ElsewhereExchange, type ElsewhereExchangeOptions } from '../../../backtest/exchange/elsewhereExchange.ts';
import { RecordedPrice } from '../../../backtest/rows/recordedPrice.ts';
import {
  moneyOf,
  sleep,
  textOfMoney,
  VirtualClock,
  type NewOrder,
  type OwnTrade,
  type Side,
} from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';
import { handMadeTape, type Row } from '../handMadeTape.ts';

const LATENCY_MS = 100;
const TAKER = '0.001';
const FUNDS = { btc: '10', mxn: '1000000' };
const LOT = 10n ** 10n;

type Asked = { readonly at: number; readonly side: Side; readonly ticks: number; readonly lots: number };

const newOrder = (originId: string, { side, ticks, lots }: Omit<Asked, 'at'>): NewOrder => ({
  ...{ book: 'btc_mxn', side, price: String(ticks), originId, timeInForce: 'immediate or cancel' },
  major: textOfMoney((BigInt(lots) * LOT) as never),
});

/** The exchange over a recording that begins with the clock. */
function exchangeOver(rows: readonly Row[], change: Partial<ElsewhereExchangeOptions> = {}) {
  const clock = new VirtualClock(0);
  const trades: OwnTrade[] = [];
  const exchange = new ElsewhereExchange(
    {
      ...{
        tape: handMadeTape(rows),
        taker: TAKER,
        latencyMs: LATENCY_MS,
        balances: FUNDS,
        isStreamed: true,
        ...change,
      },
    },
    clock,
    trade => void trades.push(trade),
  );
  return { clock, exchange, trades };
}

/** Sends each order at its time; returns the outcomes in order. */
async function sent({ clock, exchange }: ReturnType<typeof exchangeOver>, orders: readonly Asked[]) {
  const outcomes = orders.map(async (order, i) => {
    await sleep(clock, order.at);
    const outcome = await exchange.place(newOrder(`o${i}`, order));
    return outcome.kind === 'refused' ? outcome.code : outcome.kind;
  });
  await clock.advance(100_000);
  return Promise.all(outcomes);
}

const BOOK: readonly Row[] = [
  [0, 'bid', 10_000, 50_000],
  [0, 'bid', 9_990, 100_000],
  [0, 'ask', 10_010, 50_000],
  [0, 'ask', 10_020, 100_000],
];

/** Fills of the orders by the slowest reading: the book of each arrival is read again from the first row. */
function slowFills(rows: readonly Row[], orders: readonly Asked[]) {
  const fills: { order: number; ticks: number; lots: number }[] = [];
  const taken: { changes: number; side: Side; ticks: number; lots: number }[] = [];
  orders.forEach(({ at, side, ticks: limit, lots: wanted }, order) => {
    const seen = rows.filter(row => row[0] <= at + LATENCY_MS);
    const book = { bid: new Map<number, number>(), ask: new Map<number, number>() };
    const levelRows = seen.filter(([, kind]) => kind === 'bid' || kind === 'ask');
    for (const [, kind, ticks, lots] of levelRows) book[kind as 'bid' | 'ask'].set(ticks, lots);
    const live = (side: 'bid' | 'ask') => [...book[side]].flatMap(([ticks, lots]) => (lots > 0 ? [ticks] : []));
    const [bid, ask] = [Math.max(0, ...live('bid')), Math.min(Infinity, ...live('ask'))];
    if (!(bid > 0 && ask < Infinity && ask >= bid)) return;
    let left = wanted;
    const mine = side === 'sell' ? 'bid' : 'ask';
    for (const ticks of live(mine).toSorted((a, b) => (side === 'sell' ? b - a : a - b))) {
      if (side === 'sell' ? ticks < limit : ticks > limit) break;
      const before = taken
        .filter(one => one.changes === levelRows.length && one.side === side && one.ticks === ticks)
        .reduce((sum, { lots }) => sum + lots, 0);
      const part = Math.min(left, book[mine].get(ticks)! - before);
      if (part <= 0) continue;
      left -= part;
      taken.push({ changes: levelRows.length, side, ticks, lots: part });
      fills.push({ order, ticks, lots: part });
    }
  });
  return fills;
}

describe('an order on the other exchange', () => {
  const row = fc.tuple(
    fc.integer({ min: 0, max: 1_000 }),
    fc.constantFrom<Row[1]>('bid', 'ask', 'buy'),
    fc.integer({ min: -12, max: 12 }),
    fc.constantFrom(0, 20_000, 50_000, 200_000),
  );
  const asked = fc.record({
    at: fc.integer({ min: 0, max: 1_000 }),
    side: fc.constantFrom<Side>('buy', 'sell'),
    ticks: fc.integer({ min: 9_985, max: 10_015 }),
    lots: fc.integer({ min: 10_100, max: 300_000 }),
  });
  const byTime = (a: { at: number }, b: { at: number }) => a.at - b.at;

  test('gets what a slow reading of the recording at its arrival gives, level by level, and no level twice', async () => {
    let partial = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 40 }), fc.array(asked, { maxLength: 8 }), async (drawn, draws) => {
        const rows = [
          ...BOOK.map((one): Row => [one[0], one[1], one[2], one[3] / 2]),
          ...drawn
            .toSorted((a, b) => a[0] - b[0])
            .map(([at, kind, away, lots]): Row => [at, kind, 10_000 + away, kind === 'buy' ? 1 + lots : lots]),
        ];
        const orders = draws.toSorted(byTime);
        const world = exchangeOver(rows);
        expect(new Set(await sent(world, orders))).toEqual(new Set(orders.map(() => 'done')));
        const fills = slowFills(rows, orders);
        expect(world.trades.map(({ originId, price, major }) => [originId, price, moneyOf(major) / LOT])).toEqual(
          fills.map(({ order, ticks, lots }) => [`o${order}`, String(ticks), BigInt(lots)]),
        );
        // The account by hand, to the eighth decimal of the exchange.
        let [btc, mxn] = [moneyOf(FUNDS.btc) as bigint, moneyOf(FUNDS.mxn) as bigint];
        for (const [i, { ticks, lots }] of fills.entries()) {
          const { side, at } = orders[fills[i]!.order]!;
          const [base, quote] = [BigInt(lots) * LOT, BigInt(lots) * LOT * BigInt(ticks)];
          const fee = ((side === 'buy' ? base : quote) / 1_000n / LOT) * LOT;
          const rest = ((side === 'buy' ? base : quote) / 1_000n) % LOT;
          const charged = fee + (rest * 2n >= LOT ? LOT : 0n);
          btc += side === 'buy' ? base - charged : -base;
          mxn += side === 'buy' ? -quote : quote - charged;
          expect(world.trades[i]).toMatchObject({
            createdAt: at + LATENCY_MS,
            feeAmount: textOfMoney(charged as never),
          });
        }
        expect([...world.exchange.holdings]).toEqual([
          ['btc', btc],
          ['mxn', mxn],
        ]);
        for (const [i, order] of orders.entries()) {
          const got = fills.filter(one => one.order === i).reduce((sum, { lots }) => sum + lots, 0);
          const looked = world.exchange.lookUp({ originIds: [`o${i}`] });
          const listed = world.exchange.orderTrades({ originId: `o${i}` });
          await world.clock.advance(1_000);
          expect(await looked).toMatchObject({
            value: [
              {
                status: got === order.lots ? 'completed' : 'cancelled',
                unfilledAmount: textOfMoney((BigInt(order.lots - got) * LOT) as never, 8),
              },
            ],
          });
          expect(await listed).toEqual({ kind: 'done', value: world.trades.filter(one => one.originId === `o${i}`) });
          if (got > 0 && got < order.lots) partial++;
        }
      }),
      runsOf(400, 60),
    );
    expect(partial).toBeGreaterThan(5);
  });

  test('has the value that the measured hedge of a fill has, within the recorded depth', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<Side>('buy', 'sell'),
        fc.integer({ min: 10_100, max: 150_000 }),
        async (side, lots) => {
          const world = exchangeOver(BOOK);
          await sent(world, [{ at: 0, side, ticks: side === 'buy' ? 10_020 : 9_990, lots }]);
          const recorded = new RecordedPrice(handMadeTape(BOOK));
          recorded.moveTo(LATENCY_MS);
          const { value, isWithinDepth } = recorded.executed(side, (BigInt(lots) * LOT) as never);
          expect(isWithinDepth).toBe(true);
          expect(world.trades.reduce((sum, { minor }) => sum + moneyOf(minor), 0n)).toBe(value);
        },
      ),
      runsOf(100, 30),
    );
  });

  test('gets nothing where the recording has a gap, a crossed book or no book yet', async () => {
    const order = { at: 0, side: 'buy', ticks: 10_020, lots: 20_000 } as const;
    const gap = { ...handMadeTape(BOOK), gaps: [{ from: 50, to: 200, why: 'lost' }] };
    const worlds = [
      exchangeOver(BOOK, { tape: gap }),
      exchangeOver([...BOOK, [60, 'bid', 10_015, 1_000]]),
      exchangeOver(BOOK.map((one): Row => [one[0] + 500, one[1], one[2], one[3]])),
    ];
    for (const world of worlds) {
      expect(await sent(world, [order])).toEqual(['done']);
      expect(world.trades).toEqual([]);
      const looked = world.exchange.lookUp({ originIds: ['o0'] });
      await world.clock.advance(1_000);
      expect(await looked).toMatchObject({ value: [{ status: 'cancelled' }] });
    }
  });

  test('is rejected below the minimum of the book, off its units, beyond the balance, and twice', async () => {
    const orders: readonly (Asked & { readonly says: string })[] = [
      { at: 0, side: 'buy', ticks: 10_010, lots: 99, says: 'amount' },
      { at: 0, side: 'buy', ticks: 10_010, lots: 9_000, says: 'amount' },
      { at: 0, side: 'sell', ticks: 10_000, lots: 1_000_000_001, says: 'balance' },
      { at: 0, side: 'buy', ticks: 10_010, lots: 1_000_000_000, says: 'done' },
      { at: 0, side: 'buy', ticks: 200_000, lots: 1_000_000_000, says: 'balance' },
    ];
    const world = exchangeOver(BOOK);
    expect(await sent(world, orders)).toEqual(orders.map(({ says }) => says));
    const outcomes = [
      world.exchange.place({ ...newOrder('x', orders[3]!), price: '10010.5' }),
      world.exchange.place({ ...newOrder('x', orders[3]!), book: 'eth_mxn' }),
      world.exchange.place(newOrder('o3', orders[3]!)),
      world.exchange.place(newOrder('x', orders[3]!), () => false),
    ];
    await world.clock.advance(1_000);
    expect((await Promise.all(outcomes)).map(one => (one.kind === 'refused' ? (one.meaning ?? one.code) : ''))).toEqual(
      ['units', 'book', 'duplicate id', 'not-sent'],
    );
  });
});

describe('the book of the other exchange', () => {
  test('is what the stream showed one latency ago, and an answer has the book of its arrival', async () => {
    const { clock, exchange } = exchangeOver([...BOOK, [1_000, 'bid', 10_005, 7_000]]);
    const seenAt = async (at: number) => {
      await clock.advance(at - clock.elapsed());
      const book = exchange.streamed?.();
      return book ? { bid: book.depth.bidPrices[0], lots: book.depth.bidAmounts[0], at: book.at } : null;
    };
    expect(await seenAt(50)).toBe(null);
    expect(await seenAt(1_099)).toEqual({ bid: 10_000, lots: 50_000, at: 100 });
    expect(await seenAt(1_100)).toEqual({ bid: 10_005, lots: 7_000, at: 1_100 });
    const asked = exchange.orderBook('btc_mxn');
    await clock.advance(200);
    expect(await asked).toMatchObject({
      value: { updatedAt: 1_200, bids: [{ price: '10005' }, { price: '10000' }, {}] },
    });
    expect(exchangeOver(BOOK, { isStreamed: false }).exchange.streamed).toBe(undefined);
  });

  test('hides what an order took until the recording shows a newer book', async () => {
    const world = exchangeOver([...BOOK, [3_000, 'ask', 10_030, 10_000]]);
    const best = () => {
      const { bidPrices, bidAmounts } = world.exchange.streamed!()!.depth;
      return [bidPrices[0], bidAmounts[0]];
    };
    const place = (id: string, lots: number) =>
      world.exchange.place(newOrder(id, { side: 'sell', ticks: 9_990, lots }));
    void place('a', 20_000);
    await world.clock.advance(1_000);
    expect(best()).toEqual([10_000, 30_000]);
    void place('b', 60_000);
    await world.clock.advance(1_000);
    expect(best()).toEqual([9_990, 70_000]);
    expect(world.trades.map(({ price }) => price)).toEqual(['10000', '10000', '9990']);
    await world.clock.advance(2_000);
    expect(best()).toEqual([10_000, 50_000]);
  });
});
