/** A client of the agent server over any two streams, which checks every line that it gets. */
import type { Readable, Writable } from 'node:stream';
import { ANSWER_MAX } from '../../../src/app/mcp/agentServer.ts';

export type AgentAnswer = {
  readonly id?: number | string;
  readonly result?: {
    readonly isError?: boolean;
    readonly content?: readonly { readonly text: string }[];
    readonly [key: string]: unknown;
  };
  readonly error?: { readonly code: number; readonly message: string };
};

export class AgentClient {
  /** Number of answers by id. */
  readonly answered = new Map<number | string, number>();
  /** Number of answers without an id. */
  unnumbered = 0;
  readonly #input: Writable;
  readonly #waiting = new Map<number | string, (answer: AgentAnswer) => void>();
  #text = '';
  #lastId = 0;

  /** `input`, `output`: of the server. */
  constructor(input: Writable, output: Readable) {
    this.#input = input;
    output.setEncoding('utf8').on('data', (part: string) => {
      const lines = (this.#text + part).split('\n');
      this.#text = lines.pop()!;
      for (const line of lines) this.#take(line);
    });
  }

  /** Number of requests that wait for their answer. */
  get open(): number {
    return this.#waiting.size;
  }

  send(text: string): void {
    this.#input.write(`${text}\n`);
  }

  /** Resolves with the answer to a request that is sent as `text`. */
  sent(id: number | string, text: string): Promise<AgentAnswer> {
    return new Promise(resolve => {
      this.#waiting.set(id, resolve);
      this.send(text);
    });
  }

  async ask(method: string, params: object = {}): Promise<AgentAnswer> {
    const id = ++this.#lastId;
    return this.sent(id, JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  /** Opens a connection with a handshake, and returns the version that was agreed. */
  async open2025(protocolVersion = '2025-11-25'): Promise<unknown> {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'a test', version: '1' } };
    const { result } = await this.ask('initialize', params);
    this.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    return result?.['protocolVersion'];
  }

  /** Calls a tool: its data, or the text of its error. */
  async call(name: string, args: object = {}): Promise<{ readonly data?: unknown; readonly error?: string }> {
    const { result, error } = await this.ask('tools/call', { name, arguments: args });
    if (error !== undefined) return { error: error.message };
    const text = result?.content?.[0]?.text ?? '';
    return result?.isError === true ? { error: text } : { data: (JSON.parse(text) as { data: unknown }).data };
  }

  #take(line: string): void {
    if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(line))
      throw new Error(`control characters in an answer: ${line.slice(0, 200)}`);
    if (line.length > 2 * ANSWER_MAX) throw new Error(`an answer of ${line.length} characters`);
    const answer = JSON.parse(line) as AgentAnswer & { method?: string };
    if (answer.method !== undefined) return;
    if (answer.id === undefined) {
      this.unnumbered++;
      return;
    }
    this.answered.set(answer.id, (this.answered.get(answer.id) ?? 0) + 1);
    this.#waiting.get(answer.id)?.(answer);
    this.#waiting.delete(answer.id);
  }
}
