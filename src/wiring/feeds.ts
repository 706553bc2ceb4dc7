/** Where feeds come from: a file that is read again when it has changed, or an address on the web. */
import { closeSync, fstatSync } from 'node:fs';
import { Agent, request } from 'undici';
import { openRegularFile, readBody, readOpenFile } from '../guard/index.ts';
import type { FeedConfig } from '../config.ts';
import { readingOf } from '../live/market/feed.ts';
import type { Feed, FeedReading } from '../live/market/feed.ts';

/** A price is short: more than this is something else. */
const BYTES_MAX = 65_536;

const failed = (why: string): FeedReading => ({ kind: 'failed', why });

/**
 * `now` in ms since 1970. Throws a RangeError on a configuration with neither url nor file; what `read` runs into is its result, never a rejection.
 */
export function feedOf(config: FeedConfig, now: () => number = Date.now): Feed {
  const { url, file } = config;
  if (url !== undefined) return webFeed(url, config, now);
  if (file !== undefined) return fileFeed(file, config, now);
  throw new RangeError('a feed has a url or a file');
}

/** Its age is that of its last change, unless it says a time itself. */
function fileFeed(path: string, config: FeedConfig, now: () => number): Feed {
  let known: { readonly mark: string; readonly text: string; readonly changedAt: number } | null = null;
  const text = (): typeof known | string => {
    const fd = openRegularFile(path);
    try {
      const seen = fstatSync(fd);
      const mark = `${seen.dev} ${seen.ino} ${seen.size} ${seen.mtimeMs}`;
      if (known?.mark === mark) return known;
      const text = readOpenFile(fd, BYTES_MAX);
      // Read while it was written: the next look tells.
      if (fstatSync(fd).size !== seen.size) return 'it is being written';
      known = { mark, text, changedAt: seen.mtimeMs };
      return known;
    } finally {
      closeSync(fd);
    }
  };
  return {
    name: path,
    close: () => Promise.resolve(),
    async read() {
      try {
        const found = text();
        if (found === null || typeof found === 'string') return failed(found ?? 'it is empty');
        return readingOf(found.text, config, now(), found.changedAt);
      } catch (error) {
        return failed(causeOf(error));
      }
    },
  };
}

/** One GET with one deadline for all of it; no redirect, no retry: the next reading is one. */
function webFeed(url: string, config: FeedConfig, now: () => number): Feed {
  const { origin, pathname } = new URL(url);
  const agent = new Agent({ connections: 1, pipelining: 1, connect: { timeout: config.timeoutMs } });
  return {
    // A query may hold more than others should read in a log.
    name: `${origin}${pathname}`,
    close: () => agent.destroy(),
    async read() {
      const asked = now();
      try {
        const { statusCode, headers, body } = await request(url, {
          dispatcher: agent,
          signal: AbortSignal.timeout(config.timeoutMs),
          headers: { accept: 'application/json, text/plain', 'user-agent': 'puntas' },
        });
        const coding = headers['content-encoding'] ?? 'identity';
        const refusal =
          statusCode !== 200
            ? `expected status 200, found ${statusCode}`
            : coding !== 'identity'
              ? `its body has the encoding ${String(coding)}, which was not requested`
              : null;
        if (refusal !== null) {
          // What it has to say of its end interests nobody, and must not end the bot.
          body.on('error', () => undefined).destroy();
          return failed(refusal);
        }
        return readingOf(await readBody(body, BYTES_MAX), config, now(), asked);
      } catch (error) {
        const isLate = error instanceof Error && error.name === 'TimeoutError';
        return failed(isLate ? `no complete answer within ${config.timeoutMs} ms` : causeOf(error));
      }
    },
  };
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? error.message : `${code}${error.message.includes(code) ? '' : ` ${error.message}`}`;
}
