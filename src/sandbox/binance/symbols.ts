/** Symbols of the second exchange: their names, their rules as filters, and what its answers show of their books. */
import {
  money,
  moneyOf,
  moneyOfAmount,
  type Amount,
  type Instrument,
  type Money,
  type Price,
  type Side,
} from '../../core/index.ts';
import type { VenueBook } from '../venue/venueBook.ts';
import { text8 } from '../wire/wire.ts';

/** Maximum number of levels per side that an answer has. Source: rest-api.md, order book. */
export const DEPTH_MAX = 5_000;
/**
 * Bounds of limit prices, as multiples of the average price of the last `minutes` minutes. Source of the form:
 * filters.md.
 */
export const PERCENT = { up: 5, down: 0.2, minutes: 5 } as const;

/** Returns the symbol of a book, such as BTCUSDT. */
export const symbolOf = ({ major, minor }: Instrument): string => `${major}${minor}`.toUpperCase();

/** Formats a price with eight decimals. */
export const price8 = (i: Instrument, price: Price | 0): string => text8(money(BigInt(price) * i.tickMoney));
/** Formats an amount with eight decimals. */
export const quantity8 = (i: Instrument, lots: Amount): string => text8(moneyOfAmount(i, lots));

/** Entry of a symbol in the list of rules. Source of the fields: rest-api.md, exchange information. */
export function symbolRow(book: VenueBook, trading: boolean, openOrdersMax: number): Record<string, unknown> {
  const { rules, instrument: i } = book;
  const quantities = {
    minQty: text8(moneyOf(rules.minimumAmount)),
    maxQty: text8(moneyOf(rules.maximumAmount)),
    stepSize: text8(i.lotMoney),
  };
  return {
    symbol: symbolOf(i),
    status: trading ? 'TRADING' : 'HALT',
    baseAsset: i.major.toUpperCase(),
    baseAssetPrecision: 8,
    quoteAsset: i.minor.toUpperCase(),
    quotePrecision: 8,
    quoteAssetPrecision: 8,
    baseCommissionPrecision: 8,
    quoteCommissionPrecision: 8,
    orderTypes: ['LIMIT', 'LIMIT_MAKER', 'MARKET'],
    icebergAllowed: false,
    ocoAllowed: false,
    otoAllowed: false,
    opoAllowed: false,
    quoteOrderQtyMarketAllowed: true,
    allowTrailingStop: false,
    cancelReplaceAllowed: false,
    amendAllowed: false,
    pegInstructionsAllowed: false,
    isSpotTradingAllowed: true,
    isMarginTradingAllowed: false,
    filters: [
      {
        filterType: 'PRICE_FILTER',
        minPrice: text8(moneyOf(rules.minimumPrice)),
        maxPrice: text8(moneyOf(rules.maximumPrice)),
        tickSize: text8(book.orderTick),
      },
      { filterType: 'LOT_SIZE', ...quantities },
      { filterType: 'MARKET_LOT_SIZE', ...quantities },
      {
        filterType: 'PERCENT_PRICE_BY_SIDE',
        bidMultiplierUp: String(PERCENT.up),
        bidMultiplierDown: String(PERCENT.down),
        askMultiplierUp: String(PERCENT.up),
        askMultiplierDown: String(PERCENT.down),
        avgPriceMins: PERCENT.minutes,
      },
      {
        filterType: 'NOTIONAL',
        minNotional: text8(moneyOf(rules.minimumValue)),
        applyMinToMarket: true,
        maxNotional: text8(moneyOf(rules.maximumValue)),
        applyMaxToMarket: false,
        avgPriceMins: PERCENT.minutes,
      },
      { filterType: 'MAX_NUM_ORDERS', maxNumOrders: openOrdersMax },
    ],
    permissions: [],
    permissionSets: [['SPOT']],
    defaultSelfTradePreventionMode: 'NONE',
    allowedSelfTradePreventionModes: ['NONE'],
  };
}

/**
 * Returns the average price in ticks of the trades in the last `PERCENT.minutes` minutes, weighted by amount. Without
 * such trades, returns the last price; 0 if the book never traded.
 */
export function averageTicks({ history }: VenueBook, now: number): number {
  let [lots, tickLots] = [0, 0];
  for (const candle of history.candlesSince(now - PERCENT.minutes * 60_000)) {
    lots += candle.lots;
    tickLots += candle.tickLots;
  }
  return lots > 0 ? tickLots / lots : history.last;
}

export type DepthLevel = { readonly price: Price; readonly lots: Amount };
/** Levels of a book, best first, and the sequence number of the book's last change. */
export type ShownBook = {
  readonly sequence: number;
  readonly bids: readonly DepthLevel[];
  readonly asks: readonly DepthLevel[];
};

/** Books as the exchange shows them: live, or as they were when they were frozen. */
export class ShownBooks {
  #frozen: Map<string, ShownBook> | null = null;

  get isFrozen(): boolean {
    return this.#frozen !== null;
  }

  /** Freezes the levels that the exchange shows of the books; `null` shows the live levels again. */
  freeze(books: Iterable<VenueBook> | null): void {
    if (books === null) this.#frozen = null;
    else this.#frozen ??= new Map([...books].map(book => [book.rules.book, shownLevels(book, DEPTH_MAX)]));
  }

  /** Returns up to `limit` levels per side. */
  of(book: VenueBook, limit: number): ShownBook {
    const frozen = this.#frozen?.get(book.rules.book);
    if (!frozen) return shownLevels(book, limit);
    return { ...frozen, bids: frozen.bids.slice(0, limit), asks: frozen.asks.slice(0, limit) };
  }
}

function shownLevels({ engine }: VenueBook, limit: number): ShownBook {
  const side = (of: Side): DepthLevel[] => {
    const levels: DepthLevel[] = [];
    engine.eachLevel(of, (price, lots) => levels.push({ price, lots }) < limit);
    return levels;
  };
  return { sequence: engine.sequence, bids: side('buy'), asks: side('sell') };
}

/** Formats levels as pairs of price and quantity. */
export const levelTexts = (i: Instrument, levels: readonly DepthLevel[]): [string, string][] =>
  levels.map(({ price, lots }) => [price8(i, price), quantity8(i, lots)]);

/** Best prices with their quantities; zero for an empty side. */
export function bestFields(book: VenueBook, shown: ShownBook): Record<'b' | 'B' | 'a' | 'A', string> {
  const { instrument: i } = book;
  const [bid, ask] = [shown.bids[0], shown.asks[0]];
  return {
    b: price8(i, bid?.price ?? 0),
    B: quantity8(i, bid?.lots ?? (0 as Amount)),
    a: price8(i, ask?.price ?? 0),
    A: quantity8(i, ask?.lots ?? (0 as Amount)),
  };
}

/** Returns the value of an amount at a price in ticks. The price is first rounded to whole ticks. */
export const valueAbout = (i: Instrument, ticks: number, lots: number): Money =>
  money(BigInt(Math.round(ticks)) * BigInt(lots) * i.tickLotMoney);
