/**
 * HTTP client of one receiver of JSON, with one connection. Requests have a deadline for the complete answer, and
 * redirects are not followed.
 */
import { Agent, request } from 'undici';
import { shownText, textOfError, type Millis } from '../core/index.ts';
import { OpenRequests } from '../guard/index.ts';

/** Replaces secrets in a text. */
export type TextMask = (text: string) => string;

/** Answer of a receiver. `isCut`: the answer was longer than the maximum, and `text` has only its start. */
export type ReceiverAnswer = {
  readonly status: number;
  readonly text: string;
  readonly isCut: boolean;
  readonly retryAfter: unknown;
};

/** Maximum size of an answer in bytes, if it is only read for its error reason. */
const ANSWER_MAX = 4_096;

export class JsonReceiver {
  readonly mask: TextMask;
  readonly #deadlineMs: Millis;
  readonly #answerMax: number;
  readonly #agent: Agent;
  readonly #requests = new OpenRequests();

  /** Creates a client. `deadlineMs`: time limit of a request with its complete answer; `answerMax`: in bytes. */
  constructor(mask: TextMask, deadlineMs: Millis, answerMax = ANSWER_MAX) {
    this.mask = mask;
    this.#deadlineMs = deadlineMs;
    this.#answerMax = answerMax;
    this.#agent = new Agent({ connections: 1, pipelining: 1, connect: { timeout: deadlineMs } });
  }

  /** Posts a body. Resolves to the answer, or to the reason why there is no answer. Never rejects. */
  async post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
  ): Promise<ReceiverAnswer | { why: string }> {
    const { signal, end } = this.#requests.start(this.#deadlineMs);
    try {
      const answer = await request(url, {
        method: 'POST',
        dispatcher: this.#agent,
        signal,
        headers: { 'content-type': 'application/json', 'user-agent': 'puntas', ...headers },
        body,
      });
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > this.#answerMax) break;
        chunks.push(chunk);
      }
      const text = Buffer.concat(chunks).toString('utf8');
      const isCut = size > this.#answerMax;
      return { status: answer.statusCode, text, isCut, retryAfter: answer.headers['retry-after'] };
    } catch (error) {
      if (this.#requests.isClosed) return { why: 'the channel did not answer before the process stopped' };
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      return {
        why: isLate
          ? `the channel sent no complete answer within ${this.#deadlineMs} ms`
          : this.mask(shownText(textOfError(error))),
      };
    } finally {
      end();
    }
  }

  close(): Promise<void> {
    this.#requests.close();
    return this.#agent.destroy();
  }
}
