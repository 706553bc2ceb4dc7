/** Reader of Kraken's lists, which are objects with the id of each row as its key. */
import type { UnreadableRow } from '../../../core/index.ts';
import { row, rows, type Row, type RowIdentity } from '../../wire/wire.ts';

type Entry = readonly [key: string, content: unknown];

/**
 * Reads the rows of an object, each with its key. An unreadable row is omitted and added to `unreadable`, with the ids,
 * book or currencies that `identify` finds in it.
 */
export const keyedRows = <T>(
  value: unknown,
  what: string,
  read: (key: string, of: Row) => T,
  unreadable: UnreadableRow[],
  identify: (key: string, content: unknown) => ReturnType<RowIdentity>,
): readonly T[] =>
  rows(
    Object.entries(row(value, what)),
    element => {
      const [key, content] = element as Entry;
      return read(key, row(content, key));
    },
    unreadable,
    what,
    element => identify(...(element as Entry)),
  );
