// Links of packed pages: a relative link to a file that is not in the package leads to the repository.
// Usage: node config/image/packedLinks.mjs FOLDER [OWNER/NAME TAG]. Without a repository, such a link becomes plain text.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';

const FENCED = /^(```[\s\S]*?^```)/m;
const LINK = /(?<!!)\[((?:[^\]\\[]|\\.|`[^`]*`)*)\]\(([^()\s]+)\)/g;

/** Returns the text of a page, with the links that leave the package changed. `isPacked` is asked for paths in it. */
export function packedPage(text, page, isPacked, repository) {
  const moved = part =>
    part.replace(LINK, (link, label, target) => {
      const [path, anchor] = target.split('#');
      if (path === '' || /^[a-z]+:/.test(path)) return link;
      const place = posix.join(posix.dirname(page), path).replace(/\/$/, '');
      if (isPacked(place)) return link;
      if (repository === undefined) return `${label} (in the repository)`;
      return `[${label}](${repository}/${place}${anchor === undefined ? '' : `#${anchor}`})`;
    });
  // Odd parts are code.
  return text
    .split(new RegExp(FENCED, 'gm'))
    .map((part, i) => (i % 2 === 1 ? part : moved(part)))
    .join('');
}

function main([folder, name, tag]) {
  const repository = name === undefined || name === '' ? undefined : `https://github.com/${name}/blob/${tag}`;
  const isPacked = path => existsSync(join(folder, path));
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.md')) continue;
    const file = join(folder, path);
    writeFileSync(file, packedPage(readFileSync(file, 'utf8'), path, isPacked, repository));
  }
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) main(argv.slice(2));
