/** Executions in a followed market, each with its time and, if known, the resting order that it filled. */
import {
  opposite,
  type Amount,
  type Instrument,
  type Price,
  type PublicTrade,
  type Side,
  type StreamTrade,
} from '../../core/index.ts';
import type { TradeListener, TradeWay } from '../../marketdata/index.ts';
import { amountOrNull, priceOrNull } from '../account/reads.ts';

export interface TradeSink {
  /** Returns a serial number that increases with time, for `TradeContext.mark`. */
  mark(): number;
  trade(taker: Side, price: Price, lots: Amount, told: TradeContext): void;
}

/** Context of an execution. */
export type TradeContext = {
  /** Number that increases with each new taker order. Executions with equal numbers may belong to one taker order. */
  readonly takerNumber: number;
  /** Serial number of a time before the execution; absent for an execution that just happened. */
  readonly mark?: number;
  /**
   * Arrival number of the filled order, as counted by `L3Book.arrivals`; 0 if the book no longer has the order. Absent
   * if the execution was not received live from the stream.
   */
  readonly maker?: number;
};

export type ExecutionsOptions = {
  readonly instrument: Instrument;
  readonly sink: TradeSink;
  /** Returns the arrival number of a resting order; `null` if it is not in the book. */
  readonly bornOf: (oid: string) => number | null;
};

export class Executions implements TradeListener {
  readonly #options: ExecutionsOptions;
  /** Serial number of the time up to which every trade was reported. */
  #mark = 0;
  /** Serial number of the time when the current read of trade pages started. */
  #opened = 0;
  /** Taker of the last execution, or its time if the exchange does not report the taker. */
  #taker: string | number = '';
  #takerNumber = 0;

  constructor(options: ExecutionsOptions) {
    this.#options = options;
  }

  /** Records that every trade until now was reported. */
  confirm(): void {
    this.#mark = this.#options.sink.mark();
  }

  readonly opened = (): void => {
    this.#opened = this.#options.sink.mark();
  };

  readonly closed = (): void => {
    this.#mark = this.#opened;
  };

  readonly trade = (trade: PublicTrade | StreamTrade, way: TradeWay): void => {
    const { createdAt, price: text, amount, makerSide } = trade;
    const { bornOf, instrument, sink } = this.#options;
    const price = priceOrNull(instrument, text);
    const lots = amountOrNull(instrument, amount);
    const { makerOid, takerOid }: Partial<StreamTrade> = trade;
    const taker = takerOid ?? createdAt;
    if (taker !== this.#taker) this.#takerNumber++;
    this.#taker = taker;
    if (!price || !lots) return;
    const isLive = way === 'live' && makerOid !== undefined;
    const when = isLive ? { maker: bornOf(makerOid) ?? 0 } : { mark: this.#mark };
    sink.trade(opposite(makerSide), price, lots, { takerNumber: this.#takerNumber, ...when });
  };
}
