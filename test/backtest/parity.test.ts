import { describe, expect, test } from 'vitest';
import { recordFlow } from '../../backtest/index.ts';
import type { Config } from '../../src/config.ts';
import { openTape } from '../../src/tape/index.ts';
import type { Tape } from '../../src/tape/index.ts';
import { sandboxConfig } from '../live/world.ts';
import { itOnRecording } from '../tape/folder.ts';
import { inBacktest, onEmbedded } from './parity.ts';

const MINUTE = 60_000;
const free = { drawdownMax: '5000000', dayLossMax: '5000000' };
/** Quotes inside the spread with large orders: levels that come through our prices, and takers who sweep several of ours. */
const tight = {
  strategy: { halfSpreadBps: 3, minEdgeBps: -100, amount: '0.02', levelAmountStep: '0.01', levelSpacingBps: 2 },
  limits: { positionMax: '1', orderValueMax: '500000', ...free },
  halts: { fillsPer10Min: 100_000 },
};

/** What is followed from decision to decision must be the same at both ends too. Not the last trades: those that met us were at other prices on the recording. */
const mixture = {
  fairValue: {
    weightedMid: {},
    depthImbalance: { bpsPerDeviation: 1 },
    orderFlowImbalance: { bpsPerUnit: 1 },
  },
};

async function expectSame(tape: Tape, config: Config, ms: number, least: { commands: number; fills: number }) {
  const box = await onEmbedded(tape, config, ms);
  const back = inBacktest(tape, config, ms, 'pessimistic');
  expect(box.problems).toEqual([]);
  expect(back.commands).toEqual(box.commands);
  expect(back.fills).toEqual(box.fills);
  expect(back.commands.length).toBeGreaterThan(least.commands);
  expect(back.fills.length).toBeGreaterThan(least.fills);
}

describe('the bot on the embedded exchange and the backtest do the same, command by command and fill by fill, without latency', () => {
  test.each([
    ['as shipped', 1, 8, {}],
    ['as shipped', 3, 8, {}],
    ['inside the spread', 1, 7, tight],
    ['inside the spread', 2, 5, tight],
    ['around a fair value of several parts', 1, 5, mixture],
  ])('%s, on flow %i', async (_name, seed, minutes, changes) => {
    const ms = minutes * MINUTE;
    const least = { commands: 50, fills: 15 };
    await expectSame(recordFlow('btc_mxn', seed, ms / 1000), sandboxConfig(changes), ms, least);
  });

  const real = [
    ['binance-spot-2024-08-08', 'btc_usdt', 60, '0.0001', { commands: 15, fills: 10 }],
    ['hyperliquid-2025-09-04-l2-trades', 'btc_usd', 240, '0.001', { commands: 20, fills: 20 }],
    ['bitstamp-btcusd-2015-05-01-book-orders-trades', 'btc_usd', 600, '0.1', { commands: 50, fills: 25 }],
  ] as const;
  for (const [set, book, seconds, amount, least] of real) {
    itOnRecording(set, `on ${seconds} s of ${set}`, async dir => {
      const { columns, ...tape } = await openTape(dir, { book });
      const balances = Object.fromEntries(
        book.split('_').map((currency, i) => [currency, i === 0 ? '10' : '10000000']),
      );
      const config = sandboxConfig({
        book,
        exchange: { balances: { btc: '10', mxn: '0', ...balances } },
        strategy: {
          ...{ halfSpreadBps: 2, levels: 2, levelSpacingBps: 1, minEdgeBps: -100, skew: { sizeRange: '1' } },
          ...{ amount, levelAmountStep: '0' },
        },
        limits: { positionMax: '5', orderValueMax: '500000', ...free },
        inventory: { target: '10' },
      });
      // Heard when it happens, and no gap is known: the embedded exchange has neither.
      const prompt = { ...tape, gaps: [], columns: { ...columns, local: columns.at } };
      await expectSame(prompt, config, seconds * 1000, least);
    });
  }
});
