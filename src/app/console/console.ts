/**
 * `puntas console`: a separate process that follows a bot's recording and shows it on a page. It has no API key and
 * sends nothing to an exchange. Operators act through the bot's state directory.
 */
import { LARGE_FILE, readRegularFile } from '../../guard/index.ts';
import { existsSync } from 'node:fs';
import { pairOf, textOfError, type Clock, type Millis } from '../../core/index.ts';
import { isOnThisMachine, type Config } from '../../config.ts';
import {
  emptySummary,
  serveConsole,
  summaryOfView,
  type BotSummary,
  type ConsoleServer,
  type ConsoleView,
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
import { BesideRun } from './besideRun.ts';
import { consoleAccess, LoginEvents } from './consoleAccess.ts';
import { actionEvents, consoleActions } from './consoleActions.ts';
import { consoleApi } from './consoleApi.ts';
import { consoleProposals, shownProposals } from './consoleProposals.ts';
import { mergedChanges, notedChangesIn, shownChange, withNotes, type NotedChange } from './configHistory.ts';
import { consoleView } from './consoleView.ts';
import { LiveRun } from './liveRun.ts';
import { KeptText, longHistory } from './longHistory.ts';
import { callEvery, refuseKeys } from './pageProcess.ts';
import { fromPackages, pageScripts } from './pageScripts.ts';
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
    summary: () => kept.text,
    events: () => beside.events(),
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
      history: () => {
        const shown = live.replay?.now?.history.shown;
        return shown ? JSON.stringify({ ...shown, changes: withNotes(shown.changes, noted()).map(shownChange) }) : null;
      },
      longHistory: () => long.text,
      past: (at, signal, onProgress) => replays.past({ at, runs: live.runs, logins: logins.shown }, signal, onProgress),
    },
    { ...ask, access, actions, api },
  );
  if (actions !== null && existsSync(config.state.dir))
    void recoverChange(ask.bot, clock).catch((error: unknown) => ask.onLine?.(textOfError(error)));
  live.start();
  const timers = [
    callEvery(clock, VIEW_EVERY_MS, () => {
      const view = liveView(live, beside);
      const shown = view === null ? waiting(live, beside) : { ...view, proposals: server.pages > 0 ? proposals() : [] };
      server.send(JSON.stringify(shown));
      const madeAt = clock.now();
      kept.replace(() => botSummaryOf(view, shown, live, ask, madeAt));
    }),
    callEvery(clock, LEDGER_EVERY_MS, () => void beside.readLedger()),
    callEvery(clock, METRICS_EVERY_MS, () => void (server.pages > 0 && beside.readMetrics())),
    callEvery(clock, PING_EVERY_MS, () => server.ping()),
  ];
  return {
    url: server.url,
    get pages() {
      return server.pages;
    },
    send: view => server.send(view),
    ping: () => server.ping(),
    close: async () => {
      for (const timer of timers) timer.stop();
      live.stop();
      replays.close();
      await server.close();
    },
  };
}

/** Newest summary as JSON. It is computed at the first read, and further reads return the same text. */
class KeptSummary {
  #make: (() => BotSummary) | null = null;
  #text: string | null = null;

  /** Replaces the summary with the result of `make`, which is called at the first read. */
  replace(make: () => BotSummary): void {
    [this.#make, this.#text] = [make, null];
  }

  get text(): string | null {
    this.#text ??= this.#make && jsonWithOldNames(this.#make());
    return this.#text;
  }
}

/**
 * Long history as JSON, computed at a request. It is computed again only after the ledger was read again, another run
 * started or was read to its end, or a change was noted. At its maximum of entries and hours, it takes about a second.
 */
class KeptLongHistory {
  readonly #live: LiveRun;
  readonly #beside: BesideRun;
  readonly #noted: () => readonly NotedChange[];
  readonly #kept = new KeptText();

  constructor(live: LiveRun, beside: BesideRun, noted: () => readonly NotedChange[]) {
    [this.#live, this.#beside, this.#noted] = [live, beside, noted];
  }

  get text(): string | null {
    const { replay } = this.#live;
    const { ledger } = this.#beside;
    const book = ledger?.book ?? replay?.now?.setup.book;
    if (ledger === null || book === undefined) return null;
    const noted = this.#noted();
    return this.#kept.of([ledger, replay?.run, noted.at(-1), this.#live.isCaughtUp], () => {
      const [major, minor] = pairOf(book);
      const now = replay?.now ?? null;
      const at = now?.seen.at ?? null;
      const known = now === null || at === null ? null : now.engine.book.snapshot(at);
      const history = longHistory({
        ...{ run: replay?.run ?? null, at: at ?? -Infinity, names: { book, major, minor }, ledger },
        current: known === null || known.known.trades === null ? null : known.booked.sinceOpening,
        changes: mergedChanges(this.#live.changes, noted),
        recordedFrom: this.#live.runs[0]?.from ?? null,
      });
      return history === null ? null : JSON.stringify(history);
    });
  }
}

/**
 * Returns the summary of a view; if `view` is `null`, the summary of a bot without a recorded run. `madeAt`: time of
 * the view.
 */
function botSummaryOf(
  view: ConsoleView | null,
  { bot }: Pick<ConsoleView, 'bot'>,
  live: LiveRun,
  { version, config }: ConsoleAsk,
  madeAt: Millis,
): BotSummary {
  if (view === null) return emptySummary(bot, live.trouble, { version, madeAt });
  const { exchange } = live.replay?.now?.setup ?? config;
  const money = moneyKind([exchange, config.exchange], isPaperState(config.state.dir));
  return summaryOfView(view, { version, madeAt, money, speed: botClockIn(config.state.dir).speed });
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

function liveView(live: LiveRun, beside: BesideRun): ConsoleView | null {
  if (live.replay === null) return null;
  return consoleView(live.replay, {
    ...{ kind: 'live', bot: beside.bot(live.writtenAgoMs), runs: live.runs, catchingUp: live.catchingUp },
    ...{
      budgets: beside.budgets,
      ledger: beside.ledger,
      events: beside.events(),
      note: live.trouble ?? beside.trouble,
    },
  });
}

/** Returns the view of the page before the first run. */
const waiting = (live: LiveRun, beside: BesideRun) => ({
  kind: 'waiting',
  bot: beside.bot(null),
  trouble: live.trouble,
});
