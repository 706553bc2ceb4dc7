/**
 * Token scan of JSON text that detects duplicate keys, which parsers treat differently: some keep the first value,
 * others the last.
 *
 * No package fits. lossless-json 4.3.3 accepts duplicates with equal values; json-bigint's strict mode rejects them.
 * Both packages overflow their stack on deep nesting, and neither returns a member's text as it was signed.
 */

/** Matches one token of JSON: a string, white space, or any other single character. */
const TOKEN = /"(?:[^"\\]|\\.)*"|\s+|[^\s"]/gsy;
/** Maximum nesting depth; deeper text counts as hostile. */
const DEPTH_MAX = 64;

/**
 * Returns why a text is ambiguous: a duplicate key in one object, in any encoding, or more than 64 levels. Returns
 * `null` if the text is unambiguous.
 *
 * Expects text that JSON.parse accepts. Runs in linear time.
 */
export function ambiguityOf(text: string): string | null {
  /** Keys of each enclosing object; `null` for a list. */
  const around: (Set<string> | null)[] = [];
  let last = '';
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [sign] = match;
    if (/^\s/.test(sign)) continue;
    if (sign === '{' || sign === '[') around.push(sign === '{' ? new Set() : null);
    if (around.length > DEPTH_MAX) return `more than ${DEPTH_MAX} levels`;
    if (sign === '}' || sign === ']') around.pop();
    if (sign === ':') {
      const key = keyOf(last);
      const keys = around.at(-1);
      if (keys?.has(key)) return `the key ${JSON.stringify(key.slice(0, 60))} occurs twice in one object`;
      keys?.add(key);
    }
    last = sign;
  }
  return null;
}

/**
 * Returns the text of a member of the outermost object. Removes white space between tokens; every other character is
 * unchanged. Returns `null` if the object has no such member.
 *
 * Expects unambiguous text that JSON.parse accepts.
 */
export function memberText(text: string, key: string): string | null {
  let depth = 0;
  let last = '';
  let found: string | null = null;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [sign] = match;
    if (/^\s/.test(sign)) continue;
    if (sign === '}' || sign === ']') depth--;
    if (found !== null && (depth === 0 || (depth === 1 && sign === ','))) return found;
    if (found !== null) found += sign;
    else if (depth === 1 && sign === ':' && keyOf(last) === key) found = '';
    if (sign === '{' || sign === '[') depth++;
    last = sign;
  }
  return null;
}

/** Decodes a key, so that different encodings of one key compare equal. */
function keyOf(sign: string): string {
  try {
    return String(JSON.parse(sign));
  } catch {
    return sign;
  }
}
