/** The page docs/development/evidence/queue-truth.md from the measured results. */
import { format, resolveConfig } from 'prettier';
import type { FillReturns } from './fillReturns.ts';
import type { TruthCell, TruthPart } from './table.ts';

export type TruthResults = {
  /** Orders that both readers tell alike, and matches that the second reader could not place. */
  readonly readers: readonly {
    readonly log: string;
    readonly orders: number;
    readonly filled: number;
    readonly unmatched: number;
  }[];
  readonly cells: readonly (TruthCell & { readonly log: string })[];
  readonly returns: readonly FillReturns[];
};

/** Deviation of the volume from the truth that counts as right. */
const WITHIN = 0.05;

const count = (n: number): string => n.toLocaleString('en-US');
const ratio = (x: number | null): string => (x === null || !Number.isFinite(x) ? '-' : x.toFixed(3));
const percent = (x: number): string => (Number.isFinite(x) ? `${(100 * x).toFixed(1)} %` : '-');
const bps = (x: number): string => (Number.isFinite(x) ? `${x > 0 ? '+' : ''}${x.toFixed(2)}` : '-');
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(row)].join('\n');

type Cell = TruthResults['cells'][number];
const titleOf = ({ depth, everyMs, drawn }: Cell): string =>
  `${depth} deep, ${(everyMs / 1000).toLocaleString('en-US', { maximumFractionDigits: 2 })} s${drawn ? ' (drawn)' : ''}`;
const isWithin = ({ scores }: Cell): boolean => Math.abs(scores.expected.volume - 1) <= WITHIN;

export async function truthPage({ readers, cells: unsorted, returns }: TruthResults): Promise<string> {
  const cells = [...unsorted].sort(
    (a, b) =>
      a.log.localeCompare(b.log) || Number(a.drawn) - Number(b.drawn) || b.depth - a.depth || a.everyMs - b.everyMs,
  );
  const logs = readers.map(({ log }) => log);
  const text = `# Evidence: queue models against the truth

Written by \`npm run queue:truth -- --page\` from \`../shared/data\`. Logs: Bitstamp BTC/USD, two hours of 2015-05-01 and the first 15 minutes of a half hour of 2026-05-02. The
second half of that half hour was not read. The check \`truth\` of \`.ci/full\` repeats the comparison of the readers.

## Two readers

\`test/truth/read.py\` (Python, standard library) reads the raw logs and decides the fate of each order without the importer: from the two orders of each match (2015) or from the
order ids in the trades (2026), never from the book. \`test/truth/logs.ts\` compares arrival, side, price, amount, each later amount, filled amount and time of the last fill.

${table(
  ['log', 'orders, equal in both', 'of them filled', 'trades and reductions that the second reader could not match'],
  readers.map(({ log, orders, filled, unmatched }) => [log, count(orders), count(filled), count(unmatched)]),
)}

Compared are orders from the first whole book on. Prices outside the window of the replay's rows count as its ends. Two asks of 2026, whose end the log lost, are removed by the
importer after trades passed them; the second reader says which orders may be removed.

When the second reader was new, the importer told 28,800 of the 95,892 orders of 2026. A stale ask crossed the book, so each bid above it looked like a taker, and one that was
canceled within a second was dropped. All executed volume was there, so no earlier check saw it. In 2015, 29 times a market order rested at a price that it only passed. Both are fixed.

## Volume said and true

A copy of each order that an execution reached is put, alone, through the exchange of a backtest, on snapshots of the log without that order. Fixed depths and intervals, and others
drawn from 1 to 20 levels and 0.2 to 10 s. Orders of the opening snapshot of 2026 are left out, because their places in the queue are not recorded. Intervals: orders drawn
again, an order a block.

${table(
  [
    'log and snapshots',
    'orders',
    'filled, true',
    'filled, said',
    'expected: volume, said / true',
    '95 %',
    'without the order furthest off',
    'each order counted as one',
    'pessimistic: volume',
    'within 5 %',
  ],
  cells.map(cell => {
    const { orders, filled, told, volume, low, high, volumeButOne, share } = cell.scores.expected;
    return [
      `${cell.log}: ${titleOf(cell)}`,
      ...[count(orders), count(filled), count(told), ratio(volume), `${ratio(low)} to ${ratio(high)}`],
      ...[ratio(volumeButOne), ratio(share), ratio(cell.scores.pessimistic.volume), isWithin(cell) ? 'yes' : 'no'],
    ];
  }),
)}

${logs.map(log => withinText(log, cells)).join('\n')}

## Reasons where it is further off

Parts of the orders by whether a snapshot was taken while the order rested, and by whether it came behind others at its price. The last column is the part's share of the whole
difference from the truth, so the four parts of a row of the table above add up to it.

${table(
  [
    'log and snapshots',
    'part',
    'orders',
    'share of the true volume',
    'volume, said / true',
    'difference, of the true volume',
  ],
  cells
    .filter(cell => !isWithin(cell))
    .flatMap(cell =>
      cell.parts
        .filter(({ orders }) => orders > 0)
        .map(one => [
          `${cell.log}: ${titleOf(cell)}`,
          ...[one.part, count(one.orders), percent(one.real / total(cell)), ratio(one.said / one.real)],
          percent((one.said - one.real) / total(cell)),
        ]),
    ),
)}

${logs.map(log => reasonText(log, cells)).join('\n')}

## Return after a fill against the chance of a fill

Published: the likelier an order is to fill, the more it loses after the fill (arXiv 2502.18625, 2407.16527). Orders are put at even times on both sides at the best price, behind
all that is there, for at most 60 s. The chance is predicted from what is known at arrival: amounts of both sides, move of the last 10 s, spread, trades of the last
60 s; a logistic regression on every second of 40 blocks of time, applied to the others. The return is from the order's price to the mid price 10 s after the fill. Intervals:
blocks drawn again. Without a book, or with one each minute, the last price counts as both best prices. The trades of Bitso of 2019 are left out: their times are whole hours.

${table(
  [
    'recording',
    'best prices',
    'orders',
    'filled',
    'least likely third: filled, return in bps',
    'most likely third: filled, return in bps',
    'slope, bps for ten points of chance',
    '95 %',
    'sign',
  ],
  returns.map(one => [
    ...[one.name, one.quotes, count(one.orders), percent(one.filled / one.orders)],
    ...one.thirds.map(([share, value]) => `${percent(share)}, ${bps(value)}`),
    ...[one.slope === null ? '-' : bps(one.slope.value)],
    ...[one.slope === null ? '-' : `${bps(one.slope.low)} to ${bps(one.slope.high)}`, signOf(one)],
  ]),
)}

${returnsText(returns)}
`;
  const options = await resolveConfig(new URL('../../.prettierrc.json', import.meta.url));
  return format(text, { ...options, parser: 'markdown' });
}

const total = ({ parts }: Cell): number => parts.reduce((sum, { real }) => sum + real, 0);

function withinText(log: string, cells: readonly Cell[]): string {
  const own = cells.filter(cell => cell.log === log);
  const volumes = own.map(({ scores }) => scores.expected.volume);
  const holds = own.filter(({ scores: { expected } }) => (expected.low ?? 1) <= 1 && (expected.high ?? 1) >= 1);
  return `- ${log}: ${own.filter(isWithin).length} of ${own.length} within 5 %, from ${ratio(Math.min(...volumes))} to ${ratio(Math.max(...volumes))}; the interval holds 1 in ${holds.length}. Without the order that is furthest off, ${own.filter(({ scores }) => Math.abs(scores.expected.volumeButOne - 1) <= WITHIN).length} of ${own.length} are within 5 %. ${stepsText(own)}`;
}

/** Said over true at fixed snapshots: how it changes with the interval at most levels, and with the depth at the shortest interval. */
function stepsText(cells: readonly Cell[]): string {
  const fixed = cells.filter(({ drawn }) => !drawn);
  const depth = Math.max(...fixed.map(cell => cell.depth));
  const everyMs = Math.min(...fixed.map(cell => cell.everyMs));
  const list = (of: readonly Cell[], unit: (cell: Cell) => string): string =>
    of.map(cell => `${ratio(cell.scores.expected.volume)} at ${unit(cell)}`).join(', ');
  const byTime = list(
    fixed.filter(cell => cell.depth === depth),
    cell => `${cell.everyMs / 1000} s`,
  );
  const byDepth = list(
    fixed.filter(cell => cell.everyMs === everyMs),
    cell => `${cell.depth}`,
  );
  return `With ${depth} levels: ${byTime}. Every ${everyMs / 1000} s, by levels: ${byDepth}.`;
}

function reasonText(log: string, cells: readonly Cell[]): string {
  const off = cells.filter(cell => cell.log === log && !isWithin(cell));
  if (off.length === 0) return `- ${log}: none.`;
  const sumOf = (is: (part: TruthPart) => boolean): number =>
    off.reduce(
      (sum, cell) =>
        sum + cell.parts.filter(is).reduce((part, { said, real }) => part + (said - real) / total(cell), 0),
      0,
    ) / off.length;
  const parts = off[0]!.parts.map(({ part }) => `${part}: ${percent(sumOf(one => one.part === part))}`);
  return `- ${log}: of ${off.length} rows that are further off, the mean difference of ${percent(sumOf(() => true))} is made of: ${parts.join('; ')}.`;
}

const signOf = ({ slope }: FillReturns): string =>
  slope === null ? 'too few fills' : slope.high < 0 ? 'negative' : slope.low > 0 ? 'positive' : 'not separable from 0';

function returnsText(returns: readonly FillReturns[]): string {
  const numberOf = (sign: string): number => returns.filter(one => signOf(one) === sign).length;
  const below = returns.filter(({ slope }) => slope !== null && slope.value < 0).length;
  const withBook = returns.filter(({ quotes }) => quotes !== 'trades');
  const books = `Of the ${withBook.length} with a book, ${withBook.filter(one => signOf(one) === 'negative').length} are negative and ${withBook.filter(one => signOf(one) === 'positive').length} positive with the whole interval (${withBook
    .filter(one => signOf(one) === 'positive')
    .map(({ name }) => name)
    .join(', ')}).`;
  return `Of ${returns.length} recordings the slope is negative in ${below}: in ${numberOf('negative')} with its whole interval; it is positive with its whole interval in ${numberOf('positive')}, and ${numberOf('too few fills')} have fewer than 50 fills. ${books} The published sign is therefore not on every recording: in ${numberOf('not separable from 0')} the interval holds 0. Without a book, a trade beyond the order fills it, so the return also holds how far that trade went.`;
}
