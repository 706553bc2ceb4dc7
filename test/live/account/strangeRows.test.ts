/**
 * One row of a list made strange at a time, at the bot: a whole run against the embedded exchange, on whose answers one field of one row is changed. A row
 * of somebody else stops nothing; one of the bot's may hold it back, is read as nothing else, and is forgotten once it can be read.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { amount, price, type WireReply, type WireRequest } from '../../../src/core/index.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { few } from '../../many.ts';
import { STRANGE } from '../../exchange/bitso/strange.ts';
import { doomed, restarted } from '../crashes.ts';
import { Folders } from '../states.ts';
import { started, worldOf, type Running, type World } from '../world.ts';

type Row = Record<string, unknown>;

/** A list that the bot reads, and which of its rows is made strange. */
type List = {
  readonly name: string;
  readonly path: RegExp;
  readonly fields: readonly string[];
  readonly rowsOf: (payload: never) => Row[];
  /** Null where the answer has no such row. */
  readonly pick: (rows: Row[]) => Row | null;
  /** A row that is the bot's, or may be: quotes may stop while it stays. */
  readonly isOurs: boolean;
  /** Until the bot has read it, and would have stopped. */
  readonly seconds: number;
  readonly stream?: boolean;
};

const ORDER = [
  'book',
  'created_at',
  'oid',
  'origin_id',
  'original_amount',
  'original_value',
  'price',
  'side',
  'status',
  'time_in_force',
  'type',
  'unfilled_amount',
  'updated_at',
  'margin_order_type',
];
const TRADE = [
  'book',
  'created_at',
  'fees_amount',
  'fees_currency',
  'major',
  'major_currency',
  'maker_side',
  'margin_order_type',
  'minor',
  'minor_currency',
  'oid',
  'origin_id',
  'price',
  'side',
  'tid',
];
const BALANCE = ['currency', 'total', 'locked', 'available'];
const LINE = ['eid', 'operation', 'created_at', 'balance_updates', 'details'];
const PUBLIC_TRADE = ['amount', 'book', 'created_at', 'maker_side', 'price', 'tid'];

const own = (row: Row): boolean => String(row['origin_id']).startsWith('demo-');
const all = (payload: Row[]): Row[] => payload;
const last = (rows: Row[], is: (row: Row) => boolean): Row | null => rows.findLast(is) ?? null;
const inBook = (book: string) => (row: Row) => row['book'] === book && !own(row);

const LISTS: readonly List[] = [
  // An exchange that lists more than it was asked for: the row comes from the list of all books.
  {
    name: 'open orders, of another book',
    path: /open_orders/,
    fields: ORDER,
    rowsOf: all,
    pick: rows => last(rows, inBook('eth_mxn')),
    isOurs: false,
    seconds: 13,
  },
  {
    name: 'open orders, of another program in the same book',
    path: /open_orders/,
    fields: ORDER,
    rowsOf: all,
    pick: rows => last(rows, inBook('btc_mxn')),
    isOurs: false,
    seconds: 13,
  },
  {
    name: 'balances, of another currency',
    path: /v3\/balance/,
    fields: BALANCE,
    rowsOf: ({ balances }: { balances: Row[] }) => balances,
    pick: rows => last(rows, ({ currency }) => currency === 'eth'),
    isOurs: false,
    seconds: 24,
  },
  {
    name: 'own trades, of another program in another book',
    path: /user_trades/,
    fields: TRADE,
    rowsOf: all,
    pick: rows => last(rows, inBook('eth_usd')),
    isOurs: false,
    seconds: 24,
  },
  {
    name: 'lines of deposits',
    path: /ledger\/fundings/,
    fields: LINE,
    rowsOf: all,
    pick: rows => rows[0] ?? null,
    isOurs: false,
    seconds: 70,
  },
  {
    name: 'public trades',
    path: /v3\/trades/,
    fields: PUBLIC_TRADE,
    rowsOf: all,
    pick: rows => rows[0] ?? null,
    isOurs: false,
    seconds: 13,
  },
  {
    name: 'open orders, of the bot',
    path: /open_orders/,
    fields: ORDER,
    rowsOf: all,
    pick: rows => last(rows, own),
    isOurs: true,
    seconds: 13,
  },
  {
    name: 'a look-up, of the bot',
    path: /v3\/orders\?origin_ids/,
    fields: ORDER,
    rowsOf: all,
    pick: rows => last(rows, own),
    isOurs: true,
    seconds: 13,
  },
  {
    name: 'own trades, of the bot',
    path: /user_trades/,
    fields: TRADE,
    rowsOf: all,
    pick: rows => last(rows, own),
    isOurs: true,
    seconds: 13,
  },
  {
    name: 'balances, of the book',
    path: /v3\/balance/,
    fields: BALANCE,
    rowsOf: ({ balances }: { balances: Row[] }) => balances,
    pick: rows => last(rows, ({ currency }) => currency === 'btc'),
    isOurs: true,
    seconds: 24,
  },
];

type Change = { readonly list: List; readonly field: string; readonly value: unknown };

/** The exchange of a world, with one field of one row of its answers changed while there is a change. */
function strangeWorld(seed: number) {
  const world = worldOf(seed, { exchange: { balances: { btc: '1.5', mxn: '2000000', eth: '50', usd: '100000' } } });
  const { exchange } = world.box;
  let change: Change | null = null;
  let applied = 0;
  let others: Row[] = [];
  let isBuy = true;
  const respond = (request: WireRequest, peer: string): WireReply => {
    const reply = exchange.respond(request, peer);
    const now = change;
    if (now === null || reply.status !== 200 || request.method !== 'GET' || !now.list.path.test(request.target))
      return reply;
    const body = JSON.parse(reply.body) as { success: boolean; payload: never };
    const rows = now.list.rowsOf(body.payload);
    if (/open_orders/.test(request.target)) rows.push(...structuredClone(others));
    const row = now.list.pick(rows);
    if (row === null) return reply;
    applied++;
    if (now.value === undefined) delete row[now.field];
    else row[now.field] = now.value;
    return { ...reply, body: JSON.stringify(body) };
  };
  const altered = {
    ...world,
    box: { ...world.box, exchange: Object.assign(Object.create(exchange) as typeof exchange, { respond }) },
  };
  const other = world.other();
  other.limit('btc_mxn', 'buy', '1200000', '0.001');
  other.limit('eth_mxn', 'buy', '1000', '0.1', { origin_id: 'somebody-1' });
  const market = exchange.marketplace('eth_usd');
  return {
    world: altered as World,
    set: (next: Change | null) => {
      change = next;
      applied = 0;
    },
    applied: () => applied,
    /** An order of the bot is filled in part, and another program of the account trades where the bot does not. */
    trade: () => {
      const quoted = exchange.marketplace('btc_mxn');
      const [order] = quoted.accountOrders(isBuy ? 'buy' : 'sell');
      isBuy = !isBuy;
      if (order) quoted.hit(order.id, amount(Math.min(order.left, 10_000)));
      market.place('sell', price(20_000), amount(1_000_000), 'GTC');
      other.limit('eth_usd', 'buy', '2000', '0.01');
    },
    see: () => {
      others = other.get<Row[]>('GET', '/api/v3/open_orders').filter(({ book }) => book === 'eth_mxn');
    },
  };
}

/** Last reported reason for not quoting; `null` while the bot quotes. */
function refusalOf({ log }: Running): string | null {
  const line = log.findLast(({ text }) => /^(?:quoting$|not quoting|nothing is quoted|halted)/.test(text));
  return line === undefined || line.text === 'quoting' ? null : line.text;
}

const total = { tried: 0, applied: 0, stopped: 0, ofOurs: 0 };

describe.each(LISTS)('one strange row of $name', list => {
  const cases = list.fields.flatMap(field => STRANGE.map(([name, value]) => ({ field, name, value })));
  // Neighbors in the list are alike: a few are taken from all over it.
  const spread = cases.map((_, n) => cases[(n * 37) % cases.length]!);

  test(list.isOurs ? 'is read as nothing else, and is forgotten once it can be read' : 'stops nothing', async () => {
    const { world, set, applied, see, trade } = strangeWorld(93);
    const { clock } = world;
    const running = await started(world);
    await clock.advance(30_000);
    see();
    for (const { field, name, value } of few(spread, 3)) {
      const what = `${list.name}: ${field} is ${name}`;
      trade();
      const before = running.log.length;
      set({ list, field, value });
      await clock.advance(list.seconds * 1_000);
      total.tried++;
      if (applied() > 0) total.applied++;
      const stops = running.log.slice(before).filter(({ text }) => /^(?:not quoting|nothing is quoted)/.test(text));
      if (stops.length > 0) total[list.isOurs ? 'ofOurs' : 'stopped']++;
      if (!list.isOurs)
        expect(
          stops.map(({ text }) => text),
          what,
        ).toEqual([]);
      set(null);
      for (let s = 0; refusalOf(running) !== null && s < 60; s++) await clock.advance(1_000);
      expect([refusalOf(running), latchIn(world.stateDir).read()], what).toEqual([null, null]);
    }
    const { summary, left, failure } = await running.stop();
    expect({ ...summary, left, failure }).toMatchObject({
      openOrdersLeft: 0,
      ledgerMatches: true,
      left: [],
      failure: null,
    });
    world.end();
  });
});

describe('a trade of another program that cannot be read', () => {
  test.each(['a restart', 'a crash'] as const)('halts nothing after %s either', async end => {
    const { world, set, applied, trade } = strangeWorld(94);
    const { clock } = world;
    const timing = { ...world.config.timing, transferListDelayMaxMs: 20_000 };
    const at = { ...world, config: { ...world.config, timing } };
    const folders = new Folders();
    const first = await doomed(at, folders);
    await clock.advance(30_000);
    const list = LISTS.find(({ name }) => name === 'own trades, of another program in another book')!;
    set({ list, field: 'price', value: 'strange' });
    trade();
    // Until it is too old to be read again.
    await clock.advance(120_000);
    expect(applied()).toBeGreaterThan(0);
    let second: Running;
    if (end === 'a crash') second = await restarted(at, first.kill());
    else {
      await first.running.stop();
      second = await started(at);
    }
    await clock.advance(90_000);
    const dir = end === 'a crash' ? first.left()! : at.stateDir;
    expect([refusalOf(second), latchIn(dir).read()]).toEqual([null, null]);
    expect((await second.stop()).summary).toMatchObject({ openOrdersLeft: 0, ledgerMatches: true });
    if (end === 'a crash') await first.running.stop();
    folders.clear();
    world.end();
  });
});

afterAll(() => {
  console.log(
    `strange rows at the bot: ${total.tried} tried, ${total.applied} of them in an answer; ${total.stopped} rows of others stopped quotes, ${total.ofOurs} of the bot's own held it back`,
  );
});
