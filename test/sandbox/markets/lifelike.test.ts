import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { instrumentOf, randomOf, VirtualClock, type Clock, type Price } from '../../../src/core/index.ts';
import { FLOW_PROFILES } from '../../../src/sandbox/markets/flowProfile.ts';
import { lifelikeFlow } from '../../../src/sandbox/markets/lifelike/lifelike.ts';
import { LIFELIKE_KINDS } from '../../../src/sandbox/markets/lifelike/lifelikeOrders.ts';
import { LifelikePrice } from '../../../src/sandbox/markets/lifelike/lifelikePrice.ts';
import { flowRules, recordMarket } from './recordMarket.ts';
import { ReferenceMarketplace } from './referenceMarketplace.ts';

const PROFILE = FLOW_PROFILES['btc_mxn']!;
const RULES = flowRules('btc_mxn', '10');
const HOUR = 3600;
const MAKERS = 2 * LIFELIKE_KINDS.reduce((sum, { count }) => sum + count, 0);

/** All that the market did, in a hash: the levels it changed and the trades it made, without the times. */
function hashOf(seed: number, seconds: number, clockOf: (clock: VirtualClock) => Clock = clock => clock): string {
  const clock = new VirtualClock();
  const exchange = new ReferenceMarketplace(instrumentOf(RULES), clockOf(clock), randomOf(1));
  const hash = createHash('sha256');
  exchange.onLevel = (...level) => hash.update(level.join());
  exchange.onFill = fill => hash.update(`${fill.takerSide} ${fill.price} ${fill.amount}`);
  const market = lifelikeFlow({ seed, profile: PROFILE });
  market.start(exchange);
  while (clock.nextDue()! <= seconds * 1000) clock.runNext();
  market.stop();
  expect(clock.nextDue()).toBeUndefined();
  return hash.digest('hex');
}

describe('the lifelike market', () => {
  it('does the same with the same seed, and something else with another', () => {
    expect(hashOf(5, 600)).toBe(hashOf(5, 600));
    expect(hashOf(5, 600)).not.toBe(hashOf(6, 600));
  });

  it('does the same when its timers come late, as they do on a clock that runs 500 times faster', () => {
    const coarse = (clock: VirtualClock): Clock => ({
      now: () => clock.now(),
      elapsed: () => clock.elapsed(),
      after: (ms, call) => clock.after(Math.ceil((clock.elapsed() + ms) / 500) * 500 - clock.elapsed(), call),
    });
    expect(hashOf(5, 600, coarse)).toBe(hashOf(5, 600));
  });

  it('never has more orders than makers, trades on, and quotes both sides through half a day', () => {
    for (const seed of [1]) {
      let most = 0;
      const { tape, exchange, cpuMs } = recordMarket(
        lifelikeFlow({ seed, profile: PROFILE }),
        RULES,
        12 * HOUR,
        ({ book }) => {
          most = Math.max(most, book.buy.length + book.sell.length);
        },
      );
      expect(most).toBeLessThanOrEqual(MAKERS);
      expect(exchange.book.buy.length).toBeGreaterThan(MAKERS / 4);
      expect(exchange.book.sell.length).toBeGreaterThan(MAKERS / 4);
      expect(tape.flaws).toEqual([]);
      // A hundredth of a core at real time, the recording included.
      expect(cpuMs).toBeLessThan(12 * HOUR * 1000 * 0.01);
    }
  });

  it('gives every book a two-sided market near its start price at once and later', () => {
    for (const [book, profile] of Object.entries(FLOW_PROFILES)) {
      const tick = Number(profile.startPrice) > 1000 ? '1' : '0.001';
      const { tape, exchange } = recordMarket(lifelikeFlow({ seed: 1, profile }), flowRules(book, tick), 600);
      expect(tape.flaws.filter(entry => entry.what !== 'one-sided books')).toEqual([]);
      const mid = ((exchange.bestBid() + exchange.bestAsk()) / 2) * Number(tick);
      expect(mid / Number(profile.startPrice)).toBeGreaterThan(0.97);
      expect(mid / Number(profile.startPrice)).toBeLessThan(1.03);
    }
  });

  it('comes back within two minutes after somebody bought the whole book', () => {
    let swept = 0;
    const { exchange } = recordMarket(lifelikeFlow({ seed: 2, profile: PROFILE }), RULES, 720, (market, clock) => {
      if (swept > 0 || clock.elapsed() < 600_000) return;
      swept = market.placeFor('whale', 'buy', 4_000_000 as Price, 1e12, 'IOC').traded;
      expect(market.bestAsk()).toBe(0);
    });
    expect(swept).toBeGreaterThan(0);
    expect(exchange.book.sell.length).toBeGreaterThan(MAKERS / 6);
    expect(exchange.bestAsk()).toBeGreaterThan(exchange.bestBid());
    expect(Math.abs((exchange.bestBid() + exchange.bestAsk()) / 2 / 150_000 - 1)).toBeLessThan(0.02);
  });

  it('pays no account that buys in parts and sells again, for 10 s or for two minutes, all at once or in parts', () => {
    for (const [parts, waitS, sells] of [
      [1, 10, 1],
      [12, 10, 1],
      [12, 120, 1],
      [12, 10, 12],
      [40, 10, 4],
    ] as const) {
      const nets = [1, 2, 3].map(seed => roundTrips(seed, parts, waitS, sells));
      expect(nets.reduce((sum, net) => sum + net, 0) / nets.length).toBeLessThan(0);
    }
  });

  it('is not moved by an account that sells a little too cheaply again and again', () => {
    const moves = [1, 2, 3].map(seed => {
      let next = 60_000;
      let live = 0;
      let before = 0;
      const { exchange } = recordMarket(lifelikeFlow({ seed, profile: PROFILE }), RULES, HOUR, (place, clock) => {
        if (clock.elapsed() < next || place.bestBid() === 0) return;
        next = clock.elapsed() + 1_000;
        before ||= place.bestBid();
        place.cancel(live);
        live = place.placeFor('user', 'sell', (place.bestBid() + 1) as Price, 1_000, 'GTC').id;
      });
      return Math.abs(exchange.bestBid() / before - 1);
    });
    // The quotes of the account would move it by a tenth and more, if a taker learned from them.
    expect(Math.max(...moves)).toBeLessThan(0.04);
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
    let changes = 0;
    exchange.onLevel = () => changes++;
    const market = lifelikeFlow({ seed: 1, profile: PROFILE });
    market.start(exchange);
    while (clock.nextDue()! <= 60_000) clock.runNext();
    jumped = 10 * HOUR * 1000;
    const before = changes;
    while (clock.nextDue()! <= 360_000) clock.runNext();
    expect(changes - before).toBeGreaterThan(100);
    expect(changes - before).toBeLessThan(5_000);
    market.stop();
  });

  it('refuses a profile that is below the book', () => {
    const exchange = new ReferenceMarketplace(instrumentOf(RULES), new VirtualClock(), randomOf(1));
    const market = lifelikeFlow({ seed: 1, profile: { ...PROFILE, startPrice: '9' } });
    expect(() => market.start(exchange)).toThrow(/btc_mxn: the start price must be at least one tick/);
  });
});

it('the price of the lifelike market stays within a factor of three for a year, also if everyone buys', () => {
  for (const seed of [1, 2, 3]) {
    const options = { unit: 6e-4, minuteMove: 1e-3, driftPerS: 0, signalPerS: 0.02 };
    const price = new LifelikePrice(randomOf(seed), options);
    const random = randomOf(seed + 10);
    let furthest = 0;
    for (let minutes = 10; minutes < 365 * 1440; minutes += 10) {
      price.advance(minutes * 60);
      for (let n = 0; n < 30; n++) price.inform(seed === 3 || random.next() < 0.5 ? 'buy' : 'sell');
      price.push(true, 1000);
      furthest = Math.max(furthest, Math.abs(price.log));
    }
    expect(furthest).toBeLessThan(Math.log(3));
    expect(furthest).toBeGreaterThan(0.05);
  }
});

/** An account that buys 0.2 btc in parts 2 s apart, waits, and sells them again. Returns what it earned, in ticks times lots. */
function roundTrips(seed: number, parts: number, waitS: number, sells: number): number {
  const market = lifelikeFlow({ seed, profile: PROFILE });
  let held = 0;
  let net = 0;
  let step = 0;
  let next = 600_000;
  const { exchange } = recordMarket(market, RULES, 1.5 * HOUR, (place, clock) => {
    if (clock.elapsed() < next) return;
    const phase = step % (parts + sells);
    const side = phase < parts ? 'buy' : 'sell';
    const lots = side === 'buy' ? Math.floor(20_000_000 / parts) : Math.ceil(held / (parts + sells - phase));
    if (lots > 0) {
      place.onFill = fill => {
        if (fill.taker !== 'user') return;
        net += (side === 'buy' ? -1 : 1) * fill.price * fill.amount;
        held += (side === 'buy' ? 1 : -1) * fill.amount;
      };
      place.placeFor('user', side, (side === 'buy' ? 4_000_000 : 1) as Price, lots, 'IOC');
    }
    step++;
    next = clock.elapsed() + (phase === parts - 1 ? waitS : 2) * 1000;
  });
  return net + (held * (exchange.bestBid() + exchange.bestAsk())) / 2;
}
