/** HTTP client of the console's API, with the token of a viewer. It follows no redirect and bounds each answer. */
import { textOfError, type Secret } from '../../core/index.ts';
import { OpenRequests, readBody } from '../../guard/index.ts';
import { API_BASE } from '../../console/index.ts';
import { UsageError } from '../../wiring/usageError.ts';

/** Maximum size of an answer in bytes. */
const ANSWER_BYTES_MAX = 4_194_304;
/** Maximum time of a request, in ms; a read may replay a recording. */
const WITHIN_MS = 120_000;

export class AgentConsole {
  readonly #url: string;
  readonly #token: Secret;
  readonly #requests = new OpenRequests();
  #isViewer = false;

  /**
   * Creates a client. `url`: address of the console.
   * @throws UsageError if the token would travel unencrypted over a network.
   */
  constructor(url: string, token: Secret) {
    this.#url = consoleOrigin(url);
    this.#token = token;
  }

  /**
   * Asserts that the token is that of a viewer.
   * @throws UsageError if the token is invalid or has another role, or if the console does not answer.
   */
  async assertViewer(signal?: AbortSignal): Promise<void> {
    if (this.#isViewer) return;
    const { role } = (await this.#sent('GET', '/session', undefined, signal)) as { readonly role?: unknown };
    if (role !== 'viewer')
      throw new UsageError(
        'the token is not a viewer token; an agent must not have the operator token; pass a viewer token with --token-file',
      );
    this.#isViewer = true;
  }

  /**
   * Returns the JSON of an answer. `path` is relative to the API.
   * @throws UsageError with the console's message, or if the console does not answer.
   */
  async read(path: string, query: Readonly<Record<string, string>> = {}, signal?: AbortSignal): Promise<unknown> {
    await this.assertViewer(signal);
    const asked = new URLSearchParams(query).toString();
    return this.#sent('GET', asked === '' ? path : `${path}?${asked}`, undefined, signal);
  }

  /** Posts a body, and returns the JSON of the answer. Throws as `read` does. */
  async post(path: string, body: object, signal?: AbortSignal): Promise<unknown> {
    await this.assertViewer(signal);
    return this.#sent('POST', path, JSON.stringify(body), signal);
  }

  async #sent(method: 'GET' | 'POST', path: string, body?: string, signal?: AbortSignal): Promise<unknown> {
    const deadline = this.#requests.start(WITHIN_MS, signal);
    let text: string;
    let status: number;
    try {
      const answer = await fetch(`${this.#url}${API_BASE}${path}`, {
        ...{ method, redirect: 'error', signal: deadline.signal },
        headers: {
          authorization: `Bearer ${this.#token.reveal()}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body }),
      });
      status = answer.status;
      text = answer.body === null ? '' : await readBody(answer.body, ANSWER_BYTES_MAX);
    } catch (error) {
      throw new UsageError(
        `the console at ${this.#url} did not answer (${fetchProblem(error)}); start it with puntas console, or pass its address with --console`,
      );
    } finally {
      deadline.end();
    }
    const json = answerJson(text);
    if (status !== 200 || json === undefined) {
      const problem = (json as { readonly problem?: unknown } | null | undefined)?.problem;
      throw new UsageError(
        typeof problem === 'string' ? problem : `unexpected answer of the console, HTTP status ${status}`,
      );
    }
    return json;
  }
}

/** Returns the parsed JSON of an answer; `undefined` if the answer is not JSON, as from a proxy or another program. */
function answerJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the reason of a failed fetch, which is in `error.cause`. */
const fetchProblem = (error: unknown): string =>
  textOfError(error instanceof Error && error.cause instanceof Error ? error.cause : error);

function consoleOrigin(url: string): string {
  const given = URL.canParse(url) ? new URL(url) : null;
  const isLocal = given !== null && /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/.test(given.hostname);
  if (given?.protocol === 'https:' || (given?.protocol === 'http:' && isLocal)) return given.origin;
  throw new UsageError(
    `--console: expected an address like http://127.0.0.1:9465 of this machine, or https://…, found ${JSON.stringify(url)}`,
  );
}
