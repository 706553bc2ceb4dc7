/** Amounts on other exchanges, and doubts that their opening balances leave, beside models of both. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { money, type BalanceCheck } from '../../../src/core/index.ts';
import { LeftElsewhere } from '../../../src/core/accounting/leftElsewhere.ts';
import { Transit } from '../../../src/core/accounting/transit.ts';
import { runsOf } from '../../many.ts';

const CURRENCIES = ['usd', 'usdt', 'us'] as const;

test('other exchanges together hold of a currency what was booked under exactly its name', () => {
  const booking = fc.record({
    currency: fc.constantFrom(...CURRENCIES),
    place: fc.constantFrom('one', 'two', 'usd'),
    amount: fc.integer({ min: -9, max: 9 }),
  });
  fc.assert(
    fc.property(fc.array(booking, { maxLength: 8 }), bookings => {
      const places = new LeftElsewhere(() => undefined);
      for (const [at, { currency, place, amount }] of bookings.entries())
        places.transfer({
          ...{ kind: 'transfer', source: `s${at}`, cause: 'deposits', currency: `${currency}@${place}` },
          ...{ amount: money(BigInt(amount)), at, occurredAt: at, why: 'booked' },
        });
      for (const currency of CURRENCIES) {
        const own = bookings.filter(each => each.currency === currency);
        expect(places.held(currency)).toBe(BigInt(own.reduce((sum, { amount }) => sum + amount, 0)));
      }
    }),
    runsOf(500, 50),
  );
});

test('a booking on another exchange is an entry of the time when it occurred, and news under the name of that exchange, once', () => {
  const changes: unknown[] = [];
  const entries: unknown[] = [];
  const places = new LeftElsewhere(change => changes.push(change));
  places.onEntry(entry => entries.push(entry));
  const of = { source: 's', cause: 'deposits', amount: money(4n), at: 9, occurredAt: 7, why: 'sent' } as const;
  for (const currency of ['btc@one', 'btc@two', 'btc@one']) places.transfer({ ...of, kind: 'transfer', currency });
  expect(entries).toMatchObject(
    ['one', 'two'].map(place => ({
      ...{ source: `s@${place}`, at: 7, why: 'sent' },
      changes: [{ cause: 'deposits', currency: `btc@${place}`, amount: 4n }],
    })),
  );
  expect(changes).toMatchObject(
    ['one', 'two'].map(place => ({
      ...{ kind: 'transfer', currency: 'btc', major: 4n },
      transfer: { source: `s@${place}`, currency: `btc@${place}`, occurredAt: 7 },
    })),
  );
  expect([entries.length, changes.length]).toEqual([2, 2]);
});

test('a currency is in doubt from the opening there until a later comparison reports it as equal, also over restarts, and no other is', () => {
  const some = fc.subarray([...CURRENCIES]);
  const step = fc.oneof(
    fc.record({ kind: fc.constant('opened' as const), names: some }),
    fc.record({ kind: fc.constant('compared' as const), ago: fc.nat(3), reported: some, differ: some }),
    fc.record({ kind: fc.constant('restart' as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 10 }), steps => {
      const empty = () => new Transit('there', null, () => undefined);
      let transit = empty();
      let doubts = new Map<string, number>();
      for (const [at, one] of steps.entries()) {
        if (one.kind === 'opened') {
          transit.opened(
            one.names.map(name => `${name}@there`),
            at,
          );
          doubts = new Map(one.names.map(name => [name, at]));
        } else if (one.kind === 'compared') {
          const mapOf = (names: readonly string[]) => new Map(names.map(name => [name, money(1n)]));
          const check = { at: at - one.ago, reported: mapOf(one.reported), differences: mapOf(one.differ) };
          transit.compared(check as Partial<BalanceCheck> as BalanceCheck);
          for (const name of one.reported)
            if (!one.differ.includes(name) && check.at >= (doubts.get(name) ?? 0)) doubts.delete(name);
        } else {
          const { rows, state } = transit;
          transit = empty();
          transit.restore(rows, state, at);
          doubts = new Map([...doubts.keys()].map(name => [name, -Infinity]));
        }
        expect(new Set(transit.state.openings ?? [])).toEqual(new Set(doubts.keys()));
      }
    }),
    runsOf(2_000, 200),
  );
});
