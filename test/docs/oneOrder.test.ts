import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = readFileSync(`${ROOT}docs/development/one-order.md`, 'utf8');

/** Whether the file declares the name: as function, class, constant, method or property. */
function declares(file: string, name: string): boolean {
  const text = readFileSync(ROOT + file, 'utf8');
  const words = '(?:export |static |async |private |readonly |const |function |class )*';
  return new RegExp(`^\\s*${words}${name}(?=[(<:=]| =| \\{)`, 'm').test(text);
}

/** Rows of the page that begin with a name and its file. */
const hopsOf = (page: string) =>
  [...page.matchAll(/^\| `([#\w]+)` \| `([\w/.]+\.ts)` \|/gm)].map(([, name, file]) => ({ name: name!, file: file! }));

test('every function of the page that follows one order is declared in the file that the page names', () => {
  const hops = hopsOf(PAGE);
  expect(hops.length).toBeGreaterThan(30);
  expect(hops.filter(({ name, file }) => !declares(file, name))).toEqual([]);
});

test('a name that a file does not declare would be found', () => {
  expect(declares('src/live/loop/run.ts', '#carryOut')).toBe(false);
  expect(declares('src/live/loop/run.ts', '#execute')).toBe(true);
});
