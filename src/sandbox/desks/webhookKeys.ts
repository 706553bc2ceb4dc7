/** Keys that deliveries are signed with, and their public halves for who checks the signature (public-facts 15). */
import { createSign, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Clock, Millis, Random } from '../../core/index.ts';
import { drawnUuid } from '../wire/uuid.ts';

type Key = { readonly id: string; readonly secret: KeyObject; readonly open: string; readonly createdAt: Millis };

/** Old keys stay in the list, so that what was signed with them can still be checked; this many at most. */
export const KEYS_LISTED_MAX = 5;

export class WebhookKeys {
  readonly #clock: Clock;
  readonly #random: Random;
  /** Newest last. Empty until something is signed or asked for: a key takes a moment to make. */
  #keys: Key[] = [];

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Signs with a new key from now on. The key itself is the machine's randomness, not the seed's: nothing else depends on it. */
  rotate(): void {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const open = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    const key = { id: drawnUuid(this.#random), secret: privateKey, open, createdAt: this.#clock.now() };
    this.#keys = [...this.#keys, key].slice(-KEYS_LISTED_MAX);
  }

  /** RSA with SHA-256, PKCS#1 v1.5, over the payload as it is sent. */
  headers(payload: string): Record<string, string> {
    const { id, secret } = this.#newest();
    return {
      'x-bitso-webhook-event-signature': createSign('sha256').update(payload).sign(secret, 'base64'),
      'x-bitso-key-id': id,
    };
  }

  /** Rows of the public list: Base64 of the DER SubjectPublicKeyInfo. */
  list(): readonly { key_id: string; public_key: string; created_at: string }[] {
    this.#newest();
    return this.#keys.map(key => ({
      key_id: key.id,
      public_key: key.open,
      created_at: new Date(key.createdAt).toISOString(),
    }));
  }

  #newest(): Key {
    if (this.#keys.length === 0) this.rotate();
    return this.#keys[this.#keys.length - 1]!;
  }
}
