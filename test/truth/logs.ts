/** Logs of single orders that two readers know: the importer of Puntas, and `read.py`, which shares nothing with it. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { rowsOfTape, type MarketRows } from '../../backtest/index.ts';
import { FLAG, SELL } from '../../backtest/rows/rows.ts';
import { mappedRecording, openTape, type Tape } from '../../src/tape/index.ts';
import { collectTape } from '../../src/tape/import/collectTape.ts';
import { recordedOrders, type RecordedOrder } from '../scripts/queueTruth.ts';

/** Sets of `../shared/data` with every order of a book. */
export const ORDER_LOGS = [
  { name: '2015', set: 'bitstamp-btcusd-2015-05-01-book-orders-trades' },
  { name: '2026', set: 'bitstamp-btcusd-2026-05-02-l3-first-half' },
] as const;

/** The fate of one order that came to rest, as either reader tells it. Times in epoch ms, price in ticks, amounts in lots. */
export type OrderFate = {
  readonly at: number;
  readonly side: 'buy' | 'sell';
  readonly price: number;
  readonly lots: number;
  readonly filled: number;
  readonly filledAt: number | null;
  readonly steps: readonly (readonly [at: number, left: number])[];
};

type SecondReading = {
  readonly orders: readonly (OrderFate & { readonly id: number; readonly passed: number | null })[];
  /** Time of the first whole book. */
  readonly begin: number;
  readonly unmatched: readonly unknown[];
};

type Line = readonly [
  number,
  'buy' | 'sell',
  number,
  number,
  number,
  number | null,
  [number, number][],
  number,
  number | null,
];

/** Reads a folder with the second reader. Throws if there is no Python 3. */
export function readByPython(dir: string): SecondReading {
  const text = execFileSync('python3', [join(process.cwd(), 'test/truth/read.py'), dir], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const { orders, ...rest } = JSON.parse(text) as Omit<SecondReading, 'orders'> & { readonly orders: readonly Line[] };
  return {
    ...rest,
    orders: orders.map(([at, side, price, lots, filled, filledAt, steps, id, passed]) => ({
      ...{ at, side, price, lots, filled, filledAt, steps, id, passed },
    })),
  };
}

/** Whether the second reader can run here. */
export function hasPython(): boolean {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Opens a log as the backtest does. */
export async function openOrderLog(dir: string): Promise<Tape> {
  if (!readdirSync(dir).includes('orders.csv.gz')) return openTape(dir);
  return collectTape(await mappedRecording(dir, join(process.cwd(), 'test/truth/bitstamp-2026.yaml')));
}

export type OwnReading = { readonly rows: MarketRows; readonly orders: readonly RecordedOrder[] };

/** Reads a folder with the importer and the conversion to rows of a replay. */
export async function readByImporter(dir: string): Promise<OwnReading> {
  const rows = rowsOfTape(await openOrderLog(dir), { from: 'orders' });
  return { rows, orders: recordedOrders(rows) };
}

/**
 * Compares both readings order by order, from the first whole book on. Returns the number of equal orders, and the
 * first difference as one line, or `null`. Prices outside the window of the rows count as its ends, as in the rows. An
 * order whose end the log lost can be removed after a trade has passed it.
 */
export function compareReadings(
  { rows, orders }: OwnReading,
  { begin, orders: others }: SecondReading,
): { readonly equal: number; readonly filled: number; readonly difference: string | null } {
  const inWindow = (price: number): number => Math.min(Math.max(price, rows.base), rows.base + rows.places - 1);
  const own = orders.map(({ side, place, lots, filled, filledAt, steps }) =>
    keyOf({
      ...{ at: steps[0]!.at, side: side === SELL ? 'sell' : 'buy', price: place + rows.base, lots, filled },
      ...{
        filledAt: Number.isNaN(filledAt) ? null : filledAt,
        steps: steps.map(({ at, left }) => [at, left] as const),
      },
    }),
  );
  const counts = new Map<string, number>();
  for (const key of own) counts.set(key, (counts.get(key) ?? 0) + 1);
  const missing: { readonly at: number; readonly line: string }[] = [];
  let [equal, filled] = [0, 0];
  for (const order of others) {
    if (order.at < begin) continue;
    const told = { ...order, price: inWindow(order.price) };
    const key = [keyOf(told), ...removedKeys(told, rows)].find(one => (counts.get(one) ?? 0) > 0);
    if (key === undefined) {
      missing.push({ at: order.at, line: `only the second reader has order ${order.id}: ${keyOf(told)}` });
      continue;
    }
    counts.set(key, counts.get(key)! - 1);
    equal++;
    filled += Number(order.filled > 0);
  }
  const surplus = [...counts].flatMap(([key, count]) => {
    const at = Number(key.split(' ')[0]);
    return count > 0 && at >= begin ? [{ at, line: `only the importer has an order: ${key}` }] : [];
  });
  const first = [...missing, ...surplus].sort((a, b) => a.at - b.at)[0];
  const more = missing.length + surplus.length - 1;
  return { equal, filled, difference: first === undefined ? null : `${first.line}${more > 0 ? `; ${more} more` : ''}` };
}

/** Keys of an order that the log lost, with its removal at each trade after the one that passed it. */
function removedKeys(order: OrderFate & { readonly passed: number | null }, rows: MarketRows): readonly string[] {
  if (order.passed === null) return [];
  const times = new Set<number>();
  for (let row = 0; row < rows.length; row++)
    if ((rows.flags[row]! & FLAG.trade) !== 0 && rows.at[row]! >= order.passed) times.add(rows.at[row]!);
  return [...times].map(at => keyOf({ ...order, steps: [...order.steps, [at, 0]] }));
}

const keyOf = ({ at, side, price, lots, filled, filledAt, steps }: OrderFate): string =>
  `${at} ${side} ${lots} lots at tick ${price}, filled ${filled}${filledAt === null ? '' : ` at ${filledAt}`}, steps ${JSON.stringify(steps)}`;
