/** Frames of the public stream as the exchange writes them, key by key (public-facts 12). */
import {
  moneyOfValue,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  valueOf,
  shortDecimal,
  type Amount,
  type Instrument,
  type Millis,
  type Price,
  type Side,
} from '../../core/index.ts';
import { floor8 } from '../wire/rounding.ts';
import type { Switches } from '../switches/switches.ts';
import type { BookChange, BookEvent, BookTrade, VenueBook } from '../venue/venueBook.ts';
import { text8 } from '../wire/wire.ts';

export const CHANNELS = ['trades', 'orders', 'diff-orders'] as const;
export type Channel = (typeof CHANNELS)[number];

/** Number of individual orders per side in the channel `orders` (public-facts 12.4). */
const SHOWN_ORDERS = 20;

export const KEEP_ALIVE = '{"type":"ka"}';

/**
 * Returns a frame with all trades of an event; `t` is the taker's side, 0 for buy (public-facts 12.3). `sent` is in ms
 * and truncated.
 */
export const tradesFrame = ({ book, instrument, trades, at }: BookEvent, sent: Millis): string =>
  JSON.stringify({
    type: 'trades',
    book,
    payload: trades.map(trade => tradeRow(instrument, trade, at)),
    sent: wholeMs(sent),
  });

/** Returns a frame for one step of the book's sequence, with any number of changed orders. */
export const diffFrame = (event: BookEvent, sent: Millis, amounts: Switches['cancelledAmounts']): string =>
  JSON.stringify({
    type: 'diff-orders',
    book: event.book,
    sequence: event.sequence,
    payload: event.changes.map(change => changeRow(event.instrument, change, event.at, amounts)),
    sent: wholeMs(sent),
  });

/** Returns the payload of `orders`: the current best orders of both sides. */
export function ordersPayload(book: VenueBook): string {
  const side = (of: Side) => {
    const rows: object[] = [];
    book.engine.eachOrder(of, (id, owner, price, left, at) => {
      rows.push(shownRow(book.instrument, book.oidOf(id, owner), of, price, left, at));
      return rows.length < SHOWN_ORDERS;
    });
    return rows;
  };
  return JSON.stringify({ bids: side('buy'), asks: side('sell') });
}

/**
 * Returns a frame around `payload`, the JSON text from `ordersPayload`. The frame has no sequence (public-facts 12.4).
 */
export const ordersFrame = (book: string, payload: string, sent: Millis): string =>
  `{"type":"orders","book":${JSON.stringify(book)},"payload":${payload},"sent":${wholeMs(sent)}}`;

function tradeRow(instrument: Instrument, trade: BookTrade, at: Millis): object {
  const { tid, price, amount, makerOid, takerOid, takerSide } = trade;
  return {
    i: tid,
    a: textOfAmount(instrument, amount),
    r: shortDecimal(textOfPrice(instrument, price)),
    v: valueText(instrument, price, amount),
    mo: makerOid,
    to: takerOid,
    t: digitOf(takerSide),
    x: wholeMs(at),
  };
}

/**
 * Returns a row of diff-orders. Completed orders have no `a` and `v`. For canceled orders, documentation and wire
 * differ, so a switch decides.
 */
function changeRow(
  instrument: Instrument,
  change: BookChange,
  at: Millis,
  amounts: Switches['cancelledAmounts'],
): object {
  const { oid, side, price, left, status, createdAt } = change;
  const sized = status === 'open' || (status === 'cancelled' && amounts === 'present');
  return {
    o: oid,
    d: wholeMs(createdAt),
    r: shortDecimal(textOfPrice(instrument, price)),
    t: digitOf(side),
    ...(sized && { a: textOfAmount(instrument, left), v: valueText(instrument, price, left) }),
    s: status,
    z: status === 'cancelled' ? 0 : wholeMs(at),
  };
}

/** Returns a row of `orders`: no trailing zeros, and `s` is always the text "undefined". */
const shownRow = (i: Instrument, oid: string, side: Side, price: Price, left: Amount, at: Millis): object => ({
  o: oid,
  r: shortDecimal(textOfPrice(i, price)),
  a: shortDecimal(textOfAmount(i, left)),
  v: textOfMoney(floor8(moneyOfValue(i, valueOf(price, left)))),
  t: digitOf(side),
  d: wholeMs(at),
  s: 'undefined',
});

/** Truncates a time to whole milliseconds, as the exchange does, because the clock can return fractions. */
export const wholeMs = (at: Millis): Millis => Math.floor(at);
const digitOf = (side: Side): 0 | 1 => (side === 'buy' ? 0 : 1);
const valueText = (i: Instrument, price: Price, amount: Amount): string =>
  text8(floor8(moneyOfValue(i, valueOf(price, amount))));
