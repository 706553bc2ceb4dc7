/** Mutants without a run: blocks around statements, keys that survive moved lines, and each mutator of our own on a few lines. */
import { runInNewContext } from 'node:vm';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { inBlocks } from './blocks.ts';
import { isMessage, keyOf, standardMutants } from './mutants.ts';
import { ownMutations } from './ownMutators.ts';
import { withSwitches } from './switches.ts';

const FILE = 'snippet.ts';
/** The library's files are parsed once for all programs. */
const library = new Map<string, ts.SourceFile | undefined>();
/** A program of one file, with the compiler's own library. */
function programOf(text: string): ts.Program {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    strict: true,
    noEmit: true,
    lib: ['lib.es2023.d.ts'],
  };
  const host = ts.createCompilerHost(options, true);
  const disk = ts.createCompilerHost(options, true);
  host.getSourceFile = (name, ...rest) => {
    if (name === FILE) return ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true);
    if (!library.has(name)) library.set(name, disk.getSourceFile(name, ...rest));
    return library.get(name);
  };
  return ts.createProgram([FILE], options, host);
}
const own = (text: string): readonly string[] =>
  withSwitches(FILE, text, ownMutations(programOf(text), FILE)).mutants.map(({ mutation }) => mutation);

describe('a block around a statement', () => {
  test('is put where a statement has siblings, on its own line', () => {
    expect(inBlocks(FILE, 'function f() {\n  a();\n  b = 1;\n}').text).toBe('function f() {\n  {a();}\n  {b = 1;}\n}');
    expect(inBlocks(FILE, 'switch (x) { case 1: a(); break; }').text).toBe('switch (x) { case 1: {a();} break; }');
  });

  test('is not put around the only statement, a declaration, or the call of a base class', () => {
    for (const text of ['if (x) { a(); }', '{ const a = 1; return a; }']) expect(inBlocks(FILE, text).text).toBe(text);
    expect(inBlocks(FILE, 'class A extends B { constructor() { super(); a(); } }').text).toBe(
      'class A extends B { constructor() { super(); {a();} } }',
    );
  });

  test('leaves every offset of the original findable', () => {
    const text = '{ a(); b(); }';
    const { text: rewritten, originalOffset } = inBlocks(FILE, text);
    for (const name of ['a', 'b']) expect(originalOffset(rewritten.indexOf(name))).toBe(text.indexOf(name));
    expect(originalOffset(rewritten.length)).toBe(text.length);
  });
});

describe('a mutant', () => {
  const SOURCE = 'class Orders {\n  settle(n: number) {\n    this.count();\n    if (n > 1) this.end();\n  }\n}\n';

  test('of a statement is its deletion, beside those of Stryker', async () => {
    const { mutants } = await standardMutants(FILE, SOURCE);
    expect(mutants).toContainEqual(
      expect.objectContaining({ mutator: 'StatementDeletion', mutation: 'this.count(); deleted', line: 3 }),
    );
    expect(mutants).toContainEqual(
      expect.objectContaining({
        mutator: 'EqualityOperator',
        mutation: 'n > 1 -> n >= 1',
        context: 'Orders.settle',
        text: 'if (n > 1) this.end();',
        line: 4,
      }),
    );
  });

  test('keeps its key when lines are put before it, and no two have one key', async () => {
    const keys = async (text: string) => (await standardMutants(FILE, text)).mutants.map(keyOf);
    const before = await keys(SOURCE);
    expect(await keys(`// A line.\n\n${SOURCE}`)).toEqual(before);
    expect(new Set(before).size).toBe(before.length);
    const twice = await keys('const f = (a: boolean, b: boolean) => g(a && b) || h(a && b);');
    expect(new Set(twice).size).toBe(twice.length);
    expect(twice.some(key => key.endsWith('(2)'))).toBe(true);
  });

  test('of a text with several words is one of a message', async () => {
    const { mutants } = await standardMutants(FILE, "f('the disk is full'); g('open');");
    expect(mutants.filter(isMessage).map(({ mutation }) => mutation)).toEqual([`'the disk is full' -> ""`]);
  });
});

describe('a mutator of our own', () => {
  test('swaps two arguments where the types agree', () => {
    expect(own('declare function f(a: number, b: string, c: number): void; f(Number(1), "x", Number(2));')).toContain(
      'ArgumentsSwapped: f(Number(1), "x", Number(2)) -> f(Number(2), "x", Number(1))',
    );
    expect(own('declare function f(a: number, b: string): void; f(Number("3"), "x");').join()).not.toMatch(/Swapped/);
    expect(own('Math.max(Number("3"), Number("4"));').join()).not.toMatch(/Swapped/);
  });

  test('drops the last argument and a key only where they are optional', () => {
    expect(own('declare function f(a: string, b?: string): void; f("x", "y");')).toContain(
      'ArgumentDropped: f("x", "y") -> f("x")',
    );
    expect(own('declare function f(a: string, b: string): void; f("x", "y");').join()).not.toMatch(/Dropped/);
    expect(own('const o: { a: string; b?: string } = { a: "x", b: "y" };')).toEqual([
      'ArgumentDropped: { a: "x", b: "y" } -> { a: "x" }',
    ]);
  });

  test('exchanges neighbouring statements whose order can matter', () => {
    expect(own('function f(a: () => void, b: () => void) { a(); b(); }')).toContain(
      'StatementsExchanged: a(); -> after b();',
    );
    expect(own('class A { #a = ""; #b = ""; f() { this.#a = "x"; this.#b = "y"; } }').join()).not.toMatch(/Exchanged/);
    expect(own('class A { a = ""; b = ""; f() { this.a = "x"; this.b = this.a; } }').join()).toMatch(/Exchanged/);
  });

  test('adds a guard of the same function to another', () => {
    const found = own('function f(a: boolean, b: boolean) { if (a) return 1; if (b) return 2; return 3; }');
    expect(found).toContain('ConditionAdded: a -> (a) && (b)');
    expect(found).toContain('ConditionAdded: b -> (b) && (a)');
    expect(
      own('function f(a: boolean) { if (a) return 1; const b = !a; if (b) return 2; return 3; }').join(),
    ).not.toMatch(/\(a\) && \(b\)/);
  });

  test('changes numbers, and none in a type', () => {
    expect(own('export const DAY_MS: number | 7 = 24;')).toEqual([25, 23, 48].map(n => `NumberChanged: 24 -> ${n}`));
  });

  test('takes another name of the same type: a variable, a property, a method, and what is written to', () => {
    expect(own('function f(a: string, b: string, c: number) { return a; }')).toEqual(['NameReplaced: a -> b']);
    const CLASS =
      'class A { #bid = ""; #ask = ""; size = true; get(): string { return this.#bid; } set(x: string) { this.#ask = x; } }';
    expect(own(CLASS)).toEqual([
      'NameReplaced: this.#bid -> this.#ask',
      'NameReplaced: this.#ask = x -> this.#bid = x',
    ]);
    expect(own('declare const o: { pause(): void; halt(): void; name(): string }; o.pause();')).toEqual([
      'NameReplaced: o.pause() -> o.halt()',
    ]);
  });

  test('takes no private name outside its class, and no default in a pattern', () => {
    const BOX = 'class Box { size = 1; #left = 2; get(): number { return this.#left; } }';
    const inside = own(`${BOX} declare const box: Box; String(box.size);`).filter(text => /^NameReplaced/.test(text));
    expect(inside).toEqual(['NameReplaced: this.#left -> this.size']);
    expect(own('class A { a = ""; b = ""; set(x: string[]) { [this.a = ""] = x; } }').join()).not.toMatch(
      /NameReplaced/,
    );
  });

  test('is switched on by the one mutant of its own, and does nothing until then', () => {
    const typed =
      'export function f(log: (...x: unknown[]) => void, a: number, b: number) { ' +
      'if (a > 3) log(a, b); if (b > 5) log(b, a); log("x"); while (false) log("y"); return a - b; }';
    const mutations = ownMutations(programOf(typed), FILE);
    const { content, mutants } = withSwitches(FILE, typed, mutations);
    expect(mutants.length).toBeGreaterThan(10);
    const ran = (code: string): unknown => {
      const { outputText } = ts.transpileModule(code, { compilerOptions: { module: ts.ModuleKind.CommonJS } });
      const exports: { f?: (log: (...x: unknown[]) => void, a: number, b: number) => number } = {};
      runInNewContext(outputText, { exports });
      const said: unknown[] = [];
      const result = exports.f!((...x) => void said.push(x), 4, 6);
      return [said, result];
    };
    expect(ran(content)).toEqual(ran(typed));
    // Not every one shows for 4 and 6: conditions that both hold, numbers far from them.
    const isSeen = mutants.map(
      (_, n) => JSON.stringify(ran(content.replace(`true/*m${n}*/`, 'false'))) !== JSON.stringify(ran(typed)),
    );
    expect(isSeen.filter(Boolean).length).toBeGreaterThan(mutants.length / 3);
    expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length);
  });
});
