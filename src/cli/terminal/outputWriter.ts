/** Writer of texts to one file descriptor; failed writes are counted and never throw. */
import { textOfError } from '../../core/index.ts';

/** Writes bytes and returns the number of accepted bytes; throws like `fs.writeSync`. */
export type WriteBytes = (bytes: Uint8Array) => number;

/** Returns a text about the loss of `count` texts with error code `code`, in the format of the other texts. */
export type DescribeLoss = (count: number, code: string) => string;

export type OutputWriterOptions = {
  readonly write: WriteBytes;
  /** Calls `call` after `ms`; the process stays alive until then if `keepsAlive`. */
  readonly after: (ms: number, call: () => void, keepsAlive: boolean) => void;
  /** Monotonic clock, in ms. */
  readonly now: () => number;
  /** Maximum number of bytes buffered while the reader accepts none; further texts are lost. */
  readonly queuedBytesMax: number;
};

/** Delays between two attempts while the reader accepts nothing, in ms: starting at `first`, doubled up to `max`. */
const RETRY_MS = { first: 1, max: 50 };
/** Error code of texts that the full queue did not accept. */
const FULL_QUEUE = 'EAGAIN';
/** Maximum number of attempts per text if signals interrupt the writes. */
const INTERRUPTED_MAX = 100;

/**
 * Queue that keeps the order of texts and writes each text once, completely or not at all, unless the descriptor fails
 * during a text. `write` must not block: on a full pipe it must fail with EAGAIN, and the remaining bytes wait in
 * memory.
 */
export class OutputWriter {
  readonly #options: OutputWriterOptions;
  readonly #queue: Uint8Array[] = [];
  readonly #settled = new Set<() => void>();
  #queuedBytes = 0;
  /** Whether some bytes of the first text in the queue have been written. */
  #isHeadStarted = false;
  /** Whether the last written text is incomplete. */
  #isTorn = false;
  #retryMs = RETRY_MS.first;
  #isRetryDue = false;
  #lost = 0;
  #lastCode: string | null = null;
  /** Number of losses not yet reported. */
  #unreported = 0;

  constructor(options: OutputWriterOptions) {
    this.#options = options;
  }

  /** Returns the total number of lost texts. */
  get lost(): number {
    return this.#lost;
  }

  /** Returns the error code of the last loss; `null` if nothing was lost. */
  get lastCode(): string | null {
    return this.#lastCode;
  }

  /** Returns the number of buffered bytes. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /**
   * Writes the text now, or when the reader accepts it. Never throws. `describeLoss` reports earlier losses before this
   * text.
   */
  write(text: string, describeLoss?: DescribeLoss): void {
    if (text === '') return;
    this.#drain();
    const reported = describeLoss === undefined ? 0 : this.#unreported;
    const report = reported > 0 ? describeLoss!(reported, this.#lastCode ?? '') : '';
    const bytes = Buffer.from(report + text);
    if (this.#queue.length > 0 && !(this.#queuedBytes + bytes.length <= this.#options.queuedBytesMax)) {
      this.#lose(FULL_QUEUE);
      return;
    }
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    const lostBefore = this.#lost;
    this.#drain();
    if (this.#lost === lostBefore) this.#unreported -= reported;
  }

  /** Resolves when nothing is buffered, or when the reader accepted nothing for `stuckMsMax`. Never rejects. */
  async settle(stuckMsMax: number): Promise<void> {
    const { after, now } = this.#options;
    let [left, since] = [this.#queuedBytes, now()];
    while (this.#queue.length > 0) {
      if (this.#queuedBytes < left) [left, since] = [this.#queuedBytes, now()];
      else if (!(now() - since < stuckMsMax)) {
        while (this.#queue.length > 0) this.#dropHead(FULL_QUEUE);
        return;
      }
      await new Promise<void>(resolve => {
        this.#settled.add(resolve);
        after(RETRY_MS.max, resolve, true);
      });
      this.#settled.clear();
    }
  }

  #drain(): void {
    let interrupted = 0;
    while (this.#queue.length > 0) {
      const head = this.#queue[0]!;
      try {
        if (this.#isTorn) {
          if (this.#options.write(NEWLINE) === 0) return this.#retry();
          this.#isTorn = false;
        }
        const taken = this.#options.write(head);
        if (!(taken > 0)) return this.#retry();
        this.#retryMs = RETRY_MS.first;
        this.#queuedBytes -= taken;
        this.#isHeadStarted = taken < head.length;
        if (this.#isHeadStarted) this.#queue[0] = head.subarray(taken);
        else this.#queue.shift();
      } catch (error) {
        const code = codeOfError(error);
        if (code === 'EAGAIN' || code === 'EWOULDBLOCK') return this.#retry();
        if (code === 'EINTR' && ++interrupted < INTERRUPTED_MAX) continue;
        this.#dropHead(code);
      }
    }
    for (const resolve of this.#settled) resolve();
  }

  #retry(): void {
    if (this.#isRetryDue) return;
    this.#isRetryDue = true;
    this.#options.after(
      this.#retryMs,
      () => {
        this.#isRetryDue = false;
        this.#drain();
      },
      false,
    );
    this.#retryMs = Math.min(RETRY_MS.max, this.#retryMs * 2);
  }

  #dropHead(code: string): void {
    const head = this.#queue.shift()!;
    this.#queuedBytes -= head.length;
    if (this.#isHeadStarted) this.#isTorn = true;
    this.#isHeadStarted = false;
    this.#lose(code);
  }

  #lose(code: string): void {
    this.#lost++;
    this.#unreported++;
    this.#lastCode = code;
  }
}

const NEWLINE = Buffer.from('\n');

function codeOfError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : textOfError(error);
}
