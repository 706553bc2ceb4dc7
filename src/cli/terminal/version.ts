/** Which Puntas this is. */
import { readRegularFile, TEXT_FILE } from '../../guard/index.ts';

/** Of package.json, from the source tree and from the built one; 'unknown' where neither can be read. */
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
