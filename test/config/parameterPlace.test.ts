/** Place of a parameter in a file of several books: a change there changes the named books, and nothing else. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import {
  booksOf,
  changedYaml,
  configChanges,
  isKeyOfBook,
  listedParameters,
  loadConfig,
  parameterPlace,
  parameterText,
  typedParameter,
  type Config,
} from '../../src/config.ts';
import { shippedConfig } from '../../src/wiring/configFile.ts';
import { runsOf } from '../many.ts';

type Tree = Record<string, unknown>;
type Entry = { readonly symbol: string } & Tree;

const text = readFileSync(shippedConfig('desk'), 'utf8');
const tree = parse(text) as Tree & { readonly books: readonly Entry[] };
const SYMBOLS = tree.books.map(({ symbol }) => symbol);

function configOf(of: string): Config {
  const loaded = loadConfig(of, 'my.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
}

/** The desk in which each book has its own sections as told. */
function deskWith(owns: readonly (readonly boolean[])[]): string {
  const sections = ['strategy', 'limits', 'halts'];
  const values: Tree = { ...tree, halts: { fillsPer10Min: 100 } };
  const books = tree.books.map(({ symbol, inventory }, i) => ({
    symbol,
    ...(inventory !== undefined && { inventory }),
    ...Object.fromEntries(sections.filter((_, s) => owns[i]![s]!).map(section => [section, values[section]])),
  }));
  return `# a comment\n${stringify({ ...values, books }, { aliasDuplicateObjects: false })}`;
}

const anyDesk = fc
  .array(fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()), { minLength: 3, maxLength: 3 })
  .map(owns => ({ owns, text: deskWith(owns) }));

/** Another value of a key, which the schema accepts. */
const otherValue = (of: string): string => (Number(of) === 1 ? '2' : String(Number(of) / 2));

describe('the place of a parameter', () => {
  test('of a book is its own section or that of the file, and only the books of that section change', () => {
    fc.assert(
      fc.property(
        anyDesk,
        fc.constantFrom(...SYMBOLS),
        fc.constantFrom('strategy.halfSpreadBps', 'strategy.amount', 'limits.positionMax', 'halts.fillsPer10Min'),
        ({ owns, text: file }, book, key) => {
          const config = configOf(file);
          const place = parameterPlace(config, file, key, book);
          if (typeof place === 'string') throw new Error(place);
          const section = ['strategy', 'limits', 'halts'].indexOf(key.split('.')[0]!);
          const hasOwn = owns[SYMBOLS.indexOf(book)]![section]!;
          const sharing = SYMBOLS.filter((_, i) => !owns[i]![section]!);
          expect(place.books).toEqual(hasOwn ? [book] : sharing);
          const before = booksOf(config).find(one => one.book === book)!;
          const value = typedParameter(before, key, otherValue(parameterText(before, key)!));
          const changed = changedYaml(file, place.path, value);
          if (!changed.ok) throw new Error(changed.problem);
          const after = configOf(changed.text);
          expect(configChanges(config, after).map(each => each.key)).toEqual(place.keys);
          for (const one of booksOf(after)) {
            const was = booksOf(config).find(each => each.book === one.book)!;
            const isChanged = place.books.includes(one.book);
            expect(parameterText(one, key)).toBe(isChanged ? String(value) : parameterText(was, key));
          }
          // Only one line differs, and the comment stays.
          const [old, now] = [file.split('\n'), changed.text.split('\n')];
          expect(now.filter((line, i) => line !== old[i])).toHaveLength(1);
          expect(now[0]).toBe('# a comment');
        },
      ),
      runsOf(200, 12),
    );
  });

  test('is asked for with a book exactly where books can differ', () => {
    const config = configOf(text);
    for (const one of booksOf(config))
      for (const { key } of listedParameters(one)) {
        const [of, without] = [one.book, undefined].map(book => typeof parameterPlace(config, text, key, book));
        expect([key, of, without]).toEqual(isKeyOfBook(key) ? [key, 'object', 'string'] : [key, 'string', 'object']);
      }
    expect(parameterPlace(config, text, 'limits.positionMax', undefined)).toBe(
      'limits.positionMax: each book can have its own; choose one of btc_mxn, eth_mxn, btc_usd',
    );
    expect(parameterPlace(config, text, 'log.level', 'btc_mxn')).toBe(
      'log.level: all books share this key; choose no book',
    );
    expect(parameterPlace(config, text, 'log.level', 'xrp_mxn')).toContain('expected a book of this bot (btc_mxn');
  });

  test('of the only book is found with and without its name, in books or in the file', () => {
    const { books: _, ...file } = tree;
    const shared = stringify({ ...file, books: [{ symbol: 'btc_mxn' }] });
    const own = stringify({ ...file, books: [tree.books[1]] });
    for (const [of, book, path] of [
      [shared, 'btc_mxn', ['limits', 'positionMax']],
      [own, 'eth_mxn', ['books', '0', 'limits', 'positionMax']],
    ] as const)
      for (const named of [book, undefined])
        expect(parameterPlace(configOf(of), of, 'limits.positionMax', named)).toEqual({
          ...{ path, books: [book], keys: ['limits.positionMax'] },
        });
  });
});
