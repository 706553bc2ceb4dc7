/** Pages of the documentation that the package contains, and a search in their sections. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile, TEXT_FILE } from '../../guard/index.ts';
import { packageFolder } from '../../wiring/shipped/shippedFiles.ts';

export type DocsPage = { readonly name: string; readonly title: string; readonly text: string };
export type DocsHit = { readonly page: string; readonly heading: string; readonly excerpt: string };

const PAGE = /^([a-z0-9-]{1,60})\.md$/;
/** Maximum number of characters of an excerpt. */
const EXCERPT_MAX = 1_200;
/** Weight of a query word in a heading. In the text, each occurrence of the word counts 1, up to `TIMES_MAX`. */
const HEADING_WEIGHT = 5;
const TIMES_MAX = 3;

/** Reads all pages, and returns them sorted by name. */
export function docsPages(folder = join(packageFolder(), 'docs')): readonly DocsPage[] {
  return readdirSync(folder)
    .flatMap(file => PAGE.exec(file)?.[1] ?? [])
    .sort()
    .map(name => {
      const text = readRegularFile(join(folder, `${name}.md`), TEXT_FILE);
      return { name, text, title: /^# (.+)$/m.exec(text)?.[1] ?? name };
    });
}

/** Returns at most `max` sections, ranked by the number of query words that they contain. */
export function searchDocs(pages: readonly DocsPage[], query: string, max: number): readonly DocsHit[] {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_.-]{2,40}/gu) ?? [])].slice(0, 12);
  return pages
    .flatMap(({ name, title, text }) =>
      sectionsOf(text).map(({ heading, body }) => ({
        ...{ page: name, heading: heading === '' ? title : heading, excerpt: body.slice(0, EXCERPT_MAX) },
        score: scoreOf(words, `${title} ${heading}`.toLowerCase(), body.toLowerCase()),
      })),
    )
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.page < b.page ? -1 : 1))
    .slice(0, max)
    .map(({ page, heading, excerpt }) => ({ page, heading, excerpt }));
}

/**
 * Returns the rank of a section. Each query word found adds 10, so two different words outrank any number of repeats of
 * one word.
 */
const scoreOf = (words: readonly string[], heading: string, body: string): number =>
  words.reduce((sum, word) => {
    const times = Math.min(TIMES_MAX, body.split(word).length - 1) + (heading.includes(word) ? HEADING_WEIGHT : 0);
    return times === 0 ? sum : sum + 10 + times;
  }, 0);

function sectionsOf(text: string): readonly { readonly heading: string; readonly body: string }[] {
  return text.split(/^(?=#{1,3} )/m).map(part => {
    const [, heading = '', body = part] = /^#{1,3} ([^\n]+)\n([\s\S]*)$/.exec(part) ?? [];
    return { heading, body: body.trim() };
  });
}
