/** Public trades as rows: taker side, price in ticks, amount in lots. */
import {
  amountFloor,
  nullIfOutOfRange,
  priceExact,
  type Instrument,
  type Millis,
  type PublicTrade,
  type StreamTrade,
} from '../../core/index.ts';
import { takerCodeOf } from './orderRecord.ts';

/** Receives a trade. `maker` is the order id of the resting order; `null` if the stream does not give it. */
export type TradeCall = (
  side: number,
  at: Millis,
  price: number,
  amount: number,
  id: number,
  maker: string | null,
) => void;

export class TradeRecord {
  #instrument: Instrument;
  readonly #call: TradeCall;
  #offGrid = 0;

  constructor(instrument: Instrument, call: TradeCall) {
    this.#instrument = instrument;
    this.#call = call;
  }

  /**
   * Number of trades dropped because their price was between two ticks, or because price, amount or id could not be
   * counted exactly.
   */
  get offGrid(): number {
    return this.#offGrid;
  }

  rules(instrument: Instrument): void {
    this.#instrument = instrument;
  }

  take(trade: PublicTrade | StreamTrade): void {
    const price = nullIfOutOfRange(() => priceExact(this.#instrument, trade.price));
    const lots = nullIfOutOfRange(() => amountFloor(this.#instrument, trade.amount));
    const id = Number(trade.tid);
    if (price === null || lots === null || !Number.isSafeInteger(id)) {
      this.#offGrid++;
      return;
    }
    const { makerOid }: Partial<StreamTrade> = trade;
    this.#call(takerCodeOf(trade.makerSide), trade.createdAt, price, lots, id, makerOid ?? null);
  }
}
