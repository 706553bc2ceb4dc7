/** Conversion offers, in amounts that the currency pair allows and the desk can confirm. */
import {
  money,
  moneyOf,
  textOfMoney,
  type Clock,
  type ConversionDesk,
  type ConversionOffer,
  type ConversionPair,
  type ConversionWay,
  type Millis,
  type Money,
} from '../core/index.ts';

const PAIRS_EVERY_MS = 3_600_000;

/** Requested conversion. The request fixes one of the two amounts; the exchange computes the other. */
export type OfferRequest = {
  readonly from: string;
  readonly to: string;
  /** Side of the conversion whose amount is fixed: `give` for the paid currency, `get` for the received currency. */
  readonly fixed: 'give' | 'get';
  readonly size: Money;
};

export class Offers {
  readonly #desk: Pick<ConversionDesk, 'offer' | 'pairs'>;
  readonly #clock: Clock;
  #pairs: { readonly at: Millis; readonly list: readonly ConversionPair[] } | null = null;

  constructor(desk: Pick<ConversionDesk, 'offer' | 'pairs'>, clock: Clock) {
    this.#desk = desk;
    this.#clock = clock;
  }

  /**
   * Returns an offer that the exchange can confirm. The offer is for the requested amount, or for the largest possible
   * part of it, in steps of `unit`. Returns the reason as text if there is no such offer.
   */
  async request(way: ConversionWay, wish: OfferRequest, unit: Money): Promise<ConversionOffer | string> {
    const first = await this.#ask(way, wish, floorTo(wish.size, unit));
    if (typeof first === 'string' || first.canConfirm) return first;
    const most = confirmableAmount(first, wish);
    if (most === null) return TOO_MUCH;
    const second = await this.#ask(way, wish, floorTo(most, unit));
    return typeof second === 'string' || second.canConfirm ? second : TOO_MUCH;
  }

  /** Requests an RFQ quote as `request` does. The amount is rounded down to the decimals of the pair. */
  async rfq(wish: OfferRequest): Promise<ConversionOffer | string> {
    const unit = await this.unit(wish);
    return typeof unit === 'string' ? unit : this.request('rfq', wish, unit);
  }

  /** Returns the smallest step of the fixed amount, or the reason why the pair has no offers. */
  async unit({ from, to, fixed }: Omit<OfferRequest, 'size'>): Promise<Money | string> {
    const now = this.#clock.elapsed();
    if (this.#pairs === null || now - this.#pairs.at > PAIRS_EVERY_MS) {
      const outcome = await this.#desk.pairs();
      if (outcome.kind !== 'done') return 'the list of conversion pairs could not be read';
      this.#pairs = { at: now, list: outcome.value };
    }
    const pair = this.#pairs.list.find(each => each.from === from && each.to === to);
    if (!pair) return `the exchange lists no conversion from ${from} to ${to}`;
    return money(10n ** BigInt(18 - Math.min(18, fixed === 'give' ? pair.fromDecimals : pair.toDecimals)));
  }

  async #ask(way: ConversionWay, { from, to, fixed }: OfferRequest, size: Money): Promise<ConversionOffer | string> {
    if (size <= 0n) return 'the amount is below the smallest unit of the conversion pair';
    const text = textOfMoney(size);
    const outcome = await this.#desk.offer(way, { from, to, ...(fixed === 'give' ? { give: text } : { get: text }) });
    if (outcome.kind === 'done') return outcome.value;
    return outcome.kind === 'refused' ? `${outcome.code}: ${outcome.message}` : `no usable answer: ${outcome.reason}`;
  }
}

const TOO_MUCH = 'the exchange cannot convert the requested amount';

/**
 * Returns the largest amount that the exchange can confirm, in the currency whose amount the request fixes. The
 * exchange reports the maximum in either currency of the pair.
 */
function confirmableAmount(
  { most, give, get }: ConversionOffer,
  { from, to, fixed, size }: OfferRequest,
): Money | null {
  if (most === undefined) return null;
  const sum = moneyOf(most.amount);
  if (most.currency === (fixed === 'give' ? from : to)) return sum;
  const other = moneyOf(fixed === 'give' ? get.amount : give.amount);
  if (most.currency !== (fixed === 'give' ? to : from) || !(other > 0n)) return null;
  // The result is 0.1% below the confirmable amount, because the price of the next offer may differ.
  return money((size * sum * 999n) / (other * 1_000n));
}

/**
 * Rounds `sum` down to a multiple of `unit`. `sum` and `unit` are in 10^-18, and `sum` must not be negative. Throws
 * RangeError if `unit` is 0.
 */
export const floorTo = (sum: Money, unit: Money): Money => money(sum - (sum % unit));
/** Rounds up to whole steps of `unit`, with the restrictions of `floorTo`. */
export const ceilTo = (sum: Money, unit: Money): Money => floorTo(money(sum + unit - 1n), unit);
