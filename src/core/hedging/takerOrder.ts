/** Taker order for a hedge. The order waits until no order of the bot blocks it, and is then sent once, or refused. */
import type { NormalizedLevel } from '../quoting/normalizeQuote.ts';
import type { QuotePlan } from '../quoting/quoteReconciler.ts';
import type { PlaceCommand } from '../orders/commands.ts';
import type { RiskRefusal } from '../risk/preTradeRisk.ts';
import type { Amount, Millis, Price, Side } from '../model/units.ts';

export type TakerRequest = {
  /** Origin id of the order. No earlier order has used this id. */
  readonly id: string;
  readonly side: Side;
  /** Limit price, in ticks. The exchange cancels the amount that cannot fill immediately at this price or better. */
  readonly price: Price;
  /** Amount in lots; at most the distance of the position from the target. */
  readonly amount: Amount;
  /** Deadline for sending, in engine time. */
  readonly until: Millis;
};

/** Reason why a requested taker order is never sent. */
export type TakerRefusal = RiskRefusal | 'too late';

export class TakerOrder {
  readonly #onRefused: (id: string, why: TakerRefusal) => void;
  #request: TakerRequest | null = null;

  /** `onRefused` is called once for each request that is never sent. */
  constructor(onRefused: (id: string, why: TakerRefusal) => void) {
    this.#onRefused = onRefused;
  }

  request(request: TakerRequest): void {
    if (this.#request !== null)
      throw new Error(`taker order ${request.id} was requested while ${this.#request.id} waits`);
    this.#request = request;
  }

  /** Returns the order to approve now; `null` if no order waits or its deadline has passed. */
  due(at: Millis): PlaceCommand | null {
    if (this.#request === null) return null;
    const { id, side, price, amount, until } = this.#request;
    if (!(at < until)) {
      this.refuse('too late');
      return null;
    }
    return { kind: 'place', id, side, price, amount, takes: true };
  }

  sent(): void {
    if (this.#request === null) throw new Error('there is no taker order to send');
    this.#request = null;
  }

  refuse(why: TakerRefusal): void {
    if (this.#request === null) return;
    const { id } = this.#request;
    this.#request = null;
    this.#onRefused(id, why);
  }

  /**
   * Returns the levels that may be in the book while the taker order waits: all levels that the taker order would not
   * trade with. In reduce-only, levels on the side of the taker order are excluded too.
   */
  levelsAllowedWith(levels: readonly NormalizedLevel[], reduceOnly: boolean): readonly NormalizedLevel[] {
    const request = this.#request;
    return request === null ? levels : levels.filter(level => !blocksRequest(level, request, reduceOnly));
  }

  /**
   * Returns the plan in which kept orders that block the taker order are canceled instead. Compares the prices of the
   * orders, not of their levels, because an order kept for its queue position may be closer to the mid price than any
   * wanted level.
   */
  cancelBlockingOrders(plan: QuotePlan, reduceOnly: boolean): QuotePlan {
    const request = this.#request;
    if (request === null) return plan;
    const isOut = ({ order }: QuotePlan['keep'][number]) => blocksRequest(order, request, reduceOnly);
    const gone = plan.keep.filter(isOut).map(kept => ({ ...kept, reason: 'level not wanted' as const }));
    return { ...plan, keep: plan.keep.filter(kept => !isOut(kept)), cancel: [...plan.cancel, ...gone] };
  }
}

const blocksRequest = (
  quote: { readonly side: Side; readonly price: Price },
  { side, price }: TakerRequest,
  reduceOnly: boolean,
): boolean => (quote.side === side ? reduceOnly : side === 'buy' ? quote.price <= price : quote.price >= price);
