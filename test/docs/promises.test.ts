import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { testsIn } from './testTitles.ts';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/promises.md', root), 'utf8');
const evidence = readFileSync(new URL('docs/development/evidence/promises.md', root), 'utf8');
const rowsOf = (text: string): readonly string[] => text.split('\n').filter(line => /^\| \d+ \|/.test(line));
const numbersOf = (text: string): readonly number[] => rowsOf(text).map(row => Number(row.split('|')[1]));
const rows = rowsOf(evidence);

describe('the page of guarantees and its evidence', () => {
  test('number them alike, without a gap', () => {
    expect(numbersOf(page)).toEqual(rowsOf(page).map((_, i) => i + 1));
    expect(numbersOf(evidence)).toEqual(numbersOf(page));
    expect(rows.length).toBeGreaterThanOrEqual(10);
  });

  test('names for each a test that exists', () => {
    for (const row of rows) {
      const files = [...row.split('|')[3]!.matchAll(/`([^`]+)`/g)].map(([, file]) => file!);
      expect(files.length, row).toBeGreaterThan(0);
      for (const file of files) expect(existsSync(fileURLToPath(new URL(file, root))), file).toBe(true);
    }
  });

  test('names for each the tests that would fail first, which exist', () => {
    const section = evidence.split('## The tests, by name')[1]!.split('\n## ')[0]!;
    const lines = section.split('\n').filter(line => /^\d+\. /.test(line));
    expect(lines.map(line => Number.parseInt(line, 10))).toEqual(rows.map((_, i) => i + 1));
    for (const line of lines) {
      for (const [, file, titles] of line.matchAll(/`([^`]+)`: ((?:\*[^*]+\*(?:, )?)+)/g)) {
        const there = testsIn(file!, readFileSync(new URL(file!, root), 'utf8')).map(({ title }) => title);
        for (const [, title] of titles!.matchAll(/\*([^*]+)\*/g)) expect(there, file).toContain(title);
      }
      expect(line.match(/\*[^*]+\*/g)?.length ?? 0, line).toBeGreaterThan(0);
    }
  });

  test('gives the times that are the defaults', () => {
    const schema = JSON.parse(readFileSync(new URL('config/schema.json', root), 'utf8')) as {
      properties: Record<string, { properties: Record<string, { default: number }> }>;
    };
    const { timing, sentinel } = schema.properties;
    expect(page).toContain(
      `\`timing.requestDelayMaxMs\`, ${timing!.properties['requestDelayMaxMs']!.default / 1000} s`,
    );
    expect(page).toContain(
      `\`timing.tradeReportDelayMaxMs\`, ${timing!.properties['tradeReportDelayMaxMs']!.default / 1000} s`,
    );
    expect(page).toContain(`(${sentinel!.properties['ttlMs']!.default / 1000} s + 10 s)`);
  });
});
