/** Recordings as people have them: marks, line ends and delimiters of other programs are read; what cannot be is told in one line: what was expected, what was found, where. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openTape } from '../../src/tape/index.ts';
import { withFolder } from './folder.ts';

const START = 1_757_000_000_000;
const HEADS = {
  books: 'timestamp,sequence,exchange_timestamp,bid_price_0,bid_size_0,ask_price_0,ask_size_0',
  trades: 'timestamp,price,size,side,trade_id,exchange_timestamp',
};
const book = (second: number) => `${START / 1000},1,${START + second * 1_000},200.0,3.0,201.0,2.5`;
const trade = (second: number, id: number) => `${START / 1000},201.0,0.5,buy,${id},${START + second * 1_000 + 1}`;
const BOOKS = [HEADS.books, ...[0, 1, 2].map(book)];
const TRADES = [HEADS.trades, trade(0, 1), trade(1, 2)];
const venue = (books: string, trades = TRADES.join('\n')) => ({
  'orderbooks_BTC.csv': books,
  'trades_BTC.csv': trades,
});

const mapping = (more = '', time = '{ column: t, unit: ms }') => `book: btc_usd
tick: 0.5
tables:
  - files: q.csv*
    kind: quotes
    time: ${time}
    bid: b
    bidAmount: bs
    ask: a
    askAmount: as
${more}`;
const quotes = (rows: readonly string[], head = 't,b,bs,a,as') => [head, ...rows].join('\n');
const ROWS = [`${START},10,1,11,2`, `${START + 500},10.5,1,11.5,2`];
const mapped = (csv: string, text = mapping()) => ({ 'q.csv': csv, 'mapping.yaml': text });

const rowsOf = async (files: Readonly<Record<string, string>>) =>
  withFolder(files, async dir => {
    const { columns } = await openTape(dir);
    return Array.from({ length: columns.length }, (_, i) => [
      columns.kind[i],
      columns.side[i],
      columns.at[i],
      columns.price[i],
      columns.amount[i],
    ]);
  });

describe('the same rows come from', () => {
  it.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>]>([
    ['a file with the mark of UTF-8', venue(`\ufeff${BOOKS.join('\n')}`), venue(BOOKS.join('\n'))],
    [
      "the line ends of Windows, and one at the file's end",
      venue(`${BOOKS.join('\r\n')}\r\n`),
      venue(BOOKS.join('\n')),
    ],
    [
      'trades that stand twice',
      venue(BOOKS.join('\n'), [...TRADES, ...TRADES.slice(1)].join('\n')),
      venue(BOOKS.join('\n')),
    ],
    [
      'a table with all of that, quoted headers and cells',
      mapped(
        `\ufeff"t","b","bs","a","as"\r\n${ROWS.map(row =>
          row
            .split(',')
            .map(cell => `"${cell}"`)
            .join(),
        ).join('\r\n')}\r\n`,
      ),
      mapped(quotes(ROWS)),
    ],
    [
      'semicolons, said in the mapping',
      mapped(quotes(ROWS).replaceAll(',', ';'), mapping('    delimiter: ";"\n')),
      mapped(quotes(ROWS)),
    ],
    [
      'times as text with a zone',
      mapped(
        quotes(ROWS.map((row, i) => row.replace(/^\d+/, `2025-09-04T17:33:20${i === 0 ? '' : '.500'}+02:00`))),
        mapping('', 't'),
      ),
      mapped(quotes(ROWS)),
    ],
    [
      'rows out of order, with sort',
      mapped(quotes([...ROWS].reverse()), mapping('    sort: 5\n')),
      mapped(quotes(ROWS)),
    ],
  ])('%s', async (_, files, clean) => {
    const rows = await rowsOf(files);
    expect(rows.length).toBeGreaterThan(5);
    expect(rows).toEqual(await rowsOf(clean));
  });
});

const diff = (symbol: string, id: number) =>
  JSON.stringify({
    e: 'depthUpdate',
    E: START + id,
    s: symbol,
    U: id,
    u: id,
    b: [['10.00', '1']],
    a: [['11.00', '1']],
  });
const SNAPSHOT = JSON.stringify({ lastUpdateId: 1, bids: [['10.00', '1']], asks: [['11.00', '1']] });

describe('one line says what is wrong with', () => {
  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    [
      'a folder of something else',
      { 'a.txt': 'x', 'b.txt': 'x', 'c.txt': 'x' },
      /no known recording format; known formats: .*; found a\.txt, b\.txt, 1 more$/,
    ],
    ['an empty folder', {}, /no known recording format; .*; found nothing$/],
    [
      'books without their trades',
      { 'orderbooks_BTC.csv': BOOKS.join('\n') },
      /orderbooks_BTC\.csv: expected the file trades_BTC\.csv in the same folder, found none$/,
    ],
    [
      'a file under the name of another format',
      venue(quotes(ROWS)),
      /orderbooks_BTC\.csv: line 1: expected a header that begins with timestamp,sequence.*, found "t,b,bs,a,as"$/,
    ],
    [
      'quoted headers of a known format',
      venue(BOOKS.join('\n'), `"timestamp","price"\n1,2`),
      /trades_BTC\.csv: line 1: expected the header timestamp,price,.*, found .*timestamp/,
    ],
    [
      'semicolons of a known format',
      venue(BOOKS.join('\n').replaceAll(',', ';')),
      /orderbooks_BTC\.csv: line 1: expected a header .*, found "timestamp;sequence/,
    ],
    [
      'semicolons that the mapping does not say',
      mapped(quotes(ROWS).replaceAll(',', ';')),
      /q\.csv: no column t; the file has t;b;bs;a;as: is the delimiter ";"\?$/,
    ],
    [
      'another decimal point',
      mapped(quotes(ROWS).replaceAll(',', ';').replace('10.5', '10,5'), mapping('    delimiter: ";"\n')),
      /q\.csv: line 3: .*10,5/,
    ],
    [
      'times as text without a zone',
      mapped(quotes(ROWS.map(row => row.replace(/^\d+/, '2025-09-04 17:33:20'))), mapping('', 't')),
      /q\.csv: line 2: expected a time with a time zone, found "2025-09-04 17:33:20"/,
    ],
    [
      'times as text where numbers are said',
      mapped(quotes(ROWS.map(row => row.replace(/^\d+/, '2025-09-04T17:33:20Z')))),
      /q\.csv: line 2: expected a time in the years 2000 to 2099, as a number in ms, found "2025-09-04T17:33:20Z"/,
    ],
    [
      'rows that are not sorted',
      mapped(quotes([`${START + 90_000},10,1,11,2`, ...ROWS])),
      /q\.csv: line 3: the row is 90\.0 s earlier than a previous row; sort the rows by exchange time first/,
    ],
    [
      'two symbols in one file',
      { 'spot_btcusdt_1.jsonl': [SNAPSHOT, diff('BTCUSDT', 2), diff('ETHUSDT', 3)].join('\n') },
      /spot_btcusdt_1\.jsonl: line 3: expected messages of BTCUSDT, found "ETHUSDT"; use one file per symbol$/,
    ],
    ['a mapping that is no YAML', mapped(quotes(ROWS), 'book: [\n'), /mapping\.yaml: /],
    ['headers alone', mapped(quotes([])), /: the recording contains no order book$/],
    ['a file of nothing', mapped(''), /q\.csv: the file is empty; expected a header with t, b, a, bs, as$/],
    [
      'prices that are none',
      mapped(quotes(['x', 'y'].map((word, i) => `${START + i},${word},1,11,2`))),
      /q\.csv: line 2: .*x/,
    ],
  ])('%s', async (_, files, message) => {
    await withFolder(files, async dir => {
      const said = await openTape(dir).then(
        () => 'nothing',
        (error: unknown) => (error as Error).message,
      );
      expect(said).toMatch(message);
      expect(said).toContain(dir);
      expect(said).not.toContain('\n');
    });
  });

  it.each(['known', 'mapped'])('a file that was half downloaded: %s', async kind => {
    const many = Array.from({ length: 5_000 }, (_, i) =>
      kind === 'known' ? book(i) : `${START + i * 500},${10 + (i % 7)},${i % 13},${30 + (i % 5)},2`,
    );
    const [name, text] =
      kind === 'known' ? ['orderbooks_BTC.csv.gz', [HEADS.books, ...many].join('\n')] : ['q.csv.gz', quotes(many)];
    await withFolder(
      { 'trades_BTC.csv.gz': TRADES.join('\n'), ...(kind === 'mapped' && { 'mapping.yaml': mapping() }) },
      async dir => {
        const whole = gzipSync(text);
        writeFileSync(join(dir, name), whole.subarray(0, whole.length / 2));
        await expect(openTape(dir)).rejects.toThrow(new RegExp(`${name}: the compressed file is incomplete$`));
        writeFileSync(join(dir, name), text);
        await expect(openTape(dir)).rejects.toThrow(
          new RegExp(`${name}: the compressed file is damaged \\(incorrect header check\\)$`),
        );
      },
    );
  });
});
