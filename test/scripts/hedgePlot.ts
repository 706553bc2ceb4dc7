/** Draws inventory and profit of one strategy with and without its hedger, as SVG. */
import type { BacktestReport, ReplayReport } from '../../backtest/index.ts';
import { pathOf } from './svgPath.ts';

const WIDTH = 720;
const PANEL = 170;
const LEFT = 70;
const RIGHT = 16;
const TOP = 40;
const GAP = 34;
const COLOURS = ['#b3403a', '#1a7f5a'] as const;
const NAMES = ['without', 'with the hedger'] as const;

/** Of the model `expected`. */
export function hedgePlot(pair: readonly [BacktestReport, BacktestReport]): string {
  const runs = pair.map(({ models }) => models.find(({ model }) => model === 'expected') ?? models[0]);
  const [first, second] = runs;
  if (!first || !second) throw new Error('there is nothing to draw');
  const { tape, major, minor } = pair[0];
  const panels = [
    { name: `held beyond the target, ${major}`, column: 'position' as const },
    { name: `profit, ${minor}`, column: 'profit' as const },
  ].flatMap(({ name, column }, i) => panel([first, second], name, column, TOP + i * (PANEL + GAP)));
  const height = TOP + 2 * PANEL + GAP + 30;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="#333">`,
    `<title>${tape.source}: with and without the hedger</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="${LEFT}" y="18">${tape.source}, fills as expected</text>`,
    `<text x="${WIDTH - RIGHT}" y="18" text-anchor="end">${NAMES.map((name, i) => `<tspan fill="${COLOURS[i]}" dx="8">${name}</tspan>`).join('')}</text>`,
    ...panels,
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${height - 6}" text-anchor="middle">hours</text>`,
    '</svg>',
    '',
  ].join('\n');
}

function panel(
  runs: readonly [ReplayReport, ReplayReport],
  name: string,
  column: 'position' | 'profit',
  top: number,
): readonly string[] {
  const values = runs.map(({ series }) => series.columns[column]);
  const all = values.flatMap(list => list.filter(value => value !== null));
  const [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
  const span = high - low || 1;
  const { everyMs } = runs[0].series;
  const count = Math.max(...values.map(list => list.length));
  const x = (i: number): number => LEFT + (i / Math.max(1, count - 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number): number => top + ((high - value) / span) * PANEL;
  const rule = (value: number): string =>
    `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}" stroke="#ccc"/>` +
    `<text x="${LEFT - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${Number(value.toPrecision(2))}</text>`;
  const hours = (count * everyMs) / 3_600_000;
  const marks = Array.from({ length: Math.floor(hours) + 1 }, (_, hour) => hour).filter(
    hour => hours <= 8 || hour % 4 === 0,
  );
  return [
    `<text x="${LEFT}" y="${top - 6}">${name}</text>`,
    ...[...new Set([low, 0, high])].map(rule),
    ...marks.map(
      hour =>
        `<text x="${x((hour / hours) * (count - 1)).toFixed(1)}" y="${top + PANEL + 14}" text-anchor="middle">${hour}</text>`,
    ),
    ...values.map(
      (list, i) =>
        `<path fill="none" stroke="${COLOURS[i]}" stroke-width="1.5" d="${pathOf(list.map((value, at) => (value === null ? null : `${x(at).toFixed(1)} ${y(value).toFixed(1)}`)))}"/>`,
    ),
  ];
}
