/**
 * Market data routes, which need no key: books, rules, trades, ticker and candles (rest-api 4.6 to 4.8, public-facts
 * 4).
 */
import {
  HOUR_MS,
  money,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  type Millis,
  type Price,
  type Side,
  type WireReply,
} from '../../core/index.ts';
import { pageOf, wholeOf, type PublicRequest, type Route } from './route.ts';
import { joined, type MinuteCandle } from '../venue/tradeHistory.ts';
import type { Venue } from '../venue/venue.ts';
import type { VenueBook } from '../venue/venueBook.ts';
import { failure, failureOf, reply, success, successText, timeOfBook, timePlain } from '../wire/wire.ts';

export const publicRoutes: readonly Route[] = [
  { scope: 'public', method: 'GET', pattern: '/v3/available_books', handle: availableBooks },
  { scope: 'public', method: 'GET', pattern: '/v3/order_book', handle: orderBook },
  { scope: 'public', method: 'GET', pattern: '/v3/trades', handle: trades },
  { scope: 'public', method: 'GET', pattern: '/v3/ticker', handle: ticker },
  { scope: 'public', method: 'POST', pattern: '/v3/ticker', handle: ticker },
  { scope: 'public', method: 'GET', pattern: '/v3/ohlc', handle: ohlc },
];

/** Maximum price levels per side of the aggregated book (public-facts 4.3). */
export const BOOK_LEVELS_MAX = 50;
/**
 * Candle lengths in seconds: the lengths of public-facts 4.5, plus six hours and three days, which a common client
 * requests.
 */
const BUCKET_SECONDS: readonly number[] = [60, 300, 900, 1800, 3600, 14_400, 21_600, 43_200, 86_400, 259_200, 604_800];

/**
 * Returns the listed books, each with exactly the eleven fields of a row captured from the exchange (public-facts 4.1).
 */
function availableBooks({ venue }: PublicRequest): WireReply {
  const percent = venue.switches.flatRate === 'percent';
  return success(
    [...venue.books.values()].map(({ rules, fees }) => {
      const flat = (rate: string) => (percent ? (Number(rate) * 100).toFixed(3) : rate);
      return {
        book: rules.book,
        default_chart: venue.switches.defaultChart,
        margin_enabled: true,
        minimum_amount: rules.minimumAmount,
        maximum_amount: rules.maximumAmount,
        minimum_price: rules.minimumPrice,
        maximum_price: rules.maximumPrice,
        minimum_value: rules.minimumValue,
        maximum_value: rules.maximumValue,
        tick_size: rules.tickSize,
        fees: {
          flat_rate: { maker: flat(fees.tiers[0]!.maker), taker: flat(fees.tiers[0]!.taker) },
          structure: fees.tiers.map(({ volume, maker, taker }) => ({ volume, maker, taker })),
        },
      };
    }),
  );
}

function orderBook({ venue, query }: PublicRequest): WireReply {
  const book = venue.books.get(query.get('book') ?? '');
  if (!book) return failureOf('0301', query.get('book') ?? 'book is missing');
  if (isSilent(venue, book)) return failureOf('1000');
  // The value may have any letter case: Python clients send True and False.
  const aggregate = query.get('aggregate')?.toLowerCase() ?? 'true';
  if (aggregate !== 'true' && aggregate !== 'false') return failureOf('0304', 'aggregate');
  const whole = aggregate === 'false';
  const sides = whole ? wholeText(book) : levelsText(book);
  const { sequence } = book.engine;
  const counter = venue.switches.sequenceForm === 'string' ? `"${sequence}"` : String(sequence);
  const at = timeOfBook(venue.switches.bookUpdatedAt === 'reply' ? venue.clock.now() : book.changedAt, venue.switches);
  return successText(`{"updated_at":"${at}",${sides},"sequence":${counter}}`);
}

/** Whether the book's market publishes no data now. */
const isSilent = ({ clock }: Venue, { feed }: VenueBook): boolean => clock.elapsed() < feed.silentUntil;

type Cached = { readonly sequence: number; readonly text: string };
const levelsCache = new WeakMap<VenueBook, Cached>();
const wholeCache = new WeakMap<VenueBook, Cached>();

const levelsText = (book: VenueBook): string =>
  cached(levelsCache, book, () => {
    const side = (of: Side): string => {
      const rows: string[] = [];
      book.engine.eachLevel(of, (price, total) => {
        rows.push(`{${entryText(book, price)},"amount":"${textOfAmount(book.instrument, total)}"}`);
        return rows.length < BOOK_LEVELS_MAX;
      });
      return rows.join(',');
    };
    return `"asks":[${side('sell')}],"bids":[${side('buy')}]`;
  });

const wholeText = (book: VenueBook): string =>
  cached(wholeCache, book, () => {
    const side = (of: Side): string => {
      const rows: string[] = [];
      book.engine.eachOrder(of, (id, owner, price, left) => {
        const oid = book.oidOf(id, owner);
        rows.push(`{${entryText(book, price)},"amount":"${textOfAmount(book.instrument, left)}","oid":"${oid}"}`);
        return true;
      });
      return rows.join(',');
    };
    return `"asks":[${side('sell')}],"bids":[${side('buy')}]`;
  });

const entryText = (book: VenueBook, price: Price): string =>
  `"book":"${book.rules.book}","price":"${textOfPrice(book.instrument, price)}"`;

/** Returns the cached text while the sequence of the book is unchanged. */
function cached(cache: WeakMap<VenueBook, Cached>, book: VenueBook, make: () => string): string {
  const { sequence } = book.engine;
  const found = cache.get(book);
  if (found?.sequence === sequence) return found.text;
  const text = make();
  cache.set(book, { sequence, text });
  return text;
}

function trades(ask: PublicRequest): WireReply {
  const { venue, query } = ask;
  const name = query.get('book') ?? '';
  if (name === '') return failureOf('0301', 'book is missing');
  const book = venue.books.get(name);
  if (!book) return venue.switches.tradesOfUnknownBook === 'empty' ? success([]) : failureOf('0301', name);
  if (isSilent(venue, book)) return failureOf('1000');
  const page = pageOf(ask);
  if (page.kind === 'refused') return failure(page);
  return success(
    book.history.page(page.value.limit, page.value.sort, page.value.marker).map(trade => ({
      book: book.rules.book,
      created_at: timePlain(trade.at),
      amount: textOfAmount(book.instrument, trade.amount),
      maker_side: trade.makerSide,
      price: textOfPrice(book.instrument, trade.price),
      tid: trade.tid,
    })),
  );
}

function ticker({ venue, query }: PublicRequest): WireReply {
  const name = query.get('book');
  if (name === undefined) {
    if (venue.switches.tickerWithoutBook === '0301') return failureOf('0301', 'book is missing');
    return success([...venue.books.values()].map(book => tickerOf(venue, book)));
  }
  const book = venue.books.get(name);
  if (book) return success(tickerOf(venue, book));
  // This error has the legacy envelope: numeric code, no `success` (public-facts 4.2).
  return reply(400, JSON.stringify({ error: { code: 20, message: `Unknown OrderBook ${name}` } }));
}

/**
 * Returns the ticker of a book. A price is zero if the book has no trade or order for it, or `null` by the switch
 * `tickerWithoutMarket`.
 */
function tickerOf(venue: Venue, book: VenueBook): unknown {
  const { instrument: i, engine, history } = book;
  const now = venue.clock.now();
  const day = joined(history.candlesSince(now - 24 * HOUR_MS), Number.MAX_SAFE_INTEGER)[0];
  const sixHours = joined(history.candlesSince(now - 6 * HOUR_MS), Number.MAX_SAFE_INTEGER)[0];
  const none = venue.switches.tickerWithoutMarket === 'null' ? null : textOfPrice(i, 0 as Price);
  const priceText = (ticks: number) => (ticks > 0 ? textOfPrice(i, ticks as Price) : none);
  return {
    book: book.rules.book,
    last: priceText(history.last),
    bid: priceText(engine.bestBid()),
    ask: priceText(engine.bestAsk()),
    high: priceText(day?.high ?? 0),
    low: priceText(day?.low ?? 0),
    vwap: day ? averageText(book, day) : none,
    volume: volumeText(book, day),
    change_24: textOfMoney(money(BigInt(day ? day.last - day.first : 0) * i.tickMoney), i.priceDecimals),
    created_at: timeOfBook(now, venue.switches),
    rolling_average_change: { '6': sixHours ? (percentFrom(sixHours) || 0).toFixed(4) : '0.0000' },
  };
}

const percentFrom = (candle: MinuteCandle): number => ((candle.last * candle.lots) / candle.tickLots - 1) * 100;
const averageText = (book: VenueBook, candle: MinuteCandle): string =>
  ((candle.tickLots / candle.lots) * Number(book.instrument.tick)).toFixed(10);
const volumeText = (book: VenueBook, candle: MinuteCandle | undefined): string =>
  textOfMoney(money(BigInt(candle?.lots ?? 0) * book.instrument.lotMoney), 8);

/** Returns candles. The call is undocumented, but a common client uses it (public-facts 4.5). */
function ohlc({ venue, query }: PublicRequest): WireReply {
  const book = venue.books.get(query.get('book') ?? '');
  if (!book) return failureOf('0301', query.get('book') ?? 'book is missing');
  const seconds = wholeOf(query.get('time_bucket'), null);
  // According to ccxt, the exchange returns this code also if `time_bucket` is missing.
  if (seconds === null || !BUCKET_SECONDS.includes(seconds)) return failureOf('0304', 'time_bucket');
  const now = venue.clock.now();
  const start: Millis | null = wholeOf(query.get('start'), 0);
  const end: Millis | null = wholeOf(query.get('end'), now);
  if (start === null || end === null) return failureOf('0304', 'start and end must be epoch milliseconds');
  const candles = joined(book.history.candlesSince(start), seconds * 1000).filter(
    c => c.start >= start && c.start <= end,
  );
  const priceText = (ticks: Price) => textOfPrice(book.instrument, ticks);
  return success(
    candles.map(candle => ({
      bucket_start_time: candle.start,
      first_trade_time: candle.firstAt,
      last_trade_time: candle.lastAt,
      first_rate: priceText(candle.first),
      last_rate: priceText(candle.last),
      min_rate: priceText(candle.low),
      max_rate: priceText(candle.high),
      trade_count: candle.count,
      volume: volumeText(book, candle),
      vwap: averageText(book, candle),
    })),
  );
}
