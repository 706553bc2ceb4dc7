/**
 * `puntas console`: a separate process that follows a bot's recording and shows it on a page. It has no API key and
 * sends nothing to an exchange. Operators act through the bot's state directory.
 */
import { LARGE_FILE, readRegularFile } from '../../guard/index.ts';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { textOfError, type Clock, type Timer } from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { serveConsole, type ConsoleServer, type ConsoleView } from '../../console/index.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { refuseOpenInspector } from '../../wiring/safeProcess.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { recoverChange } from '../actions/setParameter.ts';
import { BesideRun } from './besideRun.ts';
import { consoleAccess, LoginEvents } from './consoleAccess.ts';
import { actionEvents, consoleActions } from './consoleActions.ts';
import { consoleApi } from './consoleApi.ts';
import { consoleView } from './consoleView.ts';
import { LiveRun } from './liveRun.ts';
import { replaysOf } from './replays.ts';

export type ConsoleAsk = {
  readonly config: Config;
  /** Bot that the actions apply to. */
  readonly bot: WhichBot;
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly clock: Clock;
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
  refuseKeys(ask.environment);
  refuseOpenInspector();
  const door = new LoginEvents(clock, ask.onLine ?? (() => undefined));
  const access = consoleAccess(config.console, clock, event => door.add(event));
  const live = new LiveRun(config.state.dir, clock);
  const { book, state, metrics, exchange } = config;
  const replays = replaysOf({ config: { book, state, metrics, exchange }, bot: ask.bot }, clock);
  // The hedger is looked up in the bot's last recorded configuration, because the bot may have reloaded the file since
  // this process read it.
  const hasHedger = () => (live.replay?.now?.setup ?? config).hedge !== undefined;
  const actions = access?.operatorToken
    ? consoleActions(ask.bot, clock, hasHedger, (asked, onShare) => replays.preview(asked, onShare))
    : null;
  const api = consoleApi(ask.bot, clock, actions !== null, {
    read: read => replays.read(read),
    preview: asked => replays.preview(asked, () => undefined),
  });
  const acted = actionEvents(config.state.dir);
  const beside = new BesideRun(config, clock, () => [...acted(), ...door.shown]);
  const server = await serveConsole(
    {
      scripts: pageScripts(),
      libraryStyle: readRegularFile(fromPackages('uplot/dist/uPlot.min.css'), LARGE_FILE),
      history: () => {
        const shown = live.replay?.now?.history.shown;
        return shown ? JSON.stringify(shown) : null;
      },
      past: (at, signal, onProgress) => replays.past({ at, runs: live.runs, door: door.shown }, signal, onProgress),
    },
    { ...ask, access, actions, api },
  );
  if (actions !== null && existsSync(config.state.dir))
    void recoverChange(ask.bot, clock).catch((error: unknown) => ask.onLine?.(textOfError(error)));
  live.start();
  const timers = [
    again(clock, VIEW_EVERY_MS, () => server.send(JSON.stringify(liveView(live, beside) ?? waiting(live, beside)))),
    again(clock, LEDGER_EVERY_MS, () => void beside.readLedger()),
    again(clock, METRICS_EVERY_MS, () => void (server.pages > 0 && beside.readMetrics())),
    again(clock, PING_EVERY_MS, () => server.ping()),
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

function liveView(live: LiveRun, beside: BesideRun): ConsoleView | null {
  if (live.replay === null) return null;
  return consoleView(live.replay, {
    ...{ kind: 'live', bot: beside.bot(live.writtenAgo), runs: live.runs, catchingUp: live.catchingUp },
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

/**
 * Asserts that the environment has no credentials, because a server that is reachable from outside must not have any.
 * @throws UsageError if there are credentials.
 */
function refuseKeys(environment: ConsoleAsk['environment']): void {
  const found = Object.keys(environment).filter(name => SECRETS.test(name) && environment[name] !== undefined);
  if (found.length === 0) return;
  throw new UsageError(
    `the environment of the console must not contain secrets, but contains ${found.join(', ')}; start the console with env ${found.map(name => `-u ${name}`).join(' ')} puntas console ...`,
  );
}

/**
 * Names of environment variables that may contain a secret of the bot, its alerts, webhooks, queue or recording bucket.
 * Variables that only name a file with a secret are allowed.
 */
export const SECRETS =
  /^(?:PUNTAS_(?:(?:ELSEWHERE_)?API_(?:KEY|SECRET)|WEBHOOK_TOKEN(?:_OLD)?|TELEGRAM_TOKEN|ALERT_WEBHOOK_(?:SECRET|URL)|QUEUE_PASSWORD)|AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)|PGPASSWORD)$/;

const fromPackages = (path: string): string => createRequire(import.meta.url).resolve(path);

/** Returns the page's scripts by name, from their build folder. Throws if a script is missing. */
export function pageScripts(built = new URL('../../console/page/', import.meta.url)): Readonly<Record<string, string>> {
  const own = [
    'main',
    'access',
    'dialogs',
    'lines',
    'elements',
    'elsewherePanel',
    'statePanels',
    'marketPanels',
    'accountPanels',
    'charts',
    'profitBars',
    'texts',
    'state',
  ];
  const read = (path: string): string => readRegularFile(path, LARGE_FILE);
  return {
    'uPlot.js': read(fromPackages('uplot/dist/uPlot.iife.min.js')),
    // The package does not export this file, so it is found relative to the package's main module.
    'preact.js': read(join(dirname(fromPackages('preact')), 'preact.min.umd.js')),
    ...Object.fromEntries(own.map(name => [`${name}.js`, readRegularFile(new URL(`${name}.js`, built), LARGE_FILE)])),
  };
}

/** Calls `call` immediately and then every `ms`. */
function again(clock: Clock, ms: number, call: () => void): Timer {
  let timer: Timer;
  const turn = () => {
    call();
    timer = clock.after(ms, turn);
  };
  turn();
  return { stop: () => timer.stop() };
}
