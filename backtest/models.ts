/** The fill models of a report, by name. */
import type { FillModel } from './exchangeView.ts';
import { exactOrders, optimistic, sharedVolume } from './fillRules.ts';
import { exact, logarithmic, power, riskAverse } from './queue.ts';
import type { QueueModel } from './queue.ts';
import type { MarketRows } from './rows.ts';

/**
 * pessimistic: only trades move us on in the queue. expected: cancels are shared out between what is ahead and behind; exact where the
 * tape tells single orders. optimistic: every execution that reaches our price fills us whole, a bound and no estimate.
 */
export const BOUNDS = ['pessimistic', 'expected', 'optimistic'] as const;
export const MODEL_NAMES = [...BOUNDS, 'power1', 'power2', 'power3', 'log', 'exact'] as const;
export type ModelName = (typeof MODEL_NAMES)[number];

export function fillModel(name: ModelName, rows: MarketRows): FillModel {
  const shared = (queue: QueueModel): FillModel => ({ name, queue, rule: sharedVolume(queue) });
  switch (name) {
    case 'pessimistic':
      return shared(riskAverse());
    case 'expected':
      return rows.orders === null ? shared(power(2)) : fillModelOfOrders(name, rows);
    case 'optimistic':
      return { name, queue: riskAverse(), rule: optimistic() };
    case 'power1':
      return shared(power(1));
    case 'power2':
      return shared(power(2));
    case 'power3':
      return shared(power(3));
    case 'log':
      return shared(logarithmic());
    case 'exact':
      return fillModelOfOrders(name, rows);
  }
}

const fillModelOfOrders = (name: ModelName, rows: MarketRows): FillModel => ({
  name,
  queue: exact(rows),
  rule: exactOrders(rows),
});
