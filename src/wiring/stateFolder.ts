/** The state directory that a command names, before it is opened. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from './usageError.ts';

/** State directory of `npm start` and of a bot without `state.dir`, from the folder of the command. */
const USUAL = 'state';

/** Checks that the folder exists. @throws UsageError if not; it names the usual state directory if that one exists. */
export function requireStateFolder(dir: string): void {
  if (existsSync(dir)) return;
  const hasUsual = resolve(dir) !== resolve(USUAL) && existsSync(USUAL);
  const hint = hasUsual ? `; for the state in ./${USUAL}, use --state ./${USUAL} instead of -c` : '';
  throw new UsageError(`${dir}: no such folder; expected the state directory of a bot (state.dir)${hint}`);
}
