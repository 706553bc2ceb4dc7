/** Tests of the quotes that a reload shows: they are those that the next run would place beside foreign orders. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextPreviews, pastTradesOfRun, quotesBeside, quotesNothing } from '../../../src/app/run/nextQuotes.ts';
import { loadConfig } from '../../../src/config.ts';
import type { Order, OrderReport, Preview, Side } from '../../../src/core/index.ts';
import { ToyExchange, quoteAround } from '../../core/toyExchange.ts';
import { btcMxn, plain } from '../../core/market.ts';
import { BOOKS, SharedAccount, type Balances } from '../../core/sharedAccount.ts';
import { runsOf } from '../../many.ts';

const CONFIG = `book: btc_mxn
instance: mm
exchange: {kind: embedded}
strategy: {name: ladder, halfSpreadBps: 40, levels: 1, amount: '10'}
limits: {positionMax: '100', orderValueMax: '50000', ordersMax: 12, collarBps: 200, drawdownMax: '100', dayLossMax: '100'}
`;

const foreign = (side: Side, price: string): OrderReport => ({
  book: plain.symbol,
  oid: `of-${side}-${price}`,
  side,
  type: 'limit',
  status: 'open',
  price,
  originalAmount: '5',
  unfilledAmount: '5',
  createdAt: 0,
});

/** Returns the preview beside a running bot whose reads of open orders list these foreign orders. */
function previewBeside(orders: readonly OrderReport[]) {
  const loaded = loadConfig(CONFIG, 'next.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const toy = new ToyExchange({ strategy: quoteAround(2) });
  const step = toy.step.bind(toy);
  toy.step = event => step(event.kind === 'open orders' ? { ...event, orders: [...event.orders, ...orders] } : event);
  toy.open().rounds(3);
  const rules = { instrument: plain, makerRate: 0, takerRate: 0 };
  const books = [{ rules, running: toy.engine.book, reference: null }];
  return nextPreviews(loaded.config, books, toy.engine, toy.now)[0]!;
}

describe('the quotes of the next run', () => {
  test.each<readonly [string, readonly OrderReport[], (string | undefined)[]]>([
    ['no foreign order', [], [undefined, undefined]],
    ['foreign orders that they do not cross', [foreign('sell', '997'), foreign('buy', '1003')], [undefined, undefined]],
    [
      'a foreign ask',
      [foreign('sell', '999'), foreign('sell', '995')],
      ['would cross another order of the account', undefined],
    ],
    [
      'a foreign bid between two ticks',
      [foreign('buy', '1004.5')],
      [undefined, 'would cross another order of the account'],
    ],
  ])('beside %s are those that the gate would approve', (_, orders, expected) => {
    const { levels, unshown } = previewBeside(orders);
    expect([unshown.buy?.reason, unshown.sell?.reason]).toEqual(expected);
    expect(levels.map(({ level }) => level.price).toSorted((a, b) => a - b)).toEqual([996, 1004]);
  });
});

const booksNamed = (symbols: readonly string[]) => symbols.map(name => BOOKS.find(({ symbol }) => symbol === name)!);

/** Opens a bot with these books, and returns it with the previews of the configuration that it runs. */
function previewsOf(symbols: readonly string[], balances: Partial<Balances>) {
  const text = CONFIG.replace('book: btc_mxn', `books: [${symbols.map(symbol => `{symbol: ${symbol}}`).join()}]`)
    .replace('{kind: embedded}', '{kind: remote, restUrl: "https://api.bitso.com"}')
    .replace('Bps: 40', 'Bps: 20');
  const loaded = loadConfig(text, 'next.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const account = new SharedAccount(balances, booksNamed(symbols)).open().round();
  const books = booksNamed(symbols).map(instrument => ({
    rules: { instrument, makerRate: 0, takerRate: 0 },
    running: account.bookOf(instrument.symbol),
    reference: null,
  }));
  const previews = nextPreviews(loaded.config, books, account.engine, account.now);
  return { account, previews: new Map(symbols.map((symbol, i) => [symbol, previews[i]!])) };
}

test('the preview of what a bot runs has funds for each of its live levels, and is one and the same in every order of its books', () => {
  const amount = fc.integer({ min: 5, max: 40 });
  const value = amount.map(lots => lots * 1_000);
  fc.assert(
    fc.property(
      fc.shuffledSubarray(
        BOOKS.map(({ symbol }) => symbol),
        { minLength: 2, maxLength: 3 },
      ),
      fc.record({ btc: amount, eth: amount, usd: value, mxn: value }),
      (symbols, balances) => {
        const { account, previews } = previewsOf(symbols, balances);
        for (const { book, command } of account.live.values())
          expect(previews.get(book.symbol)!.unshown[command.side], `${book.symbol} ${command.side}`).toBeNull();
        expect(previewsOf(symbols.toSorted(), balances).previews).toEqual(previews);
      },
    ),
    {
      ...runsOf(100, 20),
      examples: [[['btc_mxn', 'btc_usd', 'usd_mxn'], { btc: 15, eth: 5, usd: 9_000, mxn: 9_000 }]],
    },
  );
});

describe('the quotes now and then', () => {
  const order = (side: Side, price: number, amount: number, filled: number, state = 'open') =>
    ({ id: `${side}-${price}`, side, price, amount, filled, state }) as unknown as Order;
  const level = (side: Side, price: number, amount: number, verdict = 'would be placed') => ({
    ...{ level: { side, price, amount, why: [] }, verdict },
  });
  const next = (levels: readonly object[], changes: Partial<Preview> = {}) =>
    ({
      levels,
      refusal: null,
      emptySidesText: null,
      halt: null,
      quote: {},
      unshown: { buy: null, sell: null },
      ...changes,
    }) as unknown as Preview;
  const book = {
    liveOrders: [
      order('buy', 99_500, 700, 0),
      order('sell', 101_000, 300, 100, 'partially filled'),
      order('buy', 99_900, 500, 50),
      order('sell', 102_500, 400, 0),
      order('sell', 100_500, 999, 0, 'requested'),
    ],
  };

  test('have a row for each level, asks from the highest price down, bids from the best down, with what is left of each', () => {
    const levels = [
      level('buy', 99_000, 20),
      level('buy', 99_800, 30),
      level('sell', 101_500, 60),
      level('buy', 98_000, 10),
      level('sell', 100_100, 70, 'below the minimum'),
    ];
    expect(quotesBeside({ book }, next(levels), { instrument: btcMxn })).toEqual([
      '         now                    then',
      '  ask 2  0.00000400 at 1025.00  -',
      '  ask 1  0.00000200 at 1010.00  0.00000060 at 1015.00',
      '  bid 1  0.00000450 at 999.00   0.00000030 at 998.00',
      '  bid 2  0.00000700 at 995.00   0.00000020 at 990.00',
      '  bid 3  -                      0.00000010 at 980.00',
    ]);
  });

  test('have no row of then if the next run refuses to quote, and say why, as why a side is empty', () => {
    const lines = (changes: Partial<Preview>) =>
      quotesBeside({ book: null }, next([level('buy', 99_000, 20)], changes), { instrument: btcMxn }).slice(1);
    expect(lines({ refusal: 'paused' as never })).toEqual(['  then: none, paused']);
    const [row, ...why] = lines({ emptySidesText: 'no asks: a limit' });
    expect([row!.startsWith('  bid 1  -'), why]).toEqual([true, ['  then: no asks: a limit']]);
  });

  test('are a problem if trading would halt, the file fails or only an operator can help, unless the bot has it already', () => {
    const halted = (by: string | null) => ({ book: { haltedBecause: by } });
    const halt = next([], { halt: 'drawdown' });
    expect(quotesNothing(halt, halted(null), 0)).toBe('the bot would halt immediately: drawdown');
    expect([quotesNothing(halt, halted('odd fills'), 0), quotesNothing(next([]), halted(null), 0)]).toEqual([
      null,
      null,
    ]);
    const failing = next([], { quote: { failure: 'own.ts: no' } as never, halt: 'drawdown' });
    expect(quotesNothing(failing, halted('odd fills'), 0)).toBe('the bot would not quote: own.ts: no');
    expect(quotesNothing(failing, { book: null }, 0)).toBe('the bot would halt immediately: drawdown');
    const empty = { reason: 'below the minimum amount' };
    const lasting = { unshown: { buy: empty, sell: empty } } as never as Preview;
    const needing = next([], { ...lasting, emptySidesText: 'no bid and no ask: too small' });
    const running = (unshown: object) => ({ book: { haltedBecause: null, snapshot: () => ({ unshown }) as never } });
    const says = 'the bot would not quote: no bid and no ask: too small';
    expect(quotesNothing(needing, { book: null }, 0)).toBe(says);
    expect(quotesNothing(needing, running({ buy: empty, sell: null }), 0)).toBe(says);
    expect(quotesNothing(needing, running(lasting.unshown), 0)).toBeNull();
  });
});

test('the trades of a run are those of the whole time that is asked for, to its first moment, or none', () => {
  const trades = [10, 20, 30].map(createdAt => ({ at: createdAt, price: 1, amount: 1, side: 'buy' }) as never);
  const known = { since: 10, trades } as never;
  expect(pastTradesOfRun(known, 30, 21)).toBeNull();
  expect(pastTradesOfRun(null, 30, 1)).toBeNull();
  expect(pastTradesOfRun(known, 30, 20)).not.toBeNull();
});
