/** Each choice that the REST documents leave open, seen from outside: what the exchange does under every variant of its switch. */
import { describe, expect, it } from 'vitest';
import { amount, price } from '../../../src/core/index.ts';
import { RFQ_SWITCHES, WEBHOOK_SWITCHES } from '../../../src/sandbox/switches/deskSwitches.ts';
import { SWITCHES, type Switches } from '../../../src/sandbox/index.ts';
import { STREAM_SWITCHES } from '../../../src/sandbox/switches/streamSwitches.ts';
import { arena, publicCall, type Trader } from '../trader.ts';

type Arena = ReturnType<typeof arena>;
type Row = Record<string, unknown>;
/** What to look at, and what is seen there by variant. */
type Probe = {
  readonly see: (a: Arena) => unknown;
  readonly as: Readonly<Record<string, unknown>>;
  readonly with?: Partial<Switches>;
};

const SELL = { book: 'btc_mxn', side: 'sell', type: 'limit', price: '1500000', major: '0.1' };
const MARKET = { book: 'btc_mxn', side: 'buy', type: 'market', major: '0.1' };
const PATH = '/api/v4/currency_conversions';

const codeOf = (reply: { body: { success: boolean; error: { code: string } } }) =>
  reply.body.success ? 'ok' : reply.body.error.code;
const placed = (who: Trader, fields: Row) => {
  const text = who.place(fields);
  return text.length === 16 ? 'ok' : text;
};
const statusAfter = (who: Trader, fields: Row) => {
  const oid = who.place(fields);
  return oid.length === 16 ? who.order(oid)!['status'] : oid;
};
const usd = ({ exchange }: Arena) => {
  const place = exchange.marketplace('usd_mxn');
  place.place('buy', price(18_300), amount(10 ** 13), 'GTC');
  place.place('sell', price(18_310), amount(10 ** 13), 'GTC');
};
const tradeOnce = ({ ann, bob }: Arena) => {
  const oid = ann.place(SELL);
  bob.limit('btc_mxn', 'buy', '1500000', '0.1');
  return oid;
};
/** An order whose replacement races with its fill. */
const race = async ({ ann, bob, clock }: Arena) => {
  const old = ann.place(SELL);
  await clock.advance(10);
  bob.limit('btc_mxn', 'buy', '1500000', '0.1');
  const { oid } = ann.get<{ oid: string }>('PATCH', `/api/v3/orders/${old}`, { price: '1510000' });
  await clock.advance(20);
  return ann.order(oid)!['status'];
};

const PROBES: Readonly<Record<string, Probe>> = {
  wrongSignature: {
    see: a => codeOf(publicSigned(a, `Bitso ${a.ann.key}:${a.ann.nonce()}:${'0'.repeat(64)}`)),
    as: { '0215': '0215', '0201': '0201' },
  },
  rateLimits: {
    with: { publicPerMinute: 1 },
    see: a => [1, 2].map(() => publicCall(a.exchange, '/api/v3/ticker').status),
    as: { on: [200, 420], off: [200, 200] },
  },
  signedPublicBudget: {
    with: { rateLimits: 'on', publicPerMinute: 1 },
    see: a => [1, 2].map(() => a.ann.call('GET', '/api/v3/ticker').status),
    as: { public: [200, 420], private: [200, 200] },
  },
  cancelTiming: {
    with: { engineDelayMinMs: 5, engineDelayMaxMs: 5 },
    see: async ({ ann, clock }) => {
      const oid = ann.place(SELL);
      await clock.advance(5);
      ann.get('DELETE', `/api/v3/orders/${oid}`);
      return ann.order(oid)!['status'];
    },
    as: { 'at once': 'cancelled', queued: 'open' },
  },
  trading: { see: ({ ann }) => placed(ann, SELL), as: { on: 'ok', off: '0410' } },
  marketOrders: { see: ({ ann }) => placed(ann, MARKET), as: { on: 'ok', off: '0411' } },
  api: { see: ({ ann }) => placed(ann, SELL), as: { on: 'ok', off: '1000' } },
  postOnlyCross: {
    see: ({ ann, bob }) => {
      bob.place(SELL);
      return statusAfter(ann, { ...SELL, side: 'buy', time_in_force: 'postonly' });
    },
    as: { cancel: 'cancelled', refuse: '1002' },
  },
  unknownParameters: {
    see: ({ ann, exchange }) => [
      placed(ann, { ...SELL, tif: 'postonly' }),
      codeOf(publicCall(exchange, '/api/v3/trades?book=btc_mxn&depth=5')),
    ],
    as: { ignored: ['ok', 'ok'], '0304': ['0304', '0304'] },
  },
  orderNumbers: {
    see: ({ ann }) => {
      const oid = ann.place({ ...SELL, price: 1_500_000, major: 0.1 });
      return oid.length === 16 ? [ann.order(oid)!['price'], ann.order(oid)!['original_amount']] : oid;
    },
    as: { '0372': '0372', accepted: ['1500000', '0.10000000'] },
  },
  offTickPrice: { see: ({ ann }) => placed(ann, { ...SELL, price: '1500001' }), as: { refuse: '0407', round: 'ok' } },
  selfTrade: {
    see: ({ ann }) => {
      const first = ann.place(SELL);
      const second = ann.place({ ...SELL, side: 'buy', major: '0.2' });
      return [first, second].map(oid => ann.order(oid)!['status']);
    },
    as: {
      allow: ['completed', 'partially filled'],
      'drop-new': ['open', 'cancelled'],
      'remove-old': ['cancelled', 'open'],
    },
  },
  slippageReference: {
    see: a => {
      tradeOnce(a);
      a.ann.place({ ...SELL, price: '1600000' });
      return statusAfter(a.bob, { ...MARKET, slippage_tolerance: 1 });
    },
    as: { best: 'completed', last: 'cancelled' },
  },
  slippageOutcome: {
    see: ({ ann, bob }) => {
      ann.place(SELL);
      return statusAfter(bob, { ...MARKET, major: '0.2', slippage_tolerance: 1 });
    },
    as: { 'cancel rest': 'cancelled', refuse: '1002' },
  },
  stopDirection: {
    // A sell stop above the last trade: reached already when only a fall counts, else it waits for the rise.
    see: a => {
      tradeOnce(a);
      return statusAfter(a.ann, { ...SELL, price: '1700000', stop: '1600000' });
    },
    as: { 'by side': 'open', 'from last': 'queued' },
  },
  stopLocks: {
    see: ({ ann }) => {
      ann.place({ ...SELL, stop: '1400000' });
      return ann.balance('btc').locked;
    },
    as: { 'at placement': '0.10000000', 'at trigger': '0.00000000' },
  },
  stopInOpenOrders: {
    see: ({ ann }) => {
      ann.place({ ...SELL, stop: '1400000' });
      return ann.get<Row[]>('GET', '/api/v3/open_orders').map(o => o['status']);
    },
    as: { queued: ['queued'], hidden: [] },
  },
  replaceRace: {
    with: { engineDelayMinMs: 10, engineDelayMaxMs: 10 },
    see: race,
    as: { created: 'open', dropped: 'cancelled' },
  },
  modifyPriority: {
    see: ({ ann, bob, open }) => {
      const mine = ann.place(SELL);
      const his = bob.place(SELL);
      ann.get('PATCH', `/api/v4/orders/${mine}`, { major: '0.05' });
      open().limit('btc_mxn', 'buy', '1500000', '0.05');
      return [ann.order(mine)!['status'], bob.order(his)!['status']];
    },
    as: { lost: ['open', 'partially filled'], 'kept when reduced': ['completed', 'open'] },
  },
  modifyMajor: {
    see: ({ ann, bob }) => {
      const oid = ann.place(SELL);
      bob.limit('btc_mxn', 'buy', '1500000', '0.04');
      ann.get('PATCH', `/api/v4/orders/${oid}`, { major: '0.2' });
      return ann.order(oid)!['unfilled_amount'];
    },
    as: { original: '0.16000000', remaining: '0.20000000' },
  },
  cancelUnknown: {
    see: ({ ann }) => codeOf(ann.call('DELETE', '/api/v3/orders/nothing')),
    as: { omitted: 'ok', '0312': '0312' },
  },
  lookupUnknown: {
    see: ({ ann }) => codeOf(ann.call('GET', '/api/v3/orders/nothing')),
    as: { omitted: 'ok', '0312': '0312' },
  },
  unmatchedTrades: {
    see: ({ ann }) => codeOf(ann.call('GET', `/api/v3/order_trades/${ann.place(SELL)}`)),
    as: { '0378': '0378', empty: 'ok' },
  },
  unknownOrderTrades: {
    see: ({ ann }) => codeOf(ann.call('GET', '/api/v3/order_trades/x')),
    as: { empty: 'ok', '0312': '0312' },
  },
  absentFields: { see: ({ ann }) => 'stop' in ann.order(ann.place(SELL))!, as: { null: true, omitted: false } },
  feeSign: {
    see: a => (tradeOnce(a), a.ann.get<Row[]>('GET', '/api/v3/user_trades')[0]!['fees_amount']),
    as: { positive: '900.00000000', negative: '-900.00000000' },
  },
  feeRounding: {
    // 0.78 percent of 0.00000100 BTC is 0.0000000078, and of 0.00000060 BTC 0.00000000468.
    see: ({ exchange, ann }) => {
      exchange.marketplace('btc_mxn').place('sell', price(4_000_000), amount(10_000), 'GTC');
      for (const major of ['0.00000100', '0.00000060']) ann.limit('btc_mxn', 'buy', '40000000', major);
      return ann.get<Row[]>('GET', '/api/v3/user_trades').map(t => t['fees_amount']);
    },
    as: {
      'half up': ['0.00000000', '0.00000001'],
      up: ['0.00000001', '0.00000001'],
      down: ['0.00000000', '0.00000000'],
    },
  },
  tradesOfUnknownBook: {
    see: a => codeOf(publicCall(a.exchange, '/api/v3/trades?book=x')),
    as: { empty: 'ok', '0301': '0301' },
  },
  tickerWithoutBook: { see: a => codeOf(publicCall(a.exchange, '/api/v3/ticker')), as: { all: 'ok', '0301': '0301' } },
  limitAboveMax: {
    see: ({ ann }) => codeOf(ann.call('GET', '/api/v3/user_trades?limit=101')),
    as: { capped: 'ok', '0320': '0320' },
  },
  limitBelowOne: {
    see: ({ ann }) => codeOf(ann.call('GET', '/api/v3/user_trades?limit=0')),
    as: { default: 'ok', '0320': '0320' },
  },
  bookUpdatedAt: {
    see: async a => {
      await a.clock.advance(5_000);
      return (publicCall(a.exchange, '/api/v3/order_book?book=btc_mxn').body.payload as Row)['updated_at'];
    },
    as: { 'last update': '2026-09-21T14:13:20.000+00:00', reply: '2026-09-21T14:13:25.000+00:00' },
  },
  bookTimes: {
    see: a => (publicCall(a.exchange, '/api/v3/ticker?book=btc_mxn').body.payload as Row)['created_at'],
    as: { milliseconds: '2026-09-21T14:13:20.000+00:00', seconds: '2026-09-21T14:13:20+00:00' },
  },
  tickerWithoutMarket: {
    see: a => (publicCall(a.exchange, '/api/v3/ticker?book=btc_mxn').body.payload as Row)['last'],
    as: { zero: '0', null: null },
  },
  orderUpdatedAt: {
    see: ({ ann }) => ann.order(ann.place(SELL))!['updated_at'],
    as: { created_at: '2026-09-21T14:13:20.000+00:00', null: null },
  },
  sequenceForm: {
    see: a => typeof (publicCall(a.exchange, '/api/v3/order_book?book=btc_mxn').body.payload as Row)['sequence'],
    as: { string: 'string', number: 'number' },
  },
  flatRate: {
    see: a => (books(a)[0]!['fees'] as { flat_rate: Row }).flat_rate['maker'],
    as: { fraction: '0.00600', percent: '0.600' },
  },
  defaultChart: {
    see: a => books(a)[0]!['default_chart'],
    as: { tradingview: 'tradingview', 'trading view': 'trading view' },
  },
  avatarField: {
    see: ({ ann }) => Object.keys(ann.get('GET', '/api/v3/account_status')).filter(key => key.endsWith('avatar_img')),
    as: { avatar_img: ['avatar_img'], gravatar_img: ['gravatar_img'], both: ['avatar_img', 'gravatar_img'] },
  },
  conversions: { see: ({ ann }) => codeOf(ann.call('POST', PATH, {})), as: { on: '0303', off: '1009' } },
  conversionBothAmounts: {
    see: ({ ann }) =>
      codeOf(
        ann.call('POST', PATH, { from_currency: 'mxn', to_currency: 'usd', spend_amount: '1', receive_amount: '1' }),
      ),
    as: { '0361': '0361', '0308': '0308' },
  },
  conversionNoAmount: {
    see: ({ ann }) => codeOf(ann.call('POST', PATH, { from_currency: 'mxn', to_currency: 'usd' })),
    as: { '0360': '0360', '0309': '0309' },
  },
  conversionOutcome: {
    see: async a => {
      usd(a);
      const { id } = a.ann.get<{ id: string }>('POST', PATH, {
        from_currency: 'mxn',
        to_currency: 'usd',
        spend_amount: '100',
      });
      const { oid } = a.ann.get<{ oid: string }>('PUT', `${PATH}/${id}`);
      await a.clock.advance(1000);
      return a.ann.get<Row>('GET', `${PATH}/${oid}`)['status'];
    },
    as: { completed: 'completed', failed: 'failed' },
  },
};

/** Seen in test/sandbox/venue/auth.test.ts, variant by variant. */
const ELSEWHERE = ['authHeaders', 'nonce', 'rateWindow'];

const books = (a: Arena) => publicCall(a.exchange, '/api/v3/available_books').body.payload as Row[];
function publicSigned(a: Arena, authorization: string) {
  const reply = a.exchange.respond(
    { method: 'GET', target: '/api/v3/balance', headers: { authorization }, body: '' },
    '::1',
  );
  return { body: JSON.parse(reply.body) as { success: boolean; error: { code: string } } };
}

describe('a switch of the REST face', () => {
  const others = new Set(Object.keys({ ...RFQ_SWITCHES, ...WEBHOOK_SWITCHES, ...STREAM_SWITCHES }));
  const choices = Object.entries(SWITCHES).filter(([name, row]) => row.kind === 'choice' && !others.has(name));

  it('is looked at here, or by name elsewhere, whenever it is a choice', () => {
    expect(Object.keys(PROBES).sort()).toEqual(
      choices
        .map(([name]) => name)
        .filter(name => !ELSEWHERE.includes(name))
        .sort(),
    );
    for (const [name, row] of choices) {
      const probe = PROBES[name];
      if (row.kind === 'choice' && probe)
        expect(Object.keys(probe.as).sort(), name).toEqual(row.variants.map(String).sort());
    }
  });

  const cases = Object.entries(PROBES).flatMap(([name, probe]) =>
    Object.entries(probe.as).map(([variant, seen]) => ({ name, variant, seen, probe })),
  );
  it.each(cases)('$name = $variant does what the table says', async ({ name, variant, seen, probe }) => {
    expect(await probe.see(arena({ ...probe.with, [name]: variant }))).toEqual(seen);
  });

  it('bounds ids per call, open orders, and how long finished orders are shown', async () => {
    const { ann, clock } = arena({ idsPerCallMax: 2, finishedVisibleMs: 1000 });
    expect(codeOf(ann.call('GET', '/api/v3/orders?oids=a,b,c'))).toBe('0304');
    expect(codeOf(ann.call('DELETE', '/api/v3/orders?origin_ids=a,b,c'))).toBe('0304');
    const oid = ann.place(SELL);
    ann.get('DELETE', `/api/v3/orders/${oid}`);
    await clock.advance(999);
    expect(ann.order(oid)).toBeDefined();
    await clock.advance(1);
    expect(ann.order(oid)).toBeUndefined();
  });
});
