/** A metric as one entry: its name, kind, help and labels, and where its numbers come from. */
import type { Millis, Money, Side } from '../core/index.ts';
import type { Monitored, OrderEvent, RequestOutcome } from './monitored.ts';

/** Of one series, except `book`, which is filled in. One that is null is left out. */
export type Labels<L extends string> = Readonly<Record<Exclude<L, 'book'>, string | null>>;
/** A series and its number. */
export type MetricSample<L extends string, V = number> = readonly [Labels<L>, V];

/** What is told as it happens. */
export type Events = {
  order: [side: Side, event: OrderEvent];
  /** One execution of ours: so much of both currencies changed hands. */
  fill: [side: Side, volume: readonly { readonly currency: string; readonly sum: Money }[]];
  /** `endpoint` is a method and a path without ids, like "POST orders". */
  request: [endpoint: string, outcome: RequestOutcome, ms: Millis];
  /** One decision, from the event to its approved commands. */
  loop: [ms: Millis];
};

type Named<L extends string> = {
  /** What it is, in which unit, and when it is absent. */
  readonly help: string;
  /** As they are shown, in this order. */
  readonly labels: readonly L[];
  /** Of them those that anything may stand in: they take a bounded number of values. */
  readonly bounded?: readonly NoInfer<L>[];
};
/** The rows of a snapshot; a number alone is for a metric of one series. */
type Read<L extends string, V> = {
  readonly read: (now: Monitored, version: string) => V | readonly MetricSample<L, V>[];
};
/** The rows of an event. */
type Hear<L extends string> = {
  readonly hear: { readonly [E in keyof Events]?: (...told: Events[E]) => readonly MetricSample<L>[] };
};

type Gauge<L extends string> = Named<L> &
  // A row of null takes its series back.
  Read<NoInfer<L>, number | null> & {
    /** What becomes of a series that a snapshot has no row for; without it the series stays as it was. */
    readonly untold?: 'gone' | 'zero';
  };
type Total<L extends string> = Named<L> & Read<NoInfer<L>, number>;
type Counter<L extends string> = Named<L> &
  Hear<NoInfer<L>> & {
    /** Series that stand at 0 before their first event, which have no rate otherwise: known at the start (null), and with a snapshot. */
    readonly zeros: (now: Monitored | null) => readonly Labels<NoInfer<L>>[];
  };
type Histogram<L extends string> = Named<L> &
  Hear<NoInfer<L>> & {
    /** Upper ends, in the unit of the metric. */
    readonly buckets: readonly number[];
  };

/** What the names of a metric and of its alerts are, to the compiler. */
type Called<N extends string, A extends string> = {
  readonly name: N;
  /** Rules of config/prometheus/alerts.yml that are about it. */
  readonly alerts?: readonly A[];
};

export type MetricEntry<N extends string = string, A extends string = string> = Called<N, A> &
  (
    | ({ readonly type: 'gauge' } & Gauge<string>)
    | ({ readonly type: 'total' } & Total<string>)
    | ({ readonly type: 'counter' } & Counter<string>)
    | ({ readonly type: 'histogram' } & Histogram<string>)
  );

/** A number of the snapshot. */
export const gauge = <L extends string, const N extends string, const A extends string = never>(
  entry: Gauge<L> & Called<N, A>,
): MetricEntry<N, A> => ({ type: 'gauge', ...entry });
/** A count of the snapshot, which whoever makes the snapshot keeps. */
export const total = <L extends string, const N extends string, const A extends string = never>(
  entry: Total<L> & Called<N, A>,
): MetricEntry<N, A> => ({ type: 'total', ...entry });
/** A count that is kept here, event by event. */
export const counter = <L extends string, const N extends string, const A extends string = never>(
  entry: Counter<L> & Called<N, A>,
): MetricEntry<N, A> => ({ type: 'counter', ...entry });
/** How often something took how long, event by event. */
export const histogram = <L extends string, const N extends string, const A extends string = never>(
  entry: Histogram<L> & Called<N, A>,
): MetricEntry<N, A> => ({ type: 'histogram', ...entry });
