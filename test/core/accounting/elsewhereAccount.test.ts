/** Account on another exchange: the age of its balances and the value of its quote currency, over any history. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { moneyOf, type Conversion, type Money, type OwnTrade } from '../../../src/core/index.ts';
import { ElsewhereAccount, type ElsewhereChange } from '../../../src/core/accounting/elsewhereAccount.ts';
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
      const changes: ElsewhereChange[] = [];
      const account = new ElsewhereAccount(
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

/** An account there with its book of btc and usd, the drift of which may be limited. */
function accountWith(drift?: { readonly max: Money; readonly target?: Money }) {
  const changes: ElsewhereChange[] = [];
  const entries: string[] = [];
  const account = new ElsewhereAccount(
    { place: 'there', major: 'btc', minor: 'usd' },
    { balancesMaxAgeMs: MAX_AGE, ...(drift && { drift }) },
    { tradeReportDelayMaxMs: 0 },
    change => changes.push(change),
  );
  account.onEntry(({ source, at }) => entries.push(`${source} ${at}`));
  const read = (sums: Readonly<Record<string, number>>, value: number | null, at = 0) =>
    account.read({
      ...{ kind: 'balances', at, startedAt: at, quiet: true, place: 'there' },
      ...(value === null ? {} : { rate: moneyOf(String(value)) }),
      balances: Object.entries(sums).map(([currency, total]) => ({
        ...{ currency, total: String(total), locked: '0', available: String(total) },
      })),
    });
  const transfer = (currency: string, amount: number, source: string, at: number) =>
    account.transfer({
      ...{
        kind: 'transfer',
        source,
        cause: 'deposits',
        currency: `${currency}@there`,
        amount: moneyOf(String(amount)),
      },
      ...{ at: at + 1, occurredAt: at, why: 'sent' },
    });
  return { account, changes, entries, read, transfer };
}

it('a side is closed exactly while its orders would add to a drift of at least the maximum, or of an unknown value', () => {
  const drawn = fc.record({
    opening: fc.integer({ min: 0, max: 9 }),
    added: fc.integer({ min: -9, max: 9 }),
    target: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
    max: fc.integer({ min: 1, max: 20 }),
    value: fc.option(
      rate.map(n => n % 4),
      { nil: null },
    ),
    isLimited: fc.constantFrom(true, true, true, false),
  });
  fc.assert(
    fc.property(drawn, ({ opening, added, target, max, value: drawnValue, isLimited }) => {
      const value = drawnValue === 0 ? null : drawnValue;
      const limit = { max: moneyOf(String(max)), ...(target === undefined ? {} : { target: moneyOf(String(target)) }) };
      const { account, read, transfer } = accountWith(isLimited ? limit : undefined);
      read({ btc: 3, usd: opening }, value);
      transfer('usd', added, 's', 5);
      const drift = opening + added - ((isLimited ? target : undefined) ?? opening);
      expect(account.drift).toBe(moneyOf(String(drift)));
      for (const side of ['buy', 'sell'] as const) {
        const size = side === 'sell' ? drift : -drift;
        const isClosed = isLimited && size > 0 && (value === null || size * value >= max);
        const why = account.closedBecause(side);
        expect(why !== null).toBe(isClosed);
        const from = target === undefined ? '' : ` from hedge.elsewhere.quoteTarget (${target})`;
        expect(why ?? `the drift of ${drift} usd${from}`).toContain(`the drift of ${drift} usd${from}`);
        if (why !== null && target === undefined) expect(why).not.toContain('quoteTarget');
      }
    }),
    runsOf(2_000, 300),
  );
});

it('nothing is booked before the opening; then each entry has the name of the exchange once, and each sum its own currency', () => {
  const { account, changes, entries, read, transfer } = accountWith();
  transfer('usd', 5, 'early', 1);
  expect([account.version, changes]).toEqual([0, []]);
  read({ btc: 3, usd: 100, eth: 7 }, 2, 10);
  transfer('usd', 11, 'late', 20);
  transfer('btc', 1, 'later', 30);
  expect(entries).toEqual(['opening@there 10', 'late@there 20', 'later@there 30']);
  expect(changes.map(({ kind, major }) => [kind, major])).toEqual([
    ['opening', moneyOf('3')],
    ['transfer', 0n],
    ['transfer', moneyOf('1')],
  ]);
  const leg = (currency: string, sum: string) => ({ currency, amount: moneyOf(sum) });
  const conversion: Conversion = { id: 'h1', give: leg('usd', '30'), get: leg('btc', '2') };
  account.apply({ kind: 'elsewhere', at: 40, phase: 'in flight', conversion });
  const { major, minor } = account.reserves;
  // The amount that an open order may spend is a hedge too.
  const sums = [major, minor, account.held, account.quoteHeld, account.funds('usd'), account.funds('eth')];
  expect(sums).toEqual(['4', '111', '4', '111', '81', '7'].map(moneyOf));
  expect([account.missing(10 + MAX_AGE), account.missing(11 + MAX_AGE)?.slice(0, 5)]).toEqual([null, 'there']);
});

it('funds are the ledger without what other orders lock there, and what the open order of a hedge locks is no other', () => {
  const sum = fc.integer({ min: 0, max: 500 });
  fc.assert(
    fc.property(sum, sum, fc.boolean(), (others, hedged, isOpen) => {
      const account = new ElsewhereAccount(
        { place: 'there', major: 'btc', minor: 'usd' },
        {},
        { tradeReportDelayMaxMs: 0 },
        () => undefined,
      );
      const read = (locked: number) =>
        account.read({
          ...{ kind: 'balances', at: 0, startedAt: 0, quiet: true, place: 'there' },
          balances: ['btc', 'usd'].map(currency => ({
            ...{ currency, total: '1000', locked: String(currency === 'btc' ? locked : 0), available: '0' },
          })),
        });
      read(0);
      const conversion: Conversion = {
        id: 'h1',
        give: { currency: 'btc', amount: moneyOf(String(hedged)) },
        get: { currency: 'usd', amount: moneyOf('1') },
      };
      if (isOpen) account.apply({ kind: 'elsewhere', at: 0, phase: 'in flight', conversion });
      read(others + (isOpen ? hedged : 0));
      expect(account.funds('btc')).toBe(moneyOf(String(1_000 - others - (isOpen ? hedged : 0))));
      expect(account.reserves).toEqual({ major: moneyOf(String(1_000 - others)), minor: moneyOf('1000') });
    }),
    runsOf(1_000, 100),
  );
});
