import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedExchange } from '../../backtest/exchange/simulatedExchange.ts';
import {
  constantLatency,
  fillModel,
  recordFlow,
  RowBuilder,
  type ReplayDeskOptions,
  type HedgeOptions,
  type ReplayOptions,
} from '../../backtest/index.ts';
import { MESSAGE } from '../../backtest/exchange/messageRing.ts';
import { OrderPool } from '../../backtest/exchange/ownOrders.ts';
import { BUY } from '../../backtest/rows/rows.ts';
import { NO_WATCHER } from '../../backtest/exchange/watcher.ts';
import { moneyOf, randomOf, type Conversion, type Engine, type EngineEvent } from '../../src/core/index.ts';
import { bestsOf, type RecordedBests } from '../../src/tape/index.ts';
import { engineOf, run, runHedged, tape, type HedgedRun } from './ladderRun.ts';
import { exponentialLatency } from './exponentialLatency.ts';
import { runsOf } from '../many.ts';
import { between } from '../draws.ts';

const DESK: ReplayDeskOptions = { timeoutMs: 5_000, refusedShare: 0, lostShare: 0, seed: 1 };
const RULES = {
  band: moneyOf('0.01'),
  residual: moneyOf('0.002'),
  costMaxBps: 30,
  carryBpsPerHour: 0,
  unwindMs: 600_000,
};

function hedge(desk: Partial<ReplayDeskOptions> = {}, setup: Partial<HedgeOptions['setup']> = {}): HedgeOptions {
  return {
    desk: { ...DESK, ...desk },
    orders: { instance: 'test', run: 1 },
    setup: {
      venues: ['rfq', 'conversion'],
      rules: RULES,
      everyMs: 2_000,
      pauseMs: 10_000,
      quoteLifeMinMs: 5_000,
      requestDelayMaxMs: 50_000,
      tradeReportDelayMaxMs: 20_000,
      ...setup,
    },
  };
}

/** Quarters of an hour of a desk that is slow, small, unwilling and loses answers. */
const desks = fc.record({
  seed: fc.integer({ min: 1, max: 1e6 }),
  refusedShare: between(0, 0.4),
  lostShare: between(0, 0.4),
  capacity: fc.constantFrom('5000', '30000', '10000000'),
  latencyMs: fc.integer({ min: 0, max: 3_000 }),
  switches: fc.record({
    rfqSpreadPips: fc.integer({ min: 0, max: 60 }),
    conversionPaddingPips: fc.integer({ min: 0, max: 60 }),
    rfqQuoteLifeMs: fc.integer({ min: 4_000, max: 60_000 }),
    rfqDelayMaxMs: fc.integer({ min: 200, max: 20_000 }),
    rfqFailurePips: fc.integer({ min: 0, max: 4_000 }),
  }),
});
const rules = fc.record({
  ways: fc.constantFrom<HedgeOptions['setup']['venues']>(['rfq', 'conversion'], ['rfq', 'book'], ['book']),
  costMaxBps: fc.integer({ min: 0, max: 60 }),
  band: fc.constantFrom('0.005', '0.02'),
  carryBpsPerHour: fc.constantFrom(0, 500),
  bandModel: fc.constantFrom<HedgeOptions['setup']['bandModel']>(undefined, {
    ...{ order: moneyOf('0.004'), ordersMax: 20, risk: 5, volatilityBps: 57, fillsPerMinute: 1, decayPerBps: 0.19 },
  }),
});

/** What every conversion cost against the middle on which it was decided, and what it may have cost; the events come from the engine's door. */
function watching(costMaxBps: number) {
  /** Of orders that take the book, the middle on which each was decided. */
  const takes = new Map<string, bigint>();
  const conversions = new Map<string, { readonly conversion: Conversion; phase: string; over: bigint }>();
  const engine: ReplayOptions['engine'] = (rates, onNews) => {
    const made: Engine = engineOf(tape.instrument)(rates, onNews);
    const step = made.step.bind(made);
    const middleAt = (at: number) => BigInt(Math.round(made.book.preview(at).mid * 2)) * tape.instrument.tickMoney;
    made.step = (event: EngineEvent) => {
      if (event.kind === 'take') takes.set(event.id, middleAt(event.at));
      if (event.kind === 'conversion') {
        const { conversion, phase } = event;
        const known = conversions.get(conversion.id);
        if (phase === 'in flight') {
          expect(known).toBe(undefined);
          const { give, get } = conversion;
          const sells = give.currency === 'btc';
          const [major, minor] = sells ? [give.amount, get.amount] : [get.amount, give.amount];
          const fair = (major * middleAt(event.at)) / (2n * 10n ** 18n);
          const cost = sells ? fair - minor : minor - fair;
          // One unit of 10^-18 for the rounding of each step.
          conversions.set(conversion.id, {
            conversion,
            phase,
            over: cost - (fair * BigInt(costMaxBps)) / 10_000n - 2n,
          });
        } else if (known) {
          expect(known.conversion).toEqual(conversion);
          expect(known.phase).toBe('in flight');
          known.phase = phase;
        } else throw new Error(`${conversion.id} ended without having begun`);
      }
      return step(event);
    };
    return made;
  };
  return { engine, conversions, takes };
}

describe('a backtest with a hedger', () => {
  test('explains its profit to the last unit at every fill and every hedge, and never pays more than its limit, whatever the desk does', async () => {
    let done = 0;
    let failed = 0;
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(desks, rules, async (desk, { ways, costMaxBps, band, carryBpsPerHour, bandModel }) => {
        const { engine, conversions, takes } = watching(costMaxBps);
        const { result, fills, hedges } = await runHedged({
          engine,
          hedge: hedge(desk, {
            venues: ways,
            rules: { ...RULES, costMaxBps, band: moneyOf(band), carryBpsPerHour },
            bandModel,
          }),
        });
        expect(result.haltedBecause).toBe(null);
        // The replay itself throws where a fill or a conversion does not add up. What is left: money kept a second time, from the lists.
        let major = moneyOf('2') as bigint;
        let minor = moneyOf('4000000') as bigint;
        for (const { side, amount, value, fee, feeCurrency } of fills) {
          major += (side === 'buy' ? 1n : -1n) * moneyOf(amount) - (feeCurrency === 'btc' ? moneyOf(fee) : 0n);
          minor -= (side === 'buy' ? 1n : -1n) * moneyOf(value) + (feeCurrency === 'mxn' ? moneyOf(fee) : 0n);
        }
        let cost = 0n;
        const completed = hedges.filter(({ state }) => state === 'completed');
        for (const { way, gave, got, gaveCurrency, cost: paid } of completed) {
          // Those are among the fills.
          if (way === 'book') continue;
          const sells = gaveCurrency === 'btc';
          major += moneyOf((sells ? gave : got) ?? '') * (sells ? -1n : 1n);
          minor += moneyOf((sells ? got : gave) ?? '') * (sells ? 1n : -1n);
          cost += moneyOf(paid ?? '');
        }
        const { holdings } = result.snapshot.booked;
        expect([holdings.get('btc'), holdings.get('mxn')]).toEqual([major, minor]);
        const { profit } = result.collected;
        if (takes.size === 0) expect(profit.hedging).toBe(-cost);
        expect(profit.total).toBe(profit.spread + profit.inventory + profit.fees + profit.hedging);
        expect(result.hedged?.completed).toBe(completed.length);
        for (const [id, { over, phase }] of conversions) {
          expect([id, phase]).not.toEqual([id, 'in flight']);
          expect([id, over > 0n]).toEqual([id, false]);
        }
        for (const [id, middle] of takes) {
          let over = 0n;
          for (const fill of fills.filter(({ orderId }) => orderId === id)) {
            const [major, minor, fee] = [moneyOf(fill.amount), moneyOf(fill.value), moneyOf(fill.fee)];
            const worth = (sum: bigint) => (sum * middle) / (2n * 10n ** 18n);
            const paid = fill.side === 'buy' ? minor - worth(major - fee) : worth(major) - minor + fee;
            // Eight decimals of the exchange.
            over += paid - (worth(major) * BigInt(costMaxBps)) / 10_000n - worth(10n ** 10n);
            taken++;
          }
          expect([id, over > 0n]).toEqual([id, false]);
        }
        done += completed.length;
        failed += hedges.length - completed.length;
      }),
      { ...runsOf(6, 4), seed: 1 },
    );
    expect(done).toBeGreaterThan(20);
    expect(failed).toBeGreaterThan(20);
    expect(taken).toBeGreaterThan(5);
  });

  test('gives the same hash for the same desk, and another for another one', async () => {
    const faulty = { refusedShare: 0.2, lostShare: 0.2 };
    const latency = () => exponentialLatency(5, 40, randomOf(3));
    const [a, b] = [
      await runHedged({ hedge: hedge(faulty), latency: latency() }),
      await runHedged({ hedge: hedge(faulty), latency: latency() }),
    ];
    expect(a.hedges.length).toBeGreaterThan(5);
    expect(b).toEqual(a);
    const other = await runHedged({ hedge: hedge({ ...faulty, seed: 2 }), latency: latency() });
    expect(other.result.hash).not.toBe(a.result.hash);
  });

  test('is the same backtest when no way out is within its limit, and holds less when one is', async () => {
    const without = run();
    const { result, fills, hedges } = await runHedged({ hedge: hedge({}, { rules: { ...RULES, costMaxBps: 0 } }) });
    expect(fills).toEqual(without.fills);
    expect(hedges.length).toBeGreaterThan(3);
    expect(hedges.every(({ state, why }) => state === 'failed' && why === 'no way out was taken')).toBe(true);
    expect(result.collected.profit).toEqual(without.result.collected.profit);
    const hedged = await runHedged({ hedge: hedge() });
    expect(hedged.result.collected.positionMeanLots).toBeLessThan(without.result.collected.positionMeanLots / 2);
    expect(hedged.result.collected.profit.hedging).toBeLessThan(0n);
    expect((await runHedged()).result.hash).toBe(without.result.hash);
  });
});

describe('the book as a way out of a replay', () => {
  const cheap = { venues: ['book'] as const, rules: { ...RULES, costMaxBps: 60 } };

  test("is taken best level first, at the taker's fee, and is no quote in the report", async () => {
    const { result, fills, hedges } = await runHedged({ hedge: hedge({}, cheap) });
    const takes = fills.filter(({ level }) => level === 0);
    expect(takes.length).toBeGreaterThan(5);
    for (const { side, amount, value, fee, price, midTicks } of takes) {
      const ticks = Number(price) / Number(tape.rules.tickSize);
      expect(side === 'buy' ? ticks > (midTicks ?? 0) : ticks < (midTicks ?? Infinity)).toBe(true);
      // 0.13% of what the order gets, rounded half up to 8 decimals.
      expect(Math.abs(Number(fee) - 0.0013 * Number(side === 'buy' ? amount : value))).toBeLessThan(0.501e-8);
    }
    const { collected } = result;
    const quoted = fills.length - takes.length;
    const counted = collected.markouts.find(({ side, level }) => side === null && level === null);
    expect(counted?.fills[0]).toBeLessThanOrEqual(quoted);
    expect(collected.profit.hedging).toBeLessThan(0n);
    expect(hedges.some(({ state, way }) => state === 'completed' && way === 'book')).toBe(true);
    // Their cost is that of their fills, each against the mid price of its time and with its fee.
    let cost = 0n;
    for (const { side, amount, value, fee, midTicks } of takes) {
      const worth = (major: bigint) => (major * BigInt(2 * midTicks!) * tape.instrument.tickMoney) / (2n * 10n ** 18n);
      const [major, minor] = [moneyOf(amount), moneyOf(value)];
      if (side === 'buy') cost += minor - worth(major - moneyOf(fee));
      else cost += worth(major) - (minor - moneyOf(fee));
    }
    expect(new Set(takes.map(({ side }) => side)).size).toBe(2);
    const told = hedges.reduce((sum, { cost: paid }) => sum + moneyOf(paid ?? '0'), 0n);
    // Units of 10^-18 for the rounding of each.
    expect(Math.abs(Number(told - cost))).toBeLessThan(2 * takes.length);
    // Their orders are over: nothing of them stays open.
    expect(result.left).toBe(0);
  });

  test('has less for a minute of what was taken, and nothing beyond the price that may be paid', () => {
    const builder = new RowBuilder();
    builder.add(0, 0, 1_000, 50, 0);
    builder.add(0, 0, 1_002, 100, 2);
    builder.add(0, 0, 1_003, 100, 2);
    builder.add(200_000, 200_000, 900, 1, 0);
    const market = builder.rows();
    const got: string[] = [];
    const view = new SimulatedExchange(market, fillModel('expected', market), constantLatency(0, 0), {
      ...NO_WATCHER,
      filled: (_order, lots, at, _mid, place) => void got.push(`${at}: ${lots} at ${place + market.base}`),
    });
    const pool = new OrderPool();
    const take = (at: number, lots: number, ticks: number) => {
      const order = pool.take(BUY, ticks - market.base, lots);
      order.takes = true;
      view.requests.push(at, MESSAGE.take, order, lots, at, 0);
    };
    take(1_000, 60, 1_002);
    take(2_000, 60, 1_002);
    take(3_000, 60, 1_003);
    take(70_000, 60, 1_002);
    view.runTo(100_000);
    expect(got).toEqual(['1000: 60 at 1002', '2000: 40 at 1002', '3000: 60 at 1003', '70000: 60 at 1002']);
  });
});

describe('the desk inside a replay', () => {
  const done = async (
    desk: Partial<ReplayDeskOptions>,
    setup: Partial<HedgeOptions['setup']> = {},
    more: object = {},
  ) => (await runHedged({ hedge: hedge(desk, setup), ...more })).hedges.filter(({ state }) => state === 'completed');

  test('takes its spread from the middle of the book as everybody sees it', async () => {
    const switches = { rfqSpreadPips: 10, rfqDelayMinMs: 0, rfqDelayMaxMs: 0 };
    const cheap = await done({ switches }, { venues: ['rfq'] }, { latency: constantLatency(0, 0) });
    const dear = await done(
      { switches: { ...switches, rfqSpreadPips: 25 } },
      { venues: ['rfq'] },
      { latency: constantLatency(0, 0) },
    );
    const bps = (lines: typeof cheap) =>
      lines.reduce((sum, { cost, gave, got, gaveCurrency }) => {
        const value = gaveCurrency === 'btc' ? got : gave;
        return sum + (Number(cost) / Number(value)) * 1e4;
      }, 0) / lines.length;
    expect(cheap.length).toBeGreaterThan(5);
    // Not exactly: in the middle that everybody sees are our own quotes too.
    expect(bps(cheap)).toBeGreaterThan(7);
    expect(bps(cheap)).toBeLessThan(13);
    expect(bps(dear) - bps(cheap)).toBeGreaterThan(11);
  });

  test('takes no more in one direction than its capacity, until it has rested', async () => {
    const most = Math.max(
      ...(await done({ capacity: '5000' }, { venues: ['rfq'] })).map(({ gave, got, gaveCurrency }) =>
        Number(gaveCurrency === 'btc' ? got : gave),
      ),
    );
    expect(most).toBeGreaterThan(1_000);
    expect(most).toBeLessThanOrEqual(5_000);
  });

  test('keeps its offers for their life: one that would end on its way is not accepted', async () => {
    expect(await done({ switches: { rfqQuoteLifeMs: 4_000, quoteLifeMs: 4_000 } })).toEqual([]);
    const { hedges } = await runHedged({ hedge: hedge({ switches: { rfqQuoteLifeMs: 4_000, quoteLifeMs: 4_000 } }) });
    expect(hedges.some(({ why }) => why === 'the offer would expire before its acceptance reaches the exchange')).toBe(
      true,
    );
  });

  test('answers after its latency, and carries out after its delay', async () => {
    const lines = await done(
      { latencyMs: 400, switches: { rfqDelayMinMs: 1_000, rfqDelayMaxMs: 1_000 } },
      { venues: ['rfq'] },
    );
    expect(lines.length).toBeGreaterThan(3);
    for (const { acceptedAt, executedAt, heardAt } of lines) {
      expect((executedAt ?? 0) - (acceptedAt ?? 0)).toBeCloseTo(1_400, 6);
      expect(heardAt - (executedAt ?? 0)).toBeGreaterThanOrEqual(400);
    }
  });

  test('asks out of the same budget as everything else', async () => {
    const { result, hedges } = await runHedged({ hedge: hedge(), privatePerMinute: 62 });
    expect(hedges.some(({ weighed }) => weighed.includes('the request budget was used up'))).toBe(true);
    expect(result.requests.overBudget).toBeGreaterThan(0);
  });
});

describe('a route over a third currency in a backtest', () => {
  const usdMxn = recordFlow('usd_mxn', 6, 60).instrument;
  const btcUsd = recordFlow('btc_usd', 6, 60).instrument;
  const own = bestsOf(tape);
  const constant = (value: number) => new Float64Array([value]);
  /** 18.31 mxn a dollar, and a btc that is dearer there by so many bps. */
  const dollars = (bps: number): readonly RecordedBests[] => {
    const toUsd = (Number(tape.instrument.tick) / 18.31 / Number(btcUsd.tick)) * (1 + bps / 10_000);
    const ticks = own.bid.map((bid, i) => Math.round(((bid + own.ask[i]!) / 2) * toUsd));
    const known = { source: 'made', gaps: [], at: own.at, to: own.to };
    const rate = Math.round(18.31 / Number(usdMxn.tick));
    return [
      { ...known, instrument: btcUsd, bid: ticks.map(tick => tick - 1), ask: ticks.map(tick => tick + 1) },
      { ...known, instrument: usdMxn, at: constant(own.at[0]!), bid: constant(rate - 1), ask: constant(rate + 1) },
    ];
  };
  const routes = { via: ['usd'], riskBps: 2, waitMs: 20_000 };

  /** Money kept a second time, from the lists, beside what the replay itself asserts. */
  function expectKept({ result, fills, hedges }: HedgedRun, minor = '4000000'): void {
    const changes: { readonly at: number; readonly currency: string; readonly sum: bigint }[] = [];
    const add = (at: number | null, currency: string | null, sum: bigint) =>
      void changes.push({ at: at ?? 0, currency: currency ?? '', sum });
    add(0, 'btc', moneyOf('2'));
    add(0, 'mxn', moneyOf(minor));
    for (const { at, side, amount, value, fee, feeCurrency } of fills) {
      const sign = side === 'buy' ? 1n : -1n;
      add(at, 'btc', sign * moneyOf(amount));
      add(at, 'mxn', -sign * moneyOf(value));
      add(at, feeCurrency, -moneyOf(fee));
    }
    let cost = 0n;
    for (const { state, executedAt, gave, got, gaveCurrency, gotCurrency, cost: paid } of hedges) {
      if (state === 'failed') continue;
      add(executedAt, gaveCurrency, -moneyOf(gave ?? ''));
      add(executedAt, gotCurrency, moneyOf(got ?? ''));
      cost += moneyOf(paid ?? '');
    }
    const sums = new Map<string, bigint>();
    // At one time what came in first.
    for (const { currency, sum } of changes.sort((a, b) => a.at - b.at || Number(b.sum - a.sum))) {
      const left = (sums.get(currency) ?? 0n) + sum;
      expect([currency, left < 0n]).toEqual([currency, false]);
      sums.set(currency, left);
    }
    const { holdings } = result.snapshot.booked;
    for (const currency of ['btc', 'mxn'])
      expect([currency, holdings.get(currency)]).toEqual([currency, sums.get(currency)]);
    // What the second leg could not take for its decimals stays, less than a cent a hedge.
    const rest = (holdings.get('usd') ?? 0n) - (sums.get('usd') ?? 0n);
    expect(rest >= 0n && rest <= moneyOf('0.01') * BigInt(hedges.length)).toBe(true);
    expect(result.collected.profit.hedging).toBe(-cost);
  }

  test('is taken where it is the cheapest way, both ways round, and earns what the other books pay', async () => {
    for (const bps of [60, -60]) {
      const run = await runHedged({ hedge: hedge({ beside: dollars(bps), capacity: '10000000' }, { routes }) });
      expectKept(run);
      const all = run.hedges.filter(({ way }) => way === 'rfq via usd');
      const over = all.filter(({ why }) => why !== 'the replay ended between the two legs');
      expect(all.length - over.length).toBeLessThan(2);
      expect(over.length).toBeGreaterThan(1);
      for (const { state, gaveCurrency, gotCurrency, cost, weighed } of over) {
        expect([state, gaveCurrency, gotCurrency]).toEqual(
          bps > 0 ? ['completed', 'btc', 'mxn'] : ['completed', 'mxn', 'btc'],
        );
        expect(weighed).toContain('rfq via usd');
        expect(moneyOf(cost ?? '') < 0n).toBe(true);
      }
      expect(run.hedges.some(({ way }) => way === 'rfq')).toBe(true);
    }
  });

  test('is none without a price on its way, in a gap of the other recording, or with one of its books alone', async () => {
    const [first, second] = dollars(60) as [RecordedBests, RecordedBests];
    const gap = { from: own.at[0]! - 1, to: own.to + 1, why: 'made' };
    for (const beside of [[], [{ ...first, gaps: [gap] }, second], [second], [{ ...first, to: own.at[0]! }, second]]) {
      const { hedges } = await runHedged({ hedge: hedge({ beside }, { routes }) });
      expect(hedges.length).toBeGreaterThan(1);
      expect(hedges.filter(({ way }) => way === 'rfq via usd')).toEqual([]);
      for (const { weighed } of hedges) expect(weighed).toMatch(/rfq via usd \(first leg: |rfq via usd \(second leg: /);
    }
  });

  test('keeps every sum to the last digit, whatever the desk does, stranded ones with it', async () => {
    let stranded = 0;
    await fc.assert(
      fc.asyncProperty(desks, fc.constantFrom(60, -60), async (desk, bps) => {
        const run = await runHedged({ hedge: hedge({ ...desk, beside: dollars(bps) }, { routes, venues: ['rfq'] }) });
        expectKept(run);
        stranded += run.hedges.filter(({ state }) => state === 'stranded').length;
      }),
      { ...runsOf(8, 4), seed: 2 },
    );
    expect(stranded).toBeGreaterThan(0);
  });

  test('pays what the account holds of the currency, and nothing of what a stranded leg is worth', async () => {
    const switches = { rfqSpreadPips: 300, rfqDelayMinMs: 0, rfqDelayMaxMs: 0 };
    const run = await runHedged({
      balances: { btc: '2', mxn: '50000' },
      hedge: hedge(
        { switches, beside: dollars(900), capacity: '10000000' },
        { venues: ['rfq'], routes: { ...routes, waitMs: 1 }, rules: { ...RULES, costMaxBps: 1_000 } },
      ),
    });
    expectKept(run, '50000');
    const found = (state: string, why: RegExp) =>
      run.hedges.filter(hedge => hedge.state === state && why.test(hedge.why ?? '')).length;
    expect(found('stranded', /^no second leg/)).toBeGreaterThan(0);
    // Dollars that stay are no loss: they count at their price.
    for (const { state, cost, got } of run.hedges)
      if (state === 'stranded') expect(Math.abs(Number(cost))).toBeLessThan(0.1 * 18.31 * Number(got));
    expect(found('failed', /insufficient_funds/)).toBeGreaterThan(0);
    expect(found('completed', /^$/)).toBeGreaterThan(0);
  });
});
