/** The desk of a replay, request by request: when each is executed and answered, what it counts and what it may spend. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ReplayDesk, type ReplayDeskOptions } from '../../../backtest/exchange/desk.ts';
import { MESSAGE } from '../../../backtest/exchange/messageRing.ts';
import { OrderPool } from '../../../backtest/exchange/ownOrders.ts';
import { SimulatedExchange } from '../../../backtest/exchange/simulatedExchange.ts';
import { constantLatency, fillModel, RowBuilder } from '../../../backtest/index.ts';
import { BUY, SELL } from '../../../backtest/rows/rows.ts';
import { money, moneyOf, randomOf, VirtualClock, type ConversionWay, type Outcome } from '../../../src/core/index.ts';
import { randomOid } from '../../../src/sandbox/wire/oid.ts';
import { randomUuid } from '../../../src/sandbox/wire/uuid.ts';
import { runsOf } from '../../many.ts';
import { plain } from '../../core/market.ts';

const START = 1_000_000;
const NO_DELAYS = { conversionQueueMs: 0, rfqDelayMinMs: 0, rfqDelayMaxMs: 0, rfqFailurePips: 0 } as const;

/** A desk over an exchange with an account of 100 btc and 100,000 mxn, whose book does not change. */
function deskOver(changes: Partial<ReplayDeskOptions> = {}) {
  const clock = new VirtualClock(START);
  const builder = new RowBuilder();
  builder.add(0, 0, 999, 100_000, 0);
  builder.add(0, 0, 1_001, 100_000, 2);
  builder.add(1e12, 1e12, 900, 1, 0);
  const market = builder.rows();
  const exchange = new SimulatedExchange(market, fillModel('expected', market), constantLatency(0, 0));
  exchange.runTo(START);
  const total = new Map([
    ['btc', moneyOf('100')],
    ['mxn', moneyOf('100000')],
  ]);
  const swaps: { readonly at: number; readonly currency: string }[] = [];
  let isAdmitted = true;
  const options: { -readonly [K in keyof ReplayDeskOptions]: ReplayDeskOptions[K] } = {
    ...{ timeoutMs: 5_000, refusedShare: 0, lostShare: 0, seed: 1, switches: NO_DELAYS, ...changes },
  };
  const desk = new ReplayDesk(options, {
    ...{ clock, instrument: plain, exchange, base: market.base, isKnown: () => true },
    there: () => 40,
    back: () => 60,
    total: currency => total.get(currency) ?? money(0n),
    swap: (pay, receive) => {
      swaps.push({ at: clock.now(), currency: pay.currency });
      total.set(pay.currency, money(total.get(pay.currency)! - pay.sum));
      total.set(receive.currency, money(total.get(receive.currency)! + receive.sum));
    },
    admit: () => (isAdmitted ? null : { kind: 'refused', code: 'budget', message: 'no budget' }),
  });
  const pool = new OrderPool();
  return {
    ...{ clock, exchange, desk, options, swaps, total },
    admits: (is: boolean) => void (isAdmitted = is),
    /** An order of the bot that rests in the book. */
    rests: (isSell: boolean, lots: number) => {
      const order = pool.take(isSell ? SELL : BUY, (isSell ? 1_005 : 995) - market.base, lots);
      exchange.requests.push(clock.now(), MESSAGE.place, order, lots, clock.now(), 0);
      exchange.runTo(clock.now());
    },
    /** Amounts that resting orders lock. */
    locked: () => ({
      btc: moneyOf(String(exchange.asks.orders.reduce((sum, { left }) => sum + left, 0))),
      mxn: moneyOf(String(exchange.bids.orders.reduce((sum, { left }) => sum + 995 * left, 0))),
    }),
    /** The outcome of a call, and the time from now until it comes. */
    over: async <T>(call: Promise<Outcome<T>>) => {
      const from = clock.now();
      let outcome = null as Outcome<T> | null;
      void call.then(answer => (outcome = answer));
      while (outcome === null) await clock.advance(20);
      return { outcome, ms: clock.now() - from };
    },
  };
}

/** An offer for lots of one currency. */
const asking = (isSell: boolean, lots: number) =>
  isSell ? { from: 'btc', to: 'mxn', give: String(lots) } : { from: 'mxn', to: 'btc', give: String(lots * 1_000) };

describe('a request to the desk of a replay', () => {
  const ways = fc.constantFrom<ConversionWay>('rfq', 'conversion');

  test('is executed when it arrives or never, and answered one latency later or never, which is unknown at its deadline', async () => {
    const cameUp = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        ways,
        fc.integer({ min: 1, max: 1e6 }),
        fc.constantFrom(undefined, 0, 20, 400),
        fc.constantFrom(0, 0.6, 1),
        async (way, seed, latencyMs, lostShare) => {
          const world = deskOver({ seed, ...(latencyMs === undefined ? {} : { latencyMs }) });
          const { outcome: offer } = await world.over(world.desk.offer(way, asking(true, 5)));
          if (offer.kind !== 'done') throw new Error('an offer was expected');
          world.options.lostShare = lostShare;
          const sentAt = world.clock.now();
          const { outcome, ms } = await world.over(world.desk.accept({ way, id: offer.value.id }));
          const [there, back] = latencyMs === undefined ? [40, 60] : [latencyMs, latencyMs];
          if (outcome.kind === 'done') expect([ms, world.swaps.length]).toEqual([Math.max(20, there + back), 1]);
          else expect([outcome.kind, ms]).toEqual(['unknown', 5_000]);
          for (const { at } of world.swaps) expect(at).toBe(sentAt + there);
          if (outcome.kind === 'unknown') cameUp.add(world.swaps.length > 0 ? 'executed' : 'never arrived');
        },
      ),
      { ...runsOf(200, 60), seed: 3 },
    );
    expect([...cameUp].toSorted()).toEqual(['executed', 'never arrived']);
  });

  test('counts if it is sent, whatever becomes of it, and not if it is not admitted', async () => {
    const calls = fc.array(fc.record({ what: fc.nat(4), way: ways, isAdmitted: fc.boolean() }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(calls, fc.constantFrom(0, 0.5), async (list, share) => {
        const world = deskOver({ lostShare: share, refusedShare: share });
        for (const { what, way, isAdmitted } of list) {
          world.admits(isAdmitted);
          const before = world.desk.requests;
          const { desk } = world;
          const calling = [
            () => desk.pairs(),
            () => desk.offer(way, asking(true, 1)),
            () => desk.accept({ way, id: 'none' }),
            () => desk.state(way, 'none'),
            () => desk.find(way, 'none'),
          ][what]!;
          const { outcome } = await world.over<unknown>(calling());
          expect(desk.requests - before).toBe(isAdmitted ? 1 : 0);
          expect(outcome.kind === 'refused' && outcome.code === 'budget').toBe(!isAdmitted);
        }
      }),
      runsOf(200, 30),
    );
  });

  test('spends at no time what resting orders lock', async () => {
    const step = fc.record({
      what: fc.constantFrom('rest', 'convert', 'convert'),
      way: ways,
      isSell: fc.boolean(),
      lots: fc.integer({ min: 1, max: 60 }),
      /** Lots that rest while the conversion is under way. */
      later: fc.constantFrom(0, 0, 20, 50),
    });
    const cameUp = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async steps => {
        const delays = { conversionQueueMs: 200, rfqDelayMinMs: 200, rfqDelayMaxMs: 200 };
        const world = deskOver({ switches: { ...NO_DELAYS, ...delays } });
        const isFree = (isSell: boolean, lots: number) => {
          const [currency, price] = isSell ? (['btc', 1] as const) : (['mxn', 1_000] as const);
          return moneyOf(String(lots * price)) <= world.total.get(currency)! - world.locked()[currency];
        };
        for (const { what, way, isSell, lots, later } of steps) {
          if (what === 'rest') {
            if (isFree(isSell, lots)) world.rests(isSell, lots);
            continue;
          }
          const { outcome: offer } = await world.over(world.desk.offer(way, asking(isSell, lots)));
          if (offer.kind !== 'done') continue;
          const wasFree = isFree(isSell, lots);
          const { outcome } = await world.over(world.desk.accept({ way, id: offer.value.id }));
          if (way === 'conversion') expect(outcome.kind).toBe(wasFree ? 'done' : 'refused');
          if (later > 0 && isFree(isSell, later)) world.rests(isSell, later);
          const swapped = world.swaps.length;
          const isStillFree = isFree(isSell, lots);
          await world.clock.advance(1_000);
          if (outcome.kind === 'done' && way === 'conversion')
            expect(world.swaps.length - swapped).toBe(isStillFree ? 1 : 0);
          if (outcome.kind === 'done') cameUp.add(world.swaps.length > swapped ? 'paid' : 'not paid');
          for (const currency of ['btc', 'mxn'] as const)
            expect(world.total.get(currency)! - world.locked()[currency] >= 0n, currency).toBe(true);
        }
      }),
      { ...runsOf(300, 40), seed: 4 },
    );
    expect([...cameUp].toSorted()).toEqual(['not paid', 'paid']);
  });

  test('is lost by draws of its own: those of both kinds of conversions are others, whatever the seed is', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const world = deskOver({ seed });
      const idOf = async (way: ConversionWay) => {
        const { outcome } = await world.over(world.desk.offer(way, asking(true, 5)));
        return outcome.kind === 'done' ? outcome.value.id : '';
      };
      const [rfq, conversion] = [await idOf('rfq'), await idOf('conversion')];
      expect([rfq === '', conversion === '']).toEqual([false, false]);
      const other = deskOver({ seed });
      expect(await other.over(other.desk.offer('rfq', asking(true, 5)))).toMatchObject({
        outcome: { value: { id: rfq } },
      });
      expect(rfq).not.toBe(randomUuid(randomOf(seed)));
      expect(conversion).not.toBe(randomOid(randomOf(seed)));
    }
  });
});
