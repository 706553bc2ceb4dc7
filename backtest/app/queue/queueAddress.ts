/** Address of a queue, with the password from the environment, and its form for display. */
import { readQueuePassword } from '../../../src/config.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';

export type QueueAddress = {
  readonly kind: 'redis' | 'postgres';
  /** Address that contains the password; it is never shown. */
  readonly url: string;
  readonly shown: string;
};

const KINDS: Readonly<Record<string, QueueAddress['kind']>> = {
  'redis:': 'redis',
  'rediss:': 'redis',
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
};
const EXPECTED = '--queue: expected redis://HOST:6379, rediss://HOST:6379 or postgres://USER@HOST:5432/DATABASE';

/** Parses the address of a queue. Throws `UsageError` for an invalid address, without showing a possible password. */
export function queueAddress(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): QueueAddress {
  if (!text.includes('://') || !URL.canParse(text)) throw new UsageError(`${EXPECTED}; found text that is not a URL`);
  const url = new URL(text);
  if (!isDecodable(url.username) || !isDecodable(url.password))
    throw new UsageError(
      `${EXPECTED}; found a % in the user or password that does not start an escape code; write this % as %25`,
    );
  const kind = KINDS[url.protocol];
  if (kind === undefined) throw new UsageError(`${EXPECTED}; found ${url.protocol}//`);
  if (url.hostname === '') throw new UsageError(`${EXPECTED}; found no host`);
  if (kind === 'redis' && !/^\/?\d{0,4}$/.test(url.pathname))
    throw new UsageError(`${EXPECTED}; a Redis address can end in a database number like /2, found another path`);
  if (kind === 'postgres' && !/^\/[^/]+$/.test(url.pathname)) throw new UsageError(`${EXPECTED}; found no database`);
  const read = readQueuePassword(env, readFile);
  if (!read.ok) throw new UsageError(read.errors);
  if (read.password !== null && url.password !== '')
    throw new UsageError(
      'the address in --queue has a password, and PUNTAS_QUEUE_PASSWORD or PUNTAS_QUEUE_PASSWORD_FILE also sets a password; remove one of the two',
    );
  if (read.password !== null) url.password = encodeURIComponent(read.password);
  return { kind, url: url.href, shown: `${url.protocol}//${url.host}${url.pathname.replace(/^\/$/, '')}` };
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
