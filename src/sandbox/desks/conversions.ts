/**
 * Conversions (v4): quotes from the books' best prices, execution in the background, and results (rest-api 4.10,
 * public-facts 13).
 */
import {
  money,
  moneyOf,
  opposite,
  textOfMoney,
  type Millis,
  type Money,
  type Random,
  type Side,
} from '../../core/index.ts';
import type { Account } from '../venue/accounts.ts';
import { done, refused, type Verdict } from '../wire/codes.ts';
import type { DeskBook, DeskWatcher, DeskWorld } from './deskWorld.ts';
import { DeskTimers } from './deskTimers.ts';
import { keepNewest } from './keepNewest.ts';
import { remainingDelay } from '../matching/remainingDelay.ts';
import { randomOid } from '../wire/oid.ts';
import { ceil8, floor8 } from '../wire/rounding.ts';

export type VenueQuote = {
  readonly id: string;
  readonly account: Account;
  readonly from: { readonly currency: string; readonly sum: Money };
  readonly to: { readonly currency: string; readonly sum: Money };
  readonly created: Millis;
  readonly expires: Millis;
  /** Exchange rate including the fee (`padding`), in `rateCurrency` per unit of the other currency. */
  readonly rate: Money;
  /** Exchange rate before the fee (`padding`), in `rateCurrency` per unit of the other currency. */
  readonly plainRate: Money;
  readonly rateCurrency: string;
  readonly padding: Money;
  readonly book: string;
  readonly slippage: Money;
};

export type ConversionStatus = 'open' | 'queued' | 'completed' | 'failed';
export type VenueConversion = {
  readonly id: string;
  readonly quote: VenueQuote;
  status: ConversionStatus;
  /** Time of the next change of the status, in epoch ms; `null` if the conversion has ended. */
  dueAt: Millis | null;
};

export type QuoteRequest = { readonly from: string; readonly to: string } & (
  { readonly spend: Money } | { readonly receive: Money }
);

/** Maximum number of stored quotes; the oldest are dropped first. */
export const QUOTES_MAX = 10_000;
/** Maximum number of stored conversions; the oldest are dropped first. */
export const CONVERSIONS_MAX = 10_000;
const FIRST_CONVERSION = 8001;
const ONE = 10n ** 18n;

/** One book on the path, and the side traded in it. */
type Hop = { readonly book: DeskBook; readonly side: Side };

export class VenueConversions {
  readonly #venue: DeskWorld;
  readonly #random: Random;
  readonly #quotes = new Map<string, VenueQuote>();
  readonly #conversions = new Map<string, VenueConversion>();
  /** Conversions by quote id. */
  readonly #conversionByQuote = new Map<string, VenueConversion>();
  readonly #timers: DeskTimers;
  readonly #watcher: DeskWatcher<VenueConversion> | null;
  #next = FIRST_CONVERSION;

  constructor(venue: DeskWorld, random: Random, watcher: DeskWatcher<VenueConversion> | null = null) {
    this.#venue = venue;
    this.#timers = new DeskTimers(venue.clock);
    this.#random = random;
    this.#watcher = watcher;
  }

  /** Adds conversions of an earlier process, the oldest first. Those in progress continue when they are due. */
  restore(conversions: readonly VenueConversion[]): void {
    for (const conversion of conversions) {
      this.#keep(conversion);
      this.#next = Math.max(this.#next, Number(conversion.id) + 1);
      this.#schedule(conversion);
    }
  }

  /** Creates a quote. Rejects with 0367 if a book between the two currencies lacks a price or depth. */
  quote(account: Account, request: QuoteRequest): Verdict<VenueQuote> {
    const path = pathOf(this.#venue, request.from, request.to);
    if (path === null) return refused('0367', `${request.from} to ${request.to}`);
    const best = path.map(({ book, side }) => bestPrice(book, opposite(side)));
    if (best.some(price => price === 0n)) return refused('0367', 'a book between the two currencies has no price');
    // Amount of the target currency per unit of `from`, as an exact fraction.
    let over = 1n;
    let under = 1n;
    path.forEach(({ side }, i) => {
      over *= side === 'sell' ? best[i]! : ONE;
      under *= side === 'sell' ? ONE : best[i]!;
    });
    const padding = BigInt(this.#venue.switches.conversionPaddingPips);
    const padded = { over: over * (10_000n - padding), under: under * 10_000n };
    if (padded.over === 0n) return refused('0367');
    const spend = 'spend' in request ? request.spend : ceil8(ceilDiv(request.receive * padded.under, padded.over));
    const receive =
      'receive' in request ? request.receive : floor8(money((request.spend * padded.over) / padded.under));
    if (!(spend > 0n && receive > 0n)) return refused('0408', 'the amount is too small to convert');
    const slippage = slippageOf(path[0]!, spend);
    if (slippage === null) return refused('0367', 'the book is not deep enough for this amount');
    // The API uses whole epoch milliseconds (rest-api 2.10), but the clock can return fractions.
    const created = Math.floor(this.#venue.clock.now());
    // The rate of a direct sell is the price of the book. Any other rate is the cost of one unit of the target
    // currency.
    const sells = path.length === 1 && path[0]!.side === 'sell';
    const rate = (a: bigint, b: bigint) => money(sells ? (a * ONE) / b : (b * ONE) / a);
    const quote: VenueQuote = {
      id: randomOid(this.#random),
      account,
      from: { currency: request.from, sum: spend },
      to: { currency: request.to, sum: receive },
      created,
      expires: created + this.#venue.switches.quoteLifeMs,
      rate: floor8(rate(padded.over, padded.under)),
      plainRate: floor8(rate(over, under)),
      rateCurrency: sells ? request.to : request.from,
      padding: money(padding * 10n ** 14n),
      book: path[0]!.book.rules.book,
      slippage,
    };
    keepNewest(this.#quotes, quote.id, quote, QUOTES_MAX);
    return done(quote);
  }

  /**
   * Executes a quote of the account. Rejects with 0345 if the quote is unknown, executed or expired, and with 0379 if
   * the account cannot pay.
   */
  execute(account: Account, quoteId: string): Verdict<VenueConversion> {
    const quote = this.#quotes.get(quoteId);
    if (quote?.account !== account || !(this.#venue.clock.now() < quote.expires)) return refused('0345');
    if (quote.from.sum > account.available(quote.from.currency)) return refused('0379', quote.from.currency);
    this.#quotes.delete(quoteId);
    const dueAt = this.#halfLater();
    const conversion: VenueConversion = { id: String(this.#next++), quote, status: 'open', dueAt };
    this.#keep(conversion);
    this.#watcher?.changed(conversion);
    this.#schedule(conversion);
    return done(conversion);
  }

  find(account: Account, id: string): VenueConversion | undefined {
    return owned(account, this.#conversions.get(id));
  }

  /** Returns the conversion of a quote, or undefined if the quote was not executed. */
  ofQuote(account: Account, quoteId: string): VenueConversion | undefined {
    return owned(account, this.#conversionByQuote.get(quoteId));
  }

  close(): void {
    this.#timers.stop();
  }

  #keep(conversion: VenueConversion): void {
    keepNewest(this.#conversions, conversion.id, conversion, CONVERSIONS_MAX);
    keepNewest(this.#conversionByQuote, conversion.quote.id, conversion, CONVERSIONS_MAX);
  }

  /** Returns the time half the duration of a conversion from now, in epoch ms. */
  #halfLater(): Millis {
    const { clock, switches } = this.#venue;
    return clock.now() + switches.conversionQueueMs / 2;
  }

  #schedule(conversion: VenueConversion): void {
    if (conversion.dueAt === null) return;
    const { clock, switches } = this.#venue;
    const ms = remainingDelay(conversion.dueAt, clock.now(), switches.conversionQueueMs / 2);
    this.#timers.after(ms, () => this.#advance(conversion));
  }

  #advance(conversion: VenueConversion): void {
    if (conversion.status === 'open') {
      conversion.status = 'queued';
      conversion.dueAt = this.#halfLater();
      this.#schedule(conversion);
    } else {
      this.#settle(conversion);
      conversion.dueAt = null;
    }
    this.#watcher?.changed(conversion);
    this.#watcher?.executed();
  }

  #settle(conversion: VenueConversion): void {
    const { account, from, to } = conversion.quote;
    const { switches } = this.#venue;
    const paid = switches.conversionOutcome === 'completed' && this.#venue.swap(account, from, to);
    conversion.status = paid ? 'completed' : 'failed';
  }
}

const owned = (account: Account, conversion: VenueConversion | undefined): VenueConversion | undefined =>
  conversion?.quote.account === account ? conversion : undefined;

/**
 * Returns the direct book between two currencies, or the two books of a path through a third currency; `null` if there
 * is no path.
 */
function pathOf(venue: DeskWorld, from: string, to: string): readonly Hop[] | null {
  const direct = hopOf(venue, from, to);
  if (direct) return [direct];
  for (const { instrument } of venue.books.values()) {
    for (const third of [instrument.minor, instrument.major]) {
      const [first, second] = [hopOf(venue, from, third), hopOf(venue, third, to)];
      if (first && second) return [first, second];
    }
  }
  return null;
}

function hopOf(venue: DeskWorld, from: string, to: string): Hop | undefined {
  const selling = venue.books.get(`${from}_${to}`);
  if (selling) return { book: selling, side: 'sell' };
  const buying = venue.books.get(`${to}_${from}`);
  return buying && { book: buying, side: 'buy' };
}

/** Returns the best price of a side in the quote currency, or 0 if the side is empty. */
function bestPrice(book: DeskBook, side: Side): bigint {
  const ticks = side === 'buy' ? book.engine.bestBid() : book.engine.bestAsk();
  return BigInt(ticks) * book.instrument.tickMoney;
}

/**
 * Returns the slippage of trading `spend`, as a fraction of the best price; `null` if the book has too little depth.
 */
function slippageOf({ book, side }: Hop, spend: Money): Money | null {
  const { instrument: i } = book;
  let left: bigint = side === 'sell' ? spend / i.lotMoney : spend / i.tickLotMoney;
  let lots = 0n;
  let value = 0n;
  let best = 0n;
  let enough = false;
  book.engine.eachLevel(opposite(side), (ticks, total) => {
    const price = BigInt(ticks);
    if (best === 0n) best = price;
    const most = side === 'sell' ? left : left / price;
    enough = most <= BigInt(total);
    const here = enough ? most : BigInt(total);
    lots += here;
    value += here * price;
    left -= side === 'sell' ? here : here * price;
    return !enough;
  });
  if (!enough) return null;
  if (lots === 0n) return money(0n);
  const average = (value * ONE) / (lots * best);
  return money(side === 'buy' ? average - ONE : ONE - average);
}

const ceilDiv = (a: bigint, b: bigint): Money => money((a + b - 1n) / b);

/** Returns the times of the next midnight UTC, the next Monday and the first day of the next month. */
export function nextRecurrentEvents(now: Millis): { DAILY: Millis; WEEKLY: Millis; MONTHLY: Millis } {
  const at = new Date(now);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  const toMonday = 7 - ((at.getUTCDay() + 6) % 7);
  return {
    DAILY: Date.UTC(year, month, day + 1),
    WEEKLY: Date.UTC(year, month, day + toMonday),
    MONTHLY: Date.UTC(year, month + 1, 1),
  };
}

/** Formats a fraction with four decimals, for example "0.0153". */
export const fractionText = (fraction: Money): string => textOfMoney(money(fraction - (fraction % 10n ** 14n)), 4);
/** Minimum slippage that is reported as high, as a fraction of the best price. */
export const HIGH_SLIPPAGE = moneyOf('0.02');
