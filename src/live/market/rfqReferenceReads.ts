/** Asks RFQ now and then what it would pay and ask, and tells the engine. It accepts nothing: it has nothing to accept with. */
import { isThin, moneyOf } from '../../core/index.ts';
import type { ConversionDesk, ConversionOffer, Engine, Instrument, Millis, Money } from '../../core/index.ts';
import { Offers } from '../../hedge/index.ts';
import type { RunContext } from '../runContext.ts';

export type RfqReferenceSetup = {
  readonly desk: Pick<ConversionDesk, 'offer' | 'pairs'>;
  /** What the prices are asked for, in the major currency. */
  readonly amount: Money;
  /** Between two readings of two quotes each. */
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

  /** One reading, where somebody goes by it: a thin book, or inventory whose skew it bounds. As old as its first request. */
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
    if (typeof sold === 'string' || typeof bought === 'string' || engine.haltedBecause !== null) return;
    const bid = priceOf(sold.get, sold.give) / Number(tickMoney);
    const ask = priceOf(bought.give, bought.get) / Number(tickMoney);
    if (bid > 0 && bid <= ask && ask < Infinity) step({ kind: 'witness', at: time(), startedAt, bid, ask });
  }

  #isWanted(): boolean {
    const { engine, run, capsSkew } = this.#o;
    const { bid, ask, inventory } = engine.snapshot(run.time());
    return isThin(this.#o, bid, ask) || (capsSkew && inventory !== 0n);
  }
}

/** The reads of one run; null where nobody wants them. */
export function rfqReferenceReadsOf(
  setup: RfqReferenceSetup | undefined,
  run: RunContext,
  engine: Engine,
  instrument: () => Instrument,
): RfqReferenceReads | null {
  return setup ? new RfqReferenceReads({ ...setup, run, engine, instrument }) : null;
}

/** A model's number: a float, in 10^-18 of the minor currency for one major. */
const priceOf = (minor: ConversionOffer['give'], major: ConversionOffer['give']): number =>
  (Number(moneyOf(minor.amount)) / Number(moneyOf(major.amount))) * 1e18;
