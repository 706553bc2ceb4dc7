/** The log: pino's JSON lines on stderr, readable on a terminal; secrets never get through, whatever field or sentence they are in. */
import { pino } from 'pino';
import type { DestinationStream } from 'pino';
import pretty from 'pino-pretty';
import type { Log } from '../live/log.ts';

/**
 * `secrets` are masked wherever they turn up, and so is anything that looks like a signed Authorization header. `to` takes the lines as JSON;
 * absent: stderr.
 */
export function logger(level: string, secrets: readonly string[], to?: DestinationStream): Log {
  const mask = (line: string): string => {
    let masked = line.replace(/Bitso [^\s:"]+:\d+:[0-9a-f]{64}/g, 'Bitso [redacted]');
    for (const secret of secrets) if (secret.length >= 4) masked = masked.replaceAll(secret, '[redacted]');
    return masked;
  };
  const options = {
    level,
    base: null,
    redact: {
      paths: ['secret', 'signature', 'authorization', '*.secret', '*.signature', '*.authorization'],
      censor: '[redacted]',
    },
    hooks: { streamWrite: mask },
  };
  if (to !== undefined) return pino(options, to);
  if (!process.stderr.isTTY) return pino(options, pino.destination({ dest: 2, sync: true }));
  return pino(
    options,
    pretty({
      destination: 2,
      sync: true,
      ignore: 'pid,hostname',
      translateTime: 'SYS:HH:MM:ss.l',
      hideObject: level !== 'debug',
      messageFormat: (line, key) => [line[key], line['stack']].filter(part => typeof part === 'string').join('\n'),
    }),
  );
}
