/** The public trades of a book, each once: from the stream, and by pages what it did not tell of. */
import { amountFloor, priceExact } from '../../core/index.ts';
import type { Exchange, Instrument, Millis, PublicTrade, StreamTrade } from '../../core/index.ts';
import { takerCodeOf } from './orderRecord.ts';

/** `maker`: the oid of the order that rested, where the stream told it. */
export type TradeCall = (
  side: number,
  at: Millis,
  price: number,
  amount: number,
  id: number,
  maker: string | null,
) => void;

const PAGE = 100;
/** Trades of about an hour of a busy book; what lies further back is told as a gap. */
const PAGES_MAX = 20;

export class TradeRecord {
  #instrument: Instrument;
  /** Newest trade that was taken; null before the first. */
  #last: bigint | null = null;
  #offGrid = 0;

  constructor(instrument: Instrument) {
    this.#instrument = instrument;
  }

  /** Trades whose price lay between two ticks: left out. */
  get offGrid(): number {
    return this.#offGrid;
  }

  rules(instrument: Instrument): void {
    this.#instrument = instrument;
  }

  /** Takes those that are not known yet, in the order of their numbers. Returns how many. */
  take(trades: readonly (PublicTrade | StreamTrade)[], call: TradeCall): number {
    const sorted = trades.map(trade => ({ trade, tid: BigInt(trade.tid) })).sort((a, b) => (a.tid < b.tid ? -1 : 1));
    let taken = 0;
    for (const { trade, tid } of sorted) {
      if (this.#last !== null && tid <= this.#last) continue;
      this.#last = tid;
      const price = this.#whole(() => priceExact(this.#instrument, trade.price));
      const lots = this.#whole(() => amountFloor(this.#instrument, trade.amount));
      if (price === null || lots === null || tid > BigInt(Number.MAX_SAFE_INTEGER)) {
        this.#offGrid++;
        continue;
      }
      taken++;
      const maker = 'makerOid' in trade ? trade.makerOid : null;
      call(takerCodeOf(trade.makerSide), trade.createdAt, price, lots, Number(tid), maker);
    }
    return taken;
  }

  /** What came after the newest that is known, oldest first; before the first only which is the newest. Null when it could not be read. */
  async missed(exchange: Pick<Exchange, 'trades'>): Promise<{ trades: readonly PublicTrade[]; whole: boolean } | null> {
    const book = this.#instrument.symbol;
    if (this.#last === null) {
      const newest = await exchange.trades(book, { limit: 1 });
      if (newest.kind !== 'done') return null;
      const [first] = newest.value;
      // Trades from before the recording are not part of it.
      this.#last ??= first ? BigInt(first.tid) : 0n;
      return { trades: [], whole: true };
    }
    const trades: PublicTrade[] = [];
    let marker = this.#last.toString();
    for (let page = 0; page < PAGES_MAX; page++) {
      const outcome = await exchange.trades(book, { marker, sort: 'asc', limit: PAGE });
      if (outcome.kind !== 'done') return null;
      trades.push(...outcome.value);
      const end = outcome.value.at(-1);
      if (!end || outcome.value.length < PAGE) return { trades, whole: true };
      marker = end.tid;
    }
    return { trades, whole: false };
  }

  #whole(count: () => number | null): number | null {
    try {
      return count();
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }
}
