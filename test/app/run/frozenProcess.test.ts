/** Conditions under which a process counts as frozen, and the halt that its watch leaves. The end of a real process: `test/cli/run/frozenStrategy.test.ts`. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { frozenReason, FrozenTurns, haltFrozen, isFrozenBy } from '../../../src/app/run/frozenProcess.ts';
import { SuspectFiles } from '../../../src/app/run/suspectFiles.ts';
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
      `the strategy file own.ts@0123456789ab froze the bot with a loop in a timer or promise; trading is halted, and this process ends itself; its orders may be open until the next start, or: puntas halt --cancel --state ${stateDir} --reason "..."; correct the file and start the bot, which names the key that approves the corrected file, then: puntas resume --state ${stateDir} --reason "..."`,
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

describe('the files that may have frozen the bot', () => {
  test('are, after a turn of the event loop, exactly those in force and those that ran since the last reload', () => {
    const names = ['good.ts@1', 'refused.ts@2', 'loop.ts@3', 'other.ts@4'];
    const files = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 });
    const reload = fc.record({ run: files, isApplied: fc.boolean() });
    fc.assert(
      fc.property(files, fc.array(reload), files, (atStart, reloads, running) => {
        const suspects = new SuspectFiles();
        for (const name of atStart) suspects.add(name);
        let inForce = atStart;
        for (const { run, isApplied } of reloads) {
          for (const name of run) suspects.add(name);
          expect(suspects.names.toSorted()).toEqual([...new Set([...inForce, ...run])].toSorted());
          if (isApplied) inForce = run;
          suspects.settle(inForce);
          // The promises of the reload run before the turn.
          expect(suspects.names).toEqual(expect.arrayContaining([...run]));
          suspects.turn();
          expect(suspects.names.toSorted()).toEqual(inForce.toSorted());
        }
        suspects.settle(inForce);
        // A reload that begins before the turn.
        for (const name of running) suspects.add(name);
        expect(suspects.turn()).toBe(false);
        expect(suspects.names.toSorted()).toEqual([...new Set([...inForce, ...running])].toSorted());
      }),
    );
  });

  test('still count if a reload runs them again before the turn of the event loop', () => {
    const suspects = new SuspectFiles();
    for (const name of ['good.ts@1', 'loop.ts@2', 'refused.ts@3']) suspects.add(name);
    suspects.settle(['good.ts@1']);
    suspects.add('loop.ts@2');
    expect(suspects.turn()).toBe(true);
    expect(suspects.names).toEqual(['good.ts@1', 'loop.ts@2']);
  });
});
