import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomOf, VirtualClock } from '../../src/core/index.ts';
import { nonceV2 } from '../../src/exchange/index.ts';
import { durableNonces } from '../../src/live/durableNonces.ts';

/** What is on disk about nonces. */
function disk() {
  const written: bigint[] = [];
  return {
    written,
    get nonceMark() {
      return written.at(-1) ?? 0n;
    },
    reserveNonces: (mark: bigint) => void written.push(mark),
  };
}

describe('durable nonces', () => {
  test('no nonce leaves above what is on disk, and none comes twice, over any restarts and any steps of the clock', () => {
    const step = fc.record({
      ms: fc.integer({ min: 0, max: 200_000 }),
      wall: fc.integer({ min: -7_200_000, max: 3_600_000 }),
      restarts: fc.boolean(),
      draws: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.integer(), (steps, seed) => {
        const clock = new VirtualClock();
        const journal = disk();
        const make = () => durableNonces(nonceV2(clock, randomOf(seed), journal.nonceMark), journal);
        let nonces = make();
        const sent: bigint[] = [];
        for (const { ms, wall, restarts, draws } of steps) {
          void clock.advance(ms);
          clock.step(wall);
          if (restarts) nonces = make();
          for (let i = 0; i < draws; i++) {
            const nonce = BigInt(nonces.next());
            expect(nonce).toBeLessThanOrEqual(journal.nonceMark);
            expect(nonce).toBeGreaterThan(sent.at(-1) ?? -1n);
            sent.push(nonce);
          }
        }
      }),
    );
  });

  test('write to disk about once a minute, not once a request', async () => {
    const clock = new VirtualClock();
    const journal = disk();
    const nonces = durableNonces(nonceV2(clock, randomOf(1), 0n), journal);
    for (let second = 0; second < 600; second++) {
      await clock.advance(1_000);
      nonces.next();
    }
    expect(journal.written.length).toBeLessThanOrEqual(11);
  });

  test('do not run away from the clock when a process is started again and again', async () => {
    const clock = new VirtualClock();
    const journal = disk();
    let ahead = 0;
    for (let start = 0; start < 200; start++) {
      const nonces = durableNonces(nonceV2(clock, randomOf(start), journal.nonceMark), journal);
      for (let request = 0; request < 3; request++) {
        ahead = Math.max(ahead, Number(BigInt(nonces.next()) / 1_000_000n) - clock.now());
      }
      await clock.advance(1_000);
    }
    expect(ahead).toBeLessThanOrEqual(60_000);
  });

  test('are above everything that was reserved before', () => {
    const nonces = durableNonces(nonceV2(new VirtualClock(), randomOf(1), 5n * 10n ** 18n), {
      nonceMark: 5n * 10n ** 18n,
      reserveNonces: () => undefined,
    });
    expect(BigInt(nonces.next())).toBeGreaterThan(5n * 10n ** 18n);
  });

  test('are given out when the disk is full too, because cancels need them; the mark is tried again each time', () => {
    let tries = 0;
    const nonces = durableNonces(nonceV2(new VirtualClock(), randomOf(1), 0n), {
      nonceMark: 0n,
      reserveNonces: () => {
        tries++;
        throw new Error('disk is full');
      },
    });
    expect(BigInt(nonces.next())).toBeLessThan(BigInt(nonces.next()));
    expect(tries).toBe(2);
  });
});
