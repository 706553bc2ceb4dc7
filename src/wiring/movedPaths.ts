/** Adjustment of relative paths when a configuration is written to another folder. */
import { isAbsolute, relative, resolve } from 'node:path';
import type { Document } from 'yaml';

/** Keys of paths relative to the file's folder; paths of feeds are handled separately. */
const PATHS: readonly (readonly string[])[] = [
  ['strategy', 'file'],
  ['strategy', 'historyTape'],
  ['exchange', 'market', 'dir'],
  ['paper', 'stateDir'],
  ['paper', 'fittedFile'],
  ['state', 'dir'],
  ['console', 'operatorTokenFile'],
  ['console', 'viewerTokenFile'],
];

/** Adjusts the paths of a file that moves from the folder `from` to the folder `to`. */
export function movePaths(document: Document, from: string, to: string): void {
  if (resolve(from) === resolve(to)) return;
  for (const path of PATHS) movePath(document, path, from, to);
  const feeds = document.getIn(['reference', 'feeds']);
  if (typeof feeds === 'object' && feeds !== null && 'items' in feeds && Array.isArray(feeds.items))
    for (const i of feeds.items.keys()) movePath(document, ['reference', 'feeds', i, 'file'], from, to);
}

function movePath(document: Document, path: readonly (string | number)[], from: string, to: string): void {
  const value = document.getIn(path);
  if (typeof value !== 'string' || isAbsolute(value)) return;
  const moved = relative(resolve(to), resolve(from, value));
  document.setIn(path, moved === '' ? '.' : moved);
}
