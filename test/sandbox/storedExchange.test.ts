import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { amount, price, textOfAmount, textOfPrice, VirtualClock, type Side } from '../../src/core/index.ts';
import { levelModel } from '../../src/fills/index.ts';
import {
  FollowedMarket,
  StoredExchange,
  type RowChange,
  type RowStore,
  type Switches,
} from '../../src/sandbox/index.ts';
import { OWN_TRADES_MAX } from '../../src/sandbox/venue/ownTrades.ts';
import { isMany, runsOf, testInMany } from '../many.ts';
import { continuedFrom, IS_VOLATILE, kills, MODELS, played, scripts, type SelfTrade } from './storedWorld.ts';
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
          for (const { orders } of queues) seen.places += orders.buy.length + orders.sell.length;
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

test.each(MODELS)(
  'a kill at any write, also of the market, of time and of a start, leaves a whole account: %s',
  model => {
    const seen = { states: 0, market: 0, fills: 0 };
    fc.assert(
      fc.property(scripts(30), kills(4, 30), fc.constantFrom(500, 86_400_000), (steps, killed, awayMs) => {
        for (const { rows, at, isMarket } of played(steps, model, 'allow', killed).history) {
          const { imbalance, wrongOrders, areTidsRising, isSame, trades } = continuedFrom(rows, at + awayMs, model);
          expect({ imbalance, wrongOrders, areTidsRising, isSame }).toEqual({
            ...{ imbalance: [], wrongOrders: [], areTidsRising: true, isSame: true },
          });
          seen.states++;
          if (isMarket) seen.market++;
          seen.fills += trades;
        }
      }),
      { ...runsOf(20, 1), seed: 2 },
    );
    expect(Object.entries(seen).filter(([, count]) => count === 0)).toEqual([]);
  },
);

const BOOK = 'btc_mxn';
const LOTS = amount(100_000);

/** Keys of other rows that were written without a sync. */
const unsynced: string[] = [];
afterEach(() => expect(unsynced.splice(0)).toEqual([]));

class Rows implements RowStore {
  readonly rows: Map<string, string>;
  isFull = false;
  readonly durable: boolean[] = [];
  /** Rows after each write: what a process that is killed then leaves. */
  readonly history: ReadonlyMap<string, string>[] = [];

  constructor(rows: ReadonlyMap<string, string> = new Map()) {
    this.rows = new Map(rows);
  }

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
    // A power cut may undo other writes: whatever is money, an order or a trade must not be in them.
    if (!isDurable) unsynced.push(...changes.map(({ key }) => key).filter(key => !IS_VOLATILE.has(key)));
    this.history.push(new Map(this.rows));
  }
}

function pass(clock: VirtualClock, ms: number): void {
  let isOver = false;
  clock.after(ms, () => (isOver = true));
  while (!isOver) clock.runNext();
}

type Opening = {
  readonly instance?: string;
  readonly tickSize?: string;
  readonly switches?: Partial<Switches>;
  readonly isFresh?: () => boolean;
  readonly ledger?: { readonly opens: number; readonly start?: string };
};

function opened(clock: VirtualClock, store: RowStore, opening: Opening = {}) {
  const { instance = 'bot', tickSize = '10', switches = {}, isFresh = () => true, ledger } = opening;
  const unwritten: unknown[] = [];
  const rules = {
    ...{ book: BOOK, tickSize, minimumAmount: '0.00001', maximumAmount: '500', minimumPrice: '100' },
    ...{ maximumPrice: '10000000', minimumValue: '10', maximumValue: '20000000' },
  };
  const stored = new StoredExchange({
    ...(ledger ? { ledger } : {}),
    ...{ clock, store, seed: 3, balances: { btc: '5', mxn: '5000000' }, volume30d: {} },
    purpose: { follows: 'https://one.example', book: BOOK, instance },
    books: [
      {
        ...rules,
        lot: '0.00000001' as const,
        fees: { group: 'mxn', tiers: [{ volume: '9999999999', maker: '0.001', taker: '0.002' }] },
      },
    ],
    switches: { engineDelayMinMs: 0, engineDelayMaxMs: 0, tradeRecordDelayMs: 0, rateLimits: 'off', ...switches },
    onUnwritten: error => void unwritten.push(error),
    onWritten: () => void unwritten.push('written'),
  });
  const market = new FollowedMarket(stored.box.marketplace(BOOK), levelModel('pessimistic'));
  let freshAt = -Infinity;
  const sink = stored.follow(market, () => (freshAt = isFresh() ? clock.elapsed() : freshAt));
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

  test('a clock that was set back tells nothing about the time, so that a passed order is filled completely too', () => {
    const [clock, rows] = [new VirtualClock(), new Rows()];
    const before = opened(clock, rows);
    before.show(150_000, 150_010);
    const oid = before.rest('buy', 149_990, amount(3 * LOTS));
    before.stored.close();
    clock.step(-3_600_000);
    const { show, trader } = opened(clock, rows);
    show(149_900, 149_910);
    expect(trader.order(oid)!['status']).toBe('completed');
  });

  test('after a blink, a level that came through an order fills what it shows, as if the process had lived', () => {
    const { order } = left(149_900, 149_910, 500);
    expect(order['unfilled_amount']).toBe('0.00200000');
  });
});

const DAY = 86_400_000;

describe('after a kill at any write while passed orders are filled', () => {
  test('the next process fills every passed order completely, once', () => {
    const [clock, rows] = [new VirtualClock(), new Rows()];
    const before = opened(clock, rows);
    before.show(150_000, 150_010);
    const oids = [149_990, 149_980].map(at => before.rest('buy', at, amount(2 * LOTS)));
    before.stored.close();
    clock.step(DAY);
    const last = rows.history.length;
    opened(clock, rows).show(149_900, 149_910);
    const [first, ...later] = [rows.history[last - 1]!, ...rows.history.slice(last)];
    expect(later.length).toBeGreaterThan(1);
    const moneyAfter = (left: ReadonlyMap<string, string>) => {
      const { show, trader } = opened(clock, new Rows(left));
      show(149_900, 149_910);
      expect(oids.map(oid => trader.order(oid)!['status'])).toEqual(['completed', 'completed']);
      return [trader.balance('mxn'), trader.balance('btc')];
    };
    for (const left of later) expect(moneyAfter(left)).toEqual(moneyAfter(first));
  });

  test('a book that is crossed at first shows no passed order; the first one that is not does', () => {
    const [clock, rows] = [new VirtualClock(), new Rows()];
    const before = opened(clock, rows);
    before.show(150_000, 150_010);
    const oid = before.rest('buy', 149_990, amount(3 * LOTS));
    before.stored.close();
    clock.step(DAY);
    const { show, trader } = opened(clock, rows);
    show(149_920, 149_910);
    expect(trader.order(oid)!['status']).not.toBe('completed');
    show(149_900, 149_910);
    expect(trader.order(oid)!['status']).toBe('completed');
  });
});

test('an order that is placed while the first book is crossed is not filled as one of the earlier process', () => {
  const [clock, rows] = [new VirtualClock(), new Rows()];
  const before = opened(clock, rows);
  before.show(150_000, 150_010);
  const old = before.rest('buy', 149_990);
  before.stored.close();
  clock.step(DAY);
  const { show, trader, rest, market } = opened(clock, rows);
  show(149_920, 149_910);
  expect(market.isResuming).toBe(true);
  const fresh = rest('buy', 149_800, amount(3 * LOTS));
  show(149_700, 149_790);
  expect(market.isResuming).toBe(false);
  expect([trader.order(old)!['status'], trader.order(fresh)!['unfilled_amount']]).toEqual(['completed', '0.00200000']);
});

test('a price with ever new orders of the account has a bounded number of other orders, in memory and on disk', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(3), { minLength: 40, maxLength: 80 }), ends => {
      const [clock, rows] = [new VirtualClock(), new Rows()];
      const { sink, stored, market, trader, rest } = opened(clock, rows);
      const show = (lots: number) => {
        sink.set('buy', price(150_000), amount(lots));
        sink.set('sell', price(150_010), LOTS);
        sink.flush();
      };
      sink.clear();
      show(LOTS);
      const own: string[] = [];
      ends.forEach((end, i) => {
        own.push(rest('buy', 150_000, amount(1_000)));
        // Lots that others add stand behind the new order.
        show(LOTS + (i + 1) * 10);
        if (own.length > 3) trader.call('DELETE', `/api/v3/orders/${own.splice(end, 1)[0]!}`);
        show(LOTS + (i + 1) * 10);
        const { queue } = market.stored().levels[0]!;
        expect(queue.length).toBeLessThanOrEqual(2 * own.length + 1);
        expect(
          queue.filter(part => typeof part === 'number').reduce((sum: number, part) => sum + Number(part), 0),
        ).toBe(LOTS + (i + 1) * 10);
      });
      expect(stored.box.venue.books.get(BOOK)!.engine.size).toBeLessThan(12);
      stored.close();
      const again = opened(clock, rows);
      expect(again.market.stored().orders).toEqual(market.stored().orders);
    }),
    { ...runsOf(30, 4), seed: 5 },
  );
});

test('an account file of another copy of the state is refused, whatever number of starts both have had', () => {
  const [clock, rows] = [new VirtualClock(), new Rows()];
  const first = opened(clock, rows);
  const ledger = { opens: first.stored.opens, start: first.stored.start };
  first.stored.close();
  const copy = new Rows(rows.rows);
  clock.step(1_000);
  const here = opened(clock, rows, { ledger });
  here.stored.close();
  clock.step(1_000);
  opened(clock, copy, { ledger }).stored.close();
  const later = { opens: here.stored.opens, start: here.stored.start };
  expect(() => opened(clock, copy, { ledger: later })).toThrow('come from two copies of the state directory');
  // The ledger may lack the last starts, which were killed before it was written.
  for (let i = 0; i < 3; i++) opened(clock, rows, { ledger: later }).stored.close();
  expect(() => opened(clock, rows, { ledger: later })).not.toThrow();
});

test('an account file is refused exactly if it lacks a start that the ledger knows, however many it lacks', () => {
  const [clock, rows] = [new VirtualClock(), new Rows()];
  const left = Array.from({ length: 5 }, () => {
    clock.step(1_000);
    const { stored } = opened(clock, rows);
    stored.close();
    return { ledger: { opens: stored.opens, start: stored.start }, rows: new Map(rows.rows) };
  });
  for (const [i, { ledger }] of left.entries())
    for (const [j, copy] of left.entries()) {
      const open = () => opened(clock, new Rows(copy.rows), { ledger }).stored.close();
      if (j < i) expect(open).toThrow('is older than the ledger of its bot');
      else expect(open).not.toThrow();
    }
});

test('an order of a process that was killed before it stored a time meets a market that was unseen', () => {
  const [clock, rows] = [new VirtualClock(), new Rows()];
  const before = opened(clock, rows, { isFresh: () => false });
  before.show(150_000, 150_010);
  const oid = before.rest('buy', 149_990, amount(3 * LOTS));
  before.stored.close();
  const { show, trader } = opened(clock, rows);
  show(149_900, 149_910);
  expect(trader.order(oid)!['status']).toBe('completed');
});

describe('commands in flight at a kill', () => {
  const switches = { engineDelayMinMs: 25, engineDelayMaxMs: 25, cancelTiming: 'queued' } as const;
  const PRICE = 149_990;
  /** Returns the state of an order if the process is killed with `act` in flight, and the market is then unseen for a day. */
  const left = (
    act: (world: ReturnType<typeof opened>, oid: string) => string,
    [bid, ask]: readonly [number, number],
    staleMs = 0,
  ) => {
    const [clock, rows] = [new VirtualClock(), new Rows()];
    let isFresh = true;
    const before = opened(clock, rows, { switches, isFresh: () => isFresh });
    before.show(150_000, 150_010);
    const oid = before.rest('buy', PRICE);
    pass(clock, 100);
    isFresh = false;
    pass(clock, staleMs);
    const changed = act(before, oid);
    before.stored.close();
    clock.step(DAY);
    const after = opened(clock, rows, { switches });
    after.show(bid, ask);
    pass(clock, 100);
    after.show(bid, ask);
    const [order] = [after.trader.order(changed)!];
    return { status: order['status'], order, place: after.market.stored().orders.buy[0], after };
  };
  const cancel = ({ trader }: ReturnType<typeof opened>, oid: string) => {
    trader.call('DELETE', `/api/v3/orders/${oid}`);
    return oid;
  };
  const enter = (more: Record<string, unknown>) => (world: ReturnType<typeof opened>, oid: string) => {
    cancel(world, oid);
    return world.trader.limit(BOOK, 'buy', '1499950', '0.00100000', more);
  };
  const PASSED = [149_900, 149_910] as const;
  const NOT_REACHED = [150_000, 150_010] as const;

  test('a cancel that was due within 25 ms precedes all that the market did later', () => {
    expect(left(cancel, PASSED).status).toBe('cancelled');
    expect(left(cancel, NOT_REACHED).status).toBe('cancelled');
  });

  test('a cancel that was sent while the market was unseen does not precede what the market did', () => {
    expect(left(cancel, PASSED, 5_000).status).toBe('completed');
    expect(left(cancel, NOT_REACHED, 5_000).status).toBe('cancelled');
  });

  test('a limit order enters the market of then: it is filled if the market has passed it, else it is last in its level', () => {
    const post = enter({ time_in_force: 'postonly' });
    const { order, after } = left(post, PASSED);
    expect([order['status'], order['unfilled_amount']]).toEqual(['completed', '0.00000000']);
    const [trade] = after.trader.get<Record<string, string>[]>('GET', '/api/v3/user_trades');
    expect(trade).toMatchObject({ price: '1499950', maker_side: 'buy' });
    const rested = left(post, [149_995, 150_010]);
    expect([rested.status, rested.place!.front]).toEqual(['open', LOTS]);
  });

  test('a limit order that crossed the last known book takes as it would have, and a post-only one is refused', () => {
    const cross =
      (how: string) =>
      ({ trader }: ReturnType<typeof opened>) =>
        trader.limit(BOOK, 'buy', '1500100', '0.00050000', { time_in_force: how });
    const { order, after } = left(cross('goodtillcancelled'), PASSED);
    expect(order['status']).toBe('completed');
    const trades = after.trader.get<Record<string, string>[]>('GET', '/api/v3/user_trades');
    const taken = trades.filter(({ oid }) => oid === order['oid']);
    expect(taken).toMatchObject([{ price: '1499100', maker_side: 'sell', major: '0.00050000' }]);
    expect(taken[0]!['fees_amount']).toBe('0.00000100');
    expect(left(cross('postonly'), PASSED).status).toBe('cancelled');
    // Above its price, what it did not take rests.
    expect(left(cross('goodtillcancelled'), [150_020, 150_030]).status).toBe('open');
  });

  test.each(['immediateorcancel', 'fillorkill'])('an order %s does not take the market of a later day', how => {
    expect(left(enter({ time_in_force: how }), PASSED).status).toBe('cancelled');
  });

  test('a market that was followed but not current at the kill was unseen since it was current', () => {
    const world = (staleMs: number) => {
      const [clock, rows] = [new VirtualClock(), new Rows()];
      let isFresh = true;
      const before = opened(clock, rows, { isFresh: () => isFresh });
      before.show(150_000, 150_010);
      const oid = before.rest('buy', PRICE, amount(3 * LOTS));
      isFresh = false;
      pass(clock, staleMs);
      before.stored.close();
      const { show, trader } = opened(clock, rows);
      show(...PASSED);
      return trader.order(oid)!['unfilled_amount'];
    };
    expect(world(10_000)).toBe('0.00000000');
    expect(world(1_000)).toBe('0.00200000');
  });
});

test('whatever the clock was set to meanwhile, all that was under way is over within the longest configured delay', () => {
  const switches: Partial<Switches> = {
    ...{ engineDelayMinMs: 25, engineDelayMaxMs: 25, tradeRecordDelayMs: 400 },
    ...{ transferListDelayMs: 300, rfqDelayMinMs: 200, rfqDelayMaxMs: 500, conversionQueueMs: 600, rfqFailurePips: 0 },
  };
  fc.assert(
    fc.property(fc.integer({ min: -30 * DAY, max: 30 * DAY }), fc.constantFrom(0, 10, 350), (stepMs, waitMs) => {
      const [clock, rows] = [new VirtualClock(), new Rows()];
      const before = opened(clock, rows, { switches });
      before.show(150_000, 150_010);
      const filled = before.rest('buy', 150_000);
      pass(clock, 100);
      before.sink.trade('sell', price(150_000), amount(2 * LOTS), { takerNumber: 1 });
      before.show(150_000, 150_010);
      const { trader } = before;
      const funds = { from_currency: 'btc', to_currency: 'mxn', spend_amount: '0.0004' };
      const { id } = trader.get<{ id: string }>('POST', '/api/v4/currency_conversions', funds);
      const converted = trader.get<{ oid: string }>('PUT', `/api/v4/currency_conversions/${id}`).oid;
      const quoted = { source: 'BTC', target: 'MXN', source_amount: '0.0004' };
      const quote = trader.call('POST', '/rfq/v1/quotes', quoted).body as unknown as { id: string };
      trader.call('POST', '/rfq/v1/conversions', { quote_id: quote.id });
      const oid = before.rest('buy', 149_900);
      pass(clock, waitMs);
      before.stored.close();
      clock.step(stepMs);
      const after = opened(clock, rows, { switches });
      after.show(150_000, 150_010);
      pass(clock, 700);
      const trades = after.trader.get<Record<string, string>[]>('GET', '/api/v3/user_trades');
      expect(trades.map(trade => trade['oid'])).toEqual([filled]);
      expect(after.trader.order(oid)!['status']).toBe('open');
      const next = after.rest('buy', 149_800);
      pass(clock, 30);
      expect(after.trader.order(next)!['status']).toBe('open');
      const own = after.stored.box.venue.accounts.get(after.stored.account.id)!;
      expect(after.stored.box.rfq.conversionsOf(own).map(({ status }) => status)).toEqual(['COMPLETED']);
      expect(after.trader.get<{ status: string }>('GET', `/api/v4/currency_conversions/${converted}`).status).toBe(
        'completed',
      );
      after.stored.close();
    }),
    { ...runsOf(100, 8), seed: 4 },
  );
});

test('every conversion of both desks stays known over any number of starts, under a number of its own', () => {
  const switches: Partial<Switches> = {
    rfqDelayMinMs: 0,
    rfqDelayMaxMs: 200,
    rfqFailurePips: 0,
    rfqCapacityPips: 9_999,
  };
  const conversions = fc.array(fc.constantFrom('v4' as const, 'rfq' as const), { maxLength: 4 });
  fc.assert(
    fc.property(fc.array(conversions, { minLength: 2, maxLength: 5 }), starts => {
      const [clock, rows] = [new VirtualClock(), new Rows()];
      const made = { v4: [] as string[], rfq: [] as string[] };
      for (const desks of [...starts, []]) {
        const { stored, show, trader } = opened(clock, rows, { switches });
        show(150_000, 150_010);
        const own = stored.box.venue.accounts.get(stored.account.id)!;
        for (const oid of made.v4) expect(trader.call('GET', `/api/v4/currency_conversions/${oid}`).status).toBe(200);
        const kept = stored.box.rfq.conversionsOf(own);
        expect(kept.map(({ id }) => id)).toEqual(made.rfq);
        expect(kept.map(({ number }) => number)).toEqual(made.rfq.map((_, i) => i));
        for (const desk of desks)
          if (desk === 'v4') {
            const funds = { from_currency: 'btc', to_currency: 'mxn', spend_amount: '0.0001' };
            const { id } = trader.get<{ id: string }>('POST', '/api/v4/currency_conversions', funds);
            made.v4.push(trader.get<{ oid: string }>('PUT', `/api/v4/currency_conversions/${id}`).oid);
          } else {
            const quoted = { source: 'BTC', target: 'MXN', source_amount: '0.0001' };
            const quote = trader.call('POST', '/rfq/v1/quotes', quoted).body as unknown as { id: string };
            const { body } = trader.call('POST', '/rfq/v1/conversions', { quote_id: quote.id });
            made.rfq.push((body as unknown as { id: string }).id);
          }
        expect(new Set(made.v4).size).toBe(made.v4.length);
        pass(clock, 100);
        stored.close();
      }
    }),
    { ...runsOf(100, 10), examples: [[[['rfq'], ['rfq'], ['rfq']]], [[['v4'], ['v4'], ['v4']]]] },
  );
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
  expect(() => opened(clock, rows, { instance: 'another' })).toThrow(
    'it belongs to bot on btc_mxn of https://one.example, but this bot is another on btc_mxn of https://one.example',
  );
});

test('cancels the orders of another tick size, and keeps their trades and money', () => {
  const [clock, rows] = [new VirtualClock(), new Rows()];
  const before = opened(clock, rows);
  before.show(149_990, 150_010);
  before.sink.trade('sell', price(149_990), amount(10), { takerNumber: 1 });
  expect(before.stored.box.venue.books.get(BOOK)!.numbers.last).toBe(149_990);
  const oid = before.rest('buy', 149_990);
  before.stored.close();
  const { trader, stored, show } = opened(clock, rows, { tickSize: '5' });
  // No level and no last price in the old units stays in the book.
  expect(stored.box.venue.books.get(BOOK)!.numbers.last).toBe(0);
  expect(stored.box.marketplace(BOOK).amountAt('buy', price(149_990))).toBe(0);
  show(300_000, 300_020);
  expect(trader.order(oid)).toMatchObject({ status: 'cancelled', price: '1499900' });
  expect(trader.balance('mxn')).toMatchObject({ locked: '0.00000000', total: '5000000.00000000' });
});
