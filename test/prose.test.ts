/** Plain English in comments, messages and pages, as far as a machine can tell: openings, words that have a standard term, long sentences. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { WORDS_IN_SENTENCE_MAX, wordsIn } from './docs/prose.ts';
import { parsed, sourcesIn } from './imports.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** A comment says what something is or does: a noun phrase or a verb. "Whether" is for booleans. */
const OPENERS = /^(?:Of|What|Who|Whose|Where|When|Why|How|Which|Nobody|None|Nothing)\b/;
/** Words with one sense, which the field does not have, and what it says instead. */
const PRIVATE: Readonly<Record<string, RegExp>> = {
  'outcome, result': /\b(?:bec(?:ame|omes) of|c(?:ame|omes) of it)\b/i,
  'again, re-': /\banew\b/i,
  predict: /\bforet(?:ell|ells|old)\b/i,
  'validate, check': /\bheed(?:s|ed)?\b/i,
  'no one, never': /\bnobody\b/i,
  'another program, a trader': /\bsomebody\b/i,
  'anyone who, clients that': /\bwhoever\b/i,
  "the bot's": /\bof ours\b/i,
  'hedge route': /\bways? out\b/i,
  'fix, repair': /\bmend(?:s|ed)?\b/i,
};

/** Comments of a file without their marks; consecutive lines of `//` are one comment. */
function commentsOf(path: string, text: string): readonly string[] {
  const source = parsed(path, text);
  const ranges = new Map<number, ts.CommentRange>();
  const asked = new Set<number>();
  const add = (found: (at: number) => readonly ts.CommentRange[] | undefined, at: number): void => {
    if (asked.has(at)) return;
    asked.add(at);
    for (const range of found(at) ?? []) ranges.set(range.pos, range);
  };
  // Comments stand before the first and after the last character of a node, and before the end of a block.
  const visit = (node: ts.Node): void => {
    add(at => ts.getLeadingCommentRanges(text, at), node.pos);
    if (ts.isBlock(node)) add(at => ts.getLeadingCommentRanges(text, at), node.statements.end);
    ts.forEachChild(node, visit);
    for (const range of ts.getTrailingCommentRanges(text, node.end) ?? []) ranges.set(range.pos, range);
  };
  visit(source);
  const comments: string[] = [];
  let endOfLast = -1;
  for (const { kind, pos, end } of [...ranges.values()].sort((a, b) => a.pos - b.pos)) {
    const comment = text.slice(pos, end);
    if (kind === ts.SyntaxKind.MultiLineCommentTrivia) {
      const content = comment.replace(/^\/\*+|\*\/$/g, '').replace(/^\s*\* ?/gm, '');
      comments.push(content.trim());
      endOfLast = -1;
      continue;
    }
    const content = comment.replace(/^\/\/ ?/, '');
    const isNext = endOfLast >= 0 && /^\r?\n[ \t]*$/.test(text.slice(endOfLast, pos));
    if (isNext) comments.push(`${comments.pop() ?? ''} ${content}`);
    else comments.push(content.trim());
    // A note at the end of a line of code is a comment of its own.
    const isAlone = /^[ \t]*$/.test(text.slice(text.lastIndexOf('\n', pos) + 1, pos));
    endOfLast = isAlone ? end : -1;
  }
  return comments;
}

/** Reasons in recordings and metrics, and names of price steps: their texts are contracts. */
const CONTRACTS = /start(?:ed|ing) anew|counts its books anew|no way out was taken/g;

const sentencesOf = (text: string): readonly string[] => text.replace(/\s+/g, ' ').split(/(?<=[.!?:;])\s+/);

/** Faults of a text, each in a few words; `isComment`: a question word must not open it. */
function faultsOf(written: string, isComment: boolean): readonly string[] {
  const text = written.replace(CONTRACTS, '…');
  const faults: string[] = [];
  if (isComment && OPENERS.test(text)) faults.push(`opens with a question word or a preposition: ${text.slice(0, 60)}`);
  for (const [instead, pattern] of Object.entries(PRIVATE))
    for (const [word] of text.matchAll(new RegExp(pattern, 'gi'))) faults.push(`"${word}": write ${instead}`);
  for (const sentence of sentencesOf(text))
    if (wordsIn(sentence) > WORDS_IN_SENTENCE_MAX)
      faults.push(`more than ${WORDS_IN_SENTENCE_MAX} words: ${sentence.slice(0, 60)}`);
  return faults;
}

/** Prose of a page: without code, tables, pictures and addresses. */
const proseOf = (markdown: string): readonly string[] =>
  markdown
    .replace(/^ *```[\s\S]*?^ *```/gm, '')
    .replace(/^ *\|.*$/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split(/\n\s*\n|\n(?=[-*\d#])/)
    .map(block => block.trim())
    .filter(block => block !== '' && !block.startsWith('<'));

/** String literals and templates of a file that a person may read: at least four words. */
function messagesOf(path: string, text: string): readonly string[] {
  const messages: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) messages.push(node.text);
    else if (ts.isTemplateExpression(node))
      messages.push([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join(' … '));
    ts.forEachChild(node, visit);
  };
  visit(parsed(path, text));
  return messages.filter(message => wordsIn(message) >= 4);
}

const SOURCES = ['src', 'strategies', 'backtest'].flatMap(sourcesIn).map(({ path, text }) => ({
  path,
  comments: commentsOf(path, text),
  messages: messagesOf(path, text),
}));
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'src/README.md'].concat(
  readdirSync(join(ROOT, 'docs'))
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
);

test('comments open with what something is or does, have the standard terms, and no sentence over 30 words', () => {
  const faults = SOURCES.flatMap(({ path, comments }) =>
    comments.flatMap(comment => faultsOf(comment, true).map(fault => `${path}: ${fault}`)),
  );
  expect(faults).toEqual([]);
});

/**
 * Comments of tests, by folder, that open with a question word or a preposition: the ones from before the rule. A number
 * may only fall.
 */
const OPENERS_IN_TESTS: Readonly<Record<string, number>> = {
  '': 4,
  alerts: 7,
  app: 28,
  backtest: 27,
  bench: 26,
  browser: 11,
  causes: 16,
  chaos: 8,
  ci: 2,
  cli: 26,
  clients: 2,
  compose: 3,
  config: 2,
  conformance: 17,
  console: 3,
  core: 24,
  docs: 28,
  exchange: 5,
  flood: 4,
  guard: 1,
  hedge: 12,
  live: 31,
  messages: 2,
  monitor: 2,
  planted: 2,
  queue: 6,
  runbook: 4,
  sandbox: 5,
  scripts: 38,
  simulation: 57,
  strategies: 6,
  tape: 9,
  toyVenue: 5,
};

test('comments of tests open with a question word or a preposition in no new place', () => {
  const counts = new Map<string, number>();
  for (const { path, text } of sourcesIn('test')) {
    const [, folder = ''] = /^test\/(?:([^/]+)\/)?/.exec(path) ?? [];
    const found = commentsOf(path, text).filter(comment => OPENERS.test(comment)).length;
    if (found > 0) counts.set(folder, (counts.get(folder) ?? 0) + found);
  }
  expect(counts.size).toBeGreaterThan(20);
  expect([...counts].filter(([folder, count]) => count > (OPENERS_IN_TESTS[folder] ?? 0))).toEqual([]);
});

test('messages have the standard terms', () => {
  const faults = SOURCES.flatMap(({ path, messages }) =>
    messages.flatMap(message =>
      faultsOf(message, false)
        .filter(fault => !fault.startsWith('more than'))
        .map(fault => `${path}: ${fault}`),
    ),
  );
  expect(faults).toEqual([]);
});

test('pages have the standard terms, and no sentence over 30 words', () => {
  const faults = PAGES.flatMap(page =>
    proseOf(readFileSync(join(ROOT, page), 'utf8')).flatMap(block =>
      faultsOf(block, false).map(fault => `${page}: ${fault}`),
    ),
  );
  expect(faults).toEqual([]);
});

test('each fault is found, and plain text has none', () => {
  const comments = commentsOf(
    'a.ts',
    '/** Of the book. */\nconst a = 1; // What came of it.\n// The bot\n// cancels.\n/* Nobody heeds it. */',
  );
  expect(comments).toEqual(['Of the book.', 'What came of it.', 'The bot cancels.', 'Nobody heeds it.']);
  expect(comments.map(comment => faultsOf(comment, true).length)).toEqual([1, 2, 0, 3]);
  expect(faultsOf(`The bot ${'quotes '.repeat(30)}.`, false)).toHaveLength(1);
  expect(faultsOf('Returns the best bid, in ticks; `null` if there is none.', true)).toEqual([]);
  expect(messagesOf('a.ts', "const a = ['a word', `the ${b} order was canceled`, 'four words are enough'];")).toEqual([
    'the  …  order was canceled',
    'four words are enough',
  ]);
  expect(proseOf('# A title\n\n| a | b |\n\n```sh\nnobody\n```\n\nText [link](x.md).')).toEqual([
    '# A title',
    'Text link.',
  ]);
});
