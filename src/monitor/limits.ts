/**
 * Limit metrics: each limit that can stop quoting and its use, the age of the sentinel's heartbeat, and the free disk
 * space.
 */
import { approximately, type LimitUse } from '../core/index.ts';
import { gauge } from './entry.ts';
import type { Monitored } from './monitored.ts';

const labels = ['book', 'limit', 'currency'] as const;

export const LIMITS = [
  gauge({
    name: 'puntas_limit',
    help: 'Value of each configured limit, in its unit; the label limit is the configuration key.',
    labels,
    read: now => limitSamples(now, ({ max }) => max),
  }),
  gauge({
    name: 'puntas_limit_used',
    alerts: ['PuntasDrawdownNear', 'PuntasDayLossNear'],
    help: 'Current use of each limit, in the unit of the limit.',
    labels,
    read: now => limitSamples(now, ({ used }) => used),
  }),
  gauge({
    name: 'puntas_sentinel_age_seconds',
    alerts: ['PuntasSentinelGone'],
    help: "Time since the sentinel's last heartbeat; +Inf before the first; absent if no sentinel is expected.",
    labels: ['book'],
    read: ({ limits: { sentinelAgeMs } }) => (sentinelAgeMs === null ? null : sentinelAgeMs / 1000),
  }),
  gauge({
    name: 'puntas_state_free_bytes',
    alerts: ['PuntasDiskLow'],
    help: 'Free space on the disk of the state directory.',
    labels: ['book'],
    read: ({ limits }) => limits.diskFreeBytes,
  }),
];

const limitSamples = ({ limits: { uses } }: Monitored, valueOf: (use: LimitUse) => LimitUse['max']) =>
  uses.map(use => [{ limit: use.limit, currency: use.currency }, asNumber(valueOf(use))] as const);

const asNumber = (value: LimitUse['max']): number => (typeof value === 'bigint' ? approximately(value) : value);
