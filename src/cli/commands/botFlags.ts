/** Flags that select the state directory of a bot. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { Config } from '../../config.ts';
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
    .option('--paper', 'use the state directory of paper runs', false);

/** Returns the selected state directory. Throws `UsageError` if there is none. */
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
 * Returns the state directory, and the configuration that names it; `file` is `null` if --state names the directory.
 */
function selected({ config, state, paper = false }: BotFlags): { readonly dir: string; readonly file: Config | null } {
  if (state !== undefined) return { dir: state, file: null };
  if (config === undefined)
    throw new UsageError('pass the configuration of the bot with -c FILE, or its state directory with --state DIR');
  const file = readConfig(config);
  return { dir: paper ? file.paper.stateDir : file.state.dir, file };
}

/** Returns a line that names --paper if only the paper run of a configuration has a state; otherwise `null`. */
export function paperHint({ state, paper }: Pick<Config, 'state' | 'paper'>): string | null {
  if (existsSync(state.dir) || !existsSync(paper.stateDir)) return null;
  return `${state.dir}: no such folder; this configuration has run only on paper, so add --paper`;
}
