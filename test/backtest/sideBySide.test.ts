import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  fillModel,
  latencyOf,
  runSideBySide,
  RowWindow,
  travel,
  windowOfLevels,
  type FillRow,
  type MarketRows,
  type ModelName,
  type OrderRow,
  type ReplayOptions,
  type SideBySideOptions,
} from '../../backtest/index.ts';
import { randomOf, type Strategy } from '../../src/core/index.ts';
import { openStoredTape, TapeWriter, type StoredTape } from '../../src/tape/index.ts';
import { strategies } from '../../strategies/index.ts';
import { engineOf, rows, run, tape } from './ladderRun.ts';
import { runsOf } from '../many.ts';

let dir = '';
let stored: StoredTape;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'puntas-side-by-side-'));
  const writer = new TapeWriter({ dir, rules: tape.rules, source: 'flow', blockRows: 700 });
  writer.append(tape.columns);
  writer.close();
  stored = openStoredTape(dir);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** One of those that run side by side, drawn. */
type Drawn = {
  readonly halfSpreadBps: number;
  readonly levels: number;
  readonly model: ModelName;
  readonly seed: number;
  readonly requestMs: number;
  readonly startsAfterMs: number;
  readonly endsBeforeMs: number;
  readonly hearsTrades: boolean;
  readonly hasLateNotices: boolean;
};

const drawn: fc.Arbitrary<Drawn> = fc.record({
  halfSpreadBps: fc.integer({ min: 2, max: 20 }),
  levels: fc.integer({ min: 1, max: 4 }),
  model: fc.constantFrom('pessimistic', 'expected', 'optimistic', 'log'),
  seed: fc.nat(),
  requestMs: fc.integer({ min: 1, max: 300 }),
  startsAfterMs: fc.integer({ min: 0, max: 400_000 }),
  endsBeforeMs: fc.integer({ min: 0, max: 400_000 }),
  hearsTrades: fc.boolean(),
  hasLateNotices: fc.boolean(),
});

/** A fresh strategy, and fresh dice, each time: a run changes both. */
function optionsOf(one: Drawn): Omit<ReplayOptions, 'rows' | 'model'> & { readonly model: ModelName } {
  const { instrument } = tape;
  const parameters = strategies.ladder.parameters.parse({
    ...{ halfSpreadBps: one.halfSpreadBps, levels: one.levels, levelSpacingBps: 3, amount: '0.01' },
    ...{ refreshToleranceBps: 2, minEdgeBps: 0 },
  });
  const ladder = strategies.ladder.make({ ...parameters, minEdgeBps: -1_000 }, instrument);
  let heard = 0;
  const strategy: Strategy = one.hearsTrades
    ? {
        trade: ({ price, amount }) => void (heard = (heard + price * amount) % 7),
        // What was heard is seen in the orders.
        quote: view => {
          const quote = ladder.quote(view);
          return { ...quote, bids: quote.bids.map(level => ({ ...level, price: level.price - heard })) };
        },
      }
    : ladder;
  const draws = (salt: number) =>
    travel({ kind: 'exponential', least: 1, mean: one.requestMs }, randomOf(one.seed ^ salt));
  const [from, to] = [rows.at[0]!, rows.local[rows.length - 1]!];
  return {
    ...{ instrument, gaps: [], fees: FEES, balances: { btc: '2', mxn: '4000000' }, model: one.model },
    latency: latencyOf(draws(1), draws(2), draws(3)),
    ...(one.hasLateNotices && { fillNotice: draws(4) }),
    ...{ decideEveryMs: 500, privatePollMs: 2_000, privatePerMinute: 300 },
    engine: engineOf(instrument, strategy),
    from: from + one.startsAfterMs,
    to: to - one.endsBeforeMs,
  };
}

const FEES = { tiers: [{ volume: '9999999999', maker: '0.0003', taker: '0.0005' }], volume30d: '0' };

type Seen = { readonly fills: FillRow[]; readonly orders: OrderRow[] };
const seeing = (): Seen & { readonly sink: SideBySideOptions['sink'] & object } => {
  const fills: FillRow[] = [];
  const orders: OrderRow[] = [];
  return { fills, orders, sink: { fill: row => void fills.push(row), order: row => void orders.push(row) } };
};

const together = (all: readonly Drawn[], market: MarketRows | RowWindow) => {
  const columns = market instanceof RowWindow ? market.rows : market;
  const seen = all.map(seeing);
  const options = all.map((one, i) => {
    const given = optionsOf(one);
    return { ...given, model: fillModel(given.model, columns), sink: seen[i]!.sink };
  });
  return runSideBySide(market, options).then(results =>
    results.map((result, i) => ({ result, fills: seen[i]!.fills, orders: seen[i]!.orders })),
  );
};

describe('replays side by side', () => {
  test('are each, to the byte, what they are alone, whatever else is beside them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(drawn, { minLength: 2, maxLength: 5 }), async all => {
        const found = await together(all, rows);
        for (const [i, one] of all.entries()) {
          const alone = run(optionsOf(one));
          expect(found[i]!.result.hash).toBe(alone.result.hash);
          expect(found[i]).toEqual(alone);
        }
      }),
      runsOf(6, 2),
    );
  });

  test('trade, and differ where their configurations do', async () => {
    const one = { ...CALM, halfSpreadBps: 4 };
    const [first, second, third] = await together([one, { ...one, halfSpreadBps: 9 }, one], rows);
    expect(first!.fills.length).toBeGreaterThan(5);
    expect(second!.result.hash).not.toBe(first!.result.hash);
    expect(third).toEqual(first);
  });

  test('are the same over a stored tape that slides past all of them once', async () => {
    const all = [CALM, { ...CALM, startsAfterMs: 200_000, hearsTrades: true }, { ...CALM, endsBeforeMs: 500_000 }];
    const sliding = await together(all, windowOfLevels(stored));
    for (const [i, one] of all.entries()) {
      const alone = run({ ...optionsOf(one), rows: windowOfLevels(stored) });
      expect(sliding[i]).toEqual(alone);
    }
  });

  test('of none are no results', async () => {
    expect(await runSideBySide(rows, [])).toEqual([]);
  });
});

const CALM: Drawn = {
  ...{ halfSpreadBps: 4, levels: 2, model: 'expected', seed: 1, requestMs: 20 },
  ...{ startsAfterMs: 0, endsBeforeMs: 0, hearsTrades: false, hasLateNotices: false },
};
