/** Types of a metric entry: name, kind, help text, labels and the source of its values. */
import type { Millis, Money, Side } from '../core/index.ts';
import type { Monitored, OrderEvent, RequestOutcome } from './monitored.ts';

/**
 * Labels of one series, except `book`, which every series gets automatically. A label with the value `null` is omitted.
 */
export type Labels<L extends string> = Readonly<Record<Exclude<L, 'book'>, string | null>>;
/** Labels of a series and its value. */
export type MetricSample<L extends string, V = number> = readonly [Labels<L>, V];

/** Events that counters and histograms count, each with its data. */
export type Events = {
  order: [side: Side, event: OrderEvent];
  /** One execution of the bot's orders, with its volume in both currencies. */
  fill: [side: Side, volume: readonly { readonly currency: string; readonly sum: Money }[]];
  /**
   * One request to the exchange, with its duration. `endpoint` is a method and a path without ids, such as "POST
   * orders".
   */
  request: [endpoint: string, outcome: RequestOutcome, ms: Millis];
  /** End of one hedge. */
  hedge: [way: string, state: string];
  /** One decision, with the time from its event to the approved commands. */
  loop: [ms: Millis];
};

type Named<L extends string> = {
  /** Help text: meaning, unit, and when the metric is absent. */
  readonly help: string;
  /** Labels in display order. */
  readonly labels: readonly L[];
  /** Labels whose values are not a fixed set; the number of their values is limited. */
  readonly bounded?: readonly NoInfer<L>[];
};
/** Reads the samples of a metric from a snapshot. A metric with only one series may return a number instead. */
type Read<L extends string, V> = {
  readonly read: (now: Monitored, version: string) => V | readonly MetricSample<L, V>[];
};
/** Returns the samples that one event adds to a metric. */
type EventHandler<L extends string> = {
  readonly onEvent: { readonly [E in keyof Events]?: (...told: Events[E]) => readonly MetricSample<L>[] };
};

type Gauge<L extends string> = Named<L> &
  // A sample with the value `null` is no series.
  Read<NoInfer<L>, number | null> & {
    /** Whether a series for which the snapshot has no sample any more is 0. If omitted, it is removed. */
    readonly isZeroWhenUnset?: true;
  };
type Total<L extends string> = Named<L> & Read<NoInfer<L>, number>;
type Counter<L extends string> = Named<L> &
  EventHandler<NoInfer<L>> & {
    /**
     * Returns the series that start at 0, because a series without a first value has no rate. The argument is `null` at
     * the start, and the current snapshot at each later refresh.
     */
    readonly zeros: (now: Monitored | null) => readonly Labels<NoInfer<L>>[];
  };
type Histogram<L extends string> = Named<L> &
  EventHandler<NoInfer<L>> & {
    /** Upper bounds of the histogram buckets, in the unit of the metric. */
    readonly buckets: readonly number[];
  };

/** Name of a metric and names of its alerts. The names have literal types, so that an unknown name does not compile. */
type Called<N extends string, A extends string> = {
  readonly name: N;
  /** Names of the rules in config/prometheus/alerts.yml that use the metric. */
  readonly alerts?: readonly A[];
};

export type MetricEntry<N extends string = string, A extends string = string> = Called<N, A> &
  (
    | ({ readonly type: 'gauge' } & Gauge<string>)
    | ({ readonly type: 'total' } & Total<string>)
    | ({ readonly type: 'counter' } & Counter<string>)
    | ({ readonly type: 'histogram' } & Histogram<string>)
  );

/** Creates a gauge that shows a snapshot value. */
export const gauge = <L extends string, const N extends string, const A extends string = never>(
  entry: Gauge<L> & Called<N, A>,
): MetricEntry<N, A> => ({ type: 'gauge', ...entry });
/** Creates a total, which shows a count from the snapshot. */
export const total = <L extends string, const N extends string, const A extends string = never>(
  entry: Total<L> & Called<N, A>,
): MetricEntry<N, A> => ({ type: 'total', ...entry });
/** Creates a counter, which counts events itself. */
export const counter = <L extends string, const N extends string, const A extends string = never>(
  entry: Counter<L> & Called<N, A>,
): MetricEntry<N, A> => ({ type: 'counter', ...entry });
/** Creates a histogram of durations from events. */
export const histogram = <L extends string, const N extends string, const A extends string = never>(
  entry: Histogram<L> & Called<N, A>,
): MetricEntry<N, A> => ({ type: 'histogram', ...entry });
