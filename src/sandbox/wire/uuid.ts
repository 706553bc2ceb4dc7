/**
 * Version 4 UUIDs from the venue's seeded randomness. `node:crypto` cannot be seeded, and the package uuid 14.0.3 would
 * add 316 kB.
 */
import type { Random } from '../../core/index.ts';

/** Returns a UUID in lower case, from 16 random draws. */
export function randomUuid(random: Random): string {
  const hex = bytesOf(random, 16).map((byte, i) =>
    i === 6 ? (byte & 0x0f) | 0x40 : i === 8 ? (byte & 0x3f) | 0x80 : byte,
  );
  const text = hex.map(byte => byte.toString(16).padStart(2, '0')).join('');
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join('-');
}

/** Whether the text is a UUID of any version, in either case. */
export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);

/** Returns `count` random whole numbers from 0 to 255, with one draw each. */
export const bytesOf = (random: Random, count: number): number[] =>
  Array.from({ length: count }, () => random.integer(0, 255));

/** Returns `bytes` random bytes in hexadecimal, as blockchains write them: 0x, then the digits. */
export const randomHex = (random: Random, bytes: number): string =>
  `0x${Buffer.from(bytesOf(random, bytes)).toString('hex')}`;
