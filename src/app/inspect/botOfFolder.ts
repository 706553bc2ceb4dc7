/** Owner of a state directory, by the configuration of its last run. */
import { existsSync } from 'node:fs';
import { booksText, isTrialOrder, recordedConfig, symbolsOf, type Config } from '../../config.ts';
import type { Millis } from '../../core/index.ts';
import { recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';
import { isPaperState } from '../../live/state/paperMark.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { venueNamed } from '../../wiring/venueRegistry.ts';
import { mayRun } from './botLife.ts';

/**
 * Returns the configuration of the last recorded run that is not a trial order. If all runs are trial orders, returns
 * the configuration of the last.
 */
export function lastConfigOf(stateDir: string): Config {
  let trial: Config | null = null;
  for (const { run } of existsSync(stateDir) ? recordingsIn(stateDir).toReversed() : []) {
    const of = recordedRunOf(stateDir, run);
    if (of === null) break;
    const config = recordedConfig(of.setup);
    if (!isTrialOrder(config)) return config;
    trial ??= config;
  }
  if (trial !== null) return trial;
  throw new UsageError(
    `${stateDir}: no recorded run shows at which exchange the bot trades; pass its YAML file with -c FILE`,
  );
}

/** Returns the configuration of the last run as `lastConfigOf` does; `null` if no recording can be read. */
function knownConfigOf(stateDir: string): Config | null {
  try {
    return lastConfigOf(stateDir);
  } catch {
    // A damaged recording must not keep a person from a halt.
    return null;
  }
}

/** Returns the name of a bot for messages, such as `demo on btc_mxn at https://api.example.com`. */
const botText = (config: Config, isPaper: boolean): string =>
  `${config.instance} on ${booksText(config)} ${isPaper ? 'on paper' : `at ${exchangeText(config)}`}`;

const exchangeText = ({ exchange }: Config): string =>
  exchange.kind === 'embedded' ? 'an embedded exchange' : exchange.restUrl;

/** Returns the address of the exchange as requests use it; `null` for an embedded exchange. */
const addressOf = ({ exchange }: Config): string | null =>
  exchange.kind === 'embedded' ? null : venueNamed(exchange.venue).restUrl(exchange.restUrl);

/**
 * Whether two configurations are of one bot: the same instance, at least one book of both, and the same exchange.
 * `isAnyAddress`: whether the addresses of the exchange may differ.
 */
function isSameBot(a: Config, b: Config, isAnyAddress: boolean): boolean {
  if (a.instance !== b.instance) return false;
  const books = symbolsOf(b);
  if (!symbolsOf(a).some(book => books.includes(book))) return false;
  return isAnyAddress || addressOf(a) === addressOf(b);
}

/**
 * Checks that a state directory, which a configuration names, was last used by the bot of that configuration. A
 * directory without a readable run has no owner. `isAnyAddress`: whether the configuration may reach the exchange at
 * another address, as a sentinel does that needs a line of its own.
 * @throws UsageError if another bot has used it.
 */
export function assertOwnFolder(file: string, config: Config, dir: string, isAnyAddress = false): void {
  const last = knownConfigOf(dir);
  if (last === null || isTrialOrder(last)) return;
  const isPaper = isPaperState(dir);
  // A run on paper is recorded with the embedded exchange that simulates the fills.
  if (isSameBot(last, config, isPaper || isAnyAddress)) return;
  throw new UsageError(
    `${dir}: the last run here was ${botText(last, isPaper)}, but the bot of ${file} is ${botText(config, isPaper)}; pass the file of the bot that you mean, or --state ${dir} for the bot that has run here`,
  );
}

/**
 * Checks that an action without --paper is not meant for the paper bot of the same configuration: the bot that trades
 * is stopped, and the paper bot runs.
 * @throws UsageError if so.
 */
export function assertNotOnPaper(file: string, config: Config, now: Millis): void {
  const { state, paper } = config;
  if (mayRun(state.dir, now) || !mayRun(paper.stateDir, now)) return;
  const last = knownConfigOf(paper.stateDir);
  if (last === null || !isSameBot(last, config, true)) return;
  throw new UsageError(
    `${file}: the bot in ${state.dir} is not running, but the paper bot in ${paper.stateDir} is; add --paper, or pass --state ${state.dir} for the bot that is not running`,
  );
}

/**
 * Returns a line about an action that no process executes now, because no bot is running; otherwise `null`. A silent bot
 * may be running.
 */
export function notRunningText(dir: string, now: Millis): string | null {
  if (mayRun(dir, now)) return null;
  const last = knownConfigOf(dir);
  const who = last === null ? '' : `, where the last run was ${botText(last, isPaperState(dir))}`;
  return `no bot is running in ${dir}${who}; this takes effect at its next start`;
}
