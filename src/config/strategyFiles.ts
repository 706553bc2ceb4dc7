/**
 * Sections that select a strategy file. Only `withStrategyFile` adds the text of a file to a configuration, and only
 * for a reader that may run files; a `code` key in a YAML file is an error.
 */
import { parseDocument } from 'yaml';
import { z } from 'zod';
import {
  definitionIn,
  limitedCall,
  sectionSchema,
  oneLine,
  StrategyFileError,
  strategyFileOf,
  strategyIdentity,
  type StrategyCode,
  type StrategyFile,
} from '../../strategies/index.ts';
import { booksOf } from './books.ts';
import type { Problem } from './problems.ts';
import type { Config } from './schema.ts';
import type { StrategyConfig } from './sections/strategy.ts';

/** Access of a command to strategy files. */
export type StrategyFiles = {
  /** Returns the text of the file at a path as in the configuration, or throws an error with the reason. */
  readonly read: (file: string) => string;
  /**
   * Whether the code may be run. If not, the parameters are not checked, and a file that cannot be read is no error:
   * commands that stop or show a bot must not depend on the file.
   */
  readonly isRun: boolean;
  /**
   * Called before a file is run, with exactly the text that is run. Throws the error of the command if the file must
   * not run. Default: every file may run.
   */
  readonly assertMayRun?: (found: FoundStrategyFile) => void;
};

/** Strategy file that is about to run. */
export type FoundStrategyFile = {
  /** Path as in the configuration. */
  readonly file: string;
  /** File name with the first digits of the hash. */
  readonly name: string;
  /** SHA-256 (hex) of the text. */
  readonly sha256: string;
  /** Whether the configuration names this hash, so that the operator has approved this text. */
  readonly isPinned: boolean;
};

/** Parsed configuration with the section of its strategy file. */
export type WithStrategyFile = {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Schema of the section; `null` if a strategy of Puntas is selected, or the file is invalid. */
  readonly keys: z.ZodType<StrategyConfig> | null;
};

type Tree = Readonly<Record<string, unknown>>;
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Keys that only a reader adds to a section with a strategy file. */
const ADDED = ['code', 'tolerance'] as const;

/** Section of a file that is not run: its parameters are whatever the configuration has. */
const unreadSection = z.looseObject({ name: z.string(), file: z.string(), sha256: z.string().optional() });

/** Whether a parsed configuration selects a strategy file. */
export const selectsFile = (value: unknown): boolean =>
  isTree(value) && isTree(value['strategy']) && Object.hasOwn(value['strategy'], 'file');

/** Adds a strategy file to a parsed configuration. Configurations without a strategy file are returned unchanged. */
export function withStrategyFile(value: unknown, { read, isRun, assertMayRun }: StrategyFiles): WithStrategyFile {
  if (!selectsFile(value)) return { value, problems: [], keys: null };
  const { strategy: section } = value as { readonly strategy: Tree };
  const problem = (key: string, message: string): WithStrategyFile => ({
    value,
    problems: [{ path: ['strategy', key], message }],
    keys: null,
  });
  const { name, file, sha256: expected, ...parameters } = section;
  if (name !== undefined) return problem('name', 'a strategy has a name or a file; remove one of these two keys');
  for (const key of ADDED) if (Object.hasOwn(section, key)) return problem(key, 'unknown key; remove it');
  if (typeof file !== 'string' || file === '') return problem('file', 'expected a path like "./my-strategy.ts"');
  if (expected !== undefined && !(typeof expected === 'string' && /^[0-9a-f]{64}$/.test(expected)))
    return problem('sha256', 'expected 64 hexadecimal digits, the SHA-256 of the file');
  const filled = (own: object): Tree => ({ ...(value as Tree), strategy: { ...parameters, ...own } });
  if (!isRun) {
    const own = strategyIdentity(
      file,
      readOrNull(() => read(file)),
    );
    const keys = unreadSection as unknown as z.ZodType<StrategyConfig>;
    return { value: filled(own), problems: [], keys };
  }
  let own: StrategyCode & { readonly sha256: string };
  try {
    own = strategyFileOf(file, read(file));
  } catch (error) {
    return problem('file', `${file}: ${oneLine(error)}`);
  }
  const isPinned = expected !== undefined;
  if (!isPinned || own.sha256 === expected) assertMayRun?.({ file, name: own.name, sha256: own.sha256, isPinned });
  try {
    if (expected !== undefined && own.sha256 !== expected)
      return problem(
        'sha256',
        `expected the SHA-256 ${expected}, found ${own.sha256}: ${file} is not the approved text; restore the file, or change this key`,
      );
    const definition = limitedCall('the load', () => definitionIn(own));
    const keys = sectionSchema(definition);
    // The check runs code of the file; an error of this code must not end the command without the name of the file.
    const tolerance = limitedCall('parameters, tolerance, warmup or history', () => {
      const checked = keys.safeParse({ ...parameters, ...own });
      return checked.success ? { tolerance: definition.tolerance(checked.data) } : {};
    });
    return {
      value: filled({ ...own, ...tolerance }),
      problems: [],
      keys: keys as unknown as z.ZodType<StrategyConfig>,
    };
  } catch (error) {
    return problem('file', error instanceof StrategyFileError ? error.message : `${file}: ${oneLine(error)}`);
  }
}

function readOrNull(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/**
 * Returns an access that reads each file once and asks about each text once, so that books with the same file get the
 * same text.
 */
export function filesReadOnce({ read, isRun, assertMayRun }: StrategyFiles): StrategyFiles {
  const texts = new Map<string, string>();
  const asked = new Set<string>();
  return {
    isRun,
    read: file => {
      const text = texts.get(file) ?? read(file);
      texts.set(file, text);
      return text;
    },
    assertMayRun: found => {
      const key = JSON.stringify(found);
      if (!asked.has(key)) assertMayRun?.(found);
      asked.add(key);
    },
  };
}

/** Returns the configurations of the books that have a strategy file, in their order. */
export const withFileIn = (config: Config): readonly BookWithFile[] =>
  booksOf(config).flatMap(one => ('file' in one.strategy ? [{ ...one, strategy: one.strategy }] : []));

/** Configuration of a book that has a strategy file. */
export type BookWithFile = Config & { readonly strategy: StrategyFile };

/** Whether a section has the text of a strategy file. */
export const hasCode = (section: unknown): section is StrategyCode =>
  isTree(section) && typeof section['code'] === 'string';

/** Returns the schema of a section to which a reader added the text of its file. */
export const strategySchema = (section: StrategyCode): z.ZodType<StrategyConfig> =>
  sectionSchema(definitionIn(section)) as unknown as z.ZodType<StrategyConfig>;

/** Returns a configuration as an operator writes it: without the keys that a reader adds. */
export const withoutStrategyText = <T extends Tree>(tree: T): T =>
  withFileSections(tree, ({ name: _, sha256: __, code: ___, tolerance: ____, ...written }) => written);

/** Returns a configuration without the texts of its strategy files. */
export const withoutCode = <T extends Tree>(tree: T): T => withFileSections(tree, ({ code: _, ...section }) => section);

/** Returns a configuration whose sections of strategy files, also those of its books, are changed by `change`. */
function withFileSections<T extends Tree>(tree: T, change: (section: Tree) => Tree): T {
  const { strategy: section, books } = tree;
  const isFile = isTree(section) && Object.hasOwn(section, 'file');
  return {
    ...tree,
    ...(isFile && { strategy: change(section) }),
    ...(Array.isArray(books) && {
      books: books.map((entry: unknown) => (isTree(entry) ? withFileSections(entry, change) : entry)),
    }),
  };
}

/** Returns the text of the strategy file of a configuration, checked or as parsed; `undefined` if it has none. */
export const strategyTextIn = ({ strategy }: { readonly strategy?: unknown }): string | undefined =>
  hasCode(strategy) ? strategy.code : undefined;

/** Returns the key `strategy.sha256` in the text of a configuration; `null` if it is absent or is not text. */
export function strategyPinIn(text: string, entry = 0): string | null {
  const tree = parseDocument(text, { uniqueKeys: false });
  const own = ['books', entry, 'strategy'];
  const pin: unknown = tree.getIn([...(tree.hasIn(own) ? own : ['strategy']), 'sha256']);
  return typeof pin === 'string' ? pin : null;
}

/** Returns the different SHA-256 (hex) of the strategy files of all books, in their order. */
export const strategyHashesIn = (config: Config): readonly string[] => [
  ...new Set(booksOf(config).flatMap(one => strategyHashIn(one) ?? [])),
];

/** Returns the SHA-256 (hex) of the strategy file of a configuration; `undefined` if it has none or is unread. */
export function strategyHashIn({ strategy }: { readonly strategy?: unknown }): string | undefined {
  const hash = isTree(strategy) ? strategy['sha256'] : undefined;
  return typeof hash === 'string' ? hash : undefined;
}
