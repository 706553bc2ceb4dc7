import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { afterAll, describe, expect, test } from 'vitest';
import { newStrategy } from '../../src/app/develop/newStrategy.ts';
import { loadConfig } from '../../src/config.ts';
import type * as Index from '../../strategies/index.ts';
import { instrument, viewOf } from './examples.ts';
import { README_PARTS } from './readmeParts.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'puntas-new-strategy-'));
for (const folder of ['strategies', 'config', 'test/strategies']) {
  cpSync(join(repository, folder), join(root, folder), { recursive: true });
}
for (const link of ['src', 'node_modules']) symlinkSync(join(repository, link), join(root, link));
afterAll(() => rmSync(root, { recursive: true }));

const written = newStrategy(root, 'my-trial');
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('a new strategy', () => {
  test('is one folder, one line in the index, a configuration and a test', () => {
    expect(written).toEqual([
      'strategies/index.ts',
      'strategies/my-trial/parameters.ts',
      'strategies/my-trial/strategy.ts',
      'strategies/my-trial/README.md',
      'config/my-trial.yaml',
      'test/strategies/myTrial.test.ts',
    ]);
  });

  test('quotes both sides as it stands, with the parameters of its configuration', async () => {
    const { kindOf, strategies } = (await import(join(root, 'strategies/index.ts'))) as typeof Index;
    const { name: _, ...parameters } = (
      (await import('yaml')).parse(textOf('config/my-trial.yaml')) as { strategy: { name: string } }
    ).strategy;
    const kinds = strategies as unknown as Record<string, typeof strategies.imbalance>;
    const strategy = kindOf({ name: 'my-trial' as never }).make(
      kinds['my-trial']!.parameters.parse(parameters),
      instrument,
    );
    const { bids, asks } = strategy.quote(viewOf());
    expect([bids.length, asks.length]).toEqual([3, 3]);
  });

  test('passes the formatter, and its configuration every check but the name that this index has not', async () => {
    const options = await resolveConfig(join(repository, '.prettierrc.json'));
    for (const path of written) {
      const parser = { '.ts': 'typescript', '.md': 'markdown', '.yaml': 'yaml' }[extname(path)]!;
      expect(await format(textOf(path), { ...options, parser })).toBe(textOf(path));
    }
    const loaded = loadConfig(textOf('config/my-trial.yaml').replace('name: my-trial', 'name: imbalance'), 'a.yaml');
    expect(loaded.ok ? [] : loaded.errors).toEqual([]);
  });

  test('has a README with the parts of every README of a strategy', () => {
    for (const part of README_PARTS) expect(textOf('strategies/my-trial/README.md')).toContain(part);
  });

  test('has what the architecture asks of every file: a first sentence, and a comment at each exported function', () => {
    for (const path of written.filter(path => path.startsWith('strategies/my-trial/') && path.endsWith('.ts'))) {
      expect(textOf(path)).toMatch(/^\/\*\* .*\. \*\/\n/);
      expect(textOf(path)).not.toMatch(/(?<!\*\/)\nexport (?:function|const \w+ = \()/);
    }
  });

  test.each([
    ['my-trial', /my-trial\/parameters.ts already exists/],
    ['Order_Flow', /lower-case letters, digits and dashes/],
    ['../x', /lower-case letters, digits and dashes/],
  ])('with the name %s is refused, and nothing is written', (name, message) => {
    const before = textOf('strategies/index.ts');
    expect(() => newStrategy(root, name)).toThrow(message);
    expect(textOf('strategies/index.ts')).toBe(before);
  });

  test('is not begun where there are no sources', () => {
    expect(() => newStrategy(tmpdir(), 'x')).toThrow(/no strategies\/index.ts/);
  });
});
