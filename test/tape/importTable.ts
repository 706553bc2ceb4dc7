/** The table of docs/development/evidence/importing.md: what each set of the recordings becomes, which the tests that read them hold it to. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { KIND, type Tape } from '../../src/tape/index.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/development/evidence/importing.md'), 'utf8');

type Told = {
  readonly set: string;
  /** Name of a file in docs/mappings; null where the format is known by its files. */
  readonly mapping: string | null;
  readonly book: string;
  readonly rows: number;
  readonly trades: number;
  readonly gaps: number;
};

/** Sets that the page says cannot be read, in the words with which it begins. */
export const UNREAD = [...PAGE.matchAll(/^- `([\w-]+)`: /gm)].map(([, set]) => set!);

export const TOLD: readonly Told[] = [
  ...PAGE.matchAll(/^\| `([\w/-]+)` +\| (.+?) +\| `([\w-]+)` +\| +([\d,]+) \| +([\d,]+) \| +([\d,]+) \|$/gm),
].map(([, set, how, book, ...counts]) => {
  const [rows, trades, gaps] = counts.map(text => Number(text.replaceAll(',', ''))) as [number, number, number];
  return { set: set!, mapping: /mappings\/(.+)\)/.exec(how!)?.[1] ?? null, book: book!, rows, trades, gaps };
});

export function expectAsTold(set: string, mapping: string | null, book: string, { columns, gaps }: Tape): void {
  const trades = columns.kind.reduce((sum, kind) => sum + Number(kind === KIND.trade), 0);
  const found = { set, mapping, book, rows: columns.length, trades, gaps: gaps.length };
  expect(TOLD.find(row => row.set === set && row.book === book)).toEqual(found);
}
