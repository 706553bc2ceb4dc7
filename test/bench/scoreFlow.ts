/**
 * Prints the tables of docs/development/evidence/lifelike.md: `npm run score:flow`. With `-- --measure`, measures the
 * recordings again first and writes their statistics.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { MAKER_SECONDS, MAKER_SEEDS, makerWorth } from './imbalanceMaker.ts';
import { pooledSamples } from './orderFlowScores.ts';
import {
  DYNAMICS,
  FIGURES_FILE,
  marketSamples,
  measureRecordings,
  recordedOrderFlow,
  scoreRows,
  textOfFigures,
} from './scoreTable.ts';

const { values } = parseArgs({
  options: {
    measure: { type: 'boolean', default: false },
    data: { type: 'string', default: process.env['PUNTAS_DATA'] ?? '../shared/data' },
  },
});

if (values.measure) writeFileSync(FIGURES_FILE, textOfFigures(await measureRecordings(values.data)));

const line = (cells: readonly string[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`);
const rule = (count: number) => line(['---', ...Array.from({ length: count }, () => '---:')]);
const short = (value: number) => (Math.abs(value) >= 10 ? value.toFixed(0) : String(Number(value.toPrecision(2))));

const [flow, lifelike, noSignal, poisson] = (['flow', 'lifelike', 'no signal', 'poisson'] as const).map(marketSamples);
const rows = scoreRows({ flow: flow!, lifelike: lifelike!, poisson: poisson! });
line(['score', 'lifelike L1', 'Poisson L1', 'default L1', 'lifelike W', 'Poisson W', 'default W']);
rule(6);
for (const row of rows) {
  const each = [row.lifelike, row.poisson, row.flow];
  line([
    row.name.replaceAll('|', 'by'),
    ...each.map(({ l1 }) => l1.toFixed(2)),
    ...each.map(({ wasserstein }) => wasserstein.toFixed(2)),
  ]);
}
const nearer = [rows.filter(row => row.isNearerL1).length, rows.filter(row => row.isNearerWasserstein).length];
process.stdout.write(`\nlifelike nearer than Poisson: ${nearer[0]} by L1, ${nearer[1]} by Wasserstein\n\n`);
const { scored, other } = recordedOrderFlow();
const columns = [flow, lifelike, noSignal, poisson].map(samples => pooledSamples(samples!).dynamics);
line(['', 'default', 'lifelike', 'lifelike, no signal', 'Poisson', 'Bitstamp 2015', 'Bitstamp 2026']);
rule(6);
for (const [label, pick] of DYNAMICS) line([label, ...[...columns, scored.dynamics, other].map(of => short(pick(of)))]);

process.stdout.write('\n');
const worth = (values: readonly number[]) => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return `${mean.toFixed(2)} ± ${Math.sqrt(variance / values.length).toFixed(2)} (${values.length})`;
};
line(['worth of a fill after 15 s, bps (± standard error; fills)', 'all', 'with the imbalance', 'against it']);
rule(3);
for (const imbalanceSignal of [true, false]) {
  const runs = MAKER_SEEDS.map(seed => makerWorth({ kind: 'lifelike', imbalanceSignal }, seed, MAKER_SECONDS));
  line([
    imbalanceSignal ? 'lifelike' : 'lifelike, no signal',
    worth(runs.flatMap(run => run.all)),
    worth(runs.flatMap(run => run.withImbalance)),
    worth(runs.flatMap(run => run.againstImbalance)),
  ]);
}
