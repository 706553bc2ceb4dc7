/** Transfers that a person makes between both exchanges: booked on both sides with their fee, and nothing else is. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { money, moneyOf, textOfMoney, type EngineEvent, type Money } from '../../../src/core/index.ts';
import { PlaceTransfers } from '../../../src/live/loop/placeTransfers.ts';
import { PATIENCE } from '../../core/desk.ts';
import { TwoDesks } from '../../core/twoDesks.ts';
import { memoryLog } from '../../memoryLog.ts';
import { runsOf } from '../../many.ts';

const WAIT_MS = 60_000;
const FEE_MAX = moneyOf('3');
const cases = fc.record({
  currency: fc.constantFrom('btc', 'usdt'),
  // At least 1 arrives, whatever the fee is.
  lots: fc.integer({ min: 7, max: 50 }),
  fee: fc.integer({ min: -2, max: 6 }),
  isOut: fc.boolean(),
  /** Order of the two sides, and the ms between them. */
  isHereFirst: fc.boolean(),
  apartMs: fc.constantFrom(0, 5_000, 20_000, 90_000),
  hasLists: fc.boolean(),
});

test('a fall on one side and a rise on the other are one transfer, in either order, within the fee and the wait; anything else halts', () => {
  const cameUp = new Set<boolean>();
  fc.assert(
    fc.property(cases, ({ currency, lots, fee, isOut, isHereFirst, apartMs, hasLists }) => {
      const two = new TwoDesks({ target: null, timing: { ...PATIENCE, listWaitMs: WAIT_MS } });
      const { desk } = two;
      const here = new Map([
        ['btc', moneyOf('1000000')],
        ['mxn', moneyOf('1000000')],
        ['usdt', moneyOf('500')],
      ]);
      const step = (event: EngineEvent) => {
        if (event.kind === 'transfer') transfers.onTransfer(event);
        desk.step(event);
      };
      const readHere = () => {
        const balances = [...here].map(([name, sum]) => {
          const total = textOfMoney(sum);
          return { currency: name, total, locked: '0', available: total };
        });
        desk.step({ kind: 'balances', at: desk.now, startedAt: desk.now, quiet: true, balances });
      };
      const transfers: PlaceTransfers = new PlaceTransfers({
        run: { clock: { elapsed: () => desk.now } as never, time: () => desk.now, log: memoryLog().log, step },
        ...{ engine: desk.engine, place: 'binance', hasLists, feeMax: new Map([[currency, FEE_MAX]]), waitMs: WAIT_MS },
      });
      readHere();
      two.readThere();
      desk.now += 1_000;
      // What left one side, and what arrived at the other.
      const [sent, got] = [moneyOf(String(lots)), moneyOf(String(lots - fee))];
      const moveHere = () => {
        const amount = money(isOut ? -sent : got);
        here.set(currency, money(here.get(currency)! + amount));
        if (!hasLists) return;
        const cause = isOut ? 'withdrawals' : 'deposits';
        const of = {
          source: `list ${desk.now}`,
          cause,
          currency,
          amount,
          occurredAt: desk.now,
          why: 'listed',
        } as const;
        step({ kind: 'transfer', at: desk.now, ...of });
      };
      const moveThere = () => two.truth.set(currency, money(two.truth.get(currency)! + (isOut ? got : -sent)));
      const reads = (ms: number) => {
        for (let passed = 0; passed < ms && desk.engine.haltedBecause === null; passed += 2_000) {
          desk.now += 2_000;
          readHere();
          two.readThere();
          transfers.explain();
        }
      };
      (isHereFirst ? moveHere : moveThere)();
      reads(apartMs);
      (isHereFirst ? moveThere : moveHere)();
      reads(100_000);
      // A side without lists that stays alone halts after the wait, before the other side arrives.
      const isSeen = apartMs <= 20_000;
      const isOne = fee >= 0 && money(BigInt(fee) * 10n ** 18n) <= FEE_MAX && isSeen;
      cameUp.add(isOne);
      expect([desk.engine.haltedBecause === null, isOne]).toEqual([isOne, isOne]);
      if (!isOne) return;
      const sums = (name: string): Money => desk.engine.elsewhere!.view.total(`${name}@binance`);
      expect(sums(currency)).toBe(two.truth.get(currency));
      expect(desk.engine.account.total(currency)).toBe(here.get(currency));
      const row = desk.engine.ledger([])!.causes.get(`${currency}@binance`)!;
      expect(textOfMoney(row.fees)).toBe(textOfMoney(money(BigInt(-fee) * 10n ** 18n)));
    }),
    runsOf(2_000, 150),
  );
  expect(cameUp.size).toBe(2);
});
