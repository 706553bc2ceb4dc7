/** What is kept how long is said once, and is what the code does. */
import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { configSchema } from '../../src/config/schema.ts';
import { ENTRIES_MAX } from '../../src/live/state/ledgerEntries.ts';
import { RUNS_MAX } from '../../src/live/recording/recordings.ts';
import { ENDED_MAX } from '../../src/live/state/journal.ts';

const docs = new URL('../../docs/', import.meta.url);
const page = readFileSync(new URL('state-directory.md', docs), 'utf8');
const section = page.split('## What is kept\n')[1]!.split('## ')[0]!;
const grouped = (n: number): string => n.toLocaleString('en-US');
const row = (start: string): string => section.split('\n').find(line => line.startsWith(`| ${start}`)) ?? '';

/** A default that is not said in the YAML. */
const defaults = configSchema.shape.journal.parse({});
const { keep, keepMb } = configSchema.shape.webhooks.unwrap().shape;

test('the table of what is kept has the bounds of the code', () => {
  expect(row('entries')).toContain(`the last ${grouped(ENTRIES_MAX)} one by one`);
  expect(row('orders that ended')).toContain(`the last ${grouped(ENDED_MAX)} `);
  expect(row('recordings')).toContain(`${grouped(defaults.keepMb)} MB (\`journal.keepMb\`), at most ${RUNS_MAX} runs`);
  expect(row('deliveries')).toContain(
    `the last ${grouped(keep.parse(undefined))} (\`webhooks.keep\`), and at most ${keepMb.parse(undefined)} MB (`,
  );
});

test('no other page of docs says how many of them are kept', () => {
  const others = readdirSync(docs).filter(
    name => name.endsWith('.md') && !['state-directory.md', 'configuration.md'].includes(name),
  );
  const twice = others.filter(name => {
    const text = readFileSync(new URL(name, docs), 'utf8');
    return [ENTRIES_MAX, ENDED_MAX].some(n =>
      new RegExp(`${grouped(n)}[^|\\n]*\\bkept\\b|\\bkept\\b[^|\\n]*${grouped(n)}`).test(text),
    );
  });
  expect(twice).toEqual([]);
});
