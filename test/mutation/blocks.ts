/** Single statements in blocks of their own: Stryker empties blocks, so the deletion of each statement becomes a mutant. */
import ts from 'typescript';

export type Insertion = { readonly at: number; readonly text: string };
export type Rewritten = {
  readonly text: string;
  /** Offset in the original of an offset in the rewritten text; of an insertion, the place where it was made. */
  readonly originalOffset: (offset: number) => number;
  /** Offsets in the rewritten text at which inserted text begins. */
  readonly inserted: ReadonlySet<number>;
};

/** Texts inserted into a text; several at one offset in the order given. */
export function withInsertions(text: string, insertions: readonly Insertion[]): Rewritten {
  const sorted = [...insertions].sort((a, b) => a.at - b.at);
  const parts: string[] = [];
  const inserted: { readonly start: number; readonly end: number; readonly at: number }[] = [];
  let [done, length] = [0, 0];
  const add = (part: string): void => {
    parts.push(part);
    length += part.length;
  };
  for (const { at, text: more } of sorted) {
    add(text.slice(done, at));
    inserted.push({ start: length, end: length + more.length, at });
    add(more);
    done = at;
  }
  add(text.slice(done));
  return {
    text: parts.join(''),
    originalOffset: offset => {
      let shift = 0;
      for (const { start, end, at } of inserted) {
        if (offset < start) break;
        if (offset < end) return at;
        shift = end - at;
      }
      return offset - shift;
    },
    inserted: new Set(inserted.map(({ start }) => start)),
  };
}

const callsSuper = (node: ts.Node): boolean =>
  ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword;

/** Each expression statement with siblings is put into a block. Lines stay where they are. */
export function inBlocks(path: string, text: string): Rewritten {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const insertions: Insertion[] = [];
  const visit = (node: ts.Node): void => {
    const { parent } = node;
    const isInList = parent !== undefined && (ts.isBlock(parent) || ts.isCaseOrDefaultClause(parent));
    const isWrapped =
      isInList && ts.isExpressionStatement(node) && parent.statements.length > 1 && !callsSuper(node.expression);
    if (isWrapped) insertions.push({ at: node.getStart(source), text: '{' });
    ts.forEachChild(node, visit);
    if (isWrapped) insertions.push({ at: node.end, text: '}' });
  };
  visit(source);
  return withInsertions(text, insertions);
}
