/**
 * Checks of new orders, replacements and modifications, in a fixed order, each with its error code (public-facts 5.3).
 */
import {
  isDecimalText,
  money,
  moneyOf,
  moneyOfAmount,
  valueOf,
  type Amount,
  type DecimalText,
  type Instrument,
  type Money,
  type Price,
  type Side,
} from '../../core/index.ts';
import type { TimeInForceWord } from '../wire/wire.ts';
import type { Account } from './accounts.ts';
import { done, refused, type Refused, type Verdict } from '../wire/codes.ts';
import { limitLock, payingCurrency, stopLock, type Draft } from './order.ts';
import { ceil8 } from '../wire/rounding.ts';
import type { Switches } from '../switches/switches.ts';
import type { Venue } from './venue.ts';
import { slipped, type VenueBook } from './venueBook.ts';

/** Body of a request, expected to be a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

export type CheckedDraft = { readonly book: VenueBook; readonly draft: Draft; readonly lock: Money };

/**
 * Checks a new order. The exchange publishes no order of checks. Puntas uses this order, with these error codes:
 * - API on (1000); JSON types (0372); book, side, type present (0303); book (0301); side (0306); type (0307)
 * - trading on (0410); market orders on (0411); account (1008); time_in_force (0302); amounts (0308, 0309, 0329, 0408,
 *   0407)
 * - price (0304, 0407, 0401, 0402); stop (0304, 0407, 0412, 0413); amount (0403, 0404); value (0405, 0406)
 * - slippage_tolerance, margin_order_type (0304); origin_id (0304, 0356); open orders (1001); engine (1002); funds
 *   (0379)
 */
export function checkedOrder(venue: Venue, account: Account, body: Fields): Verdict<CheckedDraft> {
  const { switches } = venue;
  if (switches.api === 'off') return refused('1000');
  const mistyped = TEXT_FIELDS.find(
    name => body[name] !== undefined && body[name] !== null && typeof body[name] !== 'string',
  );
  if (mistyped !== undefined) return refused('0372', mistyped);
  const text = (name: string): string | undefined => (typeof body[name] === 'string' ? body[name] : undefined);
  const missing = ['book', 'side', 'type'].find(name => text(name) === undefined);
  if (missing !== undefined) return refused('0303', missing);
  const book = venue.books.get(text('book')!);
  if (!book) return refused('0301', text('book'));
  const side = text('side');
  if (side !== 'buy' && side !== 'sell') return refused('0306', side);
  const type = text('type');
  if (type !== 'limit' && type !== 'market') return refused('0307', type);
  const off = tradingOff(account, type, switches);
  if (off) return off;
  const timeInForce = text('time_in_force') ?? 'goodtillcancelled';
  if (!isTimeInForce(timeInForce)) return refused('0302', timeInForce);

  const amounts = amountsOf(book.instrument, type, text('major'), text('minor'));
  if (amounts.kind === 'refused') return amounts;
  const price = type === 'market' ? noPrice(text('price')) : priceOf(book, side, text('price'), switches);
  if (price.kind === 'refused') return price;
  const stop = stopOf(book, side, text('stop'), switches);
  if (stop.kind === 'refused') return stop;
  const slippage = slippageOf(body['slippage_tolerance'], type);
  const margin = text('margin_order_type');
  const draft: Draft = {
    side,
    type,
    timeInForce: type === 'market' ? 'goodtillcancelled' : timeInForce,
    price: price.value,
    amount: amounts.value.major,
    minor: amounts.value.minor,
    stop: stop.value,
    originId: text('origin_id'),
    marginOrderType: margin === 'CROSS_MARGIN' ? margin : undefined,
    slippage: slippage.kind === 'done' ? slippage.value : undefined,
  };
  const outside = outsideBounds(book.instrument, draft);
  if (outside) return outside;
  if (slippage.kind === 'refused') return slippage;
  if (margin !== draft.marginOrderType) return refused('0304', 'margin_order_type');
  return finalChecks(venue, account, book, draft);
}

/** Whether the text is a valid id chosen by the client (rest-api 0). */
export const isOriginId = (text: string): boolean => /^[A-Za-z0-9_-]{1,40}$/.test(text);

/**
 * Makes the last checks of a draft, against its account and the current book: origin_id, open orders, engine, funds.
 */
export function finalChecks(venue: Venue, account: Account, book: VenueBook, draft: Draft): Verdict<CheckedDraft> {
  const { switches } = venue;
  const { originId } = draft;
  if (originId !== undefined && !isOriginId(originId)) return refused('0304', 'origin_id');
  if (originId !== undefined && account.activeOrigins.has(originId)) return refused('0356', originId);
  if (account.active.size >= switches.openOrdersMax) return refused('1001');
  if (book.queue.full || book.full) return refused('1002');
  if (draft.timeInForce === 'postonly' && switches.postOnlyCross === 'refuse' && draft.stop === undefined) {
    if (book.engine.crosses(draft.side, draft.price))
      return refused('1002', 'the post-only order would match immediately');
  }
  if (draft.slippage !== undefined && switches.slippageOutcome === 'refuse' && !withinSlippage(book, draft, switches)) {
    return refused('1002', 'the order would exceed slippage_tolerance');
  }
  const lock = lockOfDraft(book, draft, switches);
  const currency = payingCurrency({ side: draft.side, instrument: book.instrument });
  if (lock > account.available(currency)) return refused('0379', currency);
  return done({ book, draft, lock });
}

/**
 * Returns 0410 if trading is off, 0411 if market orders are off, 1008 for a suspended account; `null` if trading is
 * allowed.
 */
export function tradingOff(account: Account, type: 'limit' | 'market', switches: Switches): Refused | null {
  if (switches.trading === 'off') return refused('0410');
  if (type === 'market' && switches.marketOrders === 'off') return refused('0411');
  return account.trading ? null : refused('1008');
}

/**
 * Parses a price that must be a multiple of the tick and within the book's bounds; rejects with 0407, 0304, 0401 or
 * 0402. A switch decides whether a price between two ticks is rounded or rejected (public-facts 5.1).
 */
export function priceOf(
  book: VenueBook,
  side: Side,
  text: DecimalText | undefined,
  switches: Switches,
): Verdict<Price> {
  const i = book.instrument;
  if (text === undefined) return refused('0407', 'price is missing');
  if (!isDecimalText(text)) return refused('0304', 'price');
  const ticks = ticksOf(book, side, moneyOf(text), switches);
  if (ticks === null) return refused('0407', `price ${text} is not a multiple of the tick size ${book.rules.tickSize}`);
  if (ticks < i.priceMin) return refused('0401', text);
  if (ticks > i.priceMax) return refused('0402', text);
  return done(Number(ticks) as Price);
}

/**
 * Parses the amount, which a request gives in either base or quote currency. For a quote amount, `major` is 0 lots; for
 * a base amount, `minor` is `undefined`. Rejects with 0308, 0309, 0329, 0408, 0407 or 0404.
 */
export function amountsOf(
  i: Instrument,
  type: 'limit' | 'market',
  majorText: string | undefined,
  minorText: string | undefined,
): Verdict<{ major: Amount; minor: Money | undefined }> {
  if (majorText !== undefined && minorText !== undefined) return refused('0308');
  if (majorText === undefined && minorText === undefined) return refused('0309');
  if (type === 'limit' && minorText !== undefined)
    return refused('0329', 'a limit order needs its amount in major, not in minor');
  const text = majorText ?? minorText!;
  if (!isDecimalText(text) || moneyOf(text) === 0n) return refused('0408', text);
  const sum = moneyOf(text);
  if (minorText !== undefined) return done({ major: 0 as Amount, minor: sum });
  if (sum % i.lotMoney !== 0n) return refused('0407', `amount ${text} is not a multiple of the lot size ${i.lot}`);
  const lots = sum / i.lotMoney;
  // The limit of safe integers is far above every maximum amount, so the amount is too large.
  if (lots > BigInt(Number.MAX_SAFE_INTEGER)) return refused('0404', text);
  return done({ major: Number(lots) as Amount, minor: undefined });
}

/**
 * Parses a stop price as `priceOf` parses a price. The stop may be absent, and a stop out of bounds is rejected with
 * 0412 or 0413.
 */
export function stopOf(
  book: VenueBook,
  side: Side,
  text: string | undefined,
  switches: Switches,
): Verdict<Price | undefined> {
  if (text === undefined) return done(undefined);
  if (!isDecimalText(text)) return refused('0304', 'stop');
  const i = book.instrument;
  const ticks = ticksOf(book, side, moneyOf(text), switches);
  if (ticks === null) return refused('0407', `stop ${text} is not a multiple of the tick size ${book.rules.tickSize}`);
  if (ticks < i.priceMin) return refused('0412', text);
  if (ticks > i.priceMax) return refused('0413', text);
  return done(Number(ticks) as Price);
}

/**
 * Checks the bounds of amount (0403, 0404) and value (0405, 0406). For a market order by value, the requested value is
 * checked. A market order by amount has no value to check.
 */
export function outsideBounds(
  i: Instrument,
  draft: Pick<Draft, 'type' | 'price' | 'amount' | 'minor'>,
): Refused | null {
  const { amount, minor } = draft;
  if (minor === undefined) {
    if (amount < i.amountMin) return refused('0403');
    if (amount > i.amountMax) return refused('0404');
    if (draft.type === 'market') return null;
  }
  const value = minor === undefined ? valueOf(draft.price, amount) : minor / i.tickLotMoney;
  if (value < i.valueMin) return refused('0405');
  return value > i.valueMax ? refused('0406') : null;
}

const TEXT_FIELDS = [
  'book',
  'side',
  'type',
  'major',
  'minor',
  'price',
  'stop',
  'time_in_force',
  'origin_id',
  'margin_order_type',
] as const;
const TIMES_IN_FORCE: readonly string[] = ['goodtillcancelled', 'fillorkill', 'immediateorcancel', 'postonly'];
const isTimeInForce = (text: string): text is TimeInForceWord => TIMES_IN_FORCE.includes(text);

const noPrice = (text: string | undefined): Verdict<Price> =>
  text === undefined ? done(0 as Price) : refused('0304', 'a market order must not have a price');

/**
 * Returns a price in whole ticks; `null` if the price is between two ticks and the switch rejects such prices. Rounds
 * up for sells and down for buys (public-facts 5.1).
 */
function ticksOf({ orderTick, instrument }: VenueBook, side: Side, sum: Money, switches: Switches): bigint | null {
  const rest = sum % orderTick;
  if (rest !== 0n && switches.offTickPrice === 'refuse') return null;
  const onGrid = sum - rest + (rest !== 0n && side === 'sell' ? orderTick : 0n);
  return onGrid / instrument.tickMoney;
}

/** Parses a percentage from 0 to 100, as JSON number or text, into parts of 10^-8. */
function slippageOf(field: unknown, type: 'limit' | 'market'): Verdict<bigint | undefined> {
  if (field === undefined || field === null) return done(undefined);
  const text = typeof field === 'number' ? eightDecimals(field) : field;
  if (!isDecimalText(text))
    return refused(typeof field === 'number' || typeof field === 'string' ? '0304' : '0372', 'slippage_tolerance');
  const percent = moneyOf(text);
  if (percent > moneyOf('100')) return refused('0304', 'slippage_tolerance');
  return done(type === 'market' ? percent / 10n ** 12n : undefined);
}

/** Formats a JSON number without exponent. Outside 0 to 1000, returns text that fails every check. */
const eightDecimals = (field: number): string => (field >= 0 && field <= 1000 ? field.toFixed(8) : 'no');

function withinSlippage(book: VenueBook, draft: Draft, switches: Switches): boolean {
  const buy = draft.side === 'buy';
  const best = buy ? book.engine.bestAsk() : book.engine.bestBid();
  const reference = switches.slippageReference === 'last' && book.history.last > 0 ? book.history.last : best;
  if (reference === 0) return false;
  const limit = slipped(reference, draft.side, draft.slippage!);
  const reach = estimateSweep(book, draft, limit);
  return reach.whole;
}

/**
 * Estimates the fill of a market order in the current book, up to a limit price: lots, value, and whether the fill is
 * complete.
 */
function estimateSweep(
  book: VenueBook,
  draft: Draft,
  limit: Price | null,
): { lots: bigint; value: bigint; whole: boolean } {
  const lotsMax = draft.minor === undefined ? BigInt(draft.amount) : null;
  const valueMax = draft.minor === undefined ? null : draft.minor / book.instrument.tickLotMoney;
  let lots = 0n;
  let value = 0n;
  let whole = false;
  book.engine.eachLevel(draft.side === 'buy' ? 'sell' : 'buy', (price, total) => {
    if (limit !== null && (draft.side === 'buy' ? price > limit : price < limit)) return false;
    let here = BigInt(total);
    if (lotsMax !== null && here > lotsMax - lots) here = lotsMax - lots;
    const affordable = valueMax === null ? here : (valueMax - value) / BigInt(price);
    if (affordable < here) here = affordable;
    lots += here;
    value += here * BigInt(price);
    whole = lotsMax !== null ? lots === lotsMax : valueMax! - value < BigInt(price);
    return !whole;
  });
  return { lots, value, whole };
}

/**
 * Returns the lock of an accepted order. A market order is valued at the current book; any further cost is paid from
 * the available balance.
 */
export function lockOfDraft(book: VenueBook, draft: Draft, switches: Switches): Money {
  const { instrument } = book;
  if (draft.stop !== undefined) {
    return switches.stopLocks === 'at trigger' ? money(0n) : stopLock({ ...draft, instrument, stop: draft.stop });
  }
  if (draft.type === 'limit') return limitLock(instrument, draft.side, draft.price, draft.amount);
  if (draft.side === 'buy') {
    return draft.minor ?? ceil8(money(estimateSweep(book, draft, null).value * instrument.tickLotMoney));
  }
  if (draft.minor === undefined) return moneyOfAmount(instrument, draft.amount);
  return money(estimateSweep(book, draft, null).lots * instrument.lotMoney);
}
