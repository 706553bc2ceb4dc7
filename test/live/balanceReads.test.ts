/** Balances are compared with the ledger only on a quiet cut: when no trade was recorded between the readings around them. */
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../src/core/index.ts';
import type { EngineEvent, Exchange, OwnTrade } from '../../src/core/index.ts';
import { BalanceReads } from '../../src/live/balanceReads.ts';
import { Reach } from '../../src/live/reach.ts';
import { isFailed, Reads } from '../../src/live/reads.ts';
import { Desk } from '../core/desk.ts';
import { memoryLog } from '../memoryLog.ts';

const trade: OwnTrade = {
  ...{ book: 'btc_mxn', tid: '7', oid: 'x', createdAt: 0, side: 'buy', price: '1000', major: '1', minor: '1000' },
  ...{ feeAmount: '0', feeCurrency: 'btc', maker: true },
};

describe('a read of the balances', () => {
  test.each([
    ['before', true],
    ['during', false],
    ['not at all around', true],
  ] as const)('is a quiet cut when a trade is recorded %s it: %s', async (when, quiet) => {
    const clock = new VirtualClock();
    const { engine } = new Desk().open();
    const trades: OwnTrade[] = when === 'before' ? [trade] : [];
    const balance = (currency: string) => ({ currency, total: '1000000000', locked: '0', available: '1000000000' });
    const exchange = {
      userTrades: async () => ({ kind: 'done', value: [...trades] }),
      balances: async () => {
        if (when === 'during') trades.push(trade);
        return { kind: 'done', value: [balance('btc'), balance('mxn')] };
      },
    } as Partial<Exchange> as Exchange;
    const time = () => 1_000_000 + clock.elapsed();
    const reads = new Reads(exchange, 'btc_mxn', undefined, time, 20_000);
    const events: EngineEvent[] = [];
    const step = (event: EngineEvent) => {
      events.push(event);
      engine.step(event);
    };
    const log = memoryLog().log;
    const balances = new BalanceReads({
      ...{ engine, clock, log, reads, time, step, known: null, listAheadMaxMs: 0 },
      reach: new Reach(log, clock),
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
    expect(await balances.read()).toBe(quiet);
    expect(events.find(({ kind }) => kind === 'balances')).toMatchObject({ quiet });
  });
});
