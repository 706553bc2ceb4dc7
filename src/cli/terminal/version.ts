/** Which Puntas this is. */
import { readFileSync } from 'node:fs';

/** Of package.json, from the source tree and from the built one; 'unknown' where neither can be read. */
export function version(): string {
  for (const up of ['../../../package.json', '../../../../package.json']) {
    try {
      return (JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as { version: string }).version;
    } catch {
      continue;
    }
  }
  return 'unknown';
}
