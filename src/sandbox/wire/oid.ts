/**
 * Order ids: 16 characters of [A-Za-z0-9] (public-facts 3), random for account orders, derived for simulator orders.
 */
import { mixed, type Random } from '../../core/index.ts';

const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Returns a random id from 16 random draws. Collisions are not checked, because there are 62^16 possible ids. Keys,
 * secrets and v4 conversion ids also use this function.
 */
export function randomOid(random: Random): string {
  let oid = '';
  for (let i = 0; i < 16; i++) oid += CHARACTERS[random.integer(0, 61)]!;
  return oid;
}

/**
 * Returns the order id of a simulator order, computed from the book's salt and the order's number in the matching
 * engine, so that the id need not be stored.
 */
export function derivedOid(salt: number, id: number): string {
  let word = mixed((id | 0) ^ salt);
  let high = mixed(Math.floor(id / 2 ** 32) ^ Math.imul(salt, 0x9e3779b1));
  let oid = '';
  for (let part = 0; part < 4; part++) {
    word = mixed(word + high + part);
    high = mixed(high ^ word);
    let rest = word >>> 0;
    for (let i = 0; i < 4; i++) {
      oid += CHARACTERS[rest % 62]!;
      rest = Math.floor(rest / 62);
    }
  }
  return oid;
}
