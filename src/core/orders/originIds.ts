/** Origin ids of one run, `<instance>-<run>-<counter>`: which order is ours, of which run, and the next one's. */
import type { Orders } from './orders.ts';
import type { OwnTrade } from '../ports/port.ts';

/** An origin id has at most 40 characters: this leaves nine digits for the counter. */
const PREFIX_MAX = 31;

export class OriginIds {
  readonly instance: string;
  readonly run: number;
  readonly #ours: string;
  readonly #ofThisRun: string;
  #counter = 0;

  /** Throws a RangeError for what makes no ids. */
  constructor(instance: string, run: number) {
    if (!/^[A-Za-z0-9]{1,16}$/.test(instance)) {
      throw new RangeError(`instance must be 1 to 16 letters and digits, found ${JSON.stringify(instance)}`);
    }
    if (!(Number.isSafeInteger(run) && run >= 0)) {
      throw new RangeError(`run must be a whole number of at least 0, found ${run}`);
    }
    this.instance = instance;
    this.run = run;
    this.#ours = `${instance}-`;
    this.#ofThisRun = `${instance}-${run}-`;
    if (this.#ofThisRun.length > PREFIX_MAX) {
      throw new RangeError(`instance and run leave no room for a counter in ${this.#ofThisRun}`);
    }
  }

  /** The id that an order would get that is placed next. */
  get next(): string {
    return `${this.#ofThisRun}${this.#counter + 1}`;
  }

  /** The next id is used. */
  take(): void {
    this.#counter++;
  }

  /** Of this bot, of whatever run. */
  isOurs(id: string): boolean {
    return id.startsWith(this.#ours);
  }

  /** The origin id under which a trade is ours, or null. */
  ownerOf({ originId, oid }: OwnTrade, orders: Orders): string | null {
    // Also of an order that this run never heard of: one that an earlier run saw end, or whose state was lost.
    if (originId !== undefined && this.isOurs(originId)) return originId;
    return orders.byOid(oid)?.id ?? null;
  }

  isOfThisRun(id: string): boolean {
    return id.startsWith(this.#ofThisRun);
  }

  /** Of this bot, and of a run that began after this one. */
  isLater(id: string): boolean {
    return Number(id.split('-')[1]) > this.run;
  }
}
