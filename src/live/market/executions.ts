/** Tells a followed market of executions, with what is known of each: when it was, and which resting order it met. */
import { opposite } from '../../core/index.ts';
import type { Amount, Instrument, Price, PublicTrade, Side, StreamTrade } from '../../core/index.ts';
import type { TradeListener, TradeWay } from '../../marketdata/index.ts';
import { amountOrNull, priceOrNull } from '../account/reads.ts';

export interface TradeSink {
  /** Names this moment for `trade`. */
  mark(): number;
  trade(taker: Side, price: Price, lots: Amount, told: TradeContext): void;
}

/** What is known of an execution besides itself. */
export type TradeContext = {
  /** Its number differs from that of the one before it, unless one taker may have met both. */
  readonly moment: number;
  /** It happened at some time after this; absent: just now. */
  readonly mark?: number;
  /** When the order that was met had come, as `L3Book.arrivals` counts; 0 when that is not known any more, absent when it cannot be. */
  readonly maker?: number;
};

export type ExecutionsOptions = {
  readonly instrument: Instrument;
  readonly sink: TradeSink;
  /** When a resting order came; null when it is not in the book. */
  readonly bornOf: (oid: string) => number | null;
};

export class Executions implements TradeListener {
  readonly #options: ExecutionsOptions;
  /** A moment before which every trade is known; and when the read began that is under way. */
  #mark = 0;
  #opened = 0;
  /** The taker of the last one, or its time where the taker is not told. */
  #taker: string | number = '';
  #moment = 0;

  constructor(options: ExecutionsOptions) {
    this.#options = options;
  }

  /** Nothing was traded before now that was not told. */
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
    const isLive = way === 'live' && 'makerOid' in trade;
    const taker = 'takerOid' in trade ? trade.takerOid : createdAt;
    if (taker !== this.#taker) this.#moment++;
    this.#taker = taker;
    if (!price || !lots) return;
    const when = isLive ? { maker: bornOf(trade.makerOid) ?? 0 } : { mark: this.#mark };
    sink.trade(opposite(makerSide), price, lots, { moment: this.#moment, ...when });
  };
}
