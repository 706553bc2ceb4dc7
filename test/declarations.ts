/** Top-level declarations of each file and the uses of their names, for the tests of names. */
import ts from 'typescript';
import { parsed, type SourceFile } from './imports.ts';

export type Declaration = {
  readonly path: string;
  readonly name: string;
  readonly isExported: boolean;
  /** Text of a function without comments, white space and its own name; `null` for anything else. */
  readonly body: string | null;
};

const printer = ts.createPrinter({ removeComments: true });

const known = new Map<string, { readonly text: string; readonly found: readonly Declaration[] }>();

/** Functions, constants and classes of the top level of a file. A file is read once for all tests. */
export function declarationsIn(path: string, text: string): readonly Declaration[] {
  const one = known.get(path);
  if (one?.text === text) return one.found;
  const found = readDeclarations(path, text);
  known.set(path, { text, found });
  return found;
}

function readDeclarations(path: string, text: string): readonly Declaration[] {
  const source = parsed(path, text);
  const bodyOf = (node: ts.Node, name: string): string =>
    printer
      .printNode(ts.EmitHint.Unspecified, node, source)
      .replace(/^export /, '')
      .replace(name, 'f')
      .replace(/\s+/g, ' ');
  return source.statements.flatMap((node): readonly Declaration[] => {
    const isExported =
      ts.canHaveModifiers(node) && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
    if (ts.isFunctionDeclaration(node) && node.name)
      return [{ path, name: node.name.text, isExported, body: bodyOf(node, node.name.text) }];
    if (ts.isClassDeclaration(node) && node.name) return [{ path, name: node.name.text, isExported, body: null }];
    if (!ts.isVariableStatement(node)) return [];
    return node.declarationList.declarations.flatMap(one => {
      if (!ts.isIdentifier(one.name)) return [];
      const isFunction =
        one.initializer && (ts.isArrowFunction(one.initializer) || ts.isFunctionExpression(one.initializer));
      return [{ path, name: one.name.text, isExported, body: isFunction ? bodyOf(one, one.name.text) : null }];
    });
  });
}

/** Number of uses of each identifier in a file, without comments, strings, imports and re-exports. */
export function wordsIn(path: string, text: string): ReadonlyMap<string, number> {
  const source = parsed(path, text);
  const words = new Map<string, number>();
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || (ts.isExportDeclaration(node) && node.moduleSpecifier)) return;
    if (ts.isIdentifier(node)) words.set(node.text, (words.get(node.text) ?? 0) + 1);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return words;
}

/** Exported names that no file of the program uses beyond their declaration, as `path: name`. */
export function unusedExports(files: readonly Pick<SourceFile, 'path' | 'text'>[]): readonly string[] {
  const uses = new Map<string, number>();
  const declared = files.flatMap(({ path, text }) => {
    for (const [word, count] of wordsIn(path, text)) uses.set(word, (uses.get(word) ?? 0) + count);
    return declarationsIn(path, text);
  });
  return declared
    .filter(({ name, isExported }) => isExported && uses.get(name) === 1)
    .map(({ path, name }) => `${path}: ${name}`);
}

/** Names of functions that stand in several files with different bodies, with the number of those files. */
export function reusedNames(files: readonly Pick<SourceFile, 'path' | 'text'>[]): ReadonlyMap<string, number> {
  const found = new Map<string, { readonly paths: Set<string>; readonly bodies: Set<string> }>();
  for (const { path, text } of files)
    for (const { name, body } of declarationsIn(path, text)) {
      if (body === null) continue;
      const one = found.get(name) ?? { paths: new Set(), bodies: new Set() };
      found.set(name, one);
      one.paths.add(path);
      one.bodies.add(body);
    }
  return new Map(
    [...found].filter(([, { bodies }]) => bodies.size > 1).map(([name, { paths }]) => [name, paths.size] as const),
  );
}

/** Functions of 60 characters and more that stand in several files word for word, whatever they are called. */
export function copiedFunctions(files: readonly Pick<SourceFile, 'path' | 'text'>[]): readonly string[] {
  const found = new Map<string, string[]>();
  for (const { path, text } of files)
    for (const { name, body } of declarationsIn(path, text))
      if (body !== null && body.length >= 60) found.set(body, [...(found.get(body) ?? []), `${path}: ${name}`]);
  return [...found.values()].filter(places => new Set(places).size > 1).map(places => places.join(', '));
}
