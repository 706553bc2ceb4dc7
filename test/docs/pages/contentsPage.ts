/** Writes the page that lists all pages by kind, from the sections of the site. */
import { relative } from 'node:path';
import { SECTIONS } from '../../../website/.vitepress/pages.ts';

/** docs/contents.md as Markdown, before formatting. */
export const contentsPage = (): string =>
  [
    '<!-- Generated from website/.vitepress/pages.ts by `npm run docs`. -->',
    '# All pages',
    ...SECTIONS.flatMap(({ text, says, pages }) => [
      `## ${text}: ${says}`,
      pages
        .filter(({ file }) => file !== 'docs/contents.md')
        .map(page => `- [${page.text}](${relative('docs', page.file)})`)
        .join('\n'),
    ]),
  ].join('\n\n');
