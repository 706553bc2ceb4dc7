/** Errors that end a command with a line of advice instead of a stack trace. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
// The imports bypass the folder's index, because a low limit on open files prevents loading its other modules.
import { pathLine } from '../guard/fileErrors.ts';
import { readRegularFile } from '../guard/files.ts';
import { NO_FOLDER, pathProblem } from '../guard/givenPaths.ts';

/** Error that the operator can fix, with one or more lines of text; `code` is the exit code. */
export class UsageError extends Error {
  readonly code: number;
  constructor(lines: string | readonly string[], code = 2) {
    super(typeof lines === 'string' ? lines : lines.join('\n'));
    this.name = 'UsageError';
    this.code = code;
  }
}

/**
 * Returns the text of a file that a person named. `advice`: what to do if the file cannot be read.
 * @throws UsageError with the path, the problem and the advice.
 */
export function readGivenFile(path: string, bytesMax: number, advice: string): string {
  try {
    return readRegularFile(path, bytesMax);
  } catch (error) {
    throw new UsageError(pathLine(path, error, 'read', advice));
  }
}

/** Error if the spreads of the strategy do not cover the account's fees. */
export class FeesTooHigh extends UsageError {
  /** Account's position in the exchange's fee tiers, as text; `null` if unknown. */
  readonly tier: string | null;
  constructor(problem: string, tier: string | null) {
    super(problem);
    this.tier = tier;
  }
}

/** State directory of `npm start` and of a bot without `state.dir`, relative to the working directory. */
const USUAL = 'state';

/**
 * Checks that the folder exists and can be read. `mayBeMissing`: whether the bot may start later.
 * @throws UsageError if it does not; the error names the default state directory if that directory exists.
 */
export function requireStateFolder(dir: string, mayBeMissing = false): void {
  const problem = pathProblem(dir, 'folder', 'read');
  if (problem === null || (mayBeMissing && problem === NO_FOLDER)) return;
  const hasUsual = resolve(dir) !== resolve(USUAL) && existsSync(USUAL);
  const hint = hasUsual ? `; for the state in ./${USUAL}, use --state ./${USUAL} instead of -c` : '';
  throw new UsageError(`${dir}: ${problem}; expected the state directory of a bot (state.dir)${hint}`);
}

/**
 * Loads optional packages with `load`, which imports them. `place` names what needs the
 * packages. Rejects with `UsageError` and the install command if a package is missing. Rejects with any other error of
 * `load` unchanged.
 */
export async function loadOptional<T>(place: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const missing = missingPackage(error);
    if (missing === null) throw error;
    throw new UsageError(
      `${place}: the package ${missing} is not installed; install the optional packages with: npm install --include=optional`,
    );
  }
}

/** Returns the name of the package that an import did not find; `null` for any other error. */
function missingPackage(error: unknown): string | null {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') return null;
  return /Cannot find package '([^']+)'/.exec(error.message)?.[1] ?? null;
}
