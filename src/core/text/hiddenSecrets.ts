/** Search for secrets in text, complete or in part, in any encoding. */

/**
 * Minimum length of a part of a secret that is hidden wherever the part occurs. Shorter parts reveal little and occur
 * by chance.
 */
const PART_MIN = 8;
/**
 * Minimum length from which a segment of a secret (a word or a Base64 line) is also hidden where only a part of it
 * occurs.
 */
const LONG_MIN = 16;
/** Minimum length of a secret. Hiding shorter secrets would hide too much other text. */
const SECRET_MIN = 4;
/** Maximum depth of nested escapes, such as %25252F. */
const NESTED_MAX = 3;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  sol: '/',
  colon: ':',
};
const ESCAPE =
  /%([0-9a-f]{2})|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|\\([\\/"'])|&#x([0-9a-f]{1,6});|&#(\d{1,7});|&(amp|lt|gt|quot|apos|sol|colon);/gi;

/**
 * Decoded characters, each with the start and end of its encoding in the original text. If `places` is `null`, the text
 * is the original.
 */
type DecodedText = {
  readonly text: string;
  readonly places: { readonly from: number[]; readonly to: number[] } | null;
};

/** Decodes one level of escapes; returns `null` if the text has no escapes. */
function decodeEscapes({ text, places }: DecodedText): DecodedText | null {
  if (!/[%\\&]/.test(text)) return null;
  const [from, to]: [number[], number[]] = [[], []];
  let [meant, at] = ['', 0];
  const keep = (end: number): void => {
    meant += text.slice(at, end);
    for (; at < end; at++) {
      from.push(places?.from[at] ?? at);
      to.push(places?.to[at] ?? at + 1);
    }
  };
  let isEscaped = false;
  for (const found of text.matchAll(ESCAPE)) {
    isEscaped = true;
    keep(found.index);
    const last = found.index + found[0].length - 1;
    meant += meaningOf(found);
    from.push(places?.from[at] ?? at);
    to.push(places?.to[last] ?? last + 1);
    at = last + 1;
  }
  if (!isEscaped) return null;
  keep(text.length);
  return { text: meant, places: { from, to } };
}

/** Returns the character that an escape encodes. */
function meaningOf([, percent, unicode, byte, sign, hex, decimal, name]: RegExpExecArray): string {
  const code = percent ?? unicode ?? byte ?? hex;
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return decimal === undefined ? (sign ?? ENTITIES[name!.toLowerCase()]!) : String.fromCharCode(Number(decimal));
}

/** Search terms: complete secrets, and parts of long secrets. */
export type Hidden = {
  /** Complete secrets, longest first. */
  readonly whole: readonly string[];
  readonly parts: ReadonlySet<string>;
};

/** Returns the part of a URL that must be hidden: everything after the host. Returns other text unchanged. */
function withoutHost(secret: string): string {
  const address = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?[^/?#@]+(.*)$/is.exec(secret);
  return address === null ? secret : address[1]!;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Returns the segments of a secret whose parts are hidden: complete lines of Base64, otherwise words of letters and
 * digits.
 */
function segmentsOf(secret: string): readonly string[] {
  const path = withoutHost(secret);
  const words = (text: string): readonly string[] => text.split(/[^A-Za-z0-9_-]+/);
  return path === secret ? secret.split(/\s+/).flatMap(line => (BASE64.test(line) ? line : words(line))) : words(path);
}

/** Returns the search terms for these secrets. */
export function secretPatterns(secrets: readonly string[]): Hidden {
  const whole = new Set<string>();
  const parts = new Set<string>();
  for (const secret of secrets.filter(each => each.length >= SECRET_MIN)) {
    whole.add(secret);
    for (const segment of segmentsOf(secret)) {
      if (segment.length >= PART_MIN) whole.add(segment);
      if (segment.length >= LONG_MIN) for (const part of partsOfSegment(segment)) parts.add(part);
    }
    if (secret.length < PART_MIN) continue;
    const bytes = Buffer.from(secret, 'utf8');
    whole.add(bytes.toString('hex')).add(bytes.toString('hex').toUpperCase());
    for (const encoded of encodedOf(bytes)) if (encoded.length >= PART_MIN) whole.add(encoded);
  }
  return { whole: [...whole].sort((a, b) => b.length - a.length), parts };
}

const partsOfSegment = (text: string): string[] =>
  Array.from({ length: text.length - PART_MIN + 1 }, (_, i) => text.slice(i, i + PART_MIN));

/** Returns the base64 forms of `bytes` for each byte offset, without characters that depend on adjacent bytes. */
function encodedOf(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap(before => {
    const all = Buffer.concat([Buffer.alloc(before), bytes]);
    const from = before === 0 ? 0 : before === 1 ? 2 : 3;
    const to = Math.floor((all.length * 8) / 6);
    return (['base64', 'base64url'] as const).map(encoding => all.toString(encoding).slice(from, to));
  });
}

/** Replaces each secret, and each part of a secret, by `[redacted]`. */
export function hideSecrets(text: string, { whole, parts }: Hidden): string {
  if (whole.length === 0) return text;
  const isHidden = new Uint8Array(text.length);
  let count = 0;
  const hide = ({ places }: DecodedText, start: number, end: number): void => {
    count++;
    isHidden.fill(1, places?.from[start] ?? start, places?.to[end - 1] ?? end);
  };
  let meant: DecodedText | null = { text, places: null };
  for (let level = 0; meant !== null && level <= NESTED_MAX; level++) {
    for (const one of whole)
      for (let at = meant.text.indexOf(one); at >= 0; at = meant.text.indexOf(one, at + one.length))
        hide(meant, at, at + one.length);
    if (parts.size > 0)
      for (let at = 0; at + PART_MIN <= meant.text.length; at++)
        if (parts.has(meant.text.slice(at, at + PART_MIN))) hide(meant, at, at + PART_MIN);
    meant = decodeEscapes(meant);
  }
  if (count === 0) return text;
  return shownAround(text, isHidden);
}

function shownAround(text: string, isHidden: Uint8Array): string {
  let shown = '';
  let at = 0;
  while (at < text.length) {
    const next = isHidden.indexOf(isHidden[at] === 1 ? 0 : 1, at);
    const end = next < 0 ? text.length : next;
    shown += isHidden[at] === 1 ? '[redacted]' : text.slice(at, end);
    at = end;
  }
  return shown;
}
