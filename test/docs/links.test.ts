/** Every link of a page to a file of the repository leads somewhere, to the heading that it names too. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The pages that a person reads: those at the top, in docs, src and with each strategy. */
const PAGES = ['.', 'docs', 'src', 'strategies']
  .flatMap(folder =>
    readdirSync(join(ROOT, folder), { recursive: folder !== '.', encoding: 'utf8' }).map(file => join(folder, file)),
  )
  .filter(file => file.endsWith('.md'));

const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** Links of Markdown and HTML to other files, without those to the web. */
function linksOf(page: string): readonly string[] {
  const text = textOf(page).replace(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/\]\(([^()\s]+)\)|src="([^"]+)"/g)]
    .map(([, link, image]) => link ?? image!)
    .filter(link => !/^[a-z]+:/.test(link));
}

/** The anchors that a page's headings get. */
const anchorsOf = (text: string): readonly string[] =>
  [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** What is wrong with a link on a page, or null. */
function broken(page: string, link: string): string | null {
  const [path, anchor] = link.split('#') as [string, string?];
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(ROOT, target))) return `${page}: ${link}`;
  if (anchor !== undefined && target.endsWith('.md') && !anchorsOf(textOf(target)).includes(anchor))
    return `${page}: ${link} (no such heading)`;
  return null;
}

describe('the links of the pages', () => {
  test('lead to a file, and to a heading that is there', () => {
    const links = PAGES.flatMap(page => linksOf(page).map(link => [page, link] as const));
    expect(links.map(([page, link]) => broken(page, link)).filter(found => found !== null)).toEqual([]);
    expect(links.length).toBeGreaterThan(100);
  });

  test('(one that leads nowhere would be found)', () => {
    expect(broken('README.md', 'docs/nothing.md')).toBe('README.md: docs/nothing.md');
    expect(broken('README.md', 'docs/operations.md#nothing')).toContain('no such heading');
    expect(broken('docs/operations.md', 'recovery.md#regimes')).toBeNull();
  });

  test('make every page of docs reachable from the README', () => {
    const seen = new Set<string>();
    const todo = ['README.md'];
    for (let page = todo.pop(); page !== undefined; page = todo.pop()) {
      if (seen.has(page) || !page.endsWith('.md') || !existsSync(join(ROOT, page))) continue;
      seen.add(page);
      for (const link of linksOf(page)) todo.push(relative('.', join(dirname(page), link.split('#')[0]!)));
    }
    expect(PAGES.filter(page => page.startsWith('docs/') && !seen.has(page))).toEqual([]);
  });

  test('of the README rank the pages for people who run a bot before those for people who change it', () => {
    const links = linksOf('README.md');
    const first = links.findIndex(link => link.startsWith('docs/development/'));
    expect(first).toBeGreaterThan(0);
    expect(links.slice(first).filter(link => link.startsWith('docs/') && !link.includes('development'))).toEqual([]);
  });
});
