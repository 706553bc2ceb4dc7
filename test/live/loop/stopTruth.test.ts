/** The last words of a run: each of them true, false, or unknown where what it rests on could not be read. */
import { afterEach, describe, expect, test } from 'vitest';
import { stopSummary } from '../../../src/alerts/sentences.ts';
import { describe as describeSummary } from '../../../src/messages/summary.ts';
import { started, worldOf } from '../world.ts';

const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach(end => end()));

/** What may be unreadable from the stop on; cancels may fail too. */
const LISTS = { orders: /open_orders/, trades: /user_trades/, balances: /\/balance/ } as const;
const subsets = Object.keys(LISTS).reduce<string[][]>(
  (all, list) => [...all, ...all.map(some => [...some, list])],
  [[]],
);
const cases = subsets.flatMap(lost => [false, true].map(cancelsFail => ({ lost, cancelsFail })));

describe('a stop', () => {
  test.each(cases)(
    'with $lost unreadable (cancels lost: $cancelsFail) says yes or no only of what it has read, and counts orders only',
    async ({ lost, cancelsFail }) => {
      const world = worldOf(21, { timing: { shutdownMs: 20_000 } });
      ends.push(() => world.end());
      let isStopping = false;
      const running = await started(world, {
        fate: ({ method, target }) => {
          if (!isStopping) return 'arrives';
          const isLost =
            method === 'DELETE' ? cancelsFail : lost.some(list => LISTS[list as keyof typeof LISTS].test(target));
          return isLost ? 'lost' : 'arrives';
        },
      });
      await world.clock.advance(30_000);
      isStopping = true;
      const { summary, left, unread } = await running.stop();
      const live = [...world.box.exchange.venue.accounts.get(world.box.account.id)!.active.values()];

      // Orders: all that live are named, every one that is named is an order, and none left is said only where it was read.
      const areRead = !lost.includes('orders');
      expect(live.map(({ originId }) => originId!).filter(id => !left.includes(id))).toEqual([]);
      expect(left.filter(id => !/^\S+-\d+$/.test(id))).toEqual([]);
      expect(unread === undefined).toBe(areRead);
      expect(summary.openOrdersLeft).toBe(left.length === 0 && !areRead ? null : left.length);

      // The ledger: compared with balances that were read between two readings of the trades.
      const isCompared = !lost.includes('balances') && !lost.includes('trades');
      expect(summary.ledgerMatches).toBe(isCompared ? true : null);

      const report = { left, ...(unread === undefined ? {} : { unread }), failure: null };
      for (const text of [
        describeSummary(summary, 'puntas resume'),
        stopSummary('SIGTERM', { ...report, ledgerMatches: summary.ledgerMatches }),
      ]) {
        expect(/differs/i.test(text)).toBe(false);
        expect(/not compared/.test(text)).toBe(!isCompared);
        expect(/verified: no open orders left/.test(text)).toBe(left.length === 0 && areRead);
      }
    },
  );
});
