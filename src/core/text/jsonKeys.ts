/**
 * JSON text looked at sign by sign: whether it says anything twice, which parsers that keep the last of two hide, and others that keep the first. No
 * package does both: lossless-json 4.3.3 lets two equal values of a key pass, json-bigint's strict mode refuses them, both overflow their stack on
 * deep nesting, and neither gives the text of a member as it was signed.
 */

/** Strings, white space, and every other sign of JSON one by one. */
const SIGN = /"(?:[^"\\]|\\.)*"|\s+|[^\s"]/gsy;
/** Deeper than anything that is meant to be read. */
const DEPTH_MAX = 64;

/**
 * What makes a text ambiguous: a key that stands twice in one object, in whatever spelling, or more than 64 levels. Null when each reader reads
 * the same. For text that JSON.parse takes; linear in its length.
 */
export function ambiguityOf(text: string): string | null {
  /** The keys of each object around the place; null for a list. */
  const around: (Set<string> | null)[] = [];
  let last = '';
  SIGN.lastIndex = 0;
  for (let match = SIGN.exec(text); match !== null; match = SIGN.exec(text)) {
    const [sign] = match;
    if (/^\s/.test(sign)) continue;
    if (sign === '{' || sign === '[') around.push(sign === '{' ? new Set() : null);
    if (around.length > DEPTH_MAX) return `it has more than ${DEPTH_MAX} levels`;
    if (sign === '}' || sign === ']') around.pop();
    if (sign === ':') {
      const key = keyOf(last);
      const keys = around.at(-1);
      if (keys?.has(key)) return `the key ${JSON.stringify(key.slice(0, 60))} stands twice in one object`;
      keys?.add(key);
    }
    last = sign;
  }
  return null;
}

/**
 * The value of a key of the outermost object, the white space between its signs left out, every other character as it came; null when there is
 * none. For text that JSON.parse takes and that is not ambiguous.
 */
export function memberText(text: string, key: string): string | null {
  let depth = 0;
  let last = '';
  let found: string | null = null;
  SIGN.lastIndex = 0;
  for (let match = SIGN.exec(text); match !== null; match = SIGN.exec(text)) {
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

/** A key as it is read, however it is spelled. */
function keyOf(sign: string): string {
  try {
    return String(JSON.parse(sign));
  } catch {
    return sign;
  }
}
