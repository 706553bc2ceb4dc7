/** Time for which a line of the transfer lists waits until the balances count as including its transfer. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { money, moneyOf, type TransferLine } from '../../../src/core/index.ts';
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

test('a read has each line that is not known, once, the oldest first and each list in its own order, with its cause and its page', async () => {
  const NAMES = { fundings: 'deposits', withdrawals: 'withdrawals', ledger: 'fees' } as const;
  const names = Object.keys(NAMES) as (keyof typeof NAMES)[];
  const line = fc.record({
    gap: fc.constantFrom(0, 0, 1_000),
    amounts: fc.array(fc.tuple(fc.constantFrom('btc', 'mxn'), fc.constantFrom(-2, 1, 2)), {
      minLength: 1,
      maxLength: 2,
    }),
    isUnreadable: fc.constantFrom(false, false, false, true),
  });
  const side = fc.array(line, { maxLength: 9 });
  /** Number of the oldest lines of each list that are known. */
  const known = fc.nat(9);
  const LIMIT = 3;
  await fc.assert(
    fc.asyncProperty(fc.tuple(side, side, side), fc.tuple(known, known, known), async (drawn, counts) => {
      const listed = new Map(
        names.map((name, i) => {
          let at = 0;
          const rows = drawn[i]!.map(({ gap, amounts, isUnreadable }, n) => {
            const updates = amounts.map(([currency, sum]) => ({ currency, amount: moneyOf(String(sum)) }));
            const of: TransferLine = { id: String(100 + n), operation: name, createdAt: (at += gap), updates };
            return { of, isUnreadable, isKnown: n < counts[i]! };
          });
          return [name, rows] as const;
        }),
      );
      const ids = names.flatMap(name =>
        listed.get(name)!.flatMap(({ of, isKnown }) => (isKnown ? [`${name} ${of.id}`] : [])),
      );
      const lists = {
        lists: names.map(name => ({ name, of: NAMES[name] })),
        linesPage: LIMIT,
        transferLines: (name: string, { marker }: { readonly marker?: string }) => {
          const rows = listed.get(name as keyof typeof NAMES)!.toReversed();
          const from = marker === undefined ? 0 : rows.findIndex(({ of }) => of.id === marker) + 1;
          const page = rows.slice(from, from + LIMIT);
          const unreadable = page.filter(each => each.isUnreadable).map(() => ({ why: 'x', currencies: ['eth'] }));
          const value = page.filter(each => !each.isUnreadable).map(({ of }) => of);
          return Promise.resolve({ kind: 'done', value, unreadable });
        },
      };
      const reads = new TransferReads(lists as never, ids, AHEAD_MAX_MS, ['btc', 'mxn']);
      const found = await reads.look();
      if ('kind' in found) throw new Error(JSON.stringify(found));
      const model = names.flatMap(name => {
        const rows = listed.get(name)!;
        const expected: object[] = [];
        // The newest pages, up to the one with a known line.
        const pages: (typeof rows)[] = [];
        let last: string | undefined;
        for (let from = rows.length; from >= 0;) {
          const page = rows.slice(Math.max(0, from - LIMIT), from);
          pages.unshift(page.filter(each => !each.isUnreadable));
          last = page.find(each => !each.isUnreadable)?.of.id;
          const isEnd =
            page.length < LIMIT || NAMES[name] === 'fees' || page.some(each => each.isKnown && !each.isUnreadable);
          if (isEnd || last === undefined) break;
          // A page follows the last line that could be read.
          from = rows.findIndex(({ of }) => of.id === last);
        }
        for (const { of, isKnown } of pages.flat()) {
          const sums = new Map<string, bigint>();
          for (const { currency, amount } of of.updates) sums.set(currency, (sums.get(currency) ?? 0n) + amount);
          if (isKnown || (NAMES[name] === 'fees' && of.updates.some(({ amount }) => amount <= 0n))) continue;
          for (const [currency, amount] of sums) {
            if (amount === 0n) continue;
            const cause = {
              deposits: amount > 0n ? 'deposits' : 'refunds',
              withdrawals: amount < 0n ? 'withdrawals' : 'refunds',
              fees: 'fees',
            }[NAMES[name]];
            const source = `${name} ${of.id}${sums.size > 1 ? ` ${currency}` : ''}`;
            expected.push({ id: `${name} ${of.id}`, source, cause, currency, amount, occurredAt: of.createdAt });
          }
        }
        return expected as { readonly occurredAt: number }[];
      });
      expect(found.transfers).toMatchObject(model.toSorted((a, b) => a.occurredAt - b.occurredAt));
      expect(found.transfers).toHaveLength(model.length);
    }),
    runsOf(1_000, 200),
  );
});
