/**
 * Slow model of the bot's orders: arrays and loops without an index, and filled amounts in tenths of a lot. The model
 * shares no code with `src/core/orders`.
 */
import type { Ending, Order, OrderReport, Side } from '../../../src/core/index.ts';

export const REQUEST_DELAY = 100;
export const TRADE_DELAY = 60;
export const CANCEL_AGAIN = 25;
export const LOOK_EVERY = 20;
const MISSING_AFTER = 60_000;
/** Number of latest trades that a pending read of the book may not include yet. */
const FILLS_MAX = 64;
/** One lot, in tenths of a lot. */
export const LOT = 10;

export type ModelOrder = {
  readonly id: string;
  readonly side: Side;
  readonly price: number;
  /** Amount of the order, in lots. */
  readonly amount: number;
  readonly takes: boolean;
  readonly placedAt: number;
  /** State as in `Orders`, except that `open` includes partially filled orders. */
  at: 'intent' | 'sent' | 'open' | 'canceling' | 'unknown' | 'closed' | 'done';
  oid: string | null;
  ending: Ending | null;
  /** Sum of the trades that were applied, in tenths of a lot. */
  traded: number;
  /** Lots that the exchange reported as filled when the order was adopted. */
  readonly reported: number;
  /** Filled lots that the exchange reported at the end of the order; `null` before that report. */
  final: number | null;
  /** Time after which absence from lists counts: last answer to the placement, first sighting, or reopening. */
  since: number;
  closedAt: number;
  cancelSentAt: number;
  /** Number of cancels whose answer or failure has not come yet. */
  unanswered: number;
  isCancelAnswered: boolean;
  isMissing: boolean;
  absences: number;
  proofs: ('look-up' | 'cancel' | 'trades')[];
};

/** Row of an order in a list or a look-up. `original` is in lots; `unfilled` is in tenths of a lot. */
export type ModelReport = {
  readonly id: string | null;
  readonly oid: string;
  readonly side: Side;
  readonly price: number;
  readonly status: OrderReport['status'];
  readonly original: number;
  readonly unfilled: number;
  readonly isOtherBook: boolean;
};

/** Order in the journal that has not ended. `traded` is in tenths of a lot. */
export type ModelRow = {
  readonly id: string;
  readonly side: Side;
  readonly price: number;
  readonly amount: number;
  readonly at: number;
  readonly traded: number;
  readonly oid: string | null;
};

/** Maximum number of ended orders that are remembered, and of those that a read of the book may still show. */
export type ModelMemory = { readonly finishedMax: number; readonly justEndedMax: number };

export class OrderModel {
  readonly run: number;
  readonly memory: ModelMemory;
  /** Orders that have not ended or whose end is not settled, in the order in which they were added. */
  readonly live: ModelOrder[] = [];
  /** Ended orders, oldest end first. An order that reopened and ended again is in the list twice. */
  ends: ModelOrder[] = [];
  justEnded: ModelOrder[] = [];
  readonly news: string[] = [];
  /** Latest trades, with the whole lots that each added to the filled amount. */
  #fills: { readonly order: ModelOrder; readonly lots: number; readonly at: number }[] = [];
  /** Reads of open orders that listed unknown orders under the bot's name, with the number of these orders. */
  readonly #orphanReads: { at: number; orders: number }[] = [];
  #isDuplicate = false;
  #tradesFrom = -Infinity;
  #lookedAt = -Infinity;

  constructor(run: number, memory: ModelMemory) {
    this.run = run;
    this.memory = memory;
  }

  get(id: string): ModelOrder | undefined {
    return this.live.find(one => one.id === id) ?? this.ends.find(one => one.id === id);
  }

  byOid(oid: string): ModelOrder | undefined {
    return this.live.find(one => one.oid === oid) ?? this.ends.find(one => one.oid === oid);
  }

  place(id: string, side: Side, price: number, amount: number, takes: boolean, at: number): void {
    this.#add({ id, side, price, amount, takes, reported: 0 }, at);
  }

  restore(row: ModelRow, now: number): void {
    const { id, side, price, amount, at } = row;
    const order = this.#add({ id, side, price, amount, takes: false, reported: 0 }, at < now ? at : now);
    order.since = now;
    order.traded = row.traded;
    order.oid = row.oid;
    order.at = 'unknown';
    this.#tell('unknown', order);
  }

  send(id: string): void {
    this.#mine(id).at = 'sent';
  }

  answered(id: string, answer: 'accepted' | 'rejected' | 'exists' | 'lost', oid: string, at: number): void {
    const order = this.#mine(id);
    this.#countFrom(order, at);
    if (answer === 'accepted') {
      order.oid = oid;
      if (order.at === 'sent' || order.at === 'unknown') order.at = 'open';
      return;
    }
    if (order.oid !== null) return;
    if (answer === 'rejected') {
      if (mayLive(order) && filledOf(order) === 0) this.#end(order, 'refused');
    } else if (order.at === 'intent' || order.at === 'sent' || order.at === 'canceling') {
      order.at = 'unknown';
      this.#tell('unknown', order);
    }
  }

  cancelSent(id: string, at: number): void {
    const order = this.#mine(id);
    order.cancelSentAt = at;
    order.unanswered++;
    if (order.at === 'intent' || order.at === 'sent' || order.at === 'open') order.at = 'canceling';
  }

  /** A cancel was answered, or has failed. */
  cancelEnded(asked: readonly string[]): void {
    for (const id of asked) {
      const order = this.get(id);
      if (order !== undefined) order.unanswered = Math.max(0, order.unanswered - 1);
    }
  }

  cancelAnswered(asked: readonly string[], listed: readonly string[], startedAt: number, at: number): void {
    for (const oid of listed) {
      let order = this.byOid(oid);
      if (order === undefined && asked.length === 1)
        order = this.live.find(one => one.id === asked[0] && one.oid === null);
      if (order === undefined) continue;
      order.oid = oid;
      if (order.at === 'unknown') {
        this.#countFrom(order, at);
        this.#tell('resolved', order);
      }
      if (!mayLive(order)) continue;
      order.at = 'canceling';
      order.cancelSentAt = at;
    }
    for (const order of this.live) if (asked.includes(order.id)) order.isCancelAnswered = true;
    if (asked.length === 1 && listed.length === 0) this.#prove(asked, 'cancel', startedAt);
  }

  /** Applies a list of open orders. Returns the reason why trading must halt, or `null`. */
  listed(reports: readonly ModelReport[], isComplete: boolean, startedAt: number, at: number): string | null {
    let halt: string | null = null;
    let orphans = 0;
    for (const report of reports) {
      if (report.id === null || report.isOtherBook || this.get(report.id) !== undefined) continue;
      if (!report.id.startsWith('bot-')) continue;
      if (Number(report.id.split('-')[1]) > this.run) halt ??= 'later run';
      else if (!this.#isDuplicate) {
        orphans++;
        this.#adopt(report, at);
      }
    }
    if (orphans > 0) this.#orphanReads.push({ at, orders: orphans });
    if (this.#orphanReads.filter(read => at - read.at < 60_000).length >= 3) this.#isDuplicate = true;
    if (this.#isDuplicate) halt ??= 'duplicate';
    const shown: ModelOrder[] = [];
    for (const { id, oid } of reports) {
      const order = (id === null ? undefined : this.get(id)) ?? this.byOid(oid);
      if (order === undefined) continue;
      shown.push(order);
      this.#see(order, oid, startedAt, at);
    }
    if (isComplete) for (const order of [...this.live]) if (!shown.includes(order)) this.#absent(order, startedAt, at);
    return halt;
  }

  /** Whether another process may be about to place orders under the bot's name. */
  mayPlaceAgain(at: number): boolean {
    const recent = this.#orphanReads.filter(read => at - read.at < 60_000);
    let orders = 0;
    let last = -Infinity;
    for (const read of recent) {
      orders += read.orders;
      last = read.at;
    }
    return this.#isDuplicate || (orders > 1 && at < last + 10_000);
  }

  lookedUp(asked: readonly string[], reports: readonly ModelReport[], startedAt: number, at: number): void {
    const shown: string[] = [];
    for (const { id, oid, status, original, unfilled } of reports) {
      const order = (id === null ? undefined : this.get(id)) ?? this.byOid(oid);
      if (order === undefined) continue;
      shown.push(order.id);
      if (status !== 'completed' && status !== 'cancelled') {
        this.#see(order, oid, startedAt, at);
        continue;
      }
      order.oid = oid;
      order.final = Math.floor((original * LOT - unfilled) / LOT);
      if (order.final > order.amount) order.final = order.amount;
      if (order.at === 'unknown') this.#tell('resolved', order);
      if (mayLive(order)) this.#close(order, status === 'completed' ? 'filled' : 'canceled', at);
      else this.#settle(order);
    }
    const unseen = asked.filter(id => !shown.includes(id));
    this.#prove(unseen, 'look-up', startedAt);
  }

  tradesRead(startedAt: number): void {
    if (startedAt > this.#tradesFrom) this.#tradesFrom = startedAt;
    const all = this.live.map(({ id }) => id);
    this.#prove(all, 'trades', startedAt);
  }

  /** Returns the id of the bot's order that a trade filled; `null` if there is none. */
  ownerOf(id: string | null, oid: string): string | null {
    if (id !== null && id.startsWith('bot-')) return id;
    return this.byOid(oid)?.id ?? null;
  }

  /** Applies a trade of `tenths` of a lot; returns whether the order is known. */
  filled(id: string, oid: string, tenths: number, at: number): boolean {
    const order = this.get(id) ?? this.byOid(oid);
    if (order === undefined) return false;
    const before = order.at;
    const filled = filledOf(order);
    order.oid = oid;
    order.traded += tenths;
    this.#fills = [...this.#fills, { order, lots: filledOf(order) - filled, at }].slice(-FILLS_MAX);
    if (before === 'done') {
      this.#tell('late fill', order);
      return true;
    }
    if (filledOf(order) === order.amount) {
      if (mayLive(order)) order.closedAt = at;
      this.#end(order, order.ending ?? 'filled');
      return true;
    }
    if (before === 'intent' || before === 'sent' || before === 'unknown') order.at = 'open';
    if (before === 'unknown') {
      order.absences = 0;
      order.proofs = [];
      this.#tell('resolved', order);
    }
    this.#settle(order);
    return true;
  }

  /** Closes and settles the orders that are due at `at`. Returns the cancel and look-up commands that are due. */
  decide(at: number): string[] {
    for (const order of [...this.live]) {
      if (order.at === 'unknown' && order.absences >= 4 && order.proofs.length === 3)
        this.#close(order, 'never arrived', at);
      if (order.at !== 'closed') continue;
      const isDelayOver = this.#tradesFrom >= order.closedAt + TRADE_DELAY;
      if (isDelayOver && (order.final === null || order.reported > 0)) this.#end(order, order.ending!);
      else if (!order.isMissing && at >= order.closedAt + MISSING_AFTER) {
        order.isMissing = true;
        this.#tell('trades missing', order);
      }
    }
    const together: string[] = [];
    const single: string[] = [];
    for (const order of this.live) {
      if (!this.isCancelDue(order, at)) continue;
      if (order.at !== 'canceling' && order.at !== 'unknown') continue;
      order.cancelSentAt = at;
      order.unanswered++;
      (order.at === 'unknown' ? single : together).push(`cancel ${order.id}`);
    }
    const looks: string[] = [];
    if (at >= this.#lookedAt + LOOK_EVERY)
      for (const order of this.live) if (this.needsLookUp(order)) looks.push(`look ${order.id}`);
    if (looks.length > 0) this.#lookedAt = at;
    return [...together, ...single, ...looks];
  }

  isCancelDue(order: ModelOrder, at: number): boolean {
    const most = order.at === 'unknown' ? 1 : 2;
    return at >= order.cancelSentAt + CANCEL_AGAIN && order.unanswered < most;
  }

  needsLookUp(order: ModelOrder): boolean {
    if (order.at === 'unknown') return true;
    if (order.at === 'closed') return order.final === null;
    if (order.takes && order.oid !== null) return true;
    return order.absences > 0 || (order.at === 'canceling' && order.isCancelAnswered);
  }

  /** Returns the lots of the live orders of one side that may still be filled. */
  reserved(side: Side): number {
    let lots = 0;
    for (const order of this.live) if (order.side === side) lots += leftOf(order);
    return lots;
  }

  /** Returns the value of the live buy orders that may still be filled: ticks times lots. */
  reservedValue(): number {
    let ticks = 0;
    for (const order of this.live) if (order.side === 'buy') ticks += order.price * leftOf(order);
    return ticks;
  }

  inBookSince(startedAt: number): ModelOrder[] {
    const shown = [...this.live, ...this.justEnded].filter(one => !one.takes);
    return shown.filter(one => mayLive(one) || one.closedAt >= startedAt);
  }

  /** Returns the maximum lots of an order in a book whose read started at `startedAt`: with the fills since then. */
  lotsInBookSince(order: ModelOrder, startedAt: number): number {
    const since = this.#fills.filter(fill => fill.order === order && fill.at >= startedAt);
    return since.reduce((sum, { lots }) => sum + lots, order.amount - filledOf(order));
  }

  get areTradesMissing(): boolean {
    return this.live.some(one => one.isMissing);
  }

  #add(facts: Pick<ModelOrder, 'id' | 'side' | 'price' | 'amount' | 'takes' | 'reported'>, at: number): ModelOrder {
    const order: ModelOrder = {
      ...facts,
      ...{ at: 'intent', placedAt: at, oid: null, ending: null, traded: 0, final: null, since: at, closedAt: at },
      ...{ cancelSentAt: -Infinity, unanswered: 0, isCancelAnswered: false, isMissing: false, absences: 0, proofs: [] },
    };
    this.live.push(order);
    return order;
  }

  #adopt({ id, side, price, oid, original, unfilled }: ModelReport, at: number): void {
    const reported = Math.floor((original * LOT - unfilled) / LOT);
    const order = this.#add({ id: id!, side, price, amount: original, takes: false, reported }, at);
    order.oid = oid;
    order.at = 'open';
    this.#tell('adopted', order);
  }

  #mine(id: string): ModelOrder {
    return this.get(id)!;
  }

  /** Restarts the count of absences and proofs of an order at `at`. */
  #countFrom(order: ModelOrder, at: number): void {
    order.since = at;
    order.absences = 0;
    order.proofs = [];
  }

  #prove(ids: readonly string[], proof: 'look-up' | 'cancel' | 'trades', startedAt: number): void {
    for (const order of this.live) {
      if (!ids.includes(order.id) || order.at !== 'unknown' || startedAt < order.since + REQUEST_DELAY) continue;
      if (!order.proofs.includes(proof)) order.proofs.push(proof);
    }
  }

  #absent(order: ModelOrder, startedAt: number, at: number): void {
    if (order.at === 'unknown') {
      if (startedAt >= order.since + REQUEST_DELAY) order.absences++;
      return;
    }
    if (!mayLive(order) || order.oid === null || startedAt <= order.since) return;
    order.absences++;
    if (order.absences >= 2 && startedAt >= order.since + TRADE_DELAY) this.#close(order, 'vanished', at);
  }

  #see(order: ModelOrder, oid: string, startedAt: number, at: number): void {
    order.absences = 0;
    order.proofs = [];
    if (filledOf(order) === order.amount) return;
    if (order.oid === null) order.since = at;
    if (!mayLive(order)) {
      if (startedAt <= order.closedAt) return;
      if (order.at === 'done') this.live.push(order);
      this.justEnded = this.justEnded.filter(one => one !== order);
      order.ending = null;
      order.final = null;
      order.isMissing = false;
      order.since = at;
      order.unanswered = 0;
      this.#tell('reopened', order);
    }
    if (order.at === 'unknown') this.#tell('resolved', order);
    order.oid = oid;
    if (order.at !== 'canceling') order.at = 'open';
  }

  #close(order: ModelOrder, ending: Ending, at: number): void {
    order.ending = ending;
    order.closedAt = at;
    order.at = 'closed';
    this.#settle(order);
  }

  #settle(order: ModelOrder): void {
    if (order.at === 'closed' && order.final !== null && filledOf(order) >= order.final)
      this.#end(order, order.ending!);
  }

  #end(order: ModelOrder, ending: Ending): void {
    order.ending = ending;
    order.at = 'done';
    this.live.splice(this.live.indexOf(order), 1);
    this.ends.push(order);
    if (this.ends.length > this.memory.finishedMax) this.ends.shift();
    this.justEnded.push(order);
    if (this.justEnded.length > this.memory.justEndedMax) this.justEnded.shift();
    this.news.push(`ended ${order.id} ${ending}`);
  }

  #tell(kind: string, order: ModelOrder): void {
    this.news.push(`${kind} ${order.id}`);
  }
}

/** Returns the filled lots: whole traded lots, or the lots reported at the adoption if they are more. */
export const filledOf = ({ traded, reported }: ModelOrder): number => Math.max(Math.floor(traded / LOT), reported);
export const leftOf = (order: ModelOrder): number => (order.final ?? order.amount) - filledOf(order);
export const mayLive = (order: ModelOrder): boolean => order.at !== 'closed' && order.at !== 'done';

export const stateOf = (order: ModelOrder): Order['state'] => {
  if (order.at === 'sent') return 'sending';
  if (order.at === 'closed') return 'closed-unsettled';
  return order.at === 'open' && (order.traded > 0 || order.reported > 0) ? 'partially filled' : order.at;
};
