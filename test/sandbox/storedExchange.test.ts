import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { amount, price, textOfAmount, textOfPrice, VirtualClock, type Side } from '../../src/core/index.ts';
import { levelModel } from '../../src/fills/index.ts';
import { FollowedMarket, StoredExchange, type RowChange, type RowStore } from '../../src/sandbox/index.ts';
import { OWN_TRADES_MAX } from '../../src/sandbox/venue/ownTrades.ts';
import { isMany, runsOf, testInMany } from '../many.ts';
import { kills, MODELS, played, scripts, type SelfTrade } from './storedWorld.ts';
import { Trader } from './trader.ts';

describe('a stored exchange that is killed up to 20 times', () => {
  test.each(MODELS)('is to the digit as one that was never killed: %s', model => {
    const seen = { deaths: 0, places: 0, makers: 0, takers: 0, taken: 0, converted: 0, rejected: 0 };
    fc.assert(
      fc.property(
        scripts(40),
        kills(20, 40),
        fc.constantFrom<SelfTrade>('allow', 'drop-new', 'remove-old'),
        (steps, killed, selfTrade) => {
          const never = played(steps, model, selfTrade);
          const often = played(steps, model, selfTrade, killed);
          expect(often.result).toEqual(never.result);
          expect(never.result).toMatchObject({ imbalance: [], areTidsRising: true });
          const { trades, queues, conversions, codes } = never.result;
          seen.deaths += often.deaths;
          seen.places += queues.orders.buy.length + queues.orders.sell.length;
          for (const { side, makerSide } of trades) seen[side === makerSide ? 'makers' : 'takers']++;
          seen.taken += steps.filter(({ act }) => act === 'sweep').length;
          seen.converted += conversions.filter(({ status }) => status === 'COMPLETED').length;
          expect(codes.every(code => /^\d{4}$/.test(code))).toBe(true);
          seen.rejected += codes.length;
        },
      ),
      { ...runsOf(200, 6), seed: 11 },
    );
    expect(seen.deaths).toBeGreaterThan(15);
    expect(seen.makers + seen.takers).toBeGreaterThan(0);
    if (isMany) expect(Object.entries(seen).filter(([, count]) => count === 0)).toEqual([]);
  });
});

const BOOK = 'btc_mxn';
const LOTS = amount(100_000);

class Rows implements RowStore {
  readonly rows = new Map<string, string>();
  isFull = false;
  readonly durable: boolean[] = [];

  read() {
    return [...this.rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, text]) => ({ key, text }));
  }

  write(changes: readonly RowChange[], isDurable: boolean): void {
    if (this.isFull) throw new Error('no room');
    if (changes.some(({ key }) => key !== 'seen')) this.durable.push(isDurable);
    for (const { key, text } of changes) {
      if (text === null) this.rows.delete(key);
      else this.rows.set(key, text);
    }
  }
}

function opened(clock: VirtualClock, store: RowStore, instance = 'bot', tickSize = '10') {
  const unwritten: unknown[] = [];
  const rules = {
    ...{ book: BOOK, tickSize, minimumAmount: '0.00001', maximumAmount: '500', minimumPrice: '100' },
    ...{ maximumPrice: '10000000', minimumValue: '10', maximumValue: '20000000' },
  };
  const stored = new StoredExchange({
    ...{ clock, store, seed: 3, balances: { btc: '5', mxn: '5000000' }, volume30d: {} },
    purpose: { follows: 'https://one.example', book: BOOK, instance },
    books: [
      {
        ...rules,
        lot: '0.00000001' as const,
        fees: { group: 'mxn', tiers: [{ volume: '9999999999', maker: '0.001', taker: '0.002' }] },
      },
    ],
    switches: { engineDelayMinMs: 0, engineDelayMaxMs: 0, tradeRecordDelayMs: 0, rateLimits: 'off' },
    onUnwritten: error => void unwritten.push(error),
    onWritten: () => void unwritten.push('written'),
  });
  const market = new FollowedMarket(stored.box.marketplace(BOOK), levelModel('pessimistic'));
  const sink = stored.follow(market);
  const show = (bid: number, ask: number) => {
    sink.clear();
    sink.set('buy', price(bid), LOTS);
    sink.set('sell', price(ask), LOTS);
    sink.flush();
  };
  const trader = new Trader({ ...stored.box, respond: stored.respond }, stored.account);
  const { instrument } = stored.box.marketplace(BOOK);
  const rest = (side: Side, ticks: number, lots = LOTS) =>
    trader.limit(BOOK, side, textOfPrice(instrument, price(ticks)), textOfAmount(instrument, lots), {
      time_in_force: 'postonly',
    });
  return { stored, market, sink, show, rest, trader, unwritten };
}

describe('after a time in which no process followed the market', () => {
  const left = (bid: number, ask: number, awayMs: number) => {
    const [clock, rows] = [new VirtualClock(), new Rows()];
    const before = opened(clock, rows);
    before.show(150_000, 150_010);
    const oid = before.rest('buy', 149_990, amount(3 * LOTS));
    const place = before.market.stored().orders.buy[0]!;
    before.stored.close();
    clock.after(awayMs, () => undefined);
    clock.runNext();
    const after = opened(clock, rows);
    after.show(bid, ask);
    return {
      place,
      order: after.trader.order(oid)!,
      now: after.market.stored().orders.buy[0],
      trader: after.trader,
      after,
    };
  };

  test('an order that the market has passed is filled completely, at its own price and with the maker fee', () => {
    const { order, now, trader } = left(149_900, 149_910, 60_000);
    expect([order['status'], order['unfilled_amount'], now]).toEqual(['completed', '0.00000000', undefined]);
    const [trade] = trader.get<Record<string, string>[]>('GET', '/api/v3/user_trades');
    expect(trade).toMatchObject({ price: '1499900', major: '0.00300000', fees_amount: '0.00000300' });
  });

  test('an order that the market has not reached is not filled, whatever happened meanwhile, and keeps its place', () => {
    const { order, place, now } = left(150_000, 150_010, 60_000);
    expect([order['status'], now]).toEqual(['open', place]);
  });

  test('after a blink, a level that came through an order fills what it shows, as if the process had lived', () => {
    const { order } = left(149_900, 149_910, 500);
    expect(order['unfilled_amount']).toBe('0.00200000');
  });
});

test('what the disk does not take is not answered, and is answered once it does', () => {
  const [clock, rows] = [new VirtualClock(), new Rows()];
  const { show, rest, trader, unwritten, stored } = opened(clock, rows);
  show(150_000, 150_010);
  rows.isFull = true;
  expect(() => rest('buy', 149_990)).toThrow('the paper account cannot be written to disk');
  expect(() => trader.balance('btc')).toThrow('the paper account cannot be written to disk');
  expect(unwritten).toHaveLength(1);
  rows.isFull = false;
  expect(trader.balance('mxn').locked).not.toBe('0.00000000');
  expect(trader.balance('btc').locked).toBe('0.00000000');
  expect(unwritten.slice(1)).toEqual(['written']);
  stored.close();
  const again = opened(clock, rows);
  expect(again.stored.liveOrders).toBe(1);
});

test('orders and money are on disk before they are answered, even in a power cut; a queue position only costs no sync', () => {
  const [clock, rows] = [new VirtualClock(), new Rows()];
  const { show, rest } = opened(clock, rows);
  show(150_000, 150_010);
  rows.durable.length = 0;
  rest('buy', 149_990);
  expect(rows.durable).toEqual([true]);
  show(149_990, 150_010);
  expect(rows.durable).toEqual([true, false]);
});

testInMany('keeps a bounded number of trades, and the next process has the same ones', () => {
  const [clock, rows] = [new VirtualClock(), new Rows()];
  const before = opened(clock, rows);
  before.show(150_000, 150_010);
  const oid = before.rest('buy', 150_005, amount(3 * OWN_TRADES_MAX));
  for (let i = 0; i < OWN_TRADES_MAX + 500; i++)
    before.sink.trade('sell', price(150_005), amount(2), { takerNumber: i });
  const newest = ({ trader }: typeof before) => trader.get<unknown[]>('GET', '/api/v3/user_trades?limit=100');
  const [tradesNow, orderNow] = [newest(before), before.trader.order(oid)];
  const stored = () => [...rows.rows.keys()].filter(key => key.startsWith('trade/')).length;
  expect([stored(), before.stored.box.truth().accounts.get(before.stored.account.id)!.trades.length]).toEqual([
    OWN_TRADES_MAX,
    OWN_TRADES_MAX,
  ]);
  before.stored.close();
  const after = opened(clock, rows);
  after.show(150_000, 150_010);
  expect([newest(after), after.trader.order(oid), stored()]).toEqual([tradesNow, orderNow, OWN_TRADES_MAX]);
  return Promise.resolve();
});

test('belongs to one bot on one market', () => {
  const [clock, rows] = [new VirtualClock(), new Rows()];
  opened(clock, rows).stored.close();
  expect(() => opened(clock, rows, 'another')).toThrow(
    'it belongs to bot on btc_mxn of https://one.example, but this bot is another on btc_mxn of https://one.example',
  );
});

test('cancels the orders of another tick size, and keeps their trades and money', () => {
  const [clock, rows] = [new VirtualClock(), new Rows()];
  const before = opened(clock, rows);
  before.show(149_990, 150_010);
  const oid = before.rest('buy', 149_990);
  before.stored.close();
  const { trader, stored, show } = opened(clock, rows, 'bot', '5');
  // No level in the old units stays in the book.
  expect(stored.box.marketplace(BOOK).amountAt('buy', price(149_990))).toBe(0);
  show(300_000, 300_020);
  expect(trader.order(oid)).toMatchObject({ status: 'cancelled', price: '1499900' });
  expect(trader.balance('mxn')).toMatchObject({ locked: '0.00000000', total: '5000000.00000000' });
});
