/**
 * `puntas console`: a separate process that follows a bot's recording and shows it on a page. It has no API key and
 * sends nothing to an exchange. Operators act through the bot's state directory.
 */
import { LARGE_FILE, readRegularFile } from '../../guard/index.ts';
import { existsSync } from 'node:fs';
import { repeatEvery, textOfError, type Clock, type Millis } from '../../core/index.ts';
import { isOnThisMachine, type Config } from '../../config.ts';
import {
  emptySummary,
  serveConsole,
  summaryOfView,
  type BotSummary,
  type ConsoleServer,
  type ConsoleView,
  type DeskView,
  type MoneyKind,
  type OnReplayed,
} from '../../console/index.ts';
import type { ActionAsk } from '../actions/actions.ts';
import { botClockIn } from '../../live/safety/heartbeat.ts';
import { isPaperState } from '../../live/state/paperMark.ts';
import { jsonWithOldNames } from '../../messages/oldNames.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { refuseOpenInspector } from '../../wiring/safeProcess.ts';
import { recoverChange } from '../actions/setParameter.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { BesideRun } from './besideRun.ts';
import { deskOf } from './deskOf.ts';
import { consoleAccess, LoginEvents } from './consoleAccess.ts';
import { actionEvents, consoleActions } from './consoleActions.ts';
import { consoleApi } from './consoleApi.ts';
import { consoleProposals, shownProposals } from './consoleProposals.ts';
import { notedChangesIn, shownChange, withNotes } from './history/configHistory.ts';
import { consoleView } from './consoleView.ts';
import { LiveRun } from './liveRun.ts';
import { KeptLongHistory } from './keptLongHistory.ts';
import { callEvery, refuseKeys } from './pageProcess.ts';
import { fromPackages, pageScripts } from './pageScripts.ts';
import { replayedBook } from './runReplay.ts';
import { replaysOf } from './replays.ts';

export type ConsoleAsk = {
  readonly config: Config;
  /** Bot that the actions apply to. */
  readonly bot: WhichBot;
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly clock: Clock;
  /** Version of Puntas. */
  readonly version: string;
  /** Environment variables of the console process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Receives a line for each login, and for wrong tokens. */
  readonly onLine?: (line: string) => void;
};

/** Interval at which open pages receive a view, in ms of real time. */
const VIEW_EVERY_MS = 1_000;
/** Interval at which the ledger is copied and read, in ms. */
const LEDGER_EVERY_MS = 30_000;
/** Interval at which a ledger is looked for while none is known, in ms. */
const MISSING_LEDGER_EVERY_MS = 2_000;
/** Interval at which the bot's metrics are read, in ms. */
const METRICS_EVERY_MS = 5_000;
const PING_EVERY_MS = 10_000;

/** Starts the console server. Rejects with a remedy if a key is in the environment, or if the port is unavailable. */
export async function startConsole(ask: ConsoleAsk): Promise<ConsoleServer> {
  const { config, clock } = ask;
  refuseKeys(ask.environment, 'console');
  refuseOpenInspector();
  const logins = new LoginEvents(clock, ask.onLine ?? (() => undefined));
  const access = consoleAccess(config.console, clock, event => logins.add(event));
  const live = new LiveRun(config.state.dir, clock);
  const { book, state, metrics, exchange } = config;
  const replays = replaysOf({ config: { book, state, metrics, exchange }, bot: ask.bot }, clock);
  // The hedger is looked up in the bot's last recorded configuration, because the bot may have reloaded the file since
  // this process read it.
  const hasHedger = () => (live.replay?.now?.setup ?? config).hedge !== undefined;
  const preview = (asked: ActionAsk, onShare: OnReplayed) => replays.preview(asked, onShare);
  // `names` is a getter that runs at each request. `Object.assign` keeps the getter; a spread would copy its current
  // value.
  const actions = access?.operatorToken
    ? Object.assign(consoleActions(ask.bot, clock, hasHedger, preview), {
        proposals: consoleProposals(ask.bot, clock, preview),
      })
    : null;
  const kept = new KeptSummary();
  const api = consoleApi(ask.bot, clock, actions !== null, {
    read: read => replays.read(read),
    preview: asked => replays.preview(asked, () => undefined),
    proposalPreview: asked => replays.proposalPreview(asked),
    summary: book => kept.text(book),
    events: book => beside.events(book),
  });
  const acted = actionEvents(config.state.dir);
  const beside = new BesideRun(config, clock, () => [...acted(), ...logins.shown]);
  const proposals = shownProposals(ask.bot, clock);
  const noted = notedChangesIn(config.state.dir);
  const long = new KeptLongHistory(live, beside, noted);
  const server = await serveConsole(
    {
      scripts: pageScripts(),
      libraryStyle: readRegularFile(fromPackages('uplot/dist/uPlot.min.css'), LARGE_FILE),
      history: book => {
        const now = live.replay?.now ?? null;
        const shown = now && replayedBook(now, book)?.history.shown;
        return shown ? JSON.stringify({ ...shown, changes: withNotes(shown.changes, noted()).map(shownChange) }) : null;
      },
      longHistory: book => long.text(book),
      past: (at, signal, onProgress, book) =>
        replays.past({ at, runs: live.runs, logins: logins.shown, book }, signal, onProgress),
    },
    { ...ask, access, actions, api },
  );
  if (actions !== null && existsSync(config.state.dir))
    void recoverChange(ask.bot, clock).catch((error: unknown) => ask.onLine?.(textOfError(error)));
  live.start();
  const timers = [
    callEvery(clock, VIEW_EVERY_MS, () => {
      const shownProposals = server.pages > 0 ? proposals() : [];
      if (shownSymbols(live).length > 1) {
        for (const book of server.books)
          if (book !== undefined) server.send(JSON.stringify(bookPage(live, beside, book, shownProposals)), book);
        // Also without a page, so that the next page does not first show an old view.
        const desk = deskView(live, beside);
        if (desk !== null) server.send(JSON.stringify({ ...desk, proposals: shownProposals }));
        kept.replace(book =>
          book === undefined ? deskSummary(live, beside, ask) : bookSummary(live, beside, ask, book),
        );
        return;
      }
      const view = liveView(live, beside);
      const shown = view === null ? waiting(live, beside) : { ...view, proposals: shownProposals };
      for (const book of new Set([undefined, ...server.books]))
        if (book === undefined || book === view?.book) server.send(JSON.stringify(shown), book);
        else server.send(JSON.stringify(bookPage(live, beside, book, shownProposals)), book);
      const madeAt = clock.now();
      kept.replace(book => {
        if (book !== undefined && view !== null && book !== view.book) throw unknownBook(live, book);
        return botSummaryOf(view, shown.bot, live, ask, madeAt);
      });
    }),
    callEvery(clock, LEDGER_EVERY_MS, () => void beside.readLedger()),
    repeatEvery(clock, MISSING_LEDGER_EVERY_MS, () => void beside.readMissingLedger()),
    callEvery(clock, METRICS_EVERY_MS, () => void (server.pages > 0 && beside.readMetrics())),
    callEvery(clock, PING_EVERY_MS, () => server.ping()),
  ];
  return {
    url: server.url,
    get pages() {
      return server.pages;
    },
    get books() {
      return server.books;
    },
    send: (view, book) => server.send(view, book),
    ping: () => server.ping(),
    close: async () => {
      for (const timer of timers) timer.stop();
      live.stop();
      replays.close();
      await server.close();
    },
  };
}

/** Newest summaries as JSON. Each is computed at its first read, and further reads return the same text. */
class KeptSummary {
  #make: ((book: string | undefined) => BotSummary) | null = null;
  #texts = new Map<string | undefined, string>();

  /** Replaces the summaries with the results of `make`, which is called at the first read of a book. */
  replace(make: (book: string | undefined) => BotSummary): void {
    [this.#make, this.#texts] = [make, new Map<string | undefined, string>()];
  }

  /** Returns the summary of a book; without a symbol, that of the bot. Throws if the bot does not have the book. */
  text(book: string | undefined): string | null {
    const text = this.#texts.get(book) ?? (this.#make && jsonWithOldNames(this.#make(book)));
    if (text !== null) this.#texts.set(book, text);
    return text;
  }
}

/**
 * Returns the summary of a view; if `view` is `null`, the summary of a bot without a recorded run. `madeAt`: time of
 * the view.
 */
function botSummaryOf(
  view: ConsoleView | null,
  bot: ConsoleView['bot'],
  live: LiveRun,
  { version, config }: ConsoleAsk,
  madeAt: Millis,
): BotSummary {
  if (view === null) return emptySummary(bot, live.trouble, { version, madeAt });
  const { exchange } = live.replay?.now?.setup ?? config;
  const money = moneyKind([exchange, config.exchange], isPaperState(config.state.dir));
  return summaryOfView(view, { version, madeAt, money, speed: botClockIn(config.state.dir).speed });
}

/** Returns the summary of one of several books. Throws if the bot does not have the book. */
function bookSummary(live: LiveRun, beside: BesideRun, ask: ConsoleAsk, book: string): BotSummary {
  if (!shownSymbols(live).includes(book)) throw unknownBook(live, book);
  return botSummaryOf(liveView(live, beside, book), beside.bot(null), live, ask, ask.clock.now());
}

/** Returns the summary of all books, with the stops of all. */
function deskSummary(live: LiveRun, beside: BesideRun, ask: ConsoleAsk): BotSummary {
  const [first, ...others] = shownSymbols(live).map(book => bookSummary(live, beside, ask, book));
  if (first === undefined) return emptySummary(beside.bot(null), live.trouble, { ...ask, madeAt: ask.clock.now() });
  const { halts } = emptySummary(beside.bot(live.writtenAgoMs), null, { ...ask, madeAt: first.madeAt });
  return { ...first, halts, otherBooks: others.flatMap(({ run }) => run ?? []) };
}

/**
 * Returns the kind of a bot's money. An exchange at an address of this machine is a simulator, so its money and prices
 * count as play, even for a bot on paper.
 */
export function moneyKind(exchanges: readonly Config['exchange'][], isPaper: boolean): MoneyKind {
  const isLocal = exchanges.some(each => each.kind === 'remote' && isOnThisMachine(new URL(each.restUrl)));
  if (isLocal) return 'play';
  if (isPaper) return 'paper';
  return exchanges[0]?.kind === 'embedded' ? 'play' : 'real';
}

/** Returns the view of a book; without a symbol, of the first. `null` if the run does not have the book. */
function liveView(live: LiveRun, beside: BesideRun, book?: string): ConsoleView | null {
  const shown = book ?? live.replay?.now?.setup.book;
  if (live.replay === null || shown === undefined) return null;
  const of = shownSymbols(live).length > 1 ? shown : undefined;
  const outside = {
    ...({
      kind: 'live',
      bot: beside.bot(live.writtenAgoMs, of),
      runs: live.runs,
      catchingUp: live.catchingUp,
    } as const),
    ...{ budgets: beside.budgetsOf(shown), ledger: beside.ledger, events: beside.events(of) },
    note: live.trouble ?? beside.trouble,
  };
  return consoleView(live.replay, outside, book);
}

/** Returns the view of all books. */
function deskView(live: LiveRun, beside: BesideRun): DeskView | null {
  const first = live.replay?.now?.setup.book;
  if (live.replay === null || first === undefined) return null;
  return deskOf(live.replay, {
    ...{ bot: beside.bot(live.writtenAgoMs), catchingUp: live.catchingUp, budgets: beside.budgetsOf(first) },
    ...{ events: beside.events(), note: live.trouble ?? beside.trouble },
  });
}

/** Returns what the page of a book shows: its view, or why there is none. */
function bookPage(live: LiveRun, beside: BesideRun, book: string, proposals: ConsoleView['proposals'] = []): object {
  const view = liveView(live, beside, book);
  if (view !== null) return { ...view, proposals };
  const trouble = live.replay?.now ? unknownBook(live, book).message : live.trouble;
  return { ...waiting(live, beside), trouble };
}

const unknownBook = (live: LiveRun, book: string): UsageError =>
  new UsageError(`${book}: expected a book of this bot (${shownSymbols(live).join(', ')})`);

/** Returns the books of the current run, in order; empty before it has read its rules. */
const shownSymbols = ({ replay }: LiveRun): readonly string[] =>
  replay?.now?.books.map(({ book }) => book.symbol) ?? [];

/** Returns the view of the page before the first run. */
const waiting = (live: LiveRun, beside: BesideRun) => ({
  kind: 'waiting',
  bot: beside.bot(null),
  trouble: live.trouble,
});
