/** Reports of orders that a replay gives to the engine, with latencies and fill notices of seconds. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { constantLatency, recordFlow, rowsOfTape } from '../../backtest/index.ts';
import {
  textOfAmount,
  textOfPrice,
  type Engine,
  type EngineEvent,
  type OrderReport,
  type OwnTrade,
} from '../../src/core/index.ts';
import { engineOf } from '../../src/wiring/bot.ts';
import { sandboxConfig } from '../live/world.ts';
import { runsOf } from '../many.ts';
import { run } from './ladderRun.ts';

const tapes = [1, 2, 3].map(seed => recordFlow('btc_mxn', seed, 400));

/** Quotes so close to the mid price that orders are filled and replaced all the time. */
const config = sandboxConfig({
  exchange: { budgets: { privatePerMinute: 300 } },
  strategy: {
    halfSpreadBps: 0.05,
    minEdgeBps: -100,
    amount: '0.02',
    levelAmountStep: '0.01',
    levelSpacingBps: 1,
    levels: 4,
    refreshToleranceBps: 0.2,
  },
  limits: { positionMax: '1', orderValueMax: '500000', drawdownMax: '5000000', dayLossMax: '5000000' },
  halts: { fillsPer10Min: 100_000 },
});

const isFinal = ({ status }: OrderReport): boolean => status === 'cancelled' || status === 'completed';

type Seen = {
  /** Reports that differ from the placed order or from its final report, and look-ups with a wrong send time. */
  readonly wrong: string[];
  /** Events that are older than the event before. */
  readonly backwards: string[];
  finals: number;
};

/**
 * Wraps the engine so that every report is compared with the order that the engine placed. `tripMs` is the time from a
 * request to its answer.
 */
function watched(engine: Engine, tripMs: number, seen: Seen): Engine {
  const { instrument } = tapes[0]!;
  const placed = new Map<string, Pick<OrderReport, 'side' | 'price' | 'originalAmount'>>();
  /** Amounts that remain to be filled of the orders that the engine knows to have ended. */
  const ends = new Map<string, number>();
  const filled = new Map<string, number>();
  const check = (report: OrderReport, kind: string): void => {
    const { side, price, originalAmount, status } = report;
    const id = report.originId ?? '';
    const left = Number(report.unfilledAmount);
    const order = placed.get(id);
    const text = `${kind}: ${id} ${side} ${originalAmount} at ${price} is ${status}`;
    if (order?.side !== side || order.price !== price || order.originalAmount !== originalAmount)
      seen.wrong.push(`${text}, but placed was ${JSON.stringify(order)}`);
    const end = ends.get(id);
    if (end !== undefined && (end !== left || !isFinal(report)))
      seen.wrong.push(`${text} with ${left} left, but ended before with ${end} left`);
    if (!isFinal(report)) return;
    ends.set(id, left);
    seen.finals++;
  };
  const trade = ({ originId, major }: OwnTrade): void => {
    const id = originId ?? '';
    filled.set(id, (filled.get(id) ?? 0) + Number(major));
    if (Number(placed.get(id)!.originalAmount) - filled.get(id)! < 1e-9) ends.set(id, 0);
  };
  let lastAt = -Infinity;
  const step = engine.step.bind(engine);
  engine.step = (event: EngineEvent) => {
    if (event.at < lastAt) seen.backwards.push(`${event.kind} at ${event.at} after ${lastAt}`);
    lastAt = event.at;
    if (event.kind === 'trades') event.trades.forEach(trade);
    if (event.kind === 'open orders') for (const report of event.orders) check(report, event.kind);
    if (event.kind === 'looked up' && event.outcome.kind === 'done') {
      const reports = event.outcome.value;
      const tookMs = event.at - event.startedAt;
      // An end that the exchange itself reports, as of a rejected order, comes without a look-up.
      const isUnasked = tookMs === 0 && reports.length === event.ids.length && reports.every(isFinal);
      if (!isUnasked && Math.abs(tookMs - tripMs) > 0.01) seen.wrong.push(`a look-up took ${tookMs} ms`);
      for (const report of reports) check(report, event.kind);
    }
    const commands = step(event);
    for (const command of commands)
      if (command.kind === 'place')
        placed.set(command.id, {
          side: command.side,
          price: textOfPrice(instrument, command.price),
          originalAmount: textOfAmount(instrument, command.amount),
        });
    return commands;
  };
  return engine;
}

const delay = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 3_000 }));
const drawn = fc.record({
  tape: fc.nat(tapes.length - 1),
  there: delay,
  back: delay,
  feed: delay,
  notice: fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.constant(5_000)),
  privatePollMs: fc.oneof(fc.integer({ min: 200, max: 2_000 }), fc.constant(5_000)),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

function seenIn({ tape: index, there, back, feed, notice, privatePollMs }: Drawn): Seen {
  const whole = tapes[index]!;
  const tape = { ...whole, columns: { ...whole.columns, local: whole.columns.at.map(at => at + feed) } };
  const seen: Seen = { wrong: [], backwards: [], finals: 0 };
  run({
    rows: rowsOfTape(tape),
    model: 'pessimistic',
    latency: constantLatency(there, back),
    fillNotice: () => notice,
    privatePollMs,
    decideEveryMs: config.timing.decideEveryMs,
    engine: (rates, onNews) =>
      watched(engineOf(config, { instrument: tape.instrument, ...rates }, 1, onNews), there + back, seen),
  });
  return seen;
}

test('every report of a replay has the side, price and amount of the placed order, a reported end stays, and time never decreases', () => {
  let finals = 0;
  fc.assert(
    fc.property(drawn, setting => {
      const seen = seenIn(setting);
      finals += seen.finals;
      expect(seen.wrong.slice(0, 5)).toEqual([]);
      expect(seen.backwards.slice(0, 5)).toEqual([]);
    }),
    runsOf(400, 40),
  );
  expect(finals).toBeGreaterThan(100);
});
