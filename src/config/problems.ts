/** Configuration problems as lines for the operator, with position, expected value and value found. */
import type { z } from 'zod';
import { counted, editDistance } from '../core/index.ts';
import { currentKeyName, oldKeysIn } from './renamedKeys.ts';
import { keysOf, pathsOfKey, requiredKeysOf, schemaAt, unwrap } from './shape.ts';

/** Problem of a configuration. `aboutKey`: the key itself is wrong, not its value. */
export type Problem = {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly aboutKey?: boolean;
  /**
   * Path of the key that was probably intended instead of an unknown key. The absence of that key is not reported
   * separately.
   */
  readonly intendedKey?: string;
  /** Present if the configuration is accepted nevertheless. */
  readonly isWarning?: true;
};

type Issue = z.core.$ZodIssue;

/**
 * Maximum number of unknown keys of one section that are reported individually with a suggestion, because the search
 * takes time.
 */
const UNKNOWN_KEYS_REPORTED_MAX = 50;

/**
 * Returns the problems of one schema issue. `value`: the complete parsed file; `source` returns the text at a path, or
 * `null` if none.
 */
export function problemsOf(
  issue: Issue,
  schema: z.core.$ZodType,
  value: unknown,
  source: (path: readonly PropertyKey[]) => string | null,
): readonly Problem[] {
  if (issue.code === 'unrecognized_keys') {
    const told = issue.keys.slice(0, UNKNOWN_KEYS_REPORTED_MAX).map(key => unknownKey(key, issue.path, schema, value));
    const more = issue.keys.length - told.length;
    if (more === 0) return told;
    const next = [...issue.path, issue.keys[told.length]!];
    return [
      ...told,
      {
        path: next,
        message: `unknown key; ${counted(more - 1, 'more unknown key is', 'more unknown keys are')} not listed`,
        aboutKey: true,
      },
    ];
  }
  const found = source(issue.path);
  if (found === null) return [{ path: issue.path, message: missing(issue, schema, value) }];
  if (issue.code === 'invalid_key') {
    return [{ path: issue.path, message: issue.issues[0]?.message ?? issue.message, aboutKey: true }];
  }
  return [
    { path: issue.path, message: `${expectation(issue, found)}, found ${shownSource(found)}${advice(issue, found)}` },
  ];
}

function unknownKey(key: string, above: readonly PropertyKey[], schema: z.core.$ZodType, value: unknown): Problem {
  const known = keysOf(schemaAt(schema, value, above));
  const old = [...oldKeysIn(above)].filter(([, now]) => known.includes(now));
  const like = nearest(key, [...known, ...old.map(([name]) => name)]);
  const near = like === null || known.includes(like) ? like : currentKeyName(like);
  const here = [...above, key].join('.');
  const elsewhere = pathsOfKey(schema, currentKeyName(key)).filter(path => path !== here);
  const meant = near === null ? elsewhere[0] : [...above, near].join('.');
  // A key that is valid in this section with another `kind` is in the correct section, such as `exchange.seed` without
  // `kind: embedded`.
  if (near === null && pathsOfKey(schema, key).includes(here))
    return {
      path: [...above, key],
      message: `unknown key for this kind of ${above.map(String).join('.')}; remove it, or write one of ${known.join(', ')}`,
      aboutKey: true,
    };
  const rest = known.length > 0 ? `known keys: ${known.join(', ')}` : 'no key has this name';
  return {
    path: [...above, key],
    message: `unknown key; ${meant === undefined ? rest : `did you mean ${near ?? meant}?`}`,
    aboutKey: true,
    ...(meant === undefined ? {} : { intendedKey: meant }),
  };
}

function missing(issue: Issue, schema: z.core.$ZodType, value: unknown): string {
  const at = schemaAt(schema, value, issue.path);
  const isLimit = issue.path[0] === 'limits';
  const why = isLimit ? 'missing; required to trade the book' : 'missing';
  const keys = requiredKeysOf(at);
  if (keys.length > 0) return `${why}; expected the keys ${keys.join(', ')}`;
  if (issue.code === 'custom') return issue.message;
  if (issue.code === 'invalid_union' || issue.code === 'invalid_value') return `${why}; ${expectation(issue, '')}`;
  const description = at === null ? undefined : descriptionAt(schema, value, issue.path);
  return description === undefined ? why : `${why}; expected here: ${description.replace(/\.(\s.*)?$/s, '')}`;
}

/** Returns the description of a key from its outermost wrapper, which `schemaAt` removes. */
function descriptionAt(root: z.core.$ZodType, value: unknown, path: readonly PropertyKey[]): string | undefined {
  const parent = schemaAt(root, value, path.slice(0, -1));
  const member =
    parent && 'shape' in parent ? (parent.shape as Record<string, z.ZodType>)[String(path.at(-1))] : undefined;
  return member?.description ?? (member && (unwrap(member) as z.ZodType).description);
}

function expectation(issue: Issue, found: string): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'string' && isNumber(found)
        ? 'expected text in quotes'
        : `expected ${TYPES[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return `expected ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unitOf(issue.origin)}`;
    case 'too_big':
      return `expected ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unitOf(issue.origin)}`;
    case 'invalid_value':
      return `expected ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return `expected one of ${optionsOf(issue).join(', ')}`;
    case 'invalid_format':
    case 'custom':
    case 'not_multiple_of':
    case 'unrecognized_keys':
    case 'invalid_key':
    case 'invalid_element':
      return issue.message;
  }
}

/** Returns the advice on what to write instead; empty if the intended value is unclear. */
function advice(issue: Issue, found: string): string {
  const key = String(issue.path.at(-1));
  const negative = /^(["']?)-(\d{1,20}(?:\.\d{1,18})?)\1$/.exec(found)?.[2];
  if (
    negative !== undefined &&
    (issue.code === 'invalid_format' || (issue.code === 'invalid_type' && issue.expected === 'string'))
  )
    return `, below zero; amounts have no sign, so write ${key}: "${negative}"`;
  if (issue.code === 'invalid_type' && issue.expected === 'string' && isNumber(found)) {
    const text = /^\d{1,20}(\.\d{1,18})?$/.test(found) ? found : '0.25';
    return `, an unquoted number; write ${key}: "${text}"`;
  }
  const converted =
    issue.code === 'invalid_type' || issue.code === 'invalid_format' ? inUnitOf(key, issue, bare(found)) : null;
  if (converted !== null) return converted;
  if (issue.code === 'invalid_type' && /^(int|number)$/.test(issue.expected) && /^(["'])[\d.]+\1$/.test(found)) {
    return ', a quoted number; remove the quotes';
  }
  const near = nearest(bare(found), optionsOf(issue));
  return near === null ? '' : `; did you mean ${near}?`;
}

const bare = (found: string): string => found.replace(/^["']|["']$/g, '');
const MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, sec: 1_000, m: 60_000, min: 60_000, h: 3_600_000 };

/**
 * Converts a number with a unit to the unit in the key's name; `null` if the number has no unit, or an ambiguous one.
 */
function inUnitOf(key: string, issue: Issue, found: string): string | null {
  const [, number = '', unit = ''] = /^(\d{1,12}(?:\.\d{1,6})?) ?(ms|s|sec|m|min|h|%|bps)$/.exec(found) ?? [];
  const said = (unitOfKey: string, x: number) =>
    `; this key is in ${unitOfKey}: write ${key}: ${Number(x.toPrecision(12))}`;
  const ms = Number(number) * (MS[unit] ?? Number.NaN);
  if (key.endsWith('Ms') && ms >= 0) return said('milliseconds', ms);
  if (key.endsWith('Hours') && ms >= 0) return said('hours', ms / 3_600_000);
  if (key.endsWith('Bps') && unit === '%') return said('bps (1% is 100 bps)', Number(number) * 100);
  if (key.endsWith('Bps') && unit === 'bps') return said('bps', Number(number));
  if (issue.code === 'invalid_format' && unit === '%')
    return `, but this key is a fraction (1% is 0.01); write ${key}: "${Number((Number(number) / 100).toPrecision(12))}"`;
  return null;
}

/**
 * Returns the allowed values that the issue lists; empty if it lists none. For a union, zod's type lacks the field with
 * the values.
 */
function optionsOf(issue: Issue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  return issue.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options)
    ? issue.options.map(String)
    : [];
}

const TYPES: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  object: 'keys and values',
  record: 'keys and values',
  array: 'a list',
};

const unitOf = (origin: string): string => (origin === 'string' ? ' characters' : origin === 'array' ? ' entries' : '');
const isNumber = (source: string): boolean => /^[-+]?(\.?\d|\.inf|\.nan)/i.test(source);

/** Returns the text found in the file, shortened. Does not repeat text that may be a key or a secret. */
function shownSource(source: string): string {
  if (/[A-Za-z0-9+/=_-]{24,}/.test(source)) return `text of ${counted(source.length, 'character')}`;
  return source.length > 60 ? `${source.slice(0, 57)}...` : source;
}

/** Returns the most similar of the `known` words by edit distance, ignoring case; `null` if none is similar. */
function nearest(word: string, known: readonly string[]): string | null {
  const short = word.slice(0, 64);
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(short.length / 3)) + 1;
  for (const candidate of known) {
    const distance = Math.min(
      editDistance(comparableKey(short), comparableKey(candidate)),
      editDistance(wordKey(short), wordKey(candidate)),
    );
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns a key without `-`, `_` and upper case, so that max_order_value and maxOrderValue are equal. */
const comparableKey = (word: string): string => word.toLowerCase().replace(/[-_]/g, '');

/** Returns the sorted words of a key, so that max_order_value and orderValueMax are equal. */
const wordKey = (word: string): string =>
  word
    .split(/[-_]|(?=[A-Z])/)
    .map(part => part.toLowerCase().replace(/s$/, ''))
    .sort()
    .join('');
