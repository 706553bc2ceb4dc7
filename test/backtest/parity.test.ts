import { describe, expect, test } from 'vitest';
import { recordFlow } from '../../backtest/index.ts';
import type { Config } from '../../src/config.ts';
import { openTape, type Tape } from '../../src/tape/index.ts';
import { sandboxConfig } from '../live/world.ts';
import { few } from '../many.ts';
import { itOnRecording } from '../tape/folder.ts';
import { inBacktest, onEmbedded } from './parity.ts';

const MINUTE = 60_000;
const free = { drawdownMax: '5000000', dayLossMax: '5000000' };
/** Quotes inside the spread with large orders: levels that come through our prices, and takers who sweep several of ours. */
const tight = {
  // Of a smaller budget the bot keeps the last 60 from prompt reads, and hears of some fills at its next poll.
  exchange: { budgets: { privatePerMinute: 300 } },
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

/** Inventory leaves by `venues`; what an order took is left alone for as long as the backtest holds it for gone. */
const hedged = (...venues: readonly string[]) => ({
  ...tight,
  hedge: {
    ...{ venues, band: '0.04', residual: '0.01', costMaxBps: 40, everyMs: 1_777 },
    pauseMs: venues.includes('book') ? 61_013 : 10_013,
  },
  backtest: { desk: { delayMinMs: 700, delayMaxMs: 700, spreadBps: 10, paddingBps: 15 } },
});

type Least = { readonly commands: number; readonly fills: number; readonly hedges?: number };

async function expectSame(tape: Tape, config: Config, ms: number, least: Least, beside: readonly Tape[] = []) {
  const box = await onEmbedded(tape, config, ms, beside);
  const back = await inBacktest(tape, config, ms, 'pessimistic', { beside });
  expect(box.problems).toEqual([]);
  expect(back.commands).toEqual(box.commands);
  expect(back.fills).toEqual(box.fills);
  expect(back.hedges).toEqual(box.hedges);
  expect(back.commands.length).toBeGreaterThan(least.commands);
  expect(back.fills.length).toBeGreaterThan(least.fills);
  expect(back.hedges.length).toBeGreaterThanOrEqual(least.hedges ?? 0);
  return back;
}

describe('the bot on the embedded exchange and the backtest do the same, command by command and fill by fill, without latency', () => {
  const flows: readonly (readonly [string, number, number, number, Parameters<typeof sandboxConfig>[0]])[] = [
    ['as shipped', 2, 8, 5, {}],
    ['inside the spread', 2, 5, 15, tight],
    ['around a fair value of several parts', 5, 6, 8, mixture],
    ['as shipped', 5, 8, 5, {}],
    ['inside the spread', 1, 7, 15, tight],
  ];
  test.each(few(flows, 1))('%s, on flow %i', async (_name, seed, minutes, fills, changes) => {
    const ms = minutes * MINUTE;
    const least = { commands: 50, fills };
    await expectSame(recordFlow('btc_mxn', seed, ms / 1000), sandboxConfig(changes), ms, least);
  });

  // Quotes that nobody meets and that do not move: what is pulled at the very moment of a trade, and answered in it, is told before or after the book's rows of that moment.
  test.each(few([1, 2, 5], 1))('large trades pull the same orders at the same moments, on flow %i', async seed => {
    const ms = 3 * MINUTE;
    const config = sandboxConfig({
      strategy: { halfSpreadBps: 150, refreshToleranceBps: 100 },
      limits: { collarBps: 400, ...free },
      pull: { print: { amount: '0.05', holdMs: 600_000 } },
    });
    const tape = recordFlow('btc_mxn', seed, ms / 1_000);
    const box = await onEmbedded(tape, config, ms);
    const back = await inBacktest(tape, config, ms, 'pessimistic');
    expect(box.problems).toEqual([]);
    expect(back.commands).toEqual(box.commands);
    const pulled = back.commands.filter(({ at, what }) => what.startsWith('cancel') && at % 1_000 !== 0.25);
    expect(pulled.length).toBeGreaterThanOrEqual(3);
  });

  const ways: readonly (readonly [string, number, number, number, readonly string[]])[] = [
    ['rfq', 5, 5, 5, ['rfq', 'conversion', 'book']],
    ['book', 3, 5, 3, ['book']],
    ['rfq', 5, 6, 5, ['rfq', 'conversion']],
    ['conversion', 5, 4, 4, ['conversion']],
  ];
  // The next test hedges by conversion.
  test.each(few(ways, 1))('hedge by hedge, by %s, on flow %i', async (way, seed, minutes, hedges, venues) => {
    const ms = minutes * MINUTE;
    const least = { commands: 100, fills: 50, hedges };
    const same = await expectSame(recordFlow('btc_mxn', seed, ms / 1000), sandboxConfig(hedged(...venues)), ms, least);
    const taken = new RegExp(`^completed .* by ${way} .*${way} [0-9.-]+ bps \\(taken\\)`);
    expect(same.hedges.filter(({ what }) => !taken.test(what))).toEqual([]);
  });

  test('hedge by hedge, over dollars, leg by leg', async () => {
    const ms = 4 * MINUTE;
    const tape = recordFlow('btc_mxn', 2, ms / 1000);
    const beside = (['btc_usd', 'usd_mxn'] as const).map((book, i): Tape => {
      const { columns, ...other } = recordFlow(book, 3 + i, ms / 1000);
      const shift = tape.columns.at[0]! - columns.at[0]!;
      return { ...other, columns: { ...columns, at: columns.at.map(at => at + shift), local: columns.at } };
    });
    const config = sandboxConfig({
      ...hedged('conversion'),
      hedge: { ...hedged('conversion').hedge, costMaxBps: 300, routes: { via: ['usd'], riskBps: 2 } },
      backtest: { desk: { delayMinMs: 700, delayMaxMs: 700, spreadBps: 10, paddingBps: 290 } },
    });
    const same = await expectSame(tape, config, ms, { commands: 100, fills: 50, hedges: 5 }, beside);
    expect(same.hedges.filter(({ what }) => !/^completed .*rfq via usd [0-9.-]+ bps \(taken\)/.test(what))).toEqual([]);
  });

  test('behind a feed that is late by 426 ms, and through a gap of the recording', async () => {
    const whole = recordFlow('btc_mxn', 5, 300);
    const start = whole.columns.at[0]!;
    const cut = { from: start + 120_000, to: start + 180_000, why: 'made' };
    // A minute in which nothing was recorded.
    const at = whole.columns.at.map(time => (time > cut.from ? time + MINUTE : time));
    // The first picture is read, and not heard: it is as old for both.
    const local = at.map(time => (time < start + 10_000 ? time : time + 426));
    const tape = { ...whole, gaps: [cut], columns: { ...whole.columns, at, local } };
    const config = sandboxConfig({
      // Nothing is filled: a fill is heard of from the feed here, and at once there.
      strategy: { halfSpreadBps: 150, refreshToleranceBps: 0.5 },
      limits: { collarBps: 400, ...free },
      timing: { bookPollMs: 8_000, staleAfterMs: 9_700 },
    });
    const box = await onEmbedded(tape, config, 6 * MINUTE);
    const back = await inBacktest(tape, config, 6 * MINUTE, 'pessimistic');
    expect(box.problems.filter(text => !text.startsWith('order_book was rejected'))).toEqual([]);
    expect(back).toEqual({ commands: box.commands, fills: box.fills, hedges: [] });
    const times = back.commands.map(one => one.at);
    expect(times.length).toBeGreaterThan(500);
    // Withdrawn when the book was too old, and quoted again when it was heard of.
    expect(times.filter(time => time > 121_000 && time < 180_000)).toEqual(Array.from({ length: 6 }, () => 130_000.25));
  });

  const withLateFills = async (seed: number): Promise<void> => {
    const whole = recordFlow('btc_mxn', seed, 300);
    const prompt = whole.columns.at[0]! + 10_000;
    const late = (time: number): number => (time < prompt ? 0 : 426);
    const local = whole.columns.at.map(time => time + late(time));
    const config = sandboxConfig({
      exchange: tight.exchange,
      strategy: { halfSpreadBps: 20, minEdgeBps: -100 },
      limits: free,
      timing: { bookPollMs: 8_000, staleAfterMs: 9_700 },
    });
    const tape = { ...whole, columns: { ...whole.columns, local } };
    const { problems, ...box } = await onEmbedded(tape, config, 5 * MINUTE);
    expect(problems).toEqual([]);
    expect(await inBacktest(tape, config, 5 * MINUTE, 'pessimistic', { fillNotice: late })).toEqual(box);
    expect(box.commands.length).toBeGreaterThan(50);
    expect(box.fills.length).toBeGreaterThan(0);
  };
  test.each(few([1, 2, 3, 4, 5, 7, 8, 9, 10], 1))(
    'with fills, of which it hears from a feed that is late by 426 ms, on flow %i',
    withLateFills,
  );

  const real = [
    ['binance-spot-2024-08-08', 'btc_usdt', 60, '0.0001', { commands: 15, fills: 10 }],
    ['hyperliquid-2025-09-04-l2-trades', 'btc_usd', 240, '0.001', { commands: 15, fills: 10 }],
    ['bitstamp-btcusd-2015-05-01-book-orders-trades', 'btc_usd', 600, '0.1', { commands: 50, fills: 25 }],
  ] as const;
  for (const [set, book, seconds, amount, least] of few(real, 1)) {
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
      // Heard when it happens, and no gap is known: the embedded exchange knows of neither.
      const prompt = { ...tape, gaps: [], columns: { ...columns, local: columns.at } };
      await expectSame(prompt, config, seconds * 1000, least);
    });
  }
});
