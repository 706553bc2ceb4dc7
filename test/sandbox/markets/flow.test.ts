import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { VirtualClock, instrumentOf, randomOf, type Clock, type Side } from '../../../src/core/index.ts';
import { seededFlow } from '../../../src/sandbox/markets/flow.ts';
import { FLOW_PROFILES } from '../../../src/sandbox/markets/flowProfile.ts';
import { EfficientPrice } from '../../../src/sandbox/markets/flowValue.ts';
import { flowRules, recordMarket } from './recordMarket.ts';
import { ReferenceMarketplace } from './referenceMarketplace.ts';
import { statisticsOf } from '../../tape/statistics.ts';

const PROFILE = FLOW_PROFILES['btc_mxn']!;
const RULES = flowRules('btc_mxn', '10');
const HOUR = 3600;

/** All that the flow did, in a hash: the levels it changed and the trades it made, without the times. */
function hashOf(seed: number, seconds: number, clockOf: (clock: VirtualClock) => Clock = clock => clock): string {
  const clock = new VirtualClock();
  const exchange = new ReferenceMarketplace(instrumentOf(RULES), clockOf(clock), randomOf(1));
  const hash = createHash('sha256');
  exchange.onLevel = (...level) => hash.update(level.join());
  exchange.onFill = fill => hash.update(`${fill.takerSide} ${fill.price} ${fill.amount}`);
  const flow = seededFlow({ seed, profile: PROFILE });
  flow.start(exchange);
  while (clock.nextDue()! <= seconds * 1000) clock.runNext();
  flow.stop();
  expect(clock.nextDue()).toBeUndefined();
  return hash.digest('hex');
}

describe('the seeded flow', () => {
  it('does the same with the same seed, and something else with another', () => {
    expect(hashOf(5, 600)).toBe(hashOf(5, 600));
    expect(hashOf(5, 600)).not.toBe(hashOf(6, 600));
  });

  it('does the same when its timers come late, as they do on a clock that runs 500 times faster', () => {
    // Each timer is called at the next whole half second only; ten minutes end on such a time.
    const coarse = (clock: VirtualClock): Clock => ({
      now: () => clock.now(),
      elapsed: () => clock.elapsed(),
      after: (ms, call) => clock.after(Math.ceil((clock.elapsed() + ms) / 500) * 500 - clock.elapsed(), call),
    });
    expect(hashOf(5, 600, coarse)).toBe(hashOf(5, 600));
  });

  it('goes on after a jump of the clock, without playing the hours it missed', () => {
    const clock = new VirtualClock();
    let jumped = 0;
    const jumping: Clock = {
      now: () => clock.now(),
      elapsed: () => clock.elapsed() + jumped,
      after: (ms, call) => clock.after(ms, call),
    };
    const exchange = new ReferenceMarketplace(instrumentOf(RULES), jumping, randomOf(1));
    let takes = 0;
    const flow = seededFlow({ seed: 1, profile: PROFILE, onTake: () => takes++ });
    flow.start(exchange);
    while (clock.nextDue()! <= 60_000) clock.runNext();
    jumped = 10 * HOUR * 1000;
    const before = takes;
    while (clock.nextDue()! <= 360_000) clock.runNext();
    expect(takes - before).toBeGreaterThan(10);
    expect(takes - before).toBeLessThan(600);
  });

  it('has the spread, the rates and the bursts that docs/development/evidence/market-model.md states, at little cost', () => {
    const { tape, timers, cpuMs } = recordMarket(seededFlow({ seed: 1, profile: PROFILE }), RULES, 4 * HOUR);
    const s = statisticsOf(tape);
    expect(tape.flaws).toEqual([]);
    expect(s.spreadBps.median).toBeGreaterThan(8);
    expect(s.spreadBps.median).toBeLessThan(17);
    expect(s.takersPerSecond).toBeGreaterThan(0.15);
    expect(s.takersPerSecond).toBeLessThan(0.45);
    expect(s.arrivalCv).toBeGreaterThan(1.4);
    expect(s.within100Ms).toBeGreaterThan(0.2);
    expect(s.size.p99 / s.size.median).toBeGreaterThan(40);
    expect(s.sideCorrelation[0]).toBeGreaterThan(0.3);
    expect(s.markoutBps.after10S).toBeGreaterThan(0.5);
    expect(s.volatilityBps.over60S).toBeGreaterThan(5);
    expect(s.volatilityBps.over60S).toBeLessThan(20);
    expect(timers / (4 * HOUR)).toBeLessThan(20);
    // A hundredth of a core at real time, the recording included; it takes a hundredth of that.
    expect(cpuMs).toBeLessThan(4 * HOUR * 1000 * 0.01);
  });

  it('keeps its depth and its number of orders through half a day', () => {
    let most = 0;
    const hours: number[] = [];
    let next = HOUR * 1000;
    const { tape } = recordMarket(seededFlow({ seed: 11, profile: PROFILE }), RULES, 12 * HOUR, (exchange, clock) => {
      most = Math.max(most, exchange.book.buy.length + exchange.book.sell.length);
      if (clock.elapsed() < next) return;
      next += HOUR * 1000;
      hours.push([...exchange.book.buy, ...exchange.book.sell].reduce((sum, order) => sum + order.left, 0));
    });
    expect(most).toBeLessThanOrEqual(72);
    const half = (part: number[]) => part.reduce((sum, one) => sum + one, 0) / part.length;
    expect(half(hours.slice(6)) / half(hours.slice(0, 6))).toBeGreaterThan(0.6);
    expect(half(hours.slice(6)) / half(hours.slice(0, 6))).toBeLessThan(1.7);
    expect(tape.flaws).toEqual([]);
  });

  it('keeps the efficient price within a factor of three for years', () => {
    for (const seed of [1, 2, 3]) {
      const price = new EfficientPrice(randomOf(seed), 14);
      let furthest = 0;
      for (let minutes = 10; minutes < 3 * 365 * 1440; minutes += 10) {
        price.advance(minutes * 60, Math.sin(minutes / 50));
        furthest = Math.max(furthest, Math.abs(price.publicLog));
      }
      expect(furthest).toBeLessThan(Math.log(3));
      expect(furthest).toBeGreaterThan(0.05);
    }
  });

  it('gives every book a two-sided market near its start price at once and later', () => {
    for (const [book, profile] of Object.entries(FLOW_PROFILES)) {
      const tick = Number(profile.startPrice) > 1000 ? '1' : '0.001';
      const { tape, exchange } = recordMarket(seededFlow({ seed: 1, profile }), flowRules(book, tick), 600);
      expect(tape.flaws.filter(entry => entry.what !== 'one-sided books')).toEqual([]);
      const mid = ((exchange.bestBid() + exchange.bestAsk()) / 2) * Number(tick);
      expect(mid / Number(profile.startPrice)).toBeGreaterThan(0.97);
      expect(mid / Number(profile.startPrice)).toBeLessThan(1.03);
    }
  });

  it('comes back within a minute after somebody bought the whole book', () => {
    let swept = 0;
    const { exchange } = recordMarket(seededFlow({ seed: 2, profile: PROFILE }), RULES, 660, (market, clock) => {
      if (swept > 0 || clock.elapsed() < 600_000) return;
      swept = market.placeFor('whale', 'buy', 4_000_000 as never, 1e12, 'IOC').traded;
      expect(market.bestAsk()).toBe(0);
    });
    expect(swept).toBeGreaterThan(0);
    const mid = (exchange.bestBid() + exchange.bestAsk()) / 2;
    expect(exchange.bestAsk()).toBeGreaterThan(exchange.bestBid());
    expect(Math.abs(mid / 150_000 - 1)).toBeLessThan(0.02);
  });

  it('refuses a profile that is below the book', () => {
    const exchange = new ReferenceMarketplace(instrumentOf(RULES), new VirtualClock(), randomOf(1));
    const flow = seededFlow({ seed: 1, profile: { ...PROFILE, startPrice: '9' } });
    expect(() => flow.start(exchange)).toThrow(/btc_mxn: the start price must be at least one tick/);
  });
});

type UserFill = { readonly at: number; readonly sign: 1 | -1; readonly mid: number; informed?: boolean };

/** A naive maker with 0.001 btc 10 bps around the mid, requoted each second; his fills, and the mid at each second. */
function naiveMaker(seed: number, seconds: number) {
  const fills: UserFill[] = [];
  const takes: { readonly at: number; readonly side: Side; readonly informed: boolean; readonly mid: number }[] = [];
  const mids: number[] = [];
  let unlabelled: UserFill[] = [];
  let live: number[] = [];
  let mid = 0;
  let hooked: ReferenceMarketplace | undefined;
  const flow = seededFlow({
    seed,
    profile: PROFILE,
    onTake: ({ informed, side }) => {
      for (const fill of unlabelled) fill.informed = informed;
      unlabelled = [];
      takes.push({ at: hooked!.clock.elapsed(), side, informed, mid });
    },
  });
  recordMarket(flow, RULES, seconds, (exchange, clock) => {
    if (!hooked) {
      hooked = exchange;
      const record = exchange.onFill;
      exchange.onFill = fill => {
        record(fill);
        if (fill.maker !== 'user') return;
        const entry: UserFill = { at: fill.at, sign: fill.takerSide === 'buy' ? -1 : 1, mid };
        fills.push(entry);
        unlabelled.push(entry);
      };
    }
    const bid = exchange.bestBid();
    const ask = exchange.bestAsk();
    if (bid > 0 && ask > 0) mid = (bid + ask) / 2;
    for (; mids.length <= clock.elapsed() / 1000; mids.push(mid)) {
      for (const id of live) exchange.cancel(id);
      live = [
        exchange.placeFor('user', 'buy', Math.min(Math.floor(mid * 0.999), ask - 1) as never, 100_000, 'GTC').id,
        exchange.placeFor('user', 'sell', Math.max(Math.ceil(mid * 1.001), bid + 1) as never, 100_000, 'GTC').id,
      ];
    }
  });
  const after = (at: number, ms: number) => mids[Math.ceil((at + ms) / 1000)];
  return { fills, takes, after };
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('a naive maker with a small quote 10 bps around the mid', () => {
  const HOURS = 4;
  const runs = [1, 2, 3].map(seed => naiveMaker(seed, HOURS * HOUR));

  it('is filled once in 30 s or more', () => {
    const fills = mean(runs.map(run => run.fills.length));
    expect(fills / ((HOURS * HOUR) / 30)).toBeGreaterThan(1);
  });

  it('loses visibly more within 10 s to informed takers than to others', () => {
    const markout = (informed: boolean) =>
      mean(
        runs.flatMap(run =>
          run.fills
            .filter(fill => fill.informed === informed && run.after(fill.at, 10_000) !== undefined)
            .map(fill => fill.sign * (run.after(fill.at, 10_000)! / fill.mid - 1) * 1e4),
        ),
      );
    expect(markout(true)).toBeLessThan(markout(false) - 2);
    expect(markout(true)).toBeLessThan(-3);
  });

  it('sees prices that went with the informed a minute before and stayed there', () => {
    const move = (informed: boolean, ms: number) =>
      mean(
        runs.flatMap(run =>
          run.takes
            .filter(take => take.informed === informed && run.after(take.at, ms) !== undefined)
            .map(take => (take.side === 'buy' ? 1 : -1) * (run.after(take.at, ms)! / take.mid - 1) * 1e4),
        ),
      );
    expect(move(true, 60_000)).toBeGreaterThan(3);
    expect(move(true, 300_000)).toBeGreaterThan(3);
    expect(move(true, 60_000)).toBeGreaterThan(move(false, 60_000) + 2);
  });
});
