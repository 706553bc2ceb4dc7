/** Log lines about a queue's connection: one line when the connection is lost, and one line when it is restored. */
import { isLostConnection, messageOf } from './bullQueues.ts';

/** Minimum time in ms before an equal message is reported again. */
const AGAIN_AFTER_MS = 60_000;

/** Pattern of BullMQ's messages about a job that another worker now holds. */
const LOST_LOCK = /(?:Missing|missing|renew) (?:a )?lock for job|not renew lock/;

export class QueueHealth {
  readonly #shown: string;
  readonly #tell: (sentence: string) => void;
  readonly #now: () => number;
  #lostAt: number | null = null;
  readonly #said = new Map<string, number>();

  constructor(shown: string, tell: (sentence: string) => void, now: () => number) {
    this.#shown = shown;
    this.#tell = tell;
    this.#now = now;
  }

  /** Reports an error; suppresses repetitions. */
  heard(error: unknown): void {
    const now = this.#now();
    const text = LOST_LOCK.test(messageOf(error))
      ? "the queue assigned a trial to another worker, because this worker's heartbeat was late; this worker's result is dropped"
      : messageOf(error);
    if (isLostConnection(error)) {
      if (this.#lostAt === null) this.#tell(`the connection to ${this.#shown} is lost (${text}); reconnecting`);
      this.#lostAt ??= now;
      return;
    }
    if (now - (this.#said.get(text) ?? -Infinity) < AGAIN_AFTER_MS) return;
    this.#said.set(text, now);
    this.#tell(`${this.#shown}: ${text}`);
  }

  /** Reports that the connection works again after an outage. */
  works(): void {
    if (this.#lostAt === null) return;
    const seconds = Math.round((this.#now() - this.#lostAt) / 1_000);
    this.#lostAt = null;
    this.#tell(`the connection to ${this.#shown} was restored after ${seconds} s`);
  }
}
