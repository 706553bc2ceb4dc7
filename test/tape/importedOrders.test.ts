/** Single orders by mapping: one market, told in each way in which venues tell it, gives one book and the same executions. */
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KIND, mappedRecording, RecordedBook, SIDE, type Tape } from '../../src/tape/index.ts';
import { collectTape } from '../../src/tape/import/collectTape.ts';
import { OrderNumbers } from '../../src/tape/import/mapping/singleOrders.ts';
import { withFolder } from './folder.ts';
import { runsOf } from '../many.ts';

const START = 1_700_000_000_000;

/** What happens to a market of single orders. Amounts of `less` and `execute` are what goes. */
type Step =
  | { readonly what: 'add'; readonly buys: boolean; readonly away: number; readonly lots: number }
  | { readonly what: 'less' | 'execute'; readonly order: number; readonly share: number }
  | { readonly what: 'remove'; readonly order: number }
  | { readonly what: 'replace'; readonly order: number; readonly away: number; readonly lots: number }
  | { readonly what: 'clear' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      what: fc.constant('add' as const),
      buys: fc.boolean(),
      away: fc.integer({ min: 0, max: 4 }),
      lots: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      what: fc.constantFrom('less' as const, 'execute' as const),
      order: fc.nat(50),
      share: fc.constantFrom(0.3, 0.6, 1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('remove' as const), order: fc.nat(50) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('replace' as const),
      order: fc.nat(50),
      away: fc.integer({ min: 0, max: 4 }),
      lots: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ what: 'clear' as const }) },
);

type Order = { readonly id: number; readonly buys: boolean; readonly price: number; lots: number };
/** One thing that happened, with the order as it was before and what is left of it. */
type Happened = {
  readonly at: number;
  readonly what: Step['what'];
  readonly order: Order;
  readonly before: number;
  readonly left: number;
  /** Order that rests in its place after a `replace`, as it was at first. */
  readonly replacement?: Order;
};

/** The market itself: what happened, the best prices and amounts after it, and every execution. */
function marketOf(steps: readonly Step[]): {
  readonly happened: readonly Happened[];
  readonly books: readonly (readonly string[])[];
  readonly executions: readonly string[];
} {
  const orders: Order[] = [];
  const happened: Happened[] = [];
  const books: (readonly string[])[] = [];
  const executions: string[] = [];
  let id = 0;
  let at = START;
  const first: readonly Step[] = [
    { what: 'add', buys: true, away: 0, lots: 5 },
    { what: 'add', buys: false, away: 0, lots: 5 },
  ];
  for (const one of [...first, ...steps]) {
    at += 10;
    if (one.what === 'clear') {
      happened.push({ at, what: 'clear', order: { id: 0, buys: true, price: 0, lots: 0 }, before: 0, left: 0 });
      orders.length = 0;
    } else if (one.what === 'add') {
      const order = { id: ++id, buys: one.buys, price: one.buys ? 100 - one.away : 101 + one.away, lots: one.lots };
      orders.push(order);
      happened.push({ at, what: 'add', order, before: 0, left: one.lots });
    } else {
      const order = orders[one.order % Math.max(1, orders.length)];
      if (order === undefined) continue;
      const before = order.lots;
      if (one.what === 'replace') {
        const { away, lots } = one;
        const replacement = { ...order, id: ++id, price: order.buys ? 100 - away : 101 + away, lots };
        happened.push({ at, what: 'replace', order, before, left: 0, replacement: { ...replacement } });
        orders.splice(orders.indexOf(order), 1, replacement);
        books.push(bookOf(orders));
        continue;
      }
      const left = one.what === 'remove' ? 0 : before - Math.max(1, Math.floor(before * one.share));
      happened.push({ at, what: one.what, order, before, left });
      if (one.what === 'execute')
        executions.push([at, order.buys ? 'sell' : 'buy', order.price, before - left].join(' '));
      order.lots = left;
      if (left === 0) orders.splice(orders.indexOf(order), 1);
    }
    books.push(bookOf(orders));
  }
  return { happened, books, executions };
}

const bookOf = (orders: readonly Order[]): readonly string[] =>
  [true, false].flatMap(buys => {
    const levels = new Map<number, number>();
    for (const { price, lots, buys: bid } of orders)
      if (bid === buys) levels.set(price, (levels.get(price) ?? 0) + lots);
    return [...levels].sort(([a], [b]) => (buys ? b - a : a - b)).map(([price, lots]) => `${price} x ${lots}`);
  });

/** A way of telling it: the mapping's keys and the lines of its files. */
type Spelling = {
  readonly keys: string;
  readonly lines: (one: Happened) => readonly string[];
  readonly trades?: (one: Happened) => string | null;
  /** Header of a venue that reports a replacement in one row; the others remove the order and add another. */
  readonly replaces?: string;
};

/** A replacement as a removal and another order. */
const inTwoRows = (one: Happened): readonly Happened[] =>
  one.replacement === undefined
    ? [one]
    : [
        { ...one, what: 'remove' },
        { at: one.at, what: 'add', order: one.replacement, before: 0, left: one.replacement.lots },
      ];

const HEADER = 't,e,i,s,p,q';
const sideOf = ({ order }: Happened) => (order.buys ? 'B' : 'S');
const BASE =
  'id: i\n    time: { column: t, unit: ms }\n    side: { column: s, buy: [B], sell: [S] }\n    price: p\n    amount: q';
const line = (one: Happened, word: string, amount: number | string, id: string = String(one.order.id)) =>
  [one.at, word, id, sideOf(one), one.order.price, amount].join();
const tradeLine = (one: Happened) =>
  one.what === 'execute' ? [one.at, one.order.buys ? 'S' : 'B', one.order.price, one.before - one.left].join() : null;

const SPELLINGS: Readonly<Record<string, Spelling>> = {
  'what is left, trades apart': {
    keys: `${BASE}\n    event: { column: e, add: [A], change: [M], remove: [D], clear: [R] }`,
    lines: one =>
      one.what === 'clear'
        ? [`${one.at},R,,N,,0`]
        : one.what === 'add'
          ? [line(one, 'A', one.left)]
          : one.left > 0
            ? [line(one, 'M', one.left)]
            : [line(one, 'D', one.what === 'execute' ? 0 : one.before)],
    trades: tradeLine,
  },
  'what went, as ITCH does: later rows have neither side nor price, and a replaced order has another id': {
    keys: `${BASE}\n    newId: n\n    event: { column: e, add: [A, F], reduce: [X], execute: [E, C], remove: [D], replace: [U], clear: [R] }`,
    replaces: `${HEADER},n`,
    lines: ({ replacement, ...one }) => {
      if (one.what === 'clear') return [`${one.at},R,,,,,`];
      if (one.what === 'add') return [`${line(one, 'A', one.left)},`];
      if (replacement !== undefined)
        return [`${one.at},U,${one.order.id},,${replacement.price},${replacement.lots},${replacement.id}`];
      if (one.what === 'remove') return [`${one.at},D,${one.order.id},,,,`];
      return [`${one.at},${one.what === 'execute' ? 'E' : 'X'},${one.order.id},,,${one.before - one.left},`];
    },
  },
  'what went, as LOBSTER does, with orders that are told apart by text': {
    keys: `${BASE}\n    event: { column: e, add: [1], reduce: [2], remove: [3], execute: [4], clear: [9] }`,
    lines: one => {
      const id = `00000000-0000-4000-8000-${String(one.order.id).padStart(12, '0')}`;
      if (one.what === 'clear') return [`${one.at},9,,,,`];
      if (one.what === 'add') return [line(one, '1', one.left, id)];
      if (one.what === 'execute') return [line(one, '4', one.before - one.left, id)];
      return [line(one, one.left > 0 ? '2' : '3', one.before - one.left, id)];
    },
  },
  'fills and what went beside them, trades apart, with ids of 64 bits': {
    keys: `${BASE}\n    event: { column: e, add: [A], reduce: [C], fill: [F], clear: [R] }`,
    lines: one => {
      const id = String(1_705_539_600_043_768_000n + BigInt(one.order.id));
      const went = one.before - one.left;
      if (one.what === 'clear') return [`${one.at},R,,N,,0`];
      if (one.what === 'add') return [line(one, 'A', one.left, id)];
      return [...(one.what === 'execute' ? [line(one, 'F', went, id)] : []), line(one, 'C', went, id)];
    },
    trades: tradeLine,
  },
};

function imported({ keys, lines, trades, replaces }: Spelling, happened: readonly Happened[]): Promise<Tape> {
  const spelled = replaces === undefined ? happened.flatMap(inTwoRows) : happened;
  const rows = [replaces ?? HEADER, ...spelled.flatMap(lines)].join('\n');
  const executed = trades === undefined ? [] : happened.map(trades).filter(one => one !== null);
  const table = `  - files: orders.csv\n    kind: orders\n    ${keys}\n`;
  const others =
    executed.length === 0
      ? ''
      : '  - files: trades.csv\n    kind: trades\n    time: { column: t, unit: ms }\n    side: { column: s, buy: [B], sell: [S] }\n    price: p\n    amount: q\n';
  return withFolder(
    {
      'orders.csv': rows,
      'trades.csv': ['t,s,p,q', ...executed].join('\n'),
      'my.yaml': `book: btc_usd\ntick: 1\nlot: 1\ntables:\n${table}${others}`,
    },
    folder => mappedRecording(folder, join(folder, 'my.yaml')).then(collectTape),
  );
}

/** The levels of the tape's book after the last row of each time. */
function booksAfter({ columns }: Tape): readonly (readonly string[])[] {
  const book = new RecordedBook(columns);
  const books: (readonly string[])[] = [];
  for (let row = 0; row < columns.length; row++) {
    book.apply(row);
    if (row + 1 < columns.length && columns.at[row + 1] === columns.at[row]) continue;
    books.push(
      [book.bids, book.asks].flatMap(side =>
        Array.from({ length: side.length }, (_, i) => `${side.priceAt(i)} x ${side.amountAt(i)}`),
      ),
    );
  }
  return books;
}

const executionsOf = ({ columns: { kind, side, at, price, amount, length } }: Tape): readonly string[] =>
  Array.from({ length }, (_, row) => row)
    .filter(row => kind[row] === KIND.trade)
    .map(row => [at[row], side[row] === SIDE.buy ? 'buy' : 'sell', price[row], amount[row]].join(' '));

describe('one market of single orders', () => {
  test('is one book and the same executions, however its venue tells it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async steps => {
        const { happened, books, executions } = marketOf(steps);
        for (const spelling of Object.values(SPELLINGS)) {
          const tape = await imported(spelling, happened);
          expect(booksAfter(tape)).toEqual(books);
          expect(executionsOf(tape)).toEqual(executions);
          // An order that was executed to its end leaves with nothing, another with what it had.
          const { kind, amount, length } = tape.columns;
          const removed = Array.from({ length }, (_, row) => row).filter(row => kind[row] === KIND.remove);
          expect(removed.map(row => amount[row])).toEqual(
            happened
              .filter(({ what, left }) => !['add', 'clear'].includes(what) && left === 0)
              .map(({ what, before }) => (what === 'execute' ? 0 : before)),
          );
          expect(tape.flaws.filter(({ what }) => !/one-sided/.test(what))).toEqual([]);
        }
      }),
      runsOf(120, 30),
    );
  });

  test('of which a whole book is told again begins there: what it does not have is gone', async () => {
    const rows = ['A,1,B,100,5,no', 'A,2,S,105,5,no', 'A,3,B,90,4,yes', 'A,4,S,110,4,yes', 'A,5,B,89,4,no'];
    const csv = ['t,r,e,i,s,p,q,w', ...rows.map((row, i) => `${START + i},${START + (i === 3 ? 2 : i)},${row}`)].join(
      '\n',
    );
    const mapping = `book: btc_usd\ntick: 1\nlot: 1\ntables:\n  - files: a.csv\n    kind: orders\n    received: { column: r, unit: ms }\n    snapshot: { column: w, words: [yes] }\n    event: { column: e, add: [A], remove: [D] }\n    ${BASE}\n`;
    const tape = await withFolder({ 'a.csv': csv, 'my.yaml': mapping }, folder =>
      mappedRecording(folder, join(folder, 'my.yaml')).then(collectTape),
    );
    expect(booksAfter(tape).at(-1)).toEqual(['90 x 4', '89 x 4', '110 x 4']);
  });

  test('whose amounts went but are stated as what is left is not read in silence', async () => {
    const rows = ['A,1,B,100,10', 'A,2,S,105,10', 'X,1,B,100,3', 'X,1,B,100,3', 'X,1,B,100,4', 'A,3,B,90,1'];
    const csv = [HEADER, ...rows.map((row, i) => `${START + i},${row}`)].join('\n');
    const mapping = `book: btc_usd\ntick: 1\nlot: 1\ntables:\n  - files: a.csv\n    kind: orders\n    event: { column: e, add: [A], change: [X], remove: [D] }\n    ${BASE}\n`;
    const tape = await withFolder({ 'a.csv': csv, 'my.yaml': mapping }, folder =>
      mappedRecording(folder, join(folder, 'my.yaml')).then(collectTape),
    );
    expect(tape.flaws).toContainEqual(
      expect.objectContaining({ what: 'changes that do not reduce the amount of an order', count: 2 }),
    );
  });
});

describe('a replacement', () => {
  const rows = ['A,1,B,100,5,', 'A,2,S,105,5,', 'U,9,B,101,3,10', 'U,1,,99,2,11', 'E,11,,,1,', 'U,2,,104,2,10'];
  const read = (keys: string) =>
    withFolder(
      {
        'a.csv': [`${HEADER},n`, ...rows.map((row, i) => `${START + i},${row}`)].join('\n'),
        'my.yaml': `book: btc_usd\ntick: 1\nlot: 1\ntables:\n  - files: a.csv\n    kind: orders\n    ${keys}\n    ${BASE}\n`,
      },
      folder => mappedRecording(folder, join(folder, 'my.yaml')).then(collectTape),
    );
  const EVENTS = 'event: { column: e, add: [A], remove: [D], execute: [E], replace: [U] }';

  test('of an order that never came, or by an id that rests already, is kept and reported', async () => {
    const tape = await read(`newId: n\n    ${EVENTS}`);
    expect(booksAfter(tape).at(-1)).toEqual(['99 x 1', '104 x 2']);
    expect(executionsOf(tape)).toEqual([`${START + 4} sell 99 1`]);
    for (const what of ['events of unknown orders', 'order ids that are already in use'])
      expect(tape.flaws).toContainEqual(expect.objectContaining({ what, count: 1 }));
  });

  test.each([
    ['without the column of the new id', EVENTS],
    [
      'of which only that column is stated',
      'newId: n\n    event: { column: e, add: [A, U], remove: [D], execute: [E] }',
    ],
  ])('%s is refused by its key', (_, keys) => expect(read(keys)).rejects.toThrow(/newId: expected both newId/));
});

describe('the number of an order', () => {
  test('is its own for ids of any kind, and the same in every import', () => {
    const id = fc.oneof(
      fc.bigInt({ min: 1n, max: 1n << 70n }).map(String),
      fc.uuid(),
      fc.string({ minLength: 1, maxLength: 30 }),
    );
    fc.assert(
      fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 200 }), ids => {
        const numbers = new OrderNumbers();
        const found = ids.map(one => numbers.numberOf(one));
        expect(new Set(found).size).toBe(ids.length);
        expect(found.every(number => Number.isSafeInteger(number) && number > 0)).toBe(true);
        const again = new OrderNumbers();
        expect([...ids].reverse().map(one => again.numberOf(one))).toEqual([...found].reverse());
      }),
    );
  });
});
