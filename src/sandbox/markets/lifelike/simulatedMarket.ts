/** Choice of the simulated market of a book that does not depend on other books. */
import { seededFlow, type FlowOptions } from '../flow.ts';
import { lifelikeFlow } from './lifelike.ts';
import type { Market } from '../market.ts';

/**
 * Model of the simulated traders. `imbalanceSignal`: whether a hidden signal moves the price. The amounts at the best
 * prices show this signal.
 */
export type MarketModel = { readonly kind: 'flow' } | { readonly kind: 'lifelike'; readonly imbalanceSignal: boolean };

/** Creates the market. With equal models, options and marketplaces, orders and times are equal. */
export function simulatedMarket(
  model: MarketModel,
  options: Pick<FlowOptions, 'seed' | 'profile' | 'driftBpsPerHour'>,
): Market {
  switch (model.kind) {
    case 'flow':
      return seededFlow(options);
    case 'lifelike':
      return lifelikeFlow({ ...options, imbalanceSignal: model.imbalanceSignal });
  }
}
