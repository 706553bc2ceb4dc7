/**
 * Output of reports: writes the files, with a one-line error if a write fails, and loads the script and styles that
 * every page includes.
 */
import { createRequire } from 'node:module';
import { LARGE_FILE, pathLine, readRegularFile, writeOutputFile } from '../guard/index.ts';
import type { PageParts } from '../pages/index.ts';
import { UsageError } from './usageError.ts';

/** Runs `work`, which writes a file. Throws a one-line `UsageError` if the file cannot be written. */
export function written<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new UsageError(pathLine(path, error, 'write', 'choose another path for the output'));
  }
}

/**
 * Writes an output completely or not at all; creates missing folders. The content is computed in this function, so that
 * errors in the computation are reported with the path. Throws a one-line `UsageError` if the file cannot be written.
 */
export const writeOut = (path: string, content: () => string | Uint8Array): void =>
  written(path, () => writeOutputFile(path, content()));

/** Writes `value` as JSON in one line, then the page, each like `writeOut`. */
export function writePage(page: string, json: string, value: unknown, html: () => string): void {
  writeOut(json, () => `${JSON.stringify(value)}\n`);
  writeOut(page, html);
}

/** Returns the path of the JSON file next to a page: the path of the page with the extension `.json`. */
export const jsonBeside = (page: string): string => page.replace(/\.html?$/i, '.json');

/** Returns the installed chart library and the built script of the page. Throws if either is missing. */
export function pageParts(): PageParts {
  const library = createRequire(import.meta.url);
  const read = (path: string): string => readRegularFile(path, LARGE_FILE);
  return {
    library: read(library.resolve('uplot/dist/uPlot.iife.min.js')),
    libraryStyle: read(library.resolve('uplot/dist/uPlot.min.css')),
    script: readRegularFile(new URL('../pages/script/draw.js', import.meta.url), LARGE_FILE),
  };
}
