/** Several live markets of one embedded exchange, as its configuration starts them: prices, fees, ledger, refusals; and one market without the key. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { marketBooksOf, type Config } from '../../src/config.ts';
import { amount, price, VirtualClock } from '../../src/core/index.ts';
import { createVenue, FLOW_PROFILES, seededFlow, type EmbeddedExchange } from '../../src/sandbox/index.ts';
import { finishTape, SIDE, TapeBuilder, type Tape } from '../../src/tape/index.ts';
import { openBox, type Box } from '../../src/wiring/embedded.ts';
import { sandboxConfig } from '../live/world.ts';
import { Trader } from '../sandbox/trader.ts';
import { runsOf, sized } from '../many.ts';

const NAMES = Object.keys(FLOW_PROFILES);
const OTHERS = NAMES.filter(name => name !== 'btc_mxn');
const TOP_USD = { maker: '0.00040', taker: '0.00050' };
const TOP_MXN = { maker: '0.00100', taker: '0.00130' };
const MONEY = { btc: '20', eth: '500', xrp: '100000', sol: '5000', ltc: '5000', usd: '900000', usdt: '900000' };
const BALANCES = { ...MONEY, mxn: '90000000', brl: '9000000' };

const live = (books: object, exchange: object = {}, others: object = {}): Config =>
  sandboxConfig({ ...others, exchange: { ...exchange, market: { kind: 'flow', books } } });
const open = (config: Config, clock = new VirtualClock(), options: object = {}): Box =>
  openBox(config, clock, { tapes: [], ...options });
const everyBook = Object.fromEntries(OTHERS.map(name => [name, {}]));

/** Hash of all events of an exchange from now on. */
function hashing(exchange: EmbeddedExchange): () => string {
  const hash = createHash('sha256');
  exchange.venue.onBookEvent(({ book, at, sequence, changes, trades }) =>
    hash.update(JSON.stringify([book, at, sequence, changes, trades])),
  );
  return () => hash.copy().digest('hex');
}

/** Mid price of a book, in its quote currency. */
function midOf({ exchange }: Box, book: string): number {
  const place = exchange.marketplace(book);
  const [bid, ask] = [place.bestBid(), place.bestAsk()];
  return bid > 0 && ask > bid ? ((bid + ask) / 2) * Number(place.instrument.tick) : Number.NaN;
}

describe('ten live books', () => {
  test('agree with each other after ten minutes, and are one world for one seed', async () => {
    const runs = await Promise.all(
      [600, 60].map(async seconds => {
        const clock = new VirtualClock();
        const box = open(live(everyBook), clock);
        const hash = hashing(box.exchange);
        await clock.advance(60_000);
        const atMinute = hash();
        await clock.advance((seconds - 60) * 1_000);
        const mids = Object.fromEntries(NAMES.map(name => [name, midOf(box, name)]));
        box.stop();
        expect(clock.nextDue()).toBeUndefined();
        return { atMinute, mids, books: box.books };
      }),
    );
    const [whole, again] = runs;
    expect(whole!.atMinute).toBe(again!.atMinute);
    expect([...whole!.books].sort()).toEqual([...NAMES].sort());
    expect(whole!.books[0]).toBe('btc_mxn');
    const { btc_mxn, btc_usd, usd_mxn, eth_mxn, eth_usd } = whole!.mids;
    expect(Math.abs(btc_mxn! / (btc_usd! * usd_mxn!) - 1)).toBeLessThan(0.003);
    expect(Math.abs(eth_mxn! / (eth_usd! * usd_mxn!) - 1)).toBeLessThan(0.003);
    expect(Object.entries(whole!.mids).filter(([, mid]) => !(mid > 0))).toEqual([]);
  });

  test('are another world for another seed', async () => {
    const hashes = [3, 4].map(async seed => {
      const clock = new VirtualClock();
      const box = open(live({ btc_usd: {} }), clock, { seed });
      const hash = hashing(box.exchange);
      await clock.advance(5_000);
      box.stop();
      return hash();
    });
    const [one, other] = await Promise.all(hashes);
    expect(one).not.toBe(other);
  });

  test('neither create nor lose money, whatever an account trades in them', async () => {
    const order = fc.record({
      book: fc.constantFrom(...NAMES),
      side: fc.constantFrom('buy', 'sell'),
      type: fc.constantFrom('market', 'limit'),
      size: fc.integer({ min: 1, max: 40 }),
      awayBps: fc.integer({ min: -30, max: 30 }),
      waitMs: fc.integer({ min: 0, max: 1_500 }),
    });
    const feesOfSome = { btc_usd: { fees: { maker: '0.0003', taker: '0.0007' } }, eth_usd: { lagMs: 700 } };
    let traded = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 999 }),
        fc.array(order, { minLength: 5, maxLength: 40 }),
        async (seed, orders) => {
          const clock = new VirtualClock();
          const box = open(live({ ...everyBook, ...feesOfSome }, { balances: BALANCES }), clock, { seed });
          const trader = new Trader(box.exchange, box.account);
          for (const { book, side, type, size, awayBps, waitMs } of orders) {
            await clock.advance(waitMs);
            const { instrument } = box.exchange.marketplace(book);
            const tick = Number(instrument.tick);
            const price = (Math.round((midOf(box, book) * (1 + awayBps / 1e4)) / tick) * tick).toFixed(3);
            const major = ((Number(FLOW_PROFILES[book]!.typicalAmount) * size) / 10).toFixed(6);
            trader.place({ book, side, type, major, ...(type === 'limit' && { price }) });
          }
          await clock.advance(1_000);
          const { imbalance, accounts } = box.exchange.truth();
          traded += accounts.get(box.account.id)!.trades.length;
          box.stop();
          expect([...imbalance].filter(([, sum]) => sum !== 0n)).toEqual([]);
        },
      ),
      runsOf(60, 6),
    );
    expect(traded).toBeGreaterThan(20);
  });
});

/** Fees of the account of a box in a book. */
const tierIn = ({ exchange, account }: Box, name: string) => {
  const book = exchange.venue.books.get(name)!;
  const { tiers, index } = exchange.venue.tierFor(exchange.venue.accounts.get(account.id)!, book);
  return { maker: tiers[index]!.maker, taker: tiers[index]!.taker };
};

describe('fees', () => {
  test('of each live book are its own, else those of volume30d in its quote currency', () => {
    const fees = { maker: '0.0003', taker: '0.0007' };
    const box = open(live({ btc_usd: {}, btc_brl: {}, eth_usd: { fees }, eth_mxn: {} }));
    expect(tierIn(box, 'btc_mxn')).toEqual(TOP_MXN);
    expect(tierIn(box, 'eth_mxn')).toEqual(TOP_MXN);
    expect(tierIn(box, 'btc_usd')).toEqual(TOP_USD);
    expect(tierIn(box, 'btc_brl')).toEqual({ maker: '0.00095', taker: '0.00175' });
    expect(tierIn(box, 'eth_usd')).toEqual(fees);
    box.stop();
  });

  test('of the traded book are those of exchange.fees, or of its entry', () => {
    const fees = { maker: '0.0002', taker: '0.0004' };
    const volume = { volume30d: undefined };
    for (const config of [live({ btc_usd: {} }, { ...volume, fees }), live({ btc_usd: {}, btc_mxn: { fees } })]) {
      const box = open(config);
      expect(tierIn(box, 'btc_mxn')).toEqual(fees);
      expect(tierIn(box, 'btc_usd')).toEqual(TOP_USD);
      box.stop();
    }
  });
});

test('the volume of a recorded book in usdt counts in the group of usd, as the exchange counts it', () => {
  const builder = new TapeBuilder();
  builder.level(0, 0, SIDE.buy, price(8_000_000), amount(100_000));
  builder.level(0, 0, SIDE.sell, price(8_000_100), amount(100_000));
  const tape = finishTape({ source: 'made', book: 'btc_usdt', tick: '0.01', columns: builder.columns(), depth: 5 });
  const box = openBox(
    sandboxConfig({ book: 'btc_usdt', exchange: { balances: { btc: '1', usdt: '100000' } } }),
    new VirtualClock(),
    { tapes: [tape] },
  );
  expect(tierIn(box, 'btc_usdt')).toEqual(TOP_USD);
  box.stop();
});

describe('beside other sections', () => {
  test('books of the reference price start once, on the hidden prices', async () => {
    const clock = new VirtualClock();
    const reference = { reference: { books: ['btc_usd', 'usd_mxn'], everyMs: 60_000 } };
    const box = open(live({ usd_mxn: {}, eth_mxn: {} }, {}, reference), clock);
    expect(box.books).toEqual(['btc_mxn', 'usd_mxn', 'eth_mxn', 'btc_usd']);
    await clock.advance(60_000);
    expect(Math.abs(midOf(box, 'btc_mxn') / (midOf(box, 'btc_usd') * midOf(box, 'usd_mxn')) - 1)).toBeLessThan(0.003);
    box.stop();
  });

  test('a command that needs every book gets the others on the hidden prices too', async () => {
    const clock = new VirtualClock();
    const [all, some] = [open(live({ btc_usd: {} }), clock, { allBooks: true }), open(live(everyBook), clock)];
    expect([...all.books].sort()).toEqual([...NAMES].sort());
    await clock.advance(5_000);
    expect(NAMES.map(name => midOf(all, name))).toEqual(NAMES.map(name => midOf(some, name)));
    for (const box of [all, some]) box.stop();
  });

  test('a second exchange leads all of them', async () => {
    const clock = new VirtualClock();
    const books = { btc_usd: { lagMs: 500 }, btc_mxn: { noiseBps: 3 } };
    const box = open(sandboxConfig({ exchange: { market: { kind: 'flow', books } } }, 'elsewhere'), clock);
    expect([...box.books].sort()).toEqual(['btc_mxn', 'btc_usd', 'usdt_mxn']);
    await clock.advance(20_000);
    const there = box.second!.exchange.marketplace('btc_usdt');
    const far = there.bestBid() * Number(there.instrument.tick);
    expect(Math.abs(midOf(box, 'btc_usd') / far - 1)).toBeLessThan(0.005);
    box.stop();
    expect(clock.nextDue()).toBeUndefined();
  });
});

/** A tape of a book with one bid and one ask, repeated at these seconds. */
function tapeOf(book: string, bid: number, seconds: readonly number[]): Tape {
  const builder = new TapeBuilder();
  for (const second of seconds) {
    builder.level(second * 1_000, second * 1_000, SIDE.buy, price(bid + second), amount(100_000));
    builder.level(second * 1_000, second * 1_000, SIDE.sell, price(bid + 1_000), amount(100_000));
  }
  return finishTape({ source: `tape of ${book}`, book, tick: '0.01', columns: builder.columns(), depth: 5 });
}
const recorded = (books: object, others: object = {}): Config =>
  sandboxConfig({ ...others, exchange: { market: { kind: 'tape', dir: 'a', books } } });
const BTC = tapeOf('btc_mxn', 150_000_000, [0, 60]);
const ETH = tapeOf('eth_mxn', 6_000_000, [5, 50]);

test('recordings of several books are replayed at their recorded times, each with its own fees', async () => {
  const clock = new VirtualClock();
  const fees = { maker: '0.0003', taker: '0.0007' };
  const box = open(recorded({ eth_mxn: { dir: 'b', fees } }), clock, { tapes: [BTC, ETH] });
  expect(box.books).toEqual(['btc_mxn', 'eth_mxn']);
  expect([tierIn(box, 'btc_mxn'), tierIn(box, 'eth_mxn')]).toEqual([TOP_MXN, fees]);
  const bids = () => box.books.map(book => box.exchange.marketplace(book).bestBid());
  // From 5 to 50 s of recorded time, both have a book.
  expect(bids()).toEqual([150_000_000, 6_000_005]);
  await clock.advance(44_999);
  expect(bids()).toEqual([150_000_000, 6_000_005]);
  await clock.advance(1);
  expect(bids()).toEqual([150_000_000, 6_000_050]);
  await clock.advance(1_000);
  expect(bids()).toEqual([150_000_000, 6_000_005]);
  box.stop();
  expect(clock.nextDue()).toBeUndefined();
});

test('an arbitrageur and a correlation are part of the exchange that the configuration starts', async () => {
  const market = (own: object) =>
    sandboxConfig({
      exchange: { market: { kind: 'flow', books: { btc_usd: { noiseBps: 20 }, usd_mxn: {} }, ...own } },
    });
  const hashOf = async (own: object) => {
    const clock = new VirtualClock();
    const box = open(market(own), clock);
    const hash = hashing(box.exchange);
    await clock.advance(10_000);
    box.stop();
    expect(clock.nextDue()).toBeUndefined();
    return hash();
  };
  const plain = await hashOf({});
  for (const own of [{ correlation: 0.5 }, { arbitrageur: { costBps: 1 } }]) {
    expect(await hashOf(own)).not.toBe(plain);
    expect(await hashOf(own)).toBe(await hashOf(own));
  }
  expect(await hashOf({ correlation: 0 })).toBe(plain);
  expect(await hashOf({ arbitrageur: { costBps: 1_000 } })).toBe(plain);
});

describe('is refused in one line', () => {
  test.each<[string, () => unknown, RegExp]>([
    [
      'a book that the exchange does not list',
      () => open(live({ xrp_usd: {} })),
      /^exchange\.market\.books: the embedded exchange does not list xrp_usd; expected one of btc_mxn, eth_mxn, .*btc_usd/,
    ],
    [
      'a book of a currency without a hidden price',
      () => open(live({ btc_eur: {} })),
      /^exchange\.market\.books: the embedded exchange cannot simulate the price of eur in btc_eur; expected one of btc_mxn/,
    ],
    [
      'a reference book without a market',
      () => open(live({ btc_usd: {} }, {}, { reference: { books: ['btc_eur', 'eur_mxn'], everyMs: 60_000 } })),
      /^the embedded exchange cannot simulate the price of eur in btc_eur; expected one of btc_mxn/,
    ],
    [
      'a traded book without a market on the hidden prices',
      () => open({ ...live({ btc_usd: {} }), book: 'sol_usd' }),
      /^the embedded exchange does not list sol_usd; expected one of btc_mxn/,
    ],
    [
      'a recording as the market',
      () => openBox(live({ btc_usd: {} }), new VirtualClock(), { tapes: [{} as never] }),
      /^exchange\.market\.books: the market is a recording \(--tape\), which has one book; remove the key books/,
    ],
    [
      'an arbitrageur among books that form no cycle',
      () => open(sandboxConfig({ exchange: { market: { kind: 'flow', books: { btc_usd: {} }, arbitrageur: {} } } })),
      /^exchange\.market\.arbitrageur: expected three live books that form a cycle, .*; found btc_mxn, btc_usd; add books/,
    ],
    [
      'a recording instead of several',
      () => open(recorded({ eth_mxn: { dir: 'b' } }), new VirtualClock(), { tapes: [BTC] }),
      /^exchange\.market\.books: --tape replaces the recordings of the configuration by one recording; remove the key books/,
    ],
    [
      'recordings of different times',
      () =>
        open(recorded({ eth_mxn: { dir: 'b' } }), new VirtualClock(), {
          tapes: [BTC, tapeOf('eth_mxn', 6_000_000, [61])],
        }),
      /^tape of eth_mxn: starts at 1970-01-01T00:01:01\.000Z, after tape of btc_mxn ends at 1970-01-01T00:01:00\.000Z/,
    ],
    [
      'no recording of another book',
      () => recorded({}),
      /exchange\.market\.books: expected a book other than btc_mxn, the traded book, like btc_usd: \{ dir: … \}; found none/,
    ],
    [
      'a second recording of the traded book',
      () => recorded({ btc_mxn: { dir: 'b' } }),
      /exchange\.market\.books\.btc_mxn: btc_mxn is the traded book, whose recording is exchange\.market\.dir; remove this entry/,
    ],
    [
      'a reference book without a recording',
      () =>
        open(
          recorded({ eth_mxn: { dir: 'b' } }, { reference: { books: ['btc_usd', 'usd_mxn'], everyMs: 60_000 } }),
          new VirtualClock(),
          { tapes: [BTC, ETH] },
        ),
      /^reference: expected a recording of btc_usd, usd_mxn, because the market of this exchange is a recording; name/,
    ],
    [
      'fees of the traded book that are set twice',
      () =>
        live(
          { btc_usd: {}, btc_mxn: { fees: { maker: '0.0002', taker: '0.0002' } } },
          { fees: { maker: '0.0001', taker: '0.0002' } },
        ),
      /exchange\.market\.books\.btc_mxn\.fees: exchange\.fees also sets the fees of btc_mxn, the traded book; remove one/,
    ],
    [
      'the traded book alone',
      () => live({ btc_mxn: { lagMs: 5 } }),
      /exchange\.market\.books: expected a book other than btc_mxn, the traded book, like btc_usd: \{\}; found only btc_mxn/,
    ],
    [
      'no book at all',
      () => live({}),
      /exchange\.market\.books: expected a book other than btc_mxn.*; found none; add/,
    ],
    [
      'a name that is no book',
      () => live({ BTC: {} }),
      /exchange\.market\.books\.BTC: expected <base>_<quote>, like btc_usd/,
    ],
    [
      'an unknown key of a book',
      () => live({ btc_usd: { lag: 5 } }),
      /btc_usd\.lag: unknown key; did you mean lagMs\?/,
    ],
    [
      'too long a lag',
      () => live({ btc_usd: { lagMs: 60_001 } }),
      /btc_usd\.lagMs: expected at most 60000, found 60001/,
    ],
  ])('%s', (_, made, line) => {
    expect(made).toThrow(line);
  });
});

test('without the key there is one market, which is the seeded flow of the traded book', async () => {
  const [clock, bareClock] = [new VirtualClock(), new VirtualClock()];
  const config = sandboxConfig();
  expect(marketBooksOf(config.exchange)).toBeUndefined();
  const box = open(config, clock);
  const hash = hashing(box.exchange);
  const bare = createVenue({ clock: bareClock, seed: box.seed });
  const flow = seededFlow({ seed: box.seed, profile: FLOW_PROFILES['btc_mxn']! });
  flow.start(bare.marketplace('btc_mxn'));
  const hashOfBare = hashing(bare);
  const ms = sized(600_000, 60_000);
  await clock.advance(ms);
  await bareClock.advance(ms);
  expect(hash()).toBe(hashOfBare());
  expect(box.books).toEqual(['btc_mxn']);
  expect(NAMES.filter(name => midOf(box, name) > 0)).toEqual(['btc_mxn']);
  box.stop();
  flow.stop();
});
