/** Check that editors still find the schema of a copied configuration, with a correction if they do not. */
import { readRegularFile, TEXT_FILE } from '../../guard/index.ts';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { shippedConfig } from '../../wiring/configFile.ts';

const LINE = /^# yaml-language-server: \$schema=(\S+)/m;

/**
 * Returns a replacement for the line that names the schema; `null` if the schema is found, is on the web, or is not
 * named.
 */
export function editorHelp(file: string): string | null {
  const named = LINE.exec(readRegularFile(file, TEXT_FILE))?.[1];
  if (named === undefined || /^[a-z]{2,}:/i.test(named) || existsSync(resolve(dirname(file), named))) return null;
  const schema = join(dirname(shippedConfig('sandbox')), 'schema.json');
  return `# editors find no schema for this file, because ${named} does not exist. Change the first line of the file to\n# yaml-language-server: $schema=${schema}`;
}
