/** The lifelike market as a configuration starts it: on the embedded exchange, in a backtest without a recording, and what refuses it. */
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { recordFlow } from '../../backtest/index.ts';
import { embeddedFeesOf, liveBooksOf, marketBooksOf, marketModelOf } from '../../src/config.ts';
import { VirtualClock } from '../../src/core/index.ts';
import { FLOW_PROFILES, simulatedMarket } from '../../src/sandbox/index.ts';
import { KIND } from '../../src/tape/index.ts';
import { openBox } from '../../src/wiring/embedded.ts';
import { sandboxConfig } from '../live/world.ts';

const LIFELIKE = { exchange: { market: { kind: 'lifelike' } } };

test('a configuration with the lifelike market has its model, one live book, and its own fees', () => {
  const { exchange, book } = sandboxConfig({
    exchange: { market: { kind: 'lifelike' }, fees: { maker: '0', taker: '0' } },
  });
  expect(marketModelOf(exchange)).toEqual({ kind: 'lifelike', imbalanceSignal: true });
  expect(marketBooksOf(exchange)).toBeUndefined();
  expect([...liveBooksOf(exchange, book)]).toEqual([book]);
  expect(embeddedFeesOf(exchange, book, book)).toEqual({ maker: '0', taker: '0' });
  expect(marketModelOf(sandboxConfig({}).exchange)).toEqual({ kind: 'flow' });
});

test('the embedded exchange starts the lifelike market in the traded book, and with all books in each of them', async () => {
  const clock = new VirtualClock();
  const box = openBox(sandboxConfig(LIFELIKE), clock, { tapes: [], allBooks: true });
  expect(box.books.toSorted()).toEqual(Object.keys(FLOW_PROFILES).toSorted());
  const seen: string[] = [];
  box.exchange.venue.onBookEvent(event => {
    if (event.book === 'btc_mxn') seen.push(JSON.stringify([event.changes, event.trades]));
  });
  await clock.advance(120_000);
  for (const book of box.books) {
    const place = box.exchange.marketplace(book);
    expect(place.bestBid()).toBeGreaterThan(0);
    expect(place.bestAsk()).toBeGreaterThan(place.bestBid());
  }
  box.stop();
  expect(clock.nextDue()).toBeUndefined();
  // The same orders as from the model alone, and not those of the seeded flow.
  const tapes = (['lifelike', 'flow'] as const).map(kind =>
    recordFlow('btc_mxn', box.seed, 120, 0, undefined, kind === 'flow' ? { kind } : { kind, imbalanceSignal: true }),
  );
  const tradesOf = (tape: (typeof tapes)[number]) => tape.columns.kind.filter(kind => kind === KIND.trade).length;
  const traded = seen.flatMap(text => (JSON.parse(text) as [unknown, unknown[]])[1]).length;
  expect(tradesOf(tapes[0]!)).toBe(traded);
  expect(tapes[0]!.source).toMatch(/^lifelike market of btc_mxn, seed /);
  expect(tapes[1]!.source).toMatch(/^seeded flow of btc_mxn, seed /);
  expect(tapes[0]!.columns.length).not.toBe(tapes[1]!.columns.length);
});

test('both models of a book are other markets, and so is one whose imbalance predicts nothing', () => {
  const lengths = [
    { kind: 'flow' } as const,
    ...[true, false].map(imbalanceSignal => ({ kind: 'lifelike', imbalanceSignal }) as const),
  ].map(model => recordFlow('eth_usd', 3, 600, 0, undefined, model).columns.length);
  expect(new Set(lengths).size).toBe(3);
  expect(() =>
    simulatedMarket({ kind: 'lifelike', imbalanceSignal: true }, { seed: 1, profile: FLOW_PROFILES['btc_mxn']! }),
  ).not.toThrow();
});

test('more live books, an arbitrageur and a second exchange are refused beside the lifelike market', () => {
  for (const more of [{ books: { btc_usd: {} } }, { correlation: 0.5 }, { arbitrageur: {} }]) {
    const [key] = Object.keys(more);
    expect(() => sandboxConfig({ exchange: { market: { kind: 'lifelike', ...more } } }), stringify(more)).toThrow(
      new RegExp(key!),
    );
  }
  expect(() => sandboxConfig(LIFELIKE, 'elsewhere')).toThrow(/embedded needs exchange.market: \{ kind: flow \}/);
});
