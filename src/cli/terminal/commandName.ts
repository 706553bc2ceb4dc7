/** Command words that start this program on this machine, so that hints show commands that work. */
import { hostname } from 'node:os';
import { basename, delimiter, dirname, sep } from 'node:path';

type Process = { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string | undefined>> };

/**
 * Returns `puntas` if that command is on the PATH, or if the program was started neither by npm nor from the build;
 * otherwise `npx puntas`. The variable `PUNTAS_COMMAND` overrides both, for places where neither works, such as a
 * container. In the value of the variable, `{hostname}` stands for the name of the machine.
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

/** Names of all commands in `commands/index.ts`, which cannot be imported here because it is in a higher layer. */
const VERBS = [
  ...[
    'run',
    'check',
    'exchange',
    'sentinel',
    'init',
    'samples',
    'doctor',
    'alert',
    'record',
    'import',
    'backtest',
    'calibrate',
  ],
  ...[
    'tape',
    'export',
    'scout',
    'tune',
    'promote',
    'shadow',
    'worker',
    'compare',
    'status',
    'pause',
    'reduce',
    'cancel',
  ],
  ...[
    'flatten',
    'halt',
    'resume',
    'reload',
    'replay',
    'explain',
    'hedges',
    'console',
    'fleet',
    'remote',
    'ledger',
    'report',
  ],
  ...['presence', 'surveillance', 'conformance', 'mcp', 'proposals', 'approve', 'reject'],
  ...['new-strategy', 'check-strategy', 'webhooks', 'help', '--help'],
];
/**
 * Matches a command in a sentence; not a part of a path or another word, and not a command that already has a prefix.
 */
const COMMAND = /(?<![\w/.$-]|npx )puntas (?=(--help|[a-z][a-z-]{0,20})(?![\w-]))/g;

/** Replaces `puntas` by `name` in every command of a text. */
export const withCommandName = (text: string, name: string): string =>
  name === 'puntas'
    ? text
    : text.replace(COMMAND, (found, verb: string) => (VERBS.includes(verb) ? `${name} ` : found));

/** Words with which the user starts this process: `puntas` or `npx puntas`. */
export const ownCommandName = commandNameOf(process);
