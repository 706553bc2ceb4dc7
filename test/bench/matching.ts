/** Operations per second of the matching engine, beside the npm package nodejs-order-book on the same operations in the same process. */
import { OrderBook, Side as TheirSide } from 'nodejs-order-book';
import { amount, price, randomOf } from '../../src/core/index.ts';
import { MatchingBook } from '../../src/sandbox/matching/matching.ts';

type Operation = {
  kind: 'place' | 'cancel';
  buy: boolean;
  price: number;
  amount: number;
  target: number;
  text: string;
};

/** Half places near a wandering mid (a fifth of them crossing), half cancels of a random earlier order: the book stays some hundred levels deep. */
function operationsOf(count: number, seed: number): Operation[] {
  const random = randomOf(seed);
  const operations: Operation[] = [];
  const placed: number[] = [];
  let mid = 100_000;
  for (let i = 0; i < count; i++) {
    mid += random.integer(-1, 1);
    if (placed.length > 500 && random.next() < 0.5) {
      const at = random.integer(0, placed.length - 1);
      const target = placed[at]!;
      placed[at] = placed[placed.length - 1]!;
      placed.pop();
      operations.push({ kind: 'cancel', buy: true, price: 0, amount: 0, target, text: `ord-${target}` });
      continue;
    }
    const buy = random.next() < 0.5;
    const away = random.next() < 0.2 ? -random.integer(1, 5) : Math.floor(random.next() ** 2 * 100) + 1;
    const quantity = random.integer(1, 1000);
    operations.push({
      kind: 'place',
      buy,
      price: mid + (buy ? -away : away),
      amount: quantity,
      target: i,
      text: `ord-${i}`,
    });
    placed.push(i);
  }
  return operations;
}

function ours(operations: readonly Operation[]): { seconds: number; executions: number } {
  let executions = 0;
  const book = new MatchingBook({ executed: () => void executions++, prevented: () => {} });
  const ids = new Float64Array(operations.length);
  const start = performance.now();
  for (const op of operations) {
    if (op.kind === 'cancel') book.cancel(ids[op.target]!);
    else ids[op.target] = book.place(op.buy ? 'buy' : 'sell', price(op.price), amount(op.amount), 'GTC', 0, 0);
  }
  return { seconds: (performance.now() - start) / 1000, executions };
}

function theirs(operations: readonly Operation[]): { seconds: number } {
  const book = new OrderBook();
  const start = performance.now();
  for (const op of operations) {
    if (op.kind === 'cancel') book.cancel(op.text);
    else book.limit({ id: op.text, side: op.buy ? TheirSide.BUY : TheirSide.SELL, size: op.amount, price: op.price });
  }
  return { seconds: (performance.now() - start) / 1000 };
}

export type MatchingFigures = { readonly ours: number; readonly theirs: number; readonly ratio: number };

/** Prints its lines and returns operations per second: ours on all operations, both on the first tenth (theirs is too slow for all). */
export async function matchingBench(
  count = 2_000_000,
  print = (line: string) => console.log(line),
): Promise<MatchingFigures> {
  const operations = operationsOf(count, 1);
  const share = operations.slice(0, Math.ceil(count / 20));
  ours(share);
  const all = ours(operations);
  const same = ours(share);
  const other = theirs(share);
  const figures = {
    ours: Math.round(operations.length / all.seconds),
    theirs: Math.round(share.length / other.seconds),
    ratio: other.seconds / same.seconds,
  };
  print(
    `matching: ${figures.ours} ops/s in process (${operations.length} places and cancels, ${all.executions} executions)`,
  );
  print(
    `matching: nodejs-order-book ${figures.theirs} ops/s on the same ${share.length} ops; ours is ${figures.ratio.toFixed(1)} times as fast`,
  );
  return figures;
}
