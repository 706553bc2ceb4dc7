import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  money,
  VirtualClock,
  type Balance,
  type Exchange,
  type OrderReport,
  type Outcome,
  type OwnTrade,
  type Page,
  type TransferLine,
  type TransferList,
  type TransferLists,
  type UnreadableRow,
} from '../../../src/core/index.ts';
import { Reads } from '../../../src/live/account/reads.ts';
import { TransferReads } from '../../../src/live/account/transferReads.ts';
import { ConnectivityLog } from '../../../src/live/connectivityLog.ts';
import { isFailed } from '../../../src/live/failedRequest.ts';
import { found } from '../../../src/live/safety/cancelAllAndVerify.ts';
import type { RowJudgment } from '../../../src/live/unreadableRows.ts';
import { btcMxn } from '../../core/market.ts';
import { runsOf } from '../../many.ts';
import { memoryLog } from '../../memoryLog.ts';

const tradeOf = (tid: number, oid: string): OwnTrade => ({
  ...{ book: 'btc_mxn', tid: String(tid), oid, createdAt: 0, side: 'buy', price: '100', major: '1', minor: '100' },
  ...{ feeAmount: '0', feeCurrency: 'btc', maker: true },
});

/** Returns an exchange that answers with pages of the account's trades: those after the marker, oldest first. */
const exchangeWith = (trades: readonly OwnTrade[]) =>
  ({
    limits: { ordersPage: 500, tradesPage: 100, depth: 50 },
    userTrades: async ({ marker, limit }: Page) => ({
      kind: 'done',
      value: trades.filter(({ tid }) => Number(tid) > Number(marker ?? -1)).slice(0, limit),
    }),
  }) as Partial<Exchange> as Exchange;

describe('a read', () => {
  /** Every answer takes 700 ms. */
  const slow = () => {
    let now = 1_000;
    const after = <T>(value: T) => {
      now += 700;
      return Promise.resolve({ kind: 'done', value } as const);
    };
    const exchange = {
      limits: { ordersPage: 500, tradesPage: 100, depth: 50 },
      openOrders: () => after([]),
      userTrades: () => after([]),
      balances: () => after(['btc', 'mxn'].map(currency => ({ currency, total: '1', locked: '0', available: '1' }))),
      orderBook: () => after({ book: 'btc_mxn', sequence: 1n, updatedAt: 0, bids: [], asks: [] }),
    } as Partial<Exchange> as Exchange;
    return new Reads(exchange, 'btc_mxn', '0', () => now);
  };

  it.each(['openOrders', 'trades', 'balances', 'book'] as const)(
    'of %s says when its request left, not when its answer came: only what was true then is proven',
    async what => {
      const reads = slow();
      const event = await (what === 'book' ? reads.book(btcMxn) : reads[what]());
      expect(event).toMatchObject({ startedAt: 1_000, at: 1_700 });
      if (what === 'balances') expect(reads.balancesAt).toBe(1_000);
    },
  );

  it.each([
    [499, true, 'btc_mxn', []],
    [500, false, 'btc_mxn', []],
    [499, true, 'xrp_mxn', ['eth_mxn']],
    [500, false, 'xrp_mxn', ['eth_mxn']],
  ])('of %i open orders is whole: %s, also if they are in another book (%s)', async (count, complete, book, others) => {
    const order = { book, oid: 'x', side: 'buy', type: 'limit', status: 'open', createdAt: 0 } as const;
    const row = { ...order, price: '1', originalAmount: '1', unfilledAmount: '1' };
    const openOrders: Exchange['openOrders'] = async ({ limit }) => ({
      kind: 'done',
      value: Array.from({ length: Math.min(count, limit ?? 500) }, () => row),
    });
    const reads = new Reads(
      { limits: { ordersPage: 500, tradesPage: 100, depth: 50 }, openOrders } as Partial<Exchange> as Exchange,
      'btc_mxn',
      '0',
      () => 0,
      0,
      [],
      undefined,
      [],
      others,
    );
    expect(await reads.openOrders()).toMatchObject({ complete });
  });
});

describe('reading own trades', () => {
  it('goes on from a restart with what the ledger has, so that a second crash before the first read forgets nothing', () => {
    const reads = new Reads(exchangeWith([]), 'btc_mxn', '5', () => 0, 20_000, ['7', '9']);
    expect(reads.taken).toEqual({ marker: '5', tids: ['7', '9'] });
    expect(reads.newest).toBe('9');
  });

  it('comes through a history that is longer than one read takes', async () => {
    const trades = Array.from({ length: 6_000 }, (_, n) => tradeOf(n + 1, 'a'));
    let now = 0;
    const reads = new Reads(exchangeWith(trades), 'btc_mxn', '0', () => now, 20_000);
    const taken = new Set<string>();
    let isWhole = false;
    for (let read = 0; read < 20 && !isWhole; read++, now += 10_000) {
      const event = await reads.trades();
      if (isFailed(event)) throw new Error('the read failed');
      for (const { tid } of event.trades) taken.add(tid);
      reads.take(event);
      isWhole = event.complete;
    }
    expect([isWhole, taken.size]).toEqual([true, 6_000]);
  });

  it('moves its mark in a history that it could not read to the end no further than it has read again', async () => {
    const trades = Array.from({ length: 300 }, (_, n) => tradeOf(2 * n + 2, 'a'));
    let now = 0;
    let pages = 99;
    const inner = exchangeWith(trades);
    const userTrades: Exchange['userTrades'] = async page =>
      pages-- > 0 ? inner.userTrades(page) : { kind: 'unknown', reason: 'reset' };
    const reads = new Reads({ ...inner, userTrades }, 'btc_mxn', '0', () => now, 20_000);
    const next = async () => {
      const event = await reads.trades();
      if (isFailed(event)) throw new Error('the read failed');
      reads.take(event);
      return event;
    };
    expect((await next()).trades.length).toBeGreaterThan(299);
    // An old trade is recorded late, on a page that this read does not reach.
    now = 30_000;
    trades.splice(250, 0, tradeOf(501, 'late'));
    pages = 1;
    expect((await next()).complete).toBe(false);
    pages = 99;
    expect((await next()).trades.some(({ oid }) => oid === 'late')).toBe(true);
  });

  it('looks again for a late record that was written while a slow read had passed its place', async () => {
    const trades = [tradeOf(10, 'a')];
    let now = 0;
    let during = () => undefined as unknown;
    const inner = exchangeWith(trades);
    const userTrades: Exchange['userTrades'] = async page => {
      const answer = await inner.userTrades(page);
      during();
      return answer;
    };
    const reads = new Reads({ ...inner, userTrades }, 'btc_mxn', '0', () => now, 20_000);
    const next = async () => {
      const event = await reads.trades();
      if (isFailed(event)) throw new Error('the read failed');
      reads.take(event);
      return event.trades.map(({ tid }) => tid);
    };
    await next();
    // Trade 5 is older than trade 10, but is recorded 19 s later, while an answer without it is on its way to the bot.
    now = 19_000;
    during = () => {
      now = 22_000;
      trades.unshift(tradeOf(5, 'a'));
    };
    await next();
    during = () => undefined;
    expect(await next()).toContain('5');
  });

  it('gets each trade that is recorded in time after newer ones, however slow its reads are, whatever fails and whenever it starts again', async () => {
    const overlapMs = 20_000;
    const ms = fc.constantFrom(0, 0, 700, 9_000);
    const trade = fc.record({
      afterMs: fc.constantFrom(0, 1, 4_000, 19_000),
      lateMs: fc.constantFrom(0, 1, 4_000, 19_999, 19_999),
      isWithItself: fc.boolean(),
    });
    const look = fc.record({
      waitMs: fc.constantFrom(0, 1_000, 11_000, 20_000),
      /** Time until the exchange creates the answer to a page. */
      thereMs: ms,
      /** Time until the answer reaches the bot. */
      backMs: ms,
      takeMs: fc.constantFrom(0, 0, 4_000),
      failsFrom: fc.option(fc.constantFrom(0, 1, 2), { nil: Infinity, freq: 4 }),
      isStart: fc.boolean(),
    });
    const trading = (afterMs: number, lateMs: number) => ({ afterMs, lateMs, isWithItself: false });
    const looking = (waitMs: number, thereMs: number) => ({
      ...{ waitMs, thereMs, backMs: 0, takeMs: 0, failsFrom: Infinity, isStart: false },
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(trade, { minLength: 2, maxLength: 8 }),
        fc.array(look, { maxLength: 10 }),
        fc.integer({ min: 2, max: 5 }),
        async (drawn, looks, size) => {
          let [now, happened] = [0, 0];
          const trades = drawn.flatMap(({ afterMs, lateMs, isWithItself }, n) => {
            const recordedAt = (happened += afterMs) + lateMs;
            return ['a', ...(isWithItself ? ['b'] : [])].map(oid => ({ ...tradeOf(n + 1, oid), recordedAt }));
          });
          const inner = (page: Page) => exchangeWith(trades.filter(each => each.recordedAt <= now)).userTrades(page);
          let slow = { thereMs: 0, backMs: 0, failsFrom: Infinity };
          let pages = 0;
          const userTrades: Exchange['userTrades'] = async page => {
            if (pages++ >= slow.failsFrom) return { kind: 'unknown', reason: 'reset' };
            now += slow.thereMs;
            const answer = await inner(page);
            now += slow.backMs;
            return answer;
          };
          const exchange = { limits: limits(500, size), userTrades } as Partial<Exchange> as Exchange;
          const madeFrom = (marker: string | undefined, tids: readonly string[]) =>
            new Reads(exchange, 'btc_mxn', marker, () => now, overlapMs, tids);
          let reads = madeFrom('0', []);
          const ledger = new Set<string>();
          const isTaken = ({ tid, oid }: OwnTrade) => ledger.has(`${tid} ${oid}`);
          const next = async (takeMs = 0) => {
            pages = 0;
            const event = await reads.trades();
            if (isFailed(event)) return;
            now += takeMs;
            for (const { tid, oid } of event.trades) ledger.add(`${tid} ${oid}`);
            reads.take(event);
            const { marker, tids } = reads.taken;
            const newer = trades.filter(each => isTaken(each) && Number(each.tid) > Number(marker));
            expect(new Set(tids)).toEqual(new Set(newer.map(({ tid }) => tid)));
          };
          for (const { waitMs, isStart, takeMs, ...how } of looks) {
            now += waitMs;
            slow = how;
            await next(takeMs);
            if (isStart) reads = madeFrom(reads.taken.marker, reads.taken.tids);
          }
          slow = { thereMs: 0, backMs: 0, failsFrom: Infinity };
          for (let n = 0; n < 2; n++) {
            now = Math.max(now, happened) + overlapMs;
            await next();
          }
          expect(trades.filter(each => !isTaken(each))).toEqual([]);
          expect(reads.taken).toEqual({ marker: String(drawn.length), tids: [] });
        },
      ),
      {
        ...runsOf(4_000, 60),
        examples: [
          // Trades appear during a read, and an older trade appears after the next read (seed -280129826).
          [[trading(4_000, 19_999), trading(0, 0)], [looking(0, 9_000), looking(11_000, 0)], 3],
          // Reads end between the two records of a trade of the account with itself (seed 1693810956).
          [
            [trading(0, 0), trading(0, 0), { ...trading(0, 0), isWithItself: true }],
            [0, 20_000].map(waitMs => ({ ...looking(waitMs, 0), failsFrom: 2 })),
            2,
          ],
        ],
      },
    );
  });

  it('finds both records of each trade of the account with itself, wherever a page ends', async () => {
    const trades = Array.from({ length: 90 }, (_, n) => [tradeOf(n + 1, `a${n}`), tradeOf(n + 1, `b${n}`)]).flat();
    const reads = new Reads(exchangeWith([tradeOf(0, 'x'), ...trades]), 'btc_mxn', undefined, () => 0);
    const event = await reads.trades();
    if (isFailed(event)) throw new Error('the read failed');
    expect(new Set(event.trades.map(({ oid }) => oid)).size).toBe(181);
    expect(event.complete).toBe(true);
  });
});

/** Returns the answer to one page: the readable rows, and the unreadable rows with their readable fields. */
const page = <T>(rows: readonly (T | UnreadableRow)[]) => ({
  kind: 'done' as const,
  value: rows.filter((row): row is T => !isUnreadable(row)),
  unreadable: rows.filter(isUnreadable),
});
const isUnreadable = (row: unknown): row is UnreadableRow => 'why' in (row as object);

const limits = (ordersPage: number, tradesPage: number) => ({ ordersPage, tradesPage, depth: 50 });
const row = fc.record({
  isOwn: fc.boolean(),
  /** Readable fields of an unreadable row; `null` for a readable row. */
  legible: fc.option(fc.subarray(['book', 'oid', 'originId'] as const), { nil: null, freq: 2 }),
});

describe('a list that the exchange cuts at a page, with rows that cannot be read,', () => {
  it('open orders are whole, and none of the bot counts as left, only where no row of the bot is missing', async () => {
    const rows = fc.array(row, { maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (drawn, size, isCapped) => {
        const all = drawn.map(({ isOwn, legible }, i): OrderReport | UnreadableRow => {
          const ids = { book: 'btc_mxn', oid: `o${i}`, originId: `${isOwn ? 'mm' : 'other'}-1-${i}` };
          if (legible !== null) return { why: 'strange', ...Object.fromEntries(legible.map(key => [key, ids[key]])) };
          const amounts = { price: '1', originalAmount: '1', unfilledAmount: '1' };
          return { ...ids, ...amounts, side: 'buy', type: 'limit', status: 'open', createdAt: 0 };
        });
        const isOwn = (oid: string) => drawn[Number(oid.slice(1))]!.isOwn;
        const openOrders: Exchange['openOrders'] = async ({ limit = size }) =>
          page<OrderReport>(all.slice(0, isCapped ? Math.min(limit, size) : limit));
        const exchange = { limits: limits(size, 9), openOrders } as Partial<Exchange> as Exchange;
        const judgment: RowJudgment = {
          instance: 'mm',
          ownsOid: oid => (isOwn(oid) ? 'yes' : 'no'),
          onLeftOut: () => undefined,
        };
        const event = await new Reads(exchange, 'btc_mxn', '0', () => 0, 0, [], judgment).openOrders();
        const shown = isFailed(event) ? [] : event.orders.map(({ oid }) => oid);
        const missing = drawn.flatMap((each, i) => (shown.includes(`o${i}`) ? [] : [each]));
        if (!isFailed(event) && event.complete) expect(missing.filter(each => each.isOwn)).toEqual([]);
        if (!isFailed(event) && event.current === true)
          expect(missing.filter(each => each.legible === null)).toEqual([]);
        if (drawn.length < size && drawn.every(({ legible }) => legible === null))
          expect(event).toMatchObject({ complete: true });
        if (drawn.length < size && !isFailed(event)) expect(event.complete || event.current).toBe(true);

        const clock = new VirtualClock();
        const connectivity = new ConnectivityLog(memoryLog().log, clock);
        const left = await found({ exchange, clock, connectivity, book: 'btc_mxn', instance: 'mm' });
        if (left?.length === 0) expect(drawn.filter(each => each.isOwn)).toEqual([]);
        if (drawn.length < size && drawn.every(({ legible }) => legible === null))
          expect(left).toHaveLength(drawn.filter(each => each.isOwn).length);
      }),
      runsOf(2_000, 120),
    );
  });

  it('own trades are whole only where every one that can be read was read, page by page', async () => {
    const rows = fc.array(fc.boolean(), { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 2, max: 7 }), async (legible, size) => {
        const all = legible.map((isLegible, i): OwnTrade | UnreadableRow => {
          const ids = { tid: String(i + 1), oid: `o${i}`, book: isLegible ? 'btc_mxn' : 'eth_usd' };
          if (!isLegible) return { why: 'strange', id: ids.tid, book: ids.book };
          const amounts = { side: 'buy', price: '1', major: '1', minor: '1', feeAmount: '0' } as const;
          return { ...ids, ...amounts, createdAt: 0, feeCurrency: 'btc', maker: true };
        });
        const userTrades = async ({ marker = '0', limit = size }: Page) =>
          page<OwnTrade>(all.slice(Number(marker), Number(marker) + limit));
        const exchange = { limits: limits(9, size), userTrades } as Partial<Exchange> as Exchange;
        const reads = new Reads(exchange, 'btc_mxn', '0', () => 0);
        const event = await reads.trades();
        if (isFailed(event)) throw new Error('no row is of the book');
        const read = new Set(event.trades.map(({ tid }) => tid));
        const missing = legible.flatMap((isLegible, i) => (isLegible && !read.has(String(i + 1)) ? [i + 1] : []));
        if (event.complete) expect(missing).toEqual([]);
        if (legible.length < size || legible.every(Boolean)) expect(event.complete).toBe(true);
      }),
      runsOf(1_000, 100),
    );
  });

  it('own trades from the page with an unreadable row of the book on are not taken, and all are once it can be read', async () => {
    /** For each row, the number of the read from which it can be read. */
    const rows = fc.array(fc.constantFrom(0, 0, 0, 1, 2, 4), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 2, max: 5 }), async (drawn, size) => {
        let [now, reading] = [0, 0];
        const rowOf = (legibleFrom: number, i: number): OwnTrade | UnreadableRow =>
          legibleFrom <= reading
            ? tradeOf(i + 1, `o${i}`)
            : { why: 'strange', id: String(i + 1), book: 'btc_mxn', currencies: ['btc', 'mxn'] };
        const userTrades = async ({ marker = '0', limit = size }: Page) =>
          page<OwnTrade>(drawn.map(rowOf).slice(Number(marker), Number(marker) + limit));
        const exchange = { limits: limits(9, size), userTrades } as Partial<Exchange> as Exchange;
        const reads = new Reads(exchange, 'btc_mxn', '0', () => now, 20_000);
        const ledger = new Set<string>();
        for (reading = 0; reading <= 5; reading++) {
          now += 30_000;
          const event = await reads.trades();
          if (isFailed(event)) continue;
          for (const { tid } of event.trades) ledger.add(tid);
          reads.take(event);
          const strange = drawn.findIndex(legibleFrom => legibleFrom > reading);
          if (strange < 0) continue;
          // Ids count from 1, so this is the id of the last row before it.
          expect(Number(reads.taken.marker)).toBeLessThanOrEqual(strange);
          expect(event.trades.filter(({ tid }) => Number(tid) > strange)).toEqual([]);
          expect(event.complete).toBe(false);
        }
        expect(ledger.size).toBe(drawn.length);
      }),
      runsOf(1_000, 100),
    );
  });

  it('every line of the lists that is newer than a known one is found, also where a page has lines that cannot be read', async () => {
    const rows = fc.array(fc.boolean(), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        rows,
        rows,
        fc.integer({ min: 2, max: 5 }),
        fc.nat(4),
        async (funded, withdrawn, size, known) => {
          // Newest first. The ledger already has the last lines of both lists.
          const lists = new Map([
            ['fundings', [...funded, ...Array<boolean>(known).fill(true)]],
            ['withdrawals', [...withdrawn, ...Array<boolean>(known).fill(true)]],
          ]);
          const updates = [{ currency: 'mxn', amount: money(5n) }];
          const linesOf = (list: string) =>
            lists.get(list)!.map((isLegible, i): TransferLine | UnreadableRow => {
              const id = String(i);
              if (!isLegible) return { why: 'strange', id, currencies: ['eth'] };
              return { id, operation: 'funding', createdAt: 100 - i, updates };
            });
          const transferLines: TransferLists['transferLines'] = async (list, { marker, limit = size }) => {
            const from = marker === undefined ? 0 : Number(marker) + 1;
            return page<TransferLine>(linesOf(list).slice(from, from + limit));
          };
          const reads = new TransferReads(
            {
              lists: [
                { name: 'fundings', of: 'deposits' },
                { name: 'withdrawals', of: 'withdrawals' },
              ],
              linesPage: size,
              transferLines,
            },
            [...lists].flatMap(([name, all]) =>
              all.flatMap((_, i) => (i >= all.length - known ? [`${name} ${i}`] : [])),
            ),
            0,
            ['btc', 'mxn'],
          );
          const event = await reads.look();
          if (isFailed(event)) throw new Error('no line that cannot be read is of the book');
          for (const [name, all] of lists) {
            const ids = event.transfers.filter(({ id }) => id.startsWith(`${name} `)).map(({ id }) => id);
            const fresh = all.slice(0, all.length - known);
            // A page without a readable line has no marker for the next page.
            const isReached = fresh.every((_, i) => fresh.slice(i, i + size).some(Boolean));
            const expected = fresh.flatMap((isLegible, i) => (isLegible ? [`${name} ${i}`] : []));
            if (isReached) expect(ids.sort()).toEqual(expected.sort());
          }
        },
      ),
      runsOf(1_000, 100),
    );
  });
});

describe('every read', () => {
  it('that failed leaves nothing of its answer behind, and one that succeeded tells of its own time', async () => {
    const done = <T>(value: readonly T[], unreadable: readonly UnreadableRow[] = []): Outcome<readonly T[]> => ({
      ...{ kind: 'done', value, unreadable },
    });
    const unknown = { kind: 'unknown', reason: 'no answer' } as const;
    const refused = { kind: 'refused', code: '0', message: 'no' } as const;
    const held = (currency: string): Balance => ({ currency, total: '1', locked: '0', available: '1' });
    const garbled = (currency: string): UnreadableRow => ({ why: 'strange', currencies: [currency] });
    const balances: readonly Outcome<readonly Balance[]>[] = [
      ...[unknown, refused, done([held('btc'), held('mxn')]), done([held('btc'), held('mxn')], [garbled('eth')])],
      ...[done([held('btc')]), done([held('mxn')], [garbled('btc')]), done<Balance>([])],
    ];
    const [usd, own] = [
      { ...garbled('usd'), id: '5' },
      { ...garbled('btc'), id: '6' },
    ];
    const op = fc.oneof(
      fc.record({ what: fc.constant('balances'), answer: fc.constantFrom(...balances) }),
      fc.record({ what: fc.constant('book'), sequence: fc.nat(20), price: fc.constantFrom('1000', '1000', 'strange') }),
      fc.record({
        what: fc.constant('trades'),
        fresh: fc.nat(2),
        rows: fc.constantFrom<readonly UnreadableRow[] | null>([], [], [usd], [own], [usd, own], null),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(op, { maxLength: 15 }), fc.subarray(['btc', 'eth', 'usd']), async (ops, earlier) => {
        let now = 1_700_000_000_000;
        let answer: unknown;
        let tid = 0;
        const give = () => {
          now += 700;
          return Promise.resolve(answer);
        };
        const exchange = { limits: limits(9, 9), balances: give, orderBook: give, userTrades: give };
        // An earlier run, perhaps of another book, could not read trades of these currencies.
        const of = [undefined, earlier] as const;
        const reads = new Reads(exchange as Partial<Exchange> as Exchange, 'btc_mxn', '0', () => now, 0, [], ...of);
        expect(reads.uncounted).toEqual(earlier);
        let sequence = -1;
        for (const each of ops) {
          now += 1_000;
          const startedAt = now;
          const state = () => [reads.balancesAt, reads.newest, reads.taken, reads.uncounted];
          const before = state();
          if (each.what === 'balances') {
            answer = each.answer;
            const event = await reads.balances();
            if (!isFailed(event)) before[0] = startedAt;
            const isWhole = each.answer.kind === 'done' && each.answer.value.length === 2;
            expect([isFailed(event), state()]).toEqual([!isWhole, before]);
            if (!isFailed(event) && each.answer.kind === 'done') {
              const compared = each.answer.value.filter(({ currency }) => !reads.uncounted.includes(currency));
              expect(event.balances).toEqual(compared);
            }
          } else if (each.what === 'book') {
            const bids = [{ price: each.price, amount: '1' }];
            answer = {
              kind: 'done',
              value: { book: 'btc_mxn', sequence: BigInt(each.sequence), updatedAt: 0, bids, asks: [] },
            };
            const event = await reads.book(btcMxn);
            // Only a book that was read makes older books stale.
            const isOld = each.sequence < sequence;
            expect(event === null ? 'old' : isFailed(event) ? 'damaged' : 'read').toBe(
              isOld ? 'old' : each.price === 'strange' ? 'damaged' : 'read',
            );
            if (!isOld && each.price !== 'strange') sequence = each.sequence;
          } else {
            const value = Array.from({ length: each.fresh }, () => tradeOf(++tid, 'a'));
            answer = each.rows === null ? unknown : done(value, each.rows);
            const event = await reads.trades();
            expect(isFailed(event)).toBe(each.rows === null || each.rows.includes(own));
            if (isFailed(event)) expect(state()).toEqual(before);
            else reads.take(event);
            if (!isFailed(event) && value.length > 0) expect(reads.newest).toBe(String(tid));
          }
        }
      }),
      runsOf(2_000, 100),
    );
  });

  it('of the lists of transfers finds each line once while it is listed, however many come after it', async () => {
    const lists: readonly TransferList[] = [
      { name: 'fundings', of: 'deposits' },
      { name: 'withdrawals', of: 'withdrawals' },
    ];
    const size = 100;
    const step = fc.record({
      lines: fc.tuple(fc.constantFrom(100, 90, 1, 0), fc.nat(2)),
      then: fc.constantFrom('equal', 'equal', 'equal', 'book all', 'book some', 'balances failed', 'restart'),
      ms: fc.integer({ min: 0, max: 2_000 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 10, maxLength: 20 }),
        fc.constantFrom(0, 1_000),
        async (steps, aheadMaxMs) => {
          /** Listed line ids by list, newest first. */
          const listed = new Map<string, string[]>(lists.map(({ name }) => [name, []]));
          const updates = [{ currency: 'mxn', amount: money(5n) }];
          let [now, count] = [1_700_000_000_000, 0];
          const transferLines: TransferLists['transferLines'] = async (list, { marker, limit = size }) => {
            const all = listed.get(list)!;
            const from = marker === undefined ? 0 : all.indexOf(marker) + 1;
            const line = (id: string): TransferLine => ({ id, operation: 'funding', createdAt: Number(id), updates });
            return { kind: 'done', value: all.slice(from, from + limit).map(line) };
          };
          const exchange = { lists, linesPage: size, transferLines };
          let reads = new TransferReads(exchange, null, aheadMaxMs);
          /** Ids of the lines that the ledger has; `null` until the first comparison. */
          let known: Set<string> | null = null;
          let early = new Map<string, number>();
          for (const { lines, then, ms } of steps) {
            now += ms;
            lists.forEach(({ name }, i) => {
              for (let n = 0; n < lines[i]!; n++) listed.get(name)!.unshift(String(++count));
            });
            const result = await reads.look();
            if (isFailed(result)) throw new Error('the lists were read');
            const shown = lists.flatMap(({ name }) =>
              listed
                .get(name)!
                .slice(0, size)
                .map(id => `${name} ${id}`),
            );
            const ids = new Set(result.transfers.map(({ id }) => id));
            expect([...ids].filter(id => known?.has(id))).toEqual([]);
            if (known !== null) expect(shown.filter(id => !known?.has(id) && !ids.has(id))).toEqual([]);
            if (early.size < 300)
              for (const transfer of result.transfers) expect(reads.isEarly(transfer)).toBe(early.has(transfer.id));
            if (then === 'restart') {
              reads = new TransferReads(exchange, reads.known, aheadMaxMs);
              early = new Map();
            } else if (then === 'equal') {
              reads.seenEqual(result, now);
              for (const id of result.ids) early.set(id, early.get(id) ?? now);
              const settled = result.ids.filter(id => known === null || now - early.get(id)! >= aheadMaxMs);
              known = new Set([...(known ?? []), ...settled]);
            } else if (then !== 'balances failed' && known !== null) {
              const booked = result.transfers.filter((_, i) => then === 'book all' || i % 2 === 0);
              reads.take(result, booked, now);
              for (const { id } of result.transfers) early.set(id, early.get(id) ?? now);
              for (const { id } of booked) known.add(id);
            }
            for (const id of known ?? []) early.delete(id);
          }
        },
      ),
      {
        ...runsOf(60, 8),
        examples: [
          // More lines become settled in one read than are remembered.
          [Array.from({ length: 12 }, (_, i) => ({ lines: [100, 0], then: 'equal', ms: i === 7 ? 1_000 : 0 })), 1_000],
          // More lines are early in one read than are remembered (seed 30472002).
          [
            Array.from({ length: 10 }, (_, i) => ({
              ...{
                lines: [100, i === 2 ? 1 : 0] as [number, number],
                then: 'equal',
                ms: i === 7 ? 575 : i === 8 ? 425 : 0,
              },
            })),
            1_000,
          ],
        ],
      },
    );
  });
});

it('lines of one list with the same time keep its order, oldest first: a withdrawal comes before its return', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 6 }), async times => {
      const oldestFirst = times.toSorted().map((createdAt, n) => {
        const amount = money(n % 2 === 0 ? -5n : 5n);
        return { id: String(n), createdAt, operation: 'withdrawal', updates: [{ currency: 'btc', amount }] };
      });
      const reads = new TransferReads(
        {
          ...{ lists: [{ name: 'withdrawals', of: 'withdrawals' }], linesPage: 2 },
          transferLines: async (_, { marker, limit }) => {
            const newestFirst = oldestFirst.toReversed();
            const from = marker === undefined ? 0 : newestFirst.findIndex(({ id }) => id === marker) + 1;
            return { kind: 'done', value: newestFirst.slice(from, from + limit) };
          },
        },
        [],
        0,
      );
      const event = await reads.look();
      if (isFailed(event)) throw new Error('the list was read');
      expect(event.transfers.map(({ id }) => id)).toEqual(oldestFirst.map(({ id }) => `withdrawals ${id}`));
    }),
    runsOf(200, 20),
  );
});
