/** Amounts in transit: which of them may also be in the opening balances of the other exchange, and that each counts once. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { money, moneyOf, type BalancesEvent, type TransferEvent } from '../../../src/core/index.ts';
import { Accounts } from '../../../src/core/accounting/accounts.ts';
import { Transit, type TransitItem } from '../../../src/core/accounting/transit.ts';
import { runsOf } from '../../many.ts';

const T = 1.7e12;
const LIMITS = { feeMax: new Map(), fallMax: new Map(), waitMs: 3_600_000 };
const ITEMS_MAX = 100;

const sent = (source: string, at: number): TransferEvent => ({
  ...{ kind: 'transfer', source, cause: 'withdrawals', currency: 'btc', amount: moneyOf('-1') },
  ...{ at, occurredAt: at, why: 'sent', inTransit: true },
});

it('what is sent may be in the opening balances there, unless a later comparison has shown all that was sent; a repeat counts once', () => {
  const span = fc.integer({ min: 0, max: 20 });
  fc.assert(
    fc.property(span, span, span, span, fc.boolean(), (takes, before, lasts, later, isEqual) => {
      const accounts = new Accounts(
        'btc',
        { place: 'there', major: 'btc', minor: 'usd', bounds: {}, transfers: LIMITS },
        { tradeReportDelayMaxMs: 0 },
        {
          booked: () => undefined,
          placed: () => undefined,
          fillOf: () => ({ id: null, level: null }),
        },
      );
      const read = (startedAt: number, at: number, btc: string, place?: string): unknown => {
        const event: BalancesEvent = {
          ...{ kind: 'balances', startedAt, at, quiet: true, ...(place === undefined ? {} : { place }) },
          balances: [{ currency: 'btc', total: btc, locked: '0', available: btc }],
        };
        return accounts.read(event, new Map());
      };
      read(T - 100, T - 100, '10');
      // Before its opening, a transfer there is only a part of the opening balances.
      accounts.transfer({ ...sent('d0', T - 50), currency: 'btc@there', amount: moneyOf('1') });
      expect(accounts.transit.items).toEqual([]);
      // The other exchange is read from T to T + takes. A comparison at home starts around that time and ends after it.
      read(T, T + takes, '5', 'there');
      const startedAt = T - 10 + before;
      const endsAt = Math.max(T + takes, startedAt) + lasts;
      read(startedAt, endsAt, isEqual ? '10' : '9');
      const event = sent('w1', endsAt + later);
      for (let i = 0; i < 2; i++) accounts.transfer(event);
      const isKnown = isEqual && startedAt >= T + takes;
      expect(accounts.transit.items).toEqual([
        {
          ...{ source: 'w1', currency: 'btc', place: null, amount: moneyOf('1'), since: event.at },
          ...(isKnown ? {} : { mayBeInOpening: true }),
        },
      ]);
      expect([accounts.transit.held('btc'), accounts.own.total('btc')]).toEqual([moneyOf('1'), moneyOf('9')]);
    }),
    runsOf(2_000, 200),
  );
});

it('many amounts are merged without a loss: no sum changes, and what was in doubt stays in doubt', () => {
  const items = fc.array(
    fc.record({ isOut: fc.boolean(), isDoubtful: fc.boolean(), lots: fc.integer({ min: 2, max: 9 }) }),
    {
      minLength: ITEMS_MAX,
      maxLength: ITEMS_MAX,
      size: 'max',
    },
  );
  fc.assert(
    fc.property(items, fc.integer({ min: 1, max: 30 }), (drawn, more) => {
      const transit = new Transit('there', LIMITS, () => undefined);
      const kept = drawn.map(({ isOut, isDoubtful, lots }, i): TransitItem => ({
        ...{ source: `s${i}`, currency: 'btc', place: isOut ? 'third' : null, since: T + i },
        amount: money(BigInt(lots) * 10n ** 18n),
        ...(isDoubtful ? { mayBeInOpening: true } : {}),
      }));
      transit.restore({ causes: new Map(), sources: [] }, { transit: kept }, T);
      const sumOf = (doubtful: boolean) =>
        transit.items.reduce((sum, one) => sum + (doubtful && one.mayBeInOpening !== true ? 0n : one.amount), 0n);
      let [all, doubted] = [sumOf(false), sumOf(true)];
      for (let i = 0; i < more; i++) {
        transit.move(sent(`w${i}`, T + 1_000 + i));
        all += 10n ** 18n;
        expect([transit.items.length, sumOf(false)]).toEqual([ITEMS_MAX, all]);
        expect(sumOf(true)).toBeGreaterThanOrEqual(doubted);
        doubted = sumOf(true);
      }
    }),
    runsOf(200, 20),
  );
});

it('transfers in both directions that show as one net change in an account are complete', () => {
  // A smaller amount could be the fee of the other transfer.
  const lots = fc.integer({ min: 3, max: 50 });
  const fees = fc.integer({ min: 0, max: 2 });
  fc.assert(
    fc.property(lots, lots, fees, fc.boolean(), fc.boolean(), (out, back, fee, isThere, isBackFirst) => {
      const limits = { ...LIMITS, feeMax: new Map([['btc', moneyOf('1')]]) };
      const transit = new Transit('there', limits, () => undefined);
      const [single, net] = isThere ? [null, 'there'] : ['there', null];
      const item = (place: string | null, count: number, source: string): TransferEvent => ({
        ...sent(source, T),
        ...{ cause: count < 0 ? 'withdrawals' : 'deposits', amount: money(BigInt(count) * 10n ** 18n) },
        currency: place === null ? 'btc' : `btc@${place}`,
      });
      const moves = [item(single, -out, 'out'), item(single, back, 'back')];
      for (const event of isBackFirst ? moves.toReversed() : moves) transit.move(event);
      // The account there received `out` less its fee, and sent `back`, whose fee was part of it.
      const change = out - fee - back;
      if (change === 0) return;
      const moved = { place: net, currency: 'btc', amount: money(BigInt(change) * 10n ** 18n) };
      expect(transit.completes(moved)).toBe(true);
      transit.move(item(net, change, 'net'));
      expect([transit.items, transit.held('btc')]).toEqual([[], 0n]);
      expect(transit.completes({ ...moved, amount: money(-moved.amount) })).toBe(false);
    }),
    { ...runsOf(1_000, 100), examples: [[3, 16, 0, true, false]] },
  );
});
