/**
 * Backoff after a post-only rejection. The bot sends no order at the rejected price or nearer to the other side. The
 * backoff ends when the book shows the cause, when a book read after the rejection arrives, or when the pause ends. The
 * pause doubles with each rejection.
 */
import { bestOf, type Depth } from '../model/book.ts';
import { opposite, type Millis, type Price, type Side } from '../model/units.ts';
import type { Ending, Order } from '../orders/orders.ts';

/** First pause, which applies if the book does not show the cause. The pause is longer than the delay of feeds. */
const PAUSE_MIN_MS = 5_000;
const PAUSE_MAX_MS = 60_000;

type Hold = {
  /** Rejected price farthest from the other side. */
  price: number;
  at: Millis;
  until: Millis;
  /** Number of consecutive rejections whose cause the book did not show. `until` is the end of the pause. */
  refusals: number;
  rowEndsAt: Millis;
};

/**
 * Blocks prices after a post-only rejection.
 *
 * A rejection proves that the other side's best price reached the order's price, so the visible book is outdated or
 * incomplete. Public trades do not end the block, because they arrive as late as the book. A block that ended on trades
 * caused 50% more rejections on tapes with a late feed.
 */
export class PostOnlyBackoff {
  /**
   * Quotes that the exchange has not yet reported in the book and that the bot has not canceled. `nearest` is the best
   * price of the other side that came nearest to the quote.
   */
  readonly #new = new Map<string, { readonly side: Side; nearest: number }>();
  /** Latest best price of the other side, for each side of the bot's quotes. */
  readonly #best: Record<Side, number> = { buy: 0, sell: 0 };
  readonly #holds: Record<Side, Hold> = { buy: emptyHold(), sell: emptyHold() };

  /** Records a quote that was sent. */
  onPlaced(id: string, side: Side): void {
    this.#new.set(id, { side, nearest: side === 'buy' ? Infinity : 0 });
  }

  /**
   * Records that the exchange reported a quote in the book, or that the bot is canceling it. The later end of this
   * quote does not count as a rejection.
   */
  onSeenOrCanceled(id: string): void {
    this.#new.delete(id);
  }

  /**
   * Returns true if the exchange accepted the order and canceled it on arrival (public facts 16.1). Several such
   * rejections during one pause count as one.
   */
  onOrderEnd({ id, side, price, filled }: Order, ending: Ending, at: Millis): boolean {
    const quote = this.#new.get(id);
    this.#new.delete(id);
    const isRefused = quote !== undefined && filled === 0 && (ending === 'canceled' || ending === 'vanished');
    // If a book since the placement has shown a price that the order would trade with, the cause is known, so no pause
    // is needed.
    const isShown = quote !== undefined && (side === 'buy' ? quote.nearest <= price : quote.nearest >= price);
    if (isRefused && !isShown) this.#refused(side, price, at);
    return isRefused;
  }

  #refused(side: Side, price: Price, at: Millis): void {
    const hold = this.#holds[side];
    if (at < hold.until) {
      if (side === 'buy' ? price < hold.price : price > hold.price) hold.price = price;
      return;
    }
    const refusals = at < hold.rowEndsAt ? hold.refusals + 1 : 1;
    const pause = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** (refusals - 1));
    this.#holds[side] = { price, at, until: at + pause, refusals, rowEndsAt: at + 2 * pause };
  }

  /**
   * Applies the current book. `startedAt` is the start of the book's read; `null` for a book that excludes the bot's
   * orders, and ends a pause only by its prices.
   */
  onBook(depth: Depth, startedAt: Millis | null): void {
    for (const side of ['buy', 'sell'] as const) {
      const best = bestOf(depth, opposite(side));
      if (best !== this.#best[side]) this.#moved(side, best);
      const hold = this.#holds[side];
      if (hold.refusals === 0) continue;
      const isShown = best > 0 && (side === 'buy' ? best <= hold.price : best >= hold.price);
      if (isShown || (startedAt !== null && startedAt >= hold.at)) this.#holds[side] = emptyHold();
    }
  }

  #moved(side: Side, best: number): void {
    this.#best[side] = best;
    if (best <= 0) return;
    for (const quote of this.#new.values())
      if (quote.side === side)
        quote.nearest = side === 'buy' ? Math.min(quote.nearest, best) : Math.max(quote.nearest, best);
  }

  /**
   * Whether a pause after a rejection blocks the price. A pause blocks the rejected price and prices nearer to the
   * other side.
   */
  holds(side: Side, price: Price, at: Millis): boolean {
    const hold = this.#holds[side];
    return at < hold.until && (side === 'buy' ? price >= hold.price : price <= hold.price);
  }
}

const emptyHold = (): Hold => ({ price: 0, at: -Infinity, until: -Infinity, refusals: 0, rowEndsAt: -Infinity });
