/** Alerts that are caused on running bots, which takes minutes, have the summaries of the rules as they are now. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { LIVES } from '../causes/lives.ts';

type Rule = { readonly alert?: string; readonly annotations?: { readonly summary: string } };
const rules = (
  parse(readFileSync(new URL('../../config/prometheus/alerts.yml', import.meta.url), 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly Rule[] }[];
  }
).groups.flatMap(group => group.rules);

/** Every record of alerts in the scenes, however deep. */
const alertsIn = (value: unknown): readonly (readonly [string, string])[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, each]) =>
        key === 'alerts' ? Object.entries(each as Record<string, string>) : alertsIn(each),
      );
const expected = alertsIn(LIVES);

test('a caused alert is expected with the words of its rule', () => {
  expect(expected.length).toBeGreaterThan(20);
  for (const [name, text] of expected) {
    const { summary } = rules.find(({ alert }) => alert === name)!.annotations!;
    const words = summary
      .split(/\{\{[^}]*\}\}/)
      .at(-1)!
      .replace(/^: /, '')
      .trim();
    const isBook = summary.startsWith('{{ $labels.book }}');
    // The tested bots have one book; an instance is an address, which no expectation can know.
    expect(text.startsWith(isBook ? 'btc_mxn: ' : '… '), `${name}: ${text}`).toBe(true);
    expect(text.endsWith(words), `${name}: ${text}`).toBe(true);
  }
});
