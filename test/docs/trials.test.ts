/** The page of trials names only tests that exist, and each planted bug with the test that finds it. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EDITS } from '../planted/edits.ts';
import { testsIn } from './testTitles.ts';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/development/trials.md', root), 'utf8');

/** The cells of the rows of a section's table, without its head. */
const rowsOf = (text: string, heading: string): readonly (readonly string[])[] =>
  (text.split(`\n## ${heading}`)[1] ?? '')
    .split('\n## ')[0]!
    .split('\n')
    .filter(line => line.startsWith('| '))
    .slice(1)
    .map(line =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map(cell => cell.trim().replaceAll('\\|', '|')),
    );

/** What a cell names that is not there; a cell that names nothing is one too. */
function missing(cell: string): readonly string[] {
  const named = [...cell.matchAll(/`([^`]+)`((?::? (?:and )?\*[^*]+\*,?)*)/g)];
  if (named.length === 0) return [`no file: ${cell}`];
  return named.flatMap(([, file, titles]) => {
    if (!existsSync(new URL(file!, root))) return [file!];
    const wanted = [...titles!.matchAll(/\*([^*]+)\*/g)].map(([, title]) => title!);
    const there = file!.endsWith('.ts') ? testsIn(file!, readFileSync(new URL(file!, root), 'utf8')) : [];
    return wanted.filter(title => !there.some(found => isOf(title, found.title))).map(title => `${file}: ${title}`);
  });
}

/** A title as it is in the file, or as one row of an `each` has it. */
function isOf(title: string, written: string): boolean {
  const parts = written.split(/%[sijdof]|\$\w+/).map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return title === written || (parts.join('').length > 8 && new RegExp(`^${parts.join('.+')}$`).test(title));
}

const sections = [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading!);

describe('the page of trials', () => {
  test('names for each item tests that exist', () => {
    const wrong = sections.flatMap(heading =>
      rowsOf(page, heading).flatMap(row =>
        missing(row[heading.startsWith('A2') ? 2 : 3] ?? '').map(it => `${row[0]}: ${it}`),
      ),
    );
    expect(wrong).toEqual([]);
  });

  test('and the threat model of SECURITY.md does so for whoever it names', () => {
    const rows = rowsOf(readFileSync(new URL('SECURITY.md', root), 'utf8'), 'Who can do what');
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.flatMap(row => missing(row[3] ?? '').map(it => `${row[0]}: ${it}`))).toEqual([]);
  });

  test('(a test that is gone would be found)', () => {
    expect(missing('`test/docs/trials.test.ts`: *names for each item tests that exist*')).toEqual([]);
    expect(missing('`test/docs/trials.test.ts`: *nothing*')).toEqual(['test/docs/trials.test.ts: nothing']);
    expect(missing('`test/docs/none.test.ts`')).toEqual(['test/docs/none.test.ts']);
    expect(missing('')).toEqual(['no file: ']);
    expect(isOf('is 5 or less', 'is %i or less')).toBe(true);
    expect(isOf('is 5 or more', 'is %i or less')).toBe(false);
  });

  test('has for each planted bug the test that the table of edits has', () => {
    for (const [bug, planted, tests] of rowsOf(page, 'A2')) {
      const names = [...planted!.matchAll(/\*([^*]+)\*/g)].map(([, name]) => name!);
      expect(names.length, bug).toBeGreaterThan(0);
      for (const name of names) {
        const edit = EDITS.find(one => one.name === name);
        expect(edit, name).toBeDefined();
        expect(tests).toContain(`\`${edit!.test}\``);
        expect(tests).toContain(`*${edit!.title}*`);
      }
    }
  });
});
