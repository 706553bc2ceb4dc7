/**
 * Prometheus registry of all entries. Values are read from a snapshot at each request, so that metrics of a stalled
 * loop do not seem current.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { MetricEntry, Events, Labels, MetricSample } from './entry.ts';
import { METRICS } from './metrics.ts';
import type { Monitored } from './monitored.ts';

export type Metrics = {
  readonly registry: Registry;
  /** Returns the metrics page in Prometheus' text format, with current gauges. */
  readonly text: () => Promise<string>;
  /** Returns the functions that count the events of another book. */
  readonly ofBook: (book: string) => BookEvents;
} & { readonly [E in keyof Events]: (...told: Events[E]) => void };

type BookEvents = { readonly [E in 'order' | 'fill']: (...told: Events[E]) => void };

/** Maximum number of values of a bounded label; further values are counted under "other". */
const LABEL_VALUES_MAX = 64;

/**
 * Creates the metrics of a bot, in their own registry. `others` returns the data of further books; metrics without the
 * label `book` are read from the first book only.
 */
export function metrics(
  book: string,
  version: string,
  read: () => Monitored,
  others: () => readonly Monitored[] = () => [],
): Metrics {
  const registry = new Registry();
  const all = METRICS.map(entry => shownIn(registry, entry, book, version));
  const reporter = <E extends keyof Events>(event: E, of = book) => {
    const hearers = all.flatMap(({ hear, count }) => {
      const rowsOf = hear?.[event];
      return rowsOf === undefined ? [] : [(...told: Events[E]) => rowsOf(...told).forEach(row => count(row, of))];
    });
    return (...told: Events[E]) => hearers.forEach(hearer => hearer(...told));
  };
  return {
    registry,
    text: () => {
      const now = [read(), ...others()] as const;
      for (const { refresh } of all) refresh(now);
      return registry.metrics();
    },
    ofBook: other => ({ order: reporter('order', other), fill: reporter('fill', other) }),
    order: reporter('order'),
    fill: reporter('fill'),
    request: reporter('request'),
    hedge: reporter('hedge'),
    loop: reporter('loop'),
  };
}

/**
 * Adds Node.js process metrics under their standard names: start time, memory, CPU time, open files and event-loop lag.
 */
export function showProcess({ registry }: Pick<Metrics, 'registry'>): void {
  collectDefaultMetrics({ register: registry });
  // Removes gauges whose names end in _total, which Prometheus reserves for counters. The gauges by type, without
  // _total, stay.
  for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${what}_total`);
}

type ScrapedState = {
  readonly refresh: (now: AllMonitored) => void;
  readonly hear: Extract<MetricEntry, { type: 'counter' }>['onEvent'] | null;
  readonly count: (row: MetricSample<string>, book: string) => void;
};
/** Data of all books, that of the first book first. */
type AllMonitored = readonly [Monitored, ...Monitored[]];
const nothing = () => undefined;

function shownIn(registry: Registry, entry: MetricEntry, book: string, version: string): ScrapedState {
  const { name, help, labels: labelNames } = entry;
  const config = { name, help, labelNames, registers: [registry] };
  const full = labelsOf(entry);
  switch (entry.type) {
    case 'gauge':
      return { refresh: refreshed(new Gauge(config), entry, full, version), hear: null, count: nothing };
    case 'total': {
      const metric = new Counter(config);
      const refresh = (now: AllMonitored) => {
        metric.reset();
        for (const one of readBy(entry, now))
          for (const [labels, value] of rowsOf(entry.read(one, version))) metric.inc(full(labels, one.book), value);
      };
      return { refresh, hear: null, count: nothing };
    }
    case 'counter': {
      const metric = new Counter(config);
      const begin = (now: Monitored | null, of: string) => {
        for (const labels of entry.zeros(now)) metric.inc(full(labels, of), 0);
      };
      begin(null, book);
      return {
        refresh: now => {
          for (const one of readBy(entry, now)) begin(one, one.book);
        },
        hear: entry.onEvent,
        count: ([labels, value], of) => metric.inc(full(labels, of), value),
      };
    }
    case 'histogram': {
      const metric = new Histogram({ ...config, buckets: [...entry.buckets] });
      const count = ([labels, value]: MetricSample<string>, of: string) => metric.observe(full(labels, of), value);
      return { refresh: nothing, hear: entry.onEvent, count };
    }
  }
}

type Full = Record<string, string>;
type FullLabels = (labels: Labels<string>, book: string) => Full;

/** Returns the data that a metric shows: of all books if it has the label `book`, otherwise of the first book. */
const readBy = ({ labels }: MetricEntry, now: AllMonitored): readonly Monitored[] =>
  labels.includes('book') ? now : [now[0]];

function refreshed(
  metric: Gauge,
  entry: Extract<MetricEntry, { type: 'gauge' }>,
  full: FullLabels,
  version: string,
): (now: AllMonitored) => void {
  const { read, isZeroWhenUnset } = entry;
  const seen = new Map<string, Full>();
  return now => {
    metric.reset();
    for (const labels of seen.values()) metric.set(labels, 0);
    for (const one of readBy(entry, now))
      for (const [given, value] of rowsOf(read(one, version))) {
        if (value === null) continue;
        const labels = full(given, one.book);
        if (isZeroWhenUnset === true) seen.set(JSON.stringify(labels), labels);
        metric.set(labels, value);
      }
  };
}

const rowsOf = <V extends number | null>(
  told: V | readonly MetricSample<string, V>[],
): readonly MetricSample<string, V>[] => (typeof told === 'object' && told !== null ? told : [[{}, told]]);

/**
 * Returns a function that completes the labels of a series. The function orders the labels, adds the book, and limits
 * the values of bounded labels.
 */
function labelsOf({ labels, bounded = [] }: MetricEntry): FullLabels {
  const bounds = new Map(bounded.map(label => [label, boundedLabel()]));
  return (given, book) => {
    const full: Full = {};
    for (const label of labels) {
      const value = label === 'book' ? book : given[label];
      if (typeof value === 'string') full[label] = bounds.get(label)?.(value) ?? value;
    }
    return full;
  };
}

/**
 * Returns a filter for the values of one label. The filter keeps the first `LABEL_VALUES_MAX` values and replaces all
 * others with "other".
 */
function boundedLabel(): (value: string) => string {
  const seen = new Set<string>();
  return value => {
    if (seen.has(value)) return value;
    if (seen.size >= LABEL_VALUES_MAX) return 'other';
    seen.add(value);
    return value;
  };
}
