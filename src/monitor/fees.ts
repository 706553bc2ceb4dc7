/** Fee metrics: the account's maker rate and volume, and the next fee tier with its savings. */
import { approximately, type AccountTier, type Money } from '../core/index.ts';
import { gauge } from './entry.ts';
import type { Monitored } from './monitored.ts';

const labels = ['book', 'currency'] as const;

export const FEES = [
  gauge({
    name: 'puntas_maker_fee',
    help: 'Maker fee of the account, as a fraction.',
    labels: ['book'],
    read: ({ fees: { makerRate } }) => makerRate / 1e8,
  }),
  gauge({
    name: 'puntas_volume_30d',
    help: '30-day traded volume that determines the fee tier; absent if unknown.',
    labels,
    read: now => tierSamples(now, ({ volume }) => volume),
  }),
  gauge({
    name: 'puntas_next_tier_missing',
    help: 'Additional 30-day volume required for the next fee tier; absent in the best tier.',
    labels,
    read: now => tierSamples(now, ({ next }) => next?.missing),
  }),
  gauge({
    name: 'puntas_next_tier_monthly',
    help: 'Maker fees that the next tier would save per month; absent in the best tier.',
    labels,
    read: now => tierSamples(now, ({ next }) => next?.monthly),
  }),
];

function tierSamples({ fees: { tier } }: Monitored, sumOf: (tier: AccountTier) => Money | undefined) {
  const sum = tier ? sumOf(tier) : undefined;
  return tier && sum !== undefined ? [[{ currency: tier.currency }, approximately(sum)] as const] : [];
}
