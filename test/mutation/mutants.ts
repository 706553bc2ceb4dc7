/** Mutants of a file, each with a key that survives when its line moves. */
import { Instrumenter } from '@stryker-mutator/instrumenter';
import ts from 'typescript';
import { inBlocks } from './blocks.ts';
import { idOf, type Position } from './protocol.ts';

export type Mutant = {
  readonly file: string;
  /** In the original, from 1. */
  readonly line: number;
  readonly mutator: string;
  /** Class, method and function around the mutant, as `Orders.#settle`; empty at the top of a file. */
  readonly context: string;
  /** The line on which the mutant begins, without its indent. */
  readonly text: string;
  /** Original and replacement, as `a < b -> a <= b`; a number follows if the line has several of these. */
  readonly mutation: string;
  /** Identifies the mutant in the file that Stryker is given. */
  readonly id: string;
};
/** A file as Stryker is given it, with the mutants that are asked of it. */
export type MutatedFile = { readonly path: string; readonly content: string; readonly mutants: readonly Mutant[] };

/** Text that a reader of the list can still take in; a mutation's key needs no more. */
const SHOWN_MAX = 100;
const shown = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > SHOWN_MAX ? `${line.slice(0, SHOWN_MAX - 1)}…` : line;
};
export const mutationText = (original: string, replacement: string): string =>
  `${shown(original)} -> ${shown(replacement)}`;

/** Name of a function or class around a mutant, if it has one. */
function nameOf(node: ts.Node): string | undefined {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const isNamed = ts.isFunctionLike(node) || ts.isClassLike(node);
  if (isNamed && node.name !== undefined) return node.name.getText();
  // A function that is the value of a variable or a property has its name.
  const isValue = ts.isArrowFunction(node) || ts.isFunctionExpression(node);
  if (isValue && (ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent)))
    return node.parent.name.getText();
  return undefined;
}

export function contextAt(source: ts.SourceFile, offset: number): string {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (offset < node.getStart(source) || offset >= node.end) return;
    const name = nameOf(node);
    if (name !== undefined) names.push(name);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names.join('.');
}

export type Found = {
  readonly offset: number;
  readonly mutator: string;
  readonly mutation: string;
  readonly id: string;
};

/** Gives mutants their keys; those that are alike are numbered in the order of the file. */
export function withKeys(path: string, text: string, found: readonly Found[]): readonly Mutant[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines = text.split('\n');
  const counts = new Map<string, number>();
  return [...found]
    .sort((a, b) => a.offset - b.offset)
    .map(({ offset, mutator, mutation, id }) => {
      const { line } = source.getLineAndCharacterOfPosition(offset);
      const mutant = {
        file: path,
        line: line + 1,
        mutator,
        context: contextAt(source, offset),
        text: shown(lines[line]!),
        mutation,
        id,
      };
      const count = (counts.get(keyOf(mutant)) ?? 0) + 1;
      counts.set(keyOf(mutant), count);
      return count === 1 ? mutant : { ...mutant, mutation: `${mutation} (${count})` };
    });
}

export type Key = Pick<Mutant, 'file' | 'context' | 'text' | 'mutation'>;
export const keyOf = ({ file, context, text, mutation }: Key): string => [file, context, text, mutation].join('\n');

const silent = (): void => undefined;
const NO_LOG: ConstructorParameters<typeof Instrumenter>[0] = {
  isTraceEnabled: () => false,
  isDebugEnabled: () => false,
  isInfoEnabled: () => false,
  isWarnEnabled: () => false,
  isErrorEnabled: () => false,
  isFatalEnabled: () => false,
  trace: silent,
  debug: silent,
  info: silent,
  warn: silent,
  error: silent,
  fatal: silent,
};

/** All that Stryker makes of a file, and the deletion of each statement. */
export async function standardMutants(path: string, text: string): Promise<MutatedFile> {
  const rewritten = inBlocks(path, text);
  const { mutants } = await new Instrumenter(NO_LOG).instrument(
    [{ name: path, mutate: true, content: rewritten.text }],
    { plugins: null, excludedMutations: [], ignorers: [] },
  );
  const starts = [0, ...[...rewritten.text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const offsetOf = ({ line, column }: Position): number => starts[line]! + column;
  const found = mutants.map(({ location: { start, end }, mutatorName, replacement }): Found => {
    const [from, to] = [offsetOf(start), offsetOf(end)];
    const offset = rewritten.originalOffset(from);
    const original = text.slice(offset, rewritten.originalOffset(to));
    const isDeletion = mutatorName === 'BlockStatement' && rewritten.inserted.has(from);
    return {
      offset,
      mutator: isDeletion ? 'StatementDeletion' : mutatorName,
      mutation: isDeletion ? `${shown(original)} deleted` : mutationText(original, replacement),
      id: idOf(start, mutatorName, replacement),
    };
  });
  return { path, content: rewritten.text, mutants: withKeys(path, text, found) };
}

/** Whether a mutant only empties a text of several words: what people read, not what is done. */
export const isMessage = ({ mutator, mutation }: Pick<Mutant, 'mutator' | 'mutation'>): boolean =>
  mutator === 'StringLiteral' && / /.test(mutation.split(' -> ')[0]!.trim());
