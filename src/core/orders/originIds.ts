/**
 * Origin ids of the bot's orders, all of the form `<instance>-<run>-<counter>`. Creates the next id of a quote, and tells
 * the owner and the run of an id.
 */
import { counted } from '../text/counted.ts';
import type { Orders } from './orders.ts';
import type { OwnTrade } from '../ports/port.ts';

/** Maximum length of the prefix. An origin id has at most 40 characters, of which nine are reserved for the counter. */
const PREFIX_MAX = 31;

/** Kind of an order: a quote, a taker order for a hedge, or a hedge on another exchange. */
export type OrderKind = 'quote' | 'taker' | 'elsewhere';

/**
 * Range of the counter for each kind of order in one run, so that no two orders share an id. Every `OrderIdRule` allows
 * these ranges.
 */
export const ORDER_COUNTERS: Readonly<Record<OrderKind, { readonly first: number; readonly last: number }>> = {
  quote: { first: 1, last: 39_999_999 },
  taker: { first: 40_000_001, last: 49_999_999 },
  elsewhere: { first: 50_000_001, last: 59_999_999 },
};

/** Returns the origin id of the `n`-th order of a kind in a run, from 1. Throws RangeError if the kind has no more ids. */
export function orderIdOf(
  { instance, run }: { readonly instance: string; readonly run: number },
  kind: OrderKind,
  n: number,
): string {
  const { first, last } = ORDER_COUNTERS[kind];
  const counter = first + n - 1;
  if (!(Number.isSafeInteger(n) && n >= 1 && counter <= last))
    throw new RangeError(
      `run ${run} of ${instance} has ids for ${counted(last - first + 1, 'order')} of the kind ${kind}, found order number ${n}; restart the bot to start a new run`,
    );
  return `${instance}-${run}-${counter}`;
}

/**
 * Largest run number of a replay or simulation, whose orders never reach an exchange. A live run has a larger number:
 * the seconds since 2020.
 */
const REPLAY_RUN_MAX = 1_000;

export class OriginIds {
  readonly instance: string;
  readonly run: number;
  readonly #botPrefix: string;
  readonly #runPrefix: string;
  #counter = 0;

  /** Creates the ids of one run. Throws RangeError if instance or run is invalid. */
  constructor(instance: string, run: number) {
    if (!/^[A-Za-z0-9]{1,16}$/.test(instance)) {
      throw new RangeError(`instance must be 1 to 16 letters and digits, found ${JSON.stringify(instance)}`);
    }
    if (!(Number.isSafeInteger(run) && run >= 0)) {
      throw new RangeError(`run must be a whole number of at least 0, found ${run}`);
    }
    this.instance = instance;
    this.run = run;
    this.#botPrefix = `${instance}-`;
    this.#runPrefix = `${instance}-${run}-`;
    if (this.#runPrefix.length > PREFIX_MAX) {
      throw new RangeError(
        `the order id prefix ${this.#runPrefix} (instance and run) has more than ${PREFIX_MAX} characters; choose a shorter instance`,
      );
    }
  }

  /**
   * Id of the next quote to be placed. Throws RangeError if a live run has no more ids. A replay has no maximum: after
   * the last quote id, its quotes continue after the ids of the other kinds.
   */
  get next(): string {
    const n = this.#counter + 1;
    const { quote, elsewhere } = ORDER_COUNTERS;
    if (n <= quote.last || this.run > REPLAY_RUN_MAX) return orderIdOf(this, 'quote', n);
    return `${this.#runPrefix}${n - quote.last + elsewhere.last}`;
  }

  /** Consumes the next id. */
  take(): void {
    this.#counter++;
  }

  /** Whether the id belongs to an order of this bot, from any run. */
  isOwnId(id: string): boolean {
    return id.startsWith(this.#botPrefix);
  }

  /** Returns the origin id if the trade filled an order of the bot; otherwise `null`. */
  ownerOf({ originId, oid }: OwnTrade, orders: Orders): string | null {
    // The prefix also identifies orders that are not in `orders`: they ended in an earlier run, or their state was
    // lost.
    if (originId !== undefined && this.isOwnId(originId)) return originId;
    return orders.byOid(oid)?.id ?? null;
  }

  isOfThisRun(id: string): boolean {
    return id.startsWith(this.#runPrefix);
  }

  /** Whether the id belongs to a later run of this bot. */
  isLater(id: string): boolean {
    return Number(id.split('-')[1]) > this.run;
  }
}
