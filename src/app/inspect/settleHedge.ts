/**
 * `puntas hedges settle`: shows the evidence about a hedge whose outcome cannot be looked up, and stores the operator's
 * statement of the outcome.
 */
import {
  CAUSES,
  money,
  moneyOf,
  sumOfCauses,
  textOfMoney,
  type Balance,
  type Clock,
  type LedgerEntry,
  type Money,
} from '../../core/index.ts';
import { outcomeFromBalances, conversionOf } from '../../hedge/index.ts';
import { ledgerFileIn, type LedgerFile } from '../../live/state/ledgerFile.ts';
import { lineOf } from '../../live/recording/recording.ts';
import { readRecording, recordingsIn } from '../../live/recording/recordings.ts';
import type { MailMessage } from '../../live/mailbox/kinds.ts';
import { NumberedMailbox } from '../../live/mailbox/mailbox.ts';
import { checkedBy, checkedReason } from '../../messages/reason.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { hedgesIn, linesOf, type ListedHedge } from './hedges.ts';

export type SettleAsk = Pick<MailMessage<'settle'>, 'id' | 'as' | 'reason' | 'by'>;
type Seen = { readonly at: number; readonly totals: ReadonlyMap<string, Money> };

/**
 * Returns all data about a hedge, as lines to print.
 * @throws UsageError if there is no such hedge, or nothing to settle.
 */
export async function hedgeEvidence(dir: string, id: string, clock: Clock): Promise<readonly string[]> {
  return (await evidenceOf(dir, id, clock)).lines;
}

/** Returns the lines of `hedgeEvidence`, and writes the settlement for the bot. */
export async function settleHedge(dir: string, ask: SettleAsk, clock: Clock): Promise<readonly string[]> {
  const reason = checkedReason(ask.reason, { what: 'how you know' });
  const by = checkedBy(ask.by);
  const { lines, says } = await evidenceOf(dir, ask.id, clock);
  const contrary = ask.as === 'executed' ? 'failed' : 'completed';
  if (says === contrary)
    throw new UsageError([
      ...lines,
      `the hedge was not settled, because the balances contradict the outcome ${ask.as}; a running bot derives the outcome from the balances`,
    ]);
  new NumberedMailbox(dir, 'settle').put({ ...ask, reason, by, at: clock.now() });
  return [
    ...lines,
    `requested by ${by}: settle ${ask.id} as ${ask.as}; a running bot applies the request within seconds, a stopped bot at its next start, before it quotes`,
  ];
}

async function evidenceOf(
  dir: string,
  id: string,
  clock: Clock,
): Promise<{ readonly lines: readonly string[]; readonly says: 'completed' | 'failed' | null }> {
  const told = hedgesIn(dir).find(each => each.id === id);
  if (!told) throw new UsageError(`${dir}: no hedge ${id} in the recordings; puntas hedges lists all hedges`);
  if (told.offer === null || told.offer.way === 'book' || (told.state !== 'unknown' && told.state !== 'accepted'))
    throw new UsageError(`hedge ${id} is ${told.state}; only a hedge with an unknown outcome can be settled manually`);
  const file = await ledgerFileIn(dir, clock);
  if (file === null)
    throw new UsageError(`${dir}: no ledger yet; expected the state directory of a bot that has read its balances`);
  const conversion = conversionOf(told);
  // Each leg of a route has its own acceptance; the outcome is unknown only for the last leg.
  const acceptedAt = told.states.findLast(({ state }) => state === 'accepted')?.at ?? told.at;
  const { before, after: last } = balancesAround(dir, acceptedAt);
  // Balances read before the hedge was accepted are no evidence.
  const after = last !== null && last.at > acceptedAt ? last : null;
  const legs = [
    { ...conversion.give, executed: money(-conversion.give.amount) },
    { ...conversion.get, executed: conversion.get.amount },
  ];
  const differences = legs.map(({ currency }) => ({ currency, difference: unexplained(file, after, currency) }));
  const known = differences.flatMap(({ currency, difference }) =>
    difference === null ? [] : [{ currency, difference }],
  );
  const says = known.length === legs.length ? outcomeFromBalances(conversion, known) : null;
  return {
    says,
    lines: [
      ...linesOf(told),
      ...legs.flatMap(leg => legLines(leg, { told, file, before, after, acceptedAt })),
      verdict(says),
    ],
  };
}

const verdict = (says: 'completed' | 'failed' | null): string =>
  says === null
    ? 'the balances do not show the outcome; check the account at the exchange, then settle the hedge with --as executed or --as failed'
    : `outcome according to the balances: ${says === 'completed' ? 'executed' : 'failed'}`;

/**
 * Returns the exchange's balance minus the ledger's; `null` before a read of the balances. The ledger does not include
 * the hedge.
 */
function unexplained({ causes }: LedgerFile, after: Seen | null, currency: string): Money | null {
  const now = after?.totals.get(currency);
  const row = causes.get(currency);
  return now === undefined ? null : money(now - (row === undefined ? 0n : sumOfCauses(row)));
}

function legLines(
  { currency, executed }: { readonly currency: string; readonly executed: Money },
  of: {
    readonly told: ListedHedge;
    readonly file: LedgerFile;
    readonly before: Seen | null;
    readonly after: Seen | null;
    readonly acceptedAt: number;
  },
): readonly string[] {
  const { file, before, after, acceptedAt } = of;
  const total = (seen: Seen | null) =>
    seen === null ? 'never read' : textOfMoney(seen.totals.get(currency) ?? money(0n));
  const rest = unexplained(file, after, currency);
  return [
    `${currency}: exchange balance before the hedge ${total(before)}${seenAtText(before)}, after the hedge ${total(after)}${seenAtText(after)}`,
    ...bookedSince(file.entries, acceptedAt, currency).map(line => `  booked since the hedge: ${line}`),
    `  exchange minus ledger: ${rest === null ? 'unknown' : textOfMoney(rest)}; expected ${textOfMoney(executed)} if executed, 0 if failed`,
  ];
}

const seenAtText = (seen: Seen | null): string => (seen === null ? '' : ` (${new Date(seen.at).toISOString()})`);
const ENTRIES_SHOWN = 20;

/** Returns the bookings since a time: the sum of all fills, and each transfer and each booking of the operator. */
function bookedSince(entries: readonly LedgerEntry[], since: number, currency: string): readonly string[] {
  const sums = new Map<string, bigint>();
  const single: string[] = [];
  for (const { at, source, why, changes } of entries) {
    if (!(at >= since)) continue;
    for (const { cause, currency: of, amount } of changes) {
      if (of !== currency || amount === 0n) continue;
      if (cause === 'trades' || cause === 'fees') sums.set(cause, (sums.get(cause) ?? 0n) + amount);
      else single.push(`${cause} ${textOfMoney(amount)} (${source}${why === null ? '' : `, ${why}`})`);
    }
  }
  const order = CAUSES.filter(cause => sums.has(cause));
  return [
    ...order.map(cause => `${cause} ${textOfMoney(money(sums.get(cause) ?? 0n))}`),
    ...single.slice(-ENTRIES_SHOWN),
  ];
}

/** Returns the last balances that were read before a time, and the last balances in all recordings. */
function balancesAround(dir: string, at: number): { readonly before: Seen | null; readonly after: Seen | null } {
  let [before, after]: (Seen | null)[] = [null, null];
  for (const { run } of recordingsIn(dir)) {
    try {
      for (const text of readRecording(dir, run)?.lines ?? []) {
        if (!text.startsWith(BALANCES)) continue;
        const line = lineOf(text);
        if (line.kind !== 'input' || line.event.kind !== 'balances') continue;
        const { startedAt, balances } = line.event;
        const seen = { at: startedAt, totals: totalsOf(balances) };
        if (startedAt < at) before = seen;
        after = seen;
      }
    } catch (error) {
      // The part before the damage of a recording is used; `puntas replay` reports the damage.
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return { before: before ?? null, after: after ?? null };
}

const BALANCES = 'i{"event":{"kind":"balances"';
const totalsOf = (balances: readonly Balance[]): ReadonlyMap<string, Money> =>
  new Map(balances.map(({ currency, total }) => [currency, moneyOf(total)]));
