/** The users' pages stay short and plain: one kind a page, a budget of words, no sentence over 30, no test files, a command at the top of a how-to. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BUDGETS, STRATEGY_WORDS_MAX, WORDS_MAX } from './budgets.ts';
import { longSentencesIn, sentencesIn, wordsIn } from './prose.ts';
import { SECTIONS } from '../../website/.vitepress/pages.ts';

const ROOT = new URL('../../', import.meta.url);
const textOf = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8');

const listed = SECTIONS.flatMap(({ kind, pages }) => pages.map(({ file }) => ({ kind, file })));
const usersPages = [
  'README.md',
  ...readdirSync(new URL('docs/', ROOT))
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
];
const strategyPages = listed.map(({ file }) => file).filter(file => file.startsWith('strategies/'));
const wordsOf = (files: readonly string[]): number => files.reduce((sum, file) => sum + wordsIn(textOf(file)), 0);

/** An auditor asks for the test of each control. */
const CONTROLS = 'docs/controls.md';
const TESTS = /\btest\/[\w/.-]*/g;

describe("each users' page", () => {
  test('has exactly one kind', () => {
    for (const file of usersPages) {
      const kinds = listed.filter(page => page.file === file).map(({ kind }) => kind);
      expect(kinds.length, file).toBe(1);
      expect(kinds[0], file).not.toBe('contribute');
    }
    expect(new Set(listed.map(({ file }) => file)).size).toBe(listed.length);
  });

  test('has a budget of words, and keeps it', () => {
    expect(Object.keys(BUDGETS).sort()).toEqual([...usersPages].sort());
    const over = usersPages
      .map(file => ({ file, words: wordsIn(textOf(file)), max: BUDGETS[file]! }))
      .filter(({ words, max }) => words > max);
    expect(over).toEqual([]);
  });

  test('has no sentence over 30 words, and names no test file', () => {
    const found = [...usersPages, ...strategyPages].flatMap(file => [
      ...longSentencesIn(textOf(file)).map(sentence => `${file}: ${sentence}`),
      ...(file === CONTROLS ? [] : (textOf(file).match(TESTS) ?? [])).map(path => `${file}: ${path}`),
    ]);
    expect(found).toEqual([]);
  });

  test('of controls names only tests that exist, and a limit for each that has a key', () => {
    const text = textOf(CONTROLS);
    const tests = [...new Set(text.match(TESTS))];
    expect(tests.filter(path => !existsSync(new URL(path, ROOT)))).toEqual([]);
    expect(tests.length).toBeGreaterThan(10);
    const keys = [...text.matchAll(/`((?:limits|halts|sentinel)\.\w+)`/g)].map(([, key]) => key!);
    const reference = textOf('docs/configuration.md');
    expect(keys.filter(key => !reference.includes(`\`${key}\``))).toEqual([]);
  });

  test('that is a how-to has a command or a configuration in its first screen', () => {
    const without = listed
      .filter(({ kind }) => kind === 'do')
      .filter(
        ({ file }) => !/^```(?:sh|yaml)?$|`(?:npx )?puntas /m.test(textOf(file).split('\n').slice(0, 30).join('\n')),
      );
    expect(without).toEqual([]);
  });
});

test("all users' pages together, and each strategy page, keep their budget", () => {
  expect(wordsOf(usersPages)).toBeLessThanOrEqual(WORDS_MAX);
  expect(strategyPages.length).toBeGreaterThan(5);
  for (const file of strategyPages) expect(wordsIn(textOf(file)), file).toBeLessThanOrEqual(STRATEGY_WORDS_MAX);
});

test('sentences are those of the prose, and words those with a letter or a digit', () => {
  const page =
    '# Head\n\nOne two. Three\nfour `a.b`.\n\n- Five.\n- Six seven\n\n| a | b |\n\n```sh\nnot this\n```\n<!-- nor this -->\n';
  expect(sentencesIn(page)).toEqual(['One two.', 'Three four `a.b`.', 'Five.', 'Six seven']);
  expect(wordsIn('| a | 1 | --- |')).toBe(2);
  expect(longSentencesIn(`${'word '.repeat(31)}.`)).toHaveLength(1);
  expect(longSentencesIn(`${'word '.repeat(30)}.`)).toHaveLength(0);
});
