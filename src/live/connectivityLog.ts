/** What is said about requests that failed: once that the exchange cannot be reached, then once a minute, and once when it is back. */
import type { Clock, Millis } from '../core/index.ts';
import type { Log } from './log.ts';
import type { Failed } from './failed.ts';

const AGAIN_MS = 60_000;
/** Answers get lost; it is the exchange that cannot be reached when there was none for this long. */
const UNREACHABLE_MS = 2_000;
/** Kinds of failures that are told apart. */
const KINDS_MAX = 100;

export class ConnectivityLog {
  readonly #log: Log;
  readonly #clock: Clock;
  /** Since when nothing was answered; null while something is. */
  #since: { readonly elapsed: Millis; readonly wall: Millis } | null = null;
  /** When that was said last; null while it was not. */
  #saidAt: Millis | null = null;
  readonly #kinds = new Map<string, { at: Millis; untold: number }>();

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** The exchange has answered, whatever it said. */
  answered(): void {
    const since = this.#since;
    this.#since = null;
    if (since === null || this.#saidAt === null) return;
    this.#saidAt = null;
    const seconds = Math.round((this.#clock.elapsed() - since.elapsed) / 1000);
    this.#log.warn({ seconds }, `the exchange answers again after ${seconds} s`);
  }

  failed(what: string, failed: Failed): void {
    const isAnswer = failed.kind === 'refused' && failed.status !== undefined;
    if (isAnswer) {
      this.answered();
      this.say(`${what} ${failed.code}`, { what, code: failed.code }, `${what} was refused: ${failed.message}`);
    } else if (failed.kind === 'refused' && failed.code !== 'not-sent') {
      this.say(`${what} ${failed.code}`, { what, code: failed.code }, `${what} was not sent: ${failed.message}`);
    } else this.#unanswered(what, failed.kind === 'unknown' ? failed.reason : failed.message);
  }

  #unanswered(what: string, reason: string): void {
    const now = this.#clock.elapsed();
    if (this.#since === null) {
      this.#since = { elapsed: now, wall: this.#clock.now() };
      this.say(what, { what, reason }, `${what}: no usable answer`);
      return;
    }
    if (now - this.#since.elapsed < UNREACHABLE_MS) return;
    if (this.#saidAt !== null && now - this.#saidAt < AGAIN_MS) return;
    const isFirst = this.#saidAt === null;
    this.#saidAt = now;
    const at = new Date(this.#since.wall).toISOString().slice(11, 19);
    const text = `the exchange ${isFirst ? 'has been' : 'is still'} unreachable since ${at} UTC (${what}: ${reason})`;
    this.#log.warn({ what, reason, since: at }, text);
  }

  /** A consequence: told once a minute, and not while the exchange is known to be unreachable. */
  also(kind: string, known: object, text: string): void {
    if (this.#saidAt === null) this.say(kind, known, text);
  }

  /** The same again within a minute is only counted. */
  say(kind: string, known: object, text: string, level: 'warn' | 'error' = 'warn'): void {
    const now = this.#clock.elapsed();
    const before = this.#kinds.get(kind);
    if (before && now - before.at < AGAIN_MS) {
      before.untold++;
      return;
    }
    const times = before && before.untold > 0 ? ` (${before.untold} more times before this)` : '';
    this.#log[level](known, `${text}${times}`);
    if (this.#kinds.size >= KINDS_MAX) this.#kinds.clear();
    this.#kinds.set(kind, { at: now, untold: 0 });
  }
}
