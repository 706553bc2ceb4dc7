/** Differences between two checked configurations, by key, and when a running bot applies each. */
import { booksOf } from './books.ts';
import { configSchema, PER_BOOK, type Config } from './schema.ts';
import { takesEffectIn, type TakesEffect } from './sections/takesEffect.ts';

export type ConfigChange = {
  /** Dotted path, like `strategy.halfSpreadBps`. */
  readonly key: string;
  /** Value as JSON; `null` if absent. */
  readonly from: string | null;
  readonly to: string | null;
  readonly takesEffect: TakesEffect;
};

/** Whether a change can affect trading: the bot applies it at a reload or a restart. */
export const isTradingChange = ({ takesEffect }: Pick<ConfigChange, 'takesEffect'>): boolean =>
  takesEffect === 'reload' || takesEffect === 'restart';

/**
 * Returns the differences in the key order of `from`, then the differences in keys that only `to` has. A list counts as
 * one value. If one of both has several books, keys of a book are reported as `books.<symbol>.<key>`, and a book that
 * only one of both has as `books.<symbol>`.
 */
export function configChanges(from: Config, to: Config): readonly ConfigChange[] {
  const effect = (effectOfKeys ??= takesEffectIn(configSchema));
  if (from.books === undefined && to.books === undefined) return changesOf(from, to, effect);
  return [...listChanges(booksOf(from), booksOf(to), effect), ...changesOf(sharedOf(from), sharedOf(to), effect)];
}

/** Returns the symbol of the book that a change adds or removes; `null` for every other change. */
export function changedBook({
  key,
  from,
  to,
}: ConfigChange): { readonly book: string; readonly isAdded: boolean } | null {
  const [first, book, ...more] = key.split('.');
  if (first !== 'books' || book === undefined || more.length > 0 || (from ?? to) !== QUOTED) return null;
  return { book, isAdded: from === null };
}

type EffectOf = ReturnType<typeof takesEffectIn>;

/** Kept from the first comparison on, because reading the whole schema is slow. */
let effectOfKeys: EffectOf | null = null;

/** Value (JSON) of a book that is in the list. */
const QUOTED = JSON.stringify('quoted');

/** Returns the differences between two lists of books: first those of the list, then those of the books in both. */
function listChanges(from: readonly Config[], to: readonly Config[], effect: EffectOf): readonly ConfigChange[] {
  const [before, after] = [from.map(({ book }) => book), to.map(({ book }) => book)];
  const kept = before.filter(symbol => after.includes(symbol));
  const order = after.filter(symbol => before.includes(symbol));
  const change = (key: string, was: unknown, is: unknown, takesEffect: TakesEffect): ConfigChange => ({
    key,
    ...{ from: was === null ? null : JSON.stringify(was), to: is === null ? null : JSON.stringify(is), takesEffect },
  });
  return [
    // The state directory is bound to the first book.
    ...(before[0] === after[0] ? [] : [change('book', before[0], after[0], 'restart')]),
    ...(kept.join() === order.join() ? [] : [change('books', kept, order, 'reload')]),
    ...before.filter(symbol => !kept.includes(symbol)).map(book => change(`books.${book}`, 'quoted', null, 'reload')),
    ...after.filter(symbol => !kept.includes(symbol)).map(book => change(`books.${book}`, null, 'quoted', 'reload')),
    ...kept.flatMap(symbol => {
      const [was, is] = [from, to].map(configs => sectionsOf(configs.find(({ book }) => book === symbol)!));
      return changesOf(was!, is!, effect).map(each => ({ ...each, key: `books.${symbol}.${each.key}` }));
    }),
  ];
}

const isPerBook = (key: string): boolean => (PER_BOOK as readonly string[]).includes(key);

/** Returns the sections of one book. */
const sectionsOf = (config: Config): Partial<Config> =>
  Object.fromEntries(Object.entries(config).filter(([key]) => isPerBook(key)));

/** Returns the sections that all books share. */
function sharedOf({ book: _book, books: _books, ...config }: Config): Partial<Config> {
  return Object.fromEntries(Object.entries(config).filter(([key]) => !isPerBook(key)));
}

function changesOf(from: Partial<Config>, to: Partial<Config>, effect: EffectOf): readonly ConfigChange[] {
  const [before, after] = [leavesOf(from), leavesOf(to)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap(key => {
    // The text of a strategy file is long, and its hash is part of strategy.name.
    if (key === 'strategy.code' || key === 'strategy.sha256') return [];
    const [was, is] = [before.get(key) ?? null, after.get(key) ?? null];
    if (was === is || hasNestedKeys(key, before) || hasNestedKeys(key, after)) return [];
    return [{ key, from: was, to: is, takesEffect: effect(key.split('.')) }];
  });
}

/**
 * Whether a key is absent from this configuration, but keys below it are present. Only the nested keys are then
 * reported.
 */
const hasNestedKeys = (key: string, leaves: ReadonlyMap<string, string>): boolean =>
  !leaves.has(key) && [...leaves.keys()].some(each => each.startsWith(`${key}.`));

/** Returns the values of a configuration as JSON, by path. */
export function leavesOf(value: unknown, path = ''): ReadonlyMap<string, string> {
  const isTree = typeof value === 'object' && value !== null && !Array.isArray(value);
  const keys = isTree ? Object.entries(value).filter(([, each]) => each !== undefined) : [];
  // An empty section counts as a value, so that adding or removing an empty section is a difference.
  if (keys.length === 0) return new Map(value === undefined ? [] : [[path, JSON.stringify(value)]]);
  return new Map(keys.flatMap(([key, each]) => [...leavesOf(each, path === '' ? key : `${path}.${key}`)]));
}
