/** What Prometheus is told of what can end quoting: each limit and how much of it is used, the sentinel's age, the room on the disk. */
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { approximately } from '../core/index.ts';
import type { LimitUse, Millis } from '../core/index.ts';

export type MonitoredLimits = {
  readonly uses: readonly LimitUse[];
  /** Since the sentinel last showed life; null when there is none to expect, Infinity when one is required and none ever did. */
  readonly sentinelAgeMs: Millis | null;
  /** Bytes that this user may still write where the state directory is; null while that cannot be told. */
  readonly diskFreeBytes: number | null;
};

/** The gauges of one book; call what is returned at each scrape. */
export function limitGauges(registers: Registry[], book: string): (now: MonitoredLimits) => void {
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name, help, labelNames, registers });
  const labels = ['book', 'limit', 'currency'] as const;
  const limit = gauge(
    'puntas_limit',
    'What may not be exceeded, named by its key in the configuration; sums with their currency.',
    labels,
  );
  const used = gauge(
    'puntas_limit_used',
    'How much of each limit is used now: positionMax (distance of inventory from its target), orderValueMax (largest live order), ordersMax, collarBps (farthest live order), drawdownMax (fall of the profit from its highest), dayLossMax (loss since the start of the UTC day), and what happened in the last minute or ten. The distance to a limit is puntas_limit - puntas_limit_used.',
    labels,
  );
  const sentinel = gauge(
    'puntas_sentinel_age_seconds',
    'Time since the sentinel last showed life; +Inf when one is required and none ever did; absent when there is none to expect.',
    ['book'],
  );
  const disk = gauge('puntas_state_free_bytes', 'Bytes that may still be written where the state directory is.', [
    'book',
  ]);
  return ({ uses, sentinelAgeMs, diskFreeBytes }) => {
    for (const use of uses) {
      const at = { book, limit: use.limit, ...(use.currency === null ? {} : { currency: use.currency }) };
      limit.set(at, shown(use.max));
      used.set(at, shown(use.used));
    }
    if (sentinelAgeMs === null) sentinel.reset();
    else sentinel.set({ book }, sentinelAgeMs / 1000);
    if (diskFreeBytes === null) disk.reset();
    else disk.set({ book }, diskFreeBytes);
  };
}

const shown = (value: LimitUse['max']): number => (typeof value === 'bigint' ? approximately(value) : value);
