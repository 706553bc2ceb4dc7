/** What Prometheus is told of markouts: by side and level at each horizon, and how far quotes moved out for them. */
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { MarkoutCurve, Side, Snapshot } from '../core/index.ts';

const SIDES: readonly Side[] = ['buy', 'sell'];

/** The gauges of one book; call what is returned at each scrape. */
export function markoutGauges(registers: Registry[], book: string): (now: Snapshot['markouts']) => void {
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name, help, labelNames, registers });
  const labels = ['book', 'side', 'level', 'seconds'] as const;
  const markout = gauge(
    'puntas_markout_bps',
    'Mean gain of our fills against the middle so many seconds later, in bps of the price, before fees, weighted by value, older fills less; by side and level (all: the whole side). 0 seconds: against the middle just before the fill. Absent without fills and without the section markouts.',
    labels,
  );
  const error = gauge(
    'puntas_markout_error_bps',
    'Standard error of it, from clusters of a minute or the horizon.',
    labels,
  );
  const widen = gauge(
    'puntas_adverse_widening_bps',
    'How far the quotes of a side are moved out because its fills are followed by moves against them, in bps; absent without the section markouts.',
    ['book', 'side'],
  );
  const show = ({ side, level, seconds, bps, errorBps }: MarkoutCurve) => {
    if (side === null) return;
    seconds.forEach((after, i) => {
      const at = { book, side, level: level === null ? 'all' : String(level), seconds: String(after) };
      const [mean, missed] = [bps[i], errorBps[i]];
      if (typeof mean === 'number') markout.set(at, mean);
      if (typeof missed === 'number') error.set(at, missed);
    });
  };
  return now => {
    now?.curves.forEach(show);
    for (const side of SIDES) if (now) widen.set({ book, side }, now.widenBps[side]);
  };
}
