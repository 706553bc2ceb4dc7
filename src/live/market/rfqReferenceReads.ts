/** Periodic RFQ quotes as a reference price for the engine. No quote is ever accepted here. */
import {
  isThin,
  moneyOf,
  type ConversionDesk,
  type ConversionOffer,
  type Engine,
  type Instrument,
  type Millis,
  type Money,
} from '../../core/index.ts';
import { Offers } from '../../hedge/index.ts';
import type { RunContext } from '../runContext.ts';

export type RfqReferenceSetup = {
  readonly desk: Pick<ConversionDesk, 'offer' | 'pairs'>;
  /** Amount of the base currency for which prices are requested. */
  readonly amount: Money;
  /** Pause between two reads; each read requests two quotes. */
  readonly everyMs: Millis;
  readonly thinBps?: number | undefined;
  readonly capsSkew: boolean;
};

type Surroundings = {
  readonly run: Omit<RunContext, 'log'>;
  readonly engine: Engine;
  readonly instrument: () => Instrument;
};

export class RfqReferenceReads {
  readonly #o: RfqReferenceSetup & Surroundings;
  readonly #offers: Offers;

  constructor(options: RfqReferenceSetup & Surroundings) {
    this.#o = options;
    this.#offers = new Offers(options.desk, options.run.clock);
  }

  get everyMs(): Millis {
    return this.#o.everyMs;
  }

  /**
   * Requests both quotes once if they are needed: for a thin book, or if RFQ prices limit the skew and there is
   * inventory. The age of the prices counts from the first request.
   */
  async read(): Promise<void> {
    const { engine, amount, instrument } = this.#o;
    const { time, step } = this.#o.run;
    if (!this.#isWanted()) return;
    const startedAt = time();
    const { major, minor, tickMoney } = instrument();
    const [sold, bought] = await Promise.all([
      this.#offers.rfq({ from: major, to: minor, fixed: 'give', size: amount }),
      this.#offers.rfq({ from: minor, to: major, fixed: 'get', size: amount }),
    ]);
    if (typeof sold === 'string' || typeof bought === 'string' || engine.book.haltedBecause !== null) return;
    const bid = priceOf(sold.get, sold.give) / Number(tickMoney);
    const ask = priceOf(bought.give, bought.get) / Number(tickMoney);
    if (bid > 0 && bid <= ask && ask < Infinity) step({ kind: 'witness', at: time(), startedAt, bid, ask });
  }

  #isWanted(): boolean {
    const { engine, run, capsSkew } = this.#o;
    const { bid, ask, booked } = engine.book.snapshot(run.time());
    return isThin(this.#o, bid, ask) || (capsSkew && booked.inventory !== 0n);
  }
}

/** Returns the RFQ reads of one run; `null` if they are not configured. */
export function rfqReferenceReadsOf(
  setup: RfqReferenceSetup | undefined,
  run: RunContext,
  engine: Engine,
  instrument: () => Instrument,
): RfqReferenceReads | null {
  return setup ? new RfqReferenceReads({ ...setup, run, engine, instrument }) : null;
}

/**
 * Returns the price of one unit of the base currency, in 10^-18 of the quote currency. A float suffices, because it is
 * not an amount of money.
 */
const priceOf = (minor: ConversionOffer['give'], major: ConversionOffer['give']): number =>
  (Number(moneyOf(minor.amount)) / Number(moneyOf(major.amount))) * 1e18;
