import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomOf, VirtualClock } from '../../../src/core/index.ts';
import { nonceV2 } from '../../../src/exchange/index.ts';
import { aheadUntil, durableNonces } from '../../../src/live/state/durableNonces.ts';

/** What is on disk about nonces; while it is full, what it is told is lost. */
function disk() {
  const written: bigint[] = [];
  const made = {
    written,
    isFull: false,
    get nonceMark() {
      return written.at(-1) ?? 0n;
    },
    reserveNonces: (mark: bigint) => {
      if (made.isFull) throw new Error('disk is full');
      written.push(mark);
    },
  };
  return made;
}

const atOnce = (work: () => void) => work();

describe('durable nonces', () => {
  test('no nonce leaves above what is on disk, and none comes twice, over any restarts, steps of the clock and full disks', () => {
    const step = fc.record({
      ms: fc.integer({ min: 0, max: 200_000 }),
      wall: fc.integer({ min: -7_200_000, max: 3_600_000 }),
      restarts: fc.boolean(),
      fills: fc.boolean(),
      draws: fc.integer({ min: 1, max: 5 }),
      /** Whether reservations that wait reach the disk before these draws. */
      waits: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.integer(), (steps, seed) => {
        const clock = new VirtualClock();
        const journal = disk();
        const late: (() => void)[] = [];
        const make = () =>
          durableNonces(nonceV2(clock, randomOf(seed), journal.nonceMark), journal, work => void late.push(work));
        let nonces = make();
        const sent: bigint[] = [];
        for (const { ms, wall, restarts, fills, draws, waits } of steps) {
          void clock.advance(ms);
          clock.step(wall);
          journal.isFull = false;
          if (restarts) {
            nonces = make();
            late.length = 0;
          }
          journal.isFull = fills;
          if (!waits) for (const work of late.splice(0)) work();
          for (let i = 0; i < draws; i++) {
            const nonce = BigInt(nonces.next());
            expect(nonce).toBeLessThanOrEqual(journal.nonceMark);
            expect(nonce).toBeGreaterThan(sent.at(-1) ?? -1n);
            expect(nonces.last()).toBe(nonce);
            sent.push(nonce);
          }
        }
      }),
    );
  });

  test('write to disk about once a minute, not once a request', async () => {
    const clock = new VirtualClock();
    const journal = disk();
    const nonces = durableNonces(nonceV2(clock, randomOf(1), 0n), journal, atOnce);
    for (let second = 0; second < 600; second++) {
      await clock.advance(1_000);
      nonces.next();
    }
    expect(journal.written.length).toBeLessThanOrEqual(12);
  });

  test('are reserved while enough are left, so that no request waits for the disk', async () => {
    const clock = new VirtualClock();
    const journal = disk();
    const nonces = durableNonces(nonceV2(clock, randomOf(1), 0n), journal, work => void clock.after(0, work));
    for (let second = 0; second < 600; second++) {
      await clock.advance(1_000);
      const written = journal.written.length;
      nonces.next();
      expect(journal.written.length).toBe(written);
    }
    await clock.advance(1_000);
    expect(journal.written.length).toBeGreaterThan(8);
  });

  test('write to disk about once in half a million requests while they are ahead of the clock', async () => {
    const clock = new VirtualClock();
    const journal = disk();
    durableNonces(nonceV2(clock, randomOf(1), 0n), journal, atOnce).next();
    clock.step(-3_600_000);
    const nonces = durableNonces(nonceV2(clock, randomOf(1), journal.nonceMark), journal, atOnce);
    const before = journal.written.length;
    for (let request = 0; request < 2_000; request++) {
      nonces.next();
      if (request % 10 === 0) await clock.advance(1_000);
    }
    expect(journal.written.length - before).toBeLessThanOrEqual(1);
  });

  test('wait for the disk once, however many requests come before it has room', () => {
    const clock = new VirtualClock();
    const journal = disk();
    const late: (() => void)[] = [];
    const nonces = durableNonces(nonceV2(clock, randomOf(1), 0n), journal, work => void late.push(work));
    clock.step(65_000);
    for (let request = 0; request < 5; request++) nonces.next();
    expect(late).toHaveLength(1);
    for (const work of late) work();
    for (let request = 0; request < 5; request++) nonces.next();
    expect([late.length, journal.written.length]).toEqual([1, 2]);
  });

  test('are not bounded lower by a reservation that waited while a later one was made', () => {
    const clock = new VirtualClock();
    const journal = disk();
    const late: (() => void)[] = [];
    const nonces = durableNonces(nonceV2(clock, randomOf(1), 0n), journal, work => void late.push(work));
    nonces.next();
    clock.step(65_000);
    nonces.next();
    clock.step(100_000);
    const sent = BigInt(nonces.next());
    expect([late.length, journal.written.length]).toEqual([1, 2]);
    for (const work of late) work();
    expect(journal.nonceMark).toBeGreaterThan(sent);
    expect(journal.written).toHaveLength(2);
  });

  test('are ahead of the clock until the first millisecond whose nonces are all above those that were reserved', () => {
    const millisecond = fc.integer({ min: 1_000, max: 1_000_000 });
    const rest = fc.constantFrom(0n, 1n, 499_999n, 999_999n);
    fc.assert(
      fc.property(millisecond, rest, fc.integer({ min: -100_000, max: 100_000 }), (at, digits, by) => {
        const mark = BigInt(at) * 1_000_000n + digits;
        const now = Math.max(0, at + by);
        const isAbove = (time: number): boolean => BigInt(time) * 1_000_000n >= mark;
        const ahead = aheadUntil(mark, now);
        if (isAbove(now)) {
          expect(ahead).toBeNull();
          return;
        }
        expect(isAbove(ahead!.until) && !isAbove(ahead!.until - 2)).toBe(true);
        // A block is 70 s: a nonce below it may never have been sent.
        expect(ahead!.isCertain).toBe(BigInt(now + 70_000) * 1_000_000n < mark);
      }),
      {
        examples: [
          [500_000, 0n, -70_000],
          [500_000, 1n, -70_000],
          [500_000, 0n, 0],
        ],
      },
    );
  });

  test('do not run away from the clock when a process is started again and again', async () => {
    const clock = new VirtualClock();
    const journal = disk();
    let ahead = 0;
    for (let start = 0; start < 200; start++) {
      const nonces = durableNonces(nonceV2(clock, randomOf(start), journal.nonceMark), journal, atOnce);
      for (let request = 0; request < 3; request++) {
        ahead = Math.max(ahead, Number(BigInt(nonces.next()) / 1_000_000n) - clock.now());
      }
      await clock.advance(1_000);
    }
    expect(ahead).toBeLessThanOrEqual(70_000);
  });

  test('are above everything that was reserved before', () => {
    const nonces = durableNonces(
      nonceV2(new VirtualClock(), randomOf(1), 5n * 10n ** 18n),
      { nonceMark: 5n * 10n ** 18n, reserveNonces: () => undefined },
      atOnce,
    );
    expect(BigInt(nonces.next())).toBeGreaterThan(5n * 10n ** 18n);
  });

  test('are given out when the disk is full too, because cancels need them; the mark is tried again each time', async () => {
    const clock = new VirtualClock();
    const journal = disk();
    const nonces = durableNonces(nonceV2(clock, randomOf(1), 0n), journal, atOnce);
    nonces.next();
    journal.isFull = true;
    const sent: bigint[] = [];
    for (let hour = 0; hour < 5; hour++) {
      await clock.advance(3_600_000);
      sent.push(BigInt(nonces.next()));
    }
    expect(new Set(sent).size).toBe(5);
    expect(sent.every(nonce => nonce <= journal.nonceMark)).toBe(true);
    journal.isFull = false;
    expect(BigInt(nonces.next()) / 1_000_000n).toBe(BigInt(clock.now()));
  });

  test('are refused at the start when not even one is on disk', () => {
    const journal = disk();
    journal.isFull = true;
    expect(() => durableNonces(nonceV2(new VirtualClock(), randomOf(1), 0n), journal, atOnce)).toThrow('disk is full');
  });
});
