/** Signatures of requests: HMAC-SHA256 over nonce, method, target and body exactly as sent (public facts 2.1, 2.2). */
import { createHmac } from 'node:crypto';
import type { SecretText, WireRequest } from '../../../core/index.ts';

export type Credentials = {
  readonly key: string;
  readonly secret: SecretText;
  /**
   * Form of the headers. `authorization` (default) sends the single header that clients send today; `three` sends the
   * headers `key`, `signature` and `nonce`.
   */
  readonly headers?: 'authorization' | 'three';
};

type Unsigned = Pick<WireRequest, 'method' | 'target' | 'body'>;

/** Returns the signature in lower-case hex. */
export const signatureOf = (secret: SecretText, nonce: string, { method, target, body }: Unsigned): string =>
  createHmac('sha256', secret.reveal()).update(`${nonce}${method}${target}${body}`, 'utf8').digest('hex');

/** Returns the headers that authenticate a request. */
export function authHeaders(who: Credentials, nonce: string, signature: string): Record<string, string> {
  return who.headers === 'three'
    ? { key: who.key, nonce, signature }
    : { authorization: `Bitso ${who.key}:${nonce}:${signature}` };
}
