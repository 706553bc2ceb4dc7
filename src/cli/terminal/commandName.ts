/** The words that run this program where it runs: hints print the command that works. */
import { hostname } from 'node:os';
import { basename, delimiter, dirname, sep } from 'node:path';

type Process = { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string | undefined>> };

/**
 * Returns `puntas` where a shell finds it on its PATH, else `npx puntas`; `PUNTAS_COMMAND` says it where neither works, as in a container, with
 * `{hostname}` for the name of this machine.
 */
export function commandNameOf({ argv, env }: Process): string {
  const said = env['PUNTAS_COMMAND'];
  if (said !== undefined && said.trim() !== '') return said.trim().replaceAll('{hostname}', hostname());
  const file = argv[1] ?? '';
  const isOnPath = (env['PATH'] ?? '').split(delimiter).includes(dirname(file));
  // npx adds folders to the PATH that the shell does not have.
  const isByNpm = env['npm_command'] !== undefined || file.includes(`${sep}node_modules${sep}.bin${sep}`);
  if (basename(file) === 'puntas' && isOnPath && !isByNpm) return 'puntas';
  return basename(file) === 'puntas' || file.endsWith(`${sep}dist${sep}src${sep}main.js`) ? 'npx puntas' : 'puntas';
}

/** Every command, as `commands/index.ts` adds them: this folder is below that one. */
const VERBS = [
  ...['run', 'check', 'exchange', 'sentinel', 'init', 'doctor', 'alert', 'record', 'import', 'backtest', 'calibrate'],
  ...['tape', 'export', 'scout', 'tune', 'promote', 'worker', 'compare', 'status', 'pause', 'reduce', 'cancel'],
  ...['flatten', 'halt', 'resume', 'reload', 'replay', 'explain', 'hedges', 'console', 'ledger', 'report'],
  ...['new-strategy', 'webhooks', 'help', '--help'],
];
/** A command in a sentence; not a part of a path or of another word, and not one that already says how. */
const COMMAND = /(?<![\w/.$-]|npx )puntas (?=(--help|[a-z][a-z-]{0,20})(?![\w-]))/g;

/** Puts `name` in place of `puntas` in every command that a text says. */
export const withCommandName = (text: string, name: string): string =>
  name === 'puntas'
    ? text
    : text.replace(COMMAND, (found, verb: string) => (VERBS.includes(verb) ? `${name} ` : found));

/** The name in this process; it does not change. */
export const ownCommandName = commandNameOf(process);
