/** Number of levels per side that the books of a stored day show. A day without a book snapshot has the earlier ones. */
import { join } from 'node:path';
import { chunksHere } from './chunksAhead.ts';
import { partitions } from './dayFiles.ts';
import { scanDay, type ScannedDay } from './scanDay.ts';
import { SeenDepth } from '../model/seenDepth.ts';
import { KIND } from '../model/tape.ts';

/**
 * Returns the number of levels of a day in the folder of its book; `null` if no snapshot is known. A day that was not
 * closed has the number that its writer would record.
 */
export const depthOfDay = (folder: string, day: ScannedDay): number | null =>
  day.closed ? day.seenDepth : seenDepthOf(folder, day).levels;

/** Counts the levels of a day from its rows, after the number that its source recorded for the day before. */
export function seenDepthOf(folder: string, day: ScannedDay): SeenDepth {
  const seen = new SeenDepth(depthBefore(folder, day));
  let until = Number.NaN;
  // Only blocks with a snapshot are read, and the next ones if a snapshot may continue there.
  const blocks = day.blocks.filter(({ isSnapshot, kinds, from, to }) => {
    const isRead = !isSnapshot && ((kinds & (1 << KIND.clear)) !== 0 || from === until);
    if (isRead) until = to;
    return isRead;
  });
  const options = { from: -Infinity, to: Infinity, micros: false, snapshots: false };
  for (const { columns } of chunksHere([{ ...day, blocks }], options))
    for (let row = 0; row < columns.length; row++)
      seen.take(columns.kind[row]!, columns.side[row]!, columns.at[row]!, columns.price[row]!, columns.amount[row]!);
  return seen;
}

function depthBefore(folder: string, { day, head }: ScannedDay): number | null {
  const name = partitions(folder, 'day=').findLast(other => other < day);
  if (name === undefined) return null;
  try {
    const before = scanDay(join(folder, `day=${name}`), { book: head.book, day: name, skip: false });
    return before.head.source === head.source && before.head.depth === head.depth ? before.seenDepth : null;
  } catch {
    // The depth of an unreadable day is unknown.
    return null;
  }
}
