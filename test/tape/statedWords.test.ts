/** What a mapping states and the files do not hold: an import stops, and says what they hold instead. */
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { KIND, mappedRecording, SIDE, type Tape } from '../../src/tape/index.ts';
import { collectTape } from '../../src/tape/import/collectTape.ts';
import { withFolder } from './folder.ts';

const START = 1_700_000_000_000;

/** A table whose words are all there, as keys of a mapping file and as the rows of `a.csv`. */
type Case = {
  /** Keys below `tables:`, with `{key}` for the words of each meaning. */
  readonly table: string;
  readonly header: string;
  readonly words: Readonly<Record<string, { readonly words: readonly string[]; readonly column: string }>>;
  readonly row: (i: number, word: (key: string) => string | null) => string;
};

/** The word of this row for one of the keys of a column, in turn. */
const inTurn =
  (keys: readonly string[]) =>
  (i: number, word: (key: string) => string | null): string =>
    word(keys[i % keys.length]!) ?? '';

const CASES: Readonly<Record<string, Case>> = {
  trades: {
    table:
      'kind: trades\n    where: { kind: [{where}] }\n    time: { column: t, unit: ms }\n    price: p\n    amount: q\n    side: { column: s, buy: [{buy}], sell: [{sell}], none: [{none}] }',
    header: 't,kind,p,q,s',
    words: {
      where: { words: ['T', 'U'], column: 'kind' },
      buy: { words: ['4.0'], column: 's' },
      sell: { words: ['3.0', 'S'], column: 's' },
      none: { words: ['1.0'], column: 's' },
    },
    row: (i, word) => `${START + i},${word('where')},100,1,${inTurn(['buy', 'sell', 'none'])(i, word)}`,
  },
  levels: {
    table:
      'kind: levels\n    time: { column: t, unit: ms }\n    price: p\n    amount: q\n    side: { column: s, buy: [{buy}], sell: [{sell}] }\n    snapshot: { column: w, words: [{snapshot}] }',
    header: 't,p,q,s,w',
    words: {
      buy: { words: ['b'], column: 's' },
      sell: { words: ['a', 'o'], column: 's' },
      snapshot: { words: ['true'], column: 'w' },
    },
    row: (i, word) =>
      `${START + i},${i % 2 === 0 ? 99 : 101},1,${inTurn(['buy', 'sell'])(i, word)},${i < 2 ? word('snapshot') : 'false'}`,
  },
  orders: {
    table:
      'kind: orders\n    time: { column: t, unit: ms }\n    id: i\n    price: p\n    amount: q\n    side: { column: s, buy: [{buy}], sell: [{sell}] }\n    event: { column: e, add: [{add}], change: [{change}], reduce: [{reduce}], execute: [{execute}], remove: [{remove}], clear: [{clear}] }',
    header: 't,i,p,q,s,e',
    words: {
      buy: { words: ['B'], column: 's' },
      sell: { words: ['S'], column: 's' },
      add: { words: ['A', 'F'], column: 'e' },
      change: { words: ['M'], column: 'e' },
      reduce: { words: ['X'], column: 'e' },
      execute: { words: ['E'], column: 'e' },
      remove: { words: ['D'], column: 'e' },
      clear: { words: ['R'], column: 'e' },
    },
    row: (i, word) => {
      const event = ['add', 'change', 'reduce', 'execute', 'remove', 'clear'][i % 6]!;
      const amounts: Readonly<Record<string, number>> = {
        add: 9,
        change: 7,
        reduce: 2,
        execute: 1,
        remove: 4,
        clear: 0,
      };
      const side = Math.floor(i / 6) % 2 === 0 ? 'buy' : 'sell';
      return `${START + i},${Math.floor(i / 6) + 1},${side === 'buy' ? 99 : 101},${amounts[event]},${word(side)},${word(event)}`;
    },
  },
  quotes: {
    table: 'kind: quotes\n    time: { column: t, unit: ms }\n    bid: b\n    ask: a\n    unchanged: {unchanged}',
    header: 't,b,a',
    words: { unchanged: { words: ['-1'], column: 'b, a' } },
    row: (i, word) => `${START + i},${i % 2 === 0 ? 99 : word('unchanged')},101`,
  },
};

const ROWS = 60;

/** The import of a case. `stated` changes the words that the mapping states. */
function imported(of: Case, stated: (key: string, words: readonly string[]) => readonly string[]): Promise<Tape> {
  const quoted = (words: readonly string[]) => words.map(word => `'${word}'`).join(', ');
  let table = of.table;
  for (const [key, { words }] of Object.entries(of.words))
    table = table.replace(`{${key}}`, quoted(stated(key, words)));
  const rows = Array.from({ length: ROWS }, (_, i) =>
    of.row(i, key => of.words[key]!.words[Math.floor(i / 12) % of.words[key]!.words.length]!),
  );
  return read([of.header, ...rows].join('\n'), table);
}

const read = (csv: string, table: string): Promise<Tape> =>
  withFolder(
    {
      'a.csv': csv,
      // A book for tables of trades: a row of it before all others.
      'book.csv': `t,b,a,q\n${START - 1},99,101,1\n`,
      'my.yaml': `book: btc_usd\ntick: 1\ntables:\n  - files: a.csv\n    ${table}\n${table.includes('kind: trades') ? '  - files: book.csv\n    kind: quotes\n    time: { column: t, unit: ms }\n    bid: b\n    ask: a\n    bidAmount: q\n    askAmount: q\n' : ''}`,
    },
    folder => mappedRecording(folder, join(folder, 'my.yaml')).then(collectTape),
  );

describe('words that a mapping states', () => {
  it.each(Object.keys(CASES))('are all there: a table of %s is imported without a word about them', async kind => {
    const tape = await imported(CASES[kind]!, (_, words) => words);
    expect(tape.flaws.filter(({ what }) => what.includes('word'))).toEqual([]);
    if (kind === 'trades') expect(new Set(tape.columns.side)).toEqual(new Set([SIDE.buy, SIDE.sell, SIDE.unknown]));
  });

  test('and that no row has, whatever they mean, stop the import with the words that are there and how often', async () => {
    const places = Object.entries(CASES).flatMap(([kind, of]) => Object.keys(of.words).map(key => ({ kind, key })));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...places),
        fc.constantFrom<(word: string) => string>(
          word => `${word}x`,
          word => ` ${word}`,
          word => word.replace('.0', '') + (word.endsWith('.0') ? '' : '.0'),
          word => (word === word.toLowerCase() ? `${word.toUpperCase()}_` : word.toLowerCase()),
        ),
        async ({ kind, key }, change) => {
          const of = CASES[kind]!;
          const { column, words } = of.words[key]!;
          const changed = imported(of, (name, own) => (name === key ? own.map(change) : own));
          const message = await changed.then(
            () => 'imported',
            (error: unknown) => String((error as Error).message),
          );
          expect(message).toContain("a.csv: none of the mapping's words for ");
          expect(message).toContain(key);
          expect(message).toContain(`column ${column} contains`);
          for (const word of words) expect(message).toMatch(new RegExp(`"${word.replace('.', '\\.')}" \\(\\d+\\)`));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('one of which is missing beside others that are there is told, and stops nothing', async () => {
    const tape = await imported(CASES['trades']!, (key, words) => (key === 'sell' ? ['3.0', 'Sell'] : words));
    expect(tape.flaws).toContainEqual(
      expect.objectContaining({
        what: 'words of the mapping that occur in no row',
        count: 1,
        done: expect.stringMatching(/^side\.sell: "Sell"; column s contains .*"S" \(\d+\)/) as string,
      }),
    );
  });

  test('are no mistake where the column holds nothing else: a day without sales is a day', async () => {
    const table = CASES['trades']!.table.replace('    where: { kind: [{where}] }\n', '');
    const words = { '{buy}': 'B', '{sell}': 'S', '{none}': 'N' };
    const stated = Object.entries(words).reduce((text, [key, word]) => text.replace(key, word), table);
    const { columns } = await read(`t,p,q,s\n${START},100,1,B\n`, stated);
    expect(columns.kind.includes(KIND.trade)).toBe(true);
  });
});

describe('a column that a mapping states', () => {
  const COLUMNS: readonly (readonly [string, string, string, string])[] = [
    ['trades', 'id', 't,p,q,i', 'price: p\n    amount: q\n    id: i'],
    ['trades', 'side', 't,p,q,i', 'price: p\n    amount: q\n    side: { column: i, buy: [b], sell: [s] }'],
    ['quotes', 'ask', 't,p,q,i', 'bid: p\n    ask: i'],
    ['books', 'bid', 't,p,q,i', 'levels: 1\n    packed: "|:"\n    bid: i\n    ask: p'],
    ['trades', 'time', 't,p,q,i', 'price: p\n    amount: q'],
  ];
  it.each(COLUMNS)('and that is empty in every row of %s stops the import: %s', async (kind, key, header, keys) => {
    const time = key === 'time' ? '[i, t]' : 't';
    const rows = Array.from({ length: 3 }, (_, i) => `${START + i},${kind === 'books' ? '101:1' : '100'},1,`);
    await expect(
      read([header, ...rows].join('\n'), `kind: ${kind}\n    time: { column: ${time}, unit: ms }\n    ${keys}`),
    ).rejects.toThrow(`a.csv: column i, which the mapping uses as ${key}, is empty in all 3 rows`);
  });
});
