/** Queue with hidden lots: lots ahead of an order that the book does not display. */
import type { Queued, QueueModel } from './queueModels.ts';

/** Lots ahead of an order on its arrival: displayed ones, and hidden ones, which trade after the displayed ones. */
export type LotsAhead = { readonly shown: number; readonly hidden: number };

/**
 * Returns a queue model with hidden lots. `base` handles the displayed lots; hidden lots are not canceled. `aheadOf`
 * returns the lots ahead of an order that joins `displayed` lots; `isShown` is false if these are a guess. An infinite queue is unknown and stays so until the
 * recording shows it. Create one model for each exchange: it remembers the hidden lots of its orders.
 */
export function queueWithHidden(
  base: QueueModel,
  aheadOf: (order: Readonly<Queued>, displayed: number, isShown: boolean) => LotsAhead,
): QueueModel {
  /** Hidden lots ahead of each order on its arrival. */
  const hiddenOf = new WeakMap<Queued, number>();
  const hide = (order: Queued, displayed: number, isShown = true): void => {
    if (!Number.isFinite(order.front)) {
      hiddenOf.delete(order);
      return;
    }
    const { shown, hidden } = aheadOf(order, displayed, isShown);
    order.front = shown + hidden;
    hiddenOf.set(order, hidden);
  };
  /** Hidden lots are the last ones ahead, so all that is left ahead is hidden once the displayed lots are gone. */
  const hiddenAhead = (order: Queued): number => Math.min(hiddenOf.get(order) ?? 0, Math.max(0, order.front));
  return {
    name: base.name,
    joined(order, displayed) {
      base.joined(order, displayed);
      hide(order, displayed);
    },
    joinedUnseen(order, guess) {
      base.joinedUnseen(order, guess);
      hide(order, guess, false);
    },
    shown(order, displayed) {
      if (!Number.isFinite(order.front)) {
        base.joined(order, displayed);
        hide(order, displayed);
        return;
      }
      const left = hiddenAhead(order);
      order.front = Math.min(order.front - left, displayed) + left;
    },
    traded: (order, lots) => base.traded(order, lots),
    changed(order, before, after, row) {
      const left = hiddenAhead(order);
      order.front -= left;
      base.changed(order, before, after, row);
      // A cancel beyond the displayed lots ahead was behind the order, because hidden lots are not canceled.
      if (left > 0) order.front = Math.max(0, order.front) + left;
    },
  };
}
