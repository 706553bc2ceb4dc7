/** Every citation of a source in code, tests and pages has its section in docs/sources. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Sections of a page by their numbers; of a list of numbered sentences below a section, N.M for each. */
function sectionsOf(page: string): Set<string> {
  const found = new Set<string>();
  let section = '';
  let text = '';
  const close = () => {
    for (const [, item] of text.matchAll(/(?:^|\s)(\d{1,2})\.(?=\s)/g)) found.add(`${section}.${item!}`);
    text = '';
  };
  for (const line of page.split('\n')) {
    const heading = /^#{2,4} (E?\d+(?:\.\d+)*) /.exec(line);
    if (heading === null) text += `${line}\n`;
    else {
      close();
      found.add((section = heading[1]!));
    }
  }
  close();
  return found;
}

const PAGES = {
  'rest-api': sectionsOf(read('docs/sources/rest-api.md')),
  rfq: sectionsOf(read('docs/sources/rfq.md')),
  'public-facts': sectionsOf(read('docs/sources/public-facts.md')),
  formulas: sectionsOf(read('docs/sources/formulas.md')),
};
const NAMES: Readonly<Record<string, keyof typeof PAGES>> = {
  'rest-api': 'rest-api',
  rfq: 'rfq',
  'rfq-and-webhooks': 'rfq',
  'public-facts': 'public-facts',
  facts: 'public-facts',
};
const CITATION = /\b(rest-api|rfq-and-webhooks|rfq|public-facts|facts)(?:\.md)? (\d+(?:\.\d+)*(?:, \d+(?:\.\d+)*)*)/g;
const FORMULA = /(?:\(|formulas? )(E\d+)\b/g;

/** What a text cites, as page and section. */
function citedIn(text: string): { readonly page: keyof typeof PAGES; readonly section: string }[] {
  return [
    ...[...text.matchAll(CITATION)].flatMap(([, name, sections]) =>
      sections!.split(', ').map(section => ({ page: NAMES[name!]!, section })),
    ),
    ...[...text.matchAll(FORMULA)].map(([, section]) => ({ page: 'formulas' as const, section: section! })),
  ];
}

const files = ['src', 'strategies', 'backtest', 'test', 'docs'].flatMap(room =>
  readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter(file => /\.(ts|md)$/.test(file) && !/^sources[/\\]|sources\.test\.ts$/.test(file))
    .map(file => join(room, file)),
);

describe('citations of sources', () => {
  it('have their section in docs/sources, each of them', () => {
    let cited = 0;
    const missing: string[] = [];
    for (const file of files)
      for (const { page, section } of citedIn(read(file))) {
        cited++;
        if (!PAGES[page].has(section)) missing.push(`${file}: ${page} ${section}`);
      }
    expect(missing).toEqual([]);
    expect(cited).toBeGreaterThan(400);
  });

  it('are found out when there is none', () => {
    const of = (text: string) => citedIn(text).map(({ page, section }) => PAGES[page].has(section));
    expect(of('rest-api 4.2, 9, rfq-and-webhooks 2.5, facts 18.14 and (E3)')).toEqual([true, true, true, true, true]);
    expect(of('rest-api 4.12, rfq 10, public-facts 18.15, formulas E13')).toEqual([false, false, false, false]);
  });
});
