import { describe, expect, test } from 'vitest';
import {
  constantLatency,
  recordFlow,
  reportOf,
  RowBuilder,
  rowsOfTape,
  type FillRow,
  type ModelName,
} from '../../backtest/index.ts';
import {
  instrumentOf,
  money,
  moneyOf,
  multiplyMoneyFloor,
  randomOf,
  textOfMoney,
  type Amount,
  type Strategy,
} from '../../src/core/index.ts';
import { feesOf } from '../../src/sandbox/index.ts';
import { engineOf, rows, run, tape } from './ladderRun.ts';
import { exponentialLatency } from './exponentialLatency.ts';

describe('the production engine on a recorded market', () => {
  const expected = run();

  test('trades, and leaves no order behind', () => {
    const { result, fills, orders } = expected;
    expect(fills.length).toBeGreaterThan(5);
    expect(result.snapshot.booked.fills).toBe(fills.length);
    expect(result.left).toBe(0);
    expect(result.haltedBecause).toBe(null);
    expect(orders.length).toBe(result.requests.placed);
    expect(Math.min(result.snapshot.uptime.bid, result.snapshot.uptime.ask)).toBeGreaterThan(0.8);
  });

  test('gives the same hash for the same tape, configuration and latency, and another for another latency', () => {
    expect(run().result.hash).toBe(expected.result.hash);
    expect(run({ latency: constantLatency(200, 30) }).result.hash).not.toBe(expected.result.hash);
    const drawn = (seed: number) => run({ latency: exponentialLatency(5, 40, randomOf(seed)) }).result.hash;
    expect(drawn(1)).toBe(drawn(1));
    expect(drawn(1)).not.toBe(drawn(2));
  });

  test('holds at the end what it opened with and every fill since, to the last digit', () => {
    let major = moneyOf('2') as bigint;
    let minor = moneyOf('4000000') as bigint;
    for (const { side, amount, value, fee, feeCurrency } of expected.fills) {
      major += (side === 'buy' ? 1n : -1n) * moneyOf(amount) - (feeCurrency === 'btc' ? moneyOf(fee) : 0n);
      minor -= (side === 'buy' ? 1n : -1n) * moneyOf(value) + (feeCurrency === 'mxn' ? moneyOf(fee) : 0n);
    }
    const { holdings, profit } = expected.result.snapshot.booked;
    expect(holdings.get('btc')).toBe(major);
    expect(holdings.get('mxn')).toBe(minor);
    expect(profit.total).toBe(profit.spread + profit.inventory + profit.fees);
  });

  test('fills an order in parts that add up to what it says was filled', () => {
    const byOrder = new Map<string, bigint>();
    for (const { orderId, amount } of expected.fills)
      byOrder.set(orderId, (byOrder.get(orderId) ?? 0n) + moneyOf(amount));
    for (const { orderId, filled, amount, ending } of expected.orders) {
      expect(textOfMoney(money(byOrder.get(orderId) ?? 0n), 8)).toBe(filled);
      expect(ending === 'filled').toBe(filled === amount);
    }
  });

  test('never takes more of the market than was traded there', () => {
    const traded = tape.columns.amount.reduce((sum, lots, i) => sum + (tape.columns.kind[i] === 2 ? lots : 0), 0);
    const { major } = expected.result.volume;
    expect(moneyOf(major)).toBeLessThanOrEqual(BigInt(traded) * tape.instrument.lotMoney);
  });

  test('learns of a fill one way later than it happened, and pays the fee of its tier on what it received', () => {
    for (const { at, heardAt, side, amount, value, fee, feeCurrency } of expected.fills) {
      expect(heardAt - at).toBeCloseTo(30, 6);
      expect(feeCurrency).toBe(side === 'buy' ? 'btc' : 'mxn');
      const exact = multiplyMoneyFloor(moneyOf(side === 'buy' ? amount : value), moneyOf('0.001'));
      expect(Number(moneyOf(fee) - exact) / 1e10).toBeLessThanOrEqual(0.5);
      expect(Number(moneyOf(fee) - exact) / 1e10).toBeGreaterThanOrEqual(-0.5);
    }
  });

  test('the bounds hold: touching fills most volume, waiting for trades alone no more than sharing out cancels', () => {
    const volume = (model: ModelName) => Number(run({ model }).result.volume.major);
    expect(volume('optimistic')).toBeGreaterThanOrEqual(volume('expected'));
    expect(volume('expected')).toBeGreaterThanOrEqual(volume('pessimistic') * 0.999);
  });

  test('its report is plain JSON: what is written and read again is the same', () => {
    const report = reportOf(tape.instrument, expected.result);
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    expect(report.fills).toBe(expected.fills.length);
  });
});

describe('the exchange inside a replay', () => {
  test('refuses what is beyond the request budget before it leaves', () => {
    const engine = engineOf(tape.instrument, undefined, { refusalsPerMinute: 0 });
    const { result } = run({ privatePerMinute: 65, engine });
    expect(result.requests.overBudget).toBeGreaterThan(0);
    expect(result.snapshot.counts.buy.refused + result.snapshot.counts.sell.refused).toBeGreaterThan(0);
    // They never left us, and say nothing about what we ask for.
    expect(result.haltedBecause).toBe(null);
  });

  test('locks out who passes its own limit: nothing more is placed until that is over', () => {
    const { result, orders } = run({ privatePerMinute: 1_000, exchangeLimits: { privatePerMinute: 40 } });
    const { counts } = result.snapshot;
    expect(result.requests.lockedOut).toBeGreaterThan(0);
    expect(counts.buy.refused + counts.sell.refused).toBeGreaterThan(0);
    const placed = orders.filter(order => order.ending !== 'refused').map(order => order.placedAt);
    const pauses = placed.map((at, i) => at - (placed[i - 1] ?? at));
    expect(Math.max(...pauses)).toBeGreaterThan(50_000);
    expect(run({ privatePerMinute: 1_000 }).result.requests.lockedOut).toBe(0);
  });

  test('moves the fee tier with the volume that we trade', () => {
    const near = { tiers: feesOf('mxn').tiers, volume30d: '149999999' };
    const { fills } = run({ fees: near });
    const rate = (f: FillRow) => Number(f.fee) / Number(f.side === 'buy' ? f.amount : f.value);
    expect(rate(fills[0]!)).toBeCloseTo(0.002, 4);
    expect(rate(fills.at(-1)!)).toBeCloseTo(0.001, 4);
  });

  test('is not quoted in a gap of the recording', () => {
    const from = rows.at[0]! + 300_000;
    const { orders } = run({ gaps: [{ from, to: from + 300_000, why: 'test' }] });
    expect(orders.some(order => order.placedAt < from)).toBe(true);
    expect(orders.filter(order => order.placedAt > from + 6_000 && order.placedAt < from + 300_000)).toEqual([]);
  });

  test('takes a post-only order that would trade on arrival, and cancels it: no refusal, and no reason to halt', () => {
    const instrument = instrumentOf({ ...tape.rules, book: 'btc_mxn' });
    const builder = new RowBuilder();
    // The ask falls to where our bid is on its way to.
    builder.add(1_000, 1_000, 100_000, 1e8, 0);
    builder.add(1_000, 1_000, 100_020, 1e8, 2);
    builder.add(1_505, 1_700, 100_005, 1e8, 2);
    for (let at = 2_000; at < 20_000; at += 500) builder.add(at, at, 90_000, at, 0);
    const bid: Strategy = {
      quote: view => ({
        bids: view.at < 1_800 ? [{ price: 100_010, amount: 1e6 as Amount, why: [] }] : [],
        asks: [],
      }),
    };
    const { result, orders } = run({
      rows: builder.rows(),
      instrument,
      engine: engineOf(instrument, bid, { refusalsPerMinute: 0 }),
    });
    expect(result.refusedPostOnly).toBeGreaterThan(0);
    // The exchange took it: no refusal that the guard would count, none that would pause the side.
    expect(result.haltedBecause).toBe(null);
    expect(result.snapshot.counts.buy.refused).toBe(0);
    expect(orders.length).toBeGreaterThanOrEqual(result.refusedPostOnly);
    for (const order of orders) expect(order).toMatchObject({ ending: 'canceled', filled: '0.00000000' });
  });

  test('a feed that is 2 s behind, and requests that take no time: what was refused is not sent again until the feed shows why', () => {
    const late = rowsOfTape(tape, { feed: () => 2_000 });
    const touch: Strategy = {
      quote: ({ depth }) => ({
        bids: [{ price: depth.askPrices[0]! - 1, amount: 1e6 as Amount, why: [] }],
        asks: [{ price: depth.bidPrices[0]! + 1, amount: 1e6 as Amount, why: [] }],
      }),
    };
    const { result } = run({ rows: late, latency: constantLatency(0, 0), engine: engineOf(tape.instrument, touch) });
    expect(result.refusedPostOnly).toBeGreaterThan(10);
    expect(result.refusedPostOnly).toBeLessThan(result.requests.placed / 2);
    expect(result.requests).toMatchObject({ overBudget: 0, lockedOut: 0 });
  });
});

test('the seeded flow is recorded the same twice, and differs by seed', () => {
  const shares: number[] = [];
  const again = recordFlow('btc_mxn', 7, 60, 0, share => shares.push(share));
  expect(shares).toEqual([...shares].sort((x, y) => x - y));
  expect(shares[0]).toBe(0);
  expect(shares.at(-1)).toBeLessThan(1);
  expect(recordFlow('btc_mxn', 7, 60).columns).toEqual(again.columns);
  expect(recordFlow('btc_mxn', 8, 60).columns).not.toEqual(again.columns);
  expect(() => recordFlow('no_book', 1, 60)).toThrow(/no synthetic order flow for no_book/);
});
