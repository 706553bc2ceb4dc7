/**
 * Invariants of optional limits: the amount of one order, the distance from past prices, and the cost of a day's
 * hedges.
 */
import type { Marks } from './sometimes.ts';
import type { PlacedOrder } from '../world/wire.ts';

/** Accepted hedge. Costs are in 10^-18 of the quote currency. */
type Hedge = {
  /** Wall clock of the bot's machine at the start of the hedge, in ms. */
  readonly begunAt: number;
  /** Cost against the mid price at which it costs least, among those that the bot may have received. */
  readonly cost: bigint;
  readonly slack: bigint;
  readonly mayCost: () => boolean;
};

export type LimitsJudgeOptions = {
  readonly now: () => number;
  readonly marks: Marks;
  readonly breaks: (law: string, what: string) => void;
  /** Returns the mid price of the true book without the bot's orders; `null` if a side is empty. */
  readonly mid: () => number | null;
  /** Maximum amount of an order in the base currency; Infinity without a limit. */
  readonly orderAmountMax: number;
  readonly priceMove: { readonly bps: number; readonly windowMs: number } | undefined;
  /** Maximum age of a book that the bot may take for the newest. */
  readonly bookAgeMaxMs: number;
  /** Maximum cost of the hedges of one UTC day, in 10^-18; `null` without a limit. */
  readonly costDayMax: bigint | null;
};

/** Tolerance for a mid price that moves between two samples. */
const MID_SLACK_BPS = 5;
const DAY_MS = 86_400_000;

export class LimitsJudge {
  readonly #options: LimitsJudgeOptions;
  /** Mid prices that the bot may have sampled, oldest first. */
  readonly #mids: { readonly at: number; readonly mid: number }[] = [];
  #hedges: Hedge[] = [];

  constructor(options: LimitsJudgeOptions) {
    this.#options = options;
  }

  /** Samples the mid price. Must be called once per second. */
  sample(): void {
    const { mid, priceMove } = this.#options;
    if (priceMove === undefined) return;
    const price = mid();
    if (price !== null) this.shown(price);
  }

  /** Records a mid price that the exchange showed, which may differ from that of its true book. */
  shown(mid: number): void {
    const { now, priceMove, bookAgeMaxMs } = this.#options;
    if (priceMove === undefined) return;
    this.#mids.push({ at: now(), mid });
    while (this.#mids[0]!.at < now() - priceMove.windowMs - bookAgeMaxMs) this.#mids.shift();
  }

  /** Checks an order that the bot sends. */
  placing({ originId, major, price }: PlacedOrder): void {
    const { breaks, orderAmountMax, priceMove, mid } = this.#options;
    if (Number(major) > orderAmountMax)
      breaks('R1', `${originId} was sent for ${major}, and ${orderAmountMax} is the most of one order`);
    if (priceMove === undefined) return;
    const mids = [...this.#mids.map(each => each.mid), mid() ?? NaN].filter(each => each > 0);
    if (mids.length === 0) return;
    // A median of prices lies between the lowest and the highest of them.
    const share = (priceMove.bps + MID_SLACK_BPS) / 10_000;
    const [least, most] = [Math.min(...mids) * (1 - share), Math.max(...mids) * (1 + share)];
    if (!(Number(price) >= least && Number(price) <= most))
      breaks('M8', `${originId} at ${price} is more than ${priceMove.bps} bps from every price of its window`);
  }

  /** Checks a hedge that the bot accepts. */
  accepted(hedge: Hedge): void {
    const { breaks, costDayMax, marks } = this.#options;
    if (costDayMax === null) return;
    const before = this.#hedges.at(-1);
    // The budget begins anew on another day, also when the clock was set.
    if (before && Math.floor(before.begunAt / DAY_MS) !== Math.floor(hedge.begunAt / DAY_MS)) this.#hedges = [];
    this.#hedges.push(hedge);
    let [cost, slack] = [0n, 0n];
    for (const each of this.#hedges) {
      if (!each.mayCost()) continue;
      cost += each.cost;
      slack += each.slack;
    }
    if (cost * 2n > costDayMax) marks.see('hedges cost more than half of the limit of their day');
    if (cost > costDayMax + slack) breaks('H6', `hedges of one day cost ${cost}, and ${costDayMax} was allowed`);
  }

  /** Forgets the hedges: the disk lost some, and the bot cannot count them. */
  lost(): void {
    this.#hedges = [];
  }
}
