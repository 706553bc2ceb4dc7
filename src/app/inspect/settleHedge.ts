/**
 * `puntas hedges settle`: shows the evidence about a hedge whose outcome cannot be looked up, and stores the operator's
 * statement of the outcome.
 */
import {
  atPlace,
  CAUSES,
  isRounding,
  listedUnit,
  money,
  moneyOf,
  multiplyMoneyFloor,
  sumOfCauses,
  textOfMoney,
  type Balance,
  type Clock,
  type Conversion,
  type LedgerEntry,
  type Millis,
  type Money,
} from '../../core/index.ts';
import { recordedConfig } from '../../config.ts';
import { outcomeFromBalances, conversionOf, mayStillExecute, type StatedExecution } from '../../hedge/index.ts';
import { SETTLED_AFTER_MS } from '../../live/loop/elsewhereHedging.ts';
import { ledgerFileIn, type LedgerFile } from '../../live/state/ledgerFile.ts';
import { lineOf } from '../../live/recording/recording.ts';
import { readRecording, recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';
import type { MailMessage } from '../../live/mailbox/kinds.ts';
import { NumberedMailbox } from '../../live/mailbox/mailbox.ts';
import { checkedBy, checkedReason } from '../../messages/reason.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { hedgesIn, linesOf, type ListedHedge } from './hedges.ts';

export type SettleAsk = Pick<MailMessage<'settle'>, 'id' | 'as' | 'reason' | 'by'> & {
  /** Amounts that an order on another exchange executed, as decimal text; `fee` has its currency (`0.61 usdt`). */
  readonly base?: string;
  readonly quote?: string;
  readonly fee?: string;
};
type Seen = { readonly at: number; readonly totals: ReadonlyMap<string, Money> };

/**
 * Returns all data about a hedge, as lines to print.
 * @throws UsageError if there is no such hedge, or nothing to settle.
 */
export async function hedgeEvidence(dir: string, id: string, clock: Clock): Promise<readonly string[]> {
  return (await evidenceOf(dir, id, clock)).lines;
}

/** Writes the settlement for the bot, and returns the lines of `hedgeEvidence` with a confirmation. */
export async function settleHedge(
  dir: string,
  { id, as, base, quote, fee, ...ask }: SettleAsk,
  clock: Clock,
): Promise<readonly string[]> {
  const reason = checkedReason(ask.reason, { what: 'how you know' });
  const by = checkedBy(ask.by);
  const { lines, says, told } = await evidenceOf(dir, id, clock);
  const amounts = statedAmounts(told, as, { base, quote, fee });
  const contrary = as === 'executed' ? 'failed' : 'completed';
  if (says === contrary)
    throw new UsageError([
      ...lines,
      `the hedge was not settled, because the balances contradict the outcome ${as}; ${
        told.elsewhere === undefined
          ? 'a running bot derives the outcome from the balances'
          : `check the history of order ${told.elsewhere.order.id} at ${told.elsewhere.place}`
      }`,
    ]);
  new NumberedMailbox(dir, 'settle').put({ id, as, reason, by, at: clock.now(), ...amounts });
  const when =
    told.elsewhere === undefined
      ? 'a running bot applies the request within seconds, a stopped bot at its next start, before it quotes'
      : 'the bot applies the request only when the order can no longer be executed, and only if look-ups of the order still fail';
  return [...lines, `requested by ${by}: settle ${id} as ${as}; ${when}`];
}

/**
 * Returns the stated amounts of an executed order on another exchange; `null` for any other hedge or outcome.
 * @throws UsageError if the amounts are missing, are stated for another kind of hedge or outcome, or are impossible for
 * the order.
 */
function statedAmounts(
  { id, elsewhere }: ListedHedge,
  as: SettleAsk['as'],
  given: Readonly<Record<'base' | 'quote' | 'fee', string | undefined>>,
): StatedExecution | null {
  const flags = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${value}`]));
  if (elsewhere === undefined || as === 'failed') {
    if (flags.length === 0) return null;
    throw new UsageError(
      `amounts and fee can be given only with --as executed, and only for a hedge on another exchange; found ${flags.join(' ')}`,
    );
  }
  const { order } = elsewhere;
  const [, fee, feeCurrency] = /^(\d+(?:\.\d{1,18})?) ([a-z0-9]{1,20})$/.exec(given.fee ?? '') ?? [];
  const [base, quote] = [decimalOf(given.base), decimalOf(given.quote)];
  if (base === null || quote === null || fee === undefined || feeCurrency === undefined)
    throw new UsageError(
      `hedge ${id} is an order on another exchange; expected the amounts and the fee from the order history there, like --base ${order.amount} --quote 800.5 --fee "0.61 usdt", found ${flags.join(' ') || 'none of these options'}`,
    );
  if (base > moneyOf(order.amount))
    throw new UsageError(`--base: expected at most the amount of the order (${order.amount}), found ${given.base}`);
  const atLimit = multiplyMoneyFloor(moneyOf(order.price), base);
  // An order history rounds.
  const rounding = listedUnit(given.quote!);
  if (order.side === 'sell' ? quote + rounding < atLimit : quote - rounding > atLimit)
    throw new UsageError(
      `--quote: expected at ${order.side === 'sell' ? 'least' : 'most'} ${textOfMoney(atLimit)}, which is --base times the limit price of the order (${order.price}), found ${given.quote}`,
    );
  return { base, quote, fee: moneyOf(fee), feeCurrency };
}

/** Parses an amount above 0; returns `null` for any other text. */
function decimalOf(text: string | undefined): Money | null {
  if (text === undefined || !/^\d+(\.\d{1,18})?$/.test(text)) return null;
  const amount = moneyOf(text);
  return amount > 0n ? amount : null;
}

async function evidenceOf(
  dir: string,
  id: string,
  clock: Clock,
): Promise<{
  readonly told: ListedHedge;
  readonly lines: readonly string[];
  readonly says: 'completed' | 'failed' | null;
}> {
  const told = hedgesIn(dir).find(each => each.id === id);
  if (!told) throw new UsageError(`${dir}: no hedge ${id} in the recordings; puntas hedges lists all hedges`);
  const place = told.elsewhere?.place;
  if (!mayStillExecute(told) || told.conversionId !== null)
    throw new UsageError(
      `hedge ${id} has the state ${told.state}; only a hedge with an unknown outcome can be settled manually`,
    );
  if (told.offer === null || told.offer.way === 'book')
    throw new UsageError(
      `hedge ${id} is an order in the bot's own book; only a conversion or an order on another exchange can be settled manually`,
    );
  const file = await ledgerFileIn(dir, clock);
  if (file === null)
    throw new UsageError(`${dir}: no ledger yet; expected the state directory of a bot that has read its balances`);
  const named = (currency: string) => (place === undefined ? currency : atPlace(currency, place));
  const offered = conversionOf(told);
  const [give, get] = [offered.give, offered.get].map(leg => ({ ...leg, currency: named(leg.currency) })) as [
    typeof offered.give,
    typeof offered.get,
  ];
  // Each leg of a route has its own acceptance; the outcome is unknown only for the last leg.
  const acceptedAt = told.states.findLast(({ state }) => state === 'accepted')?.at ?? told.at;
  const { before, after: last } = balancesAround(dir, acceptedAt, place);
  // Balances read before the hedge was accepted are no evidence.
  const after = last !== null && last.at > acceptedAt ? last : null;
  const legs = [
    { ...give, executed: money(-give.amount) },
    { ...get, executed: get.amount },
  ];
  const differences = legs.map(({ currency }) => ({ currency, difference: unexplained(file, after, currency) }));
  const known = differences.flatMap(({ currency, difference }) =>
    difference === null ? [] : [{ currency, difference }],
  );
  const outcome = place === undefined ? outcomeFromBalances : outcomeElsewhere;
  const shown = known.length === legs.length ? outcome({ ...offered, give, get }, known) : null;
  // Unchanged balances prove nothing while the exchange may still execute the request or list its execution.
  const says = shown === 'failed' && !(after!.at - acceptedAt >= provenAfter(dir, told)) ? null : shown;
  return {
    told,
    says,
    lines: [
      ...linesOf(told),
      ...legs.flatMap(leg => legLines(leg, { file, before, after, acceptedAt })),
      verdict(says),
    ],
  };
}

/**
 * Returns the minimum time after the acceptance of a hedge at which unchanged balances show that it was not executed.
 */
function provenAfter(dir: string, { run, offer, elsewhere }: ListedHedge): Millis {
  const { hedge, timing } = recordedConfig(recordedRunOf(dir, run)!.setup);
  if (elsewhere !== undefined) return SETTLED_AFTER_MS + (hedge?.elsewhere?.listingDelayMs ?? 0);
  return Math.max(timing.requestDelayMaxMs, offer?.lifeMs ?? 0) + timing.tradeReportDelayMaxMs;
}

/**
 * Returns the outcome that the balances on another exchange show; `null` if they show none. An order can be executed in
 * part and at better prices, so only the directions of the differences are known in advance.
 */
function outcomeElsewhere(
  { give, get }: Conversion,
  differences: readonly { readonly currency: string; readonly difference: Money }[],
): 'completed' | 'failed' | null {
  const of = (currency: string) => differences.find(each => each.currency === currency)?.difference ?? 0n;
  const [given, got] = [of(give.currency), of(get.currency)];
  if (given === 0n && got === 0n) return 'failed';
  return given < 0n && got > 0n ? 'completed' : null;
}

const verdict = (says: 'completed' | 'failed' | null): string =>
  says === null
    ? 'the balances do not show the outcome; check the account at the exchange, then settle the hedge with --as executed or --as failed'
    : `outcome according to the balances: ${says === 'completed' ? 'executed' : 'failed'}`;

/**
 * Returns the exchange's balance minus the ledger's, 0 if the exchange's rounding may explain it; `null` before a read of
 * the balances. The ledger does not include the hedge.
 */
function unexplained({ causes, roundings }: LedgerFile, after: Seen | null, currency: string): Money | null {
  const now = after?.totals.get(currency);
  if (now === undefined) return null;
  const row = causes.get(currency);
  const difference = money(now - (row === undefined ? 0n : sumOfCauses(row)));
  return isRounding(roundings?.get(currency), difference) ? money(0n) : difference;
}

function legLines(
  { currency, executed }: { readonly currency: string; readonly executed: Money },
  of: {
    readonly file: LedgerFile;
    readonly before: Seen | null;
    readonly after: Seen | null;
    readonly acceptedAt: number;
  },
): readonly string[] {
  const { file, before, after, acceptedAt } = of;
  const total = (seen: Seen | null) =>
    seen === null ? 'not read' : textOfMoney(seen.totals.get(currency) ?? money(0n));
  const rest = unexplained(file, after, currency);
  return [
    `${currency}: exchange balance before the hedge: ${total(before)}${seenAtText(before)}; after the hedge: ${total(after)}${seenAtText(after)}`,
    ...bookedSince(file.entries, acceptedAt, currency).map(line => `  booked since the hedge: ${line}`),
    `  exchange balance minus ledger balance: ${rest === null ? 'unknown' : textOfMoney(rest)}; expected ${textOfMoney(executed)} if executed, 0 if failed`,
  ];
}

const seenAtText = (seen: Seen | null): string => (seen === null ? '' : ` (${new Date(seen.at).toISOString()})`);
const ENTRIES_SHOWN = 20;

/** Returns the bookings since a time: the sums of trades and of fees, and the last `ENTRIES_SHOWN` other bookings. */
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

/**
 * Returns two snapshots of the balances on exchange `place`, or on the bot's own exchange if `place` is absent: the
 * last before a time, and the last in all recordings.
 */
function balancesAround(
  dir: string,
  at: number,
  place: string | undefined,
): { readonly before: Seen | null; readonly after: Seen | null } {
  let [before, after]: (Seen | null)[] = [null, null];
  for (const { run } of recordingsIn(dir)) {
    try {
      for (const text of readRecording(dir, run)?.lines ?? []) {
        if (!text.startsWith(BALANCES)) continue;
        const line = lineOf(text);
        if (line.kind !== 'input' || line.event.kind !== 'balances') continue;
        const { startedAt, balances } = line.event;
        if (line.event.place !== place) continue;
        const seen = { at: startedAt, totals: totalsOf(balances, place) };
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
const totalsOf = (balances: readonly Balance[], place: string | undefined): ReadonlyMap<string, Money> =>
  new Map(
    balances.map(({ currency, total }) => [place === undefined ? currency : atPlace(currency, place), moneyOf(total)]),
  );
