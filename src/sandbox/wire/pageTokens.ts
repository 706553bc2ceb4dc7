/** Opaque page tokens: AES-256-GCM, bound to the account, and identical for identical pages. */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { Random } from '../../core/index.ts';
import { bytesOf } from './uuid.ts';

const IV = 12;
const TAG = 16;

export class PageTokens {
  readonly #key: Buffer;
  readonly #ivKey: Buffer;

  constructor(random: Random) {
    this.#key = Buffer.from(bytesOf(random, 32));
    this.#ivKey = Buffer.from(bytesOf(random, 32));
  }

  /**
   * Encrypts a text. The IV is derived from account and text, so different texts have different IVs without a counter.
   */
  seal(accountId: string, text: string): string {
    const iv = createHmac('sha256', this.#ivKey)
      .update(JSON.stringify([accountId, text]))
      .digest()
      .subarray(0, IV);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(accountId));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** Decrypts a token. Returns `null` unless `seal` created it for this account. */
  open(accountId: string, token: string): string | null {
    const bytes = Buffer.from(token, 'base64url');
    // Several texts decode to the same bytes: the last base64 character has spare bits, and Node also decodes other
    // base64 alphabets. Only the canonical text is valid.
    if (bytes.toString('base64url') !== token || bytes.length < IV + TAG) return null;
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, IV));
    decipher.setAAD(Buffer.from(accountId)).setAuthTag(bytes.subarray(IV, IV + TAG));
    try {
      return decipher.update(bytes.subarray(IV + TAG), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      return null;
    }
  }
}
