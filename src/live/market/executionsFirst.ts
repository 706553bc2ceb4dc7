/** A stream in which every execution comes before the step that it made: frames of trades may come a moment after those of the book. */
import type { BookDiff, Clock, MarketStream, Millis, StreamNews, Timer } from '../../core/index.ts';

export type ExecutionsFirstOptions = {
  readonly stream: MarketStream;
  readonly clock: Clock;
  /** Every execution that a step may tell of is known already. */
  readonly isToldOf: (diff: BookDiff) => boolean;
  /** A belief about our own code is broken. */
  readonly onBroken: (error: unknown) => void;
};

/** A step waits so long for the trades of it, should they come later. */
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

  /** Passes on the steps that wait for no trade any more, in their order. */
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
