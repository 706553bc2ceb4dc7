/**
 * One book of one exchange through ccxt: runs its thread, watches the stream for silence, and replaces the thread after
 * every fault.
 */
import { Worker } from 'node:worker_threads';
import { textInSeconds, textOfError, type Clock, type Millis, type Outcome, type Timer } from '../core/index.ts';
import { classFile, installedCcxt, unknownId } from './installed.ts';
import type { CcxtAnswers, CcxtThreadData, FromCcxt, TextBook, ToCcxt, TradesRead, Wants } from './messages.ts';

export type CcxtMarketOptions = {
  /** Id of the exchange in ccxt, like `binance`. */
  readonly id: string;
  /** Book, like `btc_usdt`. */
  readonly book: string;
  /** Origin that replaces the origin of the exchange's addresses. */
  readonly url?: string;
  readonly wants: Wants;
  /** Maximum number of levels per side. */
  readonly levels: number;
  /**
   * If a streamed book does not change for this time (ms), the thread is replaced. If `wants` is `prices`, a repeated
   * book and a call of `confirm` count as changes, too.
   */
  readonly silentAfterMs: Millis;
  /** Maximum time of a request, in ms. Default: 10 s. */
  readonly requestMs?: Millis;
  /**
   * Pause between a fault and the next thread, in ms: `first`, doubled after each consecutive fault, up to `longest`.
   */
  readonly pauses?: { readonly first: Millis; readonly longest: Millis };
  readonly clock: Clock;
};

export type CcxtMarketNews =
  /**
   * The thread has read the markets. Sent once per thread. `streams`: whether the exchange pushes books, so that no
   * polls are needed.
   */
  | { readonly kind: 'ready'; readonly streams: boolean; readonly rateLimitMs: Millis }
  | { readonly kind: 'book'; readonly book: TextBook }
  | { readonly kind: 'same'; readonly sentAt: Millis | null }
  | ({ readonly kind: 'trades' } & TradesRead)
  /** Books and trades are missing until the next `book`. `reason` is one line. */
  | { readonly kind: 'lost'; readonly reason: string };

const REQUEST_MS = 10_000;
const PAUSES = { first: 1_000, longest: 60_000 };
/**
 * Maximum time until a thread has loaded the exchange's ccxt class and read the markets, in ms; some exchanges need
 * many requests.
 */
const READY_WITHIN_MS = 90_000;
/** Maximum number of requests that wait for answers. */
const PENDING_MAX = 32;
/** Maximum heap of a thread in MB. ccxt keeps caches whose growth is not bounded (ccxt issues 26753, 18662). */
const HEAP_MAX_MB = 512;

type Pending = { readonly settle: (outcome: Outcome<never>) => void; readonly timer: Timer };

export class CcxtMarket {
  readonly #options: CcxtMarketOptions;
  #listener: (news: CcxtMarketNews) => void = () => undefined;
  #thread: Worker | null = null;
  /** Resolves when the threads that were ended no longer run. */
  #ended: Promise<unknown> = Promise.resolve();
  #market: object | undefined;
  #isReady = false;
  #isClosed = false;
  /** Number of consecutive threads that were replaced before they sent any data. */
  #fruitless = 0;
  #restarts = 0;
  /** Timer of the pause before the next thread, of the start of a thread, or of the watchdog. */
  #timer: Timer | null = null;
  #requests = 0;
  readonly #pending = new Map<number, Pending>();
  /** Requests that wait for the thread to be ready. */
  #waiting: (() => void)[] = [];

  constructor(options: CcxtMarketOptions) {
    this.#options = options;
  }

  /** Number of replaced threads. */
  get restarts(): number {
    return this.#restarts;
  }

  /**
   * Starts the first thread; call it once. Calls the listener only after this method has returned, and until `close` is
   * called.
   */
  start(listener: (news: CcxtMarketNews) => void): void {
    this.#listener = listener;
    this.#in(0, () => this.#open());
  }

  /** Requests data from the thread; waits until the thread is ready. Never rejects. */
  ask<W extends keyof CcxtAnswers>(what: W): Promise<Outcome<CcxtAnswers[W]>> {
    return new Promise(resolve => {
      if (this.#isClosed) return resolve(CLOSED);
      if (this.#pending.size >= PENDING_MAX)
        return resolve({
          kind: 'refused',
          code: 'not-sent',
          message: `${PENDING_MAX} requests to ccxt are already waiting`,
        });
      const request = ++this.#requests;
      const settle = (outcome: Outcome<never>): void => {
        this.#pending.get(request)?.timer.stop();
        this.#pending.delete(request);
        resolve(outcome);
      };
      // The deadline includes the thread's pauses between requests, and requests that the ccxt class sends on its own.
      const within = READY_WITHIN_MS + 3 * this.#requestMs;
      const timer = this.#options.clock.after(within, () => this.restart(`no answer within ${textInSeconds(within)}`));
      this.#pending.set(request, { settle, timer });
      const send = (): void => this.#thread?.postMessage({ request, what } satisfies ToCcxt);
      if (this.#isReady) send();
      else this.#waiting.push(() => this.#pending.has(request) && send());
    });
  }

  /** Records that a read has confirmed the streamed book. */
  confirm(): void {
    if (this.#isReady) this.#watch();
  }

  /** Replaces the thread. */
  restart(reason: string): void {
    if (this.#isClosed || this.#thread === null) return;
    this.#end({ kind: 'unknown', reason });
    this.#restarts++;
    this.#listener({ kind: 'lost', reason });
    const { first, longest } = this.#options.pauses ?? PAUSES;
    this.#in(Math.min(longest, first * 2 ** Math.min(this.#fruitless++, 20)), () => this.#open());
  }

  /** Ends the thread and all callbacks. Resolves when no thread runs any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.stop();
    this.#end(CLOSED);
    await this.#ended;
  }

  get #requestMs(): Millis {
    return this.#options.requestMs ?? REQUEST_MS;
  }

  /** Sets the one timer of this market. */
  #in(ms: Millis, call: () => void): void {
    this.#timer?.stop();
    this.#timer = this.#options.clock.after(ms, call);
  }

  #open(): void {
    const workerData = this.#threadData();
    if (typeof workerData === 'string') {
      this.#settleAll({ kind: 'refused', code: 'not-sent', message: workerData });
      this.#listener({ kind: 'lost', reason: workerData });
      return this.#in((this.#options.pauses ?? PAUSES).longest, () => this.#open());
    }
    // The new thread starts only after the old one has ended, so that there are never two connections.
    void this.#ended.then(() => {
      if (this.#isClosed) return;
      const thread = new Worker(new URL('./ccxtThread.js', import.meta.url), {
        workerData,
        // The thread cannot write to the output of a command. It gets no environment variable, because one may hold a
        // key.
        env: {},
        stdout: true,
        stderr: true,
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB },
      });
      thread.stdout.resume();
      thread.stderr.resume();
      this.#thread = thread;
      const isCurrent = (): boolean => this.#thread === thread;
      thread.on('message', (message: FromCcxt) => isCurrent() && this.#take(message));
      thread.on('error', error => isCurrent() && this.restart(`the thread of ccxt failed: ${textOfError(error)}`));
      thread.on('exit', () => isCurrent() && this.restart('the thread of ccxt ended'));
      this.#in(READY_WITHIN_MS, () => this.restart(`the markets were not read within ${READY_WITHIN_MS / 1_000} s`));
    });
  }

  #threadData(): CcxtThreadData | string {
    const { id, book, url, wants, levels } = this.#options;
    const found = installedCcxt();
    if (found.kind === 'unusable') return found.sentence;
    const unknown = unknownId(id, found.ids);
    if (unknown !== null) return unknown;
    return {
      ...{ file: classFile(found.folder, id), id, book, wants, levels, requestMs: this.#requestMs },
      ...(url === undefined ? {} : { url }),
      ...(this.#market === undefined ? {} : { market: this.#market }),
    };
  }

  #take(message: FromCcxt): void {
    switch (message.kind) {
      case 'ready': {
        this.#market = message.market;
        this.#isReady = true;
        const { streams, rateLimitMs } = message;
        this.#listener({ kind: 'ready', streams, rateLimitMs });
        if (streams) this.#watch();
        else this.#timer?.stop();
        for (const send of this.#waiting.splice(0)) send();
        return;
      }
      case 'book':
        this.#fruitless = 0;
        this.#watch();
        return this.#listener(message);
      case 'same':
        if (this.#options.wants === 'prices') this.#watch();
        return this.#listener(message);
      case 'trades':
        return this.#listener(message);
      case 'failed':
        // The market itself may have changed: after two faults in sequence, the next thread reads the markets again.
        if (this.#fruitless > 0) this.#market = undefined;
        return this.restart(message.reason);
      case 'answer':
        if (message.outcome.kind === 'done') this.#fruitless = 0;
        return this.#pending.get(message.request)?.settle(message.outcome as Outcome<never>);
    }
  }

  #watch(): void {
    const { silentAfterMs, wants } = this.#options;
    const silent = wants === 'prices' ? 'ccxt has not confirmed the book' : 'the book has not changed';
    this.#in(silentAfterMs, () => this.restart(`${silent} for ${textInSeconds(silentAfterMs)}`));
  }

  /** Ends the thread; all of its pending requests end with `outcome`. */
  #end(outcome: Outcome<never>): void {
    const thread = this.#thread;
    this.#thread = null;
    this.#isReady = false;
    this.#settleAll(outcome);
    if (thread !== null) this.#ended = Promise.all([this.#ended, thread.terminate()]);
  }

  #settleAll(outcome: Outcome<never>): void {
    this.#waiting = [];
    for (const { settle } of [...this.#pending.values()]) settle(outcome);
  }
}

const CLOSED: Outcome<never> = { kind: 'refused', code: 'closed', message: 'the connection through ccxt is closed' };
