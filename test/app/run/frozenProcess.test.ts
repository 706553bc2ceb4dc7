/** Conditions under which a process counts as frozen, and the halt that its watch leaves. The end of a real process: `test/cli/run/frozenStrategy.test.ts`. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { frozenReason, FrozenTurns, haltFrozen, isFrozenBy } from '../../../src/app/run/frozenProcess.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';

/** Looks of the watch: whether the event loop turned since the last one, and processor time since then, in ms. */
const looks = fc.array(
  fc.record({
    isTurned: fc.integer({ min: 0, max: 39 }).map(n => n === 0),
    cpuMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 20_000 })),
  }),
  { maxLength: 120 },
);

/** Index of the look at which the process counts as frozen; -1 if none. */
function frozenAt(all: readonly { readonly isTurned: boolean; readonly cpuMs: number }[]): number {
  const count = new FrozenTurns();
  let [turns, cpuMs] = [0, 0];
  count.tick(turns, cpuMs);
  return all.findIndex(look => {
    if (look.isTurned) turns++;
    cpuMs += look.cpuMs;
    return count.tick(turns, cpuMs);
  });
}

describe('a process counts as frozen', () => {
  test('exactly after 20 looks without a turn of its event loop, in which it computed for 5 s', () => {
    fc.assert(
      fc.property(looks, all => {
        const expected = all.findIndex((_, i) => {
          const since = all.slice(0, i + 1);
          const still = since.slice(since.findLastIndex(({ isTurned }) => isTurned) + 1);
          return still.length >= 20 && still.reduce((sum, { cpuMs }) => sum + cpuMs, 0) >= 5_000;
        });
        expect(frozenAt(all)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['a loop', Array.from({ length: 30 }, () => ({ isTurned: false, cpuMs: 500 })), 19],
    ['a loop on a busy machine', Array.from({ length: 99 }, () => ({ isTurned: false, cpuMs: 100 })), 49],
    ['no suspended machine, whose looks stop too', [{ isTurned: false, cpuMs: 0 }], -1],
    ['no breakpoint and no slow disk', Array.from({ length: 9_999 }, () => ({ isTurned: false, cpuMs: 0.2 })), -1],
    ['no collection of garbage', Array.from({ length: 19 }, () => ({ isTurned: false, cpuMs: 4_000 })), -1],
    ['no busy bot', Array.from({ length: 9_999 }, (_, i) => ({ isTurned: i % 19 === 0, cpuMs: 2_000 })), -1],
  ])('with %s', (_, all, at) => {
    expect(frozenAt(all)).toBe(at);
  });
});

describe('the halt of a frozen bot', () => {
  const strategies = ['own.ts@0123456789ab'];
  const folder = () => mkdtempSync(join(tmpdir(), 'puntas-frozen-'));

  test('is on disk, also before the first start has made the folder, and names file and commands', () => {
    const stateDir = join(folder(), 'not/yet');
    expect(haltFrozen({ stateDir, strategies }, 7)).toBe(
      `the strategy file own.ts@0123456789ab froze the bot with a loop in a timer or promise; trading is halted, and this process ends itself; its orders may be open until the next start, or: puntas halt --cancel --state ${stateDir} --reason "..."; correct the file, then: puntas resume --state ${stateDir} --reason "..."`,
    );
    expect(latchIn(stateDir).read()).toEqual({ reason: frozenReason(strategies), at: 7, by: 'bot' });
  });

  test('keeps an earlier halt', () => {
    const stateDir = folder();
    const earlier = { reason: 'sentinel: x', at: 1, by: 'sentinel' } as const;
    latchIn(stateDir).set(earlier);
    expect(haltFrozen({ stateDir, strategies }, 7)).toContain('; trading is halted, and');
    expect(latchIn(stateDir).read()).toEqual(earlier);
  });

  test('that cannot be written is said', () => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    expect(haltFrozen({ stateDir: file, strategies }, 7)).toMatch(
      /; THE HALT COULD NOT BE WRITTEN TO DISK \(.+\), and/,
    );
  });

  test('names each of the last two files, and no other', () => {
    const halt = { reason: frozenReason(['a.ts@1', 'b.ts@2']), at: 1, by: 'bot' } as const;
    expect(['a.ts@1', 'b.ts@2', 'b.ts@3'].map(name => isFrozenBy(name, halt))).toEqual([true, true, false]);
    expect(isFrozenBy('a.ts@1', { ...halt, reason: 'a.ts@1 failed' })).toBe(false);
  });
});
