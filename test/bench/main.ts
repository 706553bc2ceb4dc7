/** `npm run bench`: the figures that matter for speed, each beside something known, in one process and one run; medians of interleaved rounds. */
import { cpus } from 'node:os';
import { SingleBar } from 'cli-progress';
import { backtestBench } from './backtest.ts';
import { engineBench, strategyBench } from './engine.ts';
import { httpBench } from './http.ts';
import { matchingBench } from './matching.ts';
import { tapeBench } from './tape.ts';

const ROUNDS = 5;
const HTTP_ORDERS = 8_000;
const MATCHING_OPERATIONS = 1_000_000;
const quietly = () => undefined;

/** One round of everything: figures by name. */
const BENCHES: readonly (() => Promise<Readonly<Record<string, number>>>)[] = [
  async () => {
    const { quiet, deciding, p99Micros, parsing } = engineBench(100_000, 10_000);
    return {
      'engine.quietStepsPerSecond': quiet,
      'engine.decidingStepsPerSecond': deciding,
      'engine.decidingP99Micros': p99Micros,
      'engine.bookParsesPerSecond': parsing,
      'engine.decidingToParsing': deciding / parsing,
    };
  },
  async () =>
    Object.fromEntries(Object.entries(strategyBench(5_000)).map(([name, p99]) => [`strategy.${name}.p99Micros`, p99])),
  async () => {
    const { orders, bare, ratio } = await httpBench(HTTP_ORDERS, quietly);
    return { 'http.ordersPerSecond': orders, 'http.bareRequestsPerSecond': bare, 'http.ordersToBare': ratio };
  },
  async () => {
    const { ours, theirs, ratio } = await matchingBench(MATCHING_OPERATIONS, quietly);
    return {
      'matching.operationsPerSecond': ours,
      'matching.otherOperationsPerSecond': theirs,
      'matching.toOther': ratio,
    };
  },
];

const asJson = process.argv.includes('--json');
const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.version}, ${process.platform} ${process.arch}`;
if (!asJson) console.log(machine);

const rounds = new Map<string, number[]>();
const bar = process.stderr.isTTY
  ? new SingleBar({ clearOnComplete: true, format: '{bar} {value}/{total} {eta_formatted}' })
  : null;
bar?.start(ROUNDS * BENCHES.length, 0);
for (let round = 0; round < ROUNDS; round++) {
  for (const bench of BENCHES) {
    for (const [name, figure] of Object.entries(await bench())) {
      rounds.set(name, [...(rounds.get(name) ?? []), figure]);
    }
    bar?.increment();
  }
}
bar?.stop();

const replayed = await backtestBench(asJson ? quietly : undefined);
const tapes = await tapeBench(asJson ? quietly : undefined);

const median = (name: string): number => rounds.get(name)!.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
const whole = (name: string): string => Math.round(median(name)).toLocaleString('en-US');
/** The median ratio, and between which the rounds lay. */
const ratio = (name: string): string => {
  const all = rounds.get(name)!;
  return `${median(name).toFixed(2)} (${Math.min(...all).toFixed(2)} to ${Math.max(...all).toFixed(2)})`;
};

if (asJson) {
  const figures = Object.fromEntries(
    [...rounds].map(([name, all]) => [name, { median: median(name), rounds: all }] as const),
  );
  console.log(JSON.stringify({ machine, node: process.version, rounds: ROUNDS, figures, backtest: replayed, tapes }));
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
}
