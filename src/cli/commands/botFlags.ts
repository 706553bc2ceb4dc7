/** Flags that select the state directory of a bot. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import { assertNotOnPaper, assertOwnFolder } from '../../app/inspect/botOfFolder.ts';
import type { Config } from '../../config.ts';
import { realClock } from '../../live/realClock.ts';
import { STATE_FILE } from '../../live/state/journal.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { readConfig } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';

export type BotFlags = {
  readonly config?: string;
  readonly state?: string;
  /** Whether to use the state directory of a paper run. */
  readonly paper?: boolean;
};

/**
 * Adds the flags to a command. If the command needs the configuration in addition to the state directory, -c is
 * required.
 */
export const ofBot = (command: Command, needs: 'either' | 'file' = 'either'): Command =>
  (needs === 'file'
    ? command.requiredOption('-c, --config <file>', 'configuration of the bot')
    : command.option('-c, --config <file>', 'configuration of the bot')
  )
    .option('--state <dir>', 'state directory (default: state.dir)')
    .addOption(new Option('--paper', 'use the state directory of paper runs').default(false).conflicts('state'));

/** Returns the selected state directory. Throws `UsageError` if there is none, or if another bot has used it. */
export const folderOf = (flags: BotFlags): string => selected(flags).dir;

/**
 * Returns the selected state directory, for commands that only read. Throws `UsageError` if there is none, or, with a
 * hint at --paper, if only the paper run has a state.
 */
export function folderToRead(flags: BotFlags): string {
  const { dir, file } = selected(flags);
  const hint = file === null || flags.paper === true ? null : paperHint(file);
  if (hint !== null) throw new UsageError(hint);
  return dir;
}

/**
 * Returns the state directory, and the configuration that names it; `file` is `null` if --state names the directory. A
 * given configuration is read even with --state, so that its errors are reported. A directory that the configuration names
 * must be of the bot of the configuration; with --state, the operator has chosen it.
 */
function selected({ config, state, paper = false }: BotFlags): { readonly dir: string; readonly file: Config | null } {
  const file = config === undefined ? null : readConfig(config);
  if (state !== undefined) return { dir: state, file: null };
  if (file === null)
    throw new UsageError(
      `pass the configuration of the bot with -c FILE, or its state directory with --state DIR${foundHere()}`,
    );
  assertPaper(file, paper);
  const dir = paper ? file.paper.stateDir : file.state.dir;
  assertOwnFolder(config ?? '', file, dir);
  return { dir, file };
}

/**
 * Checks that a configuration for paper trading only is used with --paper.
 * @throws UsageError if it is not.
 */
export function assertPaper(config: Pick<Config, 'paper'>, isPaper: boolean): void {
  if (config.paper.only && !isPaper)
    throw new UsageError('this configuration is for paper trading only (paper.only); add --paper');
}

/**
 * Returns the bot that an action is meant for. Throws `UsageError` if there is none, or if only the paper bot of the
 * configuration runs and --paper is missing.
 */
export function whichBot(options: BotFlags): WhichBot {
  const { dir, file } = selected(options);
  const isLive = options.state === undefined && options.paper !== true;
  if (isLive && file !== null && options.config !== undefined)
    assertNotOnPaper(options.config, file, realClock().now());
  // Commands in messages must name the state directory used here, because the configuration file names the directory of
  // a live run.
  return { configFile: isLive ? options.config : undefined, stateDir: dir };
}

/** Maximum number of state directories that a message names. */
const FOUND_SHOWN = 5;

/** Returns the end of a message that names the state directories in the working directory; empty if there are none. */
function foundHere(): string {
  const names = readdirSync('.', { withFileTypes: true })
    .filter(entry => entry.isDirectory() && existsSync(join(entry.name, STATE_FILE)))
    .map(({ name }) => name)
    .sort();
  if (names.length === 0) return '';
  const more = names.length > FOUND_SHOWN ? `, and ${names.length - FOUND_SHOWN} more` : '';
  return `; state directories here: ${names.slice(0, FOUND_SHOWN).join(', ')}${more}`;
}

/** Returns a line that names --paper if only the paper run of a configuration has a state; otherwise `null`. */
export function paperHint({ state, paper }: Pick<Config, 'state' | 'paper'>): string | null {
  if (existsSync(state.dir) || !existsSync(paper.stateDir)) return null;
  return `${state.dir}: no such folder; this configuration has run only on paper, so add --paper`;
}
