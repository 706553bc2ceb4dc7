/** What other processes than the bot have seen of its open orders: evidence of what a bot that is down has left. */
import { readRegularFile, SMALL_FILE } from '../../guard/index.ts';
import { join } from 'node:path';
import type { Millis } from '../../core/index.ts';
import { isTrusted } from '../files/stateDir.ts';
import { writeWhole } from '../files/durableFiles.ts';

export type OrdersSeen = {
  readonly at: Millis;
  /** Which command read them. */
  readonly by: 'sentinel' | 'halt --cancel';
  /** Open orders of the bot. 0 only where that was verified: after every request of the bot had its time to arrive. */
  readonly count: number;
};

const FILE = 'orders-seen.json';

/** Writes down what was seen last. Never throws: without it the orders count as unknown. */
export function noteOrdersSeen(dir: string, seen: OrdersSeen): void {
  try {
    writeWhole(join(dir, FILE), JSON.stringify(seen));
  } catch {
    return;
  }
}

/** What was seen last; `null` if nothing was, or if another user could have written it. */
export function ordersSeenIn(dir: string): OrdersSeen | null {
  const file = join(dir, FILE);
  if (!isTrusted(file)) return null;
  try {
    const { at, by, count } = (JSON.parse(readRegularFile(file, SMALL_FILE)) ?? {}) as Partial<OrdersSeen>;
    const who = (['sentinel', 'halt --cancel'] as const).find(each => each === by);
    const isCount = Number.isSafeInteger(count) && count! >= 0;
    return who !== undefined && Number.isFinite(at) && isCount ? { at: at!, by: who, count: count! } : null;
  } catch {
    return null;
  }
}
