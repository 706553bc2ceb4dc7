/** The words that run this program where it runs: hints print the command that works. */
import { hostname } from 'node:os';
import { basename, delimiter, dirname, sep } from 'node:path';
import { COMMAND_FILES } from '../commands/index.ts';

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

/** A command in a sentence; not a part of a path or of another word, and not one that already says how. */
const COMMAND = new RegExp(
  `(?<![\\w/.$-]|npx )puntas (?=(?:${[...COMMAND_FILES.flatMap(({ names }) => names), '--help', 'help'].join('|')})(?![\\w-]))`,
  'g',
);

/** Puts `name` in place of `puntas` in every command that a text says. */
export const withCommandName = (text: string, name: string): string =>
  name === 'puntas' ? text : text.replace(COMMAND, () => `${name} `);

/** The name in this process; it does not change. */
export const ownCommandName = commandNameOf(process);
