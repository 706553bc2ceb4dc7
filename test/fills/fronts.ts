/** Orders in a queue model, for tests of the lots ahead of them. */
import fc from 'fast-check';
import type { Queued, QueueModel } from '../../src/fills/index.ts';

/** Returns an order of 10 lots. */
export const orderAt = (place: number, restedAt = 0): Queued => ({
  ...{ place, left: 10, front: 0, traded: 0, joined: 0, restedAt },
});

/** One step at the order's price: lots that trade, and the lots of the level afterwards if it changes. */
export const step = fc.record({ traded: fc.nat(12), after: fc.option(fc.nat(60), { nil: null }) });

/** Applies steps to an order, and returns the lots ahead after each. */
export function frontsOf(
  queue: QueueModel,
  displayed: number,
  steps: readonly { readonly traded: number; readonly after: number | null }[],
  order = orderAt(100),
): readonly number[] {
  queue.joined(order, displayed);
  let before = displayed;
  return [
    order.front,
    ...steps.map(({ traded, after }) => {
      if (traded > 0) queue.traded(order, traded);
      if (after !== null) {
        queue.changed(order, before, after, 0);
        before = after;
      }
      return order.front;
    }),
  ];
}
