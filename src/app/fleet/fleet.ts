/**
 * `puntas fleet`: asks the consoles of several bots for their summaries, and shows them on one page. It has no API key,
 * reads only, and executes no action: each row links to the bot's own console.
 */
import { X509Certificate } from 'node:crypto';
import { constants, setPriority } from 'node:os';
import { dirname, resolve } from 'node:path';
import { consoleBase, loadFleet, type FleetBotConfig, type FleetConfig } from '../../config.ts';
import { serveFleet, type ConsoleServer, type FleetView } from '../../console/index.ts';
import type { Clock } from '../../core/index.ts';
import { ASK_EVERY_MS, BotWatch, ConsoleClient, fleetView, type TlsTrust } from '../../fleet/index.ts';
import { TEXT_FILE } from '../../guard/index.ts';
import { jsonWithOldNames } from '../../messages/oldNames.ts';
import { refuseOpenInspector } from '../../wiring/safeProcess.ts';
import { readGivenFile, UsageError } from '../../wiring/usageError.ts';
import { accessWith, checkedToken, LoginEvents, readTokenFile } from '../console/consoleAccess.ts';
import { callEvery, refuseKeys } from '../console/pageProcess.ts';
import { fleetPageScripts } from '../console/pageScripts.ts';

export type FleetAsk = {
  readonly config: FleetConfig;
  readonly clock: Clock;
  /** Version of Puntas. */
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folder of the page's scripts; if omitted, that of the build. */
  readonly scripts?: URL;
  /** Receives a line for each login, and for wrong tokens. */
  readonly onLine?: (line: string) => void;
};

/**
 * Interval at which open pages receive a changed view, in ms. Together with `ASK_EVERY_MS`, a page is at most a second
 * behind the answers of the consoles.
 */
const SEND_EVERY_MS = 500;
/** Interval at which a view is made while no page is open, in ms. */
const VIEW_EVERY_IDLE_MS = 5_000;
const PING_EVERY_MS = 10_000;

/**
 * Returns the checked configuration of a fleet. Relative paths are resolved against the folder of the file.
 * @throws UsageError with one line for each problem.
 */
export function readFleet(path: string): FleetConfig {
  const text = readGivenFile(path, TEXT_FILE, 'pass a YAML file with -c FILE (docs/fleet.md)');
  const loaded = loadFleet(text, path);
  if (!loaded.ok) throw new UsageError(loaded.errors);
  const at = (file: string) => resolve(dirname(resolve(path)), file);
  const { config } = loaded;
  return {
    ...config,
    ...(config.viewerTokenFile !== undefined && { viewerTokenFile: at(config.viewerTokenFile) }),
    bots: config.bots.map(bot => ({
      ...bot,
      ...(bot.tokenFile !== undefined && { tokenFile: at(bot.tokenFile) }),
      ...(bot.caFile !== undefined && { caFile: at(bot.caFile) }),
    })),
  };
}

/** Bots of a fleet, each with a watch. */
class Fleet {
  readonly watches: readonly BotWatch[];
  /** Without the environment: only the functions that return a token keep its value. */
  readonly #ask: Pick<FleetAsk, 'config' | 'clock' | 'version'>;

  /**
   * Creates the watches, without a request. @throws UsageError if a token or certificate cannot be read, if the
   * environment has credentials, or if Node's inspector is open.
   */
  constructor(ask: FleetAsk, changed: () => void) {
    refuseKeys(ask.environment, 'fleet');
    refuseOpenInspector();
    this.#ask = { config: ask.config, clock: ask.clock, version: ask.version };
    this.watches = ask.config.bots.map(bot => {
      const client = new ConsoleClient({
        url: consoleBase(bot.url),
        token: tokenReader(bot, ask),
        trust: trustOf(bot),
      });
      return new BotWatch(bot.name, client, ask.clock, changed);
    });
  }

  get view(): FleetView {
    const { config, clock, version } = this.#ask;
    const bots = this.watches.map(({ name, heard }, i) => {
      const bot = config.bots[i]!;
      return { name, link: bot.link ?? bot.url, money: bot.money, heard };
    });
    return fleetView(bots, config.currency, { at: clock.now(), version });
  }

  async close(): Promise<void> {
    await Promise.all(this.watches.map(watch => watch.close()));
  }
}

/** Asks every bot once, and returns the view. Never waits longer than the deadline of one request. */
export async function fleetOnce(ask: FleetAsk): Promise<FleetView> {
  const fleet = new Fleet(ask, () => undefined);
  try {
    await Promise.all(fleet.watches.map(watch => watch.askOnce()));
    return fleet.view;
  } finally {
    await fleet.close();
  }
}

/** Lowers the priority of this process, so that bots on this machine run first. Does nothing without the permission. */
export function yieldToBots(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    return;
  }
}

/** Starts the page. Rejects with a remedy if a token cannot be read, or if the port is unavailable. */
export async function startFleet(ask: FleetAsk): Promise<ConsoleServer> {
  const { config, clock, onLine = () => undefined } = ask;
  let isChanged = true;
  let sentAt = -Infinity;
  refuseOpenPage(config);
  const logins = new LoginEvents(clock, onLine);
  const access =
    config.viewerTokenFile === undefined
      ? null
      : accessWith(
          {
            ...{ operatorToken: null, viewerToken: readTokenFile('viewerTokenFile', config.viewerTokenFile) },
            ...{ behindTls: config.behindTls, onEvent: event => logins.add(event) },
          },
          clock,
        );
  const fleet = new Fleet(ask, () => (isChanged = true));
  const server = await serveFleet({
    ...{ host: config.host, port: config.port, allowedHosts: config.allowedHosts },
    ...{ access, scripts: fleetPageScripts(ask.scripts) },
  }).catch(async (error: unknown) => {
    await fleet.close();
    throw error;
  });
  // The first requests are spread, so that many bots are not asked at the same time.
  for (const [i, watch] of fleet.watches.entries()) watch.start((ASK_EVERY_MS * i) / fleet.watches.length);
  const send = (): void => {
    const quiet = clock.elapsed() - sentAt;
    // An open page also needs a new view without an answer, because the ages grow. Without an open page, only the next
    // page that opens needs the view.
    if (quiet < (server.pages === 0 ? VIEW_EVERY_IDLE_MS : isChanged ? 0 : 2 * SEND_EVERY_MS)) return;
    [isChanged, sentAt] = [false, clock.elapsed()];
    server.send(jsonWithOldNames(fleet.view));
  };
  const timers = [callEvery(clock, SEND_EVERY_MS, send), callEvery(clock, PING_EVERY_MS, () => server.ping())];
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
      await fleet.close();
      await server.close();
    },
  };
}

/**
 * Rejects a page without a token on a network address, because anyone on the network could read the figures of all
 * bots. @throws UsageError for such a page.
 */
function refuseOpenPage({ host, viewerTokenFile }: FleetConfig): void {
  const isLocal = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host);
  if (isLocal || viewerTokenFile !== undefined) return;
  throw new UsageError(
    `fleet: on ${host}, anyone on the network could read what the consoles show only to this machine or with a token; set viewerTokenFile, or listen on 127.0.0.1`,
  );
}

/** Time after which a token is read from its file again, in ms, so that a changed token needs no restart. */
const TOKEN_KEPT_MS = 10_000;

/**
 * Returns a function that returns the token of a bot's console; `null` if none is configured. The function throws if a
 * later read of the file fails; the row of the bot shows this error. @throws UsageError if the token cannot be read
 * now.
 */
function tokenReader(
  { name, tokenFile, tokenVariable }: FleetBotConfig,
  { clock, environment }: FleetAsk,
): () => string | null {
  if (tokenVariable !== undefined) {
    const key = `bot ${name}: environment variable ${tokenVariable}`;
    const given = environment[tokenVariable];
    if (given === undefined) throw new UsageError(`${key} is not set; set it to the viewer token of the console`);
    const token = checkedToken(key, given.trim());
    return () => token;
  }
  if (tokenFile === undefined) return () => null;
  const read = (): string => readTokenFile(`bot ${name}: tokenFile`, tokenFile);
  let kept = { token: read(), at: clock.elapsed() };
  return () => {
    if (clock.elapsed() - kept.at > TOKEN_KEPT_MS) kept = { token: read(), at: clock.elapsed() };
    return kept.token;
  };
}

function trustOf({ name, caFile, fingerprint }: FleetBotConfig): TlsTrust {
  if (fingerprint !== undefined) return { kind: 'fingerprint', sha256: fingerprint };
  if (caFile === undefined) return { kind: 'system' };
  const pem = readGivenFile(caFile, TEXT_FILE, `correct caFile of the bot ${name}`);
  try {
    new X509Certificate(pem);
  } catch {
    throw new UsageError(`bot ${name}: caFile (${caFile}): expected a certificate in PEM`);
  }
  return { kind: 'authority', pem };
}
