/** A process with too few files or too little memory ends with one line that says what to do, not in the middle of something. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HEAP_MIN_MB, openFilesIn, OPEN_FILES_MIN, smallLimitOf } from '../../src/wiring/processLimits.ts';
import { ROOT } from './program.ts';

const MAIN = join(ROOT, 'dist/src/main.js');
const ended = (script: string) => {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { status, stdout, stderr };
};

describe('a process', () => {
  test.each([24, 64, OPEN_FILES_MIN - 1])('that may have %d files open says how to get more', files => {
    for (const command of ['run --for 2s', 'status --state nowhere', 'halt --state nowhere --reason because']) {
      const { status, stderr } = ended(`ulimit -n ${files} && exec node ${MAIN} ${command}`);
      expect([status, stderr.trimEnd().split('\n').length]).toEqual([2, 1]);
      expect(stderr).toMatch(
        new RegExp(`^the limit of open files is ${files}, and Puntas needs 256; raise the limit with ulimit -n 1024`),
      );
    }
  });

  test('with as many as it needs runs', () => {
    const { status, stderr } = ended(`ulimit -n ${OPEN_FILES_MIN} && exec node ${MAIN} run --for 3s --json`);
    expect(stderr).not.toMatch(/EMFILE|files open/);
    expect(status).toBe(0);
  });

  test('with a small heap says so in one line; what takes orders out starts all the same', () => {
    const { status, stderr } = ended(`exec node --max-old-space-size=64 ${MAIN} run --for 2s`);
    expect([status, stderr.trimEnd().split('\n').length]).toEqual([2, 1]);
    expect(stderr).toMatch(
      /^the memory limit of Node is \d+ MB, and Puntas needs 120 MB; remove --max-old-space-size from NODE_OPTIONS/,
    );
    expect(ended(`exec node --max-old-space-size=64 ${MAIN} status --state nowhere`).stderr).toContain(
      'no such folder',
    );
  });

  test('whose limits cannot be read is not refused, and one that is no number is', () => {
    expect(openFilesIn('')).toBe(Infinity);
    expect(
      openFilesIn(
        'Limit  Soft Limit  Hard Limit\nMax open files            1024                 4096                 files\n',
      ),
    ).toBe(1024);
    expect(openFilesIn('Max open files            unlimited            unlimited            files\n')).toBe(Infinity);
    expect(smallLimitOf('run', { openFiles: Infinity, heapMb: HEAP_MIN_MB })).toBeNull();
    expect(smallLimitOf('run', { openFiles: Number.NaN, heapMb: 500 })).not.toBeNull();
    expect(smallLimitOf('run', { openFiles: 1_024, heapMb: Number.NaN })).not.toBeNull();
  });
});
