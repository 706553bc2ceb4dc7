/** The ccxt package that the user has installed next to this program: its version and its exchanges. */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { editDistance } from '../core/index.ts';
import { readRegularFile, TEXT_FILE } from '../guard/index.ts';

/**
 * Version with which this program is tested. Patch versions of ccxt change behavior, so every other version is
 * rejected.
 */
export const CCXT_VERSION = '4.5.84';

const INSTALL = `npm install --ignore-scripts ccxt@${CCXT_VERSION}`;

export type InstalledCcxt =
  | { readonly kind: 'found'; readonly folder: string; readonly version: string; readonly ids: readonly string[] }
  /** `sentence` says what is missing or wrong, with the remedy. */
  | { readonly kind: 'unusable'; readonly sentence: string };

/** Looks for ccxt as Node does for an import in the file `from` of this program. Loads no code of the package. */
export function installedCcxt(from: string | URL = import.meta.url): InstalledCcxt {
  const found = packageFrom(from);
  if (found === null)
    return {
      kind: 'unusable',
      sentence: `ccxt is not installed; run ${INSTALL} in the folder where puntas is installed`,
    };
  const { folder, version } = found;
  if (version !== CCXT_VERSION)
    return {
      kind: 'unusable',
      sentence: `expected ccxt ${CCXT_VERSION}, the only tested version; found ${version} in ${folder}; run ${INSTALL}`,
    };
  const classes = join(folder, 'js', 'src');
  if (!existsSync(classes))
    return { kind: 'unusable', sentence: `the ccxt package in ${folder} is incomplete; run ${INSTALL} again` };
  return { kind: 'found', folder, version, ids: idsIn(classes) };
}

/** Returns the file of one exchange's class: the class with WebSockets, if ccxt has one. */
export function classFile(folder: string, id: string): string {
  const [withStreams, plain] = [join(folder, 'js/src/pro', `${id}.js`), join(folder, 'js/src', `${id}.js`)];
  return existsSync(withStreams) ? withStreams : plain;
}

/** Returns an error text with the nearest ids if ccxt has no exchange with this id; otherwise `null`. */
export const unknownId = (id: string, ids: readonly string[]): string | null =>
  ids.includes(id)
    ? null
    : `ccxt ${CCXT_VERSION} has no exchange ${JSON.stringify(id)}; nearest names: ${nearestNames(id, ids).join(', ')}`;

const NEAREST = 4;

/**
 * Returns the names most similar to `name`: first those that contain it or are contained in it, then by number of
 * changed letters.
 */
export function nearestNames(name: string, names: readonly string[], count = NEAREST): readonly string[] {
  const distance = (other: string): number => {
    const contains = name.length > 1 && (other.includes(name) || name.includes(other));
    return editDistance(name.slice(0, 64), other.slice(0, 64)) - (contains ? Math.min(name.length, other.length) : 0);
  };
  return names
    .map(other => ({ other, far: distance(other) }))
    .sort((a, b) => a.far - b.far || (a.other < b.other ? -1 : 1))
    .slice(0, count)
    .map(({ other }) => other);
}

/** Returns folder and version of the package; `null` if Node does not find it. */
function packageFrom(from: string | URL): { readonly folder: string; readonly version: string } | null {
  let file: string;
  try {
    // The package exports only its main file, which is some folders below its own folder.
    file = createRequire(from).resolve('ccxt');
  } catch {
    return null;
  }
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const version = versionIn(folder);
    if (version !== null) return { folder: realpathSync(folder), version };
    if (folder === dirname(folder)) return null;
  }
}

/** Returns the version in the package.json of ccxt in this folder; `null` if there is none. */
function versionIn(folder: string): string | null {
  try {
    const read = JSON.parse(readRegularFile(join(folder, 'package.json'), TEXT_FILE)) as {
      name?: unknown;
      version?: unknown;
    };
    return read.name === 'ccxt' && typeof read.version === 'string' ? read.version : null;
  } catch {
    return null;
  }
}

/** Returns the ids of all exchanges: the package has one file per class. */
const idsIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter(name => /^[a-z0-9]+\.js$/.test(name))
    .map(name => name.slice(0, -'.js'.length))
    .sort();
