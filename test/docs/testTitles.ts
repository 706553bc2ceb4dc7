/** Finds tests by reading their files: title, the table of an `each`, and the text of the body. Nothing is run. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export type Found = {
  /** Name of the file without `.test.ts`. */
  readonly file: string;
  readonly title: string;
  /** The whole call: title, table and body. */
  readonly text: string;
};

const FOLDER = fileURLToPath(new URL('../conformance/', import.meta.url));

/** Every test of test/conformance. */
export const conformanceTests = (): readonly Found[] =>
  readdirSync(FOLDER)
    .filter(name => name.endsWith('.test.ts'))
    .sort()
    .flatMap(name => testsIn(basename(name, '.test.ts'), readFileSync(`${FOLDER}${name}`, 'utf8')));

export function testsIn(file: string, source: string): readonly Found[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, false);
  const found: Found[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isTest(node.expression)) {
      const [title] = node.arguments;
      if (title && ts.isStringLiteralLike(title)) found.push({ file, title: title.text, text: node.getText(tree) });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** `it(`, `test(`, `testInMany(`, `it.each(…)(` and their like. */
function isTest(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return ['it', 'test', 'testInMany'].includes(callee.text);
  if (ts.isPropertyAccessExpression(callee)) return isTest(callee.expression);
  return ts.isCallExpression(callee) && ts.isPropertyAccessExpression(callee.expression) && isTest(callee.expression);
}
