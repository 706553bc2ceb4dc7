/** All metrics of Puntas, one entry each, in the order of the page. Larger subjects have their own files. */
import { approximately, type DecisionCount, type Money, type Regime } from '../core/index.ts';
import { DISK } from './disk.ts';
import { counter, gauge, histogram, total } from './entry.ts';
import { HEDGES } from './elsewhere.ts';
import { FEES } from './fees.ts';
import { LIMITS } from './limits.ts';
import { REMOTE } from './remote.ts';
import { SOURCES } from './sources.ts';
import { MARKOUTS } from './markouts.ts';
import { SIDES, type Monitored, type OrderEvent, type PnlPart } from './monitored.ts';

const ORDER_EVENTS: readonly OrderEvent[] = ['placed', 'canceled', 'filled', 'refused', 'unknown'];
const PNL_PARTS: readonly PnlPart[] = ['spread', 'inventory', 'fees', 'hedging'];
const REGIMES: readonly Regime[] = ['normal', 'wide', 'reduce only', 'paused', 'halted'];
/** Decisions that occur in every bot; the series of these decisions start at 0. */
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
  ).map(([action, reason]) => ({ side, action, reason, count: 0 })),
);

const moneyNumber = (sum: Money | null): number | null => (sum === null ? null : approximately(sum));
const partsOf = (now: Monitored, parts: Monitored['pnl']) =>
  PNL_PARTS.map(part => [{ ...currencyOf(now), part }, moneyNumber(parts && parts[part])] as const);
const currencyOf = ({ minorCurrency: currency }: Monitored) => ({ currency });

const QUOTING = [
  gauge({
    name: 'puntas_build_info',
    help: 'Always 1; the label version is the version of Puntas.',
    labels: ['version'],
    read: (_, version) => [[{ version }, 1]],
  }),
  gauge({
    name: 'puntas_paper',
    help: '1 for a paper run, else 0.',
    labels: ['book'],
    read: now => Number(now.isPaper),
  }),
  gauge({
    name: 'puntas_quotes_live',
    alerts: ['PuntasOneSided'],
    help: 'Live orders of the bot.',
    labels: ['book', 'side'],
    read: now => SIDES.map(side => [{ side }, now.quotesLive[side]]),
  }),
  counter({
    name: 'puntas_orders_total',
    alerts: ['PuntasOrdersUnknown', 'PuntasOrdersRefused'],
    help: 'Orders by event: placed (accepted), canceled, filled (completely), refused, unknown (no known outcome when the request ended).',
    labels: ['book', 'side', 'event'],
    zeros: () => SIDES.flatMap(side => ORDER_EVENTS.map(event => ({ side, event }))),
    onEvent: { order: (side, event) => [[{ side, event }, 1]] },
  }),
  total({
    name: 'puntas_decisions_total',
    help: 'Decisions about quote levels (placed, kept, waits, canceled, not placed), with their reasons.',
    labels: ['book', 'side', 'decision', 'reason'],
    read: now =>
      [...USUAL, ...now.decisions].map(({ side, action, reason, count }) => [
        { side, decision: action, reason },
        count,
      ]),
  }),
  gauge({
    name: 'puntas_regime',
    alerts: ['PuntasHalted'],
    help: '1 for the current regime, else 0.',
    labels: ['book', 'regime'],
    read: now => REGIMES.map(regime => [{ regime }, regime === now.regime ? 1 : 0]),
  }),
  total({
    name: 'puntas_regime_changes_total',
    help: 'Number of changes into each regime.',
    labels: ['book', 'regime'],
    read: now => REGIMES.map(regime => [{ regime }, now.regimes[regime]]),
  }),
  counter({
    name: 'puntas_fills_total',
    alerts: ['PuntasNoFills'],
    help: "Executions of the bot's orders, including partial fills.",
    labels: ['book', 'side'],
    zeros: () => SIDES.map(side => ({ side })),
    onEvent: { fill: side => [[{ side }, 1]] },
  }),
  gauge({
    name: 'puntas_position',
    help: 'Holdings in each currency; absent if unknown.',
    labels: ['book', 'currency'],
    bounded: ['currency'],
    read: now => [...(now.position ?? [])].map(([currency, sum]) => [{ currency }, approximately(sum)]),
  }),
  counter({
    name: 'puntas_volume_total',
    help: 'Traded volume, in the base and in the quote currency.',
    labels: ['book', 'side', 'currency'],
    zeros: now =>
      now === null
        ? []
        : SIDES.flatMap(side => [now.majorCurrency, now.minorCurrency].map(currency => ({ side, currency }))),
    onEvent: { fill: (side, sums) => sums.map(({ currency, sum }) => [{ side, currency }, approximately(sum)]) },
  }),
  gauge({
    name: 'puntas_quote_price',
    help: "Price of the bot's best live order; absent if none.",
    labels: ['book', 'currency', 'side'],
    read: now => SIDES.map(side => [{ ...currencyOf(now), side }, moneyNumber(now.quotePrice[side])]),
  }),
  gauge({
    name: 'puntas_mid',
    help: "Mid price without the bot's orders; absent if the book is one-sided.",
    labels: ['book', 'currency'],
    read: now => [[currencyOf(now), moneyNumber(now.mid)]],
  }),
  gauge({
    name: 'puntas_pnl',
    help: 'Profit since the process started: spread (against the mid price), inventory (moves of the mid price), fees (negative), hedging; absent if unknown.',
    labels: ['book', 'currency', 'part'],
    read: now => partsOf(now, now.pnl),
  }),
  gauge({
    name: 'puntas_profit_since_opening',
    help: 'Profit since the ledger was opened, at the mid price, as in puntas status and puntas report.',
    labels: ['book', 'currency', 'part'],
    read: now => partsOf(now, now.profitSinceOpening),
  }),
  gauge({
    name: 'puntas_profit_run',
    help: 'Profit of the current run, included in puntas_profit_since_opening.',
    labels: ['book', 'currency', 'part'],
    read: now => partsOf(now, now.profitOfRun),
  }),
  gauge({
    name: 'puntas_spread_bps',
    help: "Spread of the bot's best quotes; absent unless both sides are live.",
    labels: ['book'],
    read: now => now.spreadBps,
  }),
  gauge({
    name: 'puntas_market_spread_bps',
    help: 'Spread of the market; absent if the book is one-sided.',
    labels: ['book'],
    read: now => now.marketSpreadBps,
  }),
  gauge({
    name: 'puntas_book_age_seconds',
    alerts: ['PuntasBookStale'],
    help: 'Age of the order book; +Inf before the first book.',
    labels: ['book'],
    read: now => (now.bookAgeMs === null ? Infinity : now.bookAgeMs / 1000),
  }),
  gauge({
    name: 'puntas_stream_up',
    help: '1 if the stream delivers market data, 0 if polled; absent without a stream.',
    labels: ['book'],
    read: now => (now.streamUp === null ? null : Number(now.streamUp)),
  }),
  gauge({
    name: 'puntas_queue_ahead',
    help: "Amount queued ahead of the bot's best order (base currency); absent if unknown.",
    labels: ['book', 'side'],
    read: now => SIDES.map(side => [{ side }, moneyNumber(now.queueAhead[side])]),
  }),
  histogram({
    name: 'puntas_request_seconds',
    alerts: ['PuntasRequestsSlow', 'PuntasRequestsFailing'],
    help: 'Duration of requests by outcome: done, refused (not executed), unknown.',
    labels: ['endpoint', 'outcome'],
    bounded: ['endpoint'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    onEvent: { request: (endpoint, outcome, ms) => [[{ endpoint, outcome }, ms / 1000]] },
  }),
  gauge({
    name: 'puntas_request_budget_remaining',
    alerts: ['PuntasBudgetSpent'],
    help: 'Requests left in the budget of the current 60 s.',
    labels: ['scope'],
    read: ({ budget }) => (['public', 'private'] as const).map(scope => [{ scope }, budget[scope]]),
  }),
  total({
    name: 'puntas_book_reads_total',
    help: 'Reads of the order book over REST; absent with one book.',
    labels: ['book'],
    read: ({ bookBudget: use }) => (use === null ? [] : [[{}, use.bookReads]]),
  }),
  total({
    name: 'puntas_book_read_waits_total',
    help: 'Times that another book was read first, because the public budget is shared; absent with one book.',
    labels: ['book'],
    read: ({ bookBudget: use }) => (use === null ? [] : [[{}, use.readWaits]]),
  }),
  total({
    name: 'puntas_placement_waits_total',
    help: 'Orders not placed because the book had used its share of the private budget; absent with one book.',
    labels: ['book'],
    read: ({ bookBudget: use }) => (use === null ? [] : [[{}, use.placementWaits]]),
  }),
  histogram({
    name: 'puntas_loop_seconds',
    alerts: ['PuntasLoopSlow'],
    help: 'Duration of a decision.',
    labels: [],
    buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
    onEvent: { loop: ms => [[{}, ms / 1000]] },
  }),
  gauge({
    name: 'puntas_event_loop_delay_seconds',
    help: 'Delay of the event loop in the last 30 to 60 s: median, p99 and maximum.',
    labels: ['book', 'stat'],
    read: ({ eventLoop }) => Object.entries(eventLoop).map(([stat, ms]) => [{ stat }, ms / 1000]),
  }),
  gauge({
    name: 'puntas_strategy_figure',
    help: 'Model values that puntas check shows; the label unit is their unit or source.',
    labels: ['book', 'name', 'unit'],
    bounded: ['name'],
    read: now => now.figures.map(({ name, value, unit }) => [{ name, unit }, value]),
  }),
  gauge({
    name: 'puntas_not_quoting',
    alerts: ['PuntasNotQuoting', 'PuntasLedgerDiffers'],
    help: '1 if the reason prevents a quote that the strategy wants, else 0.',
    labels: ['book', 'reason'],
    bounded: ['reason'],
    isZeroWhenUnset: true,
    read: now => now.notQuoting.map(reason => [{ reason }, 1]),
  }),
  gauge({
    name: 'puntas_stopped_cleanly',
    alerts: ['PuntasDown'],
    help: '1 after a stop on request with no open order (verified), else 0.',
    labels: ['book'],
    read: now => Number(now.isStoppedCleanly),
  }),
];

export const METRICS = [
  ...QUOTING,
  ...MARKOUTS,
  ...FEES,
  ...LIMITS,
  ...SOURCES,
  ...HEDGES,
  ...DISK,
  ...REMOTE,
] as const;

/** Names of all metrics as literal types. A dashboard panel or alert with an unknown metric name does not compile. */
export type MetricName = (typeof METRICS)[number]['name'];
export type AlertName = NonNullable<(typeof METRICS)[number]['alerts']>[number];

/** Names of the alerts in the shipped rules, in the order of their metrics. */
export const ALERT_NAMES: readonly AlertName[] = METRICS.flatMap(({ alerts = [] }) => alerts);
