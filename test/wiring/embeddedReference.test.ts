import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readFileSync } from 'node:fs';
import { loadConfig } from '../../src/config.ts';
import { VirtualClock } from '../../src/core/index.ts';
import { openBox } from '../../src/wiring/embedded.ts';

const SANDBOX = parse(readFileSync(new URL('../../config/sandbox.yaml', import.meta.url), 'utf8')) as object;
const BOOKS = ['btc_mxn', 'btc_usd', 'usd_mxn', 'eth_mxn'];

/** Returns the mid price of each book that has a market after a minute, in its own currencies. */
async function pricesWith(reference: object): Promise<Readonly<Record<string, number>>> {
  const loaded = loadConfig(stringify({ ...SANDBOX, reference }), 'my.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const clock = new VirtualClock();
  const box = openBox(loaded.config, clock, { tapes: [] });
  await clock.advance(60_000);
  const prices = BOOKS.flatMap(book => {
    const place = box.exchange.marketplace(book);
    const [bid, ask] = [place.bestBid(), place.bestAsk()];
    return bid > 0 && ask > 0 ? [[book, ((bid + ask) / 2) * Number(place.instrument.tick)] as const] : [];
  });
  box.stop();
  return Object.fromEntries(prices);
}

test('markets start only in the books that sources read from the embedded exchange, and never a second one in the traded book', async () => {
  const far = { name: 'far', books: ['btc_mxn'], from: { ccxt: 'kraken' } };
  const here = { name: 'here', books: ['btc_usd', 'usd_mxn'], staleAfterMs: 120_000 };
  const usd = { book: 'usd_mxn', from: 'exchange' };
  const mixed = { ...here, name: 'mixed', books: ['btc_usd', usd], from: { ccxt: 'kraken' } };
  const reference = (...sources: readonly object[]) => ({ sources, everyMs: 60_000 });
  const alone = await pricesWith(reference(far));
  expect(Object.keys(alone)).toEqual(['btc_mxn']);
  const beside = await pricesWith(reference(far, mixed));
  expect(Object.keys(beside)).toEqual(['btc_mxn', 'usd_mxn']);
  expect(beside.btc_mxn).toBe(alone.btc_mxn);
  // The first chain of this exchange is linked, wherever it is in the list.
  const linked = await pricesWith(reference(far, here));
  expect(linked.btc_usd! * linked.usd_mxn!).toBeCloseTo(linked.btc_mxn!, -5);
  expect(Math.abs((linked.btc_usd! * linked.usd_mxn!) / linked.btc_mxn! - 1)).toBeLessThan(0.005);
  expect(await pricesWith({ books: ['btc_usd', 'usd_mxn'], everyMs: 60_000 })).toEqual(
    await pricesWith(reference(here)),
  );
});
