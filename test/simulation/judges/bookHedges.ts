/** Invariants of hedges by taker orders: on disk first, sent once, never beside another hedge, within the limit of costs, and told as they ended. */
import type { PlacedOrder } from '../world/wire.ts';
import type { KeptHedge } from './hedgeJudge.ts';
import type { Marks } from './sometimes.ts';

/** Sums in units of 10^-18. */
type Take = {
  readonly id: string;
  readonly sells: boolean;
  readonly major: bigint;
  /** The mid price that makes it cheapest, of those that the bot may have seen. */
  readonly middle: bigint;
  /** Fee as the bot may have known it, in 10^-8. */
  readonly rate: bigint;
  traded: bigint;
  /** Cost of what was traded, at the fee that was known. */
  cost: bigint;
  end: 'completed' | 'failed' | 'lost' | null;
};

/** Trade of a taker order, in 10^-18. */
export type TakerTrade = { readonly id: string; readonly major: bigint; readonly minor: bigint };

export type BookHedgesOptions = {
  readonly marks: Marks;
  readonly breaks: (law: string, what: string) => void;
  /** Whether the configuration allows taker orders. */
  readonly isAllowed: boolean;
  readonly costMaxBps: number;
  /** Tolerance for a mid price that moves between two samples. */
  readonly slackBps: number;
};

export class BookHedges {
  readonly #options: BookHedgesOptions;
  readonly #takes = new Map<string, Take>();

  constructor(options: BookHedgesOptions) {
    this.#options = options;
  }

  has(id: string): boolean {
    return this.#takes.has(id);
  }

  /** Taker orders that have no end on the bot's disk. */
  get open(): readonly string[] {
    return Array.from(this.#takes.values()).flatMap(({ id, end }) => (end === null ? [id] : []));
  }

  /** A taker order leaves the bot. `middles`: all mid prices that the bot may have seen; `row`: the hedge on the bot's disk. */
  taking(order: PlacedOrder, row: KeptHedge | undefined, middles: readonly bigint[], takerFee: number): Take {
    const { breaks, isAllowed, costMaxBps, slackBps } = this.#options;
    const { originId: id, side } = order;
    if (!isAllowed) breaks('M3', `${id} takes liquidity, which the configuration does not allow`);
    const [before] = this.open;
    if (before !== undefined) breaks('H2', `${id} was sent while ${before} has no end on disk`);
    const sells = side === 'sell';
    const [price, major] = [units(order.price), units(order.major)];
    // It waits for its place in the budget, and may be on disk as on its way by then.
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

  /** The bot has the end of the hedge on disk. */
  ended(id: string, state: 'completed' | 'failed', why: string): void {
    const take = this.#takes.get(id);
    if (take === undefined || take.end === state || take.end === 'lost') return;
    const { breaks, marks } = this.#options;
    if (take.end !== null) breaks('H4', `the hedge of ${id} was ${take.end}, and is ${state} now`);
    take.end = state;
    if (state === 'failed' && take.traded > 0n)
      breaks('H4', `${id} traded ${take.traded}, and the bot has its hedge as failed`);
    // After a restart the bot leaves it to the ledger whether the order has traded.
    if (state === 'completed' && take.traded === 0n && !why.startsWith('the bot restarted'))
      breaks('H4', `${id} traded nothing, and the bot has its hedge as completed`);
    if (take.traded > 0n && take.traded < take.major) marks.see('a hedge by the book was filled in part');
    if (take.traded === 0n) marks.see('a hedge by the book traded nothing');
  }

  /** A disk that lied has lost these hedges, and of those that are left perhaps the end. */
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

/** The cost against `middle`, and the value of what is given or received of the major currency. */
function costOf(sells: boolean, major: bigint, minor: bigint, middle: bigint, rate: bigint) {
  const net = (sum: bigint) => (sum * (RATE_ONE - rate)) / RATE_ONE;
  const fair = ((sells ? major : net(major)) * middle) / ONE;
  return { cost: sells ? fair - net(minor) : minor - fair, fair };
}

const ONE = 10n ** 18n;
const RATE_ONE = 100_000_000n;

/** Decimal text in units of 10^-18. */
function units(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole) * ONE + BigInt(fraction.slice(0, 18).padEnd(18, '0'));
}
