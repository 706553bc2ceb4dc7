/** A ledger, and the mark that is made of it, as text and back, to the last digit. */
import type { HedgeRow } from '../hedge/index.ts';
import { money, moneyOf, textOfMoney } from '../core/index.ts';
import type { Amount, Money, RestoredLedger } from '../core/index.ts';

type Written = {
  totals: [currency: string, total: string][];
  seen: [tid: string, content: string][];
  target: number;
  guard: { drawdown: string; day: number; dayLoss: string } | null;
};

export const textOfLedger = ({ totals, seen, target, guard }: RestoredLedger): string =>
  JSON.stringify({
    totals: [...totals].map(([currency, total]) => [currency, textOfMoney(total)]),
    seen: [...seen],
    target,
    guard: guard && { drawdown: guard.drawdown.toString(), day: guard.day, dayLoss: guard.dayLoss.toString() },
  });

export function ledgerOf(text: string): RestoredLedger {
  const { totals, seen, target, guard } = JSON.parse(text) as Written;
  return {
    totals: new Map<string, Money>(totals.map(([currency, total]) => [currency, moneyOf(total)])),
    seen: new Map(seen),
    target: target as Amount,
    guard: guard && { drawdown: money(BigInt(guard.drawdown)), day: guard.day, dayLoss: money(BigInt(guard.dayLoss)) },
  };
}

/** The ledger as it stands, with what it needs to be taken up again. */
export type Mark = {
  readonly ledger: RestoredLedger;
  readonly marker: string | undefined;
  readonly live: readonly { readonly id: string; readonly filled: Amount; readonly oid: string | null }[];
  readonly hedges?: readonly HedgeRow[];
};

export const textOfMark = ({ ledger, marker, live, hedges = [] }: Mark): string =>
  JSON.stringify({ ledger: textOfLedger(ledger), marker: marker ?? null, live, hedges });

type WrittenMark = Omit<Mark, 'ledger' | 'marker'> & { readonly ledger: string; readonly marker: string | null };

export function markOf(text: string): Mark {
  const { ledger, marker, live, hedges } = JSON.parse(text) as WrittenMark;
  return { ledger: ledgerOf(ledger), marker: marker ?? undefined, live, hedges: hedges ?? [] };
}
