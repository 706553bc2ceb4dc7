/** Books, order books, trades, tickers and candles. */
import { expect, it } from 'vitest';
import { amount, price } from '../../src/core/index.ts';
import { everyWay, done, fieldsOf, refusal, traded, type Fields, type Stage } from './driver.ts';

/** Sixty prices a side around 1,500,000, and one order of ann's. */
async function stocked({ house, ann }: Stage): Promise<string> {
  const book = house('btc_mxn');
  for (let i = 0; i < 60; i++) {
    book.place('buy', price(150_000 - i), amount(1000 + i), 'GTC');
    book.place('sell', price(150_001 + i), amount(1000 + i), 'GTC');
  }
  return ann.limit('buy', '1500000', '0.1');
}

everyWay(open => {
  it('rest-api 4.7 available_books lists the books with limits and fees, which the client reads', async () => {
    const { send, stranger } = open();
    const rows = (await send('GET', '/api/v3/available_books')).payload<Fields[]>();
    const books = done(await stranger.availableBooks());
    expect(books.map(({ book }) => book)).toEqual(rows.map(row => row['book']));
    expect(books.find(({ book }) => book === 'btc_mxn')).toMatchObject({ tickSize: '10', minimumAmount: '0.00000060' });
  });

  it.each(fieldsOf('rest-api', '2.7'))('rest-api 2.7 $name is $word', async ({ name, shape }) => {
    for (const row of (await open().send('GET', '/api/v3/available_books')).payload<Fields[]>())
      expect(shape!.fits(row[name]), JSON.stringify(row[name])).toBe(true);
  });

  it('rest-api 2.8 flat_rate has a maker and a taker rate, structure the tiers with their upper bounds', async () => {
    const { send, stranger } = open();
    const [row] = (await send('GET', '/api/v3/available_books')).payload<
      { fees: { flat_rate: Fields; structure: Fields[] } }[]
    >();
    expect(Object.keys(row!.fees.flat_rate).sort()).toEqual(['maker', 'taker']);
    for (const tier of row!.fees.structure) expect(Object.keys(tier).sort()).toEqual(['maker', 'taker', 'volume']);
    const { tiers, flatRate } = done(await stranger.availableBooks())[0]!;
    expect(tiers).toEqual(row!.fees.structure);
    expect(flatRate).toEqual(row!.fees.flat_rate);
    expect(tiers.map(tier => Number(tier.volume))).toEqual(
      [...tiers.map(tier => Number(tier.volume))].sort((a, b) => a - b),
    );
  });

  it('rest-api 2.8 structure: a volume on the bound of a tier is in it, the next unit above is in the next, at every bound of every group', async () => {
    const { member, stranger } = open();
    const books = done(await stranger.availableBooks());
    for (const book of ['btc_mxn', 'btc_usd', 'btc_brl']) {
      const { tiers } = books.find(each => each.book === book)!;
      const group = book.slice(4);
      for (const [i, { volume, maker, taker }] of tiers.entries()) {
        const own = async (volume30d: string) =>
          done(await member({ volume30d: { [group]: volume30d } }).client.fees()).find(fee => fee.book === book)!;
        expect(await own(volume), `${book} ${volume}`).toMatchObject({ maker: `${maker}000`, taker: `${taker}000` });
        const above = tiers[i + 1] ?? tiers[i]!;
        expect((await own(`${volume}.01`)).maker, `above ${volume} of ${book}`).toBe(`${above.maker}000`);
      }
    }
  });

  it.each(fieldsOf('rest-api', '2.8'))('rest-api 2.8 $name is $word', async ({ name, shape }) => {
    for (const row of (await open().send('GET', '/api/v3/available_books')).payload<{ fees: Fields }[]>())
      expect(shape!.fits(row.fees[name]), JSON.stringify(row.fees)).toBe(true);
  });

  it('public-facts 4.1 a row has exactly eleven fields', async () => {
    for (const row of (await open().send('GET', '/api/v3/available_books')).payload<Fields[]>())
      expect(Object.keys(row)).toHaveLength(11);
  });

  it('public-facts 4.1 a book that stops trading is gone from the list, and its orders with it', async () => {
    const { exchange, ann, stranger } = open();
    const oid = await ann.limit('buy', '1000000', '0.1');
    exchange.venue.closeBook('btc_mxn');
    expect(done(await stranger.availableBooks()).some(({ book }) => book === 'btc_mxn')).toBe(false);
    expect(refusal(await stranger.orderBook('btc_mxn'))).toBe('0301');
    expect(done(await ann.client.order(oid))[0]!.status).toBe('cancelled');
  });

  it('public-facts 4.1 flat_rate above a twentieth is percent, and the client makes it a fraction', async () => {
    const { exchange, stranger } = open();
    const fraction = done(await stranger.availableBooks())[0]!.flatRate!;
    exchange.venue.set({ flatRate: 'percent' });
    const read = done(await stranger.availableBooks())[0]!.flatRate!;
    expect([Number(read.maker), Number(read.taker)]).toEqual([Number(fraction.maker), Number(fraction.taker)]);
  });

  it('public-facts 4.1 the tiers of mxn and usd books are those seen live', async () => {
    const books = done(await open().stranger.availableBooks());
    const tiers = (name: string) => books.find(({ book }) => book === name)!.tiers;
    expect(tiers('btc_mxn')[0]).toEqual({ volume: '20000', maker: '0.00600', taker: '0.00780' });
    expect(tiers('btc_mxn')).toHaveLength(9);
    expect(tiers('btc_usd')[0]).toEqual({ volume: '1000', maker: '0.00300', taker: '0.00360' });
    expect(tiers('btc_usd').at(-1)).toEqual({ volume: '9999999999', maker: '0.00040', taker: '0.00050' });
    expect(tiers('btc_usd')).toHaveLength(11);
  });

  it('rest-api 4.6 order_book of a book needs the book, and answers with a trailing slash too', async () => {
    const { send } = open();
    expect((await send('GET', '/api/v3/order_book')).code).toBe('0301');
    expect((await send('GET', '/api/v3/order_book/?book=btc_mxn')).status).toBe(200);
    expect((await send('GET', '/api/v3/order_book?book=btc_mxn')).status).toBe(200);
  });

  it('rest-api 4.6 aggregate true, as without it, joins orders by price; false shows each order with its oid', async () => {
    const stage = open();
    const oid = await stocked(stage);
    const get = (query: string) => stage.send('GET', `/api/v3/order_book?book=btc_mxn${query}`);
    expect((await get('')).text).toBe((await get('&aggregate=true')).text);
    const levels = done(await stage.stranger.orderBook('btc_mxn'));
    expect(levels.bids[0]).toEqual({ price: '1500000', amount: '0.10001000' });
    const whole = done(await stage.stranger.orderBook('btc_mxn', false));
    expect(whole.bids).toHaveLength(61);
    expect(whole.bids[1]).toEqual({ price: '1500000', amount: '0.10000000', oid });
  });

  it('rest-api 8 50 prices a side are in an aggregated book, all of them in the whole one', async () => {
    const stage = open();
    await stocked(stage);
    const { bids, asks } = done(await stage.stranger.orderBook('btc_mxn'));
    expect([bids.length, asks.length]).toEqual([50, 50]);
    expect(done(await stage.stranger.orderBook('btc_mxn', false)).asks).toHaveLength(60);
  });

  it.each(fieldsOf('rest-api', '2.6'))('rest-api 2.6 $name is $word', async ({ name, shape }) => {
    const stage = open();
    await stocked(stage);
    for (const aggregate of [true, false]) {
      const book = (await stage.send('GET', `/api/v3/order_book?book=btc_mxn&aggregate=${aggregate}`)).payload();
      expect(shape!.fits(book[name]), JSON.stringify(book[name])).toBe(true);
    }
  });

  it.each(fieldsOf('rest-api', '2.6.1'))('rest-api 2.6.1 $name is $word', async ({ name, shape, sometimes }) => {
    const stage = open();
    await stocked(stage);
    for (const aggregate of [true, false]) {
      const { bids, asks } = (
        await stage.send('GET', `/api/v3/order_book?book=btc_mxn&aggregate=${aggregate}`)
      ).payload<{
        bids: Fields[];
        asks: Fields[];
      }>();
      for (const row of [...bids, ...asks])
        if (sometimes && aggregate) expect(name in row).toBe(false);
        else expect(shape!.fits(row[name]), JSON.stringify(row)).toBe(true);
    }
  });

  it('rest-api 2.6 sequence grows with every change of the book, and with nothing else', async () => {
    const stage = open();
    await stocked(stage);
    const sequence = async () => done(await stage.stranger.orderBook('btc_mxn')).sequence;
    const before = await sequence();
    expect(await sequence()).toBe(before);
    await stage.ann.limit('buy', '1400000', '0.1');
    expect(await sequence()).toBe(before + 1n);
    await stage.ann.call('DELETE', '/api/v3/orders/all');
    expect(await sequence()).toBe(before + 3n);
  });

  it('public-facts 4.3 bids fall and asks rise, in both forms', async () => {
    const stage = open();
    await stocked(stage);
    for (const aggregate of [true, false]) {
      const { bids, asks } = done(await stage.stranger.orderBook('btc_mxn', aggregate));
      const [down, up] = [bids.map(bid => Number(bid.price)), asks.map(ask => Number(ask.price))];
      expect(down).toEqual([...down].sort((a, b) => b - a));
      expect(up).toEqual([...up].sort((a, b) => a - b));
    }
  });

  it('public-facts 4.3 sequence lies beyond 32 bits, and is read with every digit as text or as number', async () => {
    const { exchange, stranger } = open();
    const text = done(await stranger.orderBook('btc_mxn')).sequence;
    expect(text > 2n ** 32n).toBe(true);
    exchange.venue.set({ sequenceForm: 'number' });
    expect(done(await stranger.orderBook('btc_mxn')).sequence).toBe(text);
  });

  it('public-facts 4.3 an unknown or missing book is HTTP 400 with 0301 and empty details', async () => {
    const { send } = open();
    for (const query of ['', '?book=', '?book=nope_usd'])
      expect(await send('GET', `/api/v3/order_book${query}`)).toMatchObject({
        status: 400,
        body: { error: { code: '0301', details: [] } },
      });
  });

  it('rest-api 2.6 updated_at is the last update of the book, and stands still while the book does', async () => {
    const stage = open({ engineDelayMinMs: 0, engineDelayMaxMs: 0 }, 'it counts the milliseconds of each change');
    const { clock, stranger, ann, bob, house } = stage;
    const updatedAt = async () => done(await stranger.orderBook('btc_mxn')).updatedAt - 1_790_000_000_000;
    expect(await updatedAt()).toBe(0);
    await clock.advance(90_000);
    expect(await updatedAt()).toBe(0);
    const steps: (() => Promise<unknown>)[] = [
      async () => house('btc_mxn').place('buy', price(140_000), amount(1000), 'GTC'),
      () => ann.limit('sell', '1500000', '0.1', { origin_id: 'a' }),
      () => bob.limit('buy', '1500000', '0.05'),
      () => ann.call('PATCH', '/api/v4/orders?origin_id=a', { price: '1510000' }),
      () => ann.client.cancel({ originIds: ['a'] }),
    ];
    for (const step of steps) {
      await step();
      const changed = clock.now() - 1_790_000_000_000;
      expect(await updatedAt()).toBe(changed);
      await clock.advance(1_234);
      expect(await updatedAt()).toBe(changed);
    }
    // What changes another book, or none, changes nothing here.
    const before = await updatedAt();
    await ann.limit('buy', '50000', '0.1', { book: 'eth_mxn' });
    await ann.limit('buy', '1600000', '0.1', { stop: '1700000' });
    expect(await updatedAt()).toBe(before);
  });

  it('public-facts 4.3 updated_at is the time of the reply where that is switched on', async () => {
    const { clock, stranger } = open({ bookUpdatedAt: 'reply' });
    await clock.advance(90_000);
    expect(done(await stranger.orderBook('btc_mxn')).updatedAt).toBe(1_790_000_090_000);
  });

  it('public-facts 17 default_chart is spelled as the document or as the wire, and the client takes both', async () => {
    for (const defaultChart of ['trading view', 'tradingview'] as const) {
      const { stranger } = open({ defaultChart });
      for (const book of done(await stranger.availableBooks())) expect(book.defaultChart).toBe(defaultChart);
    }
  });

  it.each(fieldsOf('rest-api', '2.3'))('rest-api 2.3 $name is $word', async ({ name, shape }) => {
    const stage = open();
    await traded(stage, 2);
    for (const row of (await stage.send('GET', '/api/v3/trades?book=btc_mxn')).payload<Fields[]>())
      expect(shape!.fits(row[name]), JSON.stringify(row)).toBe(true);
  });

  it('rest-api 4.8 trades of the book that is asked for, newest first', async () => {
    const stage = open();
    await traded(stage, 3);
    const trades = done(await stage.stranger.trades('btc_mxn'));
    expect(trades.map(trade => trade.price)).toEqual(['1500020', '1500010', '1500000']);
    expect(trades[0]).toMatchObject({ book: 'btc_mxn', amount: '0.01000000', makerSide: 'sell' });
    expect(done(await stage.stranger.trades('eth_mxn'))).toEqual([]);
  });

  it('rest-api 4.8 limit, marker and sort page through the trades', async () => {
    const stage = open();
    await traded(stage, 6);
    const tids = async (page: object) =>
      done(await stage.stranger.trades('btc_mxn', page)).map(t => Number(t.tid) % 1000);
    expect(await tids({ limit: 2 })).toEqual([6, 5]);
    expect(await tids({ limit: 2, marker: '100000005' })).toEqual([4, 3]);
    expect(await tids({ limit: 2, sort: 'asc' })).toEqual([1, 2]);
    expect(await tids({ sort: 'asc', marker: '100000004' })).toEqual([5, 6]);
    expect(await tids({ sort: 'desc', marker: '100000001' })).toEqual([]);
    for (const query of ['sort=up', 'limit=x', 'marker=x'])
      expect((await stage.send('GET', `/api/v3/trades?book=btc_mxn&${query}`)).code, query).toBe('0320');
  });

  it('rest-api 4.8 book is required: trades without one, or with an empty one, are refused', async () => {
    const stage = open();
    await traded(stage);
    for (const query of ['', '?', '?book=', '?limit=5', '?sort=asc&limit=1'])
      expect(await stage.send('GET', `/api/v3/trades${query}`), query).toMatchObject({ status: 400, code: '0301' });
    expect((await stage.send('GET', '/api/v3/trades?book=btc_mxn')).status).toBe(200);
  });

  it('public-facts 4.4 trades of an unknown book are 200 and an empty list', async () => {
    expect(await open().send('GET', '/api/v3/trades?book=nope_usd')).toMatchObject({
      status: 200,
      body: { success: true, payload: [] },
    });
  });

  it('public-facts 4.4 maker_side is the side of the order that rested', async () => {
    const { ann, bob, stranger } = open();
    await ann.limit('buy', '1500000', '0.01');
    await bob.limit('sell', '1500000', '0.01');
    expect(done(await stranger.trades('btc_mxn'))[0]!.makerSide).toBe('buy');
  });

  it('rest-api 4.11 ticker of one book, and of every book without one', async () => {
    const stage = open();
    await traded(stage);
    expect(done(await stage.stranger.ticker('btc_mxn'))).toMatchObject({
      book: 'btc_mxn',
      last: '1500000',
      volume: '0.01000000',
    });
    const all = done(await stage.stranger.tickers());
    expect(all.map(({ book }) => book)).toEqual(done(await stage.stranger.availableBooks()).map(({ book }) => book));
  });

  it('public-facts 4.2 a ticker has its eleven fields, and what an empty book has no value for is zero as text, or null, and no price to the client', async () => {
    const stage = open();
    await stocked(stage);
    await traded(stage);
    const fields = 'book ask bid last high low vwap volume change_24 created_at rolling_average_change';
    const row = (await stage.send('GET', '/api/v3/ticker?book=btc_mxn')).payload();
    expect(Object.keys(row).sort()).toEqual(fields.split(' ').sort());
    expect(row['rolling_average_change']).toEqual({ '6': expect.stringMatching(/^-?\d+\.\d+$/) as string });
    const names = ['last', 'bid', 'ask', 'high', 'low', 'vwap'] as const;
    for (const none of [expect.stringMatching(/^0(\.0+)?$/) as string, null]) {
      if (none === null) stage.exchange.venue.set({ tickerWithoutMarket: 'null' });
      const empty = (await stage.send('GET', '/api/v3/ticker?book=eth_mxn')).payload();
      const told = done(await stage.stranger.ticker('eth_mxn'));
      for (const name of names) {
        expect(empty[name], name).toEqual(none);
        expect(told[name], name).toBeUndefined();
      }
    }
  });

  it('public-facts 4.2 change_24 is the change of the price, and may be negative', async () => {
    const stage = open();
    await traded(stage, 3);
    expect(done(await stage.stranger.ticker('btc_mxn')).change24).toBe('20');
    await stage.ann.limit('sell', '1400000', '0.01');
    await stage.bob.limit('buy', '1400000', '0.01');
    expect(done(await stage.stranger.ticker('btc_mxn')).change24).toBe('-100000');
  });

  it('public-facts 4.2 the ticker of an unknown book is 400 with a number for a code and no success', async () => {
    const { send, stranger } = open();
    const { status, body } = await send('GET', '/api/v3/ticker?book=nope_usd');
    expect(status).toBe(400);
    expect(body).toEqual({ error: { code: 20, message: 'Unknown OrderBook nope_usd' } });
    expect(refusal(await stranger.ticker('nope_usd'))).toBe('20');
  });

  it('public-facts 4.5 ohlc joins trades into buckets of the asked width', async () => {
    const stage = open();
    await traded(stage, 2);
    await stage.clock.advance(120_000);
    await traded(stage, 3, {});
    const candles = done(
      await stage.stranger.candles({ book: 'btc_mxn', seconds: 60, from: 0, to: 1_790_000_999_999 }),
    );
    expect(candles.map(({ trades }) => trades)).toEqual([2, 3]);
    expect(candles[0]).toMatchObject({
      open: '1500000',
      close: '1500010',
      low: '1500000',
      high: '1500010',
      volume: '0.02000000',
    });
    expect(candles[0]!.from % 60_000).toBe(0);
    const day = done(
      await stage.stranger.candles({ book: 'btc_mxn', seconds: 86_400, from: 0, to: 1_790_000_999_999 }),
    );
    expect(day.map(({ trades }) => trades)).toEqual([5]);
  });

  it('public-facts 4.5 ohlc has its ten fields, and refuses a width of its own', async () => {
    const stage = open();
    await traded(stage);
    const [row] = (await stage.send('GET', '/api/v3/ohlc?book=btc_mxn&time_bucket=60')).payload<Fields[]>();
    const fields =
      'bucket_start_time first_trade_time last_trade_time first_rate last_rate min_rate max_rate trade_count volume vwap';
    expect(Object.keys(row!).sort()).toEqual(fields.split(' ').sort());
    expect((await stage.send('GET', '/api/v3/ohlc?book=btc_mxn&time_bucket=61')).code).toBe('0304');
    expect((await stage.send('GET', '/api/v3/ohlc?book=nope_usd&time_bucket=60')).code).toBe('0301');
  });
});
