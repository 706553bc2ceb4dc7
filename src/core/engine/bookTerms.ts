/** Latest rules and fees of the book, and the reason why the rules prevent quoting, if any. */
import { tierWorth } from '../accounting/feeTier.ts';
import type { EngineEvent } from './event.ts';
import { haveSameGrid, type Instrument } from '../model/instrument.ts';
import type { RiskContext } from '../risk/preTradeRisk.ts';

type BookRefusal = NonNullable<RiskContext['bookRefusal']>;

export class BookTerms {
  instrument: Instrument;
  makerRate = Number.NaN;
  takerRate = Number.NaN;
  /**
   * Value of one more unit of volume as progress towards the next fee tier, in 10^-8 of the unit; 0 without a known
   * tier.
   */
  tierWorth = 0;
  #refusal: BookRefusal | null = null;

  constructor(instrument: Instrument) {
    this.instrument = instrument;
  }

  get refusal(): BookRefusal | null {
    return this.#refusal;
  }

  /**
   * Whether the book's tick or lot has changed since the start of this run. The bot can quote again only in the next
   * run.
   */
  get isOutdated(): boolean {
    return this.#refusal === 'rules of the book changed';
  }

  /** Whether fees are known; required for quoting. */
  get hasFees(): boolean {
    // NaN (unknown fees) fails this check; a rebate is a negative fee.
    return Math.abs(this.makerRate) < 1e8;
  }

  /** Applies new rules or the book's removal. Returns true if the reason that prevents quoting has changed. */
  read(event: Extract<EngineEvent, { kind: 'rules' | 'book removed' }>): boolean {
    if (event.kind === 'book removed') return this.#refuse('book is not traded any more');
    const { instrument, makerRate, takerRate, tier } = event;
    // All prices in this run are counts of the old tick, so only the next run can use the new rules.
    if (!haveSameGrid(instrument, this.instrument)) return this.#refuse('rules of the book changed');
    Object.assign(this, { instrument, makerRate, takerRate, tierWorth: tier ? tierWorth(tier) : 0 });
    return this.#refuse(null);
  }

  #refuse(reason: BookRefusal | null): boolean {
    const isOther = reason !== this.#refusal;
    this.#refusal = reason;
    return isOther;
  }
}
