/** The few things that the command and its plugin, which Stryker loads in its own processes, agree on. */

export type Position = { readonly line: number; readonly column: number };

/** Identifies a mutant in the file that Stryker is given. `start` counts from 0, as the instrumenter does. */
export const idOf = (start: Position, mutator: string, replacement: string): string =>
  `${start.line}:${start.column} ${mutator} ${replacement.replace(/\s+/g, ' ')}`;

/** Environment variable with the name of the file of mutants to run: ids by path. */
export const WANTED = 'PUNTAS_MUTANTS';
/** Opens a line of output that is a result. */
export const RESULT = '@mutant ';

/** Opens a line of output with the count of tests that passed without a mutant. */
export const TESTS = '@tests ';

export type Result = { readonly file: string; readonly id: string; readonly status: string };
