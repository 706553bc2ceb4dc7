/**
 * Judge of hedges on the second exchange, from the true state of both: each order is on disk first and leaves once, the
 * worst inventory stays within b + (m+1)L and b + debtMax, and in the end ledger and rows are what both exchanges have.
 */
import { isAtPlace, moneyOf, sumOfCauses, type Causes } from '../../../src/core/index.ts';
import { isOver, mayStillExecute, type HedgeRow } from '../../../src/hedge/index.ts';
import type { EmbeddedExchange, SecondExchange } from '../../../src/sandbox/index.ts';
import type { SentElsewhere } from '../world/elsewhereWorld.ts';

export type ElsewhereJudgeOptions = {
  readonly here: { readonly exchange: EmbeddedExchange; readonly id: string };
  readonly there: { readonly exchange: SecondExchange; readonly id: string };
  /** Name of the second exchange in the ledger. */
  readonly place: string;
  readonly major: string;
  readonly minor: string;
  /** Maximum drift, in 10^-18 of the quote currency, which is the same on both exchanges. */
  readonly driftMax: bigint;
  readonly breaks: (law: string, what: string) => void;
  /** Hedges on disk. */
  readonly kept: () => readonly HedgeRow[];
  /** Open lots of the bot's live orders on one side, in 10^-18 of the base currency. */
  readonly live: (side: Side) => bigint;
  /** Bounds in 10^-18 of the base currency; `fullSide` is the largest sum of one side's levels. */
  readonly bounds: { readonly band: bigint; readonly debtMax: bigint; readonly failuresMax: number };
  readonly fullSide: bigint;
};

type Side = 'buy' | 'sell';
const SIDES = ['buy', 'sell'] as const;

export type ElsewhereCounts = {
  readonly sent: number;
  readonly filled: number;
  readonly partial: number;
  readonly failed: number;
  /** Largest worst inventory of a side, as a share of its bound. */
  readonly worst: number;
};

export class ElsewhereJudge {
  readonly #o: ElsewhereJudgeOptions;
  readonly #sent = new Map<string, SentElsewhere>();
  /** Orders whose request left and whose end is not on disk, and which the exchange has not received. */
  readonly #underWay = new Set<string>();
  readonly #target: bigint;
  readonly #openedThere: bigint;
  readonly #most: bigint;
  readonly #ended = new Map<string, HedgeRow>();
  readonly #minorOpened: bigint;
  /** Value of the largest order that was sent, in 10^-18 of the quote currency. */
  #largest = 0n;
  #worst = 0;

  constructor(options: ElsewhereJudgeOptions) {
    this.#o = options;
    this.#target = this.#held();
    this.#openedThere = this.#heldThere;
    this.#minorOpened = this.#minorThere;
    const { band, debtMax, failuresMax } = options.bounds;
    const byFailures = BigInt(failuresMax + 1) * options.fullSide;
    this.#most = band + (byFailures < debtMax ? byFailures : debtMax) + TOLERANCE;
  }

  /** E1 to E3: an order leaves once, with its row on disk, while no other may still execute. */
  sent(order: SentElsewhere): void {
    const { breaks, kept } = this.#o;
    const { id } = order;
    if (this.#sent.has(id)) breaks('E1', `${id} was sent twice`);
    this.#sent.set(id, order);
    this.#underWay.add(id);
    const value = (moneyOf(order.price) * moneyOf(order.amount)) / UNIT;
    if (value > this.#largest) this.#largest = value;
    const row = kept().find(({ elsewhere }) => elsewhere?.order.id === id);
    const stored = row?.elsewhere?.order;
    const isSame =
      stored !== undefined &&
      stored.side === order.side &&
      moneyOf(stored.price) === moneyOf(order.price) &&
      moneyOf(stored.amount) === moneyOf(order.amount);
    if (row === undefined || !mayStillExecute(row) || !isSame)
      breaks('E2', `${id} left, and on disk is ${row === undefined ? 'no row' : JSON.stringify(row)}`);
    const other = kept().find(each => each !== row && mayStillExecute(each));
    if (other) breaks('E3', `${id} left while ${other.id} may still execute`);
  }

  /** Rows on disk after a change. */
  kept(rows: readonly HedgeRow[]): void {
    for (const row of rows) {
      const id = row.elsewhere?.order.id;
      if (id === undefined || !isOver(row)) continue;
      this.#underWay.delete(id);
      this.#ended.set(id, row);
    }
  }

  /** Base currency that orders there have moved, in 10^-18. */
  get moved(): bigint {
    return this.#heldThere - this.#openedThere;
  }

  /** What orders under way may still add and take. */
  inFlight(): Readonly<Record<Side, bigint>> {
    const sums = { buy: 0n, sell: 0n };
    for (const id of this.#underWay) {
      const { side, amount } = this.#sent.get(id)!;
      if (this.#trueOrder(id) === undefined) sums[side] += moneyOf(amount);
      else this.#underWay.delete(id);
    }
    return sums;
  }

  /** E4 and E7, after each event. */
  look(): void {
    const { driftMax, breaks } = this.#o;
    const drift = this.#minorThere - this.#minorOpened;
    // An order that is sent within the limit may pass it, at a price that is better than its own.
    const most = driftMax + (this.#largest * 101n) / 100n;
    if (drift > most || -drift > most)
      breaks('E7', `the quote currency there has drifted by ${drift}, and the limit is ${driftMax}`);
    const inventory = this.#held() - this.#target;
    const inFlight = this.inFlight();
    for (const side of SIDES) {
      const worst = (side === 'buy' ? inventory : -inventory) + this.#o.live(side) + inFlight[side];
      this.#worst = Math.max(this.#worst, Number((worst * 1_000n) / this.#most) / 1_000);
      if (worst > this.#most)
        breaks('E4', `if every ${side} fills, inventory is ${worst} beyond its target; the bound is ${this.#most}`);
    }
  }

  /** E5 and E6, once everything is quiet: rows and ledger are what the second exchange has. */
  checkEnd(causes: ReadonlyMap<string, Causes> | null): void {
    const { there, place, breaks } = this.#o;
    for (const id of this.#sent.keys()) {
      const filled = this.#trueOrder(id)?.filled ?? 0n;
      const row = this.#ended.get(id);
      const says = row?.state === 'completed';
      if (row === undefined || says !== filled > 0n)
        breaks('E5', `${id} filled ${filled} lots, and its hedge is ${row?.state ?? 'not over'}`);
    }
    if (causes === null) return;
    const account = there.exchange.venue.accounts.get(there.id)!;
    const names = new Set([...account.currencies()]);
    for (const name of causes.keys()) if (isAtPlace(name, place)) names.add(name.slice(0, -place.length - 1));
    for (const name of names) {
      const row = causes.get(`${name}@${place}`);
      const [booked, truth] = [row ? sumOfCauses(row) : 0n, account.total(name)];
      if (booked !== truth) breaks('E6', `${name}@${place}: the exchange has ${truth}, the ledger ${booked}`);
    }
  }

  get counts(): ElsewhereCounts {
    const rows = [...this.#ended.values()];
    return {
      sent: this.#sent.size,
      filled: rows.filter(({ state, why }) => state === 'completed' && why === null).length,
      partial: rows.filter(({ state, why }) => state === 'completed' && why !== null).length,
      failed: rows.filter(({ state }) => state === 'failed').length,
      worst: this.#worst,
    };
  }

  #held(): bigint {
    const { here, major } = this.#o;
    return here.exchange.venue.accounts.get(here.id)!.total(major) + this.#heldThere;
  }

  get #minorThere(): bigint {
    const { there, minor } = this.#o;
    return there.exchange.venue.accounts.get(there.id)!.total(minor);
  }

  get #heldThere(): bigint {
    const { there, major } = this.#o;
    return there.exchange.venue.accounts.get(there.id)!.total(major);
  }

  #trueOrder(id: string): { readonly filled: bigint } | undefined {
    const { exchange, id: accountId } = this.#o.there;
    const account = exchange.venue.accounts.get(accountId)!;
    const order = account.activeOrigins.get(id) ?? account.finishedOrigins.get(id)?.at(-1);
    return order && { filled: BigInt(order.filled) };
  }
}

const UNIT = 10n ** 18n;
/** Fees in the base currency, and fractions of a lot, in 10^-18: one hundredth of a smallest order. */
const TOLERANCE = 10n ** 12n;
