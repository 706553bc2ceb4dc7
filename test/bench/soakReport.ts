/** What a soak found: each figure with its trend and what that says, as a table and as a plot. */
import { pathOf } from '../scripts/svgPath.ts';
import type { PageSample } from './browserPage.ts';
import type { ProbedSample } from './probed.ts';
import { trendOf, type Trend } from './trend.ts';

/** A moment of the soak. */
export type Row = {
  /** Since the first page was open. */
  readonly hours: number;
  readonly bot: ProbedSample;
  readonly console: ProbedSample;
  readonly exchange: ProbedSample;
  readonly page: PageSample | null;
  /** Views that came to all pages together, and pages whose stream ended. */
  readonly views: number;
  readonly lost: number;
  /** What the newest view says. */
  readonly run: number;
  readonly fills: number;
  readonly state: string;
};

export type Verdict = Trend & {
  readonly figure: string;
  readonly unit: string;
  /** So much growth in an hour is called flat. */
  readonly allowed: number;
  readonly is: 'flat' | 'grows' | 'not shown';
  /** Of the exchange, which fills what it keeps: shown, not judged. */
  readonly isBeside: boolean;
};

type Figure = {
  readonly name: string;
  readonly unit: string;
  readonly allowed: number;
  readonly of: (row: Row) => number | null;
  /** Goes with how long this process waits for a processor: judged at equal waits. */
  readonly waits?: 'bot' | 'console' | 'exchange';
};

const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((all, n) => all + n, 0);
const MB = 1e6;

const ofProcess = (name: 'bot' | 'console' | 'exchange'): readonly Figure[] => [
  { name: `${name}: heap`, unit: 'MB', allowed: 3, of: row => row[name].heap / MB },
  { name: `${name}: resident`, unit: 'MB', allowed: 10, of: row => row[name].rss / MB },
  { name: `${name}: open files and sockets`, unit: '', allowed: 1, of: row => row[name].fds, waits: name },
  { name: `${name}: handles`, unit: '', allowed: 2, of: row => sum(row[name].handles), waits: name },
  { name: `${name}: threads`, unit: '', allowed: 0.5, of: row => row[name].threads },
  { name: `${name}: event loop late, median`, unit: 'ms', allowed: 1, of: row => row[name].delay.median, waits: name },
  { name: `${name}: event loop late, p99`, unit: 'ms', allowed: 10, of: row => row[name].delay.p99, waits: name },
];

const FIGURES: readonly Figure[] = [
  ...ofProcess('bot'),
  ...ofProcess('console'),
  { name: 'page in the browser: heap', unit: 'MB', allowed: 1, of: row => (row.page ? row.page.heap / MB : null) },
  { name: 'page in the browser: nodes', unit: '', allowed: 200, of: row => row.page?.nodes ?? null },
  { name: 'page in the browser: listeners', unit: '', allowed: 5, of: row => row.page?.listeners ?? null },
];
const BESIDE = ofProcess('exchange');

/** A run's length in samples at twenty times speed, so that its sawtooth is no trend. */
const blockOf = (samples: number): number => Math.max(2, Math.min(12, Math.floor(samples / 4)));

/** The share of the time since the sample before in which its main thread waited for a processor. */
function waitOf(name: 'bot' | 'console' | 'exchange', row: Row, before: Row | undefined): number {
  if (before === undefined) return 0;
  return (row[name].queuedMs - before[name].queuedMs) / ((row.hours - before.hours) * 3_600_000);
}

/** Of each figure that was measured, from that hour on; none where there are too few samples. `flat`: the upper end of its interval is within what is allowed; `grows`: the lower end is beyond. */
export function verdictOf(all: readonly Row[], fromHours: number): readonly Verdict[] {
  const rows = all.map((row, i) => ({ row, before: all[i - 1] })).filter(({ row }) => row.hours >= fromHours);
  return [...FIGURES, ...BESIDE].flatMap(({ name, unit, allowed, of, waits }, i) => {
    const points = rows.flatMap(({ row, before }) => {
      const value = of(row);
      return value === null ? [] : [[row.hours, value, waits ? waitOf(waits, row, before) : 0] as const];
    });
    if (points.length < 4) return [];
    const trend = trendOf(points, blockOf(points.length));
    const is = trend.high <= allowed ? 'flat' : trend.low > allowed ? 'grows' : 'not shown';
    return [{ figure: name, unit, ...trend, allowed, is, isBeside: i >= FIGURES.length }];
  });
}

const short = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));

/** As Markdown. */
export function soakTable(verdicts: readonly Verdict[]): string {
  const lines = verdicts.map(
    ({ figure, unit, mean, slope, low, high, allowed, is }) =>
      `| ${figure}${unit === '' ? '' : `, ${unit}`} | ${short(mean)} | ${short(slope)} (${short(low)} to ${short(high)}) | ${allowed} | ${is} |`,
  );
  return ['| what | mean | change in an hour (95 %) | at most | it is |', '|---|---:|---:|---:|---|', ...lines].join(
    '\n',
  );
}

const WIDTH = 720;
const LEFT = 60;
const PANEL = 90;
const GAP = 34;
const COLOURS = { bot: '#1a7f5a', console: '#3a5fb3' } as const;

/** Heap, open files and the event loop's delay of both processes over the time. */
export function soakPlot(rows: readonly Row[]): string {
  const panels = [
    { name: 'heap in use after a collection, MB', of: (one: ProbedSample) => one.heap / MB },
    { name: 'open files and sockets', of: (one: ProbedSample) => one.fds },
    { name: 'event loop late, p99 of half a minute, ms', of: (one: ProbedSample) => one.delay.p99 },
  ];
  const hours = rows.at(-1)?.hours ?? 1;
  const height = panels.length * (PANEL + GAP) + 40;
  const parts = panels.flatMap(({ name, of }, i) => {
    const top = 30 + i * (PANEL + GAP);
    const most = Math.max(1, ...rows.flatMap(row => [of(row.bot), of(row.console)])) * 1.05;
    const point = (row: Row, value: number): string =>
      `${(LEFT + (row.hours / hours) * (WIDTH - LEFT - 10)).toFixed(1)} ${(top + PANEL * (1 - value / most)).toFixed(1)}`;
    return [
      `<text x="${LEFT}" y="${top - 6}">${name}</text>`,
      ...[0, most / 1.05].map(
        value =>
          `<text x="${LEFT - 6}" y="${(top + PANEL * (1 - value / most) + 4).toFixed(1)}" text-anchor="end">${Number(value.toPrecision(3))}</text>`,
      ),
      `<path stroke="#ccc" d="M${LEFT} ${top}V${top + PANEL}H${WIDTH - 10}" fill="none"/>`,
      ...(['bot', 'console'] as const).map(
        one => `<path stroke="${COLOURS[one]}" fill="none" d="${pathOf(rows.map(row => point(row, of(row[one]))))}"/>`,
      ),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="#333">`,
    '<title>The bot and its console over the time of a soak</title>',
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="${WIDTH - 10}" y="16" text-anchor="end"><tspan fill="${COLOURS.bot}">bot</tspan><tspan fill="${COLOURS.console}" dx="8">console</tspan></text>`,
    ...parts,
    `<text x="${WIDTH - 10}" y="${height - 8}" text-anchor="end">${(hours * 60).toFixed(0)} minutes</text>`,
    '</svg>',
    '',
  ].join('\n');
}
