/** Books that only earlier runs had continue as they were last recorded. */
import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { leftBooks, withLeftBooks } from '../../../src/app/run/leftBooks.ts';
import { booksOf, configOfBooks, loadConfig, type Config } from '../../../src/config.ts';
import { recorderIn } from '../../../src/live/recording/recordings.ts';
import { Folders } from '../../live/states.ts';

const folders = new Folders();
afterAll(() => folders.clear());

test('a left book has the sections of the newest run with it, and is continued only if all left books are found', () => {
  const loaded = loadConfig(readFileSync('config/desk.yaml', 'utf8'), 'my.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const [first, second, third] = booksOf(loaded.config);
  const dir = folders.fresh();
  const withMax = (ordersMax: number) => ({ ...second!, limits: { ...second!.limits, ordersMax } });
  const runs = [[first!, withMax(4)], [first!, withMax(6), third!], [first!]];
  for (const [i, books] of runs.entries())
    recorderIn(dir, {
      run: i + 1,
      startedAt: i,
      setup: JSON.stringify(configOfBooks(books)),
      format: 2,
    }).close();
  const left = (...symbols: string[]) =>
    leftBooks(
      first!,
      symbols.map(symbol => ({ symbol })),
      dir,
    ).map(({ book, limits }) => `${book} ${limits.ordersMax}`);
  expect(left(second!.book, second!.book)).toEqual([`${second!.book} 6`]);
  expect(left(second!.book, third!.book).length).toBe(2);
  expect(left(second!.book, 'sol_mxn')).toEqual([]);
  expect(left(first!.book)).toEqual([]);
});

test('a configuration gets the left books that it does not have, in their order; if they cannot be used with it, none', () => {
  const loaded = loadConfig(readFileSync('config/desk.yaml', 'utf8'), 'my.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const [first, second, third] = booksOf(loaded.config) as [Config, Config, Config];
  const shown = (config: Config, left: readonly Config[]) => {
    const all = withLeftBooks(config, left);
    return [booksOf(all.config), all.left].map(books => books.map(({ book }) => book));
  };
  const [btc, eth, usd] = [first.book, second.book, third.book];
  expect(shown(first, [second, third])).toEqual([
    [btc, eth, usd],
    [eth, usd],
  ]);
  expect(shown(configOfBooks([first, second]), [second, third])).toEqual([[btc, eth, usd], [usd]]);
  expect(shown(configOfBooks([second, first]), [first, second])).toEqual([[eth, btc], []]);
  // The embedded exchange does not have this book.
  expect(shown(first, [second, { ...third, book: 'sol_mxn' }])).toEqual([[btc], []]);
});
