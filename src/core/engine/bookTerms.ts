/** Rules and fees of the book as they were read last, and why nothing can be quoted under them. */
import { tierWorth } from '../accounting/feeTier.ts';
import type { EngineEvent } from './event.ts';
import type { Instrument } from '../model/instrument.ts';
import type { RiskContext } from '../risk/preTradeRisk.ts';

type BookRefusal = NonNullable<RiskContext['bookRefusal']>;

export class BookTerms {
  instrument: Instrument;
  makerRate = Number.NaN;
  takerRate = Number.NaN;
  /** Of one more unit of volume, for the next fee tier; parts of 10^-8. */
  tierWorth = 0;
  #refusal: BookRefusal | null = null;

  constructor(instrument: Instrument) {
    this.instrument = instrument;
  }

  get refusal(): BookRefusal | null {
    return this.#refusal;
  }

  /** The book counts in another tick or lot than this run: only the next one can quote on it. */
  get isOutdated(): boolean {
    return this.#refusal === 'rules of the book changed';
  }

  /** Fees were read, which nothing is quoted without. */
  get hasFees(): boolean {
    // A rebate is a fee below 0; NaN is none.
    return Math.abs(this.makerRate) < 1e8;
  }

  /** True when what can be quoted may have changed by it. */
  read(event: Extract<EngineEvent, { kind: 'rules' | 'book removed' }>): boolean {
    if (event.kind === 'book removed') return this.#refuse('book is not traded any more');
    const { instrument, makerRate, takerRate, tier } = event;
    // Every price held here is counted in the old ticks: only the next run may count in the new ones.
    if (instrument.tick !== this.instrument.tick || instrument.lot !== this.instrument.lot)
      return this.#refuse('rules of the book changed');
    Object.assign(this, { instrument, makerRate, takerRate, tierWorth: tier ? tierWorth(tier) : 0 });
    return this.#refuse(null);
  }

  #refuse(reason: BookRefusal | null): boolean {
    const isOther = reason !== this.#refusal;
    this.#refusal = reason;
    return isOther;
  }
}
