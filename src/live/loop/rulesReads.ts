/**
 * Reads of the book's rules and fees during a run: every 5 minutes, and soon after a rejection or a fee that indicates
 * changed rules.
 */
import { differentChargedRate, haveSameGrid, type Exchange, type Millis, type OwnTrade } from '../../core/index.ts';
import type { RunContext } from '../runContext.ts';
import { CannotStart, NO_SUCH_BOOK, readOnce, readRules, type ListedBooks } from './opening.ts';
import type { Rules } from '../rules.ts';
import type { ConnectivityLog } from '../connectivityLog.ts';
import { feePercent, rulesChange } from './rulesChange.ts';

const EVERY_MS = 300_000;
const AGAIN_MS = 15_000;
/** Minimum interval of reads after a rejection or a fee that indicates changed rules. */
const SOON_MS = 2_000;

/**
 * Initial pause after a read that did not explain an unexpected fee; during the pause, unexpected fees cause no read.
 * The pause doubles after each further read without an explanation, up to `EVERY_MS`.
 */
const IN_VAIN_MIN_MS = SOON_MS;
/**
 * Maximum number of remembered trades whose fees were checked. Pages repeat the newest trades, whose fees must not be
 * checked again.
 */
const CHARGED_MAX = 1_000;

type RulesSource = {
  readonly exchange: Exchange;
  readonly book: string;
  /** Whether the run has further books. Default: `false`. */
  readonly isOfSeveral?: boolean;
  /** Receives each list of books that was read for this book. A list has all books of the exchange. */
  readonly onList?: (books: ListedBooks) => void;
};

export class RulesReads {
  readonly #run: RunContext;
  readonly #of: RulesSource;
  readonly #connectivity: Pick<ConnectivityLog, 'also' | 'say'>;
  #known: Rules;
  #next: Rules | null = null;
  #areInDoubt = false;
  #isRemoved = false;
  /** Whether a rejection has suggested changed rules since the start of the last read, whose answer may be older. */
  #isDoubtNew = false;
  #readAt: Millis = -Infinity;
  #dueAt: Millis;
  /** Whether a fill was charged at an unexpected rate, and the fees have not been read since. */
  #isOtherRate = false;
  #inVainMs: Millis = IN_VAIN_MIN_MS;
  #askAgainAt: Millis = -Infinity;
  readonly #charged = new Set<string>();
  #reading: Promise<Rules | null> | null = null;

  /** Creates the reads; `first` has the rules that were read before the run. */
  constructor(
    run: RunContext,
    { first, ...of }: RulesSource & { readonly first: Rules },
    connectivity: Pick<ConnectivityLog, 'also' | 'say'>,
  ) {
    this.#run = run;
    this.#of = of;
    this.#connectivity = connectivity;
    this.#known = first;
    this.#dueAt = run.clock.elapsed() + EVERY_MS;
  }

  /** Latest rules that have the tick and lot of this run. */
  get known(): Rules {
    return this.#known;
  }

  /** Latest rules if their tick or lot differs from that of this run; otherwise `null`. */
  get next(): Rules | null {
    return this.#next;
  }

  /** Whether a rejection suggests changed rules that have not been read yet. The bot then places no order. */
  get areInDoubt(): boolean {
    return this.#areInDoubt;
  }

  /** Whether the exchange no longer lists the book. */
  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  /** Applies a list of books that was read for another book. If the list lacks this book, the book was removed. */
  listed({ names, isReadable }: ListedBooks): void {
    if (isReadable && !names.has(this.#of.book)) this.removed();
  }

  doubt(): void {
    this.#areInDoubt = true;
    this.#isDoubtNew = true;
    this.#readSoon();
  }

  #readSoon(): void {
    this.#dueAt = Math.min(this.#dueAt, this.#readAt + SOON_MS);
  }

  /** Checks the fees of the bot's trades. An unexpected rate makes a read of the fees due soon. */
  take({ trades }: { readonly trades: readonly OwnTrade[] }): void {
    const { book } = this.#of;
    const { instrument } = this.#known;
    for (const trade of trades) {
      const key = `${trade.tid} ${trade.oid}`;
      if (trade.book !== book || this.#charged.has(key)) continue;
      if (this.#charged.size >= CHARGED_MAX) this.#charged.clear();
      this.#charged.add(key);
      const rate = differentChargedRate(trade, instrument, this.#known);
      if (rate === null || this.#run.clock.elapsed() < this.#askAgainAt) continue;
      const known = trade.maker ? this.#known.makerRate : this.#known.takerRate;
      const text = `trade ${trade.tid} was charged ${feePercent(rate)} instead of ${feePercent(known)}; rereading the fees`;
      this.#connectivity.also('charged', { tid: trade.tid }, text);
      this.#isOtherRate = true;
      // The bot continues to place orders, because a changed fee makes no order invalid.
      this.#readSoon();
    }
  }

  async readWhenDue(): Promise<void> {
    if (this.#run.clock.elapsed() >= this.#dueAt) await this.read();
  }

  /**
   * Reads the rules and applies them to the run. Returns `null` if they cannot be read. A call during a read shares
   * that read, so that no older answer is applied after a newer one.
   */
  read(): Promise<Rules | null> {
    this.#reading ??= this.#readNow().finally(() => (this.#reading = null));
    return this.#reading;
  }

  async #readNow(): Promise<Rules | null> {
    const { clock, log, step, time } = this.#run;
    const { exchange, book } = this.#of;
    this.#readAt = clock.elapsed();
    this.#dueAt = this.#readAt + AGAIN_MS;
    this.#isDoubtNew = false;
    let read: Rules;
    try {
      read = await readRules(exchange, book, readOnce, this.#of.onList);
    } catch (error) {
      if (error instanceof CannotStart && error.code === NO_SUCH_BOOK) this.removed();
      else {
        const text = 'the rules of the book could not be refreshed; the last known rules apply';
        this.#connectivity.also('rules', { error: String(error) }, text);
      }
      return null;
    }
    this.#dueAt = clock.elapsed() + EVERY_MS;
    this.#isRemoved = false;
    this.#areInDoubt = this.#isDoubtNew;
    if (this.#areInDoubt) this.#readSoon();
    const change = rulesChange(this.#known, read);
    this.#settleCharged(change !== null);
    const isOther = !haveSameGrid(this.#known.instrument, read.instrument);
    const fields = { tick: read.instrument.tick, makerRate: read.makerRate, takerRate: read.takerRate };
    const then = isOther
      ? 'quotes are canceled, and the next run applies the change'
      : 'the change applies immediately';
    if (change !== null) log.warn(fields, `the exchange changed ${change}; ${then}`);
    this.#next = isOther ? read : null;
    step({ kind: 'rules', ...read, at: time() });
    // Requests in flight use the old tick and lot, so `known` does not change to rules with another tick or lot.
    if (!isOther) this.#known = read;
    return read;
  }

  /**
   * If a read after an unexpected rate found no change, unexpected rates cause no further read for some time. The cause
   * is then rounding, or a rate that the exchange does not list.
   */
  #settleCharged(hasChanged: boolean): void {
    if (hasChanged) this.#inVainMs = IN_VAIN_MIN_MS;
    else if (this.#isOtherRate) {
      this.#askAgainAt = this.#run.clock.elapsed() + this.#inVainMs;
      this.#inVainMs = Math.min(2 * this.#inVainMs, EVERY_MS);
    }
    this.#isOtherRate = false;
  }

  /** Stops the quotes of the book, which the exchange no longer lists, and makes a read due soon. */
  removed(): void {
    const { book, isOfSeveral = false } = this.#of;
    this.#isRemoved = true;
    this.#dueAt = Math.min(this.#dueAt, this.#run.clock.elapsed() + AGAIN_MS);
    const again = AGAIN_MS / 1000;
    const text = `the exchange no longer lists ${book}; nothing is quoted ${isOfSeveral ? 'in this book ' : ''}until it lists the book again (checked every ${again} s). To trade another book, stop the bot and change the configuration key ${isOfSeveral ? 'books' : 'book'}`;
    this.#connectivity.say('book', { book }, text, 'error');
    this.#run.step({ kind: 'book removed', at: this.#run.time() });
  }
}
