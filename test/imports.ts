/** The sources with their imports, read by the compiler's own parser: for tests of how the rooms hang together, and for their pictures. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** `to` is a path from the root, or a package. */
export type Arrow = { readonly to: string; readonly names: readonly string[]; readonly typesOnly: boolean };
export type SourceFile = { readonly path: string; readonly text: string; readonly arrows: readonly Arrow[] };

const known = new Map<string, readonly SourceFile[]>();

/** Every source below a folder of the root; none where there is no such folder. A folder is read once for all tests of a process. */
export function sourcesIn(folder: string): readonly SourceFile[] {
  const found = known.get(folder) ?? readSources(folder);
  known.set(folder, found);
  return found;
}

function readSources(folder: string): readonly SourceFile[] {
  let names: readonly string[];
  try {
    names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
  return names
    .filter(name => name.endsWith('.ts'))
    .map(name => {
      const path = `${folder}/${name.replaceAll('\\', '/')}`;
      const text = readFileSync(join(root, path), 'utf8');
      let arrows: readonly Arrow[] | undefined;
      // Most tests look at the text only, and parsing takes most of the time.
      return {
        path,
        text,
        get arrows() {
          return (arrows ??= arrowsIn(path, text));
        },
      };
    });
}

let last: { readonly path: string; readonly text: string; readonly source: ts.SourceFile } | undefined;

/** Syntax tree of a file. Several looks at one file in sequence share it; more of them would fill the memory. */
export function parsed(path: string, text: string): ts.SourceFile {
  if (last?.path !== path || last.text !== text) {
    const kind = path.endsWith('x') ? ts.ScriptKind.TSX : undefined;
    last = { path, text, source: ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, kind) };
  }
  return last.source;
}

/** Every import, re-export and dynamic import, and every type that is imported where it stands. */
export function arrowsIn(path: string, text: string): readonly Arrow[] {
  const source = parsed(path, text);
  const arrows: Arrow[] = [];
  const add = (specifier: string, names: readonly string[], typesOnly: boolean) => {
    const to = specifier.startsWith('.')
      ? relative(root, join(root, dirname(path), specifier)).replaceAll('\\', '/')
      : specifier;
    arrows.push({ to, names, typesOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const bindings = node.importClause?.namedBindings;
      const elements = bindings && ts.isNamedImports(bindings) ? [...bindings.elements] : [];
      const names = elements
        .filter(element => !element.isTypeOnly)
        .map(element => (element.propertyName ?? element.name).text);
      const whole = elements.length === 0 || node.importClause?.name ? ['*', ...names] : names;
      const typesOnly = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
      add(node.moduleSpecifier.text, whole, typesOnly || (elements.length > 0 && names.length === 0));
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      add(node.moduleSpecifier.text, ['*'], node.isTypeOnly);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments;
      add(argument && ts.isStringLiteral(argument) ? argument.text : '(computed)', ['*'], false);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      if (ts.isStringLiteral(node.argument.literal)) add(node.argument.literal.text, ['*'], true);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return arrows;
}
