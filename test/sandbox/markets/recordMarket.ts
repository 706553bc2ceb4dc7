/** Runs a market on the reference exchange and records it as a tape, as if it had been a venue. */
import { VirtualClock, instrumentOf, randomOf, type BookRules } from '../../../src/core/index.ts';
import type { Market } from '../../../src/sandbox/markets/market.ts';
import { TapeBuilder, finishTape, sideCodeOf, type Tape } from '../../../src/tape/index.ts';
import { ReferenceMarketplace } from './referenceMarketplace.ts';

/** Limits as in the capture of btc_mxn of 2026; the other books are of the same shape. */
export function flowRules(book: string, tickSize: string): BookRules {
  return {
    book,
    tickSize,
    minimumAmount: '0.0000006',
    maximumAmount: '100000',
    minimumPrice: tickSize,
    maximumPrice: '40000000',
    minimumValue: '10',
    maximumValue: '200000000',
  };
}

export type Recording = {
  readonly tape: Tape;
  readonly exchange: ReferenceMarketplace;
  readonly timers: number;
  readonly cpuMs: number;
};

/** `during` is called after each timer with the exchange, for a user of the market. */
export function recordMarket(
  market: Market,
  rules: BookRules,
  seconds: number,
  during: (exchange: ReferenceMarketplace, clock: VirtualClock) => void = () => undefined,
): Recording {
  const clock = new VirtualClock();
  const exchange = new ReferenceMarketplace(instrumentOf(rules), clock, randomOf(1));
  const builder = new TapeBuilder();
  exchange.onLevel = (side, price, amount) =>
    builder.level(clock.now(), clock.now(), sideCodeOf(side), price, amount as never);
  exchange.onFill = fill => {
    const at = Math.floor(clock.now());
    builder.trade(at, at, sideCodeOf(fill.takerSide), fill.price, fill.amount as never);
  };
  market.start(exchange);
  let timers = 0;
  const before = process.cpuUsage();
  while ((clock.nextDue() ?? Infinity) <= seconds * 1000) {
    clock.runNext();
    timers++;
    during(exchange, clock);
  }
  const used = process.cpuUsage(before);
  market.stop();
  const tape = finishTape({
    source: 'seeded flow',
    book: rules.book,
    tick: rules.tickSize,
    columns: builder.columns(),
    depth: Infinity,
  });
  return { tape, exchange, timers, cpuMs: (used.user + used.system) / 1000 };
}
