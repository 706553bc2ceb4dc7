/**
 * `npm run bench`: the figures that matter for speed, each next to something known, in one process and one run; medians of interleaved rounds.
 * `--json` prints every round; `--page` writes the tables of docs/development/benches.md; `--smallest` shows in seconds that everything runs.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { backtestBench } from './backtest.ts';
import { deskBench } from './desk.ts';
import { fillHedgeBench } from './fillHedge.ts';
import { engineBench, strategyBench } from './engine.ts';
import { httpBench } from './http.ts';
import { livePriceBench, type Percentiles } from './livePrice.ts';
import { matchingBench } from './matching.ts';
import { PAGE, tablesOf, withTables } from './page.ts';
import { tapeBench } from './tape.ts';

const SIZES = {
  full: {
    ...{ rounds: 5, quietSteps: 100_000, decisions: 10_000, decisionsByStrategy: 5_000, orders: 8_000 },
    ...{ operations: 1_000_000, recordings: Infinity, moves: 300, fills: 100 },
    backtest: { events: 10_000_000, rounds: 5, processorEvents: 120_000_000 },
  },
  smallest: {
    ...{ rounds: 1, quietSteps: 1_000, decisions: 500, decisionsByStrategy: 500, orders: 200 },
    ...{ operations: 20_000, recordings: 2, moves: 10, fills: 3 },
    backtest: { events: 500_000, rounds: 1, processorEvents: 500_000 },
  },
};
const { values: flags } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
    smallest: { type: 'boolean', default: false },
    'live-price': { type: 'boolean', default: false },
    'fill-hedge': { type: 'boolean', default: false },
  },
});
const size = SIZES[flags.smallest ? 'smallest' : 'full'];
const quietly = () => undefined;

/** One round of everything: figures by name. */
const BENCHES: readonly (() => Promise<Readonly<Record<string, number>>>)[] = [
  async () => {
    const { quiet, deciding, p99Micros, parsing } = engineBench(size.quietSteps, size.decisions);
    return {
      'engine.quietStepsPerSecond': quiet,
      'engine.decidingStepsPerSecond': deciding,
      'engine.decidingP99Micros': p99Micros,
      'engine.bookParsesPerSecond': parsing,
      'engine.decidingToParsing': deciding / parsing,
    };
  },
  async () => {
    const { p99Micros, mbPerBook } = deskBench(size.decisions);
    return { 'desk.p99Micros': p99Micros, 'desk.mbPerBook': mbPerBook };
  },
  async () =>
    Object.fromEntries(
      Object.entries(strategyBench(size.decisionsByStrategy)).map(([name, p99]) => [`strategy.${name}.p99Micros`, p99]),
    ),
  async () => {
    const { orders, bare, ratio } = await httpBench(size.orders, quietly);
    return { 'http.ordersPerSecond': orders, 'http.bareRequestsPerSecond': bare, 'http.ordersToBare': ratio };
  },
  async () => {
    const { ours, theirs, ratio } = await matchingBench(size.operations, quietly);
    return {
      'matching.operationsPerSecond': ours,
      'matching.otherOperationsPerSecond': theirs,
      'matching.toOther': ratio,
    };
  },
];

const asJson = flags.json;
const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.version}, ${process.platform} ${process.arch}`;
if (flags['live-price']) {
  const [load] = loadavg();
  console.log(JSON.stringify({ machine, load, ...(await livePriceBench(size.moves)) }));
  process.exit(0);
}
if (flags['fill-hedge']) {
  const [load] = loadavg();
  console.log(JSON.stringify({ machine, load, ...(await fillHedgeBench(size.fills)) }));
  process.exit(0);
}
if (!asJson) console.log(machine);

const rounds = new Map<string, number[]>();
const bar = process.stderr.isTTY
  ? new SingleBar({ clearOnComplete: true, format: '{bar} {value}/{total} {eta_formatted}' })
  : null;
bar?.start(size.rounds * BENCHES.length, 0);
for (let round = 0; round < size.rounds; round++) {
  for (const bench of BENCHES) {
    for (const [name, figure] of Object.entries(await bench())) {
      rounds.set(name, [...(rounds.get(name) ?? []), figure]);
    }
    bar?.increment();
  }
}
bar?.stop();
const elsewhere = await livePriceBench(size.moves);
for (const what of ['request', 'order', 'write'] as const)
  for (const share of ['p50Ms', 'p99Ms'] as const) rounds.set(`livePrice.${what}.${share}`, [elsewhere[what][share]]);
rounds.set('livePrice.waitedShare', [elsewhere.waitedShare]);
const hedged = await fillHedgeBench(size.fills);
for (const share of ['p50Ms', 'p99Ms'] as const) rounds.set(`fillHedge.${share}`, [hedged.fill[share]]);

const replayed = await backtestBench(size.backtest, asJson ? quietly : undefined);
const tapes = await tapeBench(size.recordings, asJson ? quietly : undefined);

function median(name: string): number {
  const all = rounds.get(name)!.toSorted((a, b) => a - b);
  return all[Math.floor(all.length / 2)]!;
}
const whole = (name: string): string => Math.round(median(name)).toLocaleString('en-US');
const percentilesText = ({ p50Ms, p99Ms }: Percentiles): string =>
  `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
const msText = (what: 'request' | 'order' | 'write'): string => percentilesText(elsewhere[what]);
/** The median ratio, and between which the rounds lay. */
const ratio = (name: string): string => {
  const all = rounds.get(name)!;
  return `${median(name).toFixed(2)} (${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)})`;
};

const figures = Object.fromEntries(
  [...rounds].map(([name, all]) => [name, { median: median(name), rounds: all }] as const),
);
const git = (...words: readonly string[]): string => execFileSync('git', words, { encoding: 'utf8' }).trim();

if (flags.page) {
  const isClean = git('status', '--porcelain', '--', '.', `:!${PAGE}`) === '';
  const commit = `${git('rev-parse', '--short', 'HEAD')}${isClean ? '' : ' with changes that are not committed'}`;
  const date = new Date().toISOString().slice(0, 10);
  const measuredSize = flags.smallest ? 'smallest' : 'full';
  const tables = tablesOf({ commit, date, machine, size: measuredSize, figures, backtest: replayed, tapes });
  writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8'), tables));
}
if (asJson) {
  console.log(
    JSON.stringify({ machine, node: process.version, rounds: size.rounds, figures, backtest: replayed, tapes }),
  );
} else {
  console.log(
    `engine, book of 50 levels a side: ${whole('engine.decidingStepsPerSecond')} steps/s with a whole decision (p99 ${whole('engine.decidingP99Micros')} us), ` +
      `${whole('engine.quietStepsPerSecond')} without; JSON.parse of that book: ${whole('engine.bookParsesPerSecond')}/s; ratio ${ratio('engine.decidingToParsing')}`,
  );
  const strategies = [...rounds.keys()].flatMap(name => /^strategy\.(.+)\.p99Micros$/.exec(name)?.[1] ?? []);
  console.log(
    `a whole decision by strategy, five levels a side, p99 (at most 50 us are wanted): ` +
      strategies.map(name => `${name} ${whole(`strategy.${name}.p99Micros`)} us`).join(', '),
  );
  console.log(
    `sandbox over HTTP: ${whole('http.ordersPerSecond')} orders/s, signature checked, matched and settled; bare node:http: ${whole('http.bareRequestsPerSecond')} requests/s; ratio ${ratio('http.ordersToBare')}`,
  );
  console.log(
    `matching engine: ${whole('matching.operationsPerSecond')} ops/s; nodejs-order-book on the same ops: ${whole('matching.otherOperationsPerSecond')} ops/s; ratio ${ratio('matching.toOther')}`,
  );
  console.log(
    `price on another exchange to the request here, over sockets between two processes: ${msText('request')} (at most 5 ms are wanted), to a new order ${msText('order')}; one durable write ${msText('write')}; the bot waited for a processor for ${(100 * elsewhere.waitedShare).toFixed(1)}% of the time`,
  );
  console.log(
    `fill here to the order of its hedge on another exchange: ${percentilesText(hedged.fill)} (at most 20 ms are wanted), from the answer with the trade ${percentilesText(hedged.answer)}; the bot waited for a processor for ${(100 * hedged.waitedShare).toFixed(1)}% of the time`,
  );
}
