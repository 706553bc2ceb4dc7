/**
 * HTTP client of one bot's console: one connection, one request at a time. Each answer has a deadline and a maximum
 * size; redirects are not followed, so a token reaches only the configured address.
 */
import type { TLSSocket } from 'node:tls';
import { Agent, buildConnector, request } from 'undici';
import { OpenRequests, readBody } from '../guard/index.ts';
import { shownText, textOfError, type Millis } from '../core/index.ts';
import { SUMMARY_PATH, ROLE_HEADER, type BotSummary } from '../console/index.ts';
import { ANSWER_BYTES_MAX, summaryIn } from './botAnswer.ts';

/** TLS trust in a console: an authority in PEM, a pinned certificate, or neither for the system's authorities. */
export type TlsTrust =
  | { readonly kind: 'system' }
  | { readonly kind: 'authority'; readonly pem: string }
  | { readonly kind: 'fingerprint'; readonly sha256: string };

export type ConsoleAccount = {
  /** Address of the console, without trailing slash. */
  readonly url: string;
  /** Returns the current token; `null` if the console needs none. Throws a one-clause error if it cannot be read. */
  readonly token: () => string | null;
  readonly trust: TlsTrust;
};

/**
 * Result of a request. `problem` is one clause. `isDenied`: the console rejected the request (401 or 403), or the token
 * is an operator's; further attempts soon could make the console block this machine. `retryAfterMs`: pause that the
 * console requests.
 */
export type ConsoleAnswer =
  | { readonly kind: 'summary'; readonly summary: BotSummary }
  | { readonly kind: 'problem'; readonly problem: string; readonly isDenied?: true; readonly retryAfterMs?: Millis };

/** Deadline of a request with its complete answer, in ms. */
export const ANSWER_WITHIN_MS = 2_000;
/** Maximum size of an error answer whose reason is shown, in bytes. */
const REASON_BYTES_MAX = 2_048;
const RETRY_AFTER_MAX_MS = 300_000;

export class ConsoleClient {
  readonly #account: ConsoleAccount;
  readonly #agent: Agent;
  readonly #requests = new OpenRequests();

  constructor(account: ConsoleAccount) {
    this.#account = account;
    this.#agent = new Agent({
      ...{ connections: 1, pipelining: 1, keepAliveTimeout: 10_000, maxHeaderSize: 16_384 },
      ...{ headersTimeout: ANSWER_WITHIN_MS, bodyTimeout: ANSWER_WITHIN_MS, connect: connectorFor(account.trust) },
    });
  }

  /** Requests the summary. Never rejects. */
  async ask(): Promise<ConsoleAnswer> {
    let token: string | null;
    try {
      token = this.#account.token();
    } catch (error) {
      return problem(textOfError(error));
    }
    const { signal, end } = this.#requests.start(ANSWER_WITHIN_MS);
    try {
      const { statusCode, headers, body } = await request(`${this.#account.url}${SUMMARY_PATH}`, {
        dispatcher: this.#agent,
        signal,
        headers: {
          accept: 'application/json',
          'user-agent': 'puntas',
          ...(token && { authorization: `Bearer ${token}` }),
        },
      });
      // A body that is destroyed before its end emits an error.
      body.on('error', () => undefined);
      if (statusCode === 200 && headers[ROLE_HEADER] === 'operator') {
        body.destroy();
        return {
          ...problem('the configured token is an operator token; set the viewer token instead'),
          isDenied: true,
        };
      }
      if (statusCode === 200) {
        const read = summaryIn(await readBody(body as AsyncIterable<Uint8Array>, ANSWER_BYTES_MAX));
        return typeof read === 'string' ? problem(read) : { kind: 'summary', summary: read };
      }
      const reason = await reasonIn(body as AsyncIterable<Uint8Array> & { destroy(): void });
      return refusedAnswer(statusCode, reason, headers['retry-after'], token !== null);
    } catch (error) {
      return problem(this.#requests.isClosed ? 'the fleet page is stopping' : connectionProblem(error));
    } finally {
      end();
    }
  }

  async close(): Promise<void> {
    this.#requests.close();
    await this.#agent.destroy();
  }
}

const problem = (text: string) => ({ kind: 'problem', problem: shownText(text).slice(0, 300) }) as const;

/**
 * Returns a TLS connector that checks certificates by `trust`. A pinned certificate is compared before the request is
 * sent; its authority and host name are not checked. TLS sessions are not resumed, so that each connection shows its
 * certificate.
 */
function connectorFor(trust: TlsTrust): buildConnector.connector {
  // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment cannot disable the check of certificates.
  const options = { timeout: ANSWER_WITHIN_MS, maxCachedSessions: 0, rejectUnauthorized: true };
  if (trust.kind === 'system') return buildConnector(options);
  if (trust.kind === 'authority') return buildConnector({ ...options, ca: trust.pem });
  const connect = buildConnector({ ...options, rejectUnauthorized: false });
  return (asked, done) =>
    connect(asked, (...[error, socket]) => {
      if (error !== null) return done(error, null);
      // A connection that ends during its handshake has no certificate; the types of Node do not say so.
      const certificate = (socket as TLSSocket).getPeerCertificate() as { fingerprint256?: string } | null;
      const shown = certificate?.fingerprint256;
      if (shown?.toUpperCase() === trust.sha256.toUpperCase()) return done(null, socket);
      socket.destroy();
      return done(
        new Error(
          `its certificate has another fingerprint (${shown ?? 'none'}); check that the address is the console's, then correct the key fingerprint`,
        ),
        null,
      );
    });
}

/** Returns the reason in an error answer; empty if the answer is not short JSON of the API. */
async function reasonIn(body: AsyncIterable<Uint8Array> & { destroy(): void }): Promise<string> {
  try {
    const value = JSON.parse(await readBody(body, REASON_BYTES_MAX)) as { readonly problem?: unknown };
    return typeof value.problem === 'string' ? value.problem : '';
  } catch {
    body.destroy();
    return '';
  }
}

function refusedAnswer(code: number, reason: string, retryAfter: unknown, hasToken: boolean): ConsoleAnswer {
  const said = reason === '' ? '' : `: ${reason}`;
  if (code >= 300 && code < 400)
    return problem(`answered ${code}, a redirect, which is not followed; write the final address into url`);
  if (code === 401) {
    const remedy = hasToken ? 'check its viewer token' : 'set tokenFile or tokenVariable';
    return { ...problem(`rejected the token${said}; ${remedy}`), isDenied: true };
  }
  if (code === 403) return { ...problem(`answered 403${said}`), isDenied: true };
  if (code === 404) return problem('has no summary; its version is too old, or the address is not that of a console');
  const seconds = Number(retryAfter);
  const isWait = (code === 429 || code === 503) && Number.isFinite(seconds) && seconds > 0;
  return {
    ...problem(`answered ${code}${said}`),
    ...(isWait ? { retryAfterMs: Math.min(RETRY_AFTER_MAX_MS, seconds * 1_000) } : {}),
  };
}

/** Returns the failure of a request as one clause. */
function connectionProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isLate =
    (error instanceof Error && error.name === 'TimeoutError') ||
    ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].includes(code);
  if (isLate) return `no complete answer within ${ANSWER_WITHIN_MS / 1_000} s`;
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing listens at this address; the console may be down';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the host name has no address';
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'the headers of the answer are too large';
    case 'UND_ERR_SOCKET':
    case 'ECONNRESET':
      return 'the connection broke off';
    case 'CERT_HAS_EXPIRED':
      return 'its certificate has expired';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return 'its certificate is for another host name';
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return 'its certificate is not signed by a trusted authority; set caFile or fingerprint';
    default:
      return textOfError(error);
  }
}
