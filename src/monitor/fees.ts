/** What Prometheus is told of fees: the account's maker rate, its volume, and the next tier with what it would be worth. */
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { approximately } from '../core/index.ts';
import type { AccountTier } from '../core/index.ts';

export type MonitoredFees = { readonly makerRate: number; readonly tier?: AccountTier | null };

/** The gauges of one book; call what is returned at each scrape. */
export function feeGauges(registers: Registry[], book: string): (now: MonitoredFees) => void {
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name, help, labelNames, registers });
  const rate = gauge('puntas_maker_fee', "The account's maker fee on the book, as a fraction.", ['book']);
  const currency = ['book', 'currency'] as const;
  const volume = gauge(
    'puntas_volume_30d',
    'Traded volume of the last 30 days that decides the fee tier, in the currency of the schedule; absent where the exchange does not tell it.',
    currency,
  );
  const missing = gauge(
    'puntas_next_tier_missing',
    'Volume that is missing to the next fee tier; absent in the best one.',
    currency,
  );
  const monthly = gauge(
    'puntas_next_tier_monthly',
    'What a month at the present volume would cost less in maker fees in the next tier; absent in the best one.',
    currency,
  );
  return ({ makerRate, tier }) => {
    rate.set({ book }, makerRate / 1e8);
    for (const each of [volume, missing, monthly]) each.reset();
    if (!tier) return;
    const at = { book, currency: tier.currency };
    volume.set(at, approximately(tier.volume));
    if (tier.next === null) return;
    missing.set(at, approximately(tier.next.missing));
    monthly.set(at, approximately(tier.next.monthly));
  };
}
