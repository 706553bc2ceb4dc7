/** Copies the repository's pages and pictures to `pages/`, where the site is built from. */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PAGES = fileURLToPath(new URL('pages/', import.meta.url));

rmSync(PAGES, { recursive: true, force: true });
const filesOf = folder =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map(file => join(folder, file))
    .filter(file => /\.(md|png|svg)$/.test(file));
const files = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'src/README.md',
  ...filesOf('docs'),
  ...filesOf('strategies'),
];
for (const file of files.filter(file => existsSync(join(ROOT, file)))) {
  mkdirSync(dirname(join(PAGES, file)), { recursive: true });
  cpSync(join(ROOT, file), join(PAGES, file));
}
console.log(`${files.length} pages and pictures`);
