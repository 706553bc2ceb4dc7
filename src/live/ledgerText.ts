/** A ledger as text and back, to the last digit. */
import { money, moneyOf, textOfMoney } from '../core/index.ts';
import type { Amount, Money, RestoredLedger } from '../core/index.ts';

type Written = {
  totals: [currency: string, total: string][];
  target: number;
  guard: { peak: string; day: number; dayStart: string } | null;
};

export const textOfLedger = ({ totals, target, guard }: RestoredLedger): string =>
  JSON.stringify({
    totals: [...totals].map(([currency, total]) => [currency, textOfMoney(total)]),
    target,
    guard: guard && { peak: guard.peak.toString(), day: guard.day, dayStart: guard.dayStart.toString() },
  });

export function ledgerOf(text: string): RestoredLedger {
  const { totals, target, guard } = JSON.parse(text) as Written;
  return {
    totals: new Map<string, Money>(totals.map(([currency, total]) => [currency, moneyOf(total)])),
    target: target as Amount,
    guard: guard && { peak: money(BigInt(guard.peak)), day: guard.day, dayStart: money(BigInt(guard.dayStart)) },
  };
}
