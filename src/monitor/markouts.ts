/** Markout metrics by side and level at each horizon, and the widening of quotes that results. */
import type { MarkoutCurve } from '../core/index.ts';
import { gauge } from './entry.ts';
import { SIDES, type Monitored } from './monitored.ts';

const labels = ['book', 'side', 'level', 'seconds'] as const;

export const MARKOUTS = [
  gauge({
    name: 'puntas_markout_bps',
    help: 'Value-weighted mean markout before fees, by seconds after the fill (0: just before the fill). Absent without fills or the section markouts.',
    labels,
    read: now => markoutSamples(now, ({ bps }) => bps),
  }),
  gauge({
    name: 'puntas_markout_error_bps',
    help: 'Standard error of puntas_markout_bps.',
    labels,
    read: now => markoutSamples(now, ({ errorBps }) => errorBps),
  }),
  gauge({
    name: 'puntas_adverse_widening_bps',
    help: "Widening of the side's quotes against adverse selection; absent without the section markouts.",
    labels: ['book', 'side'],
    read: ({ markouts }) => (markouts ? SIDES.map(side => [{ side }, markouts.widenBps[side]]) : []),
  }),
];

/** Returns one sample for each known value of a markout curve, with side, level and horizon as labels. */
const markoutSamples = ({ markouts }: Monitored, valuesOf: (curve: MarkoutCurve) => MarkoutCurve['bps']) =>
  (markouts?.curves ?? []).flatMap(curve => {
    const { side, level, seconds } = curve;
    if (side === null) return [];
    return seconds.flatMap((after, i) => {
      const value = valuesOf(curve)[i];
      const at = { side, level: level === null ? 'all' : String(level), seconds: String(after) };
      return typeof value === 'number' ? [[at, value] as const] : [];
    });
  });
