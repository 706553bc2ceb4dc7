/** YAML text with the position of each value, for errors that name file, line and column. */
import { counted } from '../../core/index.ts';
import {
  isCollection,
  isMap,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type ParsedNode,
} from 'yaml';

/** Position that an error is about: the value at a path, or its key. */
type ErrorTarget = { readonly path: readonly PropertyKey[]; readonly aboutKey?: boolean };

/**
 * Parsed YAML. `offset`: position of a problem; `place`: an offset as `file:line:column`; `source`: the original text
 * at a path, or `null` if none.
 */
export type ReadYaml =
  | {
      readonly ok: true;
      readonly value: unknown;
      readonly root: ParsedNode;
      offset(problem: ErrorTarget): number;
      place(offset: number): string;
      source(path: readonly PropertyKey[]): string | null;
    }
  | { readonly ok: false; readonly error: string };

/** Maximum length of a YAML text, in characters. */
export const YAML_LENGTH_MAX = 65_536;
/**
 * Maximum counts in a YAML text, far above any configuration or mapping. The parser needs quadratic time for nested
 * brackets, and for several anchors and tags. `signs`: anchors, aliases and tags; `parts`: keys and elements.
 */
const YAML_MAX = { lines: 1_500, depth: 32, signs: 400, parts: 4_000 };

/** Returns the limit that a YAML text exceeds, as text; `null` if the text exceeds no limit. */
function oversizeOf(text: string): string | null {
  if (!(text.length <= YAML_LENGTH_MAX)) return `larger than ${YAML_LENGTH_MAX} characters`;
  let [lines, depth, signs, dashes, parts] = [1, 0, 0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    const sign = text[i]!;
    if ('[{,:'.includes(sign)) parts++;
    if (sign === '\n' || sign === '\r') lines++;
    else if (sign === '[' || sign === '{') depth++;
    else if (sign === ']' || sign === '}') depth = Math.max(0, depth - 1);
    // These characters start anchors, aliases, tags and keys; one line can have many of them.
    else if ('&*!?'.includes(sign)) signs++;
    else if (sign === '-' && /[\s-]/.test(text[i + 1] ?? '')) dashes++;
    if (depth > YAML_MAX.depth) return `more than ${YAML_MAX.depth} nested brackets`;
  }
  if (lines > YAML_MAX.lines) return `more than ${YAML_MAX.lines} lines`;
  if (parts > YAML_MAX.parts) return `more than ${YAML_MAX.parts} keys and elements`;
  if (signs > YAML_MAX.signs) return `more than ${YAML_MAX.signs} anchors, aliases and tags`;
  return dashes > YAML_MAX.signs + lines
    ? `more than ${YAML_MAX.signs + lines} list dashes in ${counted(lines, 'line')}`
    : null;
}

/** Parses YAML text that is one map with text keys. `like`: example of a key with its value, for the error message. */
export function readYaml(text: string, fileName: string, like: string): ReadYaml {
  const oversize = oversizeOf(text);
  if (oversize !== null) return { ok: false, error: `${fileName}: ${oversize}; shorten the file or name another file` };
  const counter = new LineCounter();
  // The parser's own check for repeated keys needs quadratic time, because it compares each key with every other key.
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, uniqueKeys: false });
  const place = (offset: number) => {
    const { line, col } = counter.linePos(offset);
    return `${fileName}:${line}:${col}`;
  };
  const refused = (error: string): ReadYaml => ({ ok: false, error });
  // Only the first error is reported, because later errors are unreliable.
  const flaw = document.errors[0] ?? document.warnings[0];
  if (flaw) return refused(`${place(flaw.pos[0])} not valid YAML: ${flaw.message.split('\n')[0]}`);
  const repeated = repeatedKey(document);
  if (repeated !== null)
    return refused(`${place(repeated)} not valid YAML: this key occurs twice; remove one of the two`);
  const { contents } = document;
  if (!isMap(contents)) return refused(`${place(0)} expected keys and values, ${like}`);
  const value = valueOf(document);
  if (value === null)
    return refused(
      `${place(0)} not valid YAML: a key is not text, or the file has too many aliases; write each key as text, and use fewer aliases`,
    );
  return {
    ok: true,
    value,
    root: contents,
    place,
    offset: problem => offsetOf(contents, problem),
    source: path => sourceAt(document, path, text),
  };
}

/** Returns the offset of a key that occurs twice in its map; `null` if none does. */
function repeatedKey(document: Document.Parsed): number | null {
  let found: number | null = null;
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          found = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

/** Returns the parsed value; `null` if a key is a list or a map, or if aliases expand to too many nodes. */
function valueOf(document: Document.Parsed): unknown {
  let words = true;
  visit(document, { Pair: (_, pair) => void (words &&= isScalar(pair.key)) });
  if (!words) return null;
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    return null;
  }
}

/** Returns the original text at a path; `null` if none. */
function sourceAt(document: Document.Parsed, path: readonly PropertyKey[], text: string): string | null {
  if (!document.hasIn(path)) return null;
  const node = document.getIn(path, true);
  if (isCollection(node)) return isMap(node) ? 'keys and values' : 'a list';
  if (!isScalar(node)) return 'an alias';
  if (node.value === null) return 'nothing';
  const [from, to] = node.range ?? [0, 0];
  return text.slice(from, to).replace(/\s+/g, ' ');
}

/**
 * Returns the offset to report: the offset of the value, or of the key if the key is wrong. If a key is missing,
 * returns the offset of the nearest parent key.
 */
function offsetOf(root: ParsedNode | null, problem: ErrorTarget): number {
  let node: unknown = root;
  let offset = 0;
  for (const [depth, step] of problem.path.entries()) {
    if (isMap(node)) {
      const pair = node.items.find(item => isScalar(item.key) && String(item.key.value) === String(step));
      if (!pair) return offset;
      const last = depth === problem.path.length - 1;
      const at = last && problem.aboutKey !== true && isScalar(pair.value) ? pair.value : pair.key;
      offset = (at as Node).range?.[0] ?? offset;
      node = pair.value;
    } else if (isCollection(node)) {
      node = node.get(step, true);
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
}
