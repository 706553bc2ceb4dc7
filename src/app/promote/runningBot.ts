/** Running bot of a live file: reloads the file, and reports whether the bot uses it. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { configChanges, isTradingChange, recordedConfig, type Config } from '../../config.ts';
import type { Clock, Millis } from '../../core/index.ts';
import { recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';
import { executeReload } from '../actions/executeAction.ts';
import { lifeOf } from '../inspect/botLife.ts';
import { readConfig, readConfigText } from '../../wiring/configFile.ts';
import { comparableTo, digestOf, reloadDigestOf } from '../run/reloading.ts';
import { nextStartText } from '../run/strategyApproval.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { isTraded } from './tradingDigest.ts';

type Asked = {
  readonly liveFile: string;
  readonly by: string;
  readonly reason: string;
  readonly clock: Clock;
};

/** Reloads the live file in a running bot. `digest` is the digest of its text; `null` if there is no file to reload. */
export async function reloadRunningBot(
  { liveFile, by, reason, clock }: Asked,
  digest: string | null,
): Promise<{ readonly end: 'done' | 'refused'; readonly lines: readonly string[] }> {
  if (digest === null)
    return {
      end: 'done',
      lines: ['there was no live file before the promotion; a running bot keeps its configuration until you stop it'],
    };
  try {
    const { config, text } = readConfigText(liveFile);
    const { state } = config;
    if (lifeOf(state.dir, clock.now()).state !== 'runs')
      return { end: 'done', lines: [`no bot is running with this file; ${nextStartText(config, text, state.dir)}`] };
    if (digestOf(text) !== digest)
      return {
        end: 'refused',
        lines: [`reload: ${liveFile} was changed since the promotion wrote it; reload the bot`],
      };
    const reloaded = reloadDigestOf(text, config);
    const ask = { id: randomUUID(), action: 'reload', reason, by, via: 'command', digest: reloaded } as const;
    const { end, lines } = await executeReload({ configFile: liveFile, stateDir: state.dir }, ask, clock);
    return { end: end === 'kept' ? 'refused' : 'done', lines: lines.map(line => `reload: ${line}`) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { end: 'refused', lines: error.message.split('\n').map(line => `reload: ${line}`) };
  }
}

/**
 * Whether the running bot trades with another configuration than the live file, according to the bot's newest
 * recording.
 */
export function hasOther(liveFile: string, now: Millis): boolean {
  const config = readableConfig(liveFile);
  if (config === null || config === 'broken') return false;
  const { dir } = config.state;
  if (lifeOf(dir, now).state !== 'runs') return false;
  const run = recordingsIn(dir).at(-1)?.run;
  const of = run === undefined ? null : recordedRunOf(dir, run);
  if (of === null) return false;
  const recorded = recordedConfig(of.setup);
  return configChanges(comparableTo(config, recorded), config).some(
    change => isTraded(change.key) && isTradingChange(change),
  );
}

/**
 * Returns the configuration; `null` if the file does not exist, `broken` if it is invalid. In both cases, the promotion
 * can still be shown.
 */
export function readableConfig(file: string): Config | 'broken' | null {
  if (!existsSync(file)) return null;
  try {
    return readConfig(file);
  } catch (error) {
    if (error instanceof UsageError) return 'broken';
    throw error;
  }
}
