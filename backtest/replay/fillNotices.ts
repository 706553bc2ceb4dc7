/**
 * Delayed fill notices. Executions, and all later messages about an executed order, wait until a notice or a read of
 * the account delivers them.
 */
import { MESSAGE, type MessageKind } from '../exchange/messageRing.ts';
import type { OwnOrder } from '../exchange/ownOrders.ts';
import type { Travel } from '../rows/latency.ts';
import type { Millis } from '../../src/core/index.ts';

/**
 * Maximum delay of a notice, in ms. It is shorter than the time that a replay waits for answers after the end of the
 * tape, so that every notice arrives.
 */
const NOTICE_MAX_MS = 60_000;

type Told = { readonly kind: MessageKind; readonly order: OwnOrder; readonly sent: Millis };

/**
 * Queue of fill notices. Notices do not overtake each other, and messages about an order do not overtake its notices.
 * Therefore, no message reports the end of an order before its fills.
 */
export class FillNotices<Message extends Told> {
  readonly #travel: Travel | null;
  #held: { readonly at: Millis; readonly message: Message }[] = [];
  #lastAt = -Infinity;
  /** Time of the next due notice; Infinity if there is none. */
  dueAt = Infinity;

  /** `travel` is the delay of a notice; if `null`, messages are delivered on arrival. */
  constructor(travel: Travel | null) {
    this.#travel = travel;
  }

  /** Stores an arrived message if the message must wait; returns whether it was stored. */
  holdBack(message: Message, now: Millis): boolean {
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

  /** Makes all waiting messages due, because the bot reads the account. */
  releaseAll(now: Millis): void {
    if (this.#held.length > 0) this.dueAt = now;
  }

  /**
   * Returns the messages that are delivered by `now`, in order of arrival. The first due notice triggers a read of the
   * account, which delivers all other messages.
   */
  due(now: Millis): readonly Message[] {
    if (this.dueAt > now) return [];
    const told = this.#held.map(({ message }) => message);
    this.#held = [];
    this.#lastAt = Math.min(this.#lastAt, now);
    this.dueAt = Infinity;
    return told;
  }
}
