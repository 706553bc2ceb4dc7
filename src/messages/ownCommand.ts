/** Commands for the operator to type, with the configuration or state directory of the bot that prints them. */
import { resolve } from 'node:path';

/** Identification of one bot: its YAML file, or its state directory if the file names another state directory. */
export type WhichBot = { readonly configFile?: string | undefined; readonly stateDir: string };
/** Identification of one bot and, for an action on one of its books, this book. */
export type WhichBook = WhichBot & { readonly book?: string | undefined };

export type OwnVerb = 'resume' | 'reduce' | 'halt' | 'halt --cancel';

/**
 * Returns a command such as `puntas resume -c /home/me/my.yaml --reason "..."`. Paths are absolute, because logs are
 * read in any directory.
 */
export function ownCommand(verb: OwnVerb, { configFile, stateDir, book }: WhichBook): string {
  const where = configFile === undefined ? `--state ${shellWord(stateDir)}` : `-c ${shellWord(configFile)}`;
  return `puntas ${verb} ${where}${book === undefined ? '' : ` --book ${book}`} --reason "..."`;
}

/** Returns the command that tries an order, such as `puntas doctor -c /home/me/my.yaml --order --yes`. */
export const trialCommand = ({ configFile, stateDir }: WhichBot): string =>
  `puntas doctor -c ${configFile === undefined ? `FILE --state ${shellWord(stateDir)}` : shellWord(configFile)} --order --yes`;

/** Returns an absolute path as one shell word. */
export function shellWord(path: string): string {
  const whole = resolve(path);
  return /^[\w./~+@%=:,-]+$/.test(whole) ? whole : `'${whole.replaceAll("'", "'\\''")}'`;
}
