import { describe, expect, it } from 'vitest';
import type { Outcome, UnreadableRow } from '../../../src/core/index.ts';
import * as account from '../../../src/exchange/bitso/wire/accountReplies.ts';
import { quote } from '../../../src/exchange/bitso/rest/conversions.ts';
import * as market from '../../../src/exchange/bitso/wire/marketReplies.ts';
import { WireFault } from '../../../src/exchange/wire/wire.ts';
import { json, ok, scriptedClient } from './fakes.ts';

const AT = Date.UTC(2026, 1, 11, 16, 5, 9);

const bookRow = {
  book: 'sol_mxn',
  default_chart: 'tradingview',
  margin_enabled: true,
  minimum_amount: '0.00050000',
  maximum_amount: '500000.00000000',
  minimum_price: '50.00',
  maximum_price: '90000.00',
  minimum_value: '10.00',
  maximum_value: '200000000.00',
  tick_size: '0.01',
  fees: {
    flat_rate: { maker: '0.500', taker: '0.0650' },
    structure: [
      { volume: '9999999999', maker: '0.00100', taker: '0.00130' },
      { volume: '20000', maker: '0.00600', taker: '0.00780' },
    ],
  },
};

describe('available books', () => {
  it('have their rules, their tiers by volume, and a flat rate in percent as a fraction', () => {
    expect(market.availableBooks([bookRow])).toEqual([
      {
        book: 'sol_mxn',
        defaultChart: 'tradingview',
        tickSize: '0.01',
        minimumAmount: '0.00050000',
        maximumAmount: '500000.00000000',
        minimumPrice: '50.00',
        maximumPrice: '90000.00',
        minimumValue: '10.00',
        maximumValue: '200000000.00',
        marginEnabled: true,
        flatRate: { maker: '0.005', taker: '0.00065' },
        tiers: [
          { volume: '20000', maker: '0.00600', taker: '0.00780' },
          { volume: '9999999999', maker: '0.00100', taker: '0.00130' },
        ],
      },
    ]);
  });

  it('have a flat rate of up to a twentieth as it is', () => {
    const fees = { flat_rate: { maker: '0.006', taker: '0.05' } };
    expect(market.availableBooks([{ ...bookRow, fees }])[0]).toMatchObject({
      flatRate: { maker: '0.006', taker: '0.05' },
      tiers: [],
    });
  });

  it('take maker and taker to be in one unit, whichever of them gives it away', () => {
    const rateOf = (maker: string, taker: string) =>
      market.availableBooks([{ ...bookRow, fees: { flat_rate: { maker, taker } } }])[0]?.flatRate;
    expect(rateOf('0.4', '0.04')).toEqual({ maker: '0.004', taker: '0.0004' });
    expect(rateOf('0', '0.5')).toEqual({ maker: '0', taker: '0.005' });
  });

  it('leave out a row without readable rules, and name it', () => {
    const { tick_size: _, ...bare } = bookRow;
    const unreadable: UnreadableRow[] = [];
    expect(market.availableBooks([bare, bookRow], unreadable).map(book => book.book)).toEqual(['sol_mxn']);
    expect(unreadable).toEqual([
      { why: 'row 1: tick_size: expected decimal digits, found nothing', book: 'sol_mxn', originId: null },
    ]);
    expect(() => market.availableBooks([bare])).toThrow(WireFault);
    expect(market.availableBooks([])).toEqual([]);
  });
});

describe('an order book', () => {
  const payload = {
    sequence: '4521100001',
    updated_at: '2026-02-11T16:05:09+00:00',
    bids: [
      { book: 'btc_mxn', price: '10', amount: '1', oid: 'a' },
      { book: 'btc_mxn', price: '10', amount: '2', oid: 'b' },
      { book: 'btc_mxn', price: '9', amount: '3', oid: 'c' },
    ],
    asks: [{ book: 'btc_mxn', price: '11', amount: '1' }],
  };
  const read = market.orderBook('btc_mxn');

  it('keeps its order, its ids and every digit of its sequence', () => {
    expect(read(payload)).toEqual({
      book: 'btc_mxn',
      sequence: 4521100001n,
      updatedAt: AT,
      bids: [
        { price: '10', amount: '1', oid: 'a' },
        { price: '10', amount: '2', oid: 'b' },
        { price: '9', amount: '3', oid: 'c' },
      ],
      asks: [{ price: '11', amount: '1' }],
    });
  });

  it('keeps a sequence of 64 bits that comes as a number', async () => {
    const text = JSON.stringify({ success: true, payload: { ...payload, sequence: 0 } }).replace(
      ':0',
      ':9223372036854775807',
    );
    const { client } = scriptedClient(() => json(text));
    const outcome = await client.orderBook('btc_mxn');
    expect(outcome.kind === 'done' && outcome.value.sequence).toBe(9223372036854775807n);
  });

  it('is a fault with another book in it, out of order, or without sequence', () => {
    const other = [{ book: 'eth_mxn', price: '10', amount: '1' }];
    const upside = [...payload.bids].reverse();
    for (const change of [
      { bids: other },
      { bids: upside },
      { sequence: undefined },
      { asks: null },
      { updated_at: '' },
    ]) {
      expect(() => read({ ...payload, ...change })).toThrow(WireFault);
    }
  });
});

describe('own trades', () => {
  const trade = {
    book: 'btc_mxn',
    tid: '51756',
    oid: 'Zk81mQpX02vbTn7C',
    created_at: '2026-02-11T16:05:09+0000',
    side: 'sell',
    maker_side: 'sell',
    price: '1499980',
    major: '-0.00250000',
    minor: '3749.95',
    fees_amount: '-24.37',
    fees_currency: 'mxn',
    origin_id: 'mm-1',
  };

  it('have positive sizes whatever the signs on the wire', () => {
    expect(account.ownTrades([trade])).toEqual([
      {
        book: 'btc_mxn',
        tid: '51756',
        oid: 'Zk81mQpX02vbTn7C',
        originId: 'mm-1',
        createdAt: AT,
        side: 'sell',
        price: '1499980',
        major: '0.00250000',
        minor: '3749.95',
        feeAmount: '24.37',
        feeCurrency: 'mxn',
        maker: true,
      },
    ]);
  });

  it('name the maker in both spellings, and their id as number or text', () => {
    const { maker_side: _, ...old } = trade;
    const [a, b] = account.ownTrades([
      { ...trade, maker_side: 'buy', tid: 51756 },
      { ...old, make_side: 'sell' },
    ]);
    expect([a!.maker, a!.tid, b!.maker]).toEqual([false, '51756', true]);
    expect(() => account.ownTrades([old])).toThrow(WireFault);
  });
});

describe('orders', () => {
  const order = {
    book: 'btc_mxn',
    oid: 'a',
    original_amount: '0.01',
    unfilled_amount: '0.005',
    original_value: '56.0',
    price: '5600',
    side: 'buy',
    status: 'partially filled',
    type: 'limit',
    time_in_force: 'postonly',
    created_at: '2026-02-11T16:05:09.000+00:00',
    updated_at: null,
    stop: null,
    origin_id: null,
  };

  it('are read with nulls left out', () => {
    expect(account.orderList([order])).toEqual([
      {
        book: 'btc_mxn',
        oid: 'a',
        side: 'buy',
        type: 'limit',
        status: 'partially filled',
        price: '5600',
        originalAmount: '0.01',
        unfilledAmount: '0.005',
        originalValue: '56.0',
        timeInForce: 'postonly',
        createdAt: AT,
      },
    ]);
    expect(account.orderList([{ ...order, status: 'partial-fill' }])[0]!.status).toBe('partially filled');
  });

  it('must have a price and amounts unless they are market orders', () => {
    const { price: _, original_amount: __, unfilled_amount: ___, ...bare } = order;
    expect(() => account.orderList([bare])).toThrow(WireFault);
    expect(account.orderList([{ ...bare, type: 'market', status: 'completed' }])[0]).toMatchObject({
      originalAmount: '0',
    });
    for (const field of ['original_amount', 'unfilled_amount', 'price'])
      expect(() => account.orderList([{ ...order, [field]: undefined }])).toThrow(WireFault);
    expect(() => account.orderList([{ ...order, status: 'resting' }])).toThrow(WireFault);
  });
});

describe('fees', () => {
  it('are the account rates by book, the next maker rate as a fraction', () => {
    const fee = {
      book: 'eth_mxn',
      taker_fee_decimal: '0.00728000',
      maker_fee_decimal: '0.00560000',
      fee_decimal: '0.00728000',
      volume_currency: 'mxn',
      current_volume: '612345.10',
      next_volume: '1000000.00',
      next_maker_fee_percent: '0.550',
    };
    const deposit_fees = [{ currency: 'mxn', method: 'sp', fee: '0.00', is_fixed: true }];
    const schedule = account.fees({ fees: [fee], deposit_fees, withdrawal_fees: { btc: '0.00002100' } });
    expect(schedule.books).toEqual([
      {
        book: 'eth_mxn',
        maker: '0.00560000',
        taker: '0.00728000',
        volumeCurrency: 'mxn',
        currentVolume: '612345.10',
        nextVolume: '1000000.00',
        nextMaker: '0.0055',
      },
    ]);
    expect(schedule.deposits).toEqual([{ currency: 'mxn', method: 'sp', fee: '0.00', fixed: true }]);
    expect(schedule.withdrawals.get('btc')).toBe('0.00002100');
    expect(account.fees({ fees: [] })).toEqual({ books: [], deposits: [], withdrawals: new Map() });
  });
});

describe('the other replies', () => {
  it('balances are read from their list', () => {
    const row = { currency: 'mxn', total: '100', locked: '40', available: '60', pending_deposit: '0' };
    expect(account.balanceList({ balances: [row] })).toEqual([
      { currency: 'mxn', total: '100', locked: '40', available: '60' },
    ]);
  });

  it('the account status needs two fields, and reads two factors as a word or a list and the avatar by either name', () => {
    const least = { client_id: '1234', status: 'active' };
    expect(account.accountStatus(least)).toEqual({ clientId: '1234', status: 'active', twoFactorMethods: [] });
    const more = { ...least, verification_level: 5, daily_limit: '10', gravatar_img: 'x' };
    expect(account.accountStatus({ ...more, enabled_two_factor_methods: 'totp' })).toEqual({
      clientId: '1234',
      status: 'active',
      verificationLevel: 5,
      dailyLimit: '10',
      avatarImg: 'x',
      twoFactorMethods: ['totp'],
    });
    expect(() => account.accountStatus({ ...least, enabled_two_factor_methods: [1] })).toThrow(/two_factor/);
  });

  it('a ticker has signed statistics and survives a dead book', () => {
    const at = { book: 'btc_mxn', created_at: '2026-02-11T16:05:09+00:00' };
    expect(
      market.ticker({
        ...at,
        ask: '2023010.000000000000',
        bid: null,
        low: '0',
        last: '0.00',
        change_24: '-8120',
        rolling_average_change: { '6': '-0.0312' },
      }),
    ).toEqual({
      book: 'btc_mxn',
      createdAt: AT,
      ask: '2023010.000000000000',
      change24: '-8120',
      rollingAverageChange: new Map([['6', '-0.0312']]),
    });
  });

  it('candles, conversions and RFQ replies are read field by field', async () => {
    const bucket = {
      bucket_start_time: 1790300000000,
      first_trade_time: 1790300000001,
      last_trade_time: null,
      first_rate: '1',
      last_rate: '2',
      min_rate: '0.5',
      max_rate: '3',
      trade_count: 4,
      volume: '9',
    };
    expect(market.candles([bucket])).toEqual([
      {
        from: 1790300000000,
        firstTradeAt: 1790300000001,
        open: '1',
        close: '2',
        low: '0.5',
        high: '3',
        trades: 4,
        volume: '9',
      },
    ]);
    const terms = {
      id: 8123,
      from_amount: '5200.00000000',
      from_currency: 'mxn',
      to_amount: '281.30510000',
      to_currency: 'usd',
      created: 1790300100500,
      expires: 1790300130500,
      rate: '18.48527027',
    };
    const extras = {
      estimated_slippage: { value: '0.0153', level: 'normal', message: '' },
      next_recurrent_events: { DAILY: 1790300130500 },
    };
    expect(quote({ ...terms, ...extras })).toMatchObject({ id: '8123', estimatedSlippage: { value: '0.0153' } });
    const valueOf = <T>(outcome: Outcome<T>): T => {
      if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome));
      return outcome.value;
    };
    const answering = (reply: unknown) => scriptedClient(() => json(reply)).client;
    const done = await scriptedClient(() => ok({ ...terms, status: 'completed' })).client.conversion('8123');
    expect(valueOf(done)).toMatchObject({ id: '8123', status: 'completed', createdAt: 1790300100500 });
    expect(valueOf(await scriptedClient(() => ok({ oid: '8123' })).client.executeConversion('q'))).toEqual({
      conversionId: '8123',
    });
    const rfqTerms = {
      id: '0f-1',
      source: 'BTC',
      target: 'MXN',
      source_amount: '0.1',
      target_amount: '150000',
      rate: '1500000',
      created_at: '2026-02-11T16:05:09Z',
    };
    const rfqQuote = { ...rfqTerms, status: 'ACTIVE', expires_at: '2026-02-11T16:05:39Z', can_confirm: false };
    const capped = { ...rfqQuote, max_tradable_amount: { value: '0.05', currency: 'BTC' } };
    expect(valueOf(await answering(capped).rfq.quote('0f-1'))).toMatchObject({
      canConfirm: false,
      maxTradable: { value: '0.05', currency: 'BTC' },
      expiresAt: AT + 30_000,
    });
    const conversion = {
      ...rfqTerms,
      quote_id: '0f-1',
      status: 'PENDING',
      quoted_at: '2026-02-11T16:05:09Z',
      updated_at: null,
    };
    const page = { conversions: [conversion], next_page_token: 'more', total_count: 2 };
    expect(valueOf(await answering(page).rfq.conversions())).toMatchObject({ nextPageToken: 'more', totalCount: 2 });
    expect(valueOf(await answering({ conversions: [], next_page_token: '' }).rfq.conversions())).toEqual({
      conversions: [],
    });
    const failure = { errors: [{ code: 'quote_not_found', message: 'gone' }] };
    const { client } = scriptedClient(() => json(failure, 400));
    expect(await client.rfq.convert('0f-1')).toMatchObject({ kind: 'refused', code: 'quote_not_found', status: 400 });
    const unheard = scriptedClient(() => json({ errors: [{ code: 'brand_new', message: '' }] }, 400)).client;
    expect((await unheard.rfq.convert('0f-1')).kind).toBe('unknown');
    expect(await unheard.rfq.quote('0f-1')).toMatchObject({ kind: 'refused', code: 'brand_new' });
  });
});
