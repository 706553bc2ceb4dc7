/** Public trades by pages and from the stream: each once, in order, however many came since the last read, and whatever the stream lost. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Exchange, PublicTrade, StreamTrade } from '../../src/core/index.ts';
import { PublicTradeTail } from '../../src/marketdata/index.ts';

const BOOK = 'btc_mxn';
const tradeOf = (tid: number): PublicTrade => ({
  book: BOOK,
  tid: String(tid),
  createdAt: tid * 1_000,
  price: `${1_000 + tid}.00`,
  amount: '0.1',
  makerSide: 'buy',
});
const streamed = (tid: number): StreamTrade => ({ ...tradeOf(tid), makerOid: `m${tid}`, takerOid: `t${tid}` });

/** As the exchange does: newest first, or those beyond the marker, ascending. `read` is told before each answer. */
const exchangeWith = (
  trades: readonly PublicTrade[],
  read = () => undefined as void,
): Pick<Exchange, 'limits' | 'trades'> => ({
  limits: { ordersPage: 500, tradesPage: 100, depth: 50 },
  trades: async (_, { marker, sort, limit = 25 } = {}) => {
    const value = (
      sort === 'asc' ? trades.filter(({ tid }) => Number(tid) > Number(marker ?? -1)) : [...trades].reverse()
    ).slice(0, Math.min(100, limit));
    read();
    return { kind: 'done', value };
  },
});

/** A tail over an exchange that has one trade already, and the numbers that it told. */
function tailOf(read?: () => void) {
  const trades = [tradeOf(1)];
  const told: number[] = [];
  const ways = new Map<number, string>();
  const tail = new PublicTradeTail({
    exchange: exchangeWith(trades, read),
    book: BOOK,
    listener: {
      trade: ({ tid }, way) => {
        told.push(Number(tid));
        ways.set(Number(tid), way);
      },
    },
  });
  const happen = (count = 1) => {
    for (let n = 0; n < count; n++) trades.push(tradeOf(trades.length + 1));
    return trades.length;
  };
  return { tail, trades, told, ways, happen };
}

describe('the tail of public trades', () => {
  test('tells each trade since the last read once and in order, over as many pages as it takes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 350 }), { minLength: 1, maxLength: 4 }), async counts => {
        const { tail, trades, told, happen } = tailOf();
        expect(await tail.fill()).toBe(true);
        for (const count of counts) {
          happen(count);
          expect(await tail.fill()).toBe(true);
        }
        expect(told).toEqual(trades.slice(1).map(({ tid }) => Number(tid)));
      }),
      { numRuns: 30 },
    );
  });

  test('reads a long break in turns, and leaves nothing out', async () => {
    const { tail, told, happen } = tailOf();
    await tail.fill();
    happen(2_500);
    expect([await tail.fill(), told.length]).toEqual([false, 2_000]);
    expect([await tail.fill(), told.length]).toEqual([true, 2_500]);
  });

  test('goes over from pages to the stream without a hole: what was heard early waits for the pages behind it', async () => {
    const { tail, told, ways, happen } = tailOf();
    await tail.fill();
    happen(3);
    tail.up();
    tail.addStreamTrades([streamed(happen()), streamed(happen())]);
    expect([told, tail.needsPages]).toEqual([[], true]);
    expect(await tail.fill()).toBe(true);
    tail.addStreamTrades([streamed(happen())]);
    expect(told).toEqual([2, 3, 4, 5, 6, 7]);
    expect([tail.needsPages, ways.get(7)]).toEqual([false, 'live']);
  });

  test('reads pages again after a doubt, also when it came while they were read', async () => {
    const { tail, told, happen } = tailOf(() => doubt());
    let doubt = (): void => undefined;
    await tail.fill();
    tail.up();
    doubt = () => {
      doubt = () => undefined;
      // Lost on the way, after the page.
      happen();
      tail.markUncertain();
    };
    expect([await tail.fill(), tail.needsPages]).toEqual([false, true]);
    expect([await tail.fill(), tail.needsPages]).toEqual([true, false]);
    expect(told).toEqual([2]);
    happen();
    tail.markUncertain();
    tail.addStreamTrades([streamed(happen())]);
    await tail.fill();
    expect(told).toEqual([2, 3, 4]);
  });
});

describe('the tail over any history', () => {
  test('of a stream that comes, goes, loses and mixes up trades tells each once, in order, and none is missing once a gap is closed', async () => {
    const op = fc.oneof(
      fc.record({ what: fc.constantFrom('up', 'down', 'doubt', 'fill', 'fill', 'refused') }),
      fc.record({ what: fc.constant('trades'), count: fc.integer({ min: 1, max: 6 }), heard: fc.nat(63) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(op, { maxLength: 20 }), async list => {
        const trades = [tradeOf(1)];
        let refuses = false;
        const told: [number, string][] = [];
        const gaps: string[] = [];
        const exchange = exchangeWith(trades);
        const tail = new PublicTradeTail({
          exchange: {
            limits: { ordersPage: 500, tradesPage: 3, depth: 50 },
            trades: (...of) =>
              refuses ? Promise.resolve({ kind: 'unknown', reason: 'lost' }) : exchange.trades(...of),
          },
          book: BOOK,
          listener: {
            trade: ({ tid }, way) => void told.push([Number(tid), way]),
            opened: () => void gaps.push('opened'),
            closed: () => void gaps.push('closed'),
          },
        });
        let [isUp, isWhole] = [false, false];
        expect([await tail.fill(), tail.needsPages]).toEqual([true, true]);
        const heardOnce = new Set<string>();
        for (const each of list) {
          const before = told.length;
          if (each.what === 'trades' && 'count' in each) {
            const made = Array.from({ length: each.count }, (_, i) => streamed(trades.length + 1 + i));
            trades.push(...made.map(({ tid }) => tradeOf(Number(tid))));
            const heard = isUp ? made.filter((_, i) => (each.heard >> i) % 2 === 1) : [];
            // A stream that lost some says so; it tells what it has in any order.
            if (isUp && heard.length < made.length) {
              tail.markUncertain();
              isWhole = false;
            }
            tail.addStreamTrades([...heard].reverse());
            heard.forEach(({ makerOid }) => heardOnce.add(makerOid!));
            if (isWhole) expect(told.slice(before)).toEqual(made.map(({ tid }) => [Number(tid), 'live']));
            else expect(told.length).toBe(before);
          } else if (each.what === 'fill' || each.what === 'refused') {
            refuses = each.what === 'refused';
            const isDone = await tail.fill();
            refuses = false;
            expect(isDone).toBe(each.what === 'fill');
            expect(gaps.splice(0).join()).toMatch(isDone ? /opened,closed$/ : /opened$/);
            if (isDone) expect(told.length).toBe(trades.length - 1);
            if (isDone && isUp) isWhole = true;
            expect(told.slice(before).every(([, way]) => way !== 'live')).toBe(true);
          } else if (each.what === 'doubt') {
            tail.markUncertain();
            isWhole = false;
          } else {
            isUp = each.what === 'up';
            isWhole = false;
            if (isUp) tail.up();
            else tail.down();
          }
          expect(tail.needsPages).toBe(!isWhole);
          expect(told.map(([tid]) => tid)).toEqual(Array.from({ length: told.length }, (_, i) => i + 2));
          for (const { tid } of trades) expect(tail.hasReportedFill(`m${tid}`)).toBe(heardOnce.has(`m${tid}`));
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('the bounds of the tail', () => {
  const pagesOf = (tradesPage: number, row?: (tid: number) => boolean) => {
    const trades = [tradeOf(1)];
    const limits: unknown[] = [];
    const told: number[] = [];
    const unreadable: string[] = [];
    const exchange = exchangeWith(trades);
    const tail = new PublicTradeTail({
      exchange: {
        limits: { ordersPage: 500, tradesPage, depth: 50 },
        trades: async (book, query) => {
          limits.push(query);
          const answer = await exchange.trades(book, query);
          if (answer.kind !== 'done' || row === undefined) return answer;
          const bad = answer.value.filter(({ tid }) => row(Number(tid)));
          return {
            kind: 'done',
            value: answer.value.filter(({ tid }) => !row(Number(tid))),
            ...(bad.length > 0 ? { unreadable: bad.map(({ tid }) => ({ why: `row ${tid}`, id: tid })) } : {}),
          };
        },
      },
      book: BOOK,
      listener: {
        trade: ({ tid }) => void told.push(Number(tid)),
        unreadable: text => void unreadable.push(text),
      },
    });
    const happen = (count: number) => {
      for (let n = 0; n < count; n++) trades.push(tradeOf(trades.length + 1));
    };
    return { tail, told, limits, unreadable, happen };
  };

  test('are twenty pages: one trade less than they have is read to its end, and as many are not known to be all', async () => {
    for (const [count, isDone, pages] of [
      [99, true, 20],
      [100, false, 20],
    ] as const) {
      const { tail, told, limits, happen } = pagesOf(5);
      await tail.fill();
      happen(count);
      expect([await tail.fill(), told.length, limits.length]).toEqual([isDone, count, 1 + pages]);
      expect(limits.slice(0, 3)).toEqual([
        { limit: 1 },
        { marker: '1', sort: 'asc', limit: 5 },
        { marker: '6', sort: 'asc', limit: 5 },
      ]);
    }
  });

  test('of a book without a trade begin at its first one', async () => {
    const told: number[] = [];
    const trades: PublicTrade[] = [];
    const tail = new PublicTradeTail({
      exchange: exchangeWith(trades),
      book: BOOK,
      listener: { trade: ({ tid }) => void told.push(Number(tid)) },
    });
    expect(await tail.fill()).toBe(true);
    trades.push(tradeOf(1), tradeOf(2));
    expect(await tail.fill()).toBe(true);
    expect(told).toEqual([1, 2]);
  });

  test('count rows that cannot be read as rows, name each, and take a page of nothing else for no answer', async () => {
    const { tail, told, unreadable, happen } = pagesOf(3, tid => tid === 4 || tid === 5);
    await tail.fill();
    happen(7);
    expect(await tail.fill()).toBe(true);
    expect(told).toEqual([2, 3, 6, 7, 8]);
    // The next page begins after the last row that could be read.
    expect(unreadable.map(text => /row \d/.exec(text)?.[0])).toEqual(['row 4', 'row 4', 'row 5']);
    const none = pagesOf(3, tid => tid > 1);
    await none.tail.fill();
    none.happen(2);
    expect([await none.tail.fill(), none.unreadable]).toEqual([false, []]);
  });

  test('are ten thousand resting orders and early trades: of more, the older half is dropped, and pages have the early ones', async () => {
    const { tail, told, happen } = pagesOf(100);
    await tail.fill();
    tail.up();
    const many = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => streamed(from + i));
    tail.addStreamTrades(many(2, 10_001));
    const has = (...tids: number[]) => tids.map(tid => tail.hasReportedFill(`m${tid}`));
    expect(has(2, 5_001, 10_001)).toEqual([true, true, true]);
    tail.addStreamTrades(many(10_002, 10_002));
    expect(has(2, 5_001, 5_002, 10_002)).toEqual([false, false, true, true]);
    // The pages reach to 60; of what was early the last five thousand are left.
    happen(59);
    expect(await tail.fill()).toBe(true);
    expect([told.length, told[58], told[59], told.at(-1)]).toEqual([59 + 5_000, 60, 5_003, 10_002]);
  });
});
