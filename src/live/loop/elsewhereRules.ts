/** Rules of the book on the other exchange, and the fees of the account there. */
import { isLocalRefusal, type Clock, type Exchange, type Millis } from '../../core/index.ts';
import type { Log } from '../log.ts';
import { CannotStart, readOnce, readRules } from './opening.ts';
import { rulesChange } from './rulesChange.ts';
import type { Rules } from '../rules.ts';

/** Interval of reads. If the rules change between two reads, the exchange may reject orders until the next read. */
const EVERY_MS: Millis = 300_000;

/**
 * Returns the result of a read at the other exchange. Its errors name that exchange and its section of the
 * configuration.
 */
export async function ofElsewhere<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CannotStart)) throw error;
    const { code, mayPass, remedy } = error;
    const isLocal = code !== null && isLocalRefusal(code);
    const advice = remedy ?? (isLocal ? 'check elsewhere.book and elsewhere.restUrl' : null);
    throw new CannotStart(`${name} (section elsewhere): ${error.message}`, code, mayPass, advice);
  }
}

export class ElsewhereRules {
  readonly #exchange: Exchange;
  readonly #name: string;
  readonly book: string;
  #known: Rules | null = null;
  /** Time of the last attempt to read, on the monotonic clock; `null` before the first. */
  #triedAt: Millis | null = null;

  constructor(exchange: Exchange, name: string, book: string) {
    this.#exchange = exchange;
    this.#name = name;
    this.book = book;
  }

  /** Latest rules. Throws before `open`. */
  get known(): Rules {
    if (this.#known === null) throw new Error(`the rules of ${this.book} at ${this.#name} have not been read`);
    return this.#known;
  }

  /** Reads the rules, unless an earlier run of this process has read them. Rejects with `CannotStart`. */
  async open(): Promise<void> {
    if (this.#known !== null) return;
    this.#known = await ofElsewhere(this.#name, () => readRules(this.#exchange, this.book));
  }

  /** Reads the rules again if the last read is old. If they cannot be read, the last known rules apply. */
  async refreshWhenDue(clock: Clock, log: Pick<Log, 'warn'>): Promise<void> {
    this.#triedAt ??= clock.elapsed();
    if (clock.elapsed() - this.#triedAt < EVERY_MS) return;
    this.#triedAt = clock.elapsed();
    let read: Rules;
    try {
      read = await readRules(this.#exchange, this.book, readOnce);
    } catch (error) {
      if (!(error instanceof CannotStart)) throw error;
      const text = `the rules of ${this.book} at ${this.#name} could not be refreshed; the last known rules apply`;
      log.warn({ error: error.message }, text);
      return;
    }
    const change = this.#known && rulesChange(this.#known, read);
    this.#known = read;
    if (change !== null) log.warn({ place: this.#name, book: this.book }, `${this.#name} changed ${change}`);
  }
}
