/** A ledger of some weeks, made up with a seed: a maker on btc_mxn whose market wanders, with a hedge now and then. */
import {
  causesFrom,
  moneyOf,
  money,
  multiplyMoneyFloor,
  textOfMoney,
  type Cause,
  type Change,
  type LedgerEntry,
} from '../../../src/core/index.ts';
import type { LedgerFile } from '../../../src/live/state/ledgerFile.ts';

const DAY_MS = 86_400_000;
const change = (cause: Cause, currency: string, amount: bigint): Change => ({ cause, currency, amount: money(amount) });

/** From 2026-11-01 09:12 UTC; a deposit is of a currency with a name that no page may take for markup. */
export function madeLedger(days: number): LedgerFile {
  let seed = 5;
  const dice = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  const start = Date.UTC(2026, 10, 1, 9, 12);
  const entries: LedgerEntry[] = [
    {
      ...{ source: 'opening', at: start, why: null },
      changes: [change('opening', 'btc', moneyOf('1.5')), change('opening', 'mxn', moneyOf('2000000'))],
    },
    {
      ...{ source: 'fundings 1', at: start + 1, why: null },
      changes: [change('deposits', '<img src=x onerror=alert(1)>', moneyOf('1'))],
    },
  ];
  let [middle, held] = [1_500_000, 0n];
  const end = start + (days - 0.5) * DAY_MS;
  for (let at = start + 600_000, n = 1; at < end; at += 1_200_000 * (0.2 + dice()), n++) {
    middle *= 1 + (dice() - 0.5) * 0.006;
    const sign = dice() < 0.5 - (Number(held) / 1e18) * 3 ? 1n : -1n;
    const price = moneyOf(String(Math.round((middle * (1 - Number(sign) * 0.0016)) / 10) * 10));
    const size = moneyOf((0.004 + Math.floor(dice() * 400) / 1e5).toFixed(5));
    const paid = multiplyMoneyFloor(size, price);
    const fee = sign > 0n ? change('fees', 'btc', -size / 1_000n) : change('fees', 'mxn', -paid / 1_000n);
    held += sign * size;
    entries.push({
      ...{ source: `trade ${n} order${n}`, at: Math.floor(at), why: `btc_mxn at ${textOfMoney(price)}` },
      changes: [change('trades', 'btc', sign * size), change('trades', 'mxn', -sign * paid), fee],
    });
    if (dice() > 0.01) continue;
    const got = multiplyMoneyFloor(money(held), moneyOf((middle * (held > 0n ? 0.999 : 1.001)).toFixed(2)));
    const changes = [change('conversions', 'btc', -held), change('conversions', 'mxn', got)];
    entries.push({ source: `conversion ${n}`, at: Math.floor(at) + 1_000, why: null, changes });
    held = 0n;
  }
  return {
    entries,
    causes: causesFrom(entries),
    checked: null,
    checkedThere: null,
    profit: null,
    hours: [],
    book: 'btc_mxn',
  };
}
