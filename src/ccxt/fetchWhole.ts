/**
 * HTTP requests for ccxt. In its own requests, the deadline covers only the headers of an answer; here it also covers
 * the body.
 */
import { counted } from '../core/index.ts';
import { request } from 'undici';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

type FetchOptions = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Record<string, string>;
  readonly body?: string;
  /** Signal by which ccxt aborts the request at its deadline. ccxt stops its timer only when `fetchWhole` returns. */
  readonly signal: AbortSignal;
};

/** Maximum size of a body in bytes; the list of markets of a large exchange has some 20 MB. */
const BODY_MAX = 128_000_000;

const UNPACK: Readonly<Record<string, (packed: Buffer) => Buffer>> = {
  gzip: packed => gunzipSync(packed, { maxOutputLength: BODY_MAX }),
  br: packed => brotliDecompressSync(packed, { maxOutputLength: BODY_MAX }),
  deflate: packed => inflateSync(packed, { maxOutputLength: BODY_MAX }),
};

/** Sends a request and reads its complete answer; follows no redirect. Returns what `handleRestResponse` of ccxt reads. */
export async function fetchWhole(url: string, { method, headers, body, signal }: FetchOptions): Promise<object> {
  const answer = await request(url, {
    method,
    headers: { 'Accept-Encoding': 'gzip, deflate, br', ...headers },
    ...(body === undefined ? {} : { body }),
    signal,
  });
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer.body as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    if (bytes > BODY_MAX) throw new TypeError(`the answer is larger than the maximum of ${BODY_MAX / 1e6} MB`);
  }
  if (answer.statusCode >= 300 && answer.statusCode < 400)
    throw new TypeError(`redirected (HTTP ${answer.statusCode})`);
  const packed = Buffer.concat(parts);
  const unpack = UNPACK[String(answer.headers['content-encoding'] ?? '')];
  const whole = unpack ? unpack(packed) : packed;
  // ccxt treats text that is not JSON as an answer without fields, which would become an empty book.
  const text = whole.toString('utf8');
  if (!isJson(text))
    throw new TypeError(`the answer is not JSON (HTTP ${answer.statusCode}, ${counted(whole.length, 'byte')})`);
  return {
    status: answer.statusCode,
    statusText: '',
    headers: answer.headers,
    text: () => Promise.resolve(text),
    arrayBuffer: () => Promise.resolve(whole),
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
