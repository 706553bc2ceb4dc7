/** View of all bots: one row for each, and exact sums, separate for real, paper and play money. */
import {
  SUMMARY_MAX,
  type BotSummary,
  type FleetRate,
  type FleetRow,
  type FleetSums,
  type FleetView,
  type MoneyKind,
  type SummaryRun,
} from '../console/index.ts';
import { counted, money, moneyOf, textOfMoney, type Millis, type Money } from '../core/index.ts';
import type { HeardState } from './botWatch.ts';
import { converted, currencyRate, type BookMid, type CurrencyRate } from './rates.ts';

/** One bot with the state of its console. */
export type HeardBot = {
  readonly name: string;
  /** Name of the bot, if it has several books and this is one of its rows. */
  readonly bot?: string;
  readonly link: string;
  /** `play` if the file of the fleet says that the money is not real. */
  readonly money?: 'play' | undefined;
  readonly heard: HeardState;
};

/** Used share of a limit at which the row shows an alert, as on the console. */
const LIMIT_NEAR = 0.9;
/** Time without growth of the recording after which the figures count as old, in ms, as on the console. */
const RECORDING_LATE_MS = 10_000;
/** Maximum number of alerts in a row. */
const ALERTS_MAX = 8;
const KINDS: readonly MoneyKind[] = ['real', 'paper', 'play'];

/** Row of the view, with its sums as exact numbers instead of text. */
type Counted = {
  readonly row: FleetRow;
  /** Name of the bot; several rows can be books of one bot. */
  readonly bot: string;
  readonly run: SummaryRun | null;
  /** Time since the bot's recording grew, in ms; `null` if unknown. */
  readonly writtenAgoMs: Millis | null;
  readonly profit: Money | null;
  readonly runProfit: Money | null;
  readonly rate: CurrencyRate | null;
};

/** Returns the view. `currency`: currency of the sums of profit. */
export function fleetView(
  heardBots: readonly HeardBot[],
  currency: string,
  { at, version }: { readonly at: Millis; readonly version: string },
): FleetView {
  const bots = heardBots.map(withOwnMoney).flatMap(rowsOfBot);
  // By what the consoles say: the configuration of the fleet may have a bot twice, once as play money.
  const sameAs = sameBots(heardBots.flatMap(rowsOfBot));
  const mids = { real: midsOf(bots, ['real', 'paper']), play: midsOf(bots, ['play']) };
  const counted = bots.map((bot, i) => countedRow(bot, sameAs[i] ?? null, currency, mids));
  const sums = KINDS.flatMap(kind => {
    const of = counted.filter(({ run }) => run?.money === kind);
    return of.length === 0 ? [] : [sumsOf(kind, of, currency)];
  });
  return { at, version, currency, sums: withUnknownBots(sums, counted), bots: counted.map(({ row }) => row) };
}

/** Returns the bot with the kind of money that the configuration of the fleet sets, if any. */
function withOwnMoney(bot: HeardBot): HeardBot {
  const { money: kind, heard } = bot;
  const { summary } = heard;
  if (kind === undefined || summary === null || summary.run === null) return bot;
  const { run, otherBooks } = summary;
  const others = otherBooks === undefined ? {} : { otherBooks: otherBooks.map(each => ({ ...each, money: kind })) };
  return { ...bot, heard: { ...heard, summary: { ...summary, run: { ...run, money: kind }, ...others } } };
}

/** Returns one row for each book of a bot with several; otherwise the bot. */
function rowsOfBot(bot: HeardBot): readonly HeardBot[] {
  const { name, link, heard } = bot;
  const { summary } = heard;
  const { run = null, otherBooks = [] } = summary ?? {};
  if (summary === null || run === null || otherBooks.length === 0) return [bot];
  return [run, ...otherBooks].map(each => ({
    ...{ ...bot, name: `${name} ${each.book}`, bot: name, link: linkOfBook(link, each.book) },
    heard: {
      ...heard,
      summary: {
        ...summary,
        ...{ otherBooks: [], run: each },
        halts: summary.halts.filter(({ book = each.book }) => book === each.book),
      },
    },
  }));
}

/** Returns the address of the page of a book. */
function linkOfBook(link: string, book: string): string {
  if (!URL.canParse(link)) return link;
  const address = new URL(link);
  address.searchParams.set('book', book);
  return address.href;
}

/**
 * Returns, for each row, the name of the row that counts if several rows show the same bot; `null` if the row itself
 * counts. Rows with a common identity show the same bot. The first row whose console answers counts, because a state
 * directory may have moved to another machine; of several, the first that knows the profit.
 */
function sameBots(bots: readonly HeardBot[]): readonly (string | null)[] {
  const identities = bots.map(({ heard: { summary } }) => (summary === null ? [] : botIdentities(summary)));
  const groups = grouped(identities);
  const counting = new Map<number, HeardBot>();
  for (const [i, bot] of bots.entries()) {
    const known = counting.get(groups[i]!);
    if (known === undefined || usefulness(bot) > usefulness(known)) counting.set(groups[i]!, bot);
  }
  return bots.map((bot, i) => {
    const counts = counting.get(groups[i]!)!;
    return counts === bot ? null : counts.name;
  });
}

const usefulness = ({ heard: { state, summary } }: HeardBot): number =>
  (state === 'heard' ? 2 : 0) + (summary?.run?.profit ? 1 : 0);

/** Returns a number for each list of identities. Lists that are connected by common identities have the same number. */
function grouped(identities: readonly (readonly string[])[]): readonly number[] {
  const groups = identities.map((_, i) => i);
  const firstWith = new Map<string, number>();
  for (const [i, own] of identities.entries())
    for (const identity of own) {
      const first = firstWith.get(identity);
      if (first === undefined) firstWith.set(identity, i);
      else {
        const [kept, replaced] = [groups[first]!, groups[i]!];
        for (const [j, group] of groups.entries()) if (group === replaced) groups[j] = kept;
      }
    }
  return groups;
}

/**
 * Returns keys that identify the bot of a summary, also while its profit is unknown: one has the time, to the
 * millisecond, at which the ledger was opened, the other the number and start of the newest run. Two bots share no key.
 * Without a run there is none.
 */
function botIdentities({ run }: BotSummary): readonly string[] {
  if (run === null) return [];
  const since = run.ledgerSince ?? run.profit?.since ?? null;
  const { instance, book, money: kind, number, startedAt } = run;
  const bot = [instance, book, kind].join(' ');
  return [
    ...(since === null ? [] : [`${bot} opened ${since}`]),
    ...(number === null || startedAt === null ? [] : [`${bot} run ${number} at ${startedAt}`]),
  ];
}

/** Returns the mid prices of the bots' books. The market of play money is simulated, so it prices only play money. */
function midsOf(bots: readonly HeardBot[], kinds: readonly MoneyKind[]): readonly BookMid[] {
  return bots.flatMap(({ heard: { summary, heardAgoMs } }) => {
    const run = summary?.run ?? null;
    // The book of a stopped or silent bot is older than its age says.
    if (run === null || !kinds.includes(run.money) || summary?.bot.state !== 'running') return [];
    const { bid, ask, bookAgeMs } = run.market;
    if (bid === null || ask === null || bookAgeMs === null) return [];
    const twiceMid = money(moneyOf(bid) + moneyOf(ask));
    const ageMs = heardAgoMs + bookAgeMs + (summary.bot.writtenAgoMs ?? 0);
    return [{ book: run.book, base: run.base, quote: run.quote, twiceMid, ageMs }];
  });
}

/** Returns the age of a bot's figures, in ms. A bot that hangs has old figures even in a new summary. */
const figuresAge = ({ bot: { beatAgoMs, writtenAgoMs } }: BotSummary, heardAgoMs: Millis): Millis =>
  heardAgoMs + Math.max(beatAgoMs ?? 0, writtenAgoMs ?? 0);

/** Whether the figures can be behind the bot's trades. The figures of a stopped bot are final. */
function isStale({ row, writtenAgoMs }: Counted): boolean {
  if (row.state === 'silent' || row.bot === 'silent') return true;
  return row.bot === 'running' && writtenAgoMs !== null && writtenAgoMs > RECORDING_LATE_MS;
}

function countedRow(
  { name, bot = name, link, heard }: HeardBot,
  sameAs: string | null,
  currency: string,
  mids: Readonly<Record<'real' | 'play', readonly BookMid[]>>,
): Counted {
  const { state, summary, heardAgoMs, problem } = heard;
  const run = summary?.run ?? null;
  const rate = run && currencyRate(run.quote, currency, run.money === 'play' ? mids.play : mids.real);
  const own = run?.profit ? moneyOf(run.profit.total) : null;
  const ownRun = typeof run?.profit?.run === 'string' ? moneyOf(run.profit.run) : null;
  const valueOf = (sum: Money | null): Money | null => (sum === null || rate === null ? null : converted(sum, rate));
  const [profit, runProfit] = [valueOf(own), valueOf(ownRun)];
  const last = run?.fills.last ?? null;
  const row: FleetRow = {
    ...{ name, link, state, heardAgoMs, problem, sameAs },
    figuresAgoMs: summary === null ? null : Math.round(figuresAge(summary, heardAgoMs)),
    trouble: troubleOf(heard, sameAs),
    version: summary?.version ?? null,
    bot: summary?.bot.state ?? null,
    money: run?.money ?? null,
    book: run?.book ?? null,
    base: run?.base ?? null,
    quote: run?.quote ?? null,
    instance: run?.instance ?? null,
    strategy: run?.strategy ?? null,
    regime: run?.regime.regime ?? null,
    why: run && (run.regime.failure ?? run.refusal ?? (run.regime.why === '' ? null : run.regime.why)),
    ownProfit: run?.profit?.total ?? null,
    profit: textOrNull(profit),
    runProfit: textOrNull(runProfit),
    inventory: run?.inventory ?? null,
    uptime: run && Math.min(run.uptime.bid, run.uptime.ask),
    fillCount: run?.fills.count ?? null,
    lastFill: run && last && { ...last, agoMs: Math.round(last.agoMs + heardAgoMs) },
    alerts: (summary === null ? [] : alertsOf(summary)).slice(0, ALERTS_MAX).map(({ level, text }) => ({
      level,
      text: [...text].slice(0, SUMMARY_MAX.text).join(''),
    })),
  };
  return { row, bot, run, writtenAgoMs: summary?.bot.writtenAgoMs ?? null, profit, runProfit, rate };
}

const textOrNull = (sum: Money | null): string | null => (sum === null ? null : textOfMoney(sum));

/**
 * Returns a sentence on the problem of a row, for example a silent console, a stopped bot, or a bot that is listed
 * twice; `null` if the bot runs without a problem.
 */
function troubleOf({ state, summary, heardAgoMs, problem }: HeardState, sameAs: string | null): string | null {
  if (state === 'silent') return `silent for ${silenceText(heardAgoMs)}: ${problem ?? 'unknown'}`;
  if (sameAs !== null) return `the same bot as ${sameAs}; its figures count once`;
  if (state === 'waiting' || summary === null) return 'waiting for the first answer';
  const { bot, note, run } = summary;
  switch (bot.state) {
    case 'silent':
      return `no heartbeat${bot.beatAgoMs === null ? '' : ` for ${silenceText(bot.beatAgoMs + heardAgoMs)}`}: the bot's process is down or hangs`;
    case 'never ran':
      return 'this bot has not run yet';
    case 'stopped':
      return `stopped${bot.beatAgoMs === null ? '' : ` for ${silenceText(bot.beatAgoMs + heardAgoMs)}`}`;
    case 'running': {
      const { writtenAgoMs } = bot;
      const isLate = writtenAgoMs !== null && writtenAgoMs > RECORDING_LATE_MS;
      return (
        note ??
        run?.unknown ??
        (isLate ? `its recording has not grown for ${silenceText(writtenAgoMs)}; check its disk` : null)
      );
    }
  }
}

/** Formats a duration in seconds, and above two minutes in minutes or hours. */
function silenceText(ms: Millis): string {
  const s = Math.floor(ms / 1_000);
  if (s < 120) return `${s} s`;
  return s < 7_200 ? `${Math.floor(s / 60)} min` : `${Math.floor(s / 3_600)} h`;
}

function alertsOf({ halts, run }: BotSummary): FleetRow['alerts'] {
  const limit = run?.limit ?? null;
  const failure = run?.regime.failure;
  const { warnings = 0, errors = 0, last = null } = run?.events ?? {};
  const count = [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ].join(', ');
  return [
    ...(failure === undefined ? [] : [{ level: 'error' as const, text: `strategy file failed: ${failure}` }]),
    ...halts.map(({ what, reason, by }) => ({
      level: what === 'halted' || what === 'held' ? ('error' as const) : ('warn' as const),
      text: `${what} by ${by}: ${reason}`,
    })),
    ...(limit !== null && limit.share >= LIMIT_NEAR
      ? [{ level: 'error' as const, text: `${limit.limit}: ${Math.floor(limit.share * 100)}% of the limit used` }]
      : []),
    ...(last === null
      ? []
      : [
          {
            level: errors > 0 ? ('error' as const) : ('warn' as const),
            text: `${count} in the last hour; last: ${last.text}`,
          },
        ]),
  ];
}

function sumsOf(kind: MoneyKind, of: readonly Counted[], currency: string): FleetSums {
  const once = of.filter(({ row }) => row.sameAs === null);
  const inRate = once.filter(({ row, rate }) => row.ownProfit !== null && rate === null);
  return {
    ...{ money: kind, bots: botsIn(once) },
    profit: textOrNull(totalOf(once.map(({ profit }) => profit))),
    runProfit: textOrNull(totalOf(once.map(({ runProfit }) => runProfit))),
    unconverted: byCurrency(inRate, ({ row: { quote, ownProfit } }) => [quote, ownProfit]).map(
      ({ currency, amount, bots }) => ({ currency, profit: amount, bots }),
    ),
    rates: usedRates(once, currency),
    inventory: byCurrency(once, ({ row: { base, inventory } }) => [base, inventory]),
    stale: once
      .filter(isStale)
      .map(({ row: { name, heardAgoMs, figuresAgoMs } }) => ({ name, figuresAgoMs: figuresAgoMs ?? heardAgoMs })),
    missing: once.flatMap(({ row, run }) => {
      const why = run?.unknown ?? row.trouble ?? 'unknown';
      return [
        ...(row.ownProfit === null ? [{ name: row.name, what: 'profit', why }] : []),
        ...(row.inventory === null ? [{ name: row.name, what: 'inventory', why }] : []),
      ];
    }),
  };
}

/** Lists the bots without figures as missing in the first sums. If there are no sums, only the rows show these bots. */
function withUnknownBots(sums: readonly FleetSums[], counted: readonly Counted[]): readonly FleetSums[] {
  const unheard = counted
    .filter(({ run }) => run === null)
    .map(({ row }) => ({ name: row.name, what: 'figures', why: row.trouble ?? 'no figures yet' }));
  return sums.map((each, i) => (i === 0 ? { ...each, missing: [...each.missing, ...unheard] } : each));
}

/** Returns the number of bots of rows. */
const botsIn = (of: readonly Counted[]): number => new Set(of.map(({ bot }) => bot)).size;

/** Returns the exact sum of the known values; `null` if none is known. */
function totalOf(values: readonly (Money | null)[]): Money | null {
  const known = values.filter(value => value !== null);
  return known.length === 0 ? null : money(known.reduce((sum, value) => sum + value, 0n));
}

function byCurrency(
  of: readonly Counted[],
  amountOf: (each: Counted) => readonly [string | null, string | null],
): readonly { readonly currency: string; readonly amount: string; readonly bots: number }[] {
  const found = new Map<string, { readonly sum: bigint; readonly of: readonly Counted[] }>();
  for (const each of of) {
    const [currency, amount] = amountOf(each);
    if (currency === null || amount === null) continue;
    const before = found.get(currency) ?? { sum: 0n, of: [] };
    found.set(currency, { sum: before.sum + moneyOf(amount), of: [...before.of, each] });
  }
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, { sum, of: rows }]) => ({ currency, amount: textOfMoney(money(sum)), bots: botsIn(rows) }));
}

/** Returns the rates that the sums use, once for each currency. */
function usedRates(of: readonly Counted[], currency: string): readonly FleetRate[] {
  const used = new Map<string, CurrencyRate>();
  for (const { rate, row } of of)
    if (rate !== null && row.ownProfit !== null && rate.from !== currency) used.set(rate.from, rate);
  return [...used.values()].map(({ from, to, up, down, ageMs, books }) => ({
    ...{ from, to, ageMs: Math.round(ageMs), books },
    rate: textOfMoney(money((up * 10n ** 18n) / down)),
  }));
}
