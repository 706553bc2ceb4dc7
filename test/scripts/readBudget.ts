/**
 * Losses of polled books that are read in turn and by value, and of streamed books whose quotes share a budget evenly and
 * by value, over seeded hours: `readBudget.js [SEEDS]`.
 */
import {
  meanAndError,
  READ_SETS,
  readHour,
  requoteHour,
  type ReadHour,
  type ReadOrder,
  type RequoteHour,
} from '../core/budget/readModel.ts';

const [count = '20'] = process.argv.slice(2);
const seeds = Array.from({ length: Number(count) }, (_, i) => i + 1);
const text = (values: readonly number[], digits = 1): string => {
  const [mean, error] = meanAndError(values);
  return `${mean.toFixed(digits)} ± ${error.toFixed(digits)}`;
};

console.log(
  '| set | losses in turn | by value alone | ratio | by value | ratio | lower in | cost ratio | reads by book | oldest (s) |',
);
console.log('|---|---|---|---|---|---|---|---|---|---|');
// The estimate has the volatilities of set A in reverse order.
const reversed = READ_SETS['A']!.map((risk, i, all) => ({ ...risk, sigma: all[all.length - 1 - i]!.sigma }));
const rows = [
  ...Object.entries(READ_SETS).map(([name, risks]) => ({ name, risks, known: risks })),
  { name: 'A, wrong order', risks: READ_SETS['A']!, known: reversed },
];
for (const { name, risks, known } of rows) {
  const hours = (order: ReadOrder): readonly ReadHour[] => seeds.map(seed => readHour(risks, seed, order, known));
  const [even, alone, valued] = [hours('in turn'), hours('by value alone'), hours('by value')];
  const sum = (of: readonly ReadHour[], what: 'losses' | 'cost'): number =>
    of.reduce((total, hour) => total + hour[what], 0);
  const losses = (of: readonly ReadHour[]): string => text(of.map(hour => hour.losses));
  const ratio = (of: readonly ReadHour[], what: 'losses' | 'cost'): string =>
    (sum(of, what) / sum(even, what)).toFixed(3);
  const lower = valued.filter((hour, i) => hour.losses < even[i]!.losses).length;
  const reads = risks.map((_, i) => Math.round(meanAndError(valued.map(hour => hour.reads[i]!))[0]));
  const cells = [
    ...[name, losses(even), losses(alone), ratio(alone, 'losses'), losses(valued), ratio(valued, 'losses')],
    ...[`${lower} of ${seeds.length}`, ratio(valued, 'cost'), reads.join(' / ')],
    Math.max(...valued.map(({ oldestS }) => oldestS)),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

console.log('');
console.log('| set | quotes per minute | losses evenly | by value | ratio | lower in | quotes in the hour |');
console.log('|---|---:|---|---|---:|---|---|');
for (const perMinute of [60, 30])
  for (const [name, risks] of Object.entries(READ_SETS)) {
    const [even, valued] = (['evenly', 'by value'] as const).map(order =>
      seeds.map(seed => requoteHour(risks, seed, order, perMinute)),
    ) as [RequoteHour[], RequoteHour[]];
    const losses = (of: readonly RequoteHour[]): number[] => of.map(hour => hour.losses);
    const sum = (of: readonly RequoteHour[]): number => losses(of).reduce((total, count) => total + count, 0);
    const quotes = (of: readonly RequoteHour[]): number => Math.round(meanAndError(of.map(hour => hour.requests))[0]);
    const lower = valued.filter((hour, i) => hour.losses < even[i]!.losses).length;
    const cells = [
      ...[name, perMinute, text(losses(even)), text(losses(valued)), (sum(valued) / sum(even)).toFixed(3)],
      ...[`${lower} of ${seeds.length}`, `${quotes(even)} / ${quotes(valued)}`],
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
