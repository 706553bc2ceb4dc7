/** Signs requests: HMAC-SHA256 over nonce, method, target and body exactly as they are sent (public facts 2.1, 2.2). */
import { createHmac } from 'node:crypto';
import type { SecretText, WireRequest } from '../../core/index.ts';

export type Credentials = {
  readonly key: string;
  readonly secret: SecretText;
  /** `authorization` (default) is the one header of the public wire; `three` sends `key`, `signature` and `nonce` apart. */
  readonly headers?: 'authorization' | 'three';
};

type Unsigned = Pick<WireRequest, 'method' | 'target' | 'body'>;

/** Lower-case hex of the signature. */
export const signatureOf = (secret: SecretText, nonce: string, { method, target, body }: Unsigned): string =>
  createHmac('sha256', secret.reveal()).update(`${nonce}${method}${target}${body}`, 'utf8').digest('hex');

/** The headers that make the exchange believe it is us. */
export function authHeaders(who: Credentials, nonce: string, request: Unsigned): Record<string, string> {
  const signature = signatureOf(who.secret, nonce, request);
  return who.headers === 'three'
    ? { key: who.key, nonce, signature }
    : { authorization: `Bitso ${who.key}:${nonce}:${signature}` };
}
