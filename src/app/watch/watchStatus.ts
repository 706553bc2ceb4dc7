/**
 * `puntas status --watch`: status of a running bot, read continuously from its recording, for a terminal or as lines.
 */
import { counted, moneyOf, shortDecimal, sleep, type Clock, type Millis } from '../../core/index.ts';
import { signedCents } from '../../messages/shownProfit.ts';
import { wrapped } from '../../messages/wrapped.ts';
import { requireStateFolder, UsageError } from '../../wiring/usageError.ts';
import { LiveRun } from '../console/liveRun.ts';
import { holderText } from '../inspect/botLife.ts';
import { printedProfit, profitAt } from '../inspect/profitNow.ts';
import {
  profitOfBook,
  statusAt,
  type BotStatus,
  type RunStatus,
  type StatusMoment,
  type StatusQuote,
} from '../actions/botStatus.ts';
import { limitsText } from '../actions/botStatusText.ts';

/** Fill as the view lists it. */
export type WatchedFill = {
  /** Book of the fill; absent if the bot has one. */
  readonly book?: string;
  readonly at: Millis;
  readonly side: 'bid' | 'ask';
  readonly price: string;
  readonly amount: string;
};

export type WatchedStatus = {
  readonly status: BotStatus;
  /** Last fills, newest first. */
  readonly fills: readonly WatchedFill[];
  /** Progress of the replay of the recording, from 0 to 1; `null` once the figures are current. */
  readonly catchingUp: number | null;
};

const FILLS_SHOWN = 5;
/** Longest time since the replay had read the whole recording for which its figures count as current, in ms. */
const CURRENT_MS = 5_000;
/** Interval between two views, in ms. */
const WATCH_EVERY_MS = 1_000;
const LABEL = 10;

/** Reader of a bot's status. `read` returns the current status; `close` stops the reads. */
export type StatusWatch = { read(): WatchedStatus; close(): void };

/**
 * Starts to read the recording of a bot, which does not affect the bot.
 * @throws UsageError if there is no state.
 */
export function watchStatus(dir: string, clock: Clock): StatusWatch {
  requireStateFolder(dir);
  const live = new LiveRun(dir, clock);
  live.start();
  // Until the replay is complete, its figures are those of an earlier time, and are not shown.
  let currentAt = -Infinity;
  return {
    read: () => {
      const { catchingUp, trouble } = live;
      if (live.isCaughtUp) currentAt = clock.elapsed();
      const isCurrent = clock.elapsed() - currentAt <= CURRENT_MS;
      const moment = isCurrent ? momentOf(live) : null;
      const profits = (moment?.books ?? []).map(({ setup: { book }, rules: { instrument } }) => ({
        book,
        profit: printedProfit(profitAt(moment, null, book), instrument.minor),
      }));
      const [first, ...otherProfits] = profits;
      const status = statusAt(
        dir,
        clock.now(),
        moment ?? (trouble === null ? null : new UsageError(trouble)),
        first?.profit ?? null,
      );
      return {
        status: { ...status, ...(otherProfits.length === 0 ? {} : { otherProfits }) },
        fills: isCurrent ? lastFillsOf(live) : [],
        catchingUp: isCurrent ? null : catchingUp,
      };
    },
    close: () => live.stop(),
  };
}

/** Output of the view. */
export type WatchOutput = {
  show(seen: WatchedStatus): void;
  /** Returns the number of texts that the output did not accept. */
  lost(): number;
  /** Returns the number of bytes that no program has read yet. */
  unread(): number;
};

/**
 * Shows the status each second. Resolves to the last status when the bot ends; to `null` when `stopped` is aborted or
 * the reader of the output has gone.
 */
export async function showUntilEnd(
  watched: StatusWatch,
  output: WatchOutput,
  clock: Clock,
  stopped: AbortSignal,
): Promise<WatchedStatus | null> {
  for (;;) {
    if (output.lost() > 0) return null;
    const seen = watched.read();
    const isEnd = endOfWatch(seen) !== null;
    // While no program reads, no further view is written: unread views would use memory without limit.
    if (isEnd || output.unread() === 0) output.show(seen);
    if (isEnd) return seen;
    await sleep(clock, WATCH_EVERY_MS, stopped);
    if (stopped.aborted) return null;
  }
}

function momentOf({ replay, runs, trouble }: LiveRun): StatusMoment | null {
  const now = replay?.now;
  const started = runs.find(({ run }) => run === replay?.run)?.from;
  if (!replay || !now || started === undefined) return null;
  const { engine, seen, setup } = now;
  const books = now.books.map(each => ({ rules: { instrument: each.history.instrument }, setup: each.setup }));
  return {
    ...{ engine, seen, setup, rules: books[0]!.rules, books, run: replay.run, startedAt: started },
    ...{ difference: replay.ended?.difference ?? null, note: trouble },
  };
}

/** Returns the last fills of all books, newest first. */
function lastFillsOf({ replay }: LiveRun): readonly WatchedFill[] {
  const books = replay?.now?.books ?? [];
  return books
    .flatMap(({ book, history }) =>
      history.fills(FILLS_SHOWN).map(fill => ({ ...(books.length === 1 ? {} : { book: book.symbol }), ...fill })),
    )
    .toSorted((a, b) => b.at - a.at)
    .slice(0, FILLS_SHOWN);
}

/** Returns the view as rows of at most `width` columns, except for words that are longer. */
export function watchedRows({ status, fills, catchingUp }: WatchedStatus, width: number): readonly string[] {
  const { run, heldBy, note, otherBooks = [] } = status;
  const row = (name: string, text: string) =>
    wrapped(text, Math.max(8, width - LABEL)).map((part, i) => `${(i === 0 ? name : '').padEnd(LABEL)}${part}`);
  const runs = [...(run === null ? [] : [run]), ...otherBooks];
  const on = runs.length > 1 ? counted(runs.length, 'book') : run?.book;
  const name = run === null ? 'bot' : `${run.instance} on ${on}`;
  return [
    ...wrapped(`${name}: ${lifeWord(status)}, ${clockTime(status.at)} UTC`, width),
    ...(catchingUp === null ? [] : row('reading', `the recording: ${Math.floor(catchingUp * 100)}%`)),
    ...(heldBy.length === 0 ? row('held by', 'none') : heldBy.flatMap(held => row('held by', stopWithReason(held)))),
    ...runs.flatMap(each => [
      ...(runs.length > 1 ? ['', each.book] : []),
      ...runRows(each, row),
      ...profitRow(profitOfBook(status, each.book), row),
    ]),
    ...(runs.length > 1 && fills.length > 0 ? [''] : []),
    ...fills.flatMap(({ at, book, side, price, amount }, i) =>
      row(
        i === 0 ? 'last' : '',
        `${clockTime(at)} ${book === undefined ? '' : `${book} `}${side} ${shortDecimal(amount)} at ${shortDecimal(price)}`,
      ),
    ),
    ...(note === null ? [] : row('note', note)),
  ];
}

const profitRow = (profit: BotStatus['profit'], row: Row): readonly string[] =>
  profit === null
    ? []
    : row(
        'profit',
        `${signedCents(moneyOf(profit.total))} ${profit.currency} (spread ${signedCents(moneyOf(profit.spread))}, inventory ${signedCents(moneyOf(profit.inventory))}, fees ${signedCents(moneyOf(profit.fees))})`,
      );

const stopWithReason = (held: BotStatus['heldBy'][number]): string => `${holderText(held)}: ${held.reason}`;

type Row = (name: string, text: string) => readonly string[];

const runRows = (run: RunStatus, row: Row): readonly string[] => [
  ...row('regime', `${run.regime.regime}: ${run.regime.why}`),
  ...row('bid', bestQuoteText(run.bids)),
  ...row('ask', bestQuoteText(run.asks)),
  ...(run.whyNot === null || run.whyNot === run.regime.why ? [] : row('', run.whyNot)),
  ...row('market', `${shortDecimal(run.market.bid ?? 'none')} / ${shortDecimal(run.market.ask ?? 'none')}`),
  ...row('inventory', inventoryRowText(run)),
  ...row('limits', limitsText(run.limits)),
  ...row('fills', run.fills === null ? 'unknown' : `${run.fills} in this run`),
];

/** Returns the view as one line, for an output that is not a terminal. */
export function watchedLine({ status, catchingUp }: WatchedStatus): string {
  const { run, heldBy, otherBooks = [] } = status;
  const runs = [...(run === null ? [] : [run]), ...otherBooks];
  const parts = [
    `${clockTime(status.at)} UTC`,
    lifeWord(status),
    ...(catchingUp === null ? [] : [`reading the recording: ${Math.floor(catchingUp * 100)}%`]),
    ...heldBy.map(held => `held by ${stopWithReason(held)}`),
    ...runs.flatMap(each => [
      ...(runs.length > 1 ? [each.book] : []),
      ...bookParts(each, profitOfBook(status, each.book)),
    ]),
  ];
  return parts.join(' | ');
}

const bookParts = (run: RunStatus, profit: BotStatus['profit']): readonly string[] => [
  // The reason of a regime that needs no attention would only make the line longer.
  run.regime.regime === 'normal' ? 'normal' : `${run.regime.regime}: ${run.regime.why}`,
  `bid ${bestQuoteText(run.bids)}`,
  `ask ${bestQuoteText(run.asks)}`,
  run.inventory.fromTarget === null
    ? 'inventory unknown'
    : `${shortDecimal(run.inventory.fromTarget)} ${run.inventory.currency} from target`,
  `fills ${run.fills ?? 'unknown'}`,
  ...(profit === null ? [] : [`profit ${signedCents(moneyOf(profit.total))} ${profit.currency}`]),
];

/** Returns the reason why the view ends; `null` while the bot runs. */
export function endOfWatch({ status: { bot }, catchingUp }: WatchedStatus): string | null {
  // The view does not end before it has shown the last figures.
  if (catchingUp !== null) return null;
  switch (bot.state) {
    case 'runs':
      return null;
    case 'stopped':
      return 'the bot has stopped cleanly';
    case 'silent':
      return 'the bot is down or sends no heartbeat, and was not stopped; see puntas status';
    case 'never ran':
      return 'the state directory has no bot: none has run yet, or its files were removed';
  }
}

function lifeWord({ at, bot }: BotStatus): string {
  if (bot.state !== 'runs') return bot.state === 'silent' ? 'NO HEARTBEAT' : bot.state;
  const seconds = Math.max(0, Math.floor((at - (bot.since ?? at)) / 1_000));
  if (seconds < 60) return `runs for ${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `runs for ${minutes} min` : `runs for ${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function bestQuoteText(quotes: readonly StatusQuote[] | null): string {
  if (quotes === null) return 'unknown';
  const [best] = quotes;
  if (best === undefined) return 'none';
  const levels = quotes.length === 1 ? '' : `, ${counted(quotes.length, 'level')}`;
  return `${shortDecimal(best.amount)} at ${shortDecimal(best.price)}${levels}`;
}

function inventoryRowText({ inventory, holdings, unknown }: RunStatus): string {
  if (inventory.fromTarget === null || holdings === null) return `unknown: ${unknown ?? ''}`;
  const all = Object.entries(holdings).filter(([, sum]) => /[1-9]/.test(sum));
  const sums = all.map(([name, sum]) => `${shortDecimal(sum)} ${name}`).join(', ');
  return `${shortDecimal(inventory.fromTarget)} ${inventory.currency} from target; ${sums}`;
}

const clockTime = (at: Millis): string => new Date(at).toISOString().slice(11, 19);
