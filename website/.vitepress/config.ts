/** The documentation as a site: the repository's own Markdown, with search, and without a server or a file from outside. */
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { addressOf, SECTIONS } from './pages.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Copy of the pages and pictures, made by `copyPages.mjs` before each build: what VitePress compiles must lie beside its packages. */
const PAGES = fileURLToPath(new URL('../pages/', import.meta.url));
/** Address of a file in the repository, for example `https://github.com/OWNER/NAME/blob/main/`; without it such links are plain text. */
const REPOSITORY = process.env.PUNTAS_REPOSITORY_URL ?? '';

/** Address of a page from the root of the site. */
const linkTo = (file: string): string => `/${addressOf(file).replace(/index$/, '')}`;

const sectionsWithLinks = SECTIONS.map(({ text, pages }) => ({
  text,
  collapsed: false,
  items: pages.map(({ text, file }) => ({ text, link: linkTo(file) })),
}));

/** Where a relative link of the page `from` leads: a page of the site, a file of the repository, or neither (`null`). */
function targetOf(
  from: string,
  href: string,
): { readonly kind: 'page' | 'file'; readonly path: string; readonly anchor: string } | null {
  if (/^[a-z]+:|^[#/]/.test(href)) return null;
  const [path = '', anchor] = href.split('#');
  const file = normalize(join(dirname(from), path));
  if (!existsSync(join(ROOT, file))) return null;
  const kind = file.endsWith('.md') && !file.startsWith('test/') ? 'page' : 'file';
  return { kind, path: file, anchor: anchor === undefined ? '' : `#${anchor}` };
}

export default defineConfig({
  title: 'Puntas',
  description: 'An open-source market maker: quotes both sides of an order book from one YAML file',
  lang: 'en',
  srcDir: PAGES,
  outDir: join(ROOT, 'dist/site'),
  cacheDir: join(ROOT, 'dist/site-cache'),
  cleanUrls: true,
  rewrites: file => `${addressOf(file)}.md`,
  ignoreDeadLinks: false,
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sectionsWithLinks,
    nav: SECTIONS.slice(0, 4).map(({ text, pages }) => ({
      text,
      link: linkTo(pages[0]?.file ?? ''),
    })),
    outline: [2, 3],
  },
  markdown: {
    config(md) {
      md.core.ruler.push('links to files of the repository', state => {
        const from = (state.env as { relativePath?: string; realPath?: string }).realPath ?? '';
        const file = from.startsWith(PAGES)
          ? from.slice(PAGES.length)
          : ((state.env as { relativePath?: string }).relativePath ?? '');
        for (const block of state.tokens) {
          const open: boolean[] = [];
          for (const token of block.children ?? []) {
            if (token.type === 'link_open') {
              const target = targetOf(file, token.attrGet('href') ?? '');
              if (target?.kind === 'page') token.attrSet('href', linkTo(target.path) + target.anchor);
              else if (target !== null && REPOSITORY !== '')
                token.attrSet('href', REPOSITORY + target.path + target.anchor);
              const isText = target?.kind === 'file' && REPOSITORY === '';
              open.push(isText);
              if (isText) [token.type, token.tag, token.attrs] = ['text', '', null];
            } else if (token.type === 'link_close' && open.pop() === true) {
              [token.type, token.tag, token.content] = ['text', '', ''];
            }
          }
        }
      });
    },
  },
  /** Writes `llms.txt`, the list of pages for language models, and the Markdown of each page beside its HTML. */
  buildEnd({ outDir }) {
    const lines = [
      '# Puntas',
      '',
      '> An open-source market maker: quotes both sides of an order book from one YAML file.',
      '',
    ];
    for (const { text, says, pages } of SECTIONS) {
      lines.push(`## ${text}: ${says}`, '');
      for (const { text, file } of pages) {
        lines.push(`- [${text}](/${addressOf(file)}.md)`);
        cpSync(join(ROOT, file), join(outDir, `${addressOf(file)}.md`));
      }
      lines.push('');
    }
    writeFileSync(join(outDir, 'llms.txt'), lines.join('\n'));
  },
});
