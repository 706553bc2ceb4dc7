/** Executions of which our end hears later than an answer would take: held back, with all that is told of the same order after them, until a notice or a read tells. */
import { MESSAGE } from '../exchange/messages.ts';
import type { MessageKind } from '../exchange/messages.ts';
import type { OwnOrder } from '../exchange/ownOrders.ts';
import type { Travel } from '../rows/latency.ts';
import type { Millis } from '../../src/core/index.ts';

/** Longer ones are cut to this: after the end of a tape everything must still be told. */
const NOTICE_MAX_MS = 60_000;

type Told = { readonly kind: MessageKind; readonly order: OwnOrder; readonly sent: Millis };

/** Notices do not overtake each other, and no other word of an order overtakes them: we never learn its end before its fills. */
export class FillNotices<Message extends Told> {
  readonly #travel: Travel | null;
  #held: { readonly at: Millis; readonly message: Message }[] = [];
  #lastAt = -Infinity;
  /** The next moment at which one is due; Infinity for none. */
  dueAt = Infinity;

  /** Null: everything is heard of when it arrives. */
  constructor(travel: Travel | null) {
    this.#travel = travel;
  }

  /** Of a message that has arrived: whether it must wait. */
  keepsBack(message: Message, now: Millis): boolean {
    if (this.#travel === null) return false;
    const before = this.#held.findLast(({ message: { order } }) => order === message.order)?.at ?? -Infinity;
    let at = Math.max(now, before);
    if (message.kind === MESSAGE.filled) {
      at = Math.max(at, this.#lastAt, message.sent + Math.min(this.#travel(message.sent), NOTICE_MAX_MS));
      this.#lastAt = at;
    }
    if (at <= now && before === -Infinity) return false;
    this.#held.push({ at, message });
    this.dueAt = Math.min(this.dueAt, at);
    return true;
  }

  /** Somebody asked by himself, and hears of all that has arrived. */
  hurry(now: Millis): void {
    if (this.#held.length > 0) this.dueAt = now;
  }

  /** What is heard by now, in the order in which it arrived: the first notice that is due has our end read the account, which tells all the others. */
  due(now: Millis): readonly Message[] {
    if (this.dueAt > now) return [];
    const told = this.#held.map(({ message }) => message);
    this.#held = [];
    this.#lastAt = Math.min(this.#lastAt, now);
    this.dueAt = Infinity;
    return told;
  }
}
