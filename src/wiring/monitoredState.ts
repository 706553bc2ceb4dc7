/** State of a running bot for the metrics, at the time of the request. */
import { statfsSync } from 'node:fs';
import {
  isInBook,
  money,
  moneyOfAmount,
  type Amount,
  type Clock,
  type Fill,
  type Instrument,
  type Money,
  type Order,
  type Price,
  type Side,
  type Snapshot,
} from '../core/index.ts';
import type { Config } from '../config.ts';
import { readHeartbeat, Watch } from '../live/safety/heartbeat.ts';
import type { Run } from '../live/loop/run.ts';
import type { Metrics, Monitored } from '../monitor/index.ts';

/**
 * Returns the values that come from the engine's snapshot and its run; the caller adds all other values. `book`: index
 * of the book in the run, from 0.
 */
export function monitored(
  snapshot: Snapshot,
  run: Run,
  beside: ReturnType<Beside>,
  book: number,
): Omit<Monitored, 'budget' | 'isPaper' | 'isStoppedCleanly' | 'disk' | 'eventLoop' | 'remote'> {
  const rules = run.rulesOfBooks[book]!;
  const { instrument } = rules;
  const { trades, holdings } = snapshot.known;
  const bid = best(snapshot.orders, 'buy');
  const ask = best(snapshot.orders, 'sell');
  const count = (side: Side) => snapshot.orders.filter(order => order.side === side && isInBook(order)).length;
  const { streamUp, queueAhead } = run.marketStatuses[book]!;
  const sum = (lots: Amount | null) => (lots === null ? null : moneyOfAmount(instrument, lots));
  return {
    book: snapshot.symbol,
    majorCurrency: instrument.major,
    minorCurrency: instrument.minor,
    quotesLive: { buy: count('buy'), sell: count('sell') },
    quotePrice: { buy: priceOf(instrument, bid), sell: priceOf(instrument, ask) },
    mid: midMoney(instrument, snapshot.bid, snapshot.ask),
    position: holdings,
    pnl: trades && trades.profit,
    profitSinceOpening: trades && trades.sinceOpening.profit,
    profitOfRun: trades && trades.runProfit,
    spreadBps: spreadBps(bid, ask),
    marketSpreadBps: spreadBps(snapshot.bid, snapshot.ask),
    bookAgeMs: Number.isFinite(snapshot.bookAge) ? snapshot.bookAge : null,
    bookBudget: run.budgetUses[book] ?? null,
    streamUp,
    queueAhead: { buy: sum(queueAhead.buy), sell: sum(queueAhead.sell) },
    notQuoting: [...(snapshot.quoting === null ? [] : [snapshot.quoting]), ...snapshot.silent],
    decisions: snapshot.decisions,
    regime: snapshot.regime.regime,
    regimes: snapshot.regimes,
    figures: snapshot.figures,
    sources: snapshot.livePrice?.sources ?? [],
    elsewhere: snapshot.elsewhere,
    markouts: snapshot.markouts,
    fees: rules,
    limits: { uses: run.engine.books[book]!.limitUses(run.time()), ...beside },
  };
}

/** Returns the exchanged amounts of an execution, by currency. */
export const volumeOf = ({ major, minor }: Fill, instrument: Instrument): Volume => [
  { currency: instrument.major, sum: major },
  { currency: instrument.minor, sum: minor },
];
type Volume = Parameters<Metrics['fill']>[1];

/** Function that returns the age of the sentinel's heartbeat and the free disk space. */
export type Beside = () => Omit<Monitored['limits'], 'uses'>;

/** Returns a function that reads the sentinel's heartbeat and the free space of the disk from the state directory. */
export function besideOf(config: () => Config, clock: Clock): Beside {
  const { dir } = config().state;
  const watch = new Watch(
    () => readHeartbeat(dir, 'sentinel'),
    () => clock.elapsed(),
  );
  return () => ({
    sentinelAgeMs: watch.stillForMs() ?? (config().sentinel.required ? Infinity : null),
    diskFreeBytes: freeBytes(dir),
  });
}

function freeBytes(dir: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/**
 * Returns the reasons why the bot does not quote, one text each. Empty if at least one side has an order that is live,
 * pending or being replaced.
 */
export function notReady({ quoting, waitsFor, unshown, emptySidesText, regime }: Snapshot): string[] {
  if (quoting === 'halted' && regime.halt !== null) return [`halted: ${regime.halt}`];
  if (quoting === 'paused by a person' && regime.pause !== null) return [`${quoting}: ${regime.pause}`];
  if (quoting !== null) return [waitsFor === null ? quoting : `${quoting} (${waitsFor})`];
  return unshown.buy === null || unshown.sell === null ? [] : [emptySidesText ?? 'nothing is shown'];
}

/** Returns the price of the best live order of a side, in ticks; 0 if none. */
function best(orders: readonly Order[], side: Side): Price {
  const prices = orders.filter(order => order.side === side && isInBook(order)).map(order => order.price);
  if (prices.length === 0) return 0 as Price;
  return (side === 'buy' ? Math.max(...prices) : Math.min(...prices)) as Price;
}

const priceOf = (instrument: Instrument, ticks: Price): Money | null =>
  ticks > 0 ? money(BigInt(ticks) * instrument.tickMoney) : null;

const midMoney = (instrument: Instrument, bid: Price, ask: Price): Money | null =>
  bid > 0 && ask > 0 ? money((BigInt(bid + ask) * instrument.tickMoney) / 2n) : null;

const spreadBps = (bid: number, ask: number): number | null =>
  bid > 0 && ask > 0 ? ((ask - bid) * 20_000) / (ask + bid) : null;
