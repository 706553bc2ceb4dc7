/** Deposits and withdrawals in the currencies of several books, reported by webhooks many times: each is booked once. */
import { afterEach, expect, test, vi } from 'vitest';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { money, moneyOf, textOfMoney } from '../../../src/core/index.ts';
import { MarketData } from '../../../src/live/market/marketData.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { ledgerFileIn } from '../../../src/live/state/ledgerFile.ts';
import { inboxHearing } from '../../../src/wiring/inbox.ts';
import { memoryLog } from '../../memoryLog.ts';
import { started, worldOf } from '../world.ts';

afterEach(() => void vi.restoreAllMocks());

const SUMS = [
  ['eth', '0.5', 'deposits'],
  ['usd', '700.25', 'deposits'],
  ['mxn', '1000', 'deposits'],
  ['btc', '-0.03', 'withdrawals'],
  // A currency of no book.
  ['sol', '3', null],
] as const;

test('a delivery about any currency of any book leads to one booking, however often it comes', async () => {
  const markets = vi.spyOn(MarketData.prototype, 'start').mock.contexts;
  const world = worldOf(7, {}, 'desk');
  const running = await started(world);
  await world.clock.advance(30_000);
  const { venue } = world.box.exchange;
  const account = venue.accounts.get(world.box.account.id)!;
  // As a bot with webhooks does, whose inbox is a thread of its own.
  const hear = inboxHearing(memoryLog().log, { moved: () => (markets[0] as MarketData).moved() }, () =>
    world.clock.elapsed(),
  );
  const delivery = {
    kind: 'transaction',
    id: 't',
    type: 'CRYPTO_DEPOSIT',
    status: 'COMPLETED',
    refund: null,
    quoteId: null,
    contradictions: [],
  } as const;
  for (const [currency, sum] of SUMS) {
    if (sum.startsWith('-')) expect(venue.withdraw(account, currency, moneyOf(sum.slice(1)))).toBe(true);
    else venue.deposit(account, currency, moneyOf(sum), 'funding');
    for (let i = 0; i < 5; i++) {
      hear(delivery);
      await world.clock.advance(500);
    }
    await world.clock.advance(20_000);
  }
  await world.clock.advance(60_000);
  expect(running.log.map(({ text }) => text).join('\n')).not.toMatch(/halted|differs/);
  const { summary, failure } = await running.stop();
  expect([failure, summary.ledgerMatches]).toEqual([null, true]);
  const causes = (await ledgerFileIn(world.stateDir, realClock()))!.causes;
  for (const [currency, sum, cause] of SUMS) {
    if (cause === null) continue;
    expect(textOfMoney(causes.get(currency)![cause]), currency).toBe(sum);
    const booked = Object.values(causes.get(currency)!).reduce((all, each) => all + each, 0n);
    expect(textOfMoney(money(booked)), currency).toBe(textOfMoney(account.total(currency)));
  }
  expect(replay(world.stateDir, 'all', () => undefined)).toBe(true);
  world.end();
});
