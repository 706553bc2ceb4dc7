import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadConfig } from '../../src/config.ts';

const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the examples of docs/fair-value.md and docs/reference-price.md are taken by the standard configuration as they stand', () => {
  const pages = ['docs/fair-value.md', 'docs/reference-price.md'].map(fileOf).join('\n');
  const examples = [...pages.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text ?? '');
  expect(examples).toHaveLength(2);
  const base = parse(fileOf('config/sandbox.yaml')) as object;
  const timing = { timing: { bookPollMs: 2_000 } };
  const whole = Object.assign({}, base, timing, ...examples.map(text => parse(text) as object)) as object;
  const loaded = loadConfig(stringify(whole), 'example');
  expect(loaded.ok ? [] : loaded.errors).toEqual([]);
});
