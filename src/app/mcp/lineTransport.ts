/**
 * Transport of the Model Context Protocol over two streams: one JSON message per line. It bounds the size, the depth
 * and the number of messages, so that no client can exhaust the memory; the SDK implements the protocol.
 */
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { Clock, Timer } from '../../core/index.ts';
import { plainJson } from './plainJson.ts';

/** Maximum size of a message in bytes; a longer one is dropped with an error. */
export const MESSAGE_BYTES_MAX = 262_144;
/** Maximum number of requests without an answer; further ones are refused, so that a cancellation is still read. */
export const IN_FLIGHT_MAX = 32;
/** Maximum depth of a message. */
const DEPTH_MAX = 32;
/** Maximum number of characters of a method and of an id. */
const NAME_MAX = 200;
/** Maximum time that requests have for their answers once the input has ended, in ms. */
const CLOSES_WITHIN_MS = 5_000;
/** Bounds of outgoing messages; the answers of tools and resources have smaller bounds. */
const OUT = { text: 262_144, items: 1_000, depth: 32 };

/** Error codes of JSON-RPC. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
/** Error code of this server, in the range that JSON-RPC reserves for implementations. */
const BUSY = -32_000;

type RequestId = string | number;

export type LineTransportOptions = {
  readonly input: Readable;
  readonly output: Writable;
  readonly clock: Clock;
};

export class LineTransport implements Transport {
  // The SDK sets these functions before it starts the transport.
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Called once after the transport has closed. */
  afterClose: () => void = () => undefined;
  readonly #options: LineTransportOptions;
  readonly #inFlight = new Set<RequestId>();
  /** Received bytes that were not handled yet. */
  #bytes = Buffer.alloc(0);
  /** Whether the rest of a line that was too long is dropped. */
  #isDropping = false;
  #isBlocked = false;
  #isPumping = false;
  #isEnded = false;
  #isClosed = false;
  #closing: Timer | null = null;

  constructor(options: LineTransportOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { input, output } = this.#options;
    input.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#pump();
    });
    input.on('end', () => {
      this.#isEnded = true;
      this.#pump();
    });
    input.on('error', () => void this.close());
    // An error of the output means that the client has gone.
    output.on('error', () => void this.close());
    output.on('drain', () => {
      this.#isBlocked = false;
      this.#pump();
    });
  }

  /** Sends a message. A message that cannot be sent is dropped, because the client has gone. */
  async send(message: JSONRPCMessage): Promise<void> {
    if ('id' in message && !('method' in message) && message.id !== undefined) this.#inFlight.delete(message.id);
    this.#write(message);
    if (this.#isEnded) this.#pump();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#closing?.stop();
    this.#options.input.pause();
    this.onclose?.();
    this.afterClose();
  }

  #write(message: object): void {
    if (this.#isClosed) return;
    if (!this.#options.output.write(`${JSON.stringify(plainJson(message, OUT))}\n`)) this.#isBlocked = true;
  }

  /** Handles complete lines until the client must read answers first. */
  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      this.#handleLines();
    } finally {
      this.#isPumping = false;
    }
  }

  #handleLines(): void {
    const { input, clock } = this.#options;
    while (!this.#isClosed && !this.#isBlocked) {
      const end = this.#bytes.indexOf(0x0a);
      if (end < 0) {
        this.#dropLong();
        if (!this.#isEnded) return void input.resume();
        if (this.#inFlight.size === 0) return void this.close();
        this.#closing ??= clock.after(CLOSES_WITHIN_MS, () => void this.close());
        return;
      }
      const line = this.#bytes.subarray(0, end);
      this.#bytes = this.#bytes.subarray(end + 1);
      if (this.#isDropping) this.#isDropping = false;
      else if (line.length > MESSAGE_BYTES_MAX) this.#refuse(INVALID_REQUEST, TOO_LONG);
      else this.#take(line.toString('utf8'));
    }
    input.pause();
  }

  /** Drops the start of a line that is already too long. */
  #dropLong(): void {
    if (this.#isDropping) this.#bytes = Buffer.alloc(0);
    if (this.#bytes.length <= MESSAGE_BYTES_MAX) return;
    this.#bytes = Buffer.alloc(0);
    this.#isDropping = true;
    this.#refuse(INVALID_REQUEST, TOO_LONG);
  }

  #take(line: string): void {
    if (line.trim() === '') return;
    if (isTooDeep(line)) return this.#refuse(INVALID_REQUEST, `the message is nested too deeply`);
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return this.#refuse(PARSE_ERROR, 'the line is not JSON');
    }
    if (Array.isArray(message)) return this.#refuse(INVALID_REQUEST, 'batches are not supported');
    const found = messageKind(message);
    switch (found.kind) {
      case 'answer':
        // The server sends no requests, so no answer is expected.
        return;
      case 'invalid':
        return this.#refuse(INVALID_REQUEST, found.why);
      case 'notification':
        if (found.cancels !== null) this.#inFlight.delete(found.cancels);
        break;
      case 'request':
        if (this.#inFlight.has(found.id)) return this.#refuse(INVALID_REQUEST, 'a request with this id is under way');
        if (this.#inFlight.size >= IN_FLIGHT_MAX)
          return this.#write({ jsonrpc: '2.0', id: found.id, error: { code: BUSY, message: TOO_MANY } });
        this.#inFlight.add(found.id);
    }
    try {
      this.onmessage?.(message as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  /** Sends an error without a request id. */
  #refuse(code: number, message: string): void {
    this.#write({ jsonrpc: '2.0', error: { code, message } });
  }
}

const TOO_MANY = `${IN_FLIGHT_MAX} requests are under way; try again when one has ended`;
const TOO_LONG = `the message is larger than ${MESSAGE_BYTES_MAX} bytes`;

type Found =
  | { readonly kind: 'answer' }
  | { readonly kind: 'invalid'; readonly why: string }
  /** `cancels`: id of the request that a client no longer waits for; `null` for another notification. */
  | { readonly kind: 'notification'; readonly cancels: RequestId | null }
  | { readonly kind: 'request'; readonly id: RequestId };

const invalid = (why: string): Found => ({ kind: 'invalid', why });

function messageKind(message: unknown): Found {
  if (typeof message !== 'object' || message === null) return invalid('expected an object');
  const { jsonrpc, id, method, params } = message as Readonly<Record<string, unknown>>;
  if (jsonrpc !== '2.0') return invalid('expected "jsonrpc": "2.0"');
  if (method === undefined && ('result' in message || 'error' in message)) return { kind: 'answer' };
  if (typeof method !== 'string' || method.length > NAME_MAX) return invalid('expected a method');
  if (params !== undefined && (typeof params !== 'object' || params === null || Array.isArray(params)))
    return invalid('expected params that are an object');
  if (id === undefined) {
    const { requestId } = (params ?? {}) as Readonly<Record<string, unknown>>;
    return { kind: 'notification', cancels: method === CANCELED && isId(requestId) ? requestId : null };
  }
  return isId(id) ? { kind: 'request', id } : invalid('expected an id that is a whole number or a short text');
}

/** Method of the notification that cancels a request. */
const CANCELED = 'notifications/cancelled';

const isId = (id: unknown): id is RequestId =>
  Number.isSafeInteger(id) || (typeof id === 'string' && id.length <= NAME_MAX && /^[\x20-\x7e]+$/.test(id));

/** Whether the brackets of a JSON text are nested deeper than `DEPTH_MAX`. Runs in linear time. */
function isTooDeep(text: string): boolean {
  let [depth, isText] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (isText) {
      if (sign === '\\') at++;
      else if (sign === '"') isText = false;
    } else if (sign === '"') isText = true;
    else if (sign === '{' || sign === '[') {
      if (++depth > DEPTH_MAX) return true;
    } else if (sign === '}' || sign === ']') depth--;
  }
  return false;
}
