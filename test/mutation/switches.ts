/**
 * Mutations of our own as a file that Stryker can run: each is a `true` that chooses the original, and Stryker's mutant of that
 * `true` chooses the mutation.
 */
import { withInsertions, type Insertion } from './blocks.ts';
import { mutationText, withKeys, type Found, type MutatedFile } from './mutants.ts';
import type { OwnMutation } from './ownMutators.ts';
import { idOf } from './protocol.ts';

const MARK = /true\/\*m(\d+)\*\//g;
const mark = (n: number): string => `true/*m${n}*/`;
const flag = (n: number): string => `isOriginal${n}`;

/** A mutation with its number in the file. */
type Numbered<T> = T & { readonly n: number };
type Replacement = Numbered<Extract<OwnMutation, { replacement: string }>>;
type Exchange = Numbered<Extract<OwnMutation, { exchange: unknown }>>;

const isExchange = (one: Numbered<OwnMutation>): one is Exchange => 'exchange' in one;
const isReplacement = (one: Numbered<OwnMutation>): one is Replacement => 'replacement' in one;

export function withSwitches(path: string, text: string, mutations: readonly OwnMutation[]): MutatedFile {
  const numbered = mutations.map((mutation, n) => ({ ...mutation, n }));
  const content = written(text, numbered.filter(isReplacement), numbered.filter(isExchange));
  const lines = content.split('\n');
  const found = lines.flatMap((code, line) =>
    [...code.matchAll(MARK)].map(({ index, 1: n }): Found => {
      const mutation = mutations[Number(n)]!;
      return {
        offset: mutation.start,
        mutator: mutation.mutator,
        mutation: textOf(text, mutation),
        id: idOf({ line, column: index }, 'BooleanLiteral', 'false'),
      };
    }),
  );
  return { path, content, mutants: withKeys(path, text, found) };
}

function textOf(text: string, mutation: OwnMutation): string {
  const original = text.slice(mutation.start, mutation.end);
  if ('replacement' in mutation) return `${mutation.mutator}: ${mutationText(original, mutation.replacement)}`;
  const { endOfFirst, startOfSecond } = mutation.exchange;
  const [first, second] = [text.slice(mutation.start, endOfFirst), text.slice(startOfSecond, mutation.end)];
  return `${mutation.mutator}: ${mutationText(first, `after ${second}`)}`;
}

/**
 * Before the first of two statements the second stands once more, behind the switch, and in its own place the switch turns it off:
 * so each can also be one of another pair.
 */
function written(text: string, replacements: readonly Replacement[], exchanges: readonly Exchange[]): string {
  const hoisted = exchanges.map(({ start, end, exchange, n }): Insertion => {
    const second = text.slice(exchange.startOfSecond, end);
    return { at: start, text: `const ${flag(n)} = ${mark(n)}; if (!${flag(n)}) {${second}} ` };
  });
  const guarded = exchanges.map(({ exchange, n }): Insertion => ({
    at: exchange.startOfSecond,
    text: `if (${flag(n)}) {`,
  }));
  const ended = exchanges.map(({ end }): Insertion => ({ at: end, text: '}' }));
  // The longer of two that begin, or end, at one place is outside.
  const opened = [...replacements]
    .sort((a, b) => b.end - a.end || a.n - b.n)
    .map(({ start, n }): Insertion => ({ at: start, text: `(${mark(n)} ? ` }));
  const closed = [...replacements]
    .sort((a, b) => b.start - a.start || b.n - a.n)
    .map(({ end, replacement }): Insertion => ({ at: end, text: ` : ${replacement})` }));
  return withInsertions(text, [...closed, ...ended, ...hoisted, ...guarded, ...opened]).text;
}
