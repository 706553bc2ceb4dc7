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

/** Pieces of YAML on a page; the indentation of a list is removed. */
const piecesOf = (path: string): readonly object[] =>
  [...fileOf(path).matchAll(/^( *)```yaml\n([\s\S]*?)```/gm)].map(
    ([, indent = '', text = '']) => parse(text.replaceAll(new RegExp(`^${indent}`, 'gm'), '')) as object,
  );

test('the first example of docs/exchanges.md is a remote exchange of the standard configuration', () => {
  const base = parse(fileOf('config/sandbox.yaml')) as object;
  const loaded = loadConfig(stringify({ ...base, ...piecesOf('docs/exchanges.md')[0] }), 'example');
  expect(loaded.ok ? [] : loaded.errors).toEqual([]);
});

test('the second example of docs/exchanges.md is the other exchange of a remote one, with the hedges of docs/hedging.md', () => {
  const base = parse(fileOf('config/elsewhere.yaml')) as { hedge: object };
  const hedge = piecesOf('docs/hedging.md').find(piece => JSON.stringify(piece).includes('elsewhere')) as typeof base;
  const [, elsewhere] = piecesOf('docs/exchanges.md');
  const { exchange } = parse(fileOf('config/live.yaml')) as { exchange: object };
  const whole = { ...base, exchange, ...elsewhere, hedge: { ...base.hedge, ...hedge.hedge } };
  const loaded = loadConfig(stringify(whole), 'example');
  expect(loaded.ok ? [] : loaded.errors).toEqual([]);
});
