/** Everything that Prometheus is told: gauges are read from a snapshot at the moment of the scrape, so that a stalled loop cannot look fresh. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { approximately } from '../core/index.ts';
import type { DecisionCount, Millis, Money, Regime, Side, Snapshot } from '../core/index.ts';
import { diskGauges } from './disk.ts';
import type { MonitoredDisk } from './disk.ts';
import { feeGauges } from './fees.ts';
import type { MonitoredFees } from './fees.ts';
import { limitGauges } from './limits.ts';
import type { MonitoredLimits } from './limits.ts';
import { markoutGauges } from './markouts.ts';

/** What is shown of one book, as it stands at the moment of asking. */
export type Monitored = {
  readonly book: string;
  readonly majorCurrency: string;
  /** In which prices and profit are. */
  readonly minorCurrency: string;
  /** Live orders of ours by side. */
  readonly quotesLive: Readonly<Record<Side, number>>;
  /** Holdings by currency. */
  readonly position: ReadonlyMap<string, Money>;
  /** Prices of our best live orders; null on a side without one. */
  readonly quotePrice: Readonly<Record<Side, Money | null>>;
  /** Middle of the market without our orders; null while the book is not two-sided. */
  readonly mid: Money | null;
  /** Parts of the profit, in the minor currency; fees are negative. */
  readonly pnl: Readonly<Record<PnlPart, Money>>;
  /** Between our best live bid and ask, in bps of their middle; null unless both are live. */
  readonly spreadBps: number | null;
  /** Between everybody's best bid and ask, in bps of their middle; null while the book is not two-sided. */
  readonly marketSpreadBps: number | null;
  /** Since the last whole book was received; null before the first. */
  readonly bookAgeMs: Millis | null;
  readonly budget: { readonly public: number; readonly private: number };
  /** Market data comes from the stream; null when it is switched off or not there. */
  readonly streamUp: boolean | null;
  /** Major of others that is filled before our best order of each side; null while that is not known. */
  readonly queueAhead: Readonly<Record<Side, Money | null>>;
  /** Why a quote that is wanted is not shown; empty when all is well. Few and fixed words: each becomes a time series. */
  readonly notQuoting: readonly string[];
  /** What became of levels at all decisions, by reason: a closed set of words. */
  readonly decisions: readonly DecisionCount[];
  readonly regime: Regime;
  /** How often each regime was entered. */
  readonly regimes: Readonly<Record<Regime, number>>;
  /** What the strategy computes with: few and fixed names. */
  readonly figures: readonly { readonly name: string; readonly value: number; readonly unit: string }[];
  readonly markouts: Snapshot['markouts'];
  readonly fees: MonitoredFees;
  readonly limits: MonitoredLimits;
  /** The run was stopped by request, and every order of ours is verified to be gone. */
  readonly isStoppedCleanly: boolean;
  readonly disk: MonitoredDisk;
  /** Nothing here is real money. */
  readonly isPaper: boolean;
};

export type PnlPart = 'spread' | 'inventory' | 'fees' | 'hedging';
export type OrderEvent = 'placed' | 'canceled' | 'filled' | 'refused' | 'unknown';
export type RequestOutcome = 'done' | 'refused' | 'unknown';

export type Metrics = {
  readonly registry: Registry;
  /** The page in Prometheus' text format, gauges read now. */
  text(): Promise<string>;
  order(side: Side, event: OrderEvent): void;
  /** One execution of ours: so much of both currencies changed hands. */
  fill(side: Side, volume: readonly { readonly currency: string; readonly sum: Money }[]): void;
  /** `endpoint` is a method and a path without ids, like "POST orders". */
  request(endpoint: string, outcome: RequestOutcome, ms: Millis): void;
  /** One decision, from the event to its approved commands. */
  loop(ms: Millis): void;
};

/** A label takes at most this many values; what comes later is counted under "other". */
const LABEL_VALUES_MAX = 64;
const SIDES: readonly Side[] = ['buy', 'sell'];
const ORDER_EVENTS: readonly OrderEvent[] = ['placed', 'canceled', 'filled', 'refused', 'unknown'];
const PNL_PARTS: readonly PnlPart[] = ['spread', 'inventory', 'fees', 'hedging'];

const REGIMES: readonly Regime[] = ['normal', 'wide', 'reduce only', 'paused', 'halted'];
/** What every bot does: these start at 0. */
const USUAL: readonly DecisionCount[] = SIDES.flatMap(side =>
  (
    [
      ['placed', 'as wanted'],
      ['kept', 'as wanted'],
      ['kept', 'queue place'],
      ['canceled', 'price moved'],
      ['canceled', 'amount changed'],
      ['canceled', 'too old'],
      ['canceled', 'level not wanted'],
    ] as const
  ).map(([deed, reason]) => ({ side, deed, reason, count: 0 })),
);

/** The metrics of one book in a registry of their own. */
export function metrics(book: string, version: string, read: () => Monitored): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name, help, labelNames, registers });
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter<L>({ name, help, labelNames, registers });

  const build = gauge('puntas_build_info', 'Always 1; the version of Puntas is in the label.', ['version']);
  const paper = gauge('puntas_paper', '1 when the run trades on paper: nothing in it is real money; else 0.', ['book']);
  const quotesLive = gauge('puntas_quotes_live', 'Orders of ours that are live in the book.', ['book', 'side']);
  const orders = counter(
    'puntas_orders_total',
    'Orders by what became of them: placed (accepted by the exchange), canceled, filled (in full), refused (by the exchange), unknown (outcome not known when the request ended).',
    ['book', 'side', 'event'],
  );
  const decisions = counter(
    'puntas_decisions_total',
    'What decisions did about each level: placed, kept, waits (for an order on its way), canceled, not placed; and why.',
    ['book', 'side', 'decision', 'reason'],
  );
  const regime = gauge(
    'puntas_regime',
    '1 for the regime that holds, otherwise 0: normal, wide, reduce only, paused, halted.',
    ['book', 'regime'],
  );
  const regimeChanges = counter('puntas_regime_changes_total', 'How often each regime was entered.', [
    'book',
    'regime',
  ]);
  const fills = counter('puntas_fills_total', 'Executions of our orders, partial ones included.', ['book', 'side']);
  const position = gauge('puntas_position', 'Holdings, in units of the currency.', ['book', 'currency']);
  const volume = counter('puntas_volume_total', 'What changed hands in executions of our orders, in both currencies.', [
    'book',
    'side',
    'currency',
  ]);
  const quotePrice = gauge('puntas_quote_price', 'Price of our best live order; absent on a side without one.', [
    'book',
    'side',
    'currency',
  ]);
  const mid = gauge('puntas_mid', 'Middle of the market without our orders; absent while the book is not two-sided.', [
    'book',
    'currency',
  ]);
  const pnl = gauge(
    'puntas_pnl',
    'Profit since the start of the process, by its parts: spread (against the middle at each fill), inventory (moves of the middle on what was held), fees (negative), hedging (what conversions and orders that took liquidity brought against the middle).',
    ['book', 'part', 'currency'],
  );
  const spread = gauge(
    'puntas_spread_bps',
    'Distance between our best live bid and ask, in bps of their middle; absent unless both are live.',
    ['book'],
  );
  const marketSpread = gauge(
    'puntas_market_spread_bps',
    "Distance between everybody's best bid and ask, in bps of their middle; absent while the book is not two-sided.",
    ['book'],
  );
  const bookAge = gauge(
    'puntas_book_age_seconds',
    'Time since the last whole order book was received; +Inf before the first.',
    ['book'],
  );
  const streamUp = gauge(
    'puntas_stream_up',
    '1 while market data comes from the stream, 0 while it is polled; absent without a stream.',
    ['book'],
  );
  const queueAhead = gauge(
    'puntas_queue_ahead',
    "Amount of others' orders that are filled before our best order of the side, in units of the major currency; absent while that is not known.",
    ['book', 'side'],
  );
  const requests = new Histogram({
    name: 'puntas_request_seconds',
    help: 'Time that requests to the exchange took, by endpoint and outcome: done, refused (certainly not carried out), unknown.',
    labelNames: ['endpoint', 'outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const budget = gauge('puntas_request_budget_remaining', 'Requests that may still be sent in the current 60 s.', [
    'scope',
  ]);
  const loop = new Histogram({
    name: 'puntas_loop_seconds',
    help: 'Time that one decision took, from the event to its approved commands.',
    buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
    registers,
  });
  const figure = gauge(
    'puntas_strategy_figure',
    'What a model computes with, as puntas check shows it: gamma, full and usual inventory, sigma, A, k, their errors and R2, and on how many arrivals they stand, with where they come from as its unit.',
    ['book', 'name', 'unit'],
  );
  const notQuoting = gauge('puntas_not_quoting', '1 while this keeps a wanted quote from being shown, otherwise 0.', [
    'book',
    'reason',
  ]);

  const stopped = gauge(
    'puntas_stopped_cleanly',
    '1 once the run was stopped by request and every order of ours is verified to be gone, until the process ends; else 0.',
    ['book'],
  );

  const markouts = markoutGauges(registers, book);
  const fees = feeGauges(registers, book);
  const limits = limitGauges(registers, book);
  const disk = diskGauges(registers, book);

  build.set({ version }, 1);
  // A series that appears only with its first event has no rate: all start at 0.
  for (const side of SIDES) {
    fills.inc({ book, side }, 0);
    for (const event of ORDER_EVENTS) orders.inc({ book, side, event }, 0);
  }
  const reason = bounded();
  const currency = bounded();
  const endpoint = bounded();
  const figureName = bounded();
  const seenReasons = new Set<string>();

  const refresh = () => {
    const now = read();
    paper.set({ book }, Number(now.isPaper));
    for (const side of SIDES) quotesLive.set({ book, side }, now.quotesLive[side]);
    for (const [name, sum] of now.position) position.set({ book, currency: currency(name) }, approximately(sum));
    const minor = { book, currency: now.minorCurrency };
    for (const part of PNL_PARTS) pnl.set({ ...minor, part }, approximately(now.pnl[part]));
    setOrRemove(mid, minor, sumOf(now.mid));
    for (const side of SIDES) setOrRemove(quotePrice, { ...minor, side }, sumOf(now.quotePrice[side]));
    stopped.set({ book }, Number(now.isStoppedCleanly));
    limits(now.limits);
    for (const side of SIDES)
      for (const each of [now.majorCurrency, now.minorCurrency]) volume.inc({ book, side, currency: each }, 0);
    setOrRemove(spread, { book }, now.spreadBps);
    setOrRemove(marketSpread, { book }, now.marketSpreadBps);
    bookAge.set({ book }, now.bookAgeMs === null ? Infinity : now.bookAgeMs / 1000);
    setOrRemove(streamUp, { book }, now.streamUp === null ? null : Number(now.streamUp));
    for (const side of SIDES) setOrRemove(queueAhead, { book, side }, sumOf(now.queueAhead[side]));
    regimeChanges.reset();
    for (const name of REGIMES) {
      regime.set({ book, regime: name }, name === now.regime ? 1 : 0);
      regimeChanges.inc({ book, regime: name }, now.regimes[name]);
    }
    decisions.reset();
    for (const { side, deed, reason, count } of [...USUAL, ...now.decisions])
      decisions.inc({ book, side, decision: deed, reason }, count);
    markouts(now.markouts);
    fees(now.fees);
    disk(now.disk);
    figure.reset();
    for (const { name, value, unit } of now.figures) figure.set({ book, name: figureName(name), unit }, value);
    budget.set({ scope: 'public' }, now.budget.public);
    budget.set({ scope: 'private' }, now.budget.private);
    const reasons = new Set(now.notQuoting.map(reason));
    for (const name of reasons) seenReasons.add(name);
    for (const name of seenReasons) notQuoting.set({ book, reason: name }, reasons.has(name) ? 1 : 0);
  };

  return {
    registry,
    text: () => {
      refresh();
      return registry.metrics();
    },
    order: (side, event) => orders.inc({ book, side, event }),
    fill: (side, sums) => {
      fills.inc({ book, side });
      for (const { currency, sum } of sums) volume.inc({ book, side, currency }, approximately(sum));
    },
    request: (name, outcome, ms) => requests.observe({ endpoint: endpoint(name), outcome }, ms / 1000),
    loop: ms => loop.observe(ms / 1000),
  };
}

/** Also shows the process itself, by the usual names: start time, memory, processor, open files, lag of the event loop. */
export function showProcess({ registry }: Pick<Metrics, 'registry'>): void {
  collectDefaultMetrics({ register: registry });
  // Gauges that end in _total, which Prometheus keeps for counters; the same without it, by type, stay.
  for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${what}_total`);
}

function setOrRemove<L extends string>(gauge: Gauge<L>, labels: Record<L, string>, value: number | null): void {
  if (value === null) gauge.remove(labels);
  else gauge.set(labels, value);
}

const sumOf = (sum: Money | null): number | null => (sum === null ? null : approximately(sum));

/** Lets the first values through and names the rest "other": a label must never grow without end. */
function bounded(): (value: string) => string {
  const seen = new Set<string>();
  return value => {
    if (seen.has(value)) return value;
    if (seen.size >= LABEL_VALUES_MAX) return 'other';
    seen.add(value);
    return value;
  };
}
