/** Balances of every exchange: a third currency that falls to zero differs from the ledger by what it had. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textOfMoney, type Money } from '../../src/core/index.ts';
import { Bookings } from '../../src/core/accounting/bookings.ts';
import { VENUES } from '../../src/wiring/venueRegistry.ts';
import { clientOn, endOf, listAnswer } from './everyVenue.ts';

/** Third currency, and the answer with its balance, by exchange. */
const THIRDS: Readonly<Record<string, readonly [currency: string, body: (total: string) => object]>> = {
  bitso: [
    'eth',
    total => ({ success: true, payload: { balances: [{ currency: 'eth', total, locked: '0', available: total }] } }),
  ],
  binance: ['bnb', total => ({ balances: [{ asset: 'BNB', free: total, locked: '0' }] })],
  kraken: ['doge', total => ({ error: [], result: { XXDG: { balance: total, hold_trade: '0' } } })],
};

test.each(VENUES.map(venue => [venue.name, venue] as const))(
  '%s: a balance that falls to zero and one that returns are compared',
  async (name, venue) => {
    const [currency, body] = THIRDS[name]!;
    const text = (units: bigint): string => textOfMoney((units * 10n ** 10n) as Money);
    const total = fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 10n ** 12n }));
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt({ min: 1n, max: 10n ** 12n }),
        fc.array(total, { minLength: 1, maxLength: 5 }),
        async (first, later) => {
          let now = first;
          const { client, clock } = clientOn(venue, request =>
            Promise.resolve(listAnswer(request) ?? { status: 200, headers: {}, body: JSON.stringify(body(text(now))) }),
          );
          const bookings = new Bookings(
            () => undefined,
            () => ({ id: null, level: null }),
          );
          for (now of [first, ...later]) {
            const outcome = await endOf(clock, client.balances());
            if (outcome?.kind !== 'done') throw new Error(JSON.stringify(outcome));
            bookings.read(outcome.value, clock.now());
            const difference = (now - first) * 10n ** 10n;
            const expected = difference === 0n ? [] : [{ currency, difference }];
            expect(bookings.differences().filter(each => each.currency === currency)).toEqual(expected);
          }
        },
      ),
      { numRuns: 20 },
    );
  },
);
