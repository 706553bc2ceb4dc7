import { describe, expect, it } from 'vitest';
import { amount, price } from '../../../src/core/index.ts';
import { ROUTES, SWITCHES, switchesOf, type Switches } from '../../../src/sandbox/index.ts';
import { arena, publicCall } from '../trader.ts';

type Row = Record<string, unknown>;

describe('the REST face', () => {
  it('answers an unknown path with 404 and nothing, and a wrong method with 0901', () => {
    const { exchange } = arena();
    expect(publicCall(exchange, '/api/v3/nothing')).toMatchObject({ status: 404, text: '' });
    expect(publicCall(exchange, '/')).toMatchObject({ status: 404, text: '' });
    expect(publicCall(exchange, '/api/v3/trades', 'DELETE').body.error.code).toBe('0901');
  });

  it('serves every route under both prefixes, with and without a trailing slash', () => {
    const { exchange, ann } = arena();
    for (const route of ROUTES) {
      const path = route.pattern.replace(/:\w+/, 'abc1');
      for (const target of [path, `/api${path}`, `/api${path}/`, `//api${path}//?undefined`]) {
        const body = route.method === 'GET' || route.method === 'DELETE' ? undefined : {};
        const reply =
          route.scope === 'public' ? publicCall(exchange, target, route.method) : ann.call(route.method, target, body);
        expect(reply.status, `${route.method} ${target}`).not.toBe(405);
        expect(reply.text, `${route.method} ${target}`).not.toBe('');
        if (route.scope === 'private')
          expect(publicCall(exchange, target, route.method).text, route.pattern).toContain('"code":"0208"');
      }
    }
  });

  it('writes errors in one envelope with empty details', () => {
    const { exchange } = arena();
    const reply = publicCall(exchange, '/v3/order_book/?book=nope_usd');
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({
      success: false,
      error: { code: '0301', message: 'Unknown order book: nope_usd', details: [] },
    });
    expect(reply.headers['content-type']).toBe('application/json');
    expect(reply.headers['date']).toBe('Mon, 21 Sep 2026 14:13:20 GMT');
  });
});

describe('order_book', () => {
  it('shows fifty levels a side, or every order with its oid; best first, with the sequence as text', () => {
    const { exchange, ann } = arena();
    const house = exchange.marketplace('btc_mxn');
    for (let i = 0; i < 60; i++) {
      house.place('buy', price(150_000 - i), amount(100 + i), 'GTC');
      house.place('sell', price(150_001 + i), amount(100 + i), 'GTC');
    }
    const oid = ann.limit('btc_mxn', 'buy', '1500000', '0.1');
    type Book = { sequence: string; updated_at: string; bids: Row[]; asks: Row[] };
    const top = publicCall(exchange, '/api/v3/order_book/?book=btc_mxn').body.payload as Book;
    expect(top.bids).toHaveLength(50);
    expect(top.bids[0]).toEqual({ book: 'btc_mxn', price: '1500000', amount: '0.10000100' });
    expect(top.asks[0]).toEqual({ book: 'btc_mxn', price: '1500010', amount: '0.00000100' });
    expect(top.updated_at).toBe('2026-09-21T14:13:20.000+00:00');
    expect(top.sequence).toMatch(/^4[5-6]\d{8}$/);
    for (const form of ['false', 'False']) {
      const whole = publicCall(exchange, `/api/v3/order_book?book=btc_mxn&aggregate=${form}`).body.payload as Book;
      expect(whole.bids).toHaveLength(61);
      expect(whole.bids[1]).toEqual({ book: 'btc_mxn', price: '1500000', amount: '0.10000000', oid });
      const oids = [...whole.bids, ...whole.asks].map(row => String(row['oid']));
      expect(new Set(oids).size).toBe(121);
      expect(oids.every(text => /^[A-Za-z0-9]{16}$/.test(text))).toBe(true);
      expect(whole.sequence).toBe(top.sequence);
    }
    ann.get('DELETE', '/api/v3/orders/all');
    const after = publicCall(exchange, '/api/v3/order_book?book=btc_mxn').body.payload as Book;
    expect(Number(after.sequence)).toBe(Number(top.sequence) + 1);
    expect(after.bids[0]!['amount']).toBe('0.00000100');
  });

  it('follows from a whole snapshot and the book events after it', () => {
    const { exchange, ann, bob } = arena();
    const house = exchange.marketplace('btc_mxn');
    type Book = { sequence: string; bids: Row[]; asks: Row[] };
    const whole = () => publicCall(exchange, '/api/v3/order_book?book=btc_mxn&aggregate=false').body.payload as Book;
    let sequence = Number(whole().sequence);
    const kept = new Map<string, string>();
    exchange.venue.onBookEvent(event => {
      expect(event.sequence).toBe(sequence + 1);
      sequence = event.sequence;
      for (const change of event.changes) {
        if (change.status === 'open') kept.set(change.oid, `${change.side} ${change.price} ${change.left}`);
        else expect(kept.delete(change.oid)).toBe(true);
      }
    });
    const { random } = house;
    const houseIds: number[] = [];
    for (let i = 0; i < 400; i++) {
      const side = random.next() < 0.5 ? 'buy' : 'sell';
      const ticks = 150_000 + random.integer(-8, 8);
      const dice = random.next();
      if (dice < 0.4) houseIds.push(house.place(side, price(ticks), amount(random.integer(1, 5) * 100_000), 'GTC').id);
      else if (dice < 0.7) (random.next() < 0.5 ? ann : bob).limit('btc_mxn', side, String(ticks * 10), '0.003');
      else if (dice < 0.8) house.cancel(houseIds[random.integer(0, Math.max(0, houseIds.length - 1))] ?? 0);
      else if (dice < 0.9)
        house.reduce(houseIds[random.integer(0, Math.max(0, houseIds.length - 1))] ?? 0, amount(50_000));
      else if (dice < 0.95) ann.get('DELETE', '/api/v3/orders/all');
      else {
        const [open] = bob.get<{ oid: string }[]>('GET', '/api/v3/open_orders');
        if (open) bob.call('PATCH', `/api/v4/orders/${open.oid}`, { price: String(ticks * 10) });
      }
    }
    const book = whole();
    expect(Number(book.sequence)).toBe(sequence);
    const shown = new Map(
      [...book.bids.map(row => ['buy', row] as const), ...book.asks.map(row => ['sell', row] as const)].map(
        ([side, row]) => [
          row['oid'] as string,
          `${side} ${Number(row['price']) / 10} ${Math.round(Number(row['amount']) * 1e8)}`,
        ],
      ),
    );
    expect(kept).toEqual(shown);
    expect(sequence).toBeGreaterThan(200);
  });
});

describe('market data', () => {
  it('lists books with exactly the eleven live fields', () => {
    const { exchange } = arena();
    const rows = publicCall(exchange, '/api/v3/available_books').body.payload as Row[];
    expect(rows.map(row => row['book'])).toEqual(
      'btc_mxn eth_mxn xrp_mxn usd_mxn usdt_mxn sol_mxn ltc_mxn btc_usd eth_usd btc_brl'.split(' '),
    );
    const fields =
      'book default_chart fees margin_enabled minimum_amount maximum_amount minimum_price maximum_price minimum_value maximum_value tick_size';
    for (const row of rows) expect(Object.keys(row).sort()).toEqual(fields.split(' ').sort());
    expect(rows[0]).toMatchObject({
      tick_size: '10',
      minimum_amount: '0.00000060',
      fees: { flat_rate: { maker: '0.00600', taker: '0.00780' } },
    });
    const { structure } = rows[0]!['fees'] as { structure: Row[] };
    expect(structure[0]).toEqual({ volume: '20000', maker: '0.00600', taker: '0.00780' });
    expect(structure.at(-1)).toEqual({ volume: '9999999999', maker: '0.00100', taker: '0.00130' });
  });

  it('pages trades by marker in both directions, at most a hundred at once', () => {
    const { exchange } = arena();
    const house = exchange.marketplace('btc_mxn');
    for (let i = 0; i < 130; i++) {
      house.place('sell', price(150_000), amount(1000), 'GTC');
      house.place('buy', price(150_000), amount(1000), 'IOC');
    }
    const tids = (query: string) =>
      (publicCall(exchange, `/api/v3/trades?book=btc_mxn${query}`).body.payload as { tid: number }[]).map(
        t => t.tid - 100_000_000,
      );
    expect(tids('')).toHaveLength(25);
    expect(tids('&limit=1000')).toHaveLength(100);
    expect(tids('&limit=3')).toEqual([130, 129, 128]);
    expect(tids('&limit=2&marker=100000128')).toEqual([127, 126]);
    expect(tids('&limit=2&sort=asc&marker=100000128')).toEqual([129, 130]);
    expect(tids('&limit=2&sort=asc')).toEqual([1, 2]);
    expect(publicCall(exchange, '/api/v3/trades?book=btc_mxn&sort=up').body.error.code).toBe('0320');
    expect(publicCall(exchange, '/api/v3/trades?book=nope_usd')).toMatchObject({
      status: 200,
      body: { success: true, payload: [] },
    });
    const [row] = publicCall(exchange, '/api/v3/trades?book=btc_mxn&limit=1').body.payload as Row[];
    expect(row).toEqual({
      book: 'btc_mxn',
      created_at: '2026-09-21T14:13:20+0000',
      amount: '0.00001000',
      maker_side: 'sell',
      price: '1500000',
      tid: 100_000_130,
    });
  });

  it('has a ticker and candles that say what traded', async () => {
    const { exchange, clock } = arena();
    const house = exchange.marketplace('btc_mxn');
    for (const ticks of [150_000, 151_000, 149_000, 149_500]) {
      house.place('sell', price(ticks), amount(1_000_000), 'GTC');
      house.place('buy', price(ticks), amount(1_000_000), 'IOC');
      await clock.advance(60_000);
    }
    house.place('buy', price(149_000), amount(1_000_000), 'GTC');
    expect(publicCall(exchange, '/api/v3/ticker/?book=btc_mxn').body.payload).toEqual({
      book: 'btc_mxn',
      last: '1495000',
      bid: '1490000',
      ask: '0',
      high: '1510000',
      low: '1490000',
      vwap: '1498750.0000000000',
      volume: '0.04000000',
      change_24: '-5000',
      created_at: '2026-09-21T14:17:20.000+00:00',
      rolling_average_change: { '6': '-0.2502' },
    });
    expect(publicCall(exchange, '/api/v3/ticker').body.payload).toHaveLength(10);
    expect(JSON.parse(publicCall(exchange, '/v3/ticker/?book=nope_usd').text)).toEqual({
      error: { code: 20, message: 'Unknown OrderBook nope_usd' },
    });
    const [candle] = publicCall(exchange, '/api/v3/ohlc?book=btc_mxn&time_bucket=86400').body.payload as Row[];
    expect(candle).toMatchObject({
      first_rate: '1500000',
      last_rate: '1495000',
      min_rate: '1490000',
      max_rate: '1510000',
      trade_count: 4,
    });
    expect(publicCall(exchange, '/api/v3/ohlc?book=btc_mxn&time_bucket=60').body.payload).toHaveLength(4);
    expect(publicCall(exchange, '/api/v3/ohlc?book=btc_mxn&time_bucket=7').body.error.code).toBe('0304');
    const { currencies } = publicCall(exchange, '/api/v3/catalogues').body.payload as {
      currencies: { metadata: Row[] };
    };
    expect(currencies.metadata).toContainEqual({ code: 'btc', full_name: 'BTC', precision: 8, type: 'crypto' });
  });
});

describe('account data', () => {
  it('has fees per book from the volume tier', () => {
    const { exchange, ann } = arena();
    exchange.venue.accounts
      .get(ann.id)!
      .addVolume('mxn', 612_345_100_000_000_000_000_000n as never, exchange.venue.clock.now());
    const { fees } = ann.get<{ fees: Row[] }>('GET', '/api/v3/fees');
    expect(fees.find(row => row['book'] === 'eth_mxn')).toEqual({
      book: 'eth_mxn',
      fee_percent: '0.7280',
      fee_decimal: '0.00728000',
      taker_fee_percent: '0.7280',
      taker_fee_decimal: '0.00728000',
      maker_fee_percent: '0.5600',
      maker_fee_decimal: '0.00560000',
      volume_currency: 'mxn',
      current_volume: '612345.10',
      next_volume: '1000000.00',
      next_maker_fee_percent: '0.550',
      next_taker_fee_percent: '0.715',
      nextVolume: '1000000.00',
      nextFee: '0.550',
      nextTakerFee: '0.715',
    });
  });

  it('has every field of the account status', () => {
    const { ann } = arena();
    const fields =
      'account_creation_date business_name born_in_residence cash_deposit_allowance cellphone_number cellphone_number_stored client_id country_of_residence daily_limit daily_remaining date_of_birth email email_stored enabled_two_factor_methods entity_type first_name avatar_img gender last_name monthly_limit monthly_remaining official_id origin_of_funds preferred_currency proof_of_residency referral_code status signed_contract second_last_name tax_payer_type user_default_fiat_currency verification_level';
    expect(Object.keys(ann.get('GET', '/api/v3/account_status')).sort()).toEqual(fields.split(' ').sort());
  });

  it('finds own trades by one tid or several, by book, and by page', () => {
    const { ann, bob } = arena();
    for (let i = 0; i < 5; i++) {
      ann.limit('btc_mxn', 'sell', '1500000', '0.01');
      bob.limit('btc_mxn', 'buy', '1500000', '0.01');
    }
    const tids = (target: string) => ann.get<{ tid: string }[]>('GET', `/api/v3/user_trades${target}`).map(t => t.tid);
    expect(tids('?limit=2')).toEqual(['100000005', '100000004']);
    expect(tids('?limit=2&sort=asc&marker=100000002&book=btc_mxn')).toEqual(['100000003', '100000004']);
    expect(tids('?book=eth_mxn')).toEqual([]);
    expect(tids('/100000002')).toEqual(['100000002']);
    expect(tids('/100000001-100000003-999')).toEqual(['100000003', '100000001']);
    expect(ann.call('GET', '/api/v3/user_trades/x').body.error.code).toBe('0321');
    expect(ann.call('GET', '/api/v3/user_trades?book=nope_usd').body.error.code).toBe('0301');
  });

  it('is the caller’s alone', () => {
    const { ann, bob } = arena();
    const oid = ann.limit('btc_mxn', 'sell', '1500000', '0.01', { origin_id: 'mine' });
    expect(bob.order(oid)).toBeUndefined();
    expect(bob.get('DELETE', `/api/v3/orders/${oid}`)).toEqual([]);
    expect(bob.get('DELETE', '/api/v3/orders?origin_ids=mine')).toEqual([]);
    expect(bob.get('DELETE', '/api/v3/orders/all')).toEqual([]);
    expect(bob.call('PATCH', `/api/v4/orders/${oid}`, { price: '1400000' }).body.error.code).toBe('0312');
    expect(bob.get('GET', `/api/v3/order_trades/${oid}`)).toEqual([]);
    expect(ann.order(oid)!['status']).toBe('open');
  });
});

describe('open_orders, lookup and cancel', () => {
  it('filter, limit and list several ids in every form that clients use', () => {
    const { ann } = arena();
    const oids = ['btc_mxn', 'eth_mxn', 'btc_usd'].map((book, i) =>
      ann.limit(book, 'buy', book === 'eth_mxn' ? '50000' : book === 'btc_usd' ? '80000' : '1400000', '0.1', {
        origin_id: `o-${i}`,
      }),
    );
    const open = (query: string) => ann.get<{ oid: string }[]>('GET', `/api/v3/open_orders${query}`).map(o => o.oid);
    expect(open('')).toEqual([...oids].reverse());
    expect(open('?book=eth_mxn&source=alpha')).toEqual([oids[1]]);
    expect(open('?currency=mxn')).toEqual([oids[1], oids[0]]);
    expect(open('?limit=1')).toEqual([oids[2]]);
    expect(ann.call('GET', '/api/v3/open_orders?book=nope_usd').body.error.code).toBe('0301');
    const found = (target: string) => ann.get<{ oid: string }[]>('GET', target).map(o => o.oid);
    for (const target of [
      `/api/v3/orders?oids=${oids[0]},${oids[2]}`,
      `/api/v3/orders?oids=${oids[0]}%2C${oids[2]}`,
      `/api/v3/orders/${oids[0]}-${oids[2]}`,
      '/api/v3/orders/?origin_ids=o-0,o-2',
    ]) {
      expect(found(target)).toEqual([oids[0], oids[2]]);
    }
    expect(found(`/api/v3/orders?oids=${oids[0]},nothing`)).toEqual([oids[0]]);
    expect(ann.get('DELETE', `/api/v3/orders/${oids[0]}-${oids[2]}`)).toEqual([oids[0], oids[2]]);
    expect(ann.get('DELETE', '/api/v3/orders/all')).toEqual([oids[1]]);
    expect(ann.call('DELETE', '/api/v3/orders').body.error.code).toBe('0360');
  });

  it('refuse unknown ids where that is switched on', () => {
    const { ann } = arena({ cancelUnknown: '0312', lookupUnknown: '0312', unknownOrderTrades: '0312' });
    const code = (method: 'GET' | 'DELETE', target: string) => ann.call(method, target).body.error.code;
    expect(code('DELETE', '/api/v3/orders/unknown')).toBe('0312');
    expect(code('DELETE', '/api/v3/orders?origin_ids=unknown')).toBe('0357');
    expect(code('GET', '/api/v3/orders/unknown')).toBe('0312');
    expect(code('GET', '/api/v3/order_trades?origin_id=unknown')).toBe('0357');
    expect(ann.get('DELETE', '/api/v3/orders?oids=a,b')).toEqual([]);
  });
});

describe('a new order is refused', () => {
  const good = { book: 'btc_mxn', side: 'buy', type: 'limit', price: '1500000', major: '0.1' };
  const market = { book: 'btc_mxn', side: 'buy', type: 'market' };
  it.each<[Record<string, unknown>, string]>([
    [{ ...good, major: 0.1 }, '0372'],
    [{ ...good, side: undefined }, '0303'],
    [{ ...good, book: 'nope_usd' }, '0301'],
    [{ ...good, side: 'bid' }, '0306'],
    [{ ...good, type: 'stop' }, '0307'],
    [{ ...good, time_in_force: 'day' }, '0302'],
    [{ ...good, minor: '1000' }, '0308'],
    [{ ...good, major: undefined }, '0309'],
    [{ ...good, major: undefined, minor: '1000' }, '0329'],
    [{ ...good, major: '0' }, '0408'],
    [{ ...good, major: '-1' }, '0408'],
    [{ ...good, major: '1e3' }, '0408'],
    [{ ...good, major: '0.000000001' }, '0407'],
    [{ ...good, major: '0.00000059' }, '0403'],
    [{ ...good, major: '600.00000001' }, '0404'],
    [{ ...good, major: '99999999999999999999' }, '0404'],
    [{ ...good, price: undefined }, '0407'],
    [{ ...good, price: '1500001' }, '0407'],
    [{ ...good, price: 'NaN' }, '0304'],
    [{ ...good, price: '99990' }, '0401'],
    [{ ...good, price: '40000010' }, '0402'],
    [{ ...good, price: '100000', major: '0.00009999' }, '0405'],
    [{ ...good, price: '40000000', major: '5.00000001' }, '0406'],
    [{ ...good, stop: '99990' }, '0412'],
    [{ ...good, stop: '40000010' }, '0413'],
    [{ ...good, origin_id: 'no spaces' }, '0304'],
    [{ ...good, origin_id: 'x'.repeat(41) }, '0304'],
    [{ ...good, major: '7' }, '0379'],
    [{ ...good, side: 'sell', major: '10.00000001' }, '0379'],
    [{ ...market, major: '1', price: '1500000' }, '0304'],
    [{ ...market }, '0309'],
    [{ ...market, minor: '1' }, '0405'],
    [{ ...market, minor: '10000001' }, '0379'],
    [{ ...market, major: '1', slippage_tolerance: '5%' }, '0304'],
  ])('%j: %s', (fields, code) => {
    const { ann } = arena();
    expect(ann.place(fields)).toBe(code);
    expect(ann.get('GET', '/api/v3/open_orders')).toEqual([]);
    expect(ann.balance('mxn').locked).toBe('0.00000000');
  });

  it.each<[Partial<Switches>, Record<string, unknown>, string]>([
    [{ trading: 'off' }, good, '0410'],
    [{ marketOrders: 'off' }, { ...market, major: '1' }, '0411'],
    [{ api: 'off' }, good, '1000'],
    [{ openOrdersMax: 1 }, good, '1001'],
  ])('with %j: %s %s', (switches, fields, code) => {
    const { exchange, ann } = arena();
    ann.limit('btc_mxn', 'buy', '1400000', '0.1');
    exchange.venue.set(switches);
    expect(ann.place(fields)).toBe(code);
  });

  it('when its body is not a JSON object', () => {
    const { exchange, ann } = arena();
    for (const body of ['', '{', '[]', 'null', '"x"']) {
      const headers = ann.headers('POST', '/api/v3/orders', body);
      const reply = exchange.respond({ method: 'POST', target: '/api/v3/orders', headers, body }, '::1');
      expect(reply.status).toBe(400);
    }
  });

  it('but not for its price where rounding is switched on', () => {
    const { ann } = arena({ offTickPrice: 'round' });
    expect(ann.order(ann.limit('btc_mxn', 'buy', '1500009.99', '0.1'))!['price']).toBe('1500000');
    expect(ann.order(ann.limit('btc_mxn', 'sell', '1500000.01', '0.1'))!['price']).toBe('1500010');
  });
});

describe('the switches', () => {
  it('have a default among their variants, a meaning and a source each', () => {
    for (const [name, row] of Object.entries(SWITCHES)) {
      expect(row.decides.length, name).toBeGreaterThan(10);
      expect(row.source, name).toMatch(/facts|rest-api|rfq/);
      if (row.kind === 'choice') expect(row.variants as readonly unknown[]).toContain(row.fallback);
      else expect(row.fallback >= row.min && row.fallback <= row.max, name).toBe(true);
    }
  });

  it('refuse what they do not know, in one line', () => {
    expect(() => switchesOf({ nonce: 'v3' as never })).toThrow(
      'switch nonce: expected one of v2, v2 strict, v1, unchecked, found "v3"',
    );
    expect(() => switchesOf({ lockoutMs: Number.NaN })).toThrow('switch lockoutMs: expected a whole number from 0');
    expect(() => switchesOf({ nonsense: 1 } as never)).toThrow('unknown switch nonsense');
    expect(() => switchesOf({ engineDelayMinMs: 30 })).toThrow('engineDelayMinMs');
  });
});

describe('the same seed', () => {
  it('gives the same replies to the same requests at the same times', async () => {
    const run = async () => {
      const { ann, bob, exchange, clock } = arena({ engineDelayMaxMs: 20 }, 42);
      const texts: string[] = [];
      for (let i = 0; i < 50; i++) {
        (i % 2 ? ann : bob).limit('btc_mxn', i % 3 ? 'buy' : 'sell', String(1_500_000 + (i % 7) * 10), '0.01');
        await clock.advance(i % 11);
        texts.push(publicCall(exchange, '/api/v3/order_book?book=btc_mxn&aggregate=false').text);
      }
      texts.push(ann.call('GET', '/api/v3/user_trades?limit=100').text);
      return texts;
    };
    expect(await run()).toEqual(await run());
  });
});
