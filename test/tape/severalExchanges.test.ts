/** One folder with the same book of several exchanges: the path of a mapping file picks one. Last prices need no amount. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { booksIn, KIND, openTape } from '../../src/tape/index.ts';
import { withFolder } from './folder.ts';

const mapping = (name: string): string => `book: btc_jpy
tick: 0.5
tables:
  - files: last.csv
    where: { exchange: ${name} }
    kind: trades
    time: { column: date, zone: '+09:00' }
    price: last
`;
const FILES = {
  'last.csv': [
    'date,exchange,last',
    '2018-08-12 00:00:19,large,681008.0',
    '2018-08-12 00:00:20,small,681475.5',
    '2018-08-12 00:00:31,large,681047.0',
  ].join('\n'),
  'large.mapping.yaml': mapping('large'),
  'small.mapping.yaml': mapping('small'),
};

test('each exchange of a folder is opened by its mapping file', async () => {
  await withFolder(FILES, async dir => {
    const rows = async (name: string) => {
      const { columns, instrument, depth, quotesOnly } = await openTape(join(dir, `${name}.mapping.yaml`));
      expect([instrument.symbol, depth, quotesOnly]).toEqual(['btc_jpy', 0, true]);
      return Array.from({ length: columns.length }, (_, i) => [columns.kind[i], columns.price[i], columns.amount[i]]);
    };
    expect(await rows('large')).toEqual([
      [KIND.trade, 1_362_016, 1],
      [KIND.trade, 1_362_094, 1],
    ]);
    expect(await rows('small')).toEqual([[KIND.trade, 1_362_951, 1]]);
    expect(await booksIn(join(dir, 'small.mapping.yaml'))).toEqual(['btc_jpy']);
  });
});

test('a mapping file that is not there, or is none, is one line', async () => {
  await withFolder({ 'a.mapping.yaml': 'book: 1' }, async dir => {
    await expect(openTape(join(dir, 'b.mapping.yaml'))).rejects.toThrow(
      /^[^\n]*b\.mapping\.yaml: no such file; pass a mapping file with --mapping$/,
    );
    await expect(openTape(join(dir, 'a.mapping.yaml'))).rejects.toThrow(/^[^\n]*a\.mapping\.yaml:1: book: [^\n]*$/);
  });
});
