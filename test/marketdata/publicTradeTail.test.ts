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
