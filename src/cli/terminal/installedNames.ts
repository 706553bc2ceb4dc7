/** Commands and paths of shipped pages, such as docs/paper.md, in the form that works where the message is read. */
import { existsSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { packageFolder } from '../../wiring/shipped/shippedFiles.ts';
import { ownCommandName, withCommandName } from './commandName.ts';

/**
 * Returns the folder of the pages: relative if it is below the working directory, otherwise absolute. Returns `docs` if
 * this installation has no pages, as in a container.
 */
export function pagesFolder(cwd: string, root = packageFolder()): string {
  const folder = join(root, 'docs');
  if (!existsSync(join(folder, 'configuration.md'))) return 'docs';
  const path = relative(cwd, folder);
  return path.startsWith('..') || isAbsolute(path) ? folder : path;
}

/** Matches the folder in the path of a page; not inside a longer path or an address. */
const PAGE = /(?<![\w/.~-])docs\/(?=[\w-]+\.md\b)/g;

/** Replaces the folder in the path of every page in a text. */
export const withPagePaths = (text: string, folder: string): string => text.replace(PAGE, () => `${folder}/`);

/** Names that a text gets: of the command, and of the folder of the pages. */
export type InstalledNames = { readonly command: string; readonly pages: string };

/** Names for this process. */
export const ownNames: InstalledNames = { command: ownCommandName, pages: ownPagesFolder() };

/** Returns the folder of the pages; `docs` if the working directory no longer exists. */
function ownPagesFolder(): string {
  try {
    return pagesFolder(process.cwd());
  } catch {
    return 'docs';
  }
}

/** Returns a text with commands and paths of pages that work here. In a line of JSON, the names are escaped. */
export function withInstalledNames(text: string, isJson: boolean, { command, pages } = ownNames): string {
  const inText = (words: string): string => (isJson ? JSON.stringify(words).slice(1, -1) : words);
  return withPagePaths(withCommandName(text, inText(command)), inText(pages));
}
