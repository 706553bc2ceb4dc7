/** Log of failed requests. An outage has one line at its start, one per minute, and one at its end. */
import { counted, type Clock, type Millis } from '../core/index.ts';
import type { Log } from './log.ts';
import type { Failed } from './failedRequest.ts';

const AGAIN_MS = 60_000;
/** Time without any answer after which the exchange counts as unreachable. A single lost answer does not count. */
const UNREACHABLE_MS = 2_000;
/** Maximum number of distinct kinds of failure that are remembered to suppress repeated lines. */
const KINDS_MAX = 100;

export class ConnectivityLog {
  readonly #log: Log;
  readonly #clock: Clock;
  /** Start of the time without answers; `null` while the exchange answers. */
  #since: { readonly elapsed: Millis; readonly wall: Millis } | null = null;
  /** Time of the last log line about the outage; `null` if there was none. */
  #saidAt: Millis | null = null;
  readonly #kinds = new Map<string, { at: Millis; untold: number }>();

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Records an answer of the exchange, regardless of its content. */
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
      this.say(`${what} ${failed.code}`, { what, code: failed.code }, `${what} was rejected: ${failed.message}`);
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

  /**
   * Logs a consequence of failed requests, at most once per minute for each `kind`. Logs nothing while an outage is
   * logged.
   */
  also(kind: string, known: object, text: string): void {
    if (this.#saidAt === null) this.say(kind, known, text);
  }

  /**
   * Returns a log for one of several books: each line begins with the symbol, and suppresses only repeats for that
   * book.
   */
  ofBook(book: string): Pick<ConnectivityLog, 'also' | 'say'> {
    return {
      also: (kind, known, text) => this.also(`${book} ${kind}`, { book, ...known }, `${book}: ${text}`),
      say: (kind, known, text, level) => this.say(`${book} ${kind}`, { book, ...known }, `${book}: ${text}`, level),
    };
  }

  /** Logs a line. Further lines of an equal `kind` within a minute are counted and not logged. */
  say(kind: string, known: object, text: string, level: 'warn' | 'error' = 'warn'): void {
    const now = this.#clock.elapsed();
    const before = this.#kinds.get(kind);
    if (before && now - before.at < AGAIN_MS) {
      before.untold++;
      return;
    }
    const times =
      before && before.untold > 0
        ? ` (${counted(before.untold, 'repeat since the last line was', 'repeats since the last line were')} not logged)`
        : '';
    this.#log[level](known, `${text}${times}`);
    if (this.#kinds.size >= KINDS_MAX) this.#kinds.clear();
    this.#kinds.set(kind, { at: now, untold: 0 });
  }
}
