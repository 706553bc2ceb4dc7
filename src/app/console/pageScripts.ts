/** Scripts of the pages and of their libraries, from the build and the packages. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { LARGE_FILE, readRegularFile } from '../../guard/index.ts';

/** Returns the path of a file of an installed package. */
export const fromPackages = (path: string): string => createRequire(import.meta.url).resolve(path);

/** Returns the page's scripts by name, from their build folder. Throws if a script is missing. */
export function pageScripts(built = new URL('../../console/page/', import.meta.url)): Readonly<Record<string, string>> {
  const own = [
    'main',
    'access',
    'bounds',
    'dialogs',
    'lines',
    'streamWatch',
    'elements',
    'elsewherePanel',
    'proposalsPanel',
    'statePanels',
    'marketPanels',
    'accountPanels',
    'charts',
    'profitBars',
    'texts',
    'state',
    'deskPanel',
  ];
  return {
    'uPlot.js': readRegularFile(fromPackages('uplot/dist/uPlot.iife.min.js'), LARGE_FILE),
    ...scriptsWith(own, built),
  };
}

/** Returns the scripts of the fleet page by name, from their build folder. Throws if a script is missing. */
export const fleetPageScripts = (
  built = new URL('../../console/page/', import.meta.url),
): Readonly<Record<string, string>> =>
  scriptsWith(
    ['fleet/fleetMain', 'fleet/fleetPanels', 'fleet/fleetRows', 'streamWatch', 'access', 'lines', 'elements', 'texts'],
    built,
  );

/** Returns the named scripts of a build folder, and the library that all pages use. */
const scriptsWith = (names: readonly string[], built: URL): Readonly<Record<string, string>> => ({
  // The package does not export this file, so it is found relative to the package's main module.
  'preact.js': readRegularFile(join(dirname(fromPackages('preact')), 'preact.min.umd.js'), LARGE_FILE),
  ...Object.fromEntries(names.map(name => [`${name}.js`, readRegularFile(new URL(`${name}.js`, built), LARGE_FILE)])),
});
