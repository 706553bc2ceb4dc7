/**
 * Limit metrics: each limit that can stop quoting and its use, the age of the sentinel's heartbeat, and the free disk
 * space.
 */
import { approximately } from '../core/index.ts';
import type { LimitUse } from '../core/index.ts';
import { gauge } from './entry.ts';
import type { Monitored } from './monitored.ts';

const labels = ['book', 'limit', 'currency'] as const;

export const LIMITS = [
  gauge({
    name: 'puntas_limit',
    help: 'What may not be exceeded, named by its key in the configuration; sums with their currency.',
    labels,
    read: now => limitSamples(now, ({ max }) => max),
  }),
  gauge({
    name: 'puntas_limit_used',
    alerts: ['PuntasDrawdownNear', 'PuntasDayLossNear'],
    help: 'How much of each limit is used now: positionMax (distance of inventory from its target), orderValueMax (largest live order), ordersMax, collarBps (farthest live order), drawdownMax (fall of the profit from its highest), dayLossMax (loss since the start of the UTC day), and what happened in the last minute or ten. The distance to a limit is puntas_limit - puntas_limit_used.',
    labels,
    read: now => limitSamples(now, ({ used }) => used),
  }),
  gauge({
    name: 'puntas_sentinel_age_seconds',
    alerts: ['PuntasSentinelGone'],
    help: 'Time since the sentinel last showed life; +Inf when one is required and none ever did; absent when there is none to expect.',
    labels: ['book'],
    read: ({ limits: { sentinelAgeMs } }) => (sentinelAgeMs === null ? null : sentinelAgeMs / 1000),
  }),
  gauge({
    name: 'puntas_state_free_bytes',
    alerts: ['PuntasDiskLow'],
    help: 'Bytes that may still be written where the state directory is.',
    labels: ['book'],
    read: ({ limits }) => limits.diskFreeBytes,
  }),
];

const limitSamples = ({ limits: { uses } }: Monitored, valueOf: (use: LimitUse) => LimitUse['max']) =>
  uses.map(use => [{ limit: use.limit, currency: use.currency }, asNumber(valueOf(use))] as const);

const asNumber = (value: LimitUse['max']): number => (typeof value === 'bigint' ? approximately(value) : value);
