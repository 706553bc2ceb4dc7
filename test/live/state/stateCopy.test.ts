import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { VirtualClock } from '../../../src/core/index.ts';
import { fromCopyOf } from '../../../src/live/state/stateCopy.ts';
import { Folders } from '../states.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const FILE = 'puntas.db';
/** A folder with a file and, unless it is null, its log. */
function folderWith(log: string | null): string {
  const dir = folders.fresh();
  mkdirSync(dir);
  writeFileSync(join(dir, FILE), 'rows');
  if (log !== null) writeFileSync(join(dir, `${FILE}-wal`), log);
  return dir;
}

/** The result or the error of a work that waits on this clock. */
async function endOf<T>(clock: VirtualClock, work: Promise<T>): Promise<T | string> {
  let end: { readonly of: T | string } | null = null;
  void work.then(
    of => (end = { of }),
    (error: unknown) => (end = { of: String(error) }),
  );
  for (let turn = 0; end === null && turn < 200; turn++) await clock.advance(25);
  return (end as { readonly of: T | string } | null)?.of ?? 'never';
}

test('a copy is read again, for a second, while it cannot be read, and no copy stays behind', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 45 }), fc.option(fc.string({ minLength: 1 })), async (failures, log) => {
      const dir = folderWith(log);
      const clock = new VirtualClock();
      const [began, copies] = [clock.elapsed(), [] as string[]];
      const read = (path: string): string => {
        copies.push(dirname(path));
        if (copies.length <= failures) throw new Error(`failed ${copies.length}`);
        return readFileSync(path, 'utf8') + (existsSync(`${path}-wal`) ? readFileSync(`${path}-wal`, 'utf8') : '');
      };
      const end = await endOf(clock, fromCopyOf(dir, FILE, clock, read));
      expect(end).toBe(failures < 40 ? `rows${log ?? ''}` : 'Error: failed 40');
      expect(copies).toHaveLength(Math.min(failures + 1, 40));
      expect(new Set(copies).size).toBe(copies.length);
      expect(copies.filter(copy => existsSync(copy))).toEqual([]);
      expect(clock.elapsed() - began).toBeLessThanOrEqual(1_000);
    }),
    {
      numRuns: 12,
      examples: [
        [39, 'log'],
        [40, null],
      ],
    },
  );
});

test('without its file there is nothing to read, whatever else is there', async () => {
  const dir = folderWith('log');
  rmSync(join(dir, FILE));
  const read = (): never => expect.fail('there is no file');
  expect(await fromCopyOf(dir, FILE, new VirtualClock(), read)).toBeNull();
});
