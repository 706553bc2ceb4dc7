/**
 * Configuration file that a reload applies, and its changes without secrets, for an agent. Sends no request to the
 * running bot.
 */
import { configChanges, withFileIn, type Config, type ConfigChange } from '../../config.ts';
import type { Millis } from '../../core/index.ts';
import { readRegularFile, TEXT_FILE } from '../../guard/index.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { configOfText } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { lifeOf } from '../inspect/botLife.ts';
import { lastConfigOf } from '../inspect/botOfFolder.ts';
import { changeText, comparableTo, digestOf, refusedChanges, reloadDigestOf } from '../run/reloading.ts';
import { nextStartText } from '../run/strategyApproval.ts';
import { withoutSecrets } from './botReads.ts';
import { stateDirOf } from './actions.ts';

/** Content of the file that a reload applies. */
export type ReloadedFile = {
  readonly path: string;
  readonly text: string;
  /** Configuration of the text; `null` if the file has errors. */
  readonly config: Config | null;
  /** Digest of what a reload of this content applies, as `reloadDigestOf` returns it. */
  readonly digest: string;
};

/**
 * Reads the file that a reload applies.
 * @throws UsageError if only the state directory is known.
 */
export function reloadedFile({ configFile: path }: WhichBot): ReloadedFile {
  if (path === undefined) throw new UsageError('a reload needs the YAML file of the bot; pass it with -c FILE');
  const text = readRegularFile(path, TEXT_FILE);
  const config = withoutErrors(() => configOfText(path, text));
  return { path, text, config, digest: config === null ? digestOf(text) : reloadDigestOf(text, config) };
}

/**
 * Returns the differences between a file and the configuration of the last recorded run, without secrets. Reads only
 * the state directory.
 * @throws UsageError if the file has errors. The text of the errors is omitted, because it may quote a secret.
 */
export function changesForAgent(bot: WhichBot, { config: next, text }: ReloadedFile, now: Millis): readonly string[] {
  if (next === null)
    throw new UsageError('the configuration file has errors; an operator can list them with puntas check');
  const dir = stateDirOf(bot);
  const life = lifeOf(dir, now);
  const recorded = withoutErrors(() => lastConfigOf(dir));
  return [
    ...(life.state === 'runs' ? [] : [`no bot is running (${life.state}): ${nextStartText(next, text, dir)}`]),
    ...(recorded === null
      ? ['the changes are unknown, because the bot has no recording yet']
      : changed(recorded, next)),
    'the bot computes its quotes with these changes when a person reviews the proposal',
  ];
}

function changed(recorded: Config, next: Config): readonly string[] {
  const changes = configChanges(comparableTo(next, recorded), next).map(shownChange);
  const unread =
    withFileIn(next).length > 0
      ? ['parameters of the strategy file that the configuration does not set are not compared']
      : [];
  if (changes.length === 0) return ['nothing has changed since the last recorded run', ...unread];
  const refused = changes.filter(({ takesEffect }) => takesEffect === 'restart');
  return [
    ...changes.filter(change => !refused.includes(change)).map(changeText),
    ...refusedChanges(refused, []),
    ...unread,
    ...(refused.length === 0
      ? []
      : ['the bot refuses a reload with such a change, unless the difference comes from a flag of its start command']),
  ];
}

const shownChange = ({ from, to, ...rest }: ConfigChange): ConfigChange => ({
  ...rest,
  ...{ from: shownValue(from), to: shownValue(to) },
});

/** Returns a value of a change (JSON) without secrets. */
const shownValue = (json: string | null): string | null =>
  json === null ? null : JSON.stringify(withoutSecrets(JSON.parse(json)));

function withoutErrors<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}
