/**
 * Authentication of requests: the signature over the exact target and body, the nonce, and the key's permissions
 * (public-facts 2).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock, WireRequest } from '../../core/index.ts';
import type { ApiKey, Permission } from './accounts.ts';
import { done, refused, type Verdict } from '../wire/codes.ts';
import type { Switches } from '../switches/switches.ts';

type Credentials = { readonly key: string; readonly nonce: string; readonly signature: string };

/** Returns the HMAC-SHA256 of nonce, method, target and body, in lower-case hex. */
export const expectedSignature = (
  secret: string,
  nonce: string,
  request: Pick<WireRequest, 'method' | 'target' | 'body'>,
): string =>
  createHmac('sha256', secret)
    .update(nonce)
    .update(request.method)
    .update(request.target)
    .update(request.body)
    .digest('hex');

/** Checks requests against the keys of a venue and remembers used nonces. */
export class Gate {
  readonly #keys: ReadonlyMap<string, ApiKey>;
  readonly #clock: Clock;
  /**
   * Used v2 nonces by key, in two sets. When the recent set is full, it becomes the older set and the previous older
   * set is dropped. Nonces are stored as numbers, because a slice of a header would keep the full header in memory.
   */
  readonly #seen = new Map<string, { recent: Set<bigint>; older: Set<bigint> }>();
  /** Highest v1 nonce by key. */
  readonly #highest = new Map<string, bigint>();

  constructor(keys: ReadonlyMap<string, ApiKey>, clock: Clock) {
    this.#keys = keys;
    this.#clock = clock;
  }

  /**
   * Checks a request in this order: credentials present (0208), key exists (0201), key active (0326), account not
   * restricted (0216), address (0213), signature (0215), nonce (0206, 0207, 0201). A nonce counts as used only if all
   * earlier checks pass.
   */
  admit(request: WireRequest, address: string, switches: Switches): Verdict<ApiKey> {
    const credentials = credentialsOf(request, switches.authHeaders);
    if (credentials === null) return refused('0208');
    const key = this.#keys.get(credentials.key);
    if (!key) return refused('0201');
    if (!key.active) return refused('0326');
    if (key.account.restricted) return refused('0216');
    if (key.addresses && !key.addresses.has(address)) return refused('0213');
    const wanted = Buffer.from(expectedSignature(key.secret, credentials.nonce, request), 'latin1');
    const given = Buffer.from(credentials.signature, 'latin1');
    if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) return refused(switches.wrongSignature);
    return this.#useNonce(key, credentials.nonce, switches);
  }

  #useNonce(key: ApiKey, nonce: string, switches: Switches): Verdict<ApiKey> {
    if (!/^\d{1,40}$/.test(nonce)) return refused('0206');
    if (switches.nonce === 'unchecked') return done(key);
    if (switches.nonce === 'v1') {
      const value = BigInt(nonce);
      if (!(value > (this.#highest.get(key.key) ?? -1n)))
        return refused('0201', 'expected a nonce above the highest nonce of this API key');
      this.#highest.set(key.key, value);
      return done(key);
    }
    const shortest = switches.nonce === 'v2 strict' ? 14 : 13;
    if (!(nonce.length >= shortest && nonce.length <= 19)) return refused('0207');
    const skew = Math.abs(Number(nonce.slice(0, 13)) - this.#clock.now());
    if (switches.nonceSkewMs > 0 && !(skew <= switches.nonceSkewMs)) return refused('0207');
    let seen = this.#seen.get(key.key);
    if (!seen) this.#seen.set(key.key, (seen = { recent: new Set(), older: new Set() }));
    const value = BigInt(nonce);
    if (seen.recent.has(value) || seen.older.has(value)) return refused('0201', 'the nonce has been used before');
    if (seen.recent.size >= switches.noncesKept) {
      seen.older = seen.recent;
      seen.recent = new Set();
    }
    seen.recent.add(value);
    return done(key);
  }
}

/** Whether the key has a permission. Without the permission, the request is rejected with 0202 (public-facts 2.4). */
export const mayUse = (key: ApiKey, permission: Permission): boolean => key.permissions.has(permission);

function credentialsOf(request: WireRequest, form: Switches['authHeaders']): Credentials | null {
  const { headers } = request;
  if (form !== 'plain') {
    const parts = /^Bitso ([^:\s]+):([^:\s]+):([^:\s]+)$/.exec(
      headers['authorization'] ?? headers['Authorization'] ?? '',
    );
    if (parts) return { key: parts[1]!, nonce: parts[2]!, signature: parts[3]! };
  }
  if (form !== 'bitso') {
    const { key, nonce, signature } = headers;
    if (key !== undefined && nonce !== undefined && signature !== undefined) return { key, nonce, signature };
  }
  return null;
}
