/** Complete reads of lists that change meanwhile: no row that was there at the start is ever absent. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byTradeNumber, settle, TransportFailure, VirtualClock, type Outcome } from '../../../src/core/index.ts';
import { PAGE_ROWS, readAll, readOldest, type ListPage } from '../../../src/exchange/kraken/rest/pages.ts';
import { PlacedOrders } from '../../../src/exchange/kraken/rest/placedOrders.ts';
import { runsOf } from '../../many.ts';
import { ASSET_PAIRS, reply, scriptedKraken } from './scripted.ts';

/** A list, newest first, to which rows are added before given reads. */
class GrowingList {
  rows: number[];
  reads = 0;
  /** Rows that the count hides. */
  hidden = 0;
  readonly #added: readonly number[];

  constructor(size: number, added: readonly number[]) {
    this.rows = Array.from({ length: size }, (_, n) => size - n);
    this.#added = added;
  }

  readonly read = (offset: number): Promise<Outcome<ListPage<number>>> => {
    for (let n = 0; n < (this.#added[this.reads] ?? 0); n++) this.rows.unshift(this.rows.length + 1);
    this.reads++;
    const rows = this.rows.slice(offset, offset + PAGE_ROWS);
    return Promise.resolve({
      kind: 'done',
      value: { rows, length: rows.length, count: this.rows.length - this.hidden },
    });
  };
}

const sizes = fc.integer({ min: 0, max: 400 });
const growth = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 60 })), { maxLength: 12 });

describe('a list that grows while it is read', () => {
  test('is read to its end: each row of its start is in the result', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, growth, fc.constantFrom(0, 0, 1, 30, 400), async (size, added, hidden) => {
        const list = new GrowingList(size, added);
        // The count may be older than the rows.
        list.hidden = hidden;
        const outcome = await readAll(list.read);
        expect(outcome.kind).toBe('done');
        const found = new Set(outcome.kind === 'done' ? outcome.value : []);
        expect(Array.from({ length: size }, (_, n) => n + 1).filter(row => !found.has(row))).toEqual([]);
      }),
      runsOf(5_000, 300),
    );
  });

  test('is read from its end: the oldest wanted rows are in the result without a gap, or the outcome is unknown', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, growth, fc.integer({ min: 1, max: 120 }), fc.nat(30), async (size, added, most, skip) => {
        const list = new GrowingList(size, added);
        const outcome = await readOldest(list.read, most, row => row > skip);
        if (outcome.kind !== 'done') {
          expect(outcome.kind).toBe('unknown');
          return;
        }
        const found = [...new Set(outcome.value)]
          .filter(row => row > skip)
          .sort((a, b) => a - b)
          .slice(0, most);
        const wanted = Math.max(0, size - skip);
        expect(found.length).toBeGreaterThanOrEqual(Math.min(most, wanted));
        expect(found).toEqual(found.map((_, n) => skip + 1 + n));
      }),
      runsOf(5_000, 500),
    );
  });

  test('a quiet list is always read from its end', async () => {
    for (const size of [0, 1, 49, 50, 51, 99, 100, 101, 250]) {
      const outcome = await readOldest(new GrowingList(size, []).read, 60, () => true);
      expect(outcome.kind === 'done' && new Set(outcome.value).size >= Math.min(60, size), String(size)).toBe(true);
    }
  });

  test('that counts fewer rows than it has, or ends early, or never ends, is unknown', async () => {
    const hiding = new GrowingList(200, []);
    hiding.hidden = 30;
    expect(await readOldest(hiding.read, 60, () => true)).toMatchObject({ kind: 'unknown' });
    const short = (offset: number) =>
      Promise.resolve({ kind: 'done', value: { rows: [], length: offset === 0 ? 50 : 0, count: 120 } } as const);
    expect(await readAll(short)).toMatchObject({ kind: 'unknown' });
    const endless = () =>
      Promise.resolve({ kind: 'done', value: { rows: [1], length: PAGE_ROWS, count: 1_000_000 } } as const);
    expect(await readAll(endless)).toMatchObject({ kind: 'unknown' });
    const refused = () => Promise.resolve({ kind: 'refused', code: 'EAPI:Rate limit exceeded', message: '' } as const);
    expect(await readAll(refused)).toMatchObject({ kind: 'refused' });
    expect(await readOldest(refused, 1, () => true)).toMatchObject({ kind: 'refused' });
  });
});

describe('trades and orders of a pair', () => {
  const ORDER = { status: 'closed', opentm: 1_700_000_000, vol: '1', vol_exec: '1', oflags: 'fciq' };
  const tradesOf = (names: readonly string[], lists: () => object = () => ASSET_PAIRS, pairOfOrder = 'XBTUSD') =>
    scriptedKraken(
      ({ name, form }) => {
        const order = (oid: string) => ({
          ...{ ...ORDER, cl_ord_id: 'web-1' },
          descr: {
            pair: oid === 'O1' ? pairOfOrder : 'XBTUSD',
            type: 'buy',
            ordertype: 'limit',
            price: '1',
            price2: '0',
          },
        });
        if (name === 'QueryOrders')
          return reply(Object.fromEntries(form['txid']!.split(',').map(oid => [oid, order(oid)])));
        const trade = (pair: string, n: number) => ({
          ...{ ordertxid: `O${n}`, pair, time: 1_700_000_000 + n, type: 'buy', ordertype: 'limit', price: '30000' },
          ...{ cost: '30', fee: '0.1', vol: '0.001', margin: '0', maker: true, trade_id: n },
        });
        const trades = names.map((pair, n) => [`T${n}`, trade(pair, n)] as const);
        return reply({ trades: Object.fromEntries(trades), count: trades.length });
      },
      { pairs: lists },
    );

  test('that is not traded now, or is a dark pool, are read with the others', async () => {
    const { wsname: _, ...dark } = ASSET_PAIRS.XXBTZUSD;
    const lists = () => ({
      ...ASSET_PAIRS,
      'XXBTZUSD.d': dark,
      LTCUSDT: { ...ASSET_PAIRS.LTCUSDT, status: 'cancel_only' },
    });
    const { client } = tradesOf(['XXBTZUSD', 'LTCUSDT', 'XXBTZUSD.d'], lists);
    const outcome = await client.userTrades({ sort: 'asc' });
    expect(outcome.kind === 'done' && outcome.value.map(({ book }) => book)).toEqual([
      'btc_usd',
      'ltc_usdt',
      'btc_usd',
    ]);
    expect(outcome).not.toHaveProperty('unreadable');
    const books = await client.availableBooks();
    expect(books.kind === 'done' && books.value.map(({ book }) => book)).toEqual(['btc_usd', 'btc_usdt']);
  });

  test('are readable beside one whose order cannot be read', async () => {
    const { client } = tradesOf(['XXBTZUSD', 'XXBTZUSD'], undefined, 'NOPAIR');
    const outcome = await client.userTrades({ sort: 'asc' });
    expect(outcome).toMatchObject({
      kind: 'done',
      value: [{ oid: 'O0' }],
      unreadable: [{ book: 'btc_usd', oid: 'O1' }],
    });
  });

  test('that is listed later are unreadable until the list is read again, a minute after the last read at most', async () => {
    let isListed = false;
    const { client, clock } = tradesOf(['NEWUSD'], () =>
      isListed
        ? { ...ASSET_PAIRS, NEWUSD: { ...ASSET_PAIRS.LTCUSDT, altname: 'NEWUSD', wsname: 'NEW/USD' } }
        : ASSET_PAIRS,
    );
    expect(await client.userTrades({ sort: 'asc' })).toMatchObject({
      value: [],
      unreadable: [{ why: expect.stringContaining('NEWUSD') as string }],
    });
    isListed = true;
    expect(await client.userTrades({ sort: 'asc' })).toMatchObject({ value: [] });
    await clock.advance(60_000);
    expect(await client.userTrades({ sort: 'asc' })).toMatchObject({ value: [] });
    await clock.advance(100);
    expect(await client.userTrades({ sort: 'asc' })).toMatchObject({ value: [{ book: 'ltc_usdt' }] });
  });

  test('that is not listed any more are unreadable, with the currencies that its name can have', async () => {
    let reads = 0;
    const names = ['XLTCXXDG', 'LTCXDG', 'GONEAWAY', 'XXBTZUSD'];
    const { client, clock } = tradesOf(names, () => (reads++, ASSET_PAIRS));
    const outcome = await client.userTrades({ sort: 'asc' });
    expect(outcome).toMatchObject({ kind: 'done', value: [{ book: 'btc_usd' }] });
    const unreadable = outcome.kind === 'done' ? outcome.unreadable! : [];
    expect(unreadable.map(({ currencies }) => currencies)).toEqual([['ltc', 'doge'], ['ltc', 'doge'], undefined]);
    for (let n = 0; n < 10; n++) {
      await clock.advance(60_000);
      await client.userTrades({ sort: 'asc' });
    }
    // The list is read at the start, and once to see whether the names were added.
    expect(reads).toBe(2);
  });
});

/** Runs a call on a virtual clock: requests wait for the call counter of the key. */
async function answerOf<T>(clock: VirtualClock, call: Promise<Outcome<T>>): Promise<Outcome<T>> {
  let isOver = false;
  void call.finally(() => (isOver = true));
  for (let n = 0; n < 400 && !isOver; n++) await clock.advance(500);
  return call;
}

const START = 1_700_000_000;

describe('public trades', () => {
  test('are the latest in either order, or those after a marker without a gap, also where times are equal and books share numbers', async () => {
    const PAIRS = { btc_usd: 'XXBTZUSD', ltc_usdt: 'LTCUSDT' } as const;
    const books = Object.keys(PAIRS) as (keyof typeof PAIRS)[];
    // Seconds between two trades of a book; trades of the second book are an hour later.
    const times = fc.array(fc.constantFrom(0, 0, 1, 60), { minLength: 1, maxLength: 12 });
    const call = fc.record({
      book: fc.constantFrom(...books),
      limit: fc.integer({ min: 1, max: 14 }),
      isLatestFirst: fc.boolean(),
      marker: fc.option(fc.nat(12), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(times, times, fc.array(call, { minLength: 1, maxLength: 5 }), async (one, two, calls) => {
        const rowsOf = (gaps: readonly number[], from: number) => {
          let at = from;
          return gaps.map((gap, n) => ({ id: n + 1, at: (at += gap) }));
        };
        const listed = { btc_usd: rowsOf(one, START), ltc_usdt: rowsOf(two, START + 3_600) };
        const { client, clock } = scriptedKraken(({ form }) => {
          const book = books.find(each => PAIRS[each] === form['pair'])!;
          const nanos = (at: number) => BigInt(at) * 1_000_000_000n;
          const all = listed[book].map(({ id, at }) => ({ id, at, row: ['1', '2', at, 'b', 'l', '', id] }));
          const later = all.filter(({ at }) => form['since'] === undefined || nanos(at) > BigInt(form['since']));
          const count = Number(form['count']);
          const some = form['since'] === undefined ? later.slice(-count) : later.slice(0, count);
          return reply({ [PAIRS[book]]: some.map(({ row }) => row), last: '0' });
        });
        for (const { book, limit, isLatestFirst, marker } of calls) {
          const isAfter = marker !== undefined && !isLatestFirst;
          const page = {
            limit,
            sort: isLatestFirst ? 'desc' : 'asc',
            ...(isAfter && { marker: String(marker) }),
          } as const;
          const outcome = await answerOf(clock, client.trades(book, page));
          const ids = listed[book].map(({ id }) => id);
          const wanted = isAfter ? ids.filter(id => id > marker).slice(0, limit) : ids.slice(-limit);
          expect(outcome.kind === 'done' && outcome.value.map(({ tid }) => Number(tid))).toEqual(
            isLatestFirst ? wanted.toReversed() : wanted,
          );
        }
      }),
      runsOf(2_000, 100),
    );
  });
});

describe('own trades', () => {
  const NAMES = { btc_usd: 'XBTUSD', ltc_usdt: 'LTCUSDT' } as const;
  const trades = fc.array(
    fc.record({
      gap: fc.constantFrom(0, 0, 1, 60),
      book: fc.constantFrom<keyof typeof NAMES>('btc_usd', 'btc_usd', 'ltc_usdt'),
      /** Order of the trade; odd orders pay their fees in the base currency. */
      order: fc.nat(4),
      fee: fc.constantFrom('0', '0.1'),
    }),
    { minLength: 1, maxLength: 8 },
  );
  const scripted = (drawn: { gap: number; book: keyof typeof NAMES; order: number; fee: string }[]) => {
    let at = START;
    const all = drawn.map(({ gap, book, order, fee }, n) => {
      at += gap;
      const row = {
        ...{ ordertxid: `O${order}`, pair: NAMES[book], time: at, type: 'buy', ordertype: 'limit', price: '100' },
        ...{ cost: '1', fee, vol: '0.01', margin: '0', maker: true, trade_id: n + 1 },
      };
      const isReadable = order % 2 === 0 || fee === '0';
      return { tid: `${at}000${String(n + 1).padStart(12, '0')}`, book, isReadable, at, row: [`T${n}`, row] as const };
    });
    const made = scriptedKraken(({ name, form }) => {
      if (name === 'QueryOrders')
        return reply(
          Object.fromEntries(
            form['txid']!.split(',').map(oid => [
              oid,
              {
                ...{ status: 'closed', opentm: START, vol: '1', vol_exec: '1' },
                oflags: Number(oid.slice(1)) % 2 === 0 ? 'fciq' : 'fcib',
                descr: { pair: 'XBTUSD', type: 'buy', ordertype: 'limit', price: '1', price2: '0' },
              },
            ]),
          ),
        );
      const later = all.filter(each => each.at > Number(form['start'] ?? 0)).toReversed();
      const from = Number(form['ofs']);
      return reply({
        trades: Object.fromEntries(later.slice(from, from + PAGE_ROWS).map(({ row }) => row)),
        count: later.length,
      });
    });
    return { ...made, all };
  };

  test('are those of the wanted book after the marker, at most as many as asked; those with an unknown fee are unreadable', async () => {
    const query = fc.record({
      marker: fc.option(fc.nat(7), { nil: undefined }),
      limit: fc.integer({ min: 1, max: 6 }),
      book: fc.constantFrom(undefined, 'btc_usd', 'ltc_usdt'),
      isLatestFirst: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(trades, query, async (drawn, { marker, limit, book, isLatestFirst }) => {
        const { client, clock, all } = scripted(drawn);
        const after = isLatestFirst || marker === undefined ? undefined : all[marker % all.length]!.tid;
        const outcome = await answerOf(
          clock,
          client.userTrades({
            ...{ limit, sort: isLatestFirst ? 'desc' : 'asc' },
            ...(after === undefined ? {} : { marker: after }),
            ...(book === undefined ? {} : { book }),
          }),
        );
        const sorted = all
          .filter(
            each => (after === undefined || BigInt(each.tid) > BigInt(after)) && (book ?? each.book) === each.book,
          )
          .sort(byTradeNumber);
        const wanted = (isLatestFirst ? sorted.toReversed() : sorted).slice(0, limit);
        const tids = (isReadable: boolean) =>
          wanted.flatMap(each => (each.isReadable === isReadable ? [each.tid] : []));
        if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome));
        expect(outcome.value.map(({ tid }) => tid)).toEqual(tids(true));
        expect((outcome.unreadable ?? []).map(({ id }) => id)).toEqual(tids(false));
      }),
      runsOf(1_000, 100),
    );
  });

  test('of an order are asked for by at most twenty ids at once, and are unknown until they add up to what it executed', async () => {
    for (const [listed, executed] of [
      [0, 0],
      [20, 20],
      [21, 21],
      [45, 45],
      [44, 45],
    ] as const) {
      const asked: number[] = [];
      const tradeOf = (id: string) => ({
        ...{ ordertxid: 'OA-B', pair: 'XBTUSD', time: START, type: 'buy', ordertype: 'limit', price: '100', cost: '1' },
        ...{ fee: '0', vol: '0.01', margin: '0', maker: true, trade_id: Number(id.slice(1)) },
      });
      const { client, clock } = scriptedKraken(({ name, form }) => {
        const ids = form['txid']!.split(',');
        if (name === 'QueryTrades') {
          asked.push(ids.length);
          return reply(Object.fromEntries(ids.map(id => [id, tradeOf(id)])));
        }
        const order = {
          ...{ status: 'closed', opentm: START, vol: '1', vol_exec: String(executed / 100), oflags: 'fciq' },
          trades: Array.from({ length: listed }, (_, n) => `T${n + 1}`),
          descr: { pair: 'XBTUSD', type: 'buy', ordertype: 'limit', price: '100', price2: '0' },
        };
        return reply({ 'OA-B': order });
      });
      const outcome = await answerOf(clock, client.orderTrades({ oid: 'OA-B' }));
      expect([outcome.kind, outcome.kind === 'done' && outcome.value.length]).toEqual(
        listed === executed ? ['done', listed] : ['unknown', false],
      );
      expect(asked.every(count => count <= 20) && asked.reduce((sum, count) => sum + count, 0) === listed).toBe(true);
    }
  });
});

test('fees of a book that this client has not used are those of its tier from exactly the volume at which it begins', async () => {
  const pairs = () => ({
    LTCUSDT: {
      ...ASSET_PAIRS.LTCUSDT,
      fees: [
        [0, 0.26],
        [50_000, 0.24],
      ],
      fees_maker: [
        [0, 0.16],
        [50_000, 0.14],
      ],
    },
  });
  for (const [volume, maker, taker] of [
    ['49999.99', '0.0016', '0.0026'],
    ['50000', '0.0014', '0.0024'],
  ]) {
    const { client, clock } = scriptedKraken(() => reply({ volume }), { pairs });
    expect(await answerOf(clock, client.fees())).toEqual({
      kind: 'done',
      value: [{ book: 'ltc_usdt', maker, taker, currentVolume: volume }],
    });
  }
});

test('a book that is not listed is read again after a minute; calls at once share one read of the list', async () => {
  let reads = 0;
  const pairs = () => (reads++, ASSET_PAIRS);
  const { client, clock } = scriptedKraken(() => reply({}), { pairs });
  await Promise.all([client.trades('no_book'), client.orderBook('no_book'), client.availableBooks()]);
  await settle();
  expect(reads).toBe(1);
  for (const [ms, count] of [
    [59_999, 1],
    [1, 2],
    [59_999, 2],
  ] as const) {
    await clock.advance(ms);
    expect(await client.trades('no_book')).toMatchObject({ kind: 'refused', meaning: 'rules' });
    expect(reads).toBe(count);
  }
});

test('a cancel weighs by the age of its order since it was first sent, in its pair; the latest ten thousand orders are known', async () => {
  const clock = new VirtualClock();
  const placed = new PlacedOrders(clock);
  placed.sending('a', 'XBTUSD', 7);
  let passed = 0;
  for (const [age, weight] of [
    [0, 8],
    [4_999, 8],
    [5_000, 6],
    [9_999, 6],
    [10_000, 5],
    [15_000, 4],
    [44_999, 4],
    [45_000, 2],
    [90_000, 1],
    [299_999, 1],
    [300_000, 0],
  ] as const) {
    await clock.advance(age - passed);
    passed = age;
    // The same order is sent again after an answer was lost.
    placed.sending('a', 'LTCUSDT', 8);
    expect(placed.cancelCount('a')).toEqual({ pair: 'XBTUSD', weight });
  }
  expect(placed.sent('a')?.sentAt).toBe(7);
  for (let n = 1; n < 10_000; n++) placed.sending(`b${n}`, 'XBTUSD', 0);
  expect(placed.sent('a')).toBeDefined();
  placed.sending('c', 'XBTUSD', 0);
  expect([placed.cancelCount('a'), placed.sent('b1')?.originId, placed.sent('c')?.originId]).toEqual([
    undefined,
    'b1',
    'c',
  ]);
});

test('what replies said of the latest ten thousand orders is known by both ids, and an order that is told again is a late one', () => {
  const placed = new PlacedOrders(new VirtualClock());
  const feeSideOf = (n: number) => (n % 2 === 0 ? 'base' : 'quote');
  const told = (n: number): void => placed.seen(`oid ${n}`, { originId: `a-${n}`, feeSide: feeSideOf(n) });
  const isKnown = (n: number): boolean => {
    const [oid, facts] = [placed.oidOf(`a-${n}`), placed.factsOf(`oid ${n}`)];
    expect([oid, facts]).toEqual(
      facts === undefined ? [undefined, undefined] : [`oid ${n}`, { originId: `a-${n}`, feeSide: feeSideOf(n) }],
    );
    return facts !== undefined;
  };
  for (let n = 1; n <= 10_000; n++) told(n);
  told(1);
  expect([1, 2, 3].map(isKnown)).toEqual([true, true, true]);
  told(10_001);
  told(10_002);
  expect([1, 2, 3, 4, 10_002].map(isKnown)).toEqual([true, false, false, true, true]);
  // An order of another program has no origin id, and takes the place of an order in one list only.
  placed.seen('of another', { feeSide: 'base' });
  expect([placed.factsOf('oid 4'), placed.oidOf('a-4'), placed.factsOf('of another')]).toEqual([
    undefined,
    'oid 4',
    { feeSide: 'base' },
  ]);
});

type Row = { readonly id: string; readonly clientId: string; status: 'open' | 'closed' };

describe('a look-up by origin id', () => {
  /** Before each request, some open orders close and some orders of others open and close. */
  const steps = fc.array(fc.record({ closes: fc.array(fc.nat(9), { maxLength: 3 }), others: fc.nat(70) }), {
    maxLength: 12,
  });

  test('finds each order that was there when it started, however orders move from list to list', async () => {
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.nat(120),
        fc.uniqueArray(fc.nat(9), { minLength: 1 }),
        async (changes, before, asked) => {
          const closed: Row[] = Array.from({ length: before }, (_, n) => other(n));
          const open: Row[] = Array.from({ length: 10 }, (_, n) => ({
            id: `OOWN-${n}`,
            clientId: `mm-1-${n}`,
            status: 'open',
          }));
          let step = 0;
          let others = before;
          const { client } = scriptedKraken(({ name, form }) => {
            const { closes, others: more } = changes[step++] ?? { closes: [], others: 0 };
            for (let n = 0; n < more; n++) closed.unshift(other(others++));
            for (const n of closes) {
              const at = open.findIndex(({ clientId }) => clientId === `mm-1-${n}`);
              if (at >= 0) closed.unshift({ ...open.splice(at, 1)[0]!, status: 'closed' });
            }
            if (name === 'OpenOrders')
              return reply({ open: Object.fromEntries(open.map(row => [row.id, wireRow(row)])) });
            const some = closed.filter(
              ({ clientId }) => form['cl_ord_id'] === undefined || form['cl_ord_id'] === clientId,
            );
            const offset = Number(form['ofs']);
            const rows = some.slice(offset, offset + PAGE_ROWS).map(row => [row.id, wireRow(row)] as const);
            return reply({ closed: Object.fromEntries(rows), count: some.length });
          });
          const ids = asked.map(n => `mm-1-${n}`);
          const outcome = await client.lookUp({ originIds: ids });
          const found = outcome.kind === 'done' ? outcome.value.map(({ originId }) => originId) : [];
          expect([...found].sort()).toEqual([...ids].sort());
        },
      ),
      runsOf(1_000, 60),
    );
  });

  test('of an order that this client sent reads few pages, however many orders were closed since', async () => {
    const closed = Array.from({ length: 3_000 }, (_, n) => other(n));
    const own: Row = { id: 'OOWN-1', clientId: 'mm-1-1', status: 'closed' };
    closed.splice(1_500, 0, own);
    let isLost = true;
    const { client, sent } = scriptedKraken(({ name, form }) => {
      if (name === 'AddOrder')
        return isLost ? Promise.reject(new TransportFailure('reset', true)) : reply({ txid: [own.id] });
      if (name === 'OpenOrders') return reply({ open: {} });
      if (name === 'QueryOrders') return reply({ [own.id]: wireRow(own) });
      const some = closed.filter(({ clientId }) => form['cl_ord_id'] === undefined || form['cl_ord_id'] === clientId);
      const offset = Number(form['ofs']);
      const rows = some.slice(offset, offset + PAGE_ROWS).map(row => [row.id, wireRow(row)] as const);
      return reply({ closed: Object.fromEntries(rows), count: some.length });
    });
    const placing = () =>
      client.place({
        ...{ book: 'btc_usd', side: 'buy', price: '30000', major: '1', originId: own.clientId },
        timeInForce: 'post only',
      });
    for (const [answer, names] of [
      ['unknown', ['OpenOrders', 'ClosedOrders']],
      ['done', ['QueryOrders']],
    ] as const) {
      isLost = answer === 'unknown';
      expect((await placing()).kind).toBe(answer);
      sent.length = 0;
      const outcome = await client.lookUp({ originIds: [own.clientId] });
      expect(outcome).toMatchObject({ kind: 'done', value: [{ oid: own.id, originId: own.clientId }] });
      expect(sent.map(({ name }) => name)).toEqual(names);
    }
  });

  test.each([
    ['is not wanted any more', 'not wanted', false],
    ['cannot be written', 'unfit', false],
    ['is of a book that is not listed', 'no book', false],
    ['gets no answer', 'lost', true],
    ['is refused by the exchange', 'refused', true],
  ])(
    'reads the orders closed since a placement only if the placement was sent: one that %s',
    async (_, how, isSent) => {
      const { client, sent, clock } = scriptedKraken(({ name }) => {
        if (name === 'AddOrder' && how === 'lost') return Promise.reject(new TransportFailure('reset', true));
        if (name === 'AddOrder') return reply(undefined, ['EOrder:Insufficient funds']);
        return name === 'OpenOrders' ? reply({ open: {} }) : reply({ closed: {}, count: 0 });
      });
      const outcome = await client.place(
        {
          ...{ book: how === 'no book' ? 'btc_eur' : 'btc_usd', side: 'buy', price: '30000', originId: 'mm-1-1' },
          ...{ major: how === 'unfit' ? '0' : '1', timeInForce: 'post only' },
        },
        () => how !== 'not wanted',
      );
      expect(outcome).toMatchObject({ kind: how === 'lost' ? 'unknown' : 'refused' });
      expect(sent.some(({ name }) => name === 'AddOrder')).toBe(isSent);
      await clock.advance(120_000);
      expect(await client.lookUp({ originIds: ['mm-1-1'] })).toEqual({ kind: 'done', value: [] });
      const reads = sent.filter(({ name }) => name === 'ClosedOrders').map(({ form }) => 'start' in form);
      expect(reads).toEqual([isSent]);
    },
  );

  test('of several sent orders reads one list for all, unless a list for each costs fewer requests; the result is the same', async () => {
    const worlds = fc.record({
      asked: fc.uniqueArray(fc.nat(11), { minLength: 1 }),
      lost: fc.uniqueArray(fc.nat(11)),
      others: fc.oneof(fc.nat(120), fc.nat(1_200)),
      at: fc.nat(1_200),
      isStrange: fc.boolean(),
      apartMs: fc.constantFrom(0, 61_000, 300_000),
    });
    await fc.assert(
      fc.asyncProperty(worlds, async ({ asked: drawn, lost, others, at, isStrange, apartMs }) => {
        const asked = drawn.toSorted((a, b) => a - b);
        const closed: Row[] = Array.from({ length: others }, (_, n) => other(n));
        const ids = asked.map(n => `mm-1-${n}`);
        const executed = ids.filter((_, n) => !lost.includes(asked[n]!));
        for (const [n, clientId] of executed.entries())
          closed.splice(Math.min(at, closed.length), 0, { id: `OOWN-${n}`, clientId, status: 'closed' });
        // Each order closed when it was sent, and those of others at last.
        const sentAt = (id: string): number => 1_700_000_000_000 + apartMs * Number(id.split('-')[2]);
        const { client, sent, clock } = scriptedKraken(({ name, form }) => {
          if (name === 'AddOrder') return Promise.reject(new TransportFailure('reset', true));
          if (name === 'OpenOrders') return reply({ open: {} });
          const isSince = (id: string) => !ids.includes(id) || sentAt(id) >= Number(form['start']) * 1_000;
          const some = closed.filter(
            ({ clientId: id }) => isSince(id) && (form['cl_ord_id'] === undefined || form['cl_ord_id'] === id),
          );
          const offset = Number(form['ofs']);
          const shown = (row: Row) => (isStrange && row.id === 'OTHER-0' ? { status: 'closed' } : wireRow(row));
          const rows = some.slice(offset, offset + PAGE_ROWS).map(row => [row.id, shown(row)] as const);
          return reply({ closed: Object.fromEntries(rows), count: some.length });
        });
        for (const originId of ids) {
          await clock.advance(Math.max(0, sentAt(originId) - clock.now()));
          await client.place({
            ...{ book: 'btc_usd', side: 'buy', price: '30000', major: '1', originId },
            timeInForce: 'post only',
          });
        }
        sent.length = 0;
        const outcome = await client.lookUp({ originIds: ids });
        expect(outcome).not.toHaveProperty('unreadable');
        const found = outcome.kind === 'done' ? outcome.value.map(({ originId }) => originId) : [];
        expect([...new Set(found)].sort()).toEqual([...executed].sort());
        const pages = Math.floor(closed.length / PAGE_ROWS) + 1;
        // The open orders, and either the list of all, or its first page and a list for each.
        expect(sent.length).toBeLessThanOrEqual(1 + (ids.length <= 2 ? ids.length : Math.min(pages, 1 + ids.length)));
      }),
      runsOf(2_000, 100),
    );
  });

  test('of an order with a known id that the exchange does not show yet reads the lists too', async () => {
    const own: Row = { id: 'OOWN-1', clientId: 'mm-1-1', status: 'open' };
    const { client } = scriptedKraken(({ name }) => {
      if (name === 'AddOrder') return reply({ txid: [own.id] });
      if (name === 'QueryOrders') return reply(undefined, ['EOrder:Unknown order']);
      return name === 'OpenOrders' ? reply({ open: { [own.id]: wireRow(own) } }) : reply({ closed: {}, count: 0 });
    });
    await client.place({
      ...{ book: 'btc_usd', side: 'buy', price: '30000', major: '1', originId: own.clientId },
      timeInForce: 'post only',
    });
    expect(await client.lookUp({ originIds: [own.clientId] })).toMatchObject({ value: [{ oid: own.id }] });
  });

  test('is no evidence of absence when a list cannot be read', async () => {
    const { client } = scriptedKraken(({ name }) =>
      name === 'OpenOrders' ? reply({ open: {} }) : reply(undefined, ['EAPI:Rate limit exceeded']),
    );
    expect((await client.lookUp({ originIds: ['mm-1-1'] })).kind).toBe('refused');
    const strange = scriptedKraken(({ name }) =>
      name === 'OpenOrders'
        ? reply({ open: { O: { status: 'open', cl_ord_id: 'mm-1-1' } } })
        : reply({ closed: {}, count: 0 }),
    );
    expect(await strange.client.lookUp({ originIds: ['mm-1-1'] })).toMatchObject({
      ...{ kind: 'done', value: [] },
      unreadable: [{ oid: 'O', originId: 'mm-1-1' }],
    });
  });

  test('is not disturbed by an unreadable open order that is certainly of another client', async () => {
    const unreadable = (ids: object) =>
      scriptedKraken(({ name }) =>
        name === 'OpenOrders' ? reply({ open: { O: { status: 'open', ...ids } } }) : reply({ closed: {}, count: 0 }),
      ).client.lookUp({ originIds: ['mm-1-1'] });
    expect(await unreadable({ cl_ord_id: null })).toEqual({ kind: 'done', value: [] });
    expect(await unreadable({ cl_ord_id: 'web-1' })).toEqual({ kind: 'done', value: [] });
    expect(await unreadable({})).toEqual({ kind: 'done', value: [] });
    expect(await unreadable({ cl_ord_id: 7 })).toMatchObject({ unreadable: [{ oid: 'O' }] });
  });

  test('or a cancel of an id that the exchange cannot carry finds no order, and the other ids are asked', async () => {
    const own: Row = { id: 'OOWN-1', clientId: 'mm-1-1', status: 'open' };
    const { client, sent } = scriptedKraken(({ name }) => {
      if (name === 'CancelOrder') return reply({ count: 1 });
      return name === 'OpenOrders' ? reply({ open: { [own.id]: wireRow(own) } }) : reply({ closed: {}, count: 0 });
    });
    const tooLong = 'mm-1700000000-t12345678';
    expect(await client.lookUp({ originIds: [tooLong] })).toEqual({ kind: 'done', value: [] });
    expect(await client.cancel({ originIds: [tooLong] })).toEqual({ kind: 'done', value: [] });
    expect(sent.filter(({ name }) => name === 'CancelOrder')).toEqual([]);
    const both = { originIds: [tooLong, own.clientId] };
    expect(await client.lookUp(both)).toMatchObject({ kind: 'done', value: [{ oid: own.id }] });
    expect(await client.cancel(both)).toEqual({ kind: 'done', value: [own.id] });
  });

  test('reads a list without its field as unknown, not as an empty list', async () => {
    const open = scriptedKraken(({ name }) => reply(name === 'OpenOrders' ? {} : { closed: {}, count: 0 })).client;
    expect((await open.lookUp({ originIds: ['mm-1-1'] })).kind).toBe('unknown');
    expect((await open.openOrders({})).kind).toBe('unknown');
    const closed = scriptedKraken(({ name }) => reply(name === 'OpenOrders' ? { open: {} } : { count: 0 })).client;
    expect((await closed.lookUp({ originIds: ['mm-1-1'] })).kind).toBe('unknown');
    const trades = scriptedKraken(() => reply({ count: 0 })).client;
    expect((await trades.userTrades({ sort: 'asc' })).kind).toBe('unknown');
  });
});

const other = (n: number): Row => ({ id: `OTHER-${n}`, clientId: `web-${n}`, status: 'closed' });
const wireRow = ({ clientId, status }: Row) => ({
  ...{ status, opentm: 1_700_000_000, cl_ord_id: clientId, vol: '1.00000000', vol_exec: '0.00000000', oflags: 'fciq' },
  descr: { pair: 'XBTUSD', type: 'buy', ordertype: 'limit', price: '30000.0', price2: '0' },
});
