/** Prints how the queue models do against a recording that tells single orders, as the table of docs/development/evidence/backtest.md: `npm run queue:models`. */
import { Command } from 'commander';
import { fillModel, rowsOfTape, type MarketRows, type ModelName } from '../../backtest/index.ts';
import { progressBar } from '../../src/cli/terminal/progressBar.ts';
import { SWEEP_MS } from '../../src/fills/index.ts';
import { KIND, openTape } from '../../src/tape/index.ts';
import { ORDER_MARKETS, orderMarket } from './orderMarket.ts';
import { recordedOrders, scoreQueueModel, type QueueScore } from './queueTruth.ts';
import { sweepShare } from './sweepShare.ts';
import { candidatesOf, DISTANCES, scoreOf, tellAll, type Candidate, type Score, type Told } from './truthTable.ts';

const LEVEL_MODELS: readonly ModelName[] = ['pessimistic', 'power1', 'power2', 'power3', 'log', 'optimistic'];

const BOUND_NAMES = ['pessimistic', 'expected', 'optimistic'] as const;
const DEPTHS = [50, 3, 1];
const SECONDS = [0.1, 1, 5];
const MADE_SECONDS = 600;
/** Executions of one taker, by three opinions; the backtest's own is the first. */
const WITHIN_MS = [SWEEP_MS, 500, 1000];

const program = new Command('queue-models')
  .description('queue models against what really became of recorded orders')
  .option(
    '--tape <dir>',
    'a recording of single orders, such as the Bitstamp log; without it, made markets of many kinds; of any other recording the sweeps alone',
  )
  .option('--book <name>', 'which, where the folder has several')
  .action(async ({ tape: dir, book }: { tape?: string; book?: string }) => {
    if (dir === undefined) return printMade();
    const tape = await openTape(dir, book === undefined ? {} : { book });
    if (!tape.columns.kind.includes(KIND.add)) return printSweeps(rowsOfTape(tape));
    const rows = rowsOfTape(tape, { from: 'orders' });
    const orders = recordedOrders(rows);
    const queued = orders.filter(({ from, lots }) => rows.lots[from - 1]! > lots).length;
    console.log(
      `${orders.length} orders came to rest, ${queued} of them behind others at their price; ${orders.filter(one => one.filled > 0).length} were filled in part or whole.\n`,
    );
    console.log('Every change of a level:\n');
    print([...LEVEL_MODELS, 'exact' as const].map(name => scoreQueueModel(rows, orders, r => fillModel(name, r))));
    if (tape.columns.kind.includes(1)) {
      const view = rowsOfTape(tape, { from: 'levels' });
      console.log('\nThe pictures of the book and the trades as they were recorded:\n');
      print(LEVEL_MODELS.map(name => scoreQueueModel(rows, orders, r => fillModel(name, r), view)));
    }
    printTruth(rows, candidatesOf(rows, orders));
    printSweeps(rows);
  });

program.parseAsync().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});

/** The table of pictures, and of one of them by place and distance. */
function printTruth(rows: MarketRows, candidates: readonly Candidate[]): void {
  const models = BOUND_NAMES.map(name => (r: MarketRows) => fillModel(name, r));
  const groups = [
    ...[false, true].map(
      behind => [behind ? 'behind others' : 'alone', (one: Candidate) => one.behind === behind] as const,
    ),
    ...DISTANCES.map(distance => [distance, (one: Candidate) => one.distance === distance] as const),
  ];
  const parts: string[] = [];
  const progress = progressBar();
  console.log(
    `\n${candidates.length} orders were reached by an execution. Through the exchange of a backtest, on pictures made from the log:\n`,
  );
  head('pictures');
  progress.begin(DEPTHS.length * SECONDS.length, 'pictures');
  let done = 0;
  for (const depth of DEPTHS) {
    for (const seconds of SECONDS) {
      const told = tellAll(rows, candidates, { depth, everyMs: seconds * 1000 }, models);
      progress.at(++done);
      BOUND_NAMES.forEach((name, m) => {
        const title = `${depth} deep, ${seconds} s`;
        line(title, name, scoreOf(candidates, told[m]!));
        if (name !== 'expected') return;
        for (const [group, isIn] of groups)
          parts.push(lineOf(`${title}: ${group}`, name, scoreOf(...only(candidates, told[m]!, isIn))));
      });
    }
  }
  progress.end();
  console.log('\nThe same by queue place and by distance from the best price:\n');
  head('pictures and orders');
  console.log(parts.join('\n'));
}

/** Fills of orders that came inside the sweep that met them. */
function printSweeps(rows: MarketRows): void {
  for (const [name, latencyMs] of [
    ['pessimistic', 25],
    ['expected', 25],
    ['expected', 0],
  ] as const) {
    const { fills, inside } = sweepShare(rows, fillModel(name, rows), latencyMs, WITHIN_MS);
    const shares = inside.map((n, i) => `${((100 * n) / fills).toFixed(1)} % within ${WITHIN_MS[i]} ms`);
    console.log(
      `\nOf ${fills} fills of quotes at the touch with ${latencyMs} ms of latency, ${name}, inside one sweep: ${shares.join(', ')}.`,
    );
  }
}

/** Ten minutes of each made market, where its levels are not all recorded. */
function printMade(): void {
  const models = BOUND_NAMES.slice(0, 2).map(name => (r: MarketRows) => fillModel(name, r));
  head('market and pictures');
  for (const kind of Object.keys(ORDER_MARKETS)) {
    const rows = rowsOfTape(orderMarket(kind, 1, MADE_SECONDS), { from: 'orders' });
    const candidates = candidatesOf(rows, recordedOrders(rows));
    for (const depth of [3, 1])
      for (const seconds of SECONDS)
        tellAll(rows, candidates, { depth, everyMs: seconds * 1000 }, models).forEach((told, m) =>
          line(`${kind}, ${depth} deep, ${seconds} s`, BOUND_NAMES[m]!, scoreOf(candidates, told)),
        );
  }
}

function only(
  candidates: readonly Candidate[],
  told: readonly Told[],
  isIn: (one: Candidate) => boolean,
): readonly [readonly Candidate[], readonly Told[]] {
  return [candidates.filter(isIn), told.filter((_, n) => isIn(candidates[n]!))];
}

function head(first: string): void {
  console.log(
    `| ${first} | model | orders | filled | said | volume, said / true | 95 % of orders drawn again | without the one furthest off | share of an order, said / true | precision | recall | time error, median / p90 |`,
  );
  console.log('|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|');
}

function line(title: string, model: string, score: Score): void {
  console.log(lineOf(title, model, score));
}

function lineOf(title: string, model: string, s: Score): string {
  const ratio = (x: number): string => (Number.isFinite(x) ? x.toFixed(3) : '-');
  const ms = (x: number): string => (Number.isFinite(x) ? Math.round(x).toFixed(0) : '-');
  const between = s.volumeInterval === null ? '-' : `${ratio(s.volumeInterval.low)} to ${ratio(s.volumeInterval.high)}`;
  return `| ${title} | ${model} | ${s.orders} | ${s.filled} | ${s.told} | ${ratio(s.volume)} | ${between} | ${ratio(s.volumeButOne)} | ${ratio(s.share)} | ${ratio(s.precision)} | ${ratio(s.recall)} | ${ms(s.timeMedianMs)} / ${ms(s.timeP90Ms)} ms |`;
}

function print(scores: readonly QueueScore[]): void {
  console.log(
    '| model | filled | said | both | precision | recall | time error, median / p90 | filled volume, said / true |',
  );
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|');
  for (const s of scores) {
    const time = `${Math.round(s.timeErrorMedianMs)} / ${Math.round(s.timeErrorP90Ms)} ms`;
    console.log(
      `| ${s.model} | ${s.filled} | ${s.told} | ${s.both} | ${s.precision.toFixed(3)} | ${s.recall.toFixed(3)} | ${time} | ${s.volumeRatio.toFixed(3)} |`,
    );
  }
}
