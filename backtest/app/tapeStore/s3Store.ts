/**
 * Store of files by hash in a bucket of an S3-compatible server, with signature version 4. It uses only HEAD, PUT and
 * GET requests.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { request } from 'undici';
import { boundedBody, readBody } from '../../../src/guard/index.ts';
import { loadOptional, UsageError } from '../../../src/wiring/usageError.ts';
import { StoreProblem, type FileContent, type StoredFiles } from './storedFiles.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Answer = Awaited<ReturnType<typeof request>>;

type Bucket = {
  readonly shown: string;
  /** URL of the bucket and the prefix, without a trailing slash. */
  readonly base: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
};

/** SHA-256 of an empty body. */
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Opens a bucket. Throws a `UsageError` that names the missing values; never shows a credential. */
export function openS3(place: string, env: Env): StoredFiles {
  const found = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[\w.-]+)*)\/?$/.exec(place);
  if (found === null)
    throw new UsageError(
      `--tapes: expected a folder or s3://BUCKET/PREFIX, found ${/^s3:[\w./-]*$/.test(place) ? JSON.stringify(place) : 'an address with characters other than letters, digits, dots and dashes; put credentials into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'}`,
    );
  const [, bucket = '', prefix = ''] = found;
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const;
  const missing = names.filter(name => (env[name] ?? '') === '');
  if (missing.length > 0)
    throw new UsageError(`--tapes ${place}: missing credentials of the store; set ${missing.join(' and ')}`);
  const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'us-east-1';
  const token = env['AWS_SESSION_TOKEN'];
  return new S3Store({
    ...{ shown: place, region, base: `${endpointOf(bucket, region, place, env)}${prefix}` },
    ...{ accessKeyId: env[names[0]] ?? '', secretAccessKey: env[names[1]] ?? '' },
    ...(token !== undefined && token !== '' && { sessionToken: token }),
  });
}

/**
 * Returns the URL of the bucket. On Amazon, the host name contains the bucket. With AWS_ENDPOINT_URL, the path contains
 * the bucket, because every server supports that form.
 */
function endpointOf(bucket: string, region: string, place: string, env: Env): string {
  const endpoint = env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL'];
  if (endpoint === undefined || endpoint === '') return `https://${bucket}.s3.${region}.amazonaws.com`;
  if (!/^https?:\/\/[^\s/@]+\/?$/.test(endpoint))
    throw new UsageError(
      `--tapes ${place}: expected an AWS_ENDPOINT_URL or AWS_ENDPOINT_URL_S3 like https://s3.example.com, without path, user and password`,
    );
  return `${endpoint.replace(/\/$/, '')}/${bucket}`;
}

const TRIES = 4;
const FIRST_PAUSE_MS = 250;
const SILENCE_MS = 60_000;
/** Minimum transfer rate, in bytes per ms; slower transfers are aborted. */
const SLOWEST_BYTES_PER_MS = 20;
/** Maximum number of bytes to read from the body of an error, which usually has a few hundred bytes. */
const ERROR_BYTES_MAX = 65_536;
const DUMPED = { limit: ERROR_BYTES_MAX };

class S3Store implements StoredFiles {
  readonly shown: string;
  readonly #bucket: Bucket;

  constructor(bucket: Bucket) {
    this.shown = bucket.shown;
    this.#bucket = bucket;
  }

  async has(sha256: string): Promise<boolean> {
    const { statusCode, body } = await this.#asked('HEAD', sha256);
    await body.dump(DUMPED);
    if (statusCode === 200) return true;
    if (statusCode === 404) return false;
    throw new StoreProblem(`tapes in ${this.shown}: ${reasonOf(statusCode, '')}`);
  }

  /** Uploads with the signed hash. A store that receives other bytes rejects the request. */
  async put(sha256: string, content: FileContent): Promise<void> {
    const answer = await this.#asked('PUT', sha256, content);
    const text = await errorText(answer);
    if (answer.statusCode !== 200)
      throw new StoreProblem(`tapes in ${this.shown}: ${reasonOf(answer.statusCode, text)}`);
  }

  async get(sha256: string, to: string, bytesMax: number): Promise<boolean> {
    const answer = await this.#asked('GET', sha256, undefined, bytesMax);
    const { statusCode, body } = answer;
    if (statusCode === 200) {
      try {
        await pipeline(boundedBody(body, bytesMax), createWriteStream(to, { flags: 'wx' }));
      } catch (error) {
        throw new StoreProblem(`tapes in ${this.shown}: ${messageOf(error)}`);
      }
      return true;
    }
    const text = await errorText(answer);
    if (statusCode === 404) return false;
    throw new StoreProblem(`tapes in ${this.shown}: ${reasonOf(statusCode, text)}`);
  }

  /** Sends a request; retries with increasing pauses if the store is busy or unreachable. */
  async #asked(method: 'HEAD' | 'GET' | 'PUT', sha256: string, content?: FileContent, bytesMax = 0): Promise<Answer> {
    for (let tried = 1; ; tried++) {
      const isLast = tried === TRIES;
      try {
        const answer = await this.#askedOnce(method, sha256, content, bytesMax);
        if (isLast || (answer.statusCode < 500 && answer.statusCode !== 429)) return answer;
        await answer.body.dump(DUMPED);
      } catch (error) {
        if (error instanceof UsageError) throw error;
        if (isLast) throw new StoreProblem(`tapes in ${this.shown}: ${messageOf(error)}`);
      }
      await new Promise(resolve => setTimeout(resolve, FIRST_PAUSE_MS * 4 ** (tried - 1)));
    }
  }

  async #askedOnce(
    method: 'HEAD' | 'GET' | 'PUT',
    sha256: string,
    content: FileContent | undefined,
    bytesMax: number,
  ): Promise<Answer> {
    const { base, shown, ...credentials } = this.#bucket;
    const size = content === undefined ? null : 'text' in content ? Buffer.byteLength(content.text) : content.size;
    const { AwsV4Signer } = await loadOptional(shown, () => import('aws4fetch'));
    const signed = await new AwsV4Signer({
      ...credentials,
      ...{ method, url: `${base}/${sha256}`, service: 's3' },
      headers: { 'x-amz-content-sha256': content === undefined ? EMPTY : sha256 },
    }).sign();
    return request(signed.url, {
      method,
      headers: { ...Object.fromEntries(signed.headers), ...(size !== null && { 'content-length': String(size) }) },
      body: content === undefined ? null : 'text' in content ? content.text : createReadStream(content.file),
      ...{ headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS },
      signal: AbortSignal.timeout(SILENCE_MS + Math.ceil(Math.max(size ?? 0, bytesMax) / SLOWEST_BYTES_PER_MS)),
    });
  }
}

/** Reads the start of an error's body; an incomplete body counts as empty. */
async function errorText({ body }: Answer): Promise<string> {
  try {
    return await readBody(body, ERROR_BYTES_MAX);
  } catch {
    return '';
  }
}

/** Describes a failure with the code in the XML, such as AccessDenied, if any. */
function reasonOf(status: number, xml: string): string {
  const code = /<Code>(\w{1,64})<\/Code>/.exec(xml)?.[1];
  const advice =
    status === 403 ? '; check the credentials, their rights, and the region' : status === 404 ? ': no such bucket' : '';
  return `the store answered with HTTP status ${status}${code === undefined ? '' : ` (${code})`}${advice}`;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined || error.message.includes(code) ? error.message : `${error.message} (${code})`;
}
