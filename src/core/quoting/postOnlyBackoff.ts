/** After a post-only order was refused nothing alike is placed until the book shows why, or a pause is over that is twice as long each time. */
import { bestOf } from '../model/book.ts';
import type { Depth } from '../model/book.ts';
import { opposite } from '../model/units.ts';
import type { Ending, Order } from '../orders/orders.ts';
import type { Millis, Price, Side } from '../model/units.ts';

/** For a book that never shows it: longer than feeds are late. */
const FIRST_MS = 5_000;
const LONGEST_MS = 60_000;

type Hold = {
  /** Of the prices that were refused the one farthest from the other side. */
  price: number;
  at: Millis;
  until: Millis;
  /** In a row, without a book that showed why, and when the row is broken. */
  refusals: number;
  rowEndsAt: Millis;
};

/**
 * A refusal proves that the other side's best was at that price or through it: the book that we see is older, or hides something. Public trades
 * release nothing: they come as late as the book, and on tapes with a late feed half as many orders again were refused when they did.
 */
export class PostOnlyBackoff {
  /** Quotes of ours that were neither seen in the book nor canceled by us, each with the nearest best of the other side that the book has shown since. */
  readonly #new = new Map<string, { readonly side: Side; nearest: number }>();
  /** Best of the other side when it was last seen. */
  readonly #best: Record<Side, number> = { buy: 0, sell: 0 };
  readonly #holds: Record<Side, Hold> = { buy: noHold(), sell: noHold() };

  /** A quote is on its way. */
  placed(id: string, side: Side): void {
    this.#new.set(id, { side, nearest: side === 'buy' ? Infinity : 0 });
  }

  /** It was seen in the book, or we cancel it: its end is no refusal. */
  touched(id: string): void {
    this.#new.delete(id);
  }

  /** True when the exchange took it and canceled it on arrival (public facts 16.1). Several levels before one is tried again are one refusal. */
  ended({ id, side, price, filled }: Order, ending: Ending, at: Millis): boolean {
    const quote = this.#new.get(id);
    this.#new.delete(id);
    const isRefused = quote !== undefined && filled === 0 && (ending === 'canceled' || ending === 'vanished');
    // A book that has shown why before the refusal was known is as good as one that shows it after.
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
    const pause = Math.min(LONGEST_MS, FIRST_MS * 2 ** (refusals - 1));
    this.#holds[side] = { price, at, until: at + pause, refusals, rowEndsAt: at + 2 * pause };
  }

  /** The book as it is seen now. `startedAt`: when its read began; null when nobody knows how old it is. */
  seen(depth: Depth, startedAt: Millis | null): void {
    for (const side of ['buy', 'sell'] as const) {
      const best = bestOf(depth, opposite(side));
      if (best !== this.#best[side]) this.#moved(side, best);
      const hold = this.#holds[side];
      if (hold.refusals === 0) continue;
      const isShown = best > 0 && (side === 'buy' ? best <= hold.price : best >= hold.price);
      if (isShown || (startedAt !== null && startedAt >= hold.at)) this.#holds[side] = noHold();
    }
  }

  #moved(side: Side, best: number): void {
    this.#best[side] = best;
    if (best <= 0) return;
    for (const quote of this.#new.values())
      if (quote.side === side)
        quote.nearest = side === 'buy' ? Math.min(quote.nearest, best) : Math.max(quote.nearest, best);
  }

  /** True for a price that is as near to the other side as one that was refused, or nearer. */
  holds(side: Side, price: Price, at: Millis): boolean {
    const hold = this.#holds[side];
    return at < hold.until && (side === 'buy' ? price >= hold.price : price <= hold.price);
  }
}

const noHold = (): Hold => ({ price: 0, at: -Infinity, until: -Infinity, refusals: 0, rowEndsAt: -Infinity });
