/** The page of JSON shapes, read for what it promises. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './program.ts';

/** Keys of a command's object, in the order of the page. */
export function keysOf(command: string): string[] {
  const page = readFileSync(join(ROOT, 'docs/json.md'), 'utf8');
  const section = page.split(/^## /m).find(part => part.startsWith(`\`puntas ${command}`));
  if (section === undefined) throw new Error(`docs/json.md has no part on puntas ${command}`);
  return section.split('\n').flatMap(line => {
    const cell = /^\| ((?:`[A-Za-z]+` ?)+) \|/.exec(line)?.[1];
    return cell === undefined ? [] : [...cell.matchAll(/`([A-Za-z]+)`/g)].map(([, key]) => key!);
  });
}
