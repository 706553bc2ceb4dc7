/** The decisions in docs/adr: numbered without holes, each in the index, short, dated and with reasons; and nowhere else. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const names = readdirSync(join(ROOT, 'docs/adr'))
  .filter(name => name !== 'README.md')
  .sort();

describe('the decisions', () => {
  test('are numbered from 1 without holes, and the index has each with its title, in that order', () => {
    const index = [...textOf('docs/adr/README.md').matchAll(/^\| (\d{4}) \| \[(.+)\]\((.+)\) +\|$/gm)].map(
      ([, number, title, file]) => ({ number, title, file }),
    );
    const files = names.map((file, i) => {
      const [, number, title] = /^# (\d+)\. (.+)$/m.exec(textOf(`docs/adr/${file}`)) ?? [];
      expect([file, number]).toEqual([expect.stringMatching(/^\d{4}-[a-z0-9-]+\.md$/), String(i + 1)]);
      return { number: file.slice(0, 4), title, file };
    });
    expect(index).toEqual(files);
    expect(files.map(({ number }) => Number(number))).toEqual(files.map((_, i) => i + 1));
    expect(files.length).toBeGreaterThan(20);
  });

  test.each(names)('%s has a context, dated decisions with reasons, consequences, and at most ten lines', name => {
    const lines = textOf(`docs/adr/${name}`).split('\n').filter(Boolean);
    expect(lines.length).toBeLessThanOrEqual(10);
    const [, context, decision, ...more] = lines;
    expect(context).toMatch(/^Date: \d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\. Context: .+\.$/);
    expect(decision).toBe('Decision:');
    expect(more.at(-1)).toMatch(/^Consequences: .+\.$/);
    expect(more.length).toBeGreaterThan(1);
    for (const line of more.slice(0, -1)) expect(line).toMatch(/^- \d{4}-\d\d-\d\d: \*\*.+\.\*\* .+\.$/);
    // From the first to the last of its decisions.
    const dates = more.flatMap(line => /^- (\S+):/.exec(line)?.[1] ?? []).sort();
    expect(context!.match(/\d{4}-\d\d-\d\d/g)).toEqual([...new Set([dates[0], dates.at(-1)])]);
  });

  test('are kept there alone: the map has none', () => {
    const map = textOf('src/README.md');
    expect(map).toContain('](../docs/adr/README.md)');
    expect(map).not.toMatch(/^\| \d{4}-\d\d-\d\d \|/m);
  });
});
