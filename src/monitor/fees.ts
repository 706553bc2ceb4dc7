/** Fee metrics: the account's maker rate and volume, and the next fee tier with its savings. */
import { approximately, type AccountTier, type Money } from '../core/index.ts';
import { gauge } from './entry.ts';
import type { Monitored } from './monitored.ts';

const labels = ['book', 'currency'] as const;

export const FEES = [
  gauge({
    name: 'puntas_maker_fee',
    help: "The account's maker fee on the book, as a fraction.",
    labels: ['book'],
    read: ({ fees: { makerRate } }) => makerRate / 1e8,
  }),
  gauge({
    name: 'puntas_volume_30d',
    help: '30-day volume that sets the fee tier; absent if unknown.',
    labels,
    whenUnset: 'gone',
    read: now => tierSamples(now, ({ volume }) => volume),
  }),
  gauge({
    name: 'puntas_next_tier_missing',
    help: 'Missing volume to the next fee tier; absent in the best one.',
    labels,
    whenUnset: 'gone',
    read: now => tierSamples(now, ({ next }) => next?.missing),
  }),
  gauge({
    name: 'puntas_next_tier_monthly',
    help: 'Monthly saving of maker fees in the next tier; absent in the best one.',
    labels,
    whenUnset: 'gone',
    read: now => tierSamples(now, ({ next }) => next?.monthly),
  }),
];

function tierSamples({ fees: { tier } }: Monitored, sumOf: (tier: AccountTier) => Money | undefined) {
  const sum = tier ? sumOf(tier) : undefined;
  return tier && sum !== undefined ? [[{ currency: tier.currency }, approximately(sum)] as const] : [];
}
