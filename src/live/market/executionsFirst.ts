/**
 * Stream in which every execution precedes the book change that it caused. Trade frames may arrive slightly after book
 * frames, so book changes wait.
 */
import type { BookDiff, Clock, MarketStream, Millis, StreamNews, Timer } from '../../core/index.ts';

export type ExecutionsFirstOptions = {
  readonly stream: MarketStream;
  readonly clock: Clock;
  /** Returns whether every execution that may have caused a book change is already known. */
  readonly isToldOf: (diff: BookDiff) => boolean;
  /** Called with an error if an internal invariant is broken. */
  readonly onBroken: (error: unknown) => void;
};

/** Maximum time for which a book change waits for the trades that caused it. */
const TRADES_WITHIN_MS = 250;
const STEPS_WAITING_MAX = 10_000;

export class ExecutionsFirst implements MarketStream {
  readonly #options: ExecutionsFirstOptions;
  #steps: { readonly news: StreamNews & { readonly kind: 'diff' }; readonly due: Millis }[] = [];
  #timer: Timer | null = null;
  #listener: (news: StreamNews) => void = () => undefined;

  constructor(options: ExecutionsFirstOptions) {
    this.#options = options;
  }

  start(listener: (news: StreamNews) => void): void {
    this.#listener = listener;
    this.#options.stream.start(news => this.#hear(news));
  }

  restart(reason: string): void {
    this.#options.stream.restart(reason);
  }

  close(): void {
    this.#timer?.stop();
    this.#steps = [];
    this.#options.stream.close();
  }

  #hear(news: StreamNews): void {
    if (news.kind === 'diff') this.#steps.push({ news, due: this.#options.clock.elapsed() + TRADES_WITHIN_MS });
    else {
      if (news.kind === 'down') this.#steps = [];
      this.#listener(news);
    }
    this.#passOn();
  }

  /** Delivers the book changes that no longer wait for a trade, in order. */
  #passOn(): void {
    const { clock, isToldOf } = this.#options;
    this.#timer?.stop();
    this.#timer = null;
    for (let next = this.#steps[0]; next; next = this.#steps[0]) {
      const waitMs = next.due - clock.elapsed();
      if (waitMs > 0 && this.#steps.length < STEPS_WAITING_MAX && !isToldOf(next.news.diff)) {
        this.#timer = clock.after(waitMs, () => this.#late());
        return;
      }
      this.#steps.shift();
      this.#listener(next.news);
    }
  }

  #late(): void {
    try {
      this.#passOn();
    } catch (error) {
      this.#options.onBroken(error);
    }
  }
}
