/**
 * `puntas ledger`: shows the ledger of a state directory by currency, as text or data, and writes the operator's
 * bookings.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import {
  atPlace,
  CAUSES,
  causesFrom,
  causesOf,
  counted,
  isAtPlace,
  money,
  moneyOf,
  pairOf,
  placeInName,
  sumOfCauses,
  textOfMoney,
  tickerInName,
  TRANSIT,
  type Cause,
  type Causes,
  type Clock,
  type LedgerEntry,
  type Millis,
  type Money,
  type Profit,
} from '../../core/index.ts';
import type { MailMessage } from '../../live/mailbox/kinds.ts';
import { NumberedMailbox } from '../../live/mailbox/mailbox.ts';
import { isBroughtForward } from '../../live/state/ledgerEntries.ts';
import { STATE_FILE } from '../../live/state/journal.ts';
import { ledgerFileIn, type LedgerFile } from '../../live/state/ledgerFile.ts';
import { checkedBy, checkedReason } from '../../messages/reason.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { ledgerAt } from './exportLedger.ts';
import { partsText, profitSentence } from '../../messages/shownProfit.ts';
import { bookedTrade } from './ledgerProfit.ts';
import { profitTogether } from './booksReport.ts';
import {
  lastMoment,
  printedProfit,
  profitAt,
  profitsOfOthers,
  unknownProfit,
  type BookProfit,
  type ProfitNow,
} from './profitNow.ts';
import { csvHead, csvLine, ENTRY_COLUMNS, entryRows } from './exportColumns.ts';
import { ownCommand } from '../../messages/ownCommand.ts';
import { timeText } from '../../messages/timeText.ts';

export type LedgerAsk = {
  readonly currency?: string;
  readonly since?: Millis;
  readonly entries: boolean;
  readonly form: 'text' | 'json' | 'csv';
};

type Row = {
  readonly currency: string;
  /** Changes within the requested time, by cause; `opening` is the balance before that time. */
  readonly causes: Causes;
  readonly closing: Money;
  /**
   * Balance that the exchange reported in the last comparison of its account; `null` if it reported no such balance.
   */
  readonly exchange: Money | null;
  readonly difference: Money | null;
};

/** Returns the ledger as lines for stdout. Rejects with one line if there is nothing to show. */
export async function ledger(dir: string, ask: LedgerAsk, clock: Clock): Promise<string[]> {
  const requested = new NumberedMailbox(dir, 'adjust').waiting();
  const file = await ledgerAt(dir, clock);
  const { since = -Infinity } = ask;
  const shown = file.entries.filter(({ at }) => at >= since);
  const [first] = file.entries;
  if (first !== undefined && isBroughtForward(first) && since <= first.at && since !== -Infinity)
    throw new UsageError(
      `--since: the ledger has only the sum of the entries until ${timeText(first.at)}; pass a later time`,
    );
  const all = rowsOf(file, shown);
  const rows = all.filter(({ currency }) => ask.currency === undefined || currency === ask.currency);
  if (rows.length === 0)
    throw new UsageError(
      ask.currency === undefined
        ? `${dir}: the ledger is empty`
        : `${dir}: the ledger has no entry in ${ask.currency}; it has entries in ${all.map(({ currency }) => currency).join(', ')}`,
    );
  const mine = shown.filter(
    ({ changes }) => ask.currency === undefined || changes.some(c => c.currency === ask.currency),
  );
  if (ask.entries) {
    const lines = mine.flatMap(entry => linesOfEntry(entry, ask));
    return ask.form === 'csv' ? [csvHead(ENTRY_COLUMNS), ...lines] : lines;
  }
  if (ask.form === 'csv') return csvOf(rows);
  const waiting = requested.filter(one => bookedIn(file, one) === undefined);
  const moment = lastMoment(dir);
  const profit = profitAt(moment, file);
  const others = profitsOfOthers(moment, file);
  if (ask.form === 'json')
    return [
      JSON.stringify({
        ...ledgerJson(dir, file, rows, ask, { entries: mine.length, waiting: waiting.length }, profit),
        ...(others.length === 0 ? {} : profitsJson([{ book: file.book ?? '', profit }, ...others])),
      }),
    ];
  const from = since === -Infinity ? (first?.at ?? null) : since;
  return [
    `${dir}: ${counted(mine.length, 'entry', 'entries')}${from === null ? '' : ` since ${timeText(from)}`}; ${comparedText(file)}`,
    ...table(rows),
    ...(others.length === 0
      ? profit === null
        ? []
        : [profitLine(profit, minorOf(file))]
      : profitLines([{ book: file.book ?? '', profit }, ...others])),
    ...waiting.map(
      ({ currency, amount, by, reason, inTransit }) =>
        `pending adjustment, which the bot has not booked yet: ${textOfMoney(amount)} ${currency}${inTransit ? ' in transit' : ''} (${by}: ${reason})`,
    ),
  ];
}

export type AdjustAsk = {
  readonly currency: string;
  readonly amount: string;
  readonly reason: string;
  readonly by?: string;
  /** Whether the amount was sent from this account to the other exchange, or back to this account. */
  readonly inTransit?: boolean;
};

/**
 * Writes a booking for the bot and returns the line to print. If a waiting or booked request has the same currency,
 * amount, reason and name, the command is a repetition and has no effect. Rejects with `UsageError` if the request is
 * invalid.
 */
export async function adjust(dir: string, ask: AdjustAsk, clock: Clock): Promise<string> {
  const reason = checkedReason(ask.reason, { what: 'what happened' });
  const by = checkedBy(ask.by ?? ownName());
  const currency = ask.currency.toLowerCase();
  if (!existsSync(join(dir, STATE_FILE)))
    throw new UsageError(`${dir}: no ${STATE_FILE} found; expected the state directory of a bot`);
  if (!/^[a-z0-9]{1,20}(@[a-z0-9]{1,20})?$/.test(currency))
    throw new UsageError(
      `--currency: expected a ticker like btc, or usdt@PLACE for a currency on another exchange, found ${ask.currency}`,
    );
  const amount = amountOf(ask.amount);
  const box = new NumberedMailbox(dir, 'adjust');
  // The bot removes a request after its booking, so a request that is booked meanwhile is found in the ledger only if the
  // requests are read first.
  const same = box
    .waiting()
    .find(one => one.currency === currency && one.amount === amount && one.reason === reason && one.by === by);
  const file = await ledgerFileIn(dir, clock);
  const { inTransit = false } = ask;
  assertKnown(file, currency, inTransit);
  const isWaiting = same !== undefined;
  if (isWaiting && (same.inTransit ?? false) !== inTransit)
    throw new UsageError(
      `--in-transit: a pending request has this currency, amount and reason ${inTransit ? 'without' : 'with'} --in-transit; to book the amount again, give another --reason`,
    );
  // An earlier request is in its file, in the ledger, or in both, because the bot removes the file only after the
  // booking is durable.
  const earlier = isWaiting ? undefined : bookedIn(file, { currency, amount, reason, by });
  if (earlier !== undefined)
    return `nothing was booked, because ${by} already booked ${textOfMoney(amount)} ${currency} with this reason at ${timeText(earlier.at)}; to book the amount again, give another --reason`;
  if (!isWaiting)
    box.put({ id: randomUUID(), at: clock.now(), currency, amount, reason, by, ...(inTransit ? { inTransit } : {}) });
  return `requested: an adjustment of ${textOfMoney(amount)} ${currency}${inTransit ? ' in transit' : ''}; a running bot books the adjustment within seconds, a stopped bot at its next start, before it quotes. The adjustment does not end a halt; to end a halt, resume with: ${ownCommand('resume', { stateDir: dir })}`;
}

/**
 * Checks a currency on another exchange or in transit against the ledger. Only currencies that the ledger has on
 * another exchange can be in transit. Throws `UsageError` if the check fails.
 */
function assertKnown(file: LedgerFile | null, currency: string, inTransit: boolean): void {
  const known = new Set((file?.entries ?? []).flatMap(({ changes }) => changes.map(change => change.currency)));
  const placed = [...known].filter(name => name.includes('@') && !isAtPlace(name, TRANSIT));
  const moved = [...new Set(placed.map(tickerInName))].flatMap(name => [
    name,
    ...placed.filter(at => tickerInName(at) === name),
  ]);
  if (inTransit && moved.length === 0)
    throw new UsageError(
      '--in-transit: the ledger has no account on another exchange (hedge.elsewhere); omit --in-transit',
    );
  if (inTransit && !moved.includes(currency))
    throw new UsageError(
      `--in-transit: expected a currency that both exchanges can have, one of ${moved.join(', ')}, found ${currency}`,
    );
  const names = new Set([...known, ...placed.map(name => atPlace(tickerInName(name), TRANSIT))]);
  if (currency.includes('@') && !names.has(currency))
    throw new UsageError(
      `--currency: expected a currency of the ledger, one of ${[...names].join(', ')}, found ${currency}`,
    );
}

/** Returns the ledger entry of an operator's booking; `undefined` if there is none. */
const bookedIn = (
  file: LedgerFile | null,
  { currency, amount, reason, by }: Pick<MailMessage<'adjust'>, 'currency' | 'amount' | 'reason' | 'by'>,
): LedgerEntry | undefined =>
  file?.entries.find(
    ({ source, why, changes }) =>
      source.startsWith('adjust ') &&
      why === `${by}: ${reason}` &&
      changes.some(one => one.currency === currency && one.amount === amount),
  );

function amountOf(text: string): Money {
  let amount: Money;
  try {
    amount = moneyOf(text);
  } catch {
    throw new UsageError(`--amount: expected decimal digits like 12.5 or -12.5, found ${text}`);
  }
  if (amount === 0n) throw new UsageError('--amount: expected an amount other than 0');
  return amount;
}

/** Returns the login name of the operator. */
export function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'somebody';
  }
}

/**
 * Returns every other exchange in the ledger with the time of the last comparison of its balances; `null` if the last
 * run compared none.
 */
function comparedThere({ causes, checkedThere }: Pick<LedgerFile, 'causes' | 'checkedThere'>) {
  const named = [...causes.keys(), ...(checkedThere?.reported.keys() ?? [])].map(placeInName);
  const places = new Set(named.filter(place => place !== null && place !== TRANSIT) as string[]);
  return [...places].map(place => ({ place, at: checkedThere?.place === place ? checkedThere.at : null }));
}

function comparedText(file: LedgerFile): string {
  const own = file.checked
    ? `balances compared with the exchange at ${timeText(file.checked.at)}`
    : 'balances not compared with the exchange yet';
  const others = comparedThere(file).map(({ place, at }) =>
    at === null ? `, not yet with ${place}` : `, with ${place} at ${timeText(at)}`,
  );
  return own + others.join('');
}

function rowsOf({ causes, checked, checkedThere }: LedgerFile, shown: readonly LedgerEntry[]): Row[] {
  const within = causesFrom(shown);
  const names = new Set([
    ...causes.keys(),
    ...[checked, checkedThere].flatMap(each => [...(each?.reported.keys() ?? [])]),
  ]);
  return [...names]
    .sort()
    .map((currency): Row => {
      const all = causes.get(currency) ?? causesOf({});
      const closing = sumOfCauses(all);
      const own = within.get(currency) ?? causesOf({});
      const opening = money(closing - sumOfCauses(own) + own.opening);
      const place = placeInName(currency);
      // Money in transit is on no exchange, so no balance can be compared with it.
      const compared = place === null ? checked : place === checkedThere?.place ? checkedThere : null;
      const exchange = compared?.reported.get(currency) ?? null;
      const difference = exchange === null ? null : (compared?.differences.get(currency) ?? money(0n));
      return { currency, causes: { ...own, opening }, closing, exchange, difference };
    })
    .filter(
      ({ causes: all, closing, exchange }) =>
        CAUSES.some(cause => all[cause] !== 0n) || closing !== 0n || (exchange ?? 0n) !== 0n,
    );
}

const COLUMNS: readonly (Cause | 'closing' | 'exchange' | 'difference')[] = [
  ...CAUSES,
  'closing',
  'exchange',
  'difference',
];
const cellOf = (row: Row, column: (typeof COLUMNS)[number]): Money | null =>
  column === 'closing' || column === 'exchange' || column === 'difference' ? row[column] : row.causes[column];

/** Prints a column for each currency, aligned at the decimal points. */
function table(rows: readonly Row[]): string[] {
  const columns = rows.map(row => {
    const texts = COLUMNS.map(name => cellOf(row, name)).map(sum => (sum === null ? '' : textOfMoney(sum)));
    const decimals = Math.max(...texts.map(text => text.split('.')[1]?.length ?? 0));
    const cells = COLUMNS.map(name => cellOf(row, name)).map(sum => (sum === null ? '-' : textOfMoney(sum, decimals)));
    return [row.currency, ...cells];
  });
  const widths = columns.map(cells => Math.max(...cells.map(cell => cell.length)));
  return ['', ...COLUMNS].map((name, line) =>
    [name.padEnd(12), ...columns.map((cells, i) => (cells[line] ?? '').padStart((widths[i] ?? 0) + 2))]
      .join('')
      .trimEnd(),
  );
}

const csvOf = (rows: readonly Row[]): string[] => [
  ['currency', ...COLUMNS].join(','),
  ...rows.map(row => [row.currency, ...COLUMNS.map(name => textOrEmpty(cellOf(row, name)))].join(',')),
];
const textOrEmpty = (sum: Money | null): string => (sum === null ? '' : textOfMoney(sum));

function ledgerJson(
  dir: string,
  file: LedgerFile,
  rows: readonly Row[],
  { since }: LedgerAsk,
  /** Numbers of entries, and of adjustments that the bot has not booked yet. */
  counts: { readonly entries: number; readonly waiting: number },
  profit: ProfitNow | null,
) {
  const { checked, book } = file;
  const there = comparedThere(file);
  return {
    state: dir,
    since: since === undefined ? null : timeText(since),
    comparedAt: checked === null ? null : timeText(checked.at),
    comparedThereAt: Object.fromEntries(there.map(({ place, at }) => [place, at === null ? null : timeText(at)])),
    ...counts,
    profit: printedProfit(profit, minorOf({ book })),
    ...(profit === null || profit.unknown === null ? {} : { profitUnknown: profit.unknown }),
    currencies: Object.fromEntries(
      rows.map(row => [
        row.currency,
        Object.fromEntries(
          COLUMNS.map(name => {
            const sum = cellOf(row, name);
            return [name, sum === null ? null : textOfMoney(sum)];
          }),
        ),
      ]),
    ),
  };
}

function linesOfEntry(entry: LedgerEntry, { form, currency }: LedgerAsk): string[] {
  const { source, at, why } = entry;
  const rows = entryRows(entry).filter(row => currency === undefined || row.currency === currency);
  if (form === 'csv') return rows.map(row => csvLine(ENTRY_COLUMNS, row));
  const texts = rows.map(({ cause, currency: name, amount }) => ({
    cause,
    currency: name,
    amount: textOfMoney(amount),
  }));
  const price = bookedTrade(entry)?.price ?? null;
  if (form === 'json') return [JSON.stringify({ at: timeText(at), source, price, why, changes: texts })];
  const list = texts.map(change => `${change.cause} ${change.amount} ${change.currency}`).join(', ');
  return [`${timeText(at)}  ${source}  ${list}${why === null ? '' : `  (${why})`}`];
}

function profitLine({ booked, run, unknown }: ProfitNow, minor: string): string {
  if (unknown !== null) return unknownProfit(unknown);
  const { spread, inventory, fees, hedging, total } = partsText(booked.profit);
  return `profit ${profitSentence(booked, run, minor)}: ${total} = spread ${spread} + inventory ${inventory} + fees ${fees} + hedging ${hedging}`;
}

/** Returns a line with the profit of each book, and one with their sum in each quote currency. */
function profitLines(all: readonly BookProfit[]): readonly string[] {
  return [
    ...all.map(({ book, profit }) => {
      if (profit === null) return `${book}: no profit is stored yet`;
      return `${book}: ${profitLine(profit, pairOf(book)[1])}`;
    }),
    ...profitByCurrency(all).map(([currency, sum]) =>
      sum === null
        ? `all books in ${currency}: the profit of a book is unknown`
        : `all books in ${currency}: profit ${textOfMoney(sum.total)} since the opening of the ledger`,
    ),
  ];
}

/** Returns the sum of the profits in each quote currency; `null` if that of a book is unknown. */
const profitByCurrency = (all: readonly BookProfit[]): readonly (readonly [string, Profit | null])[] =>
  [...new Set(all.map(({ book }) => pairOf(book)[1]))].map(currency => [
    currency,
    profitTogether(all.filter(({ book }) => pairOf(book)[1] === currency).map(({ profit }) => profit)),
  ]);

/** Returns the profits of the further books, and the sum of all books in each quote currency. */
function profitsJson(all: readonly BookProfit[]): object {
  return {
    otherProfits: all.slice(1).map(({ book, profit }) => ({ book, profit: printedProfit(profit, pairOf(book)[1]) })),
    together: Object.fromEntries(profitByCurrency(all).map(([currency, sum]) => [currency, sum && partsText(sum)])),
  };
}

/** Returns the quote currency of the bot's book; empty if the state does not name the book. */
const minorOf = ({ book }: Pick<LedgerFile, 'book'>): string => (book === null ? '' : pairOf(book)[1]);
