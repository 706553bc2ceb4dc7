/** Rules and fees of the book while the bot runs: read every few minutes, and at once after an order was refused as if they were others. */
import type { Exchange, Millis } from '../../core/index.ts';
import type { RunContext } from '../runContext.ts';
import { CannotStart, NO_SUCH_BOOK, readRules } from './opening.ts';
import type { Rules } from '../rules.ts';
import type { ConnectivityLog } from '../connectivityLog.ts';
import { isOtherGrid, rulesChange } from './rulesChange.ts';

const EVERY_MS = 300_000;
const AGAIN_MS = 15_000;
/** After a refusal that speaks of them; not more often. */
const SOON_MS = 2_000;

export class RulesReads {
  readonly #run: RunContext;
  readonly #of: { readonly exchange: Exchange; readonly book: string };
  readonly #connectivity: ConnectivityLog;
  #known: Rules;
  #areInDoubt = false;
  #readAt: Millis = -Infinity;
  #dueAt: Millis;

  /** `first`: as they were read before the run began. */
  constructor(
    run: RunContext,
    { first, ...of }: { readonly exchange: Exchange; readonly book: string; readonly first: Rules },
    connectivity: ConnectivityLog,
  ) {
    this.#run = run;
    this.#of = of;
    this.#connectivity = connectivity;
    this.#known = first;
    this.#dueAt = run.clock.elapsed() + EVERY_MS;
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
    const { clock, log, step, time } = this.#run;
    const { exchange, book } = this.#of;
    if (clock.elapsed() < this.#dueAt) return;
    this.#readAt = clock.elapsed();
    this.#dueAt = this.#readAt + AGAIN_MS;
    let read: Rules;
    try {
      read = await readRules(exchange, book);
    } catch (error) {
      if (error instanceof CannotStart && error.code === NO_SUCH_BOOK) this.#removed();
      else {
        const text = 'the rules of the book could not be refreshed: the last ones hold';
        this.#connectivity.also('rules', { error: String(error) }, text);
      }
      return;
    }
    this.#dueAt = clock.elapsed() + EVERY_MS;
    this.#areInDoubt = false;
    const change = rulesChange(this.#known, read);
    const isOther = isOtherGrid(this.#known.instrument, read.instrument);
    const fields = { tick: read.instrument.tick, makerRate: read.makerRate, takerRate: read.takerRate };
    const then = isOther ? 'quotes are withdrawn, the next run takes it up' : 'taken up at once';
    if (change !== null) log.warn(fields, `the exchange changed ${change}; ${then}`);
    step({ kind: 'rules', ...read, at: time() });
    // What is on its way is still counted on the old grid.
    if (!isOther) this.#known = read;
  }

  #removed(): void {
    const { book } = this.#of;
    const again = AGAIN_MS / 1000;
    const text = `the exchange does not list ${book} any more: nothing is quoted until it does (asked again every ${again} s); to trade another book, stop the bot and change book in its YAML`;
    this.#connectivity.say('book', { book }, text, 'error');
    this.#run.step({ kind: 'book removed', at: this.#run.time() });
  }
}
