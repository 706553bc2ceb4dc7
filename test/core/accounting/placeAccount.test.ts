/** Account on another exchange: the age of its balances and the value of its quote currency, over any history. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { moneyOf, type Money, type OwnTrade } from '../../../src/core/index.ts';
import { PlaceAccount, type PlacedChange } from '../../../src/core/accounting/placeAccount.ts';
import { runsOf } from '../../many.ts';

const MAX_AGE = 60_000;
const OPENING = 1_000n;
const UNIT = 10n ** 18n;
const rate = fc.integer({ min: 1, max: 40 });

const events = fc.record({
  kind: fc.constantFrom('read', 'read', 'hedge'),
  passed: fc.integer({ min: 0, max: 50_000 }),
  /** Time that a read takes. */
  takes: fc.integer({ min: 0, max: 20_000 }),
  rate,
  isRateKnown: fc.boolean(),
  lots: fc.integer({ min: 1, max: 9 }),
});

it('balances are as old as the start of their read, and cash counts at the rate of its own hedge, drift at the latest', () => {
  fc.assert(
    fc.property(fc.array(events, { maxLength: 20, size: 'medium' }), rate, (history, first) => {
      const changes: PlacedChange[] = [];
      const account = new PlaceAccount(
        { place: 'there', major: 'btc', minor: 'usd' },
        { balancesMaxAgeMs: MAX_AGE },
        { tradeReportDelayMaxMs: 0 },
        change => changes.push(change),
      );
      let [at, usd, btc] = [1.7e12, OPENING, OPENING];
      const read = (takes: number, of: Money | undefined) =>
        account.read({
          ...{ kind: 'balances', at, startedAt: at - takes, quiet: true, place: 'there' },
          ...(of === undefined ? {} : { rate: of }),
          balances: Object.entries({ btc, usd }).map(([currency, total]) => ({
            ...{ currency, total: String(total), locked: '0', available: String(total) },
          })),
        });
      read(0, moneyOf(String(first)));
      let [readAt, value]: [number, number | null] = [at, first];
      for (const [n, event] of history.entries()) {
        at += event.passed + event.takes;
        if (event.kind === 'read') {
          read(event.takes, event.isRateKnown ? moneyOf(String(event.rate)) : undefined);
          [readAt, value] = [at - event.takes, event.isRateKnown ? event.rate : null];
        } else {
          const trade: OwnTrade = {
            ...{ book: 'btc_usd', tid: `${n}`, oid: `o${n}`, createdAt: at, side: 'sell', price: '50', maker: false },
            ...{ major: String(event.lots), minor: String(50 * event.lots), feeAmount: '0', feeCurrency: 'usd' },
          };
          account.apply({
            ...{ kind: 'elsewhere', at, phase: 'ended', trades: [trade], rate: moneyOf(String(event.rate)) },
            conversion: {
              id: `h${n}`,
              give: { currency: 'btc', amount: moneyOf('1') },
              get: { currency: 'usd', amount: moneyOf('1') },
            },
          });
          [usd, btc, value] = [usd + BigInt(50 * event.lots), btc - BigInt(event.lots), event.rate];
          expect(changes.at(-1)).toMatchObject({
            kind: 'trade',
            cash: BigInt(50 * event.lots * event.rate) * UNIT,
          });
        }
        expect(account.missing(at) === null).toBe(at - readAt <= MAX_AGE);
        expect(account.rate).toBe(value === null ? null : moneyOf(String(value)));
        expect(account.driftValue).toBe(value === null ? null : (usd - OPENING) * BigInt(value) * UNIT);
      }
    }),
    runsOf(2_000, 100),
  );
});
