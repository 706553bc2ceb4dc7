/** The rules of `Orders` said as plainly as possible, for one order after another: slow, without any list of its own. */
import type { Ending, Order, OrderReport, Side } from '../../../src/core/index.ts';

export const REQUEST_DELAY = 100;
export const TRADE_DELAY = 60;
export const CANCEL_AGAIN = 25;
const MISSING_AFTER = 60_000;

type ModelOrder = {
  readonly id: string;
  readonly side: Side;
  readonly amount: number;
  readonly takes: boolean;
  /** The states of `Orders`; a fill is read from `filled`. */
  at: 'sent' | 'open' | 'canceling' | 'unknown' | 'closed' | 'done';
  oid: string | null;
  ending: Ending | null;
  traded: number;
  reported: number;
  /** Filled amount at the end, once the exchange has told it. */
  final: number | null;
  /** From when absence counts: the last answer to the placement, or the first sighting. */
  since: number;
  closedAt: number;
  cancelSentAt: number;
  isCancelAnswered: boolean;
  isMissing: boolean;
  absences: number;
  proofs: Set<'look-up' | 'cancel' | 'trades'>;
};

export class OrderModel {
  readonly all: ModelOrder[] = [];
  readonly live: ModelOrder[] = [];
  readonly ended: ModelOrder[] = [];
  readonly news: string[] = [];
  #tradesFrom = -Infinity;

  add(id: string, side: Side, amount: number, at: number, more: Partial<ModelOrder> = {}): ModelOrder {
    const order: ModelOrder = {
      ...{ id, side, amount, takes: false, at: 'sent', oid: null, ending: null, traded: 0, reported: 0, final: null },
      ...{ since: at, closedAt: at, cancelSentAt: -Infinity, isCancelAnswered: false, isMissing: false, absences: 0 },
      ...{ proofs: new Set(), ...more },
    };
    this.all.push(order);
    this.live.push(order);
    if (order.at === 'unknown') this.#tell('unknown', order);
    if (order.reported > 0 || order.at === 'open') this.#tell('adopted', order);
    return order;
  }

  answered(order: ModelOrder, answer: 'accepted' | 'rejected' | 'lost', at: number): void {
    this.#from(order, at);
    if (answer === 'accepted') {
      order.oid = oidOf(order);
      if (order.at === 'sent' || order.at === 'unknown') order.at = 'open';
    } else if (order.oid === null && answer === 'rejected') {
      if (mayLive(order) && filledOf(order) === 0) this.#end(order, 'refused');
    } else if (order.oid === null && (order.at === 'sent' || order.at === 'canceling')) {
      order.at = 'unknown';
      this.#tell('unknown', order);
    }
  }

  cancelSent(order: ModelOrder, at: number): void {
    order.cancelSentAt = at;
    if (order.at === 'sent' || order.at === 'open') order.at = 'canceling';
  }

  cancelAnswered(asked: readonly ModelOrder[], listed: readonly string[], startedAt: number, at: number): void {
    for (const oid of listed) {
      const [only] = asked.length === 1 && this.live.includes(asked[0]!) && asked[0]!.oid === null ? asked : [];
      const order = this.all.find(one => one.oid === oid) ?? only;
      if (order === undefined) continue;
      order.oid = oid;
      if (order.at === 'unknown') {
        this.#from(order, at);
        this.#tell('resolved', order);
      }
      if (!mayLive(order)) continue;
      order.at = 'canceling';
      order.cancelSentAt = at;
    }
    for (const order of asked) if (order.at !== 'done') order.isCancelAnswered = true;
    if (asked.length === 1 && listed.length === 0) this.#prove(asked[0]!, 'cancel', startedAt);
  }

  read(shown: readonly ModelOrder[], isComplete: boolean, startedAt: number, at: number): void {
    for (const order of shown) this.#see(order, startedAt, at);
    if (!isComplete) return;
    for (const order of this.live.filter(one => !shown.includes(one))) {
      if (order.at === 'unknown' && startedAt >= order.since + REQUEST_DELAY) order.absences++;
      if (order.at === 'unknown' || !mayLive(order) || order.oid === null || startedAt <= order.since) continue;
      order.absences++;
      if (order.absences >= 2 && startedAt >= order.since + TRADE_DELAY) this.#close(order, 'vanished', at);
    }
  }

  lookedUp(
    asked: readonly ModelOrder[],
    found: readonly { order: ModelOrder; status: OrderReport['status']; filled: number }[],
    startedAt: number,
    at: number,
  ): void {
    for (const { order, status, filled } of found) {
      if (status !== 'completed' && status !== 'cancelled') {
        this.#see(order, startedAt, at);
        continue;
      }
      order.oid = oidOf(order);
      order.final = filled;
      if (order.at === 'unknown') this.#tell('resolved', order);
      if (mayLive(order)) this.#close(order, status === 'completed' ? 'filled' : 'canceled', at);
      else this.#settle(order);
    }
    for (const order of asked) if (!found.some(one => one.order === order)) this.#prove(order, 'look-up', startedAt);
  }

  tradesRead(startedAt: number): void {
    this.#tradesFrom = Math.max(this.#tradesFrom, startedAt);
    for (const order of this.live) this.#prove(order, 'trades', startedAt);
  }

  filled(order: ModelOrder, lots: number, at: number): void {
    const was = order.at;
    order.oid = oidOf(order);
    order.traded += lots;
    if (was === 'done') return this.#tell('late fill', order);
    if (filledOf(order) === order.amount) {
      if (mayLive(order)) order.closedAt = at;
      return this.#end(order, order.ending ?? 'filled');
    }
    if (was === 'sent' || was === 'unknown') order.at = 'open';
    if (was === 'unknown') this.#tell('resolved', order);
    this.#settle(order);
  }

  tick(at: number): void {
    for (const order of [...this.live]) {
      const isGone = order.at === 'unknown' && order.absences >= 4 && order.proofs.size === 3;
      if (isGone) this.#close(order, 'never arrived', at);
      if (order.at !== 'closed') continue;
      const isTimeOver = this.#tradesFrom >= order.closedAt + TRADE_DELAY;
      if (isTimeOver && (order.final === null || order.reported > 0)) this.#end(order, order.ending!);
      else if (!order.isMissing && at >= order.closedAt + MISSING_AFTER) {
        order.isMissing = true;
        this.#tell('trades missing', order);
      }
    }
  }

  needsLookUp(order: ModelOrder): boolean {
    if (order.at === 'unknown') return true;
    if (order.at === 'closed') return order.final === null;
    return (
      (order.takes && order.oid !== null) || order.absences > 0 || (order.at === 'canceling' && order.isCancelAnswered)
    );
  }

  reserved(side: Side): number {
    const left = this.live.filter(one => one.side === side).map(one => (one.final ?? one.amount) - filledOf(one));
    return left.reduce((sum, lots) => sum + lots, 0);
  }

  inBookSince(startedAt: number): ModelOrder[] {
    const shown = [...this.live, ...this.ended].filter(one => !one.takes);
    return shown.filter(one => mayLive(one) || one.closedAt >= startedAt);
  }

  get areTradesMissing(): boolean {
    return this.live.some(one => one.isMissing);
  }

  /** Absence counts from now, and none from before. */
  #from(order: ModelOrder, at: number): void {
    order.since = at;
    order.absences = 0;
    order.proofs.clear();
  }

  #prove(order: ModelOrder, proof: 'look-up' | 'cancel' | 'trades', startedAt: number): void {
    if (order.at === 'unknown' && startedAt >= order.since + REQUEST_DELAY) order.proofs.add(proof);
  }

  #see(order: ModelOrder, startedAt: number, at: number): void {
    order.absences = 0;
    order.proofs.clear();
    if (filledOf(order) === order.amount) return;
    if (order.oid === null) order.since = at;
    if (!mayLive(order)) {
      if (startedAt <= order.closedAt) return;
      if (order.at === 'done') this.live.push(...this.ended.splice(this.ended.indexOf(order), 1));
      order.ending = null;
      order.final = null;
      order.isMissing = false;
      order.since = at;
      this.#tell('reopened', order);
    }
    if (order.at === 'unknown') this.#tell('resolved', order);
    order.oid = oidOf(order);
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
    this.ended.push(...this.live.splice(this.live.indexOf(order), 1));
    this.news.push(`ended ${order.id} ${ending}`);
  }

  #tell(kind: string, order: ModelOrder): void {
    this.news.push(`${kind} ${order.id}`);
  }
}

export const oidOf = ({ id }: { readonly id: string }): string => `oid-${id}`;
export const filledOf = (order: ModelOrder): number => Math.max(order.traded, order.reported);
const mayLive = (order: ModelOrder): boolean => order.at !== 'closed' && order.at !== 'done';

export const stateOf = (order: ModelOrder): Order['state'] => {
  if (order.at === 'sent') return 'sending';
  if (order.at === 'closed') return 'closed-unsettled';
  return order.at === 'open' && filledOf(order) > 0 ? 'partially filled' : order.at;
};
