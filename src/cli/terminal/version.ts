/** Version of Puntas. */
import { readRegularFile, TEXT_FILE } from '../../guard/index.ts';

/** Returns the version in package.json, from the source tree or the build; 'unknown' if neither can be read. */
export function version(): string {
  for (const up of ['../../../package.json', '../../../../package.json']) {
    try {
      return (JSON.parse(readRegularFile(new URL(up, import.meta.url), TEXT_FILE)) as { version: string }).version;
    } catch {
      continue;
    }
  }
  return 'unknown';
}
