/** Times without a book are gaps also at the end of a recording, whatever else is recorded there. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openTape, type Tape } from '../../src/tape/index.ts';
import { gapsWithin } from '../../src/tape/model/gaps.ts';
import { runsOf } from '../many.ts';
import { withFolder } from './folder.ts';

const START = 1_600_000_000_000;
const MINUTE = 60_000;
const iso = (at: number) => new Date(at).toISOString();

/** Files of a format with books and trades at some minutes, and the longest time between two books that is no gap. */
const FORMATS: Readonly<
  Record<
    string,
    {
      readonly maxMs: number;
      readonly files: (books: readonly number[], trades: readonly number[]) => Readonly<Record<string, string>>;
    }
  >
> = {
  tardis: {
    maxMs: 10 * MINUTE,
    files: (books, trades) => ({
      'x_quotes_2020-09-13_BTCUSDT.csv': [
        'exchange,symbol,timestamp,local_timestamp,ask_amount,ask_price,bid_price,bid_amount',
        // Amounts that differ, because a repeated quote is dropped.
        ...books.map((at, i) => `x,BTCUSDT,${at}000,${at}000,${i + 1},101.5,100.5,1`),
      ].join('\n'),
      'x_trades_2020-09-13_BTCUSDT.csv': [
        'exchange,symbol,timestamp,local_timestamp,id,side,price,amount',
        ...trades.map((at, i) => `x,BTCUSDT,${at}000,${at}000,${i + 1},buy,101.5,1`),
      ].join('\n'),
    }),
  },
  gemini: {
    maxMs: 10 * MINUTE,
    files: (books, trades) => ({
      'gemini__eth-usd__d__market-depth.csv': [
        'time_seconds,bid_price_bid_size,ask_price_ask_size',
        ...books.map(at => `${at / 1000},10.00_1,11.00_1`),
      ].join('\n'),
      'gemini__eth-usd__d__trade.csv': [
        'time_seconds,price,size,is_buyer_maker',
        ...trades.map(at => `${at / 1000},11.00,1,0`),
      ].join('\n'),
    }),
  },
  bitso: {
    maxMs: 30_000,
    files: (books, trades) => ({
      'replies.jsonl': [
        ...books.map((at, i) => ({ at, book: i + 1 })),
        ...trades.map((at, i) => ({ at, trade: i + 1 })),
      ]
        .sort((a, b) => a.at - b.at)
        .map(one =>
          JSON.stringify({
            at: iso(one.at),
            url: `https://x/api/v3/${'book' in one ? 'order_book' : 'trades'}?book=btc_mxn`,
            body: JSON.stringify({
              success: true,
              payload:
                'book' in one
                  ? {
                      ...{ updated_at: iso(one.at), sequence: String(one.book) },
                      bids: [{ book: 'btc_mxn', price: '100.5', amount: '1' }],
                      asks: [{ book: 'btc_mxn', price: '101.5', amount: '1' }],
                    }
                  : [
                      {
                        ...{ book: 'btc_mxn', created_at: iso(one.at), amount: '1', maker_side: 'sell' },
                        ...{ price: '101.5', tid: one.trade },
                      },
                    ],
            }),
          }),
        )
        .join('\n'),
    }),
  },
};
const opened = (format: string, books: readonly number[], trades: readonly number[]): Promise<Tape> =>
  withFolder(FORMATS[format]!.files(books, trades), dir => openTape(dir));

const minutes = fc
  .uniqueArray(fc.nat(60), { minLength: 2, maxLength: 10 })
  .map(all => all.sort((a, b) => a - b).map(minute => START + minute * MINUTE));

describe.each(Object.keys(FORMATS))('a recording of %s', format => {
  test('that ends with trades only has a gap up to its end', async () => {
    const { gaps } = await opened(format, [START, START + 1_000], [START + 2_000, START + 3_600_000]);
    expect(gaps).toMatchObject([{ from: START + 1_000, to: START + 3_600_000 }]);
  });

  test('has the same gaps before any time at which it is cut off', async () => {
    await fc.assert(
      fc.asyncProperty(minutes, minutes, fc.nat(60), async (books, trades, cut) => {
        const end = START + cut * MINUTE;
        const until = (all: readonly number[]) => all.filter(at => at <= end);
        const [keptBooks, keptTrades] = [until(books), until(trades)];
        if (keptBooks.length === 0 || keptTrades.length === 0) return;
        const [whole, less] = [await opened(format, books, trades), await opened(format, keptBooks, keptTrades)];
        // Until a time without a book is too long, it is no gap yet.
        const known = Math.max(keptBooks.at(-1)!, keptTrades.at(-1)!) - FORMATS[format]!.maxMs;
        expect(gapsWithin(less.gaps, START, known)).toEqual(gapsWithin(whole.gaps, START, known));
      }),
      runsOf(100, 25),
    );
  });
});
