/** Metrics of a shadow in Prometheus' text format. */
import { GAP_PARTS, CAUSES_IN_ORDER } from './causes.ts';
import type { ShadowReport } from './report.ts';
import type { ShadowMemory } from './memory.ts';

/** State of the shadow's process that its metrics show. */
type ShadowProcess = {
  /** Age of the last processed input, in s; `null` before the first input. */
  readonly behindSeconds: number | null;
};

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number | null];
type ShadowMetric = {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  /** Labels other than `book`. */
  readonly labels: readonly string[];
  readonly read: (report: ShadowReport, counts: ShadowMemory['alarmCounts'], of: ShadowProcess) => readonly Sample[];
};

export const SHADOW_METRICS: readonly ShadowMetric[] = [
  {
    name: 'puntas_shadow_alarm',
    type: 'gauge',
    help: '1 while the shadow raises an alarm of this cause.',
    labels: ['cause'],
    read: ({ raised }) => CAUSES_IN_ORDER.map(cause => [{ cause }, Number(raised.includes(cause))]),
  },
  {
    name: 'puntas_shadow_alarms_total',
    type: 'counter',
    help: 'Number of raised alarms by cause, across restarts.',
    labels: ['cause'],
    read: (_, counts) => CAUSES_IN_ORDER.map(cause => [{ cause }, counts[cause] ?? 0]),
  },
  {
    name: 'puntas_shadow_gap',
    type: 'gauge',
    help: 'Actual minus expected value of fills by part, in the quote currency, over restarts.',
    labels: ['part', 'currency'],
    read: ({ total, currency }) => GAP_PARTS.map(part => [{ part, currency }, Number(total.parts[part])]),
  },
  {
    name: 'puntas_shadow_gap_per_hour',
    type: 'gauge',
    help: 'Gap per observed hour by part, in the quote currency; absent before any time was observed.',
    labels: ['part', 'currency'],
    read: ({ perHour, currency }) =>
      GAP_PARTS.map(part => [{ part, currency }, perHour === null ? null : Number(perHour.parts[part])]),
  },
  {
    name: 'puntas_shadow_fill_ratio',
    type: 'gauge',
    help: 'Filled amount as a share of the amount that the fill model expected; absent if none was expected.',
    labels: [],
    read: ({ fillRatio }) => [[{}, fillRatio]],
  },
  {
    name: 'puntas_shadow_detector_height',
    type: 'gauge',
    help: 'Cumulative sum of each detector, as a share of the height of an alarm.',
    labels: ['detector'],
    read: ({ detectors }) => detectors.map(({ name: detector, height }) => [{ detector }, height]),
  },
  {
    name: 'puntas_shadow_behind_seconds',
    type: 'gauge',
    help: 'Time since the last input that the shadow processed; absent before the first input.',
    labels: [],
    read: (_, __, { behindSeconds }) => [[{}, behindSeconds]],
  },
];

/** Returns the metrics page. */
export function shadowMetrics(report: ShadowReport, counts: ShadowMemory['alarmCounts'], of: ShadowProcess): string {
  return SHADOW_METRICS.map(({ name, type, help, read }) => {
    const samples = read(report, counts, of).flatMap(([labels, value]) =>
      value === null || !Number.isFinite(value)
        ? []
        : [`${name}{${labelText({ book: report.book, ...labels })}} ${value}`],
    );
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples, ''].join('\n');
  }).join('\n');
}

const labelText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(
      ([name, value]) => `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
    )
    .join(',');
