/**
 * Invariants of hedges by taker orders: on disk before they are sent, sent once, one at a time, and within the cost
 * limit.
 */
import type { PlacedOrder } from '../world/wire.ts';
import type { KeptHedge } from './hedgeJudge.ts';
import type { Marks } from './sometimes.ts';

/** Taker order of a hedge. Amounts and prices are in 10^-18. */
type Take = {
  readonly id: string;
  readonly sells: boolean;
  readonly major: bigint;
  /** Mid price at which the order costs least, among those that the bot may have received. */
  readonly middle: bigint;
  /** Lowest taker fee that the bot may have used, in 10^-8. */
  readonly rate: bigint;
  traded: bigint;
  /** Cost of the traded amount against `middle`, at the fee `rate`, in the quote currency. */
  cost: bigint;
  end: 'completed' | 'failed' | 'lost' | null;
};

/** Trade of a taker order. Amounts are in 10^-18. */
export type TakerTrade = { readonly id: string; readonly major: bigint; readonly minor: bigint };

export type BookHedgesOptions = {
  readonly marks: Marks;
  readonly breaks: (law: string, what: string) => void;
  /** Whether the configuration allows taker orders. */
  readonly isAllowed: boolean;
  readonly costMaxBps: number;
  /** Tolerance for a mid price that moves between two samples, added to `costMaxBps`. */
  readonly slackBps: number;
};

/** Judge of all taker orders of hedges in one run. */
export class BookHedges {
  readonly #options: BookHedgesOptions;
  readonly #takes = new Map<string, Take>();

  constructor(options: BookHedgesOptions) {
    this.#options = options;
  }

  has(id: string): boolean {
    return this.#takes.has(id);
  }

  /** Ids of the taker orders whose hedge has no final state on the bot's disk. */
  get open(): readonly string[] {
    return Array.from(this.#takes.values()).flatMap(({ id, end }) => (end === null ? [id] : []));
  }

  /**
   * Checks a taker order that the bot sends. `row` is its hedge on the bot's disk; `middles` are the mid prices that
   * the bot may have received; `takerFee` is a fraction.
   */
  taking(order: PlacedOrder, row: KeptHedge | undefined, middles: readonly bigint[], takerFee: number): Take {
    const { breaks, isAllowed, costMaxBps, slackBps } = this.#options;
    const { originId: id, side } = order;
    if (!isAllowed) breaks('M3', `${id} takes liquidity, which the configuration does not allow`);
    const [before] = this.open;
    if (before !== undefined) breaks('H2', `${id} was sent while ${before} has no end on disk`);
    const sells = side === 'sell';
    const [price, major] = [units(order.price), units(order.major)];
    // While the order waits for the request budget, its hedge may already be on disk as executing.
    if (row?.state !== 'accepted' && row?.state !== 'executing')
      breaks('H1', `${id} was sent and its hedge is on disk as ${row?.state ?? 'nothing'}`);
    else if (units(row.offer![sells ? 'give' : 'get'].amount) > major)
      breaks('H1', `${id} was sent for less than is on disk`);
    const rate = BigInt(Math.round(takerFee * Number(RATE_ONE)));
    const middle = middles.reduce((a, b) => (sells === b < a ? b : a), middles[0] ?? price);
    const { cost, fair } = costOf(sells, major, (major * price) / ONE, middle, rate);
    if (cost > (fair * BigInt(costMaxBps + slackBps)) / 10_000n)
      breaks('H5', `${id} may cost ${Number((cost * 1_000_000n) / fair) / 100} bps, ${costMaxBps} are allowed`);
    const take: Take = { id, sells, major, middle, rate, traded: 0n, cost: 0n, end: null };
    this.#takes.set(id, take);
    return take;
  }

  traded({ id, major, minor }: TakerTrade): void {
    const take = this.#takes.get(id);
    if (take === undefined) return;
    take.traded += major;
    take.cost += costOf(take.sells, major, minor, take.middle, take.rate).cost;
    this.#options.marks.see('a hedge took from the book');
    if (take.end === 'failed') this.#options.breaks('H4', `${id} traded, and the bot has its hedge as failed`);
  }

  /** Checks the final state of a hedge that the bot has written to disk. */
  ended(id: string, state: 'completed' | 'failed', why: string): void {
    const take = this.#takes.get(id);
    if (take === undefined || take.end === state || take.end === 'lost') return;
    const { breaks, marks } = this.#options;
    if (take.end !== null) breaks('H4', `the hedge of ${id} was ${take.end}, and is ${state} now`);
    take.end = state;
    if (state === 'failed' && take.traded > 0n)
      breaks('H4', `${id} traded ${take.traded}, and the bot has its hedge as failed`);
    // After a restart, the bot records a hedge as completed even if its order traded nothing. The ledger has its
    // trades.
    if (state === 'completed' && take.traded === 0n && !why.startsWith('the bot restarted'))
      breaks('H4', `${id} traded nothing, and the bot has its hedge as completed`);
    if (take.traded > 0n && take.traded < take.major) marks.see('a hedge by the book was filled in part');
    if (take.traded === 0n) marks.see('a hedge by the book traded nothing');
  }

  /** Applies a loss of disk writes: hedges `ids` are lost, and those of `left` may have lost their final state. */
  lost(ids: readonly string[], left: readonly string[]): void {
    for (const take of this.#takes.values())
      if (ids.includes(take.id)) take.end = 'lost';
      else if (left.includes(take.id)) take.end = null;
  }

  died(): void {
    if (this.open.length > 0) this.#options.marks.see('a crash with a hedge by the book under way');
  }

  checkEnd(): void {
    for (const { id, traded, end } of this.#takes.values())
      if (traded > 0n && end !== 'completed' && end !== 'lost')
        this.#options.breaks('H4', `${id} traded ${traded}, and the bot has its hedge as ${end ?? 'open'}`);
  }
}

/** Returns the cost against `middle`, and the value of the base currency given or received, both in quote currency. */
function costOf(sells: boolean, major: bigint, minor: bigint, middle: bigint, rate: bigint) {
  const net = (sum: bigint) => (sum * (RATE_ONE - rate)) / RATE_ONE;
  const fair = ((sells ? major : net(major)) * middle) / ONE;
  return { cost: sells ? fair - net(minor) : minor - fair, fair };
}

const ONE = 10n ** 18n;
const RATE_ONE = 100_000_000n;

/** Returns a decimal text as a whole number of 10^-18. */
function units(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole) * ONE + BigInt(fraction.slice(0, 18).padEnd(18, '0'));
}
