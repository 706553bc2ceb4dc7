/** A run that ended clean: the summary that it printed, and what must hold of it. */
import { expect } from 'vitest';
import type { Ended } from '../program.ts';

export type Summary = {
  seconds: number;
  book: string;
  orders: Record<'placed' | 'canceled' | 'filled' | 'refused' | 'unknown', number>;
  fills: number;
  position: Record<string, string>;
  pnl: Record<'spread' | 'inventory' | 'fees' | 'hedging' | 'total', string>;
  uptime: Record<'bid' | 'ask', number>;
  requests: number;
  openOrdersLeft: number;
  ledgerMatches: boolean;
};

const summaryOf = ({ stdout }: Ended): Summary => JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Summary;

/** All three levels of each side. */
export const BOTH_SIDES = /bid [\d.]+ \(3 levels.*ask [\d.]+ \(3 levels/;

export function expectClean(ended: Ended): Summary {
  expect(ended.stderr).not.toMatch(/"level":(50|60)/);
  const summary = summaryOf(ended);
  // A post-only order on a book that a busy machine read late is refused: that none is, is held in virtual time.
  expect(summary).toMatchObject({ openOrdersLeft: 0, ledgerMatches: true });
  expect(ended.code).toBe(0);
  return summary;
}
