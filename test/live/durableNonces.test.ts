import { describe, expect, it } from 'vitest';
import { randomOf, VirtualClock } from '../../src/core/index.ts';
import { nonceV2 } from '../../src/exchange/index.ts';
import { durableNonces } from '../../src/live/durableNonces.ts';

describe('durable nonces', () => {
  it('are above everything that was reserved before, and reserved before they are given out', () => {
    const reserved: bigint[] = [];
    const journal = { nonceMark: 5n * 10n ** 18n, reserveNonces: (mark: bigint) => void reserved.push(mark) };
    const clock = new VirtualClock();
    const nonces = durableNonces(nonceV2(clock, randomOf(1), journal.nonceMark), journal);
    const nonce = BigInt(nonces.next());
    expect(nonce).toBeGreaterThan(journal.nonceMark);
    expect(reserved.at(-1)!).toBeGreaterThanOrEqual(nonce);
  });

  it('go on when the disk is full, because cancels need them, and are reserved as soon as it has room', () => {
    let isFull = true;
    const reserved: bigint[] = [];
    const reserveNonces = (mark: bigint) => {
      if (isFull) throw new Error('ENOSPC');
      reserved.push(mark);
    };
    const nonces = durableNonces(nonceV2(new VirtualClock(), randomOf(1)), { nonceMark: 0n, reserveNonces });
    const first = BigInt(nonces.next());
    isFull = false;
    expect(BigInt(nonces.next())).toBeGreaterThan(first);
    expect(reserved.length).toBe(1);
    expect(reserved[0]!).toBeGreaterThan(first);
  });
});
