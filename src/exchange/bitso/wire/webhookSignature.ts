/**
 * Signature check of deliveries: RSA with SHA-256 over the payload as compact text, with a key of the exchange's public
 * list (public-facts 15).
 */
import { createPublicKey, createVerify, type KeyObject } from 'node:crypto';
import { ambiguityOf, memberText, type Millis, type VenueWebhooks } from '../../../core/index.ts';

const SIGNATURE = 'x-bitso-webhook-event-signature';
const KEY_ID = 'x-bitso-key-id';

/**
 * Creates a check of signatures. `learn` adds keys. `onUnknown` is called for an unknown key id, at most once per ten
 * seconds, even if a sender invents key ids.
 */
export const signatureCheck: VenueWebhooks['signatures'] = ({ now, elapsed }, onUnknown) => {
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
          // An invalid key verifies nothing, so it is skipped.
        }
      }
    },
    check: async (header, body) => {
      const [signature, keyId] = [header(SIGNATURE), header(KEY_ID)];
      if (signature === undefined || keyId === undefined) return INVALID;
      const key = known.get(keyId);
      if (key === undefined) {
        if (elapsed() - askedAt >= KEY_REQUEST_EVERY_MS) {
          askedAt = elapsed();
          learned = false;
          onUnknown();
        }
        return learned ? INVALID : { kind: 'later' };
      }
      const signed = signedIn(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'), now());
      if (signed === null || !createVerify('sha256').update(signed.payload).verify(key, signature, 'base64'))
        return INVALID;
      return { kind: 'yes', says: signed.says };
    },
  };
};

const KEY_REQUEST_EVERY_MS = 10_000;
const INVALID = { kind: 'no' } as const;

/**
 * Maximum age of a delivery. On request, the exchange repeats events up to 60 days old (public-facts 15). Older
 * deliveries are rejected even with a valid signature.
 */
const AGE_MAX_MS = 61 * 86_400_000;
/** Maximum time by which a delivery may be in the future, because the exchange's clock may differ. */
const AHEAD_MAX_MS = 86_400_000;

/**
 * Returns the signed text as `payload`, and the event's name followed by the signed text as `says`. Returns `null` if
 * parsers could read the text differently, or if the time of the delivery is outside the allowed range.
 */
function signedIn(text: string, now: Millis): { readonly payload: string; readonly says: string } | null {
  const body = parsed(text);
  if (body === null || ambiguityOf(text) !== null) return null;
  const payload = memberText(text, 'payload');
  if (payload === null) return null;
  const { updated_at: updatedAt, created_at: createdAt } = (body['payload'] ?? {}) as Readonly<Record<string, unknown>>;
  const told = updatedAt ?? createdAt;
  const age = now - (typeof told === 'string' ? Date.parse(told) : now);
  if (!(age <= AGE_MAX_MS && age >= -AHEAD_MAX_MS)) return null;
  // The event's name is part of `says`, because the meaning of the payload depends on the name, which the signature
  // does not cover.
  const event = body['event'];
  return { payload, says: `${typeof event === 'string' ? event.toUpperCase() : ''}\n${payload}` };
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
