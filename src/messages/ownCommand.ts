/** The command that a person is told to type: it names the configuration or the state directory of the very bot that says it. */
import { resolve } from 'node:path';

/** What names one bot: its YAML file, unless its state is elsewhere than that file says. */
export type WhichBot = { readonly configFile?: string | undefined; readonly stateDir: string };

export type OwnVerb = 'resume' | 'reduce' | 'halt --cancel';

/** Such as `puntas resume -c /home/me/my.yaml --reason "..."`; paths are absolute, because a log is read anywhere. */
export function ownCommand(verb: OwnVerb, { configFile, stateDir }: WhichBot): string {
  const where = configFile === undefined ? `--state ${shellWord(stateDir)}` : `-c ${shellWord(configFile)}`;
  return `puntas ${verb} ${where} --reason "..."`;
}

/** A path, absolute, as a shell takes it for one word. */
export function shellWord(path: string): string {
  const whole = resolve(path);
  return /^[\w./~+@%=:,-]+$/.test(whole) ? whole : `'${whole.replaceAll("'", "'\\''")}'`;
}
