/** A count before a noun comes from `counted`, so that no message says "1 fills". */
import ts from 'typescript';
import { expect, test } from 'vitest';
import { parsed, sourcesIn } from './imports.ts';

/** Words with a final s after a value that are no plural noun: verbs, adverbs and units. */
const NO_PLURALS = new Set([
  ...['is', 'was', 'has', 'does', 'its', 'this', 'us', 'as', 'always', 'across', 'plus', 'minus', 'less', 'unless'],
  ...['ms', 's', 'bps', 'puntas', 'needs', 'says', 'differs', 'deletes', 'runs', 'starts', 'leads', 'follows'],
  ...['remains', 'accepts', 'exists', 'lists', 'belongs', 'continues', 'contains', 'uses', 'stays', 'takes', 'sets'],
  ...['rejects', 'gives', 'occurs', 'waits', 'exchanges', 'pass', 'costs', 'learns', 'returns', 'drops', 'reads'],
  ...[
    'lacks',
    'ends',
    'crosses',
    'covers',
    'serves',
    'contradicts',
    'counts',
    'cancels',
    'earns',
    'carries',
    'unpacks',
  ],
  ...['names', 'already', 'holdings', 'thousands'],
]);
/** Words that end a noun phrase, so that the plural behind them does not belong to the value. */
const FUNCTION_WORDS =
  /\b(?:of|in|is|was|has|at|and|or|to|for|from|on|by|with|that|than|a|an|the|per|bps|ms|MB|but|cannot|does|which|needs|while|until|its|already|takes|gives|as|also|within|before|expected|share|sets|lists|returns|times|drops|differs|exists|not|had)\b/;
/** Expressions that are no count, or above one by construction, by file. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // A recorded reason is a contract.
  'src/core/engine/emptySides.ts': ['orders.filter(mayLive).length'],
  'src/core/risk/hedgeDebt.ts': ['sides'],
  // A constant above one, plus a count.
  'src/config/text/yamlText.ts': ['YAML_MAX.signs + lines'],
  // Above a limit of at least one.
  'src/live/safety/sentinel.ts': ['counted.length'],
  // Currencies, names, prices and amounts.
  'src/tape/format/exportTape.ts': ['units'],
  'src/core/model/instrument.ts': ['rules.tickSize'],
  'src/exchange/bitso/wire/accountReplies.ts': ['major', 'total'],
  'src/exchange/kraken/wire/replies.ts': ['major'],
  'src/sandbox/binance/tradingRoutes.ts': ['other'],
  'src/live/state/ledgerEntries.ts': ['currency'],
  'src/console/page/deskPanel.ts': ['name'],
  'src/console/page/statePanels.ts': ['name'],
  'src/app/remote/remote.ts': ['ownName'],
  // A heading of a list, without a number.
  'backtest/compare/remarks.ts': ["reasons.length === 1 ? 'reason' : 'reasons'"],
  // Limits of a kilobyte and more, in a layer that imports nothing.
  'src/guard/body.ts': ['bytesMax'],
  'src/guard/files.ts': ['bytesMax'],
};

/** Whether an expression is a constant of a mechanism, such as ROWS_MAX, whose value is above one. */
const isConstant = (text: string): boolean =>
  /^[\d\s*+()-]*[A-Z][A-Z_0-9]*(?:\.\w+)?(?:\s*[*+]\s*[A-Z_\d]+)?$/.test(text);

/**
 * Whether an expression chooses between a noun and its plural by a count, or writes a single one by hand: the value is
 * counted in a way of its own.
 */
function isPluralChoice(node: ts.Node): node is ts.ConditionalExpression {
  if (!ts.isConditionalExpression(node) || !/=== 1$/.test(node.condition.getText())) return false;
  const { whenTrue: one, whenFalse: many } = node;
  if (ts.isStringLiteralLike(one) && ts.isStringLiteralLike(many)) return many.text === `${one.text}s`;
  return ts.isStringLiteralLike(one) && /^1 [a-z]/.test(one.text);
}

/** Values of a file directly before a plural noun, outside `counted`. */
function uncounted(path: string, text: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (isPluralChoice(node) && !EXCEPTIONS[path]?.includes(node.getText())) found.push(`${path}: ${node.getText()}`);
    if (ts.isTemplateExpression(node))
      for (const { expression, literal } of node.templateSpans) {
        if (/^ [a-z]+\(s\)/.test(literal.text) && !path.startsWith('src/sandbox/')) found.push(`${path}: (s)`);
        const [, between = '', noun = ''] = /^ ((?:[a-z-]+ ){0,2}?)([a-z]+s)\b/.exec(literal.text) ?? [];
        const value = expression.getText();
        if (noun === '' || NO_PLURALS.has(noun) || FUNCTION_WORDS.test(between)) continue;
        if (isConstant(value) || value.startsWith('counted(') || EXCEPTIONS[path]?.includes(value)) continue;
        found.push(`${path}: \${${value}} ${between}${noun}`);
      }
    ts.forEachChild(node, visit);
  };
  visit(parsed(path, text));
  return found;
}

test('no message has a bare count before a plural noun, or a plural of its own', () => {
  const sources = ['src', 'strategies', 'backtest'].flatMap(sourcesIn);
  expect(sources.length).toBeGreaterThan(700);
  expect(sources.flatMap(({ path, text }) => uncounted(path, text))).toEqual([]);
});

test('a bare count is found, and a verb, a constant and a counted noun are not', () => {
  const bare = 'const a = `${n} fills`; const b = `of ${list.length} live orders, and`;';
  expect(uncounted('a.ts', bare)).toEqual(['a.ts: ${n} fills', 'a.ts: ${list.length} live orders']);
  const fine =
    "const a = `${name} differs`; const b = `${ROWS_MAX} rows`; const c = `${counted(n, 'fill')}, ${n} of orders`;";
  expect(uncounted('a.ts', fine)).toEqual([]);
  expect(uncounted('a.ts', 'const a = `${n} gap(s) of`;')).toEqual(['a.ts: (s)']);
  const chosen = "const a = n === 1 ? 'bot' : 'bots'; const b = n === 1 ? '1 order' : `${counted(n, 'order')}`;";
  expect(uncounted('a.ts', chosen)).toHaveLength(2);
});
