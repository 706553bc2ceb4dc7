/** Steps per second of the engine on a book of 50 levels a side: without a decision, and with a whole one over five levels a side. */
import {
  Engine,
  instrumentOf,
  OrderBook,
  randomOf,
  type Amount,
  type Approved,
  type Command,
  type EngineEvent,
  type Price,
} from '../../src/core/index.ts';
import {
  fairValueParameters,
  kindOf,
  strategies,
  withFairValue,
  type FairValueParameters,
  type StrategyName,
} from '../../strategies/index.ts';
import { changed, EXAMPLES } from '../strategies/examples.ts';

const LEVELS = 50;
const WARM_UP = 5_000;
const DECIDE_EVERY_MS = 100;

const instrument = instrumentOf({
  book: 'btc_mxn',
  tickSize: '10',
  minimumAmount: '0.00001',
  maximumAmount: '500',
  minimumPrice: '10',
  maximumPrice: '20000000',
  minimumValue: '10',
  maximumValue: '200000000',
});

/** An engine that is ready to quote with five levels a side. */
function openEngine(
  name: StrategyName = 'ladder',
  fairValue?: FairValueParameters,
  example: object = EXAMPLES[name],
): Engine {
  const kind = kindOf({ name });
  const parameters = strategies[name].parameters.parse(example);
  const engine = Engine.ofOneBook({
    instrument,
    strategy: withFairValue(fairValue, kind.make(parameters, instrument), instrument),
    limits: {
      positionMax: 1_000_000_000 as Amount,
      orderValueMax: (10n ** 16n) as never,
      ordersMax: 40,
      collarBps: 1000,
      staleAfterMs: 5000,
    },
    tolerance: kind.tolerance(parameters),
    instance: 'bench',
    run: 1,
    target: null,
    timing: {
      requestDelayMaxMs: 45_000,
      tradeReportDelayMaxMs: 20_000,
      cancelAgainMs: 2000,
      decideEveryMs: DECIDE_EVERY_MS,
      lookEveryMs: 1000,
      privateStaleAfterMs: 10_000,
    },
  });
  const balance = (currency: string) => ({ currency, total: '100000000', locked: '0', available: '100000000' });
  engine.step({ kind: 'rules', at: 0, instrument, makerRate: 0, takerRate: 0 });
  engine.step({ kind: 'balances', at: 0, startedAt: 0, quiet: true, balances: [balance('btc'), balance('mxn')] });
  return engine;
}

/** Fills a book around a middle. */
export function lay(book: OrderBook, mid: number): OrderBook {
  book.clear();
  for (let n = 1; n <= LEVELS; n++) {
    book.set('buy', (mid - 3 * n) as Price, (1_000_000 * n) as Amount);
    book.set('sell', (mid + 3 * n) as Price, (1_000_000 * n) as Amount);
  }
  return book;
}

/** Answers at once what the engine asks: every placement is accepted, every cancel is confirmed by its look-up. */
export function answer(engine: Engine, commands: readonly Approved<Command>[], at: number): number {
  let count = commands.length;
  for (const command of commands) {
    const event: EngineEvent =
      command.kind === 'place'
        ? { kind: 'placed', at, id: command.id, outcome: { kind: 'done', value: { oid: `x${command.id}` } } }
        : command.kind === 'cancel'
          ? {
              kind: 'canceled',
              at,
              startedAt: at,
              ids: command.ids,
              outcome: { kind: 'done', value: command.ids.map(id => `x${id}`) },
            }
          : {
              kind: 'looked up',
              at,
              startedAt: at,
              ids: command.ids,
              outcome: {
                kind: 'done',
                value: command.ids.map(id => ({
                  book: engine.bookWith(id)?.symbol ?? instrument.symbol,
                  oid: `x${id}`,
                  originId: id,
                  side: 'buy',
                  type: 'limit',
                  status: 'cancelled',
                  originalAmount: '0.01',
                  unfilledAmount: '0.01',
                  createdAt: at,
                })),
              },
            };
    count += answer(engine, engine.step(event), at);
  }
  return count;
}

export type EngineFigures = {
  /** Steps per second: one level of the book changed, nothing decided. */
  readonly quiet: number;
  /** Steps per second with a whole decision over a ladder of five levels a side. */
  readonly deciding: number;
  /** Of one deciding step, in microseconds. */
  readonly p99Micros: number;
  /** `JSON.parse` per second of such a book as the exchange sends it: what reading it costs before any engine sees it. */
  readonly parsing: number;
};

export function engineBench(quietSteps = 300_000, decisions = 30_000): EngineFigures {
  const deciding = decide(decisions);
  return { quiet: change(quietSteps), ...deciding, parsing: parse(Math.ceil(decisions / 2)) };
}

/** The 99th percentile of one deciding step, in microseconds, by strategy. */
export function strategyBench(decisions = 10_000): Readonly<Record<string, number>> {
  const names = Object.keys(strategies) as StrategyName[];
  return {
    ...Object.fromEntries(names.map(name => [name, decide(decisions, name).p99Micros])),
    'ladder around every part of a fair value': decide(decisions, 'ladder', EVERY_PART).p99Micros,
    'glft along a profile': decide(decisions, 'glft', undefined, changed(EXAMPLES.glft, 'market.profile', PROFILE))
      .p99Micros,
  };
}

/** Twelve distances, no two alike. */
const PROFILE = {
  distancesBps: Array.from({ length: 12 }, (_, i) => 3 + 3 * i),
  fillsPerMinute: Array.from({ length: 12 }, (_, i) => 4 * Math.exp(-0.5 * i + 0.2 * Math.sin(5 * i))),
  adverseBps: Array.from({ length: 12 }, (_, i) => 1 + 0.8 * i + Math.sin(7 * i)),
};

const EVERY_PART = fairValueParameters.parse({
  withinBps: 5_000,
  mid: {},
  weightedMid: {},
  microprice: { tick: '10', imbalanceBuckets: 2, spreadsTicks: [], adjustTicks: [[-1, 1]] },
  lastTrades: {},
  reference: { basisMemory: '1h' },
  depthImbalance: {},
  orderFlowImbalance: { bpsPerUnit: 1 },
});

function change(steps: number): number {
  const engine = openEngine();
  const book = lay(new OrderBook(), 150_000);
  readAccount(engine, 0);
  const random = randomOf(1);
  const at = DECIDE_EVERY_MS;
  answer(engine, engine.step({ kind: 'book', at, startedAt: null, book }), at);
  const once = (): void => {
    const isBid = random.next() < 0.5;
    const away = 3 * random.integer(1, LEVELS);
    book.set(
      isBid ? 'buy' : 'sell',
      (150_000 + (isBid ? -away : away)) as Price,
      random.integer(1, 1_000_000) as Amount,
    );
    engine.step({ kind: 'book', at, startedAt: null, book });
  };
  for (let n = 0; n < WARM_UP; n++) once();
  const started = performance.now();
  for (let n = 0; n < steps; n++) once();
  return (steps / (performance.now() - started)) * 1_000;
}

function decide(
  decisions: number,
  name: StrategyName = 'ladder',
  fairValue?: FairValueParameters,
  example: object = EXAMPLES[name],
): Pick<EngineFigures, 'deciding' | 'p99Micros'> {
  const engine = openEngine(name, fairValue, example);
  const book = new OrderBook();
  const random = randomOf(1);
  const took = new Float64Array(decisions);
  let mid = 150_000;
  let commands = 0;
  let at = 0;
  for (let n = -WARM_UP; n < decisions; n++) {
    at += DECIDE_EVERY_MS;
    readAccount(engine, at);
    at += DECIDE_EVERY_MS;
    mid += random.integer(-40, 40);
    lay(book, mid);
    const side = random.next() < 0.5 ? 'buy' : 'sell';
    engine.step({ kind: 'public trade', at, price: mid as Price, amount: 1_000 as Amount, side });
    engine.step({ kind: 'reference', at, startedAt: at, price: mid });
    const started = performance.now();
    const out = engine.step({ kind: 'book', at, startedAt: null, book });
    if (n >= 0) took[n] = performance.now() - started;
    const asked = answer(engine, out, at);
    if (n >= 0) commands += asked;
  }
  if (commands === 0) throw new Error(`nothing was decided: ${engine.book.snapshot(at).quoting}`);
  const total = took.reduce((sum, ms) => sum + ms, 0);
  took.sort();
  return { deciding: (decisions / total) * 1_000, p99Micros: took[Math.floor(0.99 * decisions)]! * 1_000 };
}

function parse(times: number): number {
  const side = (away: number) =>
    Array.from({ length: LEVELS }, (_, i) => ({
      book: 'btc_mxn',
      price: String(1_500_000 + away * 30 * (i + 1)),
      amount: (0.01 * (i + 1)).toFixed(8),
    }));
  const payload = { updated_at: '2026-01-02T03:04:05+00:00', bids: side(-1), asks: side(1), sequence: '4512345678' };
  const text = JSON.stringify({ success: true, payload });
  let seen = 0;
  const started = performance.now();
  for (let n = 0; n < times; n++) seen += (JSON.parse(text) as { payload: { bids: [] } }).payload.bids.length;
  if (seen !== times * LEVELS) throw new Error('the book was not parsed');
  return (times / (performance.now() - started)) * 1_000;
}

/** Reads the account, and answers at once what the engine asks. Returns the number of commands. */
export function readAccount(engine: Engine, at: number): number {
  const first = answer(engine, engine.step({ kind: 'trades', at, startedAt: at, complete: true, trades: [] }), at);
  const orders = engine.liveOrders.map(order => ({
    book: engine.bookWith(order.id)!.symbol,
    oid: `x${order.id}`,
    originId: order.id,
    side: order.side,
    type: 'limit' as const,
    status: 'open' as const,
    price: '1500000',
    originalAmount: '0.01',
    unfilledAmount: '0.01',
    createdAt: at,
  }));
  return first + answer(engine, engine.step({ kind: 'open orders', at, startedAt: at, complete: true, orders }), at);
}
