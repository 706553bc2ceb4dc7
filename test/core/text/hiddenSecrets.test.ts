/** Secrets in texts that are shown: in any spelling, whole, in halves and in parts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskedText } from '../../../src/core/index.ts';

const of = (signs: string, min: number, max = min) =>
  fc.string({ unit: fc.constantFrom(...signs), minLength: min, maxLength: max });
const DIGITS = '0123456789';
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-';
/** A token of Telegram: the number of a bot, a colon, and what only the bot knows. */
const telegram = fc.tuple(of(DIGITS, 8, 10), of(BASE64URL, 35)).map(([id, rest]) => `${id}:${rest}`);
const secret = fc.oneof(
  telegram,
  of('0123456789abcdef', 32, 64),
  of(BASE64URL, 20, 40).map(text => `whsec_${text}`),
  of(BASE64URL, 24).map(text => `https://hooks.example.com/services/T01234567/${text}`),
);

const hex = (sign: string, digits: number) => sign.charCodeAt(0).toString(16).padStart(digits, '0');
const SPELLINGS: readonly ((sign: string) => string)[] = [
  sign => sign,
  sign => `%${hex(sign, 2)}`,
  sign => `%${hex(sign, 2).toUpperCase()}`,
  sign => `%25${hex(sign, 2)}`,
  sign => `\\u${hex(sign, 4)}`,
  sign => `\\x${hex(sign, 2)}`,
  sign => `&#x${hex(sign, 2)};`,
  sign => `&#${sign.charCodeAt(0)};`,
];

/** Each sign in a spelling of its own. */
const spelled = (text: string) =>
  fc
    .array(fc.nat(SPELLINGS.length - 1), { minLength: text.length, maxLength: text.length })
    .map(choices => choices.map((choice, i) => SPELLINGS[choice]!(text[i]!)).join(''));

const before = fc.constantFrom('', ' ', '"', '/bot', 'answers 404: ', 'https://api.telegram.org/', '{"url":"', '\n');
/** Text that begins with a sign of no secret: a letter could be part of what is hidden, as in `aaaaaaaa` before `answers`. */
const after = fc.constantFrom('', ' ', '"', '/sendMessage', ': answers 404', '","url":"', '\n');

describe('a text that is shown', () => {
  test('has no secret in it, however its characters are spelled', () => {
    fc.assert(
      fc.property(
        secret.chain(text => fc.tuple(fc.constant(text), spelled(text))),
        before,
        after,
        ([text, written], left, right) => {
          const shown = maskedText(`${left}${written}${right}`, ['an ordinary key', text]);
          expect(shown).toBe(`${left}[redacted]${right}`);
        },
      ),
    );
  });

  test('has no half of a token in it, and no part of eight characters and more of what only its owner knows', () => {
    fc.assert(
      fc.property(telegram, fc.nat(27), fc.integer({ min: 8, max: 35 }), before, (token, from, length, left) => {
        const [id, rest] = token.split(':') as [string, string];
        const part = rest.slice(from, from + length);
        for (const piece of [id, rest, ...(part.length >= 8 ? [part] : [])])
          // What stands before it may continue it to the left.
          expect(maskedText(`${left}${piece}; more`, [token])).toMatch(/^[^]{0,25}\[redacted\]; more$/);
      }),
    );
  });

  test('has none in hex or base64 either, also behind a name as in basic authentication', () => {
    fc.assert(
      fc.property(secret, of(BASE64URL, 0, 9), (text, name) => {
        const bytes = Buffer.from(`${name}:${text}`, 'utf8');
        const known = text.slice(6, -6);
        for (const shown of [
          maskedText(bytes.toString('base64'), [text]),
          maskedText(bytes.toString('base64url'), [text]),
        ]) {
          expect(shown).toContain('[redacted]');
          expect(Buffer.from(shown, 'base64').toString('latin1')).not.toContain(known);
        }
        expect(maskedText(Buffer.from(text).toString('hex'), [text])).toContain('[redacted]');
        expect(maskedText(Buffer.from(text).toString('hex').toUpperCase(), [text])).toContain('[redacted]');
      }),
    );
  });

  test('keeps everything else: what says nothing of a secret is shown as it is', () => {
    fc.assert(
      fc.property(secret, fc.lorem({ maxCount: 20 }), fc.nat(99), (text, words, percent) => {
        const plain = `${words} ${percent}%; a fill of 0.5 at 1500 (100%25) \\" &amp; https://hooks.example.com/`;
        expect(maskedText(plain, [text])).toBe(plain);
      }),
    );
    expect(maskedText('abc', ['abc', ''])).toBe('abc');
  });

  test('is masked in time that grows with its length alone', () => {
    const token = `123456789:${'A'.repeat(35)}`;
    const long = '%25'.repeat(100_000) + token.slice(0, 20).repeat(2_000);
    expect(maskedText(long, [token])).not.toContain('AAAAAAAA');
  });
});

test('the hash of a file stays readable after its name, and a signature of the same length does not', () => {
  const hash = 'ab12'.repeat(16);
  expect(maskedText(`approve it with the key strategy.sha256: ${hash}`, [])).toContain(hash);
  for (const text of [`signature ${hash}`, `Sha256=${hash}`, `%3A${hash}`, hash])
    expect(maskedText(text, [])).not.toContain(hash);
  // A known secret is masked wherever it stands.
  expect(maskedText(`strategy.sha256: ${hash}`, [hash])).not.toContain(hash);
});
