/** Balances are compared with the ledger only on a quiet cut: when no trade was recorded between the readings around them. */
import { describe, expect, test } from 'vitest';
import {
  money,
  VirtualClock,
  type Balance,
  type EngineEvent,
  type Exchange,
  type TransferLists,
  type TransferLine,
  type Outcome,
  type OwnTrade,
} from '../../../src/core/index.ts';
import { BalanceReads } from '../../../src/live/account/balanceReads.ts';
import { ConnectivityLog } from '../../../src/live/connectivityLog.ts';
import { Reads } from '../../../src/live/account/reads.ts';
import { isFailed } from '../../../src/live/failedRequest.ts';
import { Desk } from '../../core/desk.ts';
import { memoryLog } from '../../memoryLog.ts';

const trade: OwnTrade = {
  ...{ book: 'btc_mxn', tid: '7', oid: 'x', createdAt: 0, side: 'buy', price: '1000', major: '1', minor: '1000' },
  ...{ feeAmount: '0', feeCurrency: 'btc', maker: true },
};

const balance = (currency: string) => ({ currency, total: '1000000000', locked: '0', available: '1000000000' });

/** Balances of an engine that holds 1000000000 of each, over an exchange of these trades; `onBalances` before each answer, which it may replace. */
function readsOver(trades: OwnTrade[], onBalances: () => Outcome<readonly Balance[]> | null, lists?: TransferLists) {
  const clock = new VirtualClock();
  const { engine } = new Desk().open();
  const exchange = {
    limits: { ordersPage: 500, tradesPage: 100, depth: 50 },
    userTrades: async () => ({ kind: 'done', value: [...trades] }),
    balances: async () => onBalances() ?? { kind: 'done', value: [balance('btc'), balance('mxn')] },
  } as Partial<Exchange> as Exchange;
  const time = () => 1_000_000 + clock.elapsed();
  const reads = new Reads(exchange, 'btc_mxn', undefined, time, 20_000);
  const events: EngineEvent[] = [];
  const step = (event: EngineEvent) => {
    events.push(event);
    engine.step(event);
  };
  const { log, lines } = memoryLog();
  const balances = new BalanceReads({
    ...{ engine, reads, run: { clock, log, time, step } },
    explained: { lists, known: null, listAheadMaxMs: 0 },
    connectivity: new ConnectivityLog(log, clock),
    readTrades: async () => {
      const event = await reads.trades();
      if (isFailed(event)) return false;
      step(event);
      reads.take(event);
      return event.complete;
    },
    note: () => undefined,
    persist: () => true,
  });
  return { balances, clock, engine, events, lines };
}

describe('a read of the balances', () => {
  test.each([
    ['before', true],
    ['during', false],
    ['not at all around', true],
  ] as const)('is a quiet cut when a trade is recorded %s it: %s', async (when, quiet) => {
    const trades: OwnTrade[] = when === 'before' ? [trade] : [];
    const { balances, events } = readsOver(trades, () => {
      if (when === 'during') trades.push(trade);
      return null;
    });
    expect(await balances.read()).toBe(quiet);
    expect(events.find(({ kind }) => kind === 'balances')).toMatchObject({ quiet });
  });

  test('learns what the lists showed also from the next one when the balances could not be read', async () => {
    let looks = 0;
    let isFirst = true;
    const updates = [{ currency: 'mxn', amount: money(5n) }];
    const line: TransferLine = { id: 'f1', operation: 'funding', createdAt: 0, updates };
    const moneyMoved: TransferLists['transferLines'] = async list => {
      looks++;
      return { kind: 'done', value: list === 'fundings' ? [line] : [] };
    };
    const failed = { kind: 'unknown', reason: 'no answer' } as const;
    const { balances } = readsOver(
      [],
      () => {
        const answer = isFirst ? failed : null;
        isFirst = false;
        return answer;
      },
      {
        lists: [
          { name: 'fundings', of: 'deposits' },
          { name: 'withdrawals', of: 'withdrawals' },
          { name: 'fees', of: 'fees' },
        ],
        linesPage: 100,
        transferLines: moneyMoved,
      },
    );
    expect([await balances.read(), balances.known]).toEqual([false, null]);
    expect([await balances.read(), balances.known]).toEqual([true, ['fundings f1']]);
    expect(looks).toBe(3);
  });
});
