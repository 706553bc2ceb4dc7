/** Writes the glossary from the words of users in src/README.md. */
import { readFileSync } from 'node:fs';

/** docs/glossary.md as Markdown, before formatting. */
export function glossary(): string {
  const map = readFileSync(new URL('../../../src/README.md', import.meta.url), 'utf8');
  const section = map.split('\n## Words\n')[1]?.split('\n## ')[0] ?? '';
  const [rows = ''] = /(?:^\| .*\n)+/m.exec(section.slice(section.indexOf('\n|---')).trim().replace(/^.*\n/, '')) ?? [];
  if (rows === '') throw new Error('src/README.md has no table of words');
  return [
    '<!-- Generated from src/README.md, "Words", by `npm run docs`. -->',
    '# Glossary',
    `| word | meaning |\n|---|---|\n${rows}`,
  ].join('\n\n');
}
