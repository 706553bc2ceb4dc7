/** Folders are created one by one: as a recursive mkdir would where that ends, and with one sentence where it would not. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { makeFolder, writeOutputFile } from '../../src/guard/index.ts';
import { claimStateDir } from '../../src/live/files/stateDir.ts';
import { writeOut } from '../../src/wiring/outFiles.ts';

const top = mkdtempSync(join(tmpdir(), 'puntas-folders-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
let made = 0;
const fresh = (): string => {
  const dir = join(top, String(made++));
  mkdirSync(dir);
  return dir;
};
const told = (work: () => void): string | null => {
  try {
    work();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};
const treeOf = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map(path => {
      const { mode } = statSync(join(dir, path));
      return `${path} ${mode.toString(8)}`;
    })
    .sort();

test('leaves the folders and permissions that a recursive mkdir leaves, and fails where that fails', () => {
  const path = fc.array(fc.constantFrom('a', 'b', 'c', '.', '..'), { minLength: 1, maxLength: 5 });
  const mode = fc.constantFrom(0o700, 0o755, 0o777);
  fc.assert(
    fc.property(fc.array(fc.tuple(path, mode), { maxLength: 4 }), fc.option(path), (folders, file) => {
      const [one, other] = [fresh(), fresh()];
      for (const dir of [one, other]) {
        mkdirSync(join(dir, 'x/y/z/u/v'), { recursive: true });
        if (file !== null) told(() => writeFileSync(join(dir, 'x/y/z/u/v', ...file.slice(0, 1)), ''));
      }
      for (const [parts, permissions] of folders) {
        const at = (dir: string): string => join(dir, 'x/y/z/u/v', ...parts);
        const mine = told(() => makeFolder(at(one), permissions));
        const theirs = told(() => mkdirSync(at(other), { recursive: true, mode: permissions }));
        expect(mine === null).toBe(theirs === null);
        if (mine !== null) expect(mine).toMatch(/^cannot create the folder \/\S+: [a-z ,]+$/);
      }
      expect(treeOf(one)).toEqual(treeOf(other));
    }),
    { numRuns: 150 },
  );
});

test('a link to a folder counts as one, a broken link does not', () => {
  const dir = fresh();
  mkdirSync(join(dir, 'real'));
  symlinkSync(join(dir, 'real'), join(dir, 'link'));
  symlinkSync(join(dir, 'none'), join(dir, 'broken'));
  makeFolder(join(dir, 'link/new'));
  expect(existsSync(join(dir, 'real/new'))).toBe(true);
  expect(() => makeFolder(join(dir, 'broken/new'))).toThrow(
    `cannot create the folder ${join(dir, 'broken')}: a file or a broken link has this name`,
  );
});

// There, a recursive mkdir of Node 20 never returns.
test.skipIf(!existsSync('/proc/self'))('a file system without new folders gives one sentence at each caller', () => {
  const why = (dir: string) => `cannot create the folder ${dir}: its file system accepts no new folders`;
  expect(told(() => makeFolder('/proc/x/y'))).toBe(why('/proc/x'));
  expect(told(() => writeOutputFile('/proc/x/report.html', ''))).toBe(why('/proc/x'));
  expect(told(() => writeOut('/proc/x/report.html', () => ''))).toBe(
    `/proc/x/report.html: ${why('/proc/x')}; choose another path for the output`,
  );
  expect(told(() => claimStateDir('/proc/st'))).toBe(
    `/proc/st: cannot create the state directory (${why('/proc/st')}); check state.dir and its owner`,
  );
});
