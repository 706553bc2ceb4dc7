/**
 * Judge of hedges on the second exchange, from the true state of both: each order is on disk first and leaves once, the
 * worst inventory stays within b + (m+1)L and b + debtMax, waits are kept, sides without funds there are not quoted, and
 * in the end ledger and rows are what both exchanges have.
 */
import {
  isAtPlace,
  moneyOf,
  sumOfCauses,
  TRANSIT,
  type Causes,
  type Millis,
  type WireReply,
} from '../../../src/core/index.ts';
import { isOver, mayStillExecute, type HedgeRow } from '../../../src/hedge/index.ts';
import type { EmbeddedExchange, SecondExchange } from '../../../src/sandbox/index.ts';
import type { Life } from '../processes/life.ts';
import type { Persons, SentElsewhere, Witness } from '../world/elsewhereWorld.ts';

/** Conditions that a campaign with a second exchange must show at least once. */
export const ELSEWHERE_SOMETIMES = [
  'a side was not quoted for lack of funds there',
  'a hedge was refused for lack of funds there',
  'a transfer between both exchanges was booked',
  'a hedge was sent while a person had locked funds there',
  'the bot was told to wait for the request budget there',
  'a hedge waited for the request budget',
  'a hedge was sent in another quote currency',
] as const;
export type ElsewhereSometime = (typeof ELSEWHERE_SOMETIMES)[number];

export type ElsewhereJudgeOptions = {
  readonly here: { readonly exchange: EmbeddedExchange; readonly id: string };
  readonly there: { readonly exchange: SecondExchange; readonly id: string };
  /** Name of the second exchange in the ledger. */
  readonly place: string;
  readonly major: string;
  readonly minor: string;
  /** Maximum drift, in 10^-18 of the quote currency of the bot's book. */
  readonly driftMax: bigint;
  /** Value of one unit of `minor`, in 10^-18 of the quote currency of the bot's book; 0 if unknown. */
  readonly rate: () => bigint;
  /** Mid price of the bot's book, in 10^-18 of its quote currency; `null` if unknown. */
  readonly mid: () => bigint | null;
  /** Money of a currency that persons have moved or locked in the account there. */
  readonly persons: (currency: string) => Persons;
  /** Whether an order may be rejected without a reason. */
  readonly hasRejects: boolean;
  readonly now: () => Millis;
  /** Number of the bot's present life. */
  readonly life: () => number;
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
  readonly sometimes: Readonly<Partial<Record<ElsewhereSometime, number>>>;
};

/** Order that is on disk and has not left yet. */
type Waiting = { readonly at: Millis; readonly life: number };
/** Ends of the waits that a life was told, for all requests and for orders, by its own clock. */
type Waits = { readonly heardAt: Millis; readonly all: Millis; readonly orders: Millis };
/** Funds that persons leave there, from `at` on, by the clock of `#quietMs`. */
type Left = { readonly at: Millis; readonly base: bigint; readonly quote: bigint };

export class ElsewhereJudge implements Witness {
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
  readonly #sometimes = new Map<ElsewhereSometime, number>();
  readonly #waiting = new Map<string, Waiting>();
  /** Reads that left while an order waited, by the order, until it leaves or time passes. */
  readonly #ahead = new Map<string, { readonly at: Millis; readonly what: string }>();
  readonly #waits = new Map<number, Waits>();
  /** Lives whose requests were refused since the exchange last answered otherwise; `null` if not all of them heard it. */
  #refused: Set<number> | null = new Set();
  /** Time in which no order there was open, in ms. */
  #quietMs: Millis = 0;
  #lookedAt: Millis = 0;
  #left: Left[] = [];

  constructor(options: ElsewhereJudgeOptions) {
    this.#o = options;
    this.#target = this.#held();
    this.#openedThere = this.#heldThere;
    this.#minorOpened = this.#minorThere;
    const { band, debtMax, failuresMax } = options.bounds;
    const byFailures = BigInt(failuresMax + 1) * options.fullSide;
    this.#most = band + (byFailures < debtMax ? byFailures : debtMax) + TOLERANCE;
  }

  see(what: ElsewhereSometime): void {
    this.#sometimes.set(what, (this.#sometimes.get(what) ?? 0) + 1);
  }

  /** E8 and E9: nothing leaves before the end of a wait that was told, and no read before an order that waits. */
  asking(life: Life, path: string, order: SentElsewhere | null): void {
    const { breaks } = this.#o;
    const at = life.clock.elapsed();
    const waits = this.#waits.get(life.number) ?? NO_WAITS;
    const until = order === null ? waits.all : Math.max(waits.all, waits.orders);
    // A request that leaves at the moment of the answer was under way before the answer was heard.
    if (at < until - 1 && at > waits.heardAt)
      breaks('E8', `${path} left ${(until - at).toFixed(0)} ms before the end of a wait`);
    if (order !== null) return this.#sends(order);
    // The sources of the rate read books with a budget of their own.
    const isOfPrices = this.#o.minor === 'usdt' && path.endsWith('/depth');
    if (path.endsWith('/time') || isOfPrices || at < waits.orders) return;
    for (const [id, { at: since, life: number }] of this.#waiting)
      if (number === life.number && this.#o.now() > since && !this.#ahead.has(id))
        this.#ahead.set(id, {
          at: this.#o.now(),
          what: `${path} left while ${id} waited since ${(this.#o.now() - since).toFixed(0)} ms`,
        });
  }

  /** E8: a life that has heard of a limit gets no ban. */
  served({ number }: Life, reply: WireReply, order: SentElsewhere | null, isThrottled: boolean): void {
    const { hasRejects, breaks } = this.#o;
    const isInsufficient = order !== null && reply.status === 400 && reply.body.includes('-2010');
    if (isInsufficient && !hasRejects) this.see('a hedge was refused for lack of funds there');
    if (isThrottled || !isLimit(reply)) {
      this.#refused = new Set();
      return;
    }
    this.#refused?.add(number);
    if (reply.status === 418 && this.#refused !== null && this.#refused.size < 2 && this.#waits.has(number))
      breaks('E8', `life ${number} was banned`);
  }

  answered({ number, clock }: Life, reply: WireReply): void {
    const seconds = Number(reply.headers['retry-after'] ?? 0);
    if ((reply.status !== 429 && reply.status !== 418) || !(seconds > 0)) return;
    const { all, orders } = this.#waits.get(number) ?? NO_WAITS;
    const until = clock.elapsed() + seconds * 1_000;
    const isOfOrders = reply.body.includes('-1015');
    if (!isOfOrders) this.see('the bot was told to wait for the request budget there');
    this.#waits.set(number, {
      heardAt: clock.elapsed(),
      all: isOfOrders ? all : Math.max(all, until),
      orders: isOfOrders ? Math.max(orders, until) : orders,
    });
  }

  /** E1 to E3: an order leaves once, with its row on disk, while no other may still execute. */
  #sends(order: SentElsewhere): void {
    const { breaks, kept, minor, major, persons, now } = this.#o;
    const { id } = order;
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined && now() > waiting.at) this.see('a hedge waited for the request budget');
    this.#waiting.delete(id);
    // Both left at once, such as after the answer with the time of the exchange.
    if (this.#ahead.get(id)?.at === now()) this.#ahead.delete(id);
    if (minor === 'usdt') this.see('a hedge was sent in another quote currency');
    if ([major, minor].some(currency => persons(currency).locked > 0n))
      this.see('a hedge was sent while a person had locked funds there');
    if (this.#sent.has(id)) breaks('E1', `${id} was sent twice`);
    this.#sent.set(id, order);
    this.#underWay.add(id);
    const value = this.#worth((moneyOf(order.price) * moneyOf(order.amount)) / UNIT);
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
      if (id === undefined) continue;
      const isNew = !this.#sent.has(id) && !this.#ended.has(id) && !this.#waiting.has(id);
      if (isNew && !isOver(row)) this.#waiting.set(id, { at: this.#o.now(), life: this.#o.life() });
      if (!isOver(row)) continue;
      this.#waiting.delete(id);
      this.#underWay.delete(id);
      this.#ended.set(id, row);
    }
  }

  /** E10: an order of the bot's book adds no inventory that the funds there could not hedge. */
  placing(side: Side, amount: bigint): void {
    const { mid, rate, major, minor, bounds, breaks } = this.#o;
    const price = mid();
    this.#look();
    const most = this.#left.reduce((a, b) => ({
      at: 0,
      base: a.base > b.base ? a.base : b.base,
      quote: a.quote > b.quote ? a.quote : b.quote,
    }));
    const now = this.#leftNow();
    const held = side === 'buy' ? this.#heldThere - now.base + most.base : this.#minorThere - now.quote + most.quote;
    if (side === 'sell' && (price === null || price === 0n || rate() === 0n)) return;
    // The bot's prices may be older than these.
    const funds = side === 'buy' ? held : (held * rate() * 100n) / (price! * 98n);
    const worst = this.#worstOf(side) + amount;
    const most10 = bounds.band + (funds > 0n ? funds : 0n) + LOT;
    if (worst > most10)
      breaks(
        'E10',
        `a ${side} leads to inventory ${worst} beyond its target, and the ${side === 'buy' ? major : minor} there hedges ${funds} beyond ${bounds.band}`,
      );
  }

  /** Base currency that orders there have moved, in 10^-18. */
  get moved(): bigint {
    return this.#heldThere - this.#openedThere - this.#o.persons(this.#o.major).net;
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
    const { driftMax, breaks, persons, minor } = this.#o;
    this.#look();
    for (const [id, { at, what }] of this.#ahead) {
      if (at === this.#o.now()) continue;
      this.#ahead.delete(id);
      breaks('E9', what);
    }
    const { net } = persons(minor);
    const drift = this.#worth(this.#minorThere - this.#minorOpened - net);
    const moved = this.#worth(net);
    // An order that is sent within the limit may pass it, at a price that is better than its own. What persons move also
    // counts as drift. The value of another currency may have changed since.
    const slack = (this.#largest * 101n) / 100n + (moved < 0n ? -moved : moved);
    const most = ((driftMax + slack) * (minor === 'usdt' ? 102n : 100n)) / 100n;
    if (drift > most || -drift > most)
      breaks('E7', `the quote currency there has drifted by ${drift}, and the limit is ${driftMax}`);
    for (const side of SIDES) {
      const worst = this.#worstOf(side);
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
    for (const [name, row] of causes) {
      if (!isAtPlace(name, TRANSIT)) continue;
      const { onItsWay } = this.#o.persons(name.slice(0, -TRANSIT.length - 1));
      const booked = sumOfCauses(row);
      if (booked !== onItsWay) breaks('E6', `${name}: ${onItsWay} are on their way, the ledger has ${booked}`);
      this.see('a transfer between both exchanges was booked');
    }
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
      sometimes: Object.fromEntries(this.#sometimes),
    };
  }

  /** Inventory beyond its target if all live orders of a side fill and all orders under way there execute. */
  #worstOf(side: Side): bigint {
    const inventory = this.#held() - this.#target;
    return (side === 'buy' ? inventory : -inventory) + this.#o.live(side) + this.inFlight()[side];
  }

  /** Value of a sum of the quote currency there, in that of the bot's book. */
  #worth(sum: bigint): bigint {
    return (sum * this.#o.rate()) / UNIT;
  }

  /** Remembers what persons have left there for as long as the bot may not know of a change. */
  #look(): void {
    const now = this.#o.now();
    const isOpen = this.#o.kept().some(mayStillExecute);
    if (!isOpen) this.#quietMs += now - this.#lookedAt;
    this.#lookedAt = now;
    const next = this.#leftNow();
    const last = this.#left.at(-1);
    if (last === undefined || last.base !== next.base || last.quote !== next.quote) this.#left.push(next);
    // The newest one that is old enough still held when the time began.
    while (this.#left.length > 1 && this.#left[1]!.at < this.#quietMs - KNOWN_WITHIN_MS) this.#left.shift();
  }

  #leftNow(): Left {
    const { persons, major, minor } = this.#o;
    const of = (currency: string) => persons(currency).net - persons(currency).locked;
    return { at: this.#quietMs, base: of(major), quote: of(minor) };
  }

  #held(): bigint {
    const { here, major } = this.#o;
    const { onItsWay } = this.#o.persons(major);
    return here.exchange.venue.accounts.get(here.id)!.total(major) + this.#heldThere + onItsWay;
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
const NO_WAITS: Waits = { heardAt: -Infinity, all: -Infinity, orders: -Infinity };
/** Largest time until the bot knows of money that persons have taken, unless a hedge is open. */
const KNOWN_WITHIN_MS: Millis = 120_000;
const LOT = 10n ** 13n;
/** Whether an answer says that the request budget is used up. */
const isLimit = ({ status, body }: WireReply): boolean => (status === 429 || status === 418) && body.includes('-1003');
/** Fees in the base currency, and fractions of a lot, in 10^-18: one hundredth of a smallest order. */
const TOLERANCE = 10n ** 12n;
