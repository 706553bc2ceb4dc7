/** Check of every path on the command line, before the command starts its work. */
import type { Command } from 'commander';
import { pathProblem, type FileUse, type PathKind } from '../../guard/index.ts';
import { requireStateFolder, UsageError } from '../../wiring/usageError.ts';

/** Name of an argument in the help that holds a path, such as `<file>`, and the kind of the path. */
const KINDS: Readonly<Record<string, PathKind>> = {
  ...{ file: 'file', files: 'file', candidate: 'file', dir: 'folder', folder: 'folder' },
  ...{ path: 'any', paths: 'any', 'book=dir': 'any' },
};

/** Options and arguments for a recording, which is a folder or a single file. */
const RECORDINGS: readonly string[] = ['--tape', 'tape dir'];

/** Options and arguments that a command writes to. All others are read. */
const WRITTEN: readonly string[] = ['--out', '--yaml', '--registry', '--cache', 'init file', 'samples folder'];

/** State directories of a bot. */
const STATES: readonly string[] = ['--state', 'replay dir'];

/** Commands that can start before the bot has a state directory. */
export const BEFORE_STATE: readonly string[] = ['run', 'doctor', 'sentinel', 'console', 'remote', 'shadow'];

/** Option or argument of a command that is a path. */
export type PathInput = {
  /** Long flag of an option, like `--tape`, or the name of an argument. */
  readonly name: string;
  readonly kind: PathKind;
  readonly use: FileUse;
  /** Whether the path is the state directory of a bot. */
  readonly isState: boolean;
  /** Value in the command's results: the key of an option, or the index of an argument. */
  readonly key: string | number;
  /** Whether the path follows a book and an equals sign. */
  readonly hasBook: boolean;
};

/** Lists the options and arguments of a command that are paths, by the names of their arguments in the help. */
export const pathInputs = (command: Command): readonly PathInput[] => [
  ...command.options.flatMap(option => {
    const argument = /[<[]([^>\].]+)/.exec(option.flags)?.[1] ?? '';
    return pathInput(argument, option.long ?? option.flags, option.long ?? '', option.attributeName());
  }),
  ...command.registeredArguments.flatMap((argument, index) =>
    pathInput(argument.name(), argument.name(), `${command.name()} ${argument.name()}`, index),
  ),
];

function pathInput(argument: string, name: string, id: string, key: string | number): readonly PathInput[] {
  const kind = KINDS[argument] && RECORDINGS.includes(id) ? 'any' : KINDS[argument];
  if (kind === undefined) return [];
  return [
    {
      ...{ name, kind, key, hasBook: argument.startsWith('book=') },
      use: WRITTEN.includes(id) ? 'write' : 'read',
      isState: STATES.includes(id),
    },
  ];
}

/**
 * Ends a command with an error before its work if a path cannot be read or written. Applies to every command below
 * `program`. A configuration is left to its reader, because the error may name the shipped files.
 */
export function refuseUnusablePaths(program: Command): void {
  program.hook('preAction', (_, command) => {
    for (const input of pathInputs(command).filter(({ name }) => name !== '--config'))
      for (const path of pathsGiven(command, input)) {
        if (input.isState) requireStateFolder(path, BEFORE_STATE.includes(command.name()));
        else requirePath(path, input);
      }
  });
}

function requirePath(path: string, input: PathInput): void {
  const problem = pathProblem(path, input.kind, input.use);
  if (problem !== null) throw new UsageError(`${path}: ${problem}; ${adviceFor(input)}`);
}

function pathsGiven(command: Command, { key, hasBook }: PathInput): readonly string[] {
  if (typeof key === 'string' && command.getOptionValueSourceWithGlobals(key) !== 'cli') return [];
  // Commander stores an option that the parent command has too only there.
  const value: unknown = typeof key === 'string' ? command.optsWithGlobals()[key] : command.args[key];
  const texts = (Array.isArray(value) ? value : [value]).filter(text => typeof text === 'string');
  return hasBook ? texts.map(text => text.slice(text.indexOf('=') + 1)) : texts;
}

function adviceFor({ name, kind, use }: PathInput): string {
  const noun = kind === 'any' ? 'file or folder' : kind;
  return `pass a ${use === 'read' ? 'readable' : 'writable'} ${noun} ${name.startsWith('-') ? 'with' : 'as'} ${name}`;
}
