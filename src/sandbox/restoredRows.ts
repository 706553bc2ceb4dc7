/** Rows of a stored account: reads of their values, and the error for rows that cannot be used. */
import { textOfError } from '../core/index.ts';
import { valueOfStored } from './venue/storedText.ts';

/** Error for rows from which no account can be restored. */
export class UnrestorableAccount extends Error {}

/** Returns the value of a row; `null` if there is no such row. */
export function storedValue<T>(rows: ReadonlyMap<string, string>, key: string): T | null {
  const text = rows.get(key);
  return text === undefined ? null : (valueOfStored(text) as T);
}

/** Returns the first part of a key, which names the kind of its row. */
export const rowKind = (key: string): string => key.split('/', 1)[0]!;

/** Calls a step that restores an account from its rows. */
export function restored<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw new UnrestorableAccount(textOfError(error), { cause: error });
  }
}
