/** Whether the exchange signed a delivery: RSA with SHA-256 over the payload as compact text, with a key of its public list (public-facts 15). */
import { createPublicKey, createVerify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Millis } from '../../core/index.ts';
import type { InboxOptions } from './listener.ts';

export type PublicKey = {
  readonly id: string;
  /** Base64 of the DER SubjectPublicKeyInfo. */
  readonly key: string;
};

/** Keys come in by `learn`; `onUnknown` asks for them, at most once in ten seconds, whoever makes up key ids. */
export function signatureCheck(
  elapsed: () => Millis,
  onUnknown: () => void,
): { readonly check: NonNullable<InboxOptions['signed']>; readonly learn: (keys: readonly PublicKey[]) => void } {
  const known = new Map<string, KeyObject>();
  let askedAt = -Infinity;
  let learned = false;
  return {
    learn: keys => {
      learned = true;
      for (const { id, key } of keys) {
        try {
          known.set(id, createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' }));
        } catch {
          // A key that is none verifies nothing.
        }
      }
    },
    check: async ({ signature, keyId }, body) => {
      if (signature === undefined || keyId === undefined) return 'no';
      const key = known.get(keyId);
      if (key === undefined) {
        if (elapsed() - askedAt >= ASK_EVERY_MS) {
          askedAt = elapsed();
          learned = false;
          onUnknown();
        }
        return learned ? 'no' : 'later';
      }
      const payload = payloadText(body.toString('utf8'));
      return payload !== null && createVerify('sha256').update(payload).verify(key, signature, 'base64') ? 'yes' : 'no';
    },
  };
}

const ASK_EVERY_MS = 10_000;

/** Strings, white space, and every other sign of JSON one by one. */
const TOKEN = /"(?:[^"\\]|\\.)*"|\s+|[^\s"]/gsy;

/** The value of the outermost `payload`, white space between its signs left out, every other character as it came; null when there is none. */
export function payloadText(text: string): string | null {
  let depth = 0;
  let isKey = false;
  let from = '';
  let payload: string | null = null;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [sign] = match;
    if (/^\s/.test(sign)) continue;
    const closes = sign === '}' || sign === ']';
    if (closes) depth--;
    if (depth === 1 && (sign === ',' || closes)) {
      if (closes && payload !== null) payload += sign;
      if (payload !== null) return payload;
      isKey = false;
      from = '';
    } else if (depth === 0 && closes) return payload;
    else if (payload !== null) payload += sign;
    else if (depth === 1 && sign === ':' && from === '"payload"') payload = '';
    else if (depth === 1 && !isKey) {
      from = sign;
      isKey = true;
    }
    if (sign === '{' || sign === '[') depth++;
  }
  return null;
}
