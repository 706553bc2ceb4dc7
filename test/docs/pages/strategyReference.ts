/** Writes what the registry says of strategies into pages that are written by hand otherwise, between two marks. */
import { strategies, type StrategyName } from '../../../strategies/index.ts';
import type { TuningRange } from '../../../strategies/tuning.ts';

const FROM = '<!-- Generated from what each strategy says of itself, up to the next mark. -->';
const TO = '<!-- By hand again. -->';

/** The page with another text between the marks. Throws where they are not there. */
export function withGenerated(page: string, text: string, start = FROM): string {
  const [from, to] = [page.indexOf(start), page.indexOf(TO)];
  if (!(from >= 0 && to > from)) throw new Error(`expected ${start} and ${TO}`);
  return `${page.slice(0, from)}${start}\n\n${text.trim()}\n\n${page.slice(to)}`;
}

/** The table of all of them, as Markdown, before formatting. */
export const strategyTable = (): string =>
  table(
    ['name', 'what it does', 'needs to know'],
    Object.values(strategies).map(({ name, summary, needs }) => [
      `[\`${name}\`](../strategies/${name}/README.md)`,
      summary,
      needs,
    ]),
  );

/** The end of a strategy's README, before formatting. */
export function strategyReference(name: StrategyName): string {
  const { steps, tuning } = strategies[name];
  return [
    '## Steps of its prices',
    'The words that an explanation of a price uses. With a section `fairValue` its parts come first.',
    table(
      ['step', 'what it is'],
      Object.entries(steps).map(([step, meaning]) => [step.replace('*', '…'), meaning]),
    ),
    '## What tuning may vary',
    'The rest is yours to say: amounts, risk, bounds.',
    table(
      ['key', 'from', 'scale'],
      Object.entries<TuningRange>(tuning).map(([key, range]) => [`\`${key}\``, ...rangeText(range)]),
    ),
  ].join('\n\n');
}

const rangeText = (range: TuningRange): readonly [string, string] =>
  range.scale === 'choice'
    ? [range.values.map(value => `\`${value}\``).join(', '), 'choice']
    : [`${range.from} to ${range.to}`, range.scale];

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n');
