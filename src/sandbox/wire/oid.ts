/** Order ids: sixteen characters of [A-Za-z0-9] (public-facts 3), drawn for accounts' orders and derived for the house's. */
import type { Random } from '../../core/index.ts';

const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Takes sixteen draws; that no two are the same is left to chance, 62^16 of them. Keys, secrets and conversions of v4 are made of it too. */
export function drawnOid(random: Random): string {
  let oid = '';
  for (let i = 0; i < 16; i++) oid += CHARACTERS[random.integer(0, 61)]!;
  return oid;
}

/** The oid of a house order: a function of the book's salt and the engine's id, so that nothing has to be kept for it. */
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

/** A bijection of 32-bit words whose every output bit depends on every input bit. */
function mixed(word: number): number {
  let h = word | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
