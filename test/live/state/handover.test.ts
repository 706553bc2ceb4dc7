/** Hand-over of a state directory from one run to the next, also over failed writes, other units and another order of events. */
import { renameSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import {
  money,
  NO_PROFIT,
  VirtualClock,
  type Amount,
  type LedgerEntry,
  type ProfitSinceOpening,
} from '../../../src/core/index.ts';
import { readRecording } from '../../../src/live/recording/recordings.ts';
import { bookLatchIn } from '../../../src/live/safety/bookLatch.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { closeDatabase, journalIn, openDatabase, openJournal } from '../../../src/live/state/journal.ts';
import { entriesIn } from '../../../src/live/state/ledgerEntries.ts';
import { NotOurs } from '../../../src/live/state/owner.ts';
import { hoursIn } from '../../../src/live/state/profitHours.ts';
import { lookInto } from '../../../src/live/state/stateSummary.ts';
import { ACCOUNT, AT, Folders, markOf, opened, OPENING, OWNER, place } from '../states.ts';

const folders = new Folders();
afterAll(() => folders.clear());

test('a journal whose next run cannot start records and stores on, and the next run starts later', () => {
  const dir = folders.fresh();
  const journal = opened(dir);
  journal.record('i{"event":{"kind":"timer","at":1}}');
  journal.flush();
  renameSync(dir, `${dir}-gone`);
  expect(() => journal.next(AT + 1_000)).toThrow('ENOENT');
  renameSync(`${dir}-gone`, dir);
  journal.record('i{"event":{"kind":"timer","at":2}}');
  journal.intend([place('a-1-1')], AT);
  expect([...readRecording(dir, journal.run)!.lines]).toHaveLength(2);
  const next = journal.next(AT + 2_000);
  expect(next.leftovers.orders.map(({ id }) => id)).toEqual(['a-1-1']);
  expect(() => journal.intend([place('a-1-2')], AT)).toThrow('the next run has taken over');
  next.close();
});

test('an order is restored with the price and the amount of the checkpoint, whose units may be others than those of its intent', () => {
  const count = fc.integer({ min: 1, max: 1_000_000 });
  const dir = folders.fresh();
  let journal = opened(dir);
  let n = 0;
  fc.assert(
    fc.property(count, count, count, count, (price, amount, priceNow, amountNow) => {
      const id = `a-1-${++n}`;
      journal.intend([place(id, 'sell', price, amount)], AT);
      const of = { id, filled: 0 as Amount, oid: `o${n}`, price: priceNow, amount: amountNow };
      journal.keep({ ...markOf('1', '7', [of]), units: { tick: '0.5', lot: '0.1' } }, []);
      journal.flush();
      journal = journal.next(AT + n);
      const { orders, units } = journal.leftovers;
      expect(orders).toEqual([
        { id, side: 'sell', price: priceNow, amount: amountNow, filled: 0, oid: `o${n}`, at: AT },
      ]);
      expect(units).toEqual({ tick: '0.5', lot: '0.1' });
      journal.ended(id, 'canceled');
    }),
    { numRuns: 10 },
  );
  journal.close();
});

test('entries and hours of writes that failed are stored once with the next write that succeeds, whatever came between', () => {
  const hourOf = (hour: number | null): ProfitSinceOpening => ({
    ...{ since: null, at: hour === null ? null : hour * 3_600_000, twiceMid: null, profit: NO_PROFIT },
  });
  const op = fc.record({
    fails: fc.boolean(),
    entries: fc.integer({ min: 0, max: 2 }),
    hours: fc.array(fc.constantFrom('known', 'unknown'), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(op, { minLength: 1, maxLength: 6 }), ops => {
      const db = openDatabase(':memory:');
      const journal = journalIn(db, { account: ACCOUNT, at: AT, setup: '' });
      const entries: string[] = [];
      const hours: number[] = [];
      for (const [n, each] of [...ops, { fails: false, entries: 0, hours: [] }].entries()) {
        // The checkpoint is the last row of a write.
        if (each.fails)
          db.exec("CREATE TRIGGER full BEFORE INSERT ON marks BEGIN SELECT RAISE(ABORT, 'disk is full'); END");
        const added = Array.from({ length: each.entries }, (_, i): LedgerEntry => ({
          ...{ source: `transfer ${n} ${i}`, at: AT, why: null },
          changes: [{ cause: 'deposits', currency: 'mxn', amount: money(1n) }],
        }));
        const ended = each.hours.map(kind => {
          if (kind === 'unknown') return hourOf(null);
          hours.push(hours.length);
          return hourOf(hours.length - 1);
        });
        entries.push(...added.map(({ source }) => source));
        journal.keep(markOf(String(n + 1), '7'), added, ended);
        if (each.fails) expect(() => journal.flush()).toThrow('disk is full');
        else journal.flush();
        if (each.fails) db.exec('DROP TRIGGER full');
      }
      expect([...entriesIn(db, ACCOUNT)].map(({ source }) => source)).toEqual(entries);
      expect(hoursIn(db, ACCOUNT).map(({ at }) => at! / 3_600_000)).toEqual(hours);
      closeDatabase(db);
    }),
    { numRuns: 30 },
  );
});

test('the account number is remembered over any number of starts without it, and another account is refused', () => {
  const dir = folders.fresh();
  const first = opened(dir);
  first.ownedBy('17');
  first.close();
  for (let starts = 0; starts < 3; starts++) {
    const again = opened(dir, AT + starts);
    expect(again.client).toBe('17');
    again.close();
  }
  const other = { ...OPENING, owner: { ...OWNER, key: 'other' }, client: '18' };
  expect(() => openJournal(dir, other)).toThrow(NotOurs);
  openJournal(dir, { ...other, client: '17' }).close();
});

test.each([
  [['halt'], 'halt'],
  [['reduce'], 'reduce'],
  [['reduce', 'halt'], 'halt'],
  [['halt', 'reduce'], 'halt'],
  [[], null],
] as const)('of the states %j the summary names the most severe: %s', async (states, named) => {
  const dir = folders.fresh();
  opened(dir).close();
  const latch = latchIn(dir);
  for (const state of states) {
    const said = { reason: state, at: 1, by: 'bot' } as const;
    if (state === 'halt') latch.set(said);
    else latch.setReduce(said);
  }
  expect((await lookInto(dir, new VirtualClock()))?.halt?.reason ?? null).toBe(named);
});

test('the summary names the stops of single books, also where the bot itself has none', async () => {
  const dir = folders.fresh();
  opened(dir).close();
  bookLatchIn(dir, 'eth_mxn').set({ reason: 'a halt', at: 1, by: 'person' });
  bookLatchIn(dir, 'btc_usd').setReduce({ reason: 'less', at: 1, by: 'person' });
  const look = (await lookInto(dir, new VirtualClock()))!;
  expect(look.halt).toBeNull();
  expect(look.bookHalts.map(({ book, halt }) => [book, halt.reason])).toEqual([
    ['btc_usd', 'less'],
    ['eth_mxn', 'a halt'],
  ]);
});
