/** Rules and fees of the book while the bot runs: read every few minutes, and at once after an order was refused as if they were others. */
import type { Clock, EngineEvent, Millis } from '../../core/index.ts';
import type { LoopOptions } from './loopOptions.ts';
import { CannotStart, NO_SUCH_BOOK, readRules, type Rules } from './opening.ts';
import type { ConnectivityLog } from './connectivityLog.ts';
import { isOtherGrid, rulesChange } from './rulesChange.ts';

const EVERY_MS = 300_000;
const AGAIN_MS = 15_000;
/** After a refusal that speaks of them; not more often. */
const SOON_MS = 2_000;

type RulesEvent = Extract<EngineEvent, { kind: 'rules' | 'book removed' }>;
/** An event whose time whoever steps the engine adds. */
type Untimed<E> = E extends unknown ? Omit<E, 'at'> : never;

export class RulesReads {
  readonly #options: Pick<LoopOptions, 'exchange' | 'book' | 'log'>;
  readonly #clock: Clock;
  readonly #reach: ConnectivityLog;
  readonly #step: (event: Untimed<RulesEvent>) => void;
  #known: Rules;
  #areInDoubt = false;
  #readAt: Millis = -Infinity;
  #dueAt: Millis;

  constructor(
    options: Pick<LoopOptions, 'exchange' | 'book' | 'log' | 'clock' | 'rules'>,
    reach: ConnectivityLog,
    step: (event: Untimed<RulesEvent>) => void,
  ) {
    this.#options = options;
    this.#clock = options.clock;
    this.#reach = reach;
    this.#step = step;
    this.#known = options.rules;
    this.#dueAt = options.clock.elapsed() + EVERY_MS;
  }

  /** As they were read last, on the grid of this run. */
  get known(): Rules {
    return this.#known;
  }

  /** An order was refused as if the rules were others, and they have not been read since: nothing is placed. */
  get areInDoubt(): boolean {
    return this.#areInDoubt;
  }

  doubt(): void {
    this.#areInDoubt = true;
    this.#dueAt = Math.min(this.#dueAt, this.#readAt + SOON_MS);
  }

  async readWhenDue(): Promise<void> {
    if (this.#clock.elapsed() < this.#dueAt) return;
    const { exchange, book, log } = this.#options;
    this.#readAt = this.#clock.elapsed();
    this.#dueAt = this.#readAt + AGAIN_MS;
    let read: Rules;
    try {
      read = await readRules(exchange, book);
    } catch (error) {
      if (error instanceof CannotStart && error.code === NO_SUCH_BOOK) this.#removed();
      else {
        const text = 'the rules of the book could not be refreshed: the last ones hold';
        this.#reach.also('rules', { error: String(error) }, text);
      }
      return;
    }
    this.#dueAt = this.#clock.elapsed() + EVERY_MS;
    this.#areInDoubt = false;
    const change = rulesChange(this.#known, read);
    const isOther = isOtherGrid(this.#known.instrument, read.instrument);
    const fields = { tick: read.instrument.tick, makerRate: read.makerRate, takerRate: read.takerRate };
    const then = isOther ? 'quotes are withdrawn, the next run takes it up' : 'taken up at once';
    if (change !== null) log.warn(fields, `the exchange changed ${change}; ${then}`);
    this.#step({ kind: 'rules', ...read });
    // What is on its way is still counted on the old grid.
    if (!isOther) this.#known = read;
  }

  #removed(): void {
    const { book } = this.#options;
    const again = AGAIN_MS / 1000;
    const text = `the exchange does not list ${book} any more: nothing is quoted until it does (asked again every ${again} s); to trade another book, stop the bot and change book in its YAML`;
    this.#reach.say('book', { book }, text, 'error');
    this.#step({ kind: 'book removed' });
  }
}
