/**
 * Loader of strategy files: turns the text of a file into the definition of a strategy. The text is TypeScript or
 * JavaScript, imports only `puntas/strategy`, and runs with the rights of this process.
 */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import { Script } from 'node:vm';
import { parse } from 'es-module-lexer/js';
import { z } from 'zod';
import type { RequoteTolerance, Strategy } from '../src/core/index.ts';
import * as contract from './contract.ts';
import { CONTRACT, WARMUP_MAX_MS, type OwnDefinition } from './contract.ts';
import { assertNoPromise, errorPlace, oneLine, StrategyFileError } from './fileErrors.ts';
import { levelProblems, toleranceOf } from './parameters.ts';

/**
 * Part of a `strategy` section that selects a file. The other keys of the section are the parameters of the strategy.
 */
export type StrategyFile = {
  /** Name in reports: the file name, `@`, and the first 12 digits of `sha256`, or `unread` if the text is unknown. */
  readonly name: `${string}@${string}`;
  /** Path as in the configuration. */
  readonly file: string;
  /** SHA-256 (hex) of the text; absent if the text is unknown. */
  readonly sha256?: string;
  /**
   * Text of the file. Only the reader of a configuration adds this key, and only if the command may run the file; in a
   * YAML file, the key is an error. Absent in recorded configurations, and in commands that do not trade.
   */
  readonly code?: string;
  /** Result of the function `tolerance` of the file, so that a replay needs no code. */
  readonly tolerance?: RequoteTolerance;
  /** Folder of a tape with the public trades from before a run; absent if there is none. */
  readonly historyTape?: string;
};

/** Section whose file may be run. */
export type StrategyCode = StrategyFile & { readonly code: string };

/** Maximum length of a strategy file, in characters. */
export const STRATEGY_FILE_MAX = 65_536;

/** Returns the keys of a section that identify a file with this text. `text` is `null` if it is unknown. */
export function strategyIdentity(file: string, text: string | null): Pick<StrategyFile, 'name' | 'file' | 'sha256'> {
  if (text === null) return { name: `${baseOf(file)}@unread`, file };
  const { code: _, ...identity } = strategyFileOf(file, text);
  return identity;
}

/** Returns the section that runs a file with this text. */
export function strategyFileOf(file: string, code: string): StrategyCode & { readonly sha256: string } {
  const sha256 = createHash('sha256').update(code).digest('hex');
  return { name: `${baseOf(file)}@${sha256.slice(0, 12)}`, file, sha256, code };
}

const baseOf = (file: string): string => file.split(/[\\/]/).at(-1) ?? file;

/** Keys that every section with a file has; parameters must have other names. */
const RESERVED = ['name', 'file', 'sha256', 'code', 'tolerance', 'historyTape'] as const;

/** Maximum number of definitions in the cache; the least recently used one is dropped first. */
const REMEMBERED_MAX = 16;
const remembered = new Map<string, FileDefinition>();

/** Definition in a strategy file, with defaults for the functions that the file omits. */
export type FileDefinition = OwnDefinition &
  Required<Pick<OwnDefinition, 'edgeProblem' | 'limitProblems' | 'tolerance' | 'warmup' | 'history'>>;

/**
 * Returns the definition in a strategy file.
 * @throws StrategyFileError if the text is not a strategy of this contract.
 */
export function definitionIn({ file, code }: Pick<StrategyCode, 'file' | 'code'>): FileDefinition {
  const key = `${file}\n${code}`;
  const known = remembered.get(key);
  if (known !== undefined) {
    remembered.delete(key);
    remembered.set(key, known);
    return known;
  }
  const evaluate = compiled(file, code);
  const first = definitionOf(file, evaluate());
  const {
    edgeProblem = () => null,
    limitProblems = (p, limits) => levelProblems({ ...LEVELS, ...p }, limits),
    warmup = () => 0,
    history = () => 0,
    tolerance = p => toleranceOf({ ...LEVELS, ...p }),
  } = first;
  const definition: FileDefinition = {
    ...first,
    edgeProblem: (p, makerRate) => assertNoPromise('edgeProblem', edgeProblem(p, makerRate)),
    limitProblems: (p, limits, book) => assertNoPromise('limitProblems', limitProblems(p, limits, book)),
    warmup: p => assertNoPromise('warmup', warmup(p)),
    history: p => assertNoPromise('history', history(p)),
    tolerance: p => assertNoPromise('tolerance', tolerance(p)),
    // Evaluates the file again for each strategy, so that runs in one process do not share variables of the file.
    make: (parameters, instrument) =>
      withoutPromises(assertNoPromise('make', definitionOf(file, evaluate()).make(parameters, instrument))),
  };
  const [oldest] = remembered.keys();
  if (oldest !== undefined && remembered.size >= REMEMBERED_MAX) remembered.delete(oldest);
  remembered.set(key, definition);
  return definition;
}

/**
 * Returns a strategy that throws instead of returning a promise. A value that is not a strategy is returned unchanged.
 */
function withoutPromises(made: Strategy): Strategy {
  if (typeof (made as Strategy | undefined)?.quote !== 'function') return made;
  return {
    quote: view => assertNoPromise('quote', made.quote(view)),
    ...(made.trade !== undefined && { trade: trade => assertNoPromise('trade', made.trade?.(trade)) }),
  };
}

/** Defaults of common parameters that a file may not have. */
const LEVELS = { amount: '0', levels: 1, refreshToleranceBps: 2, maxOrderAgeMs: 1_800_000 };

/** Metadata of the keys that a reader adds to a section; a YAML file cannot have these keys. */
const ADDED = { isAddedByReader: true };

/** Returns the schema of a section that selects this file. */
export const sectionSchema = ({ parameters, tolerance, warmup, history }: FileDefinition): z.ZodObject =>
  parameters
    .strict()
    .safeExtend({
      ...{ file: z.string(), historyTape: z.string().min(1).optional(), sha256: z.string() },
      ...{ name: z.string().meta(ADDED), code: z.string().meta(ADDED) },
      tolerance: z
        .strictObject({ priceBps: z.number(), amountShare: z.number(), maxAgeMs: z.number() })
        .readonly()
        .optional()
        .meta(ADDED),
    })
    .superRefine((section, context) => {
      const wrong = (message: string) => context.addIssue({ code: 'custom', path: ['file'], message });
      if (!survivesJson(section))
        wrong('expected a file whose parameters are JSON values after the check, without transformations');
      const { priceBps, amountShare, maxAgeMs } = tolerance(section);
      if (!(priceBps >= 0 && amountShare >= 0 && maxAgeMs >= 0))
        wrong(
          'expected a file whose function tolerance returns priceBps, amountShare and maxAgeMs, numbers of at least 0',
        );
      for (const [key, ms] of [
        ['warmup', warmup(section)],
        ['history', history(section)],
      ] as const)
        if (!(ms >= 0 && ms <= WARMUP_MAX_MS))
          wrong(`expected a file whose function ${key} returns 0 to ${WARMUP_MAX_MS} ms`);
      if (section['historyTape'] !== undefined && !(history(section) > 0))
        context.addIssue({
          ...{ code: 'custom', path: ['historyTape'] },
          message: 'expected no tape, because the strategy file needs no history',
        });
    });

function survivesJson(value: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value);
  } catch {
    return false;
  }
}

function definitionOf(file: string, found: unknown): OwnDefinition {
  const fail = (expected: string, was: unknown, remedy: string) =>
    new StrategyFileError(`${file}: ${expected}, found ${foundText(was)}; ${remedy}`);
  const write = 'write export default defineStrategy({ … })';
  if (typeof found !== 'object' || found === null)
    throw fail('expected a strategy as the default export', found, write);
  const { contract, parameters, make, ...rest } = found as Readonly<Record<string, unknown>>;
  if (contract !== CONTRACT)
    throw fail(`expected contract: ${CONTRACT}`, contract, `this Puntas runs strategies of contract ${CONTRACT} only`);
  if (!(parameters instanceof z.ZodObject))
    throw fail(
      'parameters: expected a zod object',
      parameters,
      'write z.strictObject({ … }) with z from puntas/strategy',
    );
  const { shape } = parameters;
  const reserved = RESERVED.find(key => key in shape);
  if (reserved !== undefined)
    throw new StrategyFileError(
      `${file}: parameters: ${reserved} is a reserved key of strategy files; rename the parameter`,
    );
  if (!('amount' in shape))
    throw fail('parameters: expected the key amount', Object.keys(shape).join(', '), 'add amount: aboveZero');
  if (typeof make !== 'function')
    throw fail('make: expected a function', make, 'write a function that returns a strategy with quote(view)');
  for (const key of ['edgeProblem', 'limitProblems', 'tolerance', 'warmup', 'history'] as const)
    if (rest[key] !== undefined && typeof rest[key] !== 'function')
      throw fail(`${key}: expected a function`, rest[key], 'correct or remove it');
  return found as OwnDefinition;
}

/** Returns a value as short text for an error line. */
function foundText(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'function') return 'a function';
  const text = typeof value === 'object' ? 'another object' : JSON.stringify(value);
  return value === null ? 'null' : text.slice(0, 60);
}

/** Returns a function that evaluates the file and returns its default export. */
function compiled(file: string, code: string): () => unknown {
  if (!(code.length <= STRATEGY_FILE_MAX))
    throw new StrategyFileError(
      `${file}: expected at most ${STRATEGY_FILE_MAX} characters, found ${code.length}; shorten the file`,
    );
  const body = withoutModules(file, withoutTypes(file, code));
  let script: Script;
  try {
    // The inner block lets the file declare variables with the names of the function's parameters.
    const text = `(function (puntasStrategy, puntasExports, process) { 'use strict'; { ${body}\n} })`;
    script = new Script(text, { filename: file });
  } catch (error) {
    throw new StrategyFileError(`${file}${errorPlace(error, file)}: ${oneLine(error)}; correct the syntax`);
  }
  return () => {
    const found: { default?: unknown } = {};
    try {
      (script.runInThisContext() as (puntas: unknown, exports: typeof found, own: unknown) => void)(
        MODULE,
        found,
        PROCESS,
      );
    } catch (error) {
      throw new StrategyFileError(
        `${file}${errorPlace(error, file)}: threw at load: ${oneLine(error)}; correct the file`,
      );
    }
    return found.default;
  };
}

const ENDS: readonly unknown[] = ['exit', 'reallyExit', 'kill', 'abort'];

/** Global `process` of strategy files: a call that would end the bot with live orders throws instead. */
const PROCESS = new Proxy(process, {
  get: (own, name) => {
    if (ENDS.includes(name))
      return () => {
        throw new Error(`a strategy file cannot call process.${String(name)}`);
      };
    const value: unknown = Reflect.get(own, name);
    return typeof value === 'function' ? (value.bind(own) as unknown) : value;
  },
});

/** Module `puntas/strategy` for strategy files. Throws if a file uses a name that the module does not export. */
const MODULE = new Proxy(contract, {
  get: (module, name) => {
    if (typeof name === 'string' && !(name in module))
      throw new Error(`puntas/strategy has no value ${name}; correct the name, or write type ${name} if it is a type`);
    return Reflect.get(module, name) as unknown;
  },
});

/** Returns the code without types; lines and columns do not change. */
function withoutTypes(file: string, code: string): string {
  // Loaded on demand, because the package is large and most processes run no strategy file.
  const { transformSync } = createRequire(import.meta.url)('@swc/wasm-typescript') as Stripper;
  try {
    return transformSync(code, { mode: 'strip-only', module: true, filename: file }).code;
  } catch (error) {
    const { startLine, startColumn } = error as { readonly startLine?: number; readonly startColumn?: number };
    const place = startLine === undefined || startColumn === undefined ? '' : `:${startLine}:${startColumn + 1}`;
    throw new StrategyFileError(`${file}${place}: ${oneLine(error)}; correct the syntax`);
  }
}

type Stripper = Pick<typeof import('@swc/wasm-typescript'), 'transformSync'>;

/**
 * Returns the code of a module as the body of a function. Imports from `puntas/strategy` become constants in the first
 * line, because imports apply to the whole module. The default export becomes an assignment. Line numbers do not
 * change.
 */
function withoutModules(file: string, code: string): string {
  const [imports, exports] = lexed(file, code);
  const edits: { readonly from: number; readonly to: number; readonly text: string }[] = [];
  const constants: string[] = [];
  const fail = (at: number, message: string) =>
    new StrategyFileError(`${file}:${code.slice(0, at).split('\n').length}: ${message}`);
  for (const one of imports) {
    if (one.type === 'import-meta') throw fail(one.start, 'import.meta does not exist in a strategy file; remove it');
    if (one.type !== 'static' || one.specifier !== 'puntas/strategy')
      throw fail(
        one.importStart,
        `expected imports of puntas/strategy only, found ${one.specifier ?? 'a computed import'}; a strategy is one file, so copy the code into the file, or bundle it`,
      );
    const constant = importedNames(code.slice(one.importStart, one.start - 1));
    if (constant === null)
      throw fail(
        one.importStart,
        'expected import { NAME, NAME as OWN_NAME } or import * as NAME from puntas/strategy; puntas/strategy has no default export',
      );
    constants.push(`const ${constant} = puntasStrategy;`);
    edits.push({
      from: one.importStart,
      to: one.importEnd,
      text: '\n'.repeat(lineBreaks(code.slice(one.importStart, one.importEnd))),
    });
  }
  for (const one of exports) {
    const isDefault = one.type === 'direct' && /^export\s+default$/.test(code.slice(one.exportStart, one.end));
    if (!isDefault)
      throw fail(
        one.exportStart,
        'expected one export, export default defineStrategy({ … }), found another export; remove the word export',
      );
    edits.push({ from: one.exportStart, to: one.end, text: 'puntasExports.default =' });
  }
  const body = edits
    .sort((a, b) => b.from - a.from)
    .reduce((text, { from, to, text: own }) => `${text.slice(0, from)}${own}${text.slice(to)}`, code);
  return `${constants.join(' ')} ${body}`;
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

/**
 * Returns the left-hand side of a constant for an import: a name, or a destructuring pattern, `{}` if the import has no
 * names. Returns `null` if the import has another form. `clause`: text of the import up to the module name.
 */
function importedNames(clause: string): string | null {
  const text = withoutComments(clause).replace(/\s+/g, ' ').trim();
  if (text === 'import') return '{}';
  const all = /^import ?\* ?as (\S+) ?from$/.exec(text)?.[1];
  if (all !== undefined) return IDENTIFIER.test(all) ? all : null;
  const names = /^import ?\{([^}]*)\} ?from$/.exec(text)?.[1];
  if (names === undefined) return null;
  const pairs = names.split(',').map(pair => pair.trim().split(' '));
  // A comma may follow the last name.
  if (pairs.at(-1)?.[0] === '') pairs.pop();
  const patterns = pairs.map(([name = '', as, own = name, ...more]) =>
    IDENTIFIER.test(name) && IDENTIFIER.test(own) && (as ?? 'as') === 'as' && more.length === 0
      ? `${name}: ${own}`
      : null,
  );
  return patterns.includes(null) ? null : `{ ${patterns.join(', ')} }`;
}

/** Returns the text with each comment replaced by a space, in linear time, unlike a regular expression. */
function withoutComments(text: string): string {
  let left = '';
  for (let i = 0; i < text.length; i++) {
    const two = text.slice(i, i + 2);
    if (two !== '/*' && two !== '//') left += text[i]!;
    else {
      const end = two === '/*' ? text.indexOf('*/', i + 2) : text.indexOf('\n', i);
      if (end < 0) break;
      left += ' ';
      i = two === '/*' ? end + 1 : end;
    }
  }
  return left;
}

const lineBreaks = (text: string): number => text.split('\n').length - 1;

function lexed(file: string, code: string): ReturnType<typeof parse> {
  try {
    return parse(code);
  } catch (error) {
    const [, line] = /:(\d+):\d+$/.exec(oneLine(error)) ?? [];
    throw new StrategyFileError(`${file}${line === undefined ? '' : `:${line}`}: cannot be parsed; correct the syntax`);
  }
}
