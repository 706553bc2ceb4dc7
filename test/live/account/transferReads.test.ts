/** Time for which a line of the transfer lists waits until the balances count as including its transfer. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { money } from '../../../src/core/index.ts';
import { TransferReads, type ListedTransfer } from '../../../src/live/account/transferReads.ts';
import { runsOf } from '../../many.ts';

const AHEAD_MAX_MS = 60_000;

const transferOf = (id: string): ListedTransfer => ({
  ...{ id, source: id, cause: 'deposits', currency: 'mxn', amount: money(1n), occurredAt: 0, why: 'a deposit' },
});

test('a line settles at the first equal balances a minute after it was first seen, or when it is booked, whatever else is booked meanwhile', () => {
  const step = fc.record({
    passed: fc.constantFrom(0, 20_000, 30_000, 59_999, 60_000),
    lines: fc.nat(2),
    isEqual: fc.boolean(),
    booked: fc.nat(2 ** 8 - 1),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), steps => {
      const lists = { lists: [], linesPage: 100, transferLines: () => Promise.reject(new Error('never read')) };
      const reads = new TransferReads(lists, [], AHEAD_MAX_MS);
      const ids: string[] = [];
      const known = new Set<string>();
      const firstSeen = new Map<string, number>();
      let now = 0;
      for (const { passed, lines, isEqual, booked } of steps) {
        now += passed;
        for (let n = 0; n < lines; n++) ids.unshift(`funding ${ids.length}`);
        const transfers = ids.filter(id => !known.has(id)).map(transferOf);
        const chosen = isEqual ? [] : transfers.filter((_, n) => ((booked >> (n % 8)) & 1) === 1);
        if (isEqual) reads.seenEqual({ transfers, ids }, now);
        else reads.take({ transfers, ids }, chosen, now);
        for (const each of transfers) {
          const { id } = each;
          const since = firstSeen.get(id) ?? now;
          firstSeen.set(id, since);
          if (chosen.includes(each) || (isEqual && now - since >= AHEAD_MAX_MS)) known.add(id);
        }
        expect(new Set(reads.known)).toEqual(known);
        expect(ids.filter(id => reads.isEarly(transferOf(id)))).toEqual(ids.filter(id => !known.has(id)));
      }
    }),
    runsOf(1_000, 100),
  );
});
