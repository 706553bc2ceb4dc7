/** Keys that sign deliveries, and the public keys that verify the signatures (public-facts 15). */
import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Clock, Millis, Random } from '../../core/index.ts';
import { randomUuid } from '../wire/uuid.ts';

type Key = { readonly id: string; readonly secret: KeyObject; readonly open: string; readonly createdAt: Millis };

/** Maximum number of keys in the list. Old keys stay listed, so that older signatures can be verified. */
export const KEYS_LISTED_MAX = 5;

export class WebhookKeys {
  readonly #clock: Clock;
  readonly #random: Random;
  /** Keys, oldest first. Empty until first use, because generating a key takes time. */
  #keys: Key[] = [];

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /**
   * Generates a new signing key, from the system's random generator: the key need not follow from the seed, because no
   * other state depends on it.
   */
  rotate(): void {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const open = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    const key = { id: randomUuid(this.#random), secret: privateKey, open, createdAt: this.#clock.now() };
    this.#keys = [...this.#keys, key].slice(-KEYS_LISTED_MAX);
  }

  /** Returns the signature headers for the exact payload: RSA with SHA-256, PKCS#1 v1.5. */
  headers(payload: string): Record<string, string> {
    const { id, secret } = this.#newest();
    return {
      'x-bitso-webhook-event-signature': createSign('sha256').update(payload).sign(secret, 'base64'),
      'x-bitso-key-id': id,
    };
  }

  /** Returns the rows of the public key list. A public key is the Base64 of its DER SubjectPublicKeyInfo. */
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
