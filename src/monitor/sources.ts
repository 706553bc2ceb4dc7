/** Metrics of the sources of the reference price: state, age, lag and basis. */
import type { SourceRefusal, SourceStatus } from '../core/index.ts';
import { gauge } from './entry.ts';
import type { Monitored } from './monitored.ts';

const labels = ['book', 'source'] as const;

const STATES: Readonly<Record<'used' | SourceRefusal, true>> = {
  ...{ used: true, 'no data': true, lost: true, stale: true, 'one-sided': true, crossed: true },
  ...{ frozen: true, 'no basis': true, divergent: true },
};

export const SOURCES = [
  gauge({
    name: 'puntas_source_state',
    alerts: ['PuntasSourceLost', 'PuntasSourceDivergent'],
    help: '1 for the current state of the source (used, or the reason why the source is not used), 0 for the other states. Absent without reference.sources.',
    labels: ['book', 'source', 'state'],
    read: ({ sources }) =>
      sources.flatMap(({ name, refusal }) =>
        Object.keys(STATES).map(state => [{ source: name, state }, Number(state === (refusal ?? 'used'))] as const),
      ),
  }),
  gauge({
    name: 'puntas_source_age_seconds',
    help: "Age of the oldest price of the source's books; absent before the first price.",
    labels,
    read: now => sourceSamples(now, ({ ageMs }) => ageMs && ageMs / 1_000),
  }),
  gauge({
    name: 'puntas_source_lag_seconds',
    help: "Largest delay of the source's books from exchange timestamp to receipt, including the clock difference; absent if unknown.",
    labels,
    read: now => sourceSamples(now, ({ lagMs }) => lagMs && lagMs / 1_000),
  }),
  gauge({
    name: 'puntas_source_basis_bps',
    help: "Estimated basis of the bot's book relative to the source; absent without reference.basis.",
    labels,
    read: now => sourceSamples(now, ({ basisBps }) => basisBps),
  }),
  gauge({
    name: 'puntas_source_basis_error_bps',
    help: 'Standard error of the estimate puntas_source_basis_bps.',
    labels,
    read: now => sourceSamples(now, ({ basisErrorBps }) => basisErrorBps),
  }),
];

/** Returns one sample per source of the reference price; `null` removes the series of an unknown value. */
const sourceSamples = ({ sources }: Monitored, valueOf: (source: SourceStatus) => number | null) =>
  sources.map(source => [{ source: source.name }, valueOf(source)] as const);
