/**
 * Signatures of Kraken's private requests: HMAC-SHA512 of the path and SHA-256 of nonce and body, in Base64. Source:
 * docs.kraken.com/api/docs/guides/spot-rest-auth; ccxt 4.5.84 js/src/kraken.js `sign`.
 */
import { createHash, createHmac } from 'node:crypto';
import type { SecretText } from '../../../core/index.ts';

/**
 * Returns the value of the header `API-Sign`. `path` is the complete path, such as `/0/private/Balance`; `body` is the
 * form as sent, which contains the nonce.
 */
export function krakenSignature(secret: SecretText, path: string, nonce: string, body: string): string {
  const digest = createHash('sha256').update(`${nonce}${body}`, 'utf8').digest();
  const key = Buffer.from(secret.reveal(), 'base64');
  return createHmac('sha512', key)
    .update(Buffer.concat([Buffer.from(path, 'utf8'), digest]))
    .digest('base64');
}
