/**
 * Strategy in a file of its own: its text becomes a definition. The text is TypeScript or JavaScript, imports only
 * `puntas/strategy`, and runs with the rights of this process.
 */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import { Script } from 'node:vm';
import { parse } from 'es-module-lexer/js';
import { z } from 'zod';
import { textOfError } from '../src/core/index.ts';
import * as contract from './contract.ts';
import { CONTRACT, type OwnDefinition } from './contract.ts';
import { levelProblems, toleranceOf } from './parameters.ts';

/** Part of a `strategy` section that selects a file. Its other keys are the parameters of the strategy. */
export type StrategyFile = {
  /** Name in reports: the name of the file and the first digits of the hash of its text. */
  readonly name: `${string}@${string}`;
  /** Path as in the configuration. */
  readonly file: string;
  /** Text of the file. A configuration contains the text, so that a recording is replayed with the strategy of its run. */
  readonly code: string;
};

/** Maximum length of a strategy file, in characters. */
export const STRATEGY_FILE_MAX = 65_536;

/** Returns the section that selects a file with this text. */
export const strategyFileOf = (file: string, code: string): StrategyFile => ({
  name: `${file.split(/[\\/]/).at(-1) ?? file}@${createHash('sha256').update(code).digest('hex').slice(0, 12)}`,
  file,
  code,
});

/** Error of a strategy file as one line: `path:line:column: what is wrong; what to do`. */
export class StrategyFileError extends Error {
  override readonly name = 'StrategyFileError';
}

/** Keys that every section with a file has; parameters must have other names. */
const RESERVED = ['name', 'file', 'code'] as const;

/** Number of compiled files that are remembered. */
const REMEMBERED_MAX = 16;
const remembered = new Map<string, FileDefinition>();

/** Definition in a strategy file, with all members that a file can omit. */
export type FileDefinition = OwnDefinition &
  Required<Pick<OwnDefinition, 'edgeProblem' | 'limitProblems' | 'tolerance'>>;

/**
 * Returns the definition in a strategy file.
 * @throws StrategyFileError if the text is not a strategy of this contract.
 */
export function definitionIn({ file, code }: Omit<StrategyFile, 'name'>): FileDefinition {
  const key = `${file}\n${code}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const evaluate = compiled(file, code);
  const first = definitionOf(file, evaluate());
  const definition: FileDefinition = {
    ...first,
    edgeProblem: first.edgeProblem ?? (() => null),
    limitProblems: first.limitProblems ?? ((p, limits) => levelProblems({ ...LEVELS, ...p }, limits)),
    tolerance: first.tolerance ?? (p => toleranceOf({ ...LEVELS, ...p })),
    // A new evaluation for each strategy, because variables of the file would connect runs in one process.
    make: (parameters, instrument) => definitionOf(file, evaluate()).make(parameters, instrument),
  };
  if (remembered.size >= REMEMBERED_MAX) remembered.clear();
  remembered.set(key, definition);
  return definition;
}

/** Values of usual keys that a file does not have. */
const LEVELS = { amount: '0', levels: 1, refreshToleranceBps: 2, maxOrderAgeMs: 1_800_000 };

/** Returns the schema of a section that selects this file. */
export const sectionSchema = ({ parameters, tolerance }: FileDefinition): z.ZodObject =>
  parameters
    .strict()
    .safeExtend({ name: z.string(), file: z.string(), code: z.string() })
    .superRefine((section, context) => {
      const wrong = (message: string) => context.addIssue({ code: 'custom', path: ['file'], message });
      if (!survivesJson(section))
        wrong('the parameters of a strategy file must be JSON values after the check; remove the transformation');
      const { priceBps, amountShare, maxAgeMs } = tolerance(section);
      if (!(priceBps >= 0 && amountShare >= 0 && maxAgeMs >= 0))
        wrong('tolerance: expected priceBps, amountShare and maxAgeMs, numbers of at least 0');
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
    new StrategyFileError(`${file}: ${expected}, found ${shownValue(was)}; ${remedy}`);
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
      'write z.strictObject({ … }) with z of puntas/strategy',
    );
  const { shape } = parameters;
  const reserved = RESERVED.find(key => key in shape);
  if (reserved !== undefined)
    throw new StrategyFileError(
      `${file}: parameters: ${reserved} is a key of every strategy file; rename the parameter`,
    );
  if (!('amount' in shape))
    throw fail('parameters: expected the key amount', Object.keys(shape).join(', '), 'add amount: aboveZero');
  if (typeof make !== 'function') throw fail('make: expected a function', make, 'return a strategy with quote(view)');
  for (const key of ['edgeProblem', 'limitProblems', 'tolerance'] as const)
    if (rest[key] !== undefined && typeof rest[key] !== 'function')
      throw fail(`${key}: expected a function`, rest[key], 'or remove it');
  return found as OwnDefinition;
}

/** Returns a value as short text for an error line. */
function shownValue(value: unknown): string {
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
    script = new Script(`(function (puntasStrategy, puntasExports) { 'use strict'; ${body}\n})`, { filename: file });
  } catch (error) {
    throw new StrategyFileError(`${file}${lineIn(error, file)}: ${textOfError(error)}; correct the syntax`);
  }
  return () => {
    const found: { default?: unknown } = {};
    try {
      (script.runInThisContext() as (puntas: unknown, exports: typeof found) => void)(MODULE, found);
    } catch (error) {
      throw new StrategyFileError(
        `${file}${lineIn(error, file)}: threw at load: ${textOfError(error)}; correct the file`,
      );
    }
    return found.default;
  };
}

/** Module `puntas/strategy` for strategy files. The use of a name that it lacks throws. */
const MODULE = new Proxy(contract, {
  get: (module, name) => {
    if (typeof name === 'string' && !(name in module))
      throw new Error(`puntas/strategy has no value ${name}; correct the name, or write type ${name} if it is a type`);
    return Reflect.get(module, name) as unknown;
  },
});

/** Returns `:line` of an error in the file, from its stack; empty if unknown. */
export function lineIn(error: unknown, file: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const at = stack.indexOf(`${file}:`);
  const line = at < 0 ? undefined : /^\d+/.exec(stack.slice(at + file.length + 1))?.[0];
  return line === undefined ? '' : `:${line}`;
}

/** Returns the code without types. Lines and columns stay. */
function withoutTypes(file: string, code: string): string {
  // The package is large, and most processes run no strategy file.
  const { transformSync } = createRequire(import.meta.url)('@swc/wasm-typescript') as Stripper;
  try {
    return transformSync(code, { mode: 'strip-only', module: true, filename: file }).code;
  } catch (error) {
    const { startLine, startColumn } = error as { readonly startLine?: number; readonly startColumn?: number };
    const place = startLine === undefined || startColumn === undefined ? '' : `:${startLine}:${startColumn + 1}`;
    throw new StrategyFileError(`${file}${place}: ${textOfError(error)}; correct the syntax`);
  }
}

type Stripper = Pick<typeof import('@swc/wasm-typescript'), 'transformSync'>;

/**
 * Returns the body of a function that evaluates a module: the names that the module imports from `puntas/strategy`
 * become constants, and its default export is assigned. Lines stay.
 */
function withoutModules(file: string, code: string): string {
  const [imports, exports] = lexed(file, code);
  const edits: { readonly from: number; readonly to: number; readonly text: string }[] = [];
  const fail = (at: number, message: string) =>
    new StrategyFileError(`${file}:${code.slice(0, at).split('\n').length}: ${message}`);
  for (const one of imports) {
    if (one.type === 'import-meta') throw fail(one.start, 'import.meta does not exist in a strategy file; remove it');
    if (one.type !== 'static' || one.specifier !== 'puntas/strategy')
      throw fail(
        one.importStart,
        `expected imports of puntas/strategy only, found ${one.specifier ?? 'a computed import'}; a strategy is one file, so copy the code into the file, or bundle it`,
      );
    const clause = code.slice(one.importStart, one.start - 1);
    const [, names, all] = /^import\s*(?:\{([^}]*)\}|\*\s*as\s+([\w$]+))\s*from\s*$/.exec(clause) ?? [];
    if (names === undefined && all === undefined)
      throw fail(one.importStart, 'puntas/strategy has no default export; write import { defineStrategy } from it');
    const constant = all ?? `{${names?.replace(/\bas\b/g, ':')}}`;
    // Line breaks behind the braces are kept too, so that all lines keep their numbers.
    const breaks = '\n'.repeat(lineBreaks(code.slice(one.importStart, one.importEnd)) - lineBreaks(constant));
    edits.push({ from: one.importStart, to: one.importEnd, text: `const ${constant} = puntasStrategy;${breaks}` });
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
  return edits
    .sort((a, b) => b.from - a.from)
    .reduce((text, { from, to, text: own }) => `${text.slice(0, from)}${own}${text.slice(to)}`, code);
}

const lineBreaks = (text: string): number => text.split('\n').length - 1;

function lexed(file: string, code: string): ReturnType<typeof parse> {
  try {
    return parse(code);
  } catch (error) {
    const [, line] = /:(\d+):\d+$/.exec(textOfError(error)) ?? [];
    throw new StrategyFileError(`${file}${line === undefined ? '' : `:${line}`}: cannot be parsed; correct the syntax`);
  }
}
