/** `puntas run` on recorded markets. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Bench, puntas, ROOT } from '../program.ts';
import { expectClean } from './cleanEnd.ts';

const bench = new Bench();
afterAll(() => bench.clear());

const DATA = process.env['PUNTAS_DATA'] ?? join(ROOT, '../shared/data');
const TAPES = [
  { set: 'gemini-ethusd-2021-07-01-l1-trades', config: 'eth_usd', book: 'eth_usd' },
  { set: 'bitstamp-btcusd-2015-05-01-book-orders-trades', config: 'btc_usd', book: 'btc_usd' },
];

describe.each(TAPES)('puntas run --tape on $set', ({ set, config, book }) => {
  const dir = join(DATA, set);
  const isHere = existsSync(dir);
  if (!isHere) console.warn(`skipped: the recording ${dir} is not here`);

  // Amounts of quotes and fills are held in virtual time (test/live/tapeRun.test.ts).
  test.skipIf(!isHere)('quotes both sides and ends clean', async () => {
    const program = puntas(['run', '--tape', dir, '--speed', '20', '--json', '-c', bench.config(config)]);
    await program.sees(/bid [\d.]+ \(.*ask [\d.]+ \(/);
    program.signal('SIGTERM');
    const summary = expectClean(await program.ended);
    expect(summary.book).toBe(book);
    expect(summary.orders.placed).toBeGreaterThan(1);
  });
});
