import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../src/core/index.ts';
import { openTape } from '../../src/tape/index.ts';
import { few } from '../many.ts';
import { started, worldOf } from './world.ts';

const DATA = process.env['PUNTAS_DATA'] ?? join(import.meta.dirname, '../../../shared/data');

const MARKETS = [
  { set: 'gemini-ethusd-2021-07-01-l1-trades', config: 'eth_usd' },
  { set: 'bitstamp-btcusd-2015-05-01-book-orders-trades', config: 'btc_usd' },
];

describe.each(few(MARKETS, 1))('the recorded market of $set', ({ set, config }) => {
  const dir = join(DATA, set);
  const isHere = existsSync(dir);
  if (!isHere) console.warn(`skipped: the recording ${dir} is not here (set PUNTAS_DATA)`);

  test.skipIf(!isHere)('is quoted on both sides, fills, refuses no order, and ends clean', async () => {
    const tape = await openTape(dir);
    const world = worldOf(1, {}, config, new VirtualClock(), tape);
    const running = await started(world);
    for (let second = 0; second < 400; second++) await world.clock.advance(1_000);
    const { summary, left, failure } = await running.stop();
    world.end();
    expect({ left, failure, refused: summary.orders.refused, ledger: summary.ledgerMatches }).toEqual({
      left: [],
      failure: null,
      refused: 0,
      ledger: true,
    });
    expect(summary.book).toBe(config);
    expect(summary.fills).toBeGreaterThan(0);
    expect(Math.min(summary.uptime.bid, summary.uptime.ask)).toBeGreaterThan(0.3);
  });
});
