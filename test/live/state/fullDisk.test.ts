/** A disk that is really full and one that is really read-only (small mounts of memory): what a start says, and what a halt leaves. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { sentenceOf } from '../../../src/messages/exits.ts';
import { openPaperAccount, paperAccountProblem } from '../../../src/live/state/paperAccount.ts';
import { DamagedState } from '../../../src/live/state/journal.ts';
import { readRecording } from '../../../src/live/recording/recordings.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { AT, markOf, opened, place } from '../states.ts';

const mounts: string[] = [];

/** A disk of its own of so many bytes; null where this process may not mount. */
function disk(size: string): string | null {
  const at = mkdtempSync(join(tmpdir(), 'puntas-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', at], { stdio: 'pipe' });
  } catch {
    rmSync(at, { recursive: true });
    return null;
  }
  mounts.push(at);
  return at;
}

afterEach(() => {
  for (const at of mounts.splice(0)) {
    execFileSync('umount', ['-l', at]);
    rmSync(at, { recursive: true, force: true });
  }
});

const probe = disk('64k');
/** In CI these always run: there a mount that fails is a failure. */
const canMount = probe !== null || process.env['CI'] !== undefined;
const fill = (at: string): void => {
  for (const bytes of [65_536, 4_096, 1])
    for (let i = 0; ; i++)
      try {
        writeFileSync(join(at, `filler-${bytes}-${i}`), Buffer.alloc(bytes), { flag: 'wx' });
      } catch {
        break;
      }
};

const free = (at: string): void => {
  for (const name of readdirSync(at)) if (name.startsWith('filler-')) rmSync(join(at, name));
};

describe.skipIf(!canMount)('a state directory (skipped where this process may not mount a disk)', () => {
  /** A used state on a disk of its own. The driver gives its files back late, so that it was made elsewhere. */
  function state(): { at: string; dir: string } {
    const at = disk('2m');
    if (at === null) throw new Error('a disk cannot be mounted here: run as root');
    const made = join(mkdtempSync(join(tmpdir(), 'puntas-made-')), 'state');
    const journal = opened(made);
    journal.intend([place('a-1-1')], AT);
    journal.flush(markOf('1000', '7'));
    latchIn(made).reserve();
    journal.close();
    const dir = join(at, 'state');
    cpSync(made, dir, { recursive: true });
    rmSync(dirname(made), { recursive: true });
    return { at, dir };
  }
  /** The same state, on a disk with room. */
  const moved = (dir: string): string => {
    const there = join(disk('8m')!, 'state');
    cpSync(dir, there, { recursive: true });
    return there;
  };
  const errorOf = (dir: string): unknown => {
    try {
      opened(dir, AT + 60_000).close();
    } catch (error) {
      return error;
    }
    throw new Error('it was taken up');
  };

  test('on a full disk says that room is missing, how to see it, and to move nothing; with room it goes on', () => {
    const { at, dir } = state();
    fill(at);
    const error = errorOf(dir) as DamagedState;
    expect(error).toBeInstanceOf(DamagedState);
    expect(error.message).toMatch(/^the state directory .* cannot be written: its disk is full/);
    expect(error.advice).toMatch(
      /^free up space on the disk of .* \(df -h .*\), then start again; leave the state directory in place/,
    );
    expect(error.advice).not.toMatch(/move/);
    const next = opened(moved(dir), AT + 120_000);
    expect(next.leftovers).toMatchObject({ orders: [{ id: 'a-1-1' }], marker: '7' });
    next.close();
  });

  test('on a read-only disk says that it must be made writable, and to move nothing; writable again it goes on', () => {
    const { at, dir } = state();
    execFileSync('mount', ['-o', 'remount,ro', at]);
    const error = errorOf(dir) as DamagedState;
    expect(error).toBeInstanceOf(DamagedState);
    expect(error.message).toMatch(/cannot be written: it is read-only/);
    expect(error.advice).toMatch(/^make .* writable again .*; leave the state directory in place/);
    expect(error.advice).not.toMatch(/move/);
    expect(() => opened(moved(dir), AT + 120_000).close()).not.toThrow();
  });

  test('that is full for a while loses no line of the recording, and marks by a gap what is more than it may hold back', () => {
    const { at, dir } = state();
    const journal = opened(dir, AT + 60_000);
    const told: string[] = [];
    const record = (count: number) => {
      for (let n = 0; n < count; n++) {
        // The last one fills more than the rest of a page that the file already has.
        const isLong = n === count - 1;
        told.push(`i${told.length}${isLong ? randomBytes(6_000).toString('base64') : ''}`);
        journal.record(told.at(-1)!);
      }
    };
    const recorded = () => [...readRecording(dir, journal.run)!.lines];
    for (const isFull of [false, true, true, false, true, false]) {
      record(3);
      if (isFull) {
        fill(at);
        expect(() => journal.flush()).toThrow(/no space/);
      } else {
        free(at);
        journal.flush();
        expect(recorded()).toEqual(told);
      }
      expect(journal.isWritable()).toBe(!isFull);
    }
    fill(at);
    record(10_002);
    expect(() => journal.flush()).toThrow(/no space/);
    free(at);
    journal.flush();
    const [until, after] = [told.length - 10_002, told.slice(-2)];
    expect(recorded()).toEqual([...told.slice(0, until), 'g', ...after]);
    journal.close();
  });

  test('that cannot be made at all on such a disk says the same', () => {
    const at = disk('256k')!;
    fill(at);
    expect(sentenceOf(caught(() => opened(join(at, 'new')).close()))).toMatch(/free up space/);
    const other = disk('256k')!;
    execFileSync('mount', ['-o', 'remount,ro', other]);
    expect(sentenceOf(caught(() => opened(join(other, 'new')).close()))).toMatch(/writable again/);
  });

  test.each(['bot', 'sentinel', 'person'] as const)(
    'on a full disk takes a halt by %s with its true reason, time and cause',
    by => {
      const { at, dir } = state();
      fill(at);
      latchIn(dir).set({ reason: 'the bot stood still for 31 s — really', at: AT + 5, by });
      expect(latchIn(dir).read()).toEqual({ reason: 'the bot stood still for 31 s — really', at: AT + 5, by });
      expect(existsSync(join(dir, 'HALTED.reserve'))).toBe(false);
    },
  );

  test('on a full disk takes a halt whose reason is longer than its room, cut', () => {
    const { at, dir } = state();
    fill(at);
    latchIn(dir).set({ reason: 'ä'.repeat(10_000), at: AT, by: 'sentinel' });
    expect(latchIn(dir).read()).toMatchObject({ reason: expect.stringMatching(/^ä{500,}$/) as string, by: 'sentinel' });
  });
});

describe.skipIf(!canMount)('a paper account (skipped where this process may not mount a disk)', () => {
  test.each([
    ['full', 'its disk is full', 'free up space', fill],
    ['read-only', 'it is read-only', 'writable again', (at: string) => execFileSync('mount', ['-o', 'remount,ro', at])],
  ] as const)(
    'on a %s disk names the disk as the cause, and never a new account as the remedy',
    (_, cause, remedy, spoil) => {
      const made = mkdtempSync(join(tmpdir(), 'puntas-made-'));
      const file = openPaperAccount(made);
      file.write([{ key: 'account', text: 'a balance' }], true);
      file.close();
      const at = disk('256k')!;
      const dir = join(at, 'state');
      cpSync(made, dir, { recursive: true });
      rmSync(made, { recursive: true });
      spoil(at);
      const error = caught(() => {
        const opened = openPaperAccount(dir);
        try {
          opened.write([{ key: 'account', text: 'x'.repeat(400_000) }], true);
        } catch (error) {
          throw paperAccountProblem(dir, error);
        } finally {
          opened.close();
        }
      });
      expect(String(error)).toContain(cause);
      expect(String(error)).toContain(remedy);
      expect(String(error)).not.toContain('--fresh');
    },
  );
});

const caught = (work: () => void): unknown => {
  try {
    work();
  } catch (error) {
    return error instanceof DamagedState ? new Error(error.advice) : error;
  }
  throw new Error('it did not fail');
};
