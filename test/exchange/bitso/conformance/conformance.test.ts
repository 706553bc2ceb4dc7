/**
 * Tests of the conformance checks on the embedded exchange: all pass, each injected error is found, no order is left.
 */
import { afterEach, describe, expect, test } from 'vitest';
import {
  randomOf,
  Secret,
  settle,
  unstored,
  VirtualClock,
  type ConformanceCheck,
  type ConformanceOptions,
  type ConformanceResult,
  type Connection,
  type WireReply,
  type WireRequest,
} from '../../../../src/core/index.ts';
import { bitso } from '../../../../src/exchange/index.ts';
import {
  createVenue,
  FLOW_PROFILES,
  seededFlow,
  type EmbeddedExchange,
  type Switches,
} from '../../../../src/sandbox/index.ts';
import { wireTo, type Fate } from '../../../live/inProcess.ts';

const BOOK = 'btc_mxn';
const START = 1_790_000_000_000;
const opened: { readonly exchange: EmbeddedExchange; readonly stop: () => void }[] = [];
afterEach(() => {
  for (const { exchange, stop } of opened.splice(0)) {
    stop();
    exchange.close();
  }
});

type Changes = {
  readonly switches?: Partial<Switches>;
  readonly options?: Partial<ConformanceOptions>;
  readonly fate?: (request: WireRequest) => Fate;
  /** Returns the changed reply to a request. */
  readonly reply?: (request: WireRequest, reply: WireReply) => WireReply;
  /** Called after each check, with the number of checks so far. */
  readonly onCheck?: (count: number) => void;
  /** Time that passes after the last check. */
  readonly laterMs?: number;
  /** Whether another program has an order of the account in the book. */
  readonly hasOther?: boolean;
  /** Opening balances of the account. */
  readonly balances?: Readonly<Record<string, string>>;
};

/** Runs the checks with the real client and the shipped delays; virtual time passes while they wait. */
async function checked({
  switches = {},
  options = {},
  fate,
  reply,
  onCheck,
  laterMs = 0,
  hasOther = false,
  balances = { btc: '1.5', mxn: '2000000' },
}: Changes = {}) {
  const clock = new VirtualClock(START);
  const exchange = createVenue({ clock, seed: 7, switches });
  const account = exchange.openAccount({ balances });
  const market = seededFlow({ seed: 7, profile: FLOW_PROFILES[BOOK]! });
  market.start(exchange.marketplace(BOOK));
  opened.push({ exchange, stop: () => market.stop() });
  await clock.advance(5_000);
  const transport = wireTo({
    exchange: {
      respond: (request, peer) => {
        const given = exchange.respond(request, peer);
        return reply?.(request, given) ?? given;
      },
    },
    clock,
    random: randomOf(3),
    ...(fate ? { fate } : {}),
  });
  const told: ConformanceCheck[] = [];
  let over = false;
  const connection: Connection = {
    ...{ clock, random: randomOf(5), restUrl: 'http://127.0.0.1/api', transport, deadlineMs: 5_000 },
    credentials: { key: account.key, secret: new Secret(account.secret), nonceAbove: 0n, durable: unstored },
    budgets: { public: 60, private: 300 },
  };
  const check = () =>
    bitso.conformance!({
      connection,
      ...{
        book: BOOK,
        prefix: 'conform-',
        mayOrder: true,
        mayTrade: true,
        requestDelayMaxMs: 60_000,
        callbackUrl: 'http://127.0.0.1:9/hooks',
      },
      tell: check => {
        told.push(check);
        onCheck?.(told.length);
      },
      isStopped: () => false,
      ...options,
    });
  const placing = async (): Promise<void> => {
    const client = bitso.connect(connection);
    const order = { book: BOOK, side: 'buy', price: '100000', major: '0.01', originId: 'bot-1-1' } as const;
    expect((await client.place({ ...order, timeInForce: 'post only' })).kind).toBe('done');
    await client.close();
  };
  const running = (hasOther ? placing() : Promise.resolve()).then(check).finally(() => (over = true));
  while (!over) {
    await settle();
    if (!over) clock.runNext();
  }
  const result: ConformanceResult = await running;
  await clock.advance(laterMs);
  expect(told).toEqual(result.checks);
  const live = exchange.venue.accounts.get(account.id)!;
  return { ...result, live: [...live.active.values()], account: live };
}

const failed = ({ checks }: ConformanceResult) => checks.filter(({ verdict }) => verdict === 'fail');
const namesOf = (checks: readonly ConformanceCheck[]) => checks.map(({ name }) => name);

describe('on the embedded exchange', () => {
  test('every check passes, and no order is left', async () => {
    const result = await checked();
    expect(failed(result)).toEqual([]);
    expect(result.checks.filter(({ verdict }) => verdict === 'skipped')).toEqual([]);
    expect([result.left, result.live]).toEqual([[], []]);
    expect(new Set(namesOf(result.checks)).size).toBe(result.checks.length);
    expect(result.checks.length).toBeGreaterThan(50);
  });

  test('no money moves without permission to trade, and no order is sent without permission to place', async () => {
    const quiet = await checked({ options: { mayTrade: false, callbackUrl: null } });
    expect(failed(quiet)).toEqual([]);
    expect(quiet.checks.find(({ name }) => name === 'register a webhook')?.verdict).toBe('skipped');
    const orders: string[] = [];
    const reading = await checked({
      options: { mayOrder: false, mayTrade: false },
      fate: ({ method, target }) => {
        if (target.includes('/orders') && method !== 'GET') orders.push(`${method} ${target}`);
        return 'arrives';
      },
    });
    expect([failed(reading), orders]).toEqual([[], []]);
    for (const { account } of [quiet, reading])
      expect(['btc', 'mxn'].map(name => [account.total(name), account.available(name)])).toEqual([
        [1_500_000_000_000_000_000n, 1_500_000_000_000_000_000n],
        [2_000_000_000_000_000_000_000_000n, 2_000_000_000_000_000_000_000_000n],
      ]);
  });

  // The checks accept every behavior that the documents leave open.
  test.each<Partial<Switches>>([
    { wrongSignature: '0201', cancelTiming: 'queued', unmatchedTrades: 'empty', feeRounding: 'up' },
    {
      offTickPrice: 'round',
      postOnlyCross: 'refuse',
      cancelUnknown: '0312',
      lookupUnknown: '0312',
      feeSign: 'negative',
    },
    { engineDelayMinMs: 0, engineDelayMaxMs: 0, finishedVisibleMs: 0, absentFields: 'omitted', sequenceForm: 'number' },
    { rfqForbidden: 'conversions only', webhookEventCase: 'lower', webhookRefusalStatus: '409', feeRounding: 'down' },
  ])('every check passes with %o', async switches => {
    const result = await checked({ switches });
    expect(failed(result)).toEqual([]);
    expect([result.left, result.live]).toEqual([[], []]);
  });
});

describe('an exchange that is wrong', () => {
  test.each<[Partial<Switches>, readonly string[]]>([
    [{ nonce: 'unchecked' }, ['repeated nonce']],
    [{ nonce: 'v1' }, ['nonces out of order']],
    [{ trading: 'off' }, ['place a post-only order', 'buy at once']],
    [{ openOrdersMax: 2 }, ['pages of open orders']],
    [{ quoteLifeMs: 20_000 }, ['conversion quote']],
    [{ rfqPairs: 'fetching_pairs_api_error' }, ['RFQ pairs']],
    [{ tradeRecordDelayMs: 3_600_000 }, ['buy at once', 'sell at once']],
  ])('with %o fails by name, and leaves no order', async (switches, names) => {
    const result = await checked({ switches });
    expect(namesOf(failed(result))).toEqual(names);
    expect([result.left, result.live]).toEqual([[], []]);
  });

  type Row = Record<string, unknown>;
  /** Returns a `reply` that changes the payload of replies to one kind of request. */
  const edited =
    (target: RegExp, edit: (payload: never) => unknown, method = 'GET') =>
    (request: WireRequest, reply: WireReply): WireReply => {
      if (request.method !== method || !target.test(request.target)) return reply;
      const body = JSON.parse(reply.body) as { success: boolean; payload: never };
      return body.success ? { ...reply, body: JSON.stringify({ ...body, payload: edit(body.payload) }) } : reply;
    };
  /** Returns a `reply` that lists a conversion of the last requested quote. */
  function executing(): NonNullable<Changes['reply']> {
    let quote: Row = {};
    return ({ method, target }, reply) => {
      if (method === 'POST' && target.endsWith('/rfq/v1/quotes') && reply.status === 200)
        quote = JSON.parse(reply.body) as Row;
      if (!target.includes('/rfq/v1/conversions?')) return reply;
      const conversion = { ...quote, id: 'c1', quote_id: quote['id'], status: 'PENDING' };
      return { ...reply, body: JSON.stringify({ conversions: [conversion], total_count: 1 }) };
    };
  }
  const each = (change: Row) => (rows: readonly Row[]) => rows.map(row => ({ ...row, ...change }));
  test.each<[what: string, reply: NonNullable<Changes['reply']>, names: readonly string[]]>([
    [
      'an account that is not active',
      edited(/account_status/, (status: Row) => ({ ...status, status: 'inactive' })),
      ['account status'],
    ],
    [
      'a maker rate above the taker rate',
      edited(/\/fees$/, ({ fees, ...more }: { fees: Row[] }) => ({
        ...more,
        fees: each({ maker_fee_decimal: '0.9' })(fees),
      })),
      ['fees'],
    ],
    [
      'orders without ids',
      edited(/aggregate=false/, ({ bids, ...more }: { bids: Row[] }) => ({
        ...more,
        bids: each({ oid: undefined })(bids),
      })),
      ['order book with each order'],
    ],
    ['look-ups of another side', edited(/orders\?origin_ids/, each({ side: 'sell' })), ['look up by client id']],
    [
      'cancels that list nothing',
      edited(/orders\?origin_ids/, () => [], 'DELETE'),
      ['cancel by client id', 'pages of open orders'],
    ],
    [
      'amounts that look filled',
      edited(/orders\?origin_ids/, each({ unfilled_amount: '0' })),
      ['look up by client id', 'ask with a client id of 40 characters'],
    ],
    [
      'an order that may take',
      edited(/orders\?origin_ids/, each({ time_in_force: 'goodtillcancelled' })),
      ['look up by client id'],
    ],
    [
      'a total that changes with a lock',
      edited(/balance/, ({ balances }: { balances: Row[] }) => ({
        balances: balances.map(row =>
          /[1-9]/.test(String(row['locked']))
            ? { ...row, total: `9${String(row['total'])}`, available: `9${String(row['available'])}` }
            : row,
        ),
      })),
      ['balance locked by a bid', 'balance locked by an ask'],
    ],
    [
      'pages above their limit',
      edited(/open_orders.*limit=2/, (rows: readonly Row[]) => [...rows, ...rows]),
      ['pages of open orders'],
    ],
    [
      'a code of another rule',
      (_, reply) => ({ ...reply, body: reply.body.replace('"0356"', '"0304"') }),
      ['new order with the client id of a live order'],
    ],
    [
      'trades without their fees',
      edited(/order_trades/, each({ fees_amount: '0' })),
      ['fee of the buy', 'balances after the buy', 'fee of the sell', 'balances after the sell'],
    ],
    [
      'a row that cannot be read',
      edited(/\/trades\?book=btc_mxn$/, (rows: readonly Row[]) => [...rows, {}]),
      ['public trades'],
    ],
    ['a quote that it executes by itself', executing(), ['RFQ conversions']],
    [
      'a clock that is an hour late',
      (_, reply) => ({ ...reply, headers: { ...reply.headers, date: new Date(START - 3_600_000).toUTCString() } }),
      ['clock of the exchange'],
    ],
    [
      'a balance that forgets a lock',
      edited(/balance/, ({ balances }: { balances: Row[] }) => ({
        balances: balances.map(row => ({ ...row, locked: '0', available: row['total'] })),
      })),
      ['balance locked by a bid', 'balance locked by an ask'],
    ],
  ])('with %s fails by name', async (_, reply, names) => {
    const result = await checked({ reply });
    expect(namesOf(failed(result))).toEqual(names);
    expect([result.left, result.live]).toEqual([[], []]);
  });
});

test('requests above the limit of the exchange fail the budget', async () => {
  const result = await checked({ switches: { privatePerMinute: 30 } });
  expect(namesOf(failed(result))).toContain('request budget');
  expect(result.live).toEqual([]);
});

describe('a run that does not come to its end', () => {
  test('cancels its orders wherever the operator stops it', async () => {
    for (const stopAt of [17, 19, 25, 29]) {
      let isStopped = false;
      const result = await checked({
        options: { isStopped: () => isStopped },
        onCheck: count => (isStopped ||= count >= stopAt),
      });
      expect(failed(result)).toEqual([]);
      expect([result.left, result.live]).toEqual([[], []]);
      expect(result.checks.filter(({ found }) => found === 'stopped by the operator').length).toBeGreaterThan(10);
    }
  });

  test('names the orders that may be left when no cancel arrives', async () => {
    const result = await checked({ fate: ({ method }) => (method === 'DELETE' ? 'not sent' : 'arrives') });
    const live = result.live.map(({ originId }) => originId!);
    expect(live.length).toBeGreaterThan(0);
    expect(result.left.toSorted()).toEqual(live.toSorted());
    expect(namesOf(failed(result))).toContain('open orders after the checks');
  });

  test('reports every order as left while reads fail, and none once they work again', async () => {
    for (const failuresMax of [5, Infinity]) {
      let [isCanceled, failures] = [false, 0];
      const result = await checked({
        options: { isStopped: () => isCanceled, mayTrade: false },
        onCheck: count => (isCanceled ||= count >= 22),
        fate: ({ method, target }) =>
          isCanceled && method === 'GET' && target.includes('open_orders') && failures++ < failuresMax
            ? 'not sent'
            : 'arrives',
      });
      expect([result.live, result.left.length > 0]).toEqual([[], failuresMax === Infinity]);
    }
  });

  test('waits for a placement with an unknown outcome that arrives late', async () => {
    let placements = 0;
    let isCalled = false;
    const arrived: number[] = [];
    const result = await checked({
      options: { isStopped: () => isCalled, mayTrade: false },
      reply: ({ method, target }, reply) => {
        if (method === 'POST' && target.includes('/orders')) arrived.push(reply.status);
        return reply;
      },
      laterMs: 60_000,
      fate: ({ method, target }) => {
        if (method !== 'POST' || !/\/orders/.test(target)) return 'arrives';
        if (++placements > 1) return 'arrives';
        isCalled = true;
        return { heldMs: 40_000 };
      },
    });
    expect([result.left, result.live]).toEqual([[], []]);
    expect([placements, arrived]).toEqual([1, [200]]);
  });

  test('sells what it bought, net of the fee, also after a stop, and says what it could not sell', async () => {
    for (const isSellRejected of [false, true]) {
      let isStopped = false;
      const bodies: { side: string; major: string }[] = [];
      const result = await checked({
        options: { isStopped: () => isStopped },
        fate: ({ method, target, body }) => {
          if (method !== 'POST' || !target.includes('/orders') || !String(body).includes('immediate')) return 'arrives';
          bodies.push(JSON.parse(String(body)) as (typeof bodies)[number]);
          isStopped = true;
          return isSellRejected && bodies.length === 2 ? 'not sent' : 'arrives';
        },
      });
      expect(bodies.map(({ side }) => side)).toEqual(['buy', 'sell']);
      expect(Number(bodies[1]!.major)).toBeLessThan(Number(bodies[0]!.major));
      expect(namesOf(failed(result))).toEqual(isSellRejected ? ['sell at once', 'the bought amount is sold'] : []);
      const remains = result.account.total('btc') - 1_500_000_000_000_000_000n;
      expect(remains >= 10_000_000_000n).toBe(isSellRejected);
      expect(remains >= 0n).toBe(true);
    }
  });

  test('sells nothing if nothing was bought', async () => {
    const sides: unknown[] = [];
    const result = await checked({
      fate: ({ method, target, body }) => {
        if (method !== 'POST' || !target.includes('/orders') || !String(body).includes('immediate')) return 'arrives';
        sides.push((JSON.parse(String(body)) as { side: unknown }).side);
        return 'not sent';
      },
    });
    expect([sides, namesOf(failed(result))]).toEqual([['buy'], ['buy at once']]);
  });
});

test('with an order of another program, nothing is traded and no exact balance is compared', async () => {
  const result = await checked({ hasOther: true });
  const others = result.checks.filter(({ found }) =>
    /open orders in btc_mxn that these checks did not place: 1; first stop the bot/.test(found),
  );
  expect(failed(result)).toEqual([]);
  expect(others.every(({ verdict }) => verdict === 'skipped')).toBe(true);
  expect(namesOf(others)).toEqual([
    'open orders before the checks',
    'balance locked by a bid',
    'balance locked by an ask',
    'balances after all cancels',
    'amount above the balance',
    'trades',
  ]);
  expect([result.left, result.live.map(({ originId }) => originId)]).toEqual([[], ['bot-1-1']]);
});

test('without the market or the fees of the book, what cannot be checked is skipped with the reason', async () => {
  const refused = (target: RegExp) => (request: WireRequest, reply: WireReply) =>
    target.test(request.target) ? { ...reply, status: 500, body: '{}' } : reply;
  const reasonsIn = ({ checks }: ConformanceResult) =>
    checks.flatMap(({ name, found, verdict }) =>
      verdict === 'skipped' && found.endsWith('not known') ? [`${name}: ${found}`] : [],
    );
  expect(reasonsIn(await checked({ reply: refused(/\/fees/) }))).toEqual(['trades: the fees of btc_mxn are not known']);
  expect(reasonsIn(await checked({ reply: refused(/available_books/) }))).toEqual([
    'orders: the rules or the best prices of btc_mxn are not known',
    'trades: the rules or the best prices of btc_mxn are not known',
    'conversions, RFQ and webhooks: the rules or the best prices of btc_mxn are not known',
  ]);
});

describe('an order that must have ended', () => {
  test('has not ended because the first read does not list it', async () => {
    const hidden = new Set<string>();
    const rows = new Map<string, Record<string, unknown>>();
    const result = await checked({
      reply: ({ method, target }, reply) => {
        const oid = /orders\?oids=([^&]*)/.exec(target)?.[1];
        if (method !== 'GET' || oid === undefined) return reply;
        const { payload } = JSON.parse(reply.body) as { payload: Record<string, unknown>[] };
        if (payload[0]?.['status'] === 'cancelled') rows.set(oid, { ...payload[0], status: 'open' });
        const row = rows.get(oid);
        if (row === undefined) return reply;
        const isFirst = !hidden.has(oid);
        hidden.add(oid);
        return { ...reply, body: JSON.stringify({ success: true, payload: isFirst ? [] : [row] }) };
      },
    });
    expect(namesOf(failed(result))).toEqual([
      'replace an order',
      'cancel by client id',
      'post-only order that would trade',
    ]);
  });

  test('is not a post-only order whose outcome another code leaves unknown', async () => {
    const result = await checked({
      switches: { postOnlyCross: 'refuse' },
      reply: (_, reply) => ({ ...reply, body: reply.body.replace('"1002"', '"1003"') }),
    });
    expect(namesOf(failed(result))).toEqual(['post-only order that would trade']);
  });
});

test('a trade of the account with itself has two rows of one id', async () => {
  const result = await checked({
    reply: ({ target }, reply) => {
      if (!target.includes('/user_trades')) return reply;
      const { payload, ...more } = JSON.parse(reply.body) as { payload: Record<string, unknown>[] };
      const limit = Number(/limit=(\d+)/.exec(target)?.[1] ?? 25);
      const both = (payload.length > 0 ? payload : [SELF_TRADE]).flatMap(row => [row, row]);
      return { ...reply, body: JSON.stringify({ ...more, payload: both.slice(0, limit) }) };
    },
  });
  expect(failed(result)).toEqual([]);
});

const SELF_TRADE = {
  ...{ tid: '7', oid: 'x1', book: BOOK, side: 'buy', price: '10', major: '1', minor: '-10', maker_side: 'buy' },
  ...{ fees_amount: '0', fees_currency: 'btc', created_at: '2026-09-21T14:00:00+0000' },
};

test.each([
  [
    { btc: '0', mxn: '2000000' },
    ['ask with a client id of 40 characters', 'balance locked by an ask', 'cancel by order id'],
  ],
  [{ btc: '1.5', mxn: '1' }, ['place a post-only order', 'buy at once']],
])('with %o, what needs the missing currency is skipped', async (balances, names) => {
  const result = await checked({ balances });
  const missing = result.checks.filter(({ found, verdict }) => verdict === 'skipped' && / is available$/.test(found));
  expect([failed(result), namesOf(missing)]).toEqual([[], names]);
  expect([result.left, result.live]).toEqual([[], []]);
});
