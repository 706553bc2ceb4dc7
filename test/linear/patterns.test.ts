/**
 * No regular expression of the program takes more than linear time, whatever text it meets: recheck proves or attacks each. The verdicts on
 * patterns that it has seen are kept in patterns.txt, so that `npm test` checks only new ones; `npm run test:long` checks all of them again.
 */
import { readFileSync } from 'node:fs';
import { check } from 'recheck';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { sourcesIn } from '../imports.ts';
import { isMany } from '../many.ts';

const LIST = new URL('patterns.txt', import.meta.url);
/** More than recheck needs for the slowest pattern on a busy machine; a pattern that it cannot judge must be written in a simpler way. */
const TIMEOUT_MS = 60_000;

type Pattern = { readonly literal: string; readonly source: string; readonly flags: string; readonly at: string };

const sources = ['src', 'strategies', 'backtest'].flatMap(sourcesIn);

function patternsIn(path: string, text: string): readonly Pattern[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  const found: Pattern[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.push({
        ...{ literal: node.text, source: node.text.slice(1, end), flags: node.text.slice(end + 1) },
        at: `${path}:${line + 1}`,
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const isLinear = async ({ source, flags }: Pick<Pattern, 'source' | 'flags'>): Promise<boolean> =>
  (await check(source, flags, { timeout: TIMEOUT_MS })).status === 'safe';

describe('patterns', () => {
  const patterns = sources.flatMap(({ path, text }) => patternsIn(path, text));
  const known = new Set(readFileSync(LIST, 'utf8').split('\n'));

  test('take linear time, each of the program', async () => {
    const open = patterns.filter(({ literal }) => isMany || !known.has(literal));
    const slow: string[] = [];
    for (const pattern of open) if (!(await isLinear(pattern))) slow.push(`${pattern.at} ${pattern.literal}`);
    expect(slow).toEqual([]);
  });

  test('are listed once they are known to be linear, and no others are', async () => {
    const list = [...new Set(patterns.map(({ literal }) => literal))].sort();
    expect(list.length).toBeGreaterThan(200);
    await expect(`${list.join('\n')}\n`).toMatchFileSnapshot(LIST.pathname);
  });

  test('are written as literals: one that is put together from text could be of any form', () => {
    const built = sources.filter(({ text }) => /\bRegExp\s*\(/.test(text)).map(({ path }) => path);
    expect(built).toEqual([]);
  });

  test.each([String.raw`\d[Tt ].*([Zz]|[+-]\d\d:?\d\d)$`, '0+$', String.raw`^(\w+\s?)+$`])(
    'of more than linear time are recognized: %s',
    async source => expect(await isLinear({ source, flags: '' })).toBe(false),
  );
});
