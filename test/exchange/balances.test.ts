/** Balances of every exchange: a third currency that falls to zero differs from the ledger by what it had. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textOfMoney, VirtualClock, type Money } from '../../src/core/index.ts';
import { Bookings } from '../../src/core/accounting/bookings.ts';
import { ElsewhereReads } from '../../src/hedge/elsewhereReads.ts';
import { VENUES } from '../../src/wiring/venueRegistry.ts';
import { TwoToyExchanges } from '../core/twoToyExchanges.ts';
import { memoryLog } from '../memoryLog.ts';
import { clientOn, endOf, listAnswer } from './everyVenue.ts';

/** Third currency, and the answer with its balance, by exchange. */
const THIRDS: Readonly<Record<string, readonly [currency: string, body: (total: string) => object]>> = {
  bitso: [
    'eth',
    total => ({ success: true, payload: { balances: [{ currency: 'eth', total, locked: '0', available: total }] } }),
  ],
  binance: ['bnb', total => ({ balances: [{ asset: 'BNB', free: total, locked: '0' }] })],
  // An asset without books, which is not listed while it has no balance.
  kraken: [
    'dot.s',
    total => ({ error: [], result: total === '0' ? {} : { 'DOT.S': { balance: total, hold_trade: '0' } } }),
  ],
};

test.each(VENUES.map(venue => [venue.name, venue] as const))(
  '%s: a balance that falls to zero and one that returns are compared, also after a restart meanwhile',
  async (name, venue) => {
    const [currency, body] = THIRDS[name]!;
    const text = (units: bigint): string => textOfMoney((units * 10n ** 10n) as Money);
    const total = fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 10n ** 12n }));
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt({ min: 1n, max: 10n ** 12n }),
        fc.array(fc.record({ total, restarts: fc.boolean() }), { minLength: 1, maxLength: 5 }),
        async (first, later) => {
          let now = first;
          const start = () =>
            clientOn(venue, request =>
              Promise.resolve(
                listAnswer(request) ?? { status: 200, headers: {}, body: JSON.stringify(body(text(now))) },
              ),
            );
          let { client, clock } = start();
          let bookings = new Bookings(() => undefined);
          for (const { total: held, restarts } of [{ total: first, restarts: false }, ...later]) {
            now = held;
            if (restarts) {
              ({ client, clock } = start());
              const before = bookings;
              bookings = new Bookings(() => undefined);
              bookings.restore(before.stateToSave([]));
            }
            const outcome = await endOf(clock, client.balances({ also: [...bookings.totals.keys()] }));
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

test('a run asks for the balances of all currencies of its ledger, at the place by the name there', async () => {
  const two = new TwoToyExchanges();
  two.toy.open();
  two.readThere();
  const { engine, now } = two.toy;
  const asked: (readonly string[])[] = [];
  const client = {
    balances: (query?: { readonly also: readonly string[] }) => {
      asked.push(query?.also ?? []);
      return Promise.resolve({ kind: 'unknown', reason: 'no answer' } as const);
    },
  };
  const run = { clock: new VirtualClock(now), time: () => now, step: () => undefined, log: memoryLog().log };
  const options = {
    onUnread: () => undefined,
    firstHedges: () => undefined,
    currencies: ['btc', 'usdt'],
    hedgeState: () => '',
  };
  const place = { name: 'binance', client };
  await new ElsewhereReads({ ...options, run, engine, place, rate: () => null } as never).read();
  expect(asked).toEqual([['btc', 'usdt', 'bnb']]);
});
