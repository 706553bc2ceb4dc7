/** Prints how the queue models do against a recording that tells single orders, as the table of docs/backtest.md: `npm run queue:models`. */
import { Command } from 'commander';
import { fillModel, rowsOfTape } from '../../backtest/index.ts';
import type { ModelName } from '../../backtest/index.ts';
import { openTape } from '../../src/tape/index.ts';
import { recordedOrders, scoreQueueModel } from './queueTruth.ts';
import type { QueueScore } from './queueTruth.ts';

const LEVEL_MODELS: readonly ModelName[] = ['pessimistic', 'power1', 'power2', 'power3', 'log', 'optimistic'];

const program = new Command('queue-models')
  .description('queue models against what really became of recorded orders')
  .requiredOption('--tape <dir>', 'a recording of single orders, such as the Bitstamp log')
  .action(async ({ tape: dir }: { tape: string }) => {
    const tape = await openTape(dir);
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
  });

program.parseAsync().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});

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
