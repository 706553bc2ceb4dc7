/**
 * Summary of one bot: the answer of the API to programs that show several bots. Sums and prices are exact decimal text,
 * times are epoch ms of the bot's clock.
 */
import type { ConsoleView, ShownBot, ShownEvent, ShownFill, ShownHalt, ShownRegime } from './page/view.ts';

/** Format of the summary. It changes only if a reader of the old format would misunderstand the new one. */
export const SUMMARY_FORMAT = 1;
/** Maximum number of stops in a summary, and of characters in each of its texts and names. */
export const SUMMARY_MAX = { halts: 5, text: 500, label: 80 } as const;

/**
 * Kind of money: `real`, `paper` (simulated fills on a real market) or `play` (an embedded exchange, or one on this
 * machine).
 */
export type MoneyKind = 'real' | 'paper' | 'play';

export type BotSummary = {
  readonly format: typeof SUMMARY_FORMAT;
  /** Version of the console that answers. */
  readonly version: string;
  /** Time at which the summary was made, by the clock of the console. It grows while the console works. */
  readonly madeAt: number;
  readonly bot: Pick<ShownBot, 'state' | 'beatAgoMs' | 'writtenAgoMs'>;
  readonly halts: readonly ShownHalt[];
  /** Last recorded run; `null` if there is none yet. */
  readonly run: SummaryRun | null;
  /** Further books of the run, in order; absent with one book, and in the summary of one book. */
  readonly otherBooks?: readonly SummaryRun[] | undefined;
  /** Problem that makes the figures unreliable; `null` if there is none. */
  readonly note: string | null;
};

export type SummaryRun = {
  /** Time of the last recorded event. */
  readonly at: number;
  readonly instance: string;
  readonly strategy: string;
  readonly money: MoneyKind;
  readonly book: string;
  readonly base: string;
  readonly quote: string;
  /** Time at which the ledger was opened, even while the profit is unknown; null if not stored. */
  readonly ledgerSince: string | null;
  /** Number and start of the newest run; null from an older console. */
  readonly number: number | null;
  readonly startedAt: number | null;
  readonly regime: ShownRegime;
  /** Reason why nothing is quoted; `null` while the bot quotes. */
  readonly refusal: string | null;
  /** Best prices of the book; `bookAgeMs` is their age. */
  readonly market: ConsoleView['decision']['market'];
  /**
   * Profit in the quote currency: total since the opening of the ledger at `since`, and of the last run. `null` if
   * unknown, with the reason in `unknown`.
   */
  readonly profit: { readonly total: string; readonly run: string | null; readonly since: string | null } | null;
  /** Inventory beyond the target, in the base currency; `null` if unknown. */
  readonly inventory: string | null;
  readonly unknown: string | null;
  /** Shares of the time with a live quote. */
  readonly uptime: { readonly bid: number; readonly ask: number };
  readonly fills: {
    readonly count: number | null;
    /** Newest fill. `agoMs`: real time since the fill, which also grows while the bot is stopped. */
    readonly last: (Pick<ShownFill, 'at' | 'side' | 'price' | 'amount'> & { readonly agoMs: number }) | null;
  };
  /** Most used limit, with the used share; `null` if no limit is configured. */
  readonly limit: { readonly limit: string; readonly share: number } | null;
  /** Warnings and errors of the last hour, and the newest of them. */
  readonly events: {
    readonly warnings: number;
    readonly errors: number;
    readonly last: ShownEvent | null;
  };
};

const HOUR_MS = 3_600_000;

/** Facts about the console that a view does not contain. */
type Maker = {
  readonly version: string;
  readonly madeAt: number;
  readonly money: MoneyKind;
  /** Speed of the bot's clock; 1 unless the bot is accelerated. */
  readonly speed: number;
};

/** Returns the summary of a live view. */
export function summaryOfView(view: ConsoleView, { version, madeAt, money, speed }: Maker): BotSummary {
  const { bot, decision, profit, limits, fills, catchingUp } = view;
  const [last] = fills.last;
  // The console's clock does not match an accelerated bot clock, so the age is computed from the last recorded event.
  const fillAgoMs = (at: number): number =>
    speed === 1
      ? Math.max(0, madeAt - at)
      : Math.max(0, view.at - at) / speed + Math.max(bot.beatAgoMs ?? 0, bot.writtenAgoMs ?? 0);
  // While the console reads a long recording, its view is of an earlier time.
  const behind =
    catchingUp === null ? null : `the console still reads the recording (${Math.floor(catchingUp * 100)}%)`;
  const silent = bot.state === 'silent' ? 'the bot sends no heartbeat; trades after its recording were not read' : null;
  return {
    ...{ format: SUMMARY_FORMAT, version, madeAt },
    ...shownBotOf(bot),
    note: boundedText(decision.difference ?? decision.note),
    run: {
      ...{ at: view.at, instance: boundedLabel(view.instance), strategy: boundedLabel(view.strategy), money },
      ...{ book: view.book, base: view.major, quote: view.minor, ledgerSince: view.ledgerSince },
      ...{ number: view.runs.at(-1)?.run ?? null, startedAt: view.runs.at(-1)?.from ?? null },
      regime: {
        ...decision.regime,
        regime: boundedLabel(decision.regime.regime),
        why: boundedText(decision.regime.why),
        ...(decision.regime.failure !== undefined && { failure: boundedText(decision.regime.failure) }),
      },
      refusal: boundedText(decision.refusal),
      market: behind === null ? decision.market : { bid: null, ask: null, bookAgeMs: null },
      profit:
        behind === null && profit !== null
          ? { total: profit.total, run: profit.run && profit.run.total, since: profit.since }
          : null,
      inventory: behind === null && silent === null ? view.position : null,
      unknown: boundedText(behind ?? view.unknown ?? silent),
      uptime: view.uptime,
      fills: {
        count: fills.count,
        last: last
          ? { ...{ at: last.at, side: last.side, price: last.price, amount: last.amount }, agoMs: fillAgoMs(last.at) }
          : null,
      },
      limit: limits.reduce<SummaryRun['limit']>(
        (most, { limit, share }) =>
          most === null || share > most.share ? { limit: boundedLabel(limit), share } : most,
        null,
      ),
      events: eventsIn(view),
    },
  };
}

/** Returns the summary of a bot without a recorded run. */
export const emptySummary = (
  bot: ShownBot,
  trouble: string | null,
  { version, madeAt }: Pick<Maker, 'version' | 'madeAt'>,
): BotSummary => ({
  ...{ format: SUMMARY_FORMAT, version, madeAt, run: null },
  ...shownBotOf(bot),
  note: boundedText(trouble),
});

const shownBotOf = ({ state, beatAgoMs, writtenAgoMs, halts }: ShownBot): Pick<BotSummary, 'bot' | 'halts'> => ({
  bot: { state, beatAgoMs, writtenAgoMs },
  halts: halts
    .slice(0, SUMMARY_MAX.halts)
    .map(halt => ({ ...halt, reason: boundedText(halt.reason), by: boundedText(halt.by) })),
});

function eventsIn({ events, at }: ConsoleView): SummaryRun['events'] {
  const recent = events.filter(event => event.level !== 'info' && at - event.at < HOUR_MS);
  const [last] = recent;
  const errors = recent.filter(({ level }) => level === 'error').length;
  return {
    ...{ errors, warnings: recent.length - errors },
    last: last ? { ...last, who: boundedText(last.who), text: boundedText(last.text) } : null,
  };
}

/** Cuts a name to the maximum, because one longer name would make readers reject the summary. */
const boundedLabel = <T extends string>(text: T): T => text.slice(0, SUMMARY_MAX.label) as T;

/** Cuts a text to the maximum. */
function boundedText(text: string): string;
function boundedText(text: string | null): string | null;
function boundedText(text: string | null): string | null {
  return text === null ? null : [...text].slice(0, SUMMARY_MAX.text).join('');
}
