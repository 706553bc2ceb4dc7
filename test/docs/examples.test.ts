import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadConfig } from '../../src/config.ts';

const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the examples of docs/fair-value.md and docs/reference-price.md are taken by the standard configuration as they stand', () => {
  const pages = ['docs/fair-value.md', 'docs/reference-price.md'].map(fileOf).join('\n');
  const examples = [...pages.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text ?? '');
  expect(examples).toHaveLength(4);
  const [fair, reference, sources, ccxt] = examples.map(text => parse(text) as { fairValue: { reference: object } });
  const base = parse(fileOf('config/sandbox.yaml')) as object;
  const timing = { timing: { bookPollMs: 2_000 } };
  // A section `reference` has books or sources, and a basis of the sources replaces that of the fair value.
  const { basisMemory: _, ...part } = fair!.fairValue.reference as { basisMemory: string };
  const withSources = { fairValue: { ...fair!.fairValue, reference: part }, ...sources };
  const throughCcxt = { fairValue: withSources.fairValue, ...ccxt };
  for (const whole of [{ ...fair, ...reference }, withSources, throughCcxt]) {
    const loaded = loadConfig(stringify({ ...base, ...timing, ...whole }), 'example');
    expect(loaded.ok ? [] : loaded.errors).toEqual([]);
  }
});

test('the example of docs/exchanges.md is a remote exchange of the standard configuration', () => {
  const [, text = ''] = /```yaml\n([\s\S]*?)```/.exec(fileOf('docs/exchanges.md')) ?? [];
  const base = parse(fileOf('config/sandbox.yaml')) as object;
  const loaded = loadConfig(stringify({ ...base, ...(parse(text) as object) }), 'example');
  expect(loaded.ok ? [] : loaded.errors).toEqual([]);
});
