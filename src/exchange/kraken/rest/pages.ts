/**
 * Complete reads of Kraken's lists. The pages of a list have 50 rows, newest first, and are requested by offset. Rows
 * that are added during a read move all other rows to later offsets, so a read towards later offsets repeats rows and
 * omits none.
 */
import { counted, type Outcome, type UnreadableRow } from '../../../core/index.ts';
import { doneWith } from '../../wire/requestParts.ts';

/** Number of rows per page. Source: docs.kraken.com/api/docs/rest-api/get-closed-orders, get-trade-history. */
export const PAGE_ROWS = 50;
/**
 * Maximum number of pages of one read. The outcome of a read of a longer list is `unknown`; such lists are not
 * expected.
 */
const PAGES_MAX = 40;
/** Maximum number of attempts to read a page from the end of a list that grows. */
const TRIES = 4;

export type ListPage<T> = { readonly rows: readonly T[]; readonly length: number; readonly count: number };
export type ReadPage<T> = (offset: number) => Promise<Outcome<ListPage<T>>>;

type Rows<T> = Outcome<readonly T[]>;

/** Reads all rows of a list, newest first. Rows can be repeated. `first`: the page at offset 0, if it is read already. */
export async function readAll<T>(read: ReadPage<T>, first?: Outcome<ListPage<T>>): Promise<Rows<T>> {
  const all: T[] = [];
  const unreadable: UnreadableRow[] = [];
  let offset = 0;
  for (let page = 0; page < PAGES_MAX; page++) {
    const outcome = page === 0 && first !== undefined ? first : await read(offset);
    if (outcome.kind !== 'done') return outcome;
    const { rows, length, count } = outcome.value;
    all.push(...rows);
    unreadable.push(...(outcome.unreadable ?? []));
    offset += length;
    if (length < PAGE_ROWS && offset >= count) return doneWith(all, unreadable);
    if (length === 0)
      return unknown(
        `the exchange counts ${counted(count, 'row')} in the list, but the list ends after ${counted(offset, 'row')}`,
      );
  }
  return unknown(`the list has more than ${PAGES_MAX * PAGE_ROWS} rows, the maximum of one read`);
}

/**
 * Reads the oldest rows of a list: at least `minimum` wanted rows, or all rows if the list has no more than `minimum`.
 * The result can contain repeated rows and more rows than the minimum.
 */
export async function readOldest<T>(
  read: ReadPage<T>,
  minimum: number,
  isWanted: (row: T) => boolean,
): Promise<Rows<T>> {
  const first = await read(0);
  if (first.kind !== 'done') return first;
  if (first.value.count <= minimum) return readAll(read, first);
  const all: T[] = [];
  const unreadable: UnreadableRow[] = [];
  let { count } = first.value;
  // Page 0, after the end, must be empty. If it is not, the exchange counts fewer rows than it has.
  for (let page = 0; page < PAGES_MAX; page++) {
    const outcome = await pageFromEnd(page);
    if (outcome.kind !== 'done') return outcome;
    all.push(...outcome.value.rows);
    unreadable.push(...(outcome.unreadable ?? []));
    const isWhole = count - PAGE_ROWS * page <= 0;
    if (isWhole || all.filter(isWanted).length >= minimum) return doneWith(all, unreadable);
  }
  return unknown(`the oldest ${PAGES_MAX} pages of the list contain fewer than ${counted(minimum, 'matching row')}`);

  /** Reads a page counted from the end of the list; page 0 is the empty page after the end. */
  async function pageFromEnd(page: number): Promise<Outcome<ListPage<T>>> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const before = count;
      const outcome = await read(Math.max(0, before - PAGE_ROWS * page));
      if (outcome.kind !== 'done') return outcome;
      count = outcome.value.count;
      if (count !== before) continue;
      if (page === 0 && outcome.value.length > 0)
        return unknown(`the list has more rows than the exchange's count of ${count}`);
      if (page > 0 && outcome.value.length < Math.min(PAGE_ROWS, count))
        return unknown(
          `the exchange counts ${counted(count, 'row')} in the list, but a page that must be full has only ${counted(outcome.value.length, 'row')}`,
        );
      return outcome;
    }
    return unknown('the list changed during each attempt to read its end');
  }
}

const unknown = (reason: string) => ({ kind: 'unknown', reason }) as const;
