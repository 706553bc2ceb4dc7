/** `puntas tape` and `puntas export`: contents of a stored tape, and its rows for other programs. */
import { counted, textOfError } from '../../core/index.ts';
import { exportTape, openStoredTape, type StoredTape, type StoredTapeOptions } from '../../tape/index.ts';
import { withProgress, type Progress } from '../../messages/progress.ts';
import { UsageError } from '../../wiring/usageError.ts';

/** Converts errors of a tape to `UsageError`, since the operator must fix them. */
async function orUsageError<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new UsageError(textOfError(error));
  }
}

/**
 * Returns the contents of a tape as text or JSON. Decodes the complete tape, which verifies the checksum of each block.
 */
export const lookAtTape = (
  dir: string,
  options: StoredTapeOptions,
  json: boolean,
  progress: Progress,
): Promise<string> =>
  orUsageError(async () => {
    const tape = openStoredTape(dir, options);
    let read = 0;
    await withProgress(progress, tape.book, onShare => {
      for (const { columns } of tape.chunksAhead()) onShare(Math.min(1, (read += columns.length) / tape.rows));
    });
    return json ? JSON.stringify(factsOf(tape)) : describeStored(tape);
  });

function factsOf(tape: StoredTape): object {
  const { dir, source, book, lot, rules, days, rows, bytes, depth, quotesOnly, gaps, flaws } = tape;
  const facts = { dir, book, source, lot, depth: depth === Infinity ? null : depth, quotesOnly, rules, days };
  return { ...facts, rows, bytes, bytesPerRow: bytes / rows, gaps, dirt: flaws, hash: tape.hash() };
}

function describeStored(tape: StoredTape): string {
  const { book, source, lot, rules, days, rows, bytes, depth, quotesOnly, gaps, flaws } = tape;
  const shown = depth === Infinity ? 'complete books' : `${counted(depth, 'level')} per side`;
  return [
    `tape of ${book}, source ${source}: ${counted(days.length, 'day')}, ${counted(rows, 'row')}, ${megabytes(bytes)} MB, ${counted((bytes / rows).toFixed(2), 'byte')} per row`,
    `  lot size ${lot}; ${quotesOnly ? 'best prices without amounts' : shown}`,
    ...rules.map(({ at, rules }) => `  rules from ${timeOrNever(at)}: ${JSON.stringify(rules)}`),
    ...days.map(
      ({ day, rows, bytes, from, to, closed }) =>
        `  ${day}: ${counted(rows, 'row')}, ${megabytes(bytes)} MB, ${timeOrNever(from)} to ${timeOrNever(to)}${closed ? '' : ', recording not finished'}`,
    ),
    ...gaps.map(
      ({ from, to, why }) => `  gap of ${((to - from) / 1000).toFixed(1)} s from ${timeOrNever(from)}: ${why}`,
    ),
    ...flaws.map(({ what, count, done }) => `  ${what}: ${count} (${done})`),
    `  hash ${tape.hash()}`,
  ].join('\n');
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
const timeOrNever = (at: number): string => (Number.isFinite(at) ? new Date(at).toISOString() : 'never');

/** Writes the rows to a file; resolves to a line with the number of rows. */
export const exportStored = (
  dir: string,
  options: StoredTapeOptions,
  file: string,
  progress: Progress,
): Promise<string> =>
  orUsageError(async () => {
    const tape = openStoredTape(dir, options);
    let written = 0;
    progress.begin(tape.rows, tape.book);
    try {
      await exportTape(tape, file, rows => {
        written += rows;
        progress.at(Math.min(written, tape.rows));
      });
    } finally {
      progress.end();
    }
    return `${file}: ${counted(written, 'row')} of ${tape.book}`;
  });
