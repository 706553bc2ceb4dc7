/** Sentences and tables of a shadow's report, for the terminal and the page. */
import { counted } from '../../src/core/index.ts';
import { durationText, gainText } from '../../src/pages/index.ts';
import { GAP_PARTS, type DivergenceCause, type GapPart } from './causes.ts';
import type { DetectorRow, ShadowReport } from './report.ts';

/** Meaning of each part of the gap. */
const PART_TEXTS: Readonly<Record<GapPart, string>> = {
  latency: 'requests took longer or shorter than usual',
  fill: 'fills differ from the fill model',
  book: 'fills that no recorded trade explains',
  fee: 'charged fees differ from the rates of the account',
  hedge: 'hedges cost more or less than expected',
  unexplained: 'the rest',
};

/** Meaning of an alarm of each cause. */
const CAUSE_TEXTS: Readonly<Record<DivergenceCause, string>> = {
  decision: 'the engine decides differently from the recorded run',
  clock: "the bot's clock differs from the exchange's clock",
  latency: 'requests take longer or shorter than they did at first',
  fee: 'fees differ from the rates in the rules of the book',
  book: 'the recorded book and trades do not match',
  hedge: 'hedges cost more or less than expected',
  fill: 'fills differ from the fill model',
  unexplained: 'fills have other prices than their orders',
};

/** Returns the verdict and the notes, each one sentence or two. */
export function shadowWords(report: ShadowReport): readonly string[] {
  const { book, observedMs, orders, fills, raised, total, currency, perHour, unmeasured, earlier, fillRatio } = report;
  const gain = (sum: string) => `${gainText(sum, currency)} ${currency}`;
  const [first, ...others] = raised;
  return [
    first === undefined
      ? `No divergence on ${book}: no detector raises an alarm.`
      : `Divergence on ${book}: ${first} (${CAUSE_TEXTS[first]})${others.length === 0 ? '' : `; also ${others.join(', ')}, perhaps as a consequence`}.`,
    `${durationText(observedMs / 1_000)} observed, ${counted(orders, 'order')}, ${counted(fills, 'fill')}. The fills are worth ${gain(total.actual)}; the models expected ${gain(total.expected)}. The gap is ${gain(total.gap)}${perHour === null ? '' : `, ${gain(perHour.gap)} per hour`}.`,
    ...(fillRatio === null
      ? []
      : [`The bot was filled for ${(100 * fillRatio).toFixed(0)}% of the amount that the fill model expected.`]),
    report.decision === null
      ? 'Every decision was repeated exactly.'
      : `The first decision that differs: run ${report.decision.run}, ${new Date(report.decision.at).toISOString()}, ${report.decision.text}.`,
    ...(unmeasured > 0
      ? [
          `${counted(unmeasured, 'order')} cannot be compared with a fill model, because the market was polled or the outcome of the placement was unknown.`,
        ]
      : []),
    ...(earlier > 0
      ? [`${counted(earlier, 'trade')} of orders of an earlier run or of another program are left out.`]
      : []),
  ];
}

/** Returns the rows of the table of parts: name, sum, sum per hour, meaning. */
export const partRows = ({
  total,
  perHour,
  currency,
}: ShadowReport): readonly (readonly [string, string, string, string])[] =>
  GAP_PARTS.map(part => [
    part,
    gainText(total.parts[part], currency),
    perHour === null ? '–' : gainText(perHour.parts[part], currency),
    PART_TEXTS[part],
  ]);

/** Returns the state of a detector as text. */
export const detectorText = ({ isRaised, normal, learns, observations, height }: DetectorRow): string =>
  isRaised
    ? 'alarm'
    : normal === null
      ? `learning, ${observations} of ${learns}`
      : `${(100 * height).toFixed(0)}% of an alarm`;

/** Returns the report as lines of text. */
export function shadowLines(report: ShadowReport): readonly string[] {
  const pad = (rows: readonly (readonly string[])[]): readonly string[] => {
    const widths = rows[0]!.map((_, i) => Math.max(...rows.map(row => row[i]!.length)));
    return rows.map(row =>
      `  ${row.map((cell, i) => (i === 1 || i === 2 ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!))).join('  ')}`.trimEnd(),
    );
  };
  return [
    ...shadowWords(report),
    '',
    ...pad([['part of the gap', report.currency, 'per hour', ''], ...partRows(report)]),
    '',
    ...pad([
      ['detector', 'observations', 'cause', 'state'],
      ...report.detectors.map(row => [row.name, String(row.observations), row.cause, detectorText(row)]),
    ]),
    ...(report.alarms.length === 0 ? [] : ['', 'last alarms, oldest first:']),
    ...report.alarms.slice(-ALARMS_SHOWN).map(alarm => `  ${new Date(alarm.at).toISOString()} ${alarmText(alarm)}`),
  ];
}

const ALARMS_SHOWN = 10;

/** Returns an alarm as one line. */
export const alarmText = ({ cause, text, after }: ShadowReport['alarms'][number]): string =>
  `${cause}: ${text}${after.length === 0 ? '' : `; perhaps because of: ${after.join(', ')}`}`;
