/**
 * Change of one value in the text of a YAML file. Only the characters of the value change, so comments, order and
 * format stay. The result is parsed again and compared before it is returned.
 */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  parseAllDocuments,
  type Document,
  type Pair,
  type YAMLMap,
} from 'yaml';

export type ChangedYaml =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

type YamlValue = string | number | boolean;

/**
 * Returns the text with another value at a path of keys, or of indexes in lists. `null` removes the key. A missing key is
 * added to its section; a missing top-level section is added at the end. `text` is valid YAML within the limits of
 * `readYaml`.
 */
export function changedYaml(text: string, path: readonly string[], value: YamlValue | null): ChangedYaml {
  const document = onlyDocument(text);
  if (typeof document === 'string') return notChanged(document);
  const edited = editedText(text, document, path, value);
  if ('problem' in edited) return edited;
  const after = onlyDocument(edited.text);
  if (typeof after === 'string') return notChanged(`the changed file would not be valid YAML (${after})`);
  if (commentsOf(text) !== commentsOf(edited.text)) return notChanged('a comment of the file would be lost');
  const [was, is] = [document.toJS({ maxAliasCount: 100 }) as unknown, after.toJS({ maxAliasCount: 100 }) as unknown];
  if (yamlValueAt(is, path) !== (value ?? undefined))
    return notChanged('the new value cannot be written in the style of the file');
  return without(was, path) === without(is, path)
    ? edited
    : notChanged('other keys of the file would change; change the file with an editor');
}

const notChanged = (problem: string) => ({ ok: false, problem }) as const;

/** Returns the only document of a text, or what is wrong with the text. */
function onlyDocument(text: string): Document.Parsed | string {
  const documents = parseAllDocuments(text, { prettyErrors: false, uniqueKeys: false });
  if (!Array.isArray(documents) || documents.length === 0) return 'the file is empty';
  const [document] = documents;
  if (documents.length > 1) return 'the file has several YAML documents';
  const flaw = document!.errors[0];
  return flaw === undefined ? (document as Document.Parsed) : flaw.message.split('\n')[0]!;
}

/** Returns the text with the change, which is not checked yet. */
function editedText(
  text: string,
  document: Document.Parsed,
  path: readonly string[],
  value: YamlValue | null,
): ChangedYaml {
  let map: unknown = document.contents;
  for (const [depth, step] of path.entries()) {
    if (isAlias(map)) return notChanged(`${path.slice(0, depth).join('.')} is an alias, and a change would lose it`);
    if (isSeq(map)) {
      map = map.items[Number(step)];
      continue;
    }
    if (!isMap(map)) return notChanged(`${path.slice(0, depth).join('.') || 'the file'} is not a section of keys`);
    const pair = map.items.find(({ key }) => isScalar(key) && String(key.value) === step);
    const isLast = depth === path.length - 1;
    if (pair === undefined)
      return value === null ? notChanged('the file has no such key') : withAddedKey(text, map, path, depth, value);
    if (isLast) return value === null ? withoutKeyLine(text, map, pair) : withReplacedValue(text, pair, value);
    map = pair.value;
  }
  return notChanged('the path is empty');
}

function withReplacedValue(text: string, { value: node }: Pair, value: YamlValue): ChangedYaml {
  if (isAlias(node)) return notChanged('the value is an alias, and a change would lose it');
  if (!isScalar(node) || node.range === null || node.range === undefined)
    return notChanged('the value is a section or a list');
  if (node.anchor !== undefined)
    return notChanged(`the value has the anchor ${node.anchor}, and other values would change`);
  const [from, to] = node.range;
  const isOneLine = node.type === 'PLAIN' || node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE';
  if (!isOneLine || from === to || text.slice(from, to).includes('\n'))
    return notChanged('the value is not written on one line');
  return { ok: true, text: `${text.slice(0, from)}${yamlOf(value, node.type ?? 'PLAIN')}${text.slice(to)}` };
}

/** Adds the missing keys of a path before the first key of the section. */
function withAddedKey(
  text: string,
  map: YAMLMap,
  path: readonly string[],
  depth: number,
  value: YamlValue,
): ChangedYaml {
  const names = path.slice(depth);
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const last = `${names.at(-1)!}: ${yamlOf(value, 'PLAIN')}`;
  /** Returns the missing sections and the key, on lines after `indent`. */
  const block = (indent: string): string => {
    const sections = names.slice(0, -1).map((name, i) => `${name}:${end}${indent}${'  '.repeat(i + 1)}`);
    return `${sections.join('')}${last}`;
  };
  if (names.length > 1 && depth === 0) {
    if (map.flow === true || /^(?:\.\.\.|---)/m.test(text)) return notChanged('a section cannot be added to this file');
    const isEnded = text === '' || text.endsWith('\n');
    return { ok: true, text: `${text}${isEnded ? '' : end}${block('')}${end}` };
  }
  const first = map.items[0]?.key;
  const at = isScalar(first) ? first.range?.[0] : undefined;
  if (at === undefined) return notChanged('the section of the key is empty in the file');
  if (map.flow === true) {
    const flow = names.slice(0, -1).reduceRight((inner, name) => `${name}: { ${inner} }`, last);
    return { ok: true, text: `${text.slice(0, at)}${flow}, ${text.slice(at)}` };
  }
  const indent = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  if (/[^ ]/.test(indent)) return notChanged('a key cannot be added to this section');
  return { ok: true, text: `${text.slice(0, at)}${block(indent)}${end}${indent}${text.slice(at)}` };
}

/** Removes the line of a key. */
function withoutKeyLine(text: string, map: YAMLMap, { key, value }: Pair): ChangedYaml {
  const [from, to] = [isScalar(key) ? key.range?.[0] : undefined, isScalar(value) ? value.range?.[1] : undefined];
  if (from === undefined || to === undefined) return notChanged('the value is a section, a list or an alias');
  if (isScalar(value) && value.anchor !== undefined)
    return notChanged('the value has an anchor, and other values would change');
  if (map.flow === true || map.items.length === 1)
    return notChanged('the key is not on its own line, or is the only key of its section');
  const begin = text.lastIndexOf('\n', from - 1) + 1;
  const newline = text.indexOf('\n', to);
  const stop = newline < 0 ? text.length : newline + 1;
  if (/\S/.test(text.slice(begin, from)) || /\S/.test(text.slice(to, stop)))
    return notChanged('the line of the key has a comment, which would be lost');
  return { ok: true, text: `${text.slice(0, begin)}${text.slice(stop)}` };
}

/** Returns the YAML of a value, in the quotes of the earlier value if these can express it. */
function yamlOf(value: YamlValue, type: string): string {
  if (typeof value !== 'string') return plainText(value);
  if (type === 'PLAIN' && /^[A-Za-z][\w-]*$/.test(value) && !/^(?:true|false|null|yes|no|on|off)$/i.test(value))
    return value;
  return type === 'QUOTE_SINGLE' && /^[\x20-\x7e]*$/.test(value) && !value.includes("'")
    ? `'${value}'`
    : JSON.stringify(value);
}

/** Returns a number without an exponent where it has up to 20 decimal places. */
const plainText = (value: number | boolean): string =>
  typeof value === 'number' && /e-/.test(String(value)) ? value.toFixed(20).replace(/0+$/, '') : String(value);

/** Returns all comments of a text, in order. The lexer yields a comment as one piece that starts with `#`. */
const commentsOf = (text: string): string =>
  JSON.stringify([...new Lexer().lex(text)].filter(piece => piece.startsWith('#')));

function yamlValueAt(value: unknown, path: readonly string[]): unknown {
  let here = value;
  for (const step of path)
    here = typeof here === 'object' && here !== null ? (here as Readonly<Record<string, unknown>>)[step] : undefined;
  return here;
}

/** Returns a value as JSON without the key at a path, and without sections that this leaves empty. */
const without = (value: unknown, path: readonly string[]): string => JSON.stringify(pruned(value, path));

function pruned(value: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined || typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([name, inner]): readonly (readonly [string, unknown])[] => {
    if (name !== first) return [[name, inner]];
    if (rest.length === 0) return [];
    const left = pruned(inner, rest);
    return typeof left === 'object' && left !== null && Object.keys(left).length === 0 ? [] : [[name, left]];
  });
  return Object.fromEntries(entries);
}
