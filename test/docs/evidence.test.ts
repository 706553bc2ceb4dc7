/** The evidence of the third round names files, tests and scripts that exist, so that no row of it outlives what it rests on. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { testsIn } from './testTitles.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = 'docs/development/evidence/third-round.md';
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** The first table; those below it hold figures. */
const [table = ''] = readFileSync(join(ROOT, PAGE), 'utf8').split('\n## ');
const rows = table
  .split('\n')
  .filter(line => /^\|(?! ---| fault )/.test(line))
  .map(line => line.split('|')[2]!);

/** Missing files and tests that a row names. A file without a folder is next to the file before it; *italics* name a test of that file. */
function missingOf(row: string): readonly string[] {
  let file: string | null = null;
  const missing: string[] = [];
  for (const [, code, title] of row.matchAll(/`([^`]+)`|\*([^*]+)\*/g)) {
    if (title !== undefined) {
      const titles = file === null ? [] : testsIn(file, readFileSync(join(ROOT, file), 'utf8'));
      if (!titles.some(one => one.title === title)) missing.push(`${file}: ${title}`);
      continue;
    }
    const script = /^npm run (\S+)/.exec(code!)?.[1];
    const isSeed = /^\d+$/.test(code!);
    if (script !== undefined && !(script in scripts)) missing.push(code!);
    if (script !== undefined || isSeed || code === 'package.json') continue;
    const path: string = code!.includes('/') || file === null ? code! : join(dirname(file), code!);
    if (!existsSync(join(ROOT, path))) missing.push(path);
    else if (path.endsWith('.ts')) file = path;
  }
  return missing;
}

describe('the evidence of the third round', () => {
  test('names in each row at least one test or script, and nothing that does not exist', () => {
    expect(rows.length).toBeGreaterThan(25);
    expect(rows.filter(row => !/`[^`]+`/.test(row))).toEqual([]);
    expect(rows.flatMap(missingOf)).toEqual([]);
  });

  test('(a file, a test or a script that is gone would be found)', () => {
    expect(missingOf('`test/docs/gone.test.ts`')).toEqual(['test/docs/gone.test.ts']);
    expect(missingOf('`test/docs/links.test.ts`: *no such test*')).toEqual(['test/docs/links.test.ts: no such test']);
    expect(missingOf('`test/docs/links.test.ts`, `gone.test.ts`')).toEqual(['test/docs/gone.test.ts']);
    expect(missingOf('`npm run gone -- --seed 1`')).toEqual(['npm run gone -- --seed 1']);
  });
});
