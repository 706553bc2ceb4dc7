/** Queue of answers: they are sent one after another, a few times if necessary, and never delay the caller. */
import { sleep, type Clock, type Millis } from '../../core/index.ts';
import type { ApiResult } from './telegramApi.ts';

/** Maximum number of waiting answers; further answers are dropped. */
const WAITING_MAX = 50;
const TRIES_MAX = 3;
/** Wait before a repetition, in ms; doubles each time. A longer wait that Telegram asks for applies instead. */
const RETRY_MS = 1_000;
/** Maximum wait that Telegram may ask for, in ms; for a longer one the answer is dropped. */
const AFTER_MAX_MS = 30_000;

type Call = () => Promise<ApiResult<unknown>>;

export class SendQueue {
  readonly #clock: Clock;
  readonly #onTrouble: (line: string) => void;
  readonly #waiting: Call[] = [];
  readonly #closed = new AbortController();
  #isSending = false;

  /** Creates an empty queue. `onTrouble` receives a line for each answer that is dropped. */
  constructor(clock: Clock, onTrouble: (line: string) => void) {
    this.#clock = clock;
    this.#onTrouble = onTrouble;
  }

  add(call: Call): void {
    if (this.#closed.signal.aborted) return;
    if (this.#waiting.length >= WAITING_MAX) return this.#onTrouble(`an answer was dropped: too many wait`);
    this.#waiting.push(call);
    if (!this.#isSending) void this.#send();
  }

  close(): void {
    this.#closed.abort();
    this.#waiting.length = 0;
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (let call = this.#waiting.shift(); call !== undefined; call = this.#waiting.shift()) await this.#deliver(call);
    this.#isSending = false;
  }

  async #deliver(call: Call): Promise<void> {
    let wait: Millis = RETRY_MS;
    for (let tries = 1; !this.#closed.signal.aborted; tries++) {
      const result = await call();
      if (result.kind === 'done' || this.#closed.signal.aborted) return;
      if (result.isFinal || tries >= TRIES_MAX || result.afterMs > AFTER_MAX_MS)
        return this.#onTrouble(`an answer was dropped: ${result.why}`);
      await sleep(this.#clock, Math.max(wait, result.afterMs), this.#closed.signal);
      wait *= 2;
    }
  }
}
