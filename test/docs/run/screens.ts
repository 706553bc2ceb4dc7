/** Blocks of the pages that show a screen: their shape has to be on the screen of the command that they belong to. */
import type { Block } from './found.ts';

const SCREENS: readonly { readonly page: string; readonly begins: string; readonly of: RegExp }[] = [
  { page: 'README.md', begins: 'INFO: quoting', of: /^npm start$/ },
  { page: 'docs/ledger.md', begins: 'btc ', of: /puntas ledger -c my\.yaml$/ },
  { page: 'docs/report.md', begins: 'day ', of: /puntas report -c my\.yaml$/ },
  { page: 'docs/reload.md', begins: 'strategy.halfSpreadBps', of: /puntas reload -c my\.yaml --preview/ },
  { page: 'docs/operations.md', begins: 'bid 1: kept', of: /puntas explain -c my\.yaml/ },
];

/** Blocks that no command prints. */
const OTHERS: readonly { readonly page: RegExp; readonly begins: RegExp; readonly what: string }[] = [
  { page: /^src\/README\.md$/, begins: /──/, what: 'a drawing' },
  { page: /^strategies\/|fair-value|evidence\/glft/, begins: / = |1\/gamma/, what: 'formulas' },
  { page: /^docs\/cli\.md$/, begins: /^puntas /, what: 'usage' },
  { page: /importing/, begins: /^\{"at"/, what: 'JSON that is read' },
  { page: /tape/, begins: /^select/, what: 'SQL' },
  // Its routes are tried over real sockets: test/console/api.test.ts.
  { page: /^docs\/remote\.md$/, begins: /^TOKEN=/, what: 'requests to a console that runs' },
  { page: /development\/architecture\.md$/, begins: /^graph /, what: 'a picture in Mermaid' },
  // Its code is compiled and tried: test/strategies/ownStep.test.ts.
  // Its laws are tried: test/docs/ownStrategy.test.ts.
  { page: /^docs\/strategy-files\.md$/, begins: /^\/\/ my-strategy\.ts/, what: 'TypeScript' },
  // A line for the file before: test/docs/ownStrategy.test.ts.
  { page: /^docs\/strategy-files\.md$/, begins: /^ {2}history: /, what: 'TypeScript' },
  // It is loaded and run: test/docs/ownStrategy.test.ts.
  { page: /^docs\/fill-models\.md$/, begins: /^\/\/ my-fills\.ts/, what: 'TypeScript' },
  { page: /development\/strategies\.md$/, begins: /^\/\*\* Follows the takers/, what: 'TypeScript' },
];

/** The sign before a term of a sum; other terms may stand before it. */
const TERM = '(?:.*\\s)?[+-]';

/** A line of a page as what a screen may show in its place. */
export const shapeOf = (line: string): RegExp =>
  new RegExp(
    line
      .trim()
      .split(/\s+/)
      .map(word =>
        word
          .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
          .replace(/…/g, '.*')
          .replace(/mm1-\d+-\d+/, '\\S+')
          .replace(/^(?:-|\\\+)$/, TERM)
          .replace(/(?:\\?[+-])?\d[\d.\\]*/g, '[+-]?\\d[\\d.]*'),
      )
      .join('\\s+'),
    'm',
  );

type Seen = { readonly typed: string; readonly text: string };

export function screensOf(others: readonly Block[]) {
  const screens: { readonly block: Block; readonly of: RegExp }[] = [];
  const flaws: string[] = [];
  for (const block of others) {
    const [first = ''] = block.text.split('\n').filter(line => line.trim() !== '');
    const screen = SCREENS.find(({ page, begins }) => page === block.page && first.trim().startsWith(begins));
    if (screen) screens.push({ block, of: screen.of });
    else if (!OTHERS.some(({ page, begins }) => page.test(block.page) && begins.test(first)))
      flaws.push(`${block.page}:${block.line}: a block of which nobody says what it is: ${first}`);
  }
  if (screens.length !== SCREENS.length) flaws.push('a screen is named that no page has');
  return {
    flaws,
    /** Lines that were on no screen of their command. */
    unseen: (seen: readonly Seen[]): readonly string[] =>
      screens.flatMap(({ block, of }) => {
        const texts = seen.filter(({ typed }) => of.test(typed)).map(({ text }) => text);
        return block.text
          .split('\n')
          .filter(line => line.trim() !== '' && !texts.some(text => shapeOf(line).test(text)))
          .map(line => `${block.page}:${block.line}: no screen of ${of} shows: ${line}`);
      }),
  };
}
