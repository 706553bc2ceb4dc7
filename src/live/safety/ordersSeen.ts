/** Open orders of the bot as other processes saw them: evidence of what a bot that is down has left. */
import { readRegularFile, SMALL_FILE } from '../../guard/index.ts';
import { join } from 'node:path';
import type { Millis } from '../../core/index.ts';
import { isTrusted } from '../files/stateDir.ts';
import { writeWhole } from '../files/durableFiles.ts';

export type OrdersSeen = {
  readonly at: Millis;
  /** Command that read them. */
  readonly by: 'sentinel' | 'halt --cancel';
  /** Number of open orders. 0 only if verified after the request delay of every request of the bot. */
  readonly count: number;
};

const FILE = 'orders-seen.json';

/** Stores the last observation. Never throws: without it, the orders count as unknown. */
export function noteOrdersSeen(dir: string, seen: OrdersSeen): void {
  try {
    writeWhole(join(dir, FILE), JSON.stringify(seen));
  } catch {
    return;
  }
}

/** Returns the last observation; `null` if there is none, or if another user could have written it. */
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
