/** Text of `puntas tune`: sentences, and the best trials in a table at most 80 columns wide. */
import { hedgeTapeText, tuningWords, type Tuning } from '../../index.ts';
import { wrapped } from '../../../src/messages/wrapped.ts';

const WIDTH = 80;
const TRIALS_SHOWN = 10;

/** Describes a study, without a line break at the end. */
export function describeTuning(tuning: Tuning): string {
  const [verdict = '', ...rest] = tuningWords(tuning);
  const { hedge } = tuning;
  const hedging = hedge === undefined ? [] : [`Hedges executed on ${hedgeTapeText(hedge)}.`];
  const refusals = refusedFor(tuning);
  return [
    ...wrapped(verdict, WIDTH),
    ...(tuning.ranking.length === 0 ? [] : ['', ...tableOf(tuning), '']),
    ...[...rest, ...hedging].flatMap(paragraph => wrapped(paragraph, WIDTH)),
    ...refusals.flatMap(line => wrapped(line, WIDTH)),
  ].join('\n');
}

/** Returns the reasons why trials were refused, most frequent first. */
function refusedFor({ trials }: Tuning): readonly string[] {
  const reasons = new Map<string, number>();
  for (const { state, why } of trials)
    if (state === 'refused' && why !== null) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  return [...reasons]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 3)
    .map(([why, count]) => `Refused ${count}: ${why}.`);
}

/** Returns the table of the best trials: number, objectives, and as many parameters as fit. */
function tableOf({ trials, ranking, front, objectives, parameters }: Tuning): readonly string[] {
  const shown = objectives.length > 1 ? front : ranking;
  const rows = shown.slice(0, TRIALS_SHOWN).flatMap(number => trials.filter(trial => trial.number === number));
  const names = ['net60s', 'fills'].filter(name => !objectives.includes(name));
  const columns = [
    { head: 'trial', cells: rows.map(({ number }) => String(number)) },
    ...[...objectives, ...names].map(name => ({
      head: name,
      cells: rows.map(({ measures }) => fourDigits(measures?.[name] ?? Number.NaN)),
    })),
    ...parameters.map(key => ({
      head: key.split('.').at(-1) ?? key,
      cells: rows.map(({ point }) => (point[key] === undefined ? '–' : fourDigits(point[key]))),
    })),
  ];
  const widths = columns.map(({ head, cells }) => 2 + Math.max(head.length, ...cells.map(cell => cell.length)));
  let room = WIDTH;
  const fitting = columns.filter((_, i) => (room -= widths[i]!) >= 0);
  const line = (text: (column: (typeof columns)[number]) => string): string =>
    fitting.map((column, i) => text(column).padStart(widths[i]!)).join('');
  return [line(({ head }) => head), ...rows.map((_, i) => line(({ cells }) => cells[i] ?? ''))];
}

const fourDigits = (value: number | string | boolean): string =>
  typeof value === 'number' ? String(Number(value.toPrecision(4))) : String(value);
