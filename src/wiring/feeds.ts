/** Sources of price feeds: a file that is read again when it changes, or a web address. */
import { closeSync, fstatSync } from 'node:fs';
import { Agent, request } from 'undici';
import { openRegularFile, readBody, readOpenFile } from '../guard/index.ts';
import type { FeedConfig } from '../config.ts';
import { readingOf, type Feed, type FeedReading } from '../live/market/feed.ts';

/** Maximum bytes of a feed's text. */
const BYTES_MAX = 65_536;

const failed = (why: string): FeedReading => ({ kind: 'failed', why });

/**
 * Returns a feed; `now` returns ms since 1970. Throws a RangeError if the configuration has neither url nor file. Reads
 * of the feed never reject; they resolve to the error.
 */
export function feedOf(config: FeedConfig, now: () => number = Date.now): Feed {
  const { url, file } = config;
  if (url !== undefined) return webFeed(url, config, now);
  if (file !== undefined) return fileFeed(file, config, now);
  throw new RangeError('a feed needs a url or a file');
}

/** Returns a feed from a file. The age of a price counts from the file's last change, unless the text has a time. */
function fileFeed(path: string, config: FeedConfig, now: () => number): Feed {
  let known: { readonly mark: string; readonly text: string; readonly changedAt: number } | null = null;
  const text = (): typeof known | string => {
    const fd = openRegularFile(path);
    try {
      const seen = fstatSync(fd);
      const mark = `${seen.dev} ${seen.ino} ${seen.size} ${seen.mtimeMs}`;
      if (known?.mark === mark) return known;
      const text = readOpenFile(fd, BYTES_MAX);
      // The file changed during the read, so its text may be incomplete. The next call of `read` reads the file again.
      if (fstatSync(fd).size !== seen.size) return 'the file is being written';
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
        if (found === null || typeof found === 'string') return failed(found ?? 'the file is empty');
        return readingOf(found.text, config, now(), found.changedAt);
      } catch (error) {
        return failed(failureText(error));
      }
    },
  };
}

/**
 * Returns a feed from a web address: one GET with one total deadline, without redirect or retry. The next read is the
 * retry.
 */
function webFeed(url: string, config: FeedConfig, now: () => number): Feed {
  const { origin, pathname } = new URL(url);
  const agent = new Agent({ connections: 1, pipelining: 1, connect: { timeout: config.timeoutMs } });
  return {
    // A query may contain secrets, which must not be logged.
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
              ? `the body has the encoding ${String(coding)}, which was not requested`
              : null;
        if (refusal !== null) {
          // An error of the discarded body must not end the bot.
          body.on('error', () => undefined).destroy();
          return failed(refusal);
        }
        return readingOf(await readBody(body, BYTES_MAX), config, now(), asked);
      } catch (error) {
        const isLate = error instanceof Error && error.name === 'TimeoutError';
        return failed(isLate ? `no complete answer within ${config.timeoutMs} ms` : failureText(error));
      }
    },
  };
}

function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? error.message : `${code}${error.message.includes(code) ? '' : ` ${error.message}`}`;
}
