/** Checks the built site: links, what it loads, and that each users' page is in its navigation. Exits with 1 and a line for each fault. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SITE = fileURLToPath(new URL('../dist/site/', import.meta.url));
const faults = [];
const pages = readdirSync(SITE, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.html'));
const isThere = path => [path, `${path}.html`, join(path, 'index.html')].some(file => existsSync(join(SITE, file)));

for (const page of pages) {
  const html = readFileSync(join(SITE, page), 'utf8');
  for (const [, source] of html.matchAll(/<(?:script|img|link)[^>]*? (?:src|href)="(https?:[^"]+)"/g)) {
    faults.push(`${page}: loads ${source} from outside`);
  }
  for (const [, href] of html.matchAll(/<a[^>]*? href="(\/[^"#]*)/g)) {
    if (!isThere(href)) faults.push(`${page}: a link to ${href}, which is not there`);
  }
}
const listed = readFileSync(join(SITE, 'llms.txt'), 'utf8');
for (const file of readdirSync(new URL('../docs/', import.meta.url)).filter(name => name.endsWith('.md'))) {
  if (!listed.includes(`(/${file})`)) faults.push(`docs/${file} is in no section of website/.vitepress/pages.ts`);
}
if (pages.length < 50) faults.push(`expected at least 50 pages, found ${pages.length}`);
for (const fault of faults) console.error(`not ok: ${fault}`);
console.log(`${pages.length} pages, ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
