/** One order that takes liquidity on purpose: asked for by the hedger, kept until none of ours stands in its way, and sent once or never. */
import type { NormalizedLevel } from '../quoting/normalizeQuote.ts';
import type { QuotePlan } from '../quoting/quoteReconciler.ts';
import type { PlaceCommand } from '../orders/commands.ts';
import type { RiskRefusal } from '../risk/preTradeRisk.ts';
import type { Amount, Millis, Price, Side } from '../model/units.ts';

export type TakerRequest = {
  /** Origin id of the order; never used before. */
  readonly id: string;
  readonly side: Side;
  /** The worst price, in ticks: what is not filled there or better is gone at once. */
  readonly price: Price;
  /** Lots; at most what brings the position back to the target. */
  readonly amount: Amount;
  /** Not sent any more from then on, on the engine's time. */
  readonly until: Millis;
};

/** Why a request is never sent. */
export type NotTaken = RiskRefusal | 'too late';

export class TakerOrder {
  readonly #onRefused: (id: string, why: NotTaken) => void;
  #request: TakerRequest | null = null;

  /** `onRefused`: told once of each request that is never sent. */
  constructor(onRefused: (id: string, why: NotTaken) => void) {
    this.#onRefused = onRefused;
  }

  ask(request: TakerRequest): void {
    if (this.#request !== null) throw new Error(`${request.id} was asked for while ${this.#request.id} waits`);
    this.#request = request;
  }

  get isWaiting(): boolean {
    return this.#request !== null;
  }

  /** The order to be approved now; null when there is none, or it is too late for it. */
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
    if (this.#request === null) throw new Error('no order waits to be sent');
    this.#request = null;
  }

  refuse(why: NotTaken): void {
    if (this.#request === null) return;
    const { id } = this.#request;
    this.#request = null;
    this.#onRefused(id, why);
  }

  /** What may be shown meanwhile: nothing that the order would trade with; while only inventory is closed, nothing either that closes the same. */
  besides(levels: readonly NormalizedLevel[], reduceOnly: boolean): readonly NormalizedLevel[] {
    const request = this.#request;
    return request === null ? levels : levels.filter(level => !isInTheWay(level, request, reduceOnly));
  }

  /** The same of orders that are already there: one that was kept for its place in the queue may be nearer than any level. */
  cleared(plan: QuotePlan, reduceOnly: boolean): QuotePlan {
    const request = this.#request;
    if (request === null) return plan;
    const isOut = ({ order }: QuotePlan['keep'][number]) => isInTheWay(order, request, reduceOnly);
    const gone = plan.keep.filter(isOut).map(kept => ({ ...kept, reason: 'level not wanted' as const }));
    if (gone.length === 0) return plan;
    return { ...plan, keep: plan.keep.filter(kept => !isOut(kept)), cancel: [...plan.cancel, ...gone] };
  }
}

const isInTheWay = (
  quote: { readonly side: Side; readonly price: Price },
  { side, price }: TakerRequest,
  reduceOnly: boolean,
): boolean => (quote.side === side ? reduceOnly : side === 'buy' ? quote.price <= price : quote.price >= price);
