/** Origin ids of one run, `<instance>-<run>-<counter>`: the next id, and the owner and run of an id. */
import type { Orders } from './orders.ts';
import type { OwnTrade } from '../ports/port.ts';

/** Maximum length of the prefix. An origin id has at most 40 characters, of which nine are reserved for the counter. */
const PREFIX_MAX = 31;

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
      throw new RangeError(`instance and run leave no space for a counter after ${this.#runPrefix}`);
    }
  }

  /** Id of the next order to be placed. */
  get next(): string {
    return `${this.#runPrefix}${this.#counter + 1}`;
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
