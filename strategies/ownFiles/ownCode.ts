/**
 * Loader of the user's own files: turns the text of a file into a function that evaluates it. The text is TypeScript or
 * JavaScript, imports only `puntas/strategy`, and runs with the rights of this process.
 */
import { createRequire } from 'node:module';
import { Script } from 'node:vm';
import { parse } from 'es-module-lexer/js';
import { errorPlace, oneLine, StrategyFileError } from './fileErrors.ts';
import { ownRealm } from './ownRealm.ts';

/**
 * Kind of a file. `noun`, `define` and `given` are for its messages: `define` is the function of the default export;
 * `given` is what the file may use instead of clocks and random numbers. `module`: exports of `puntas/strategy`.
 */
export type OwnFileKind = {
  readonly noun: 'strategy' | 'fill model';
  readonly define: string;
  readonly given: string;
  readonly module: object;
};

/** Maximum length of a file, in characters. */
const OWN_FILE_MAX = 65_536;

/**
 * Returns a function that evaluates the file and returns its default export. All calls evaluate it in one realm of its
 * own: what the file does to the objects of the language, such as `Object.prototype`, changes nothing outside. A realm
 * for each call would make the many strategies of a check or a study several times slower.
 * @throws StrategyFileError if the text is too long, has a syntax error, or imports or exports anything else.
 */
export function compiledFile(file: string, code: string, kind: OwnFileKind): () => unknown {
  if (!(code.length <= OWN_FILE_MAX))
    throw new StrategyFileError(
      `${file}: expected at most ${OWN_FILE_MAX} characters, found ${code.length}; shorten the file`,
    );
  const body = withoutModules(file, withoutTypes(file, code), kind);
  let script: Script;
  try {
    // The inner block lets the file declare variables with the names of the function's parameters.
    const text = `(function (puntasStrategy, puntasExports, globalThis, global) { 'use strict'; { ${body}\n} })`;
    script = new Script(text, { filename: file });
  } catch (error) {
    throw new StrategyFileError(`${file}${errorPlace(error, file)}: ${oneLine(error)}; correct the syntax`);
  }
  const module = withoutUnknown(kind.module);
  const { context, shown } = ownRealm(kind.given);
  return () => {
    const found: { default?: unknown } = {};
    try {
      (script.runInContext(context) as (...values: readonly unknown[]) => void)(module, found, shown, shown);
    } catch (error) {
      throw new StrategyFileError(
        `${file}${errorPlace(error, file)}: threw at load: ${oneLine(error)}; correct the file`,
      );
    }
    return found.default;
  };
}

/** Returns a module that throws if a file uses a name that the module does not export. */
const withoutUnknown = (module: object): object =>
  new Proxy(module, {
    get: (own, name) => {
      if (typeof name === 'string' && !(name in own))
        throw new Error(
          `puntas/strategy has no value ${name}; correct the name, or write type ${name} if it is a type`,
        );
      return Reflect.get(own, name) as unknown;
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
function withoutModules(file: string, code: string, { noun, define }: OwnFileKind): string {
  const [imports, exports] = lexed(file, code);
  const edits: { readonly from: number; readonly to: number; readonly text: string }[] = [];
  const constants: string[] = [];
  const fail = (at: number, message: string) =>
    new StrategyFileError(`${file}:${code.slice(0, at).split('\n').length}: ${message}`);
  for (const one of imports) {
    if (one.type === 'import-meta') throw fail(one.start, `import.meta does not exist in a ${noun} file; remove it`);
    if (one.type !== 'static' || one.specifier !== 'puntas/strategy')
      throw fail(
        one.importStart,
        `expected imports of puntas/strategy only, found ${one.specifier ?? 'a computed import'}; a ${noun} is one file, so copy the code into the file, or bundle it`,
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
        `expected one export, export default ${define}({ … }), found another export; remove the word export`,
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
