/**
 * `puntas import`: imports recordings of other programs, or of a bot, as a tape. An import is complete or has no
 * effect.
 */
import { existsSync, mkdtempSync, renameSync, rmSync, statSync, readdirSync } from 'node:fs';
import { makeFolder } from '../../guard/index.ts';
import { join } from 'node:path';
import {
  bytesToRead,
  describeFlaw,
  isStoredTape,
  openStoredTape,
  importRecording,
  LastDay,
  mappedRecording,
  openRecording,
  sessionOf,
  TapeWriter,
  type ImportReport,
  type Recording,
  type StoredTape,
} from '../../tape/index.ts';
import { tapeRules } from '../../tape/model/tapeRules.ts';
import { counted, textInSeconds, type Millis, textOfError } from '../../core/index.ts';
import { isStateFolder, stateRecording } from './stateRecording.ts';
import type { Progress } from '../../messages/progress.ts';
import { UsageError } from '../../wiring/usageError.ts';

export type ImportOptions = {
  readonly from: string;
  readonly out: string;
  readonly book?: string;
  readonly format?: string;
  /** Path of a mapping file, which defines the columns. */
  readonly mapping?: string;
  readonly tick?: string;
  readonly lot?: string;
  /** Delay, in ms, up to which a late row is sorted into its place by time; a delay above one hour is rejected. */
  readonly sort?: Millis;
  /** Trading hours. Rows outside these hours are omitted. Overrides the hours in the mapping. */
  readonly session?: string;
  /** Whether an existing tape may be continued. A missing tape is created in any case. */
  readonly append: boolean;
  readonly progress: Progress;
};

export type ImportResult = ImportReport & {
  readonly out: string;
  readonly days: number;
  /** Size of the tape on disk, in bytes. */
  readonly bytes: number;
  readonly bytesPerRow: number;
  readonly seconds: number;
  /** Hash of the tape's content. */
  readonly hash: string;
};

/** Prefix of the folder of an unfinished import. The folder remains if the process is killed. */
const UNFINISHED = '.unfinished-import-';

/** Maximum of `sort`, in ms, because the rows of this time span are kept in memory. */
const SORT_MAX_MS = 3_600_000;

type Given = { readonly book?: string; readonly tick?: string; readonly lot?: string };

/**
 * Imports a tape. On an error, the folder is unchanged.
 * @throws UsageError for errors that the operator must fix.
 */
export async function importTape(options: ImportOptions): Promise<ImportResult> {
  const started = performance.now();
  if (options.sort !== undefined && !(options.sort <= SORT_MAX_MS))
    throw new UsageError(`--sort: expected at most 1h, found ${textInSeconds(options.sort)}`);
  const bar = bytesShown(options.progress);
  const { from, out, book, tick, lot, format, mapping } = options;
  const unfinished: string[] = [];
  try {
    const given = { ...(book && { book }), ...(tick && { tick }), ...(lot && { lot }) };
    if (mapping === undefined && isStateFolder(from, format))
      for (const [flag, value] of [
        ['--tick', tick],
        ['--lot', lot],
      ] as const)
        if (value !== undefined)
          throw new UsageError(
            `${flag}: no effect on a state directory, which records the rules of its book; remove the flag`,
          );
    if (isStoredTape(from))
      throw new UsageError(`${from}: already a tape; to use this tape, pass the folder to --tape`);
    bar.begin('looking', bytesAt(from));
    const found = await opened(options, given, bar.add);
    const name = found.instrument.symbol;
    const folder = join(out, `book=${name}`);
    if (existsSync(folder) && !options.append)
      throw new UsageError(
        `${folder} already exists; append to this tape with --append, choose another --out, or move the folder away`,
      );
    const before = existsSync(folder) ? openStoredTape(out, { book: name }) : null;
    const recording = before === null ? found : await continuing(before, found, options, given, bar.add);
    makeFolder(out);
    const work = mkdtempSync(join(out, UNFINISHED));
    unfinished.push(work);
    const lastDay = before === null ? null : new LastDay(out, work, name);
    bar.begin('reading', bytesToRead(recording));
    const since = before && lastDay ? Math.max(before.to, lastDay.start) : null;
    const report = await written(recording, work, before, since, options.sort, bar.add);
    if (lastDay === null) renameSync(join(work, `book=${name}`), folder);
    else if (report.rows > 0) lastDay.putBack();
    const stored = openStoredTape(out, { book: name });
    const others = readdirSync(out).filter(one => one.startsWith(UNFINISHED) && join(out, one) !== work);
    const left = others.map(
      one =>
        `${join(out, one)}: this folder belongs to an interrupted or running import; remove the folder if no import is running`,
    );
    return {
      ...report,
      ...summaryOf(stored),
      notes: [...report.notes, ...left],
      seconds: (performance.now() - started) / 1000,
    };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(textOfError(error));
  } finally {
    bar.end();
    for (const dir of unfinished) rmSync(dir, { recursive: true, force: true });
  }
}

async function opened(
  { from, format, mapping, session }: ImportOptions,
  given: Given,
  onBytes: (count: number) => void,
): Promise<Recording> {
  const recording = mapping
    ? await mappedRecording(from, mapping, given, onBytes)
    : isStateFolder(from, format)
      ? stateRecording(from, given.book)
      : await openRecording(from, { ...given, ...(format && { format }) }, onBytes);
  return session === undefined ? recording : { ...recording, session: sessionOf(session) };
}

/**
 * Returns the recording, converted to the ticks and lots of the tape that it continues.
 * @throws UsageError if tape and recording are not compatible.
 */
async function continuing(
  tape: StoredTape,
  found: Recording,
  options: ImportOptions,
  given: Given,
  onBytes: (count: number) => void,
): Promise<Recording> {
  const { dir, book, lot, statedDepth: depth, quotesOnly } = tape;
  const { tickSize: tick } = rulesNow(tape);
  for (const [flag, asked, has] of [
    ['--tick', given.tick, tick],
    ['--lot', given.lot, lot],
  ] as const)
    if (asked !== undefined && asked !== has)
      throw new UsageError(
        `${flag} ${asked}: the tape of ${book} in ${dir} has the value ${has}; omit ${flag}, or choose another --out`,
      );
  const { instrument, rules } = found;
  const fits = rules !== undefined || (instrument.tick === tick && instrument.lot === lot);
  const recording = fits ? found : await opened(options, { ...given, book, tick, lot }, onBytes);
  if (recording.depth === depth && recording.quotesOnly === quotesOnly) return recording;
  throw new UsageError(
    `${dir} contains ${shapeOf({ depth, quotesOnly })} of ${book}, but ${recording.source} contains ${shapeOf(recording)}; a tape cannot mix these, so choose another --out`,
  );
}

const rulesNow = ({ rules, instrument, lot }: StoredTape) =>
  rules.at(-1)?.rules ?? tapeRules(instrument.symbol, instrument.tick, lot).rules;

const shapeOf = ({ depth, quotesOnly }: { readonly depth: number; readonly quotesOnly: boolean }): string =>
  depth === 0
    ? 'trades only'
    : quotesOnly
      ? 'best prices without amounts'
      : depth === Infinity
        ? 'complete books'
        : `${counted(depth, 'level')} per side`;

async function written(
  recording: Recording,
  dir: string,
  before: StoredTape | null,
  since: number | null,
  sortMs: Millis | undefined,
  onBytes: (count: number) => void,
): Promise<ImportReport> {
  const { instrument, depth, quotesOnly } = recording;
  const { symbol, tick, lot } = instrument;
  const writer = new TapeWriter({
    dir,
    rules: recording.rules ?? (before === null ? tapeRules(symbol, tick, lot).rules : rulesNow(before)),
    lot,
    source: `${recording.format} ${recording.source}`,
    depth,
    quotesOnly,
  });
  try {
    const end = since === null ? undefined : { at: since, shows: writer.shows.bind(writer), gaps: before?.gaps ?? [] };
    const report = await importRecording(recording, writer, onBytes, {
      end,
      sortMs,
    });
    writer.flaws(report.dirt);
    return report;
  } finally {
    writer.close();
  }
}

const summaryOf = (stored: StoredTape) => ({
  out: stored.dir,
  days: stored.days.length,
  bytes: stored.bytes,
  bytesPerRow: stored.bytes / stored.rows,
  hash: stored.hash(),
});

/** Returns the report of an import as text. */
export function describeImport(report: ImportResult): string {
  const { format, source, book, tick, lot, rows, trades, skipped, from, to, gaps, dirt, notes, out, days, bytes } =
    report;
  const time = (at: number) => new Date(at).toISOString();
  const span = from === null || to === null ? 'no rows newer than the tape' : `${time(from)} to ${time(to)}`;
  return [
    `${book}, ${format}, ${source}: ${counted(rows, 'row')}, ${counted(trades, 'trade')}, ${span}, tick size ${tick}, lot size ${lot}`,
    ...(skipped > 0
      ? [
          `  ${counted(skipped, 'row was', 'rows were')} skipped, because they are not newer than the last row of the tape`,
        ]
      : []),
    ...notes.map(note => `  ${note}`),
    ...dirt.map(describeFlaw),
    ...gaps
      .slice(0, GAPS_SHOWN)
      .map(gap => `  gap of ${((gap.to - gap.from) / 1000).toFixed(1)} s from ${time(gap.from)}: ${gap.why}`),
    ...(gaps.length > GAPS_SHOWN ? [`  and ${counted(gaps.length - GAPS_SHOWN, 'more gap')} (--json lists all)`] : []),
    ...(dirt.length + gaps.length === 0 ? ['  no data-quality flaws found'] : []),
    `written to ${out}: ${counted(days, 'day')}, ${counted(bytes, 'byte')} (${report.bytesPerRow.toFixed(2)} per row), in ${report.seconds.toFixed(1)} s`,
  ].join('\n');
}

const GAPS_SHOWN = 10;

function bytesAt(path: string): number {
  if (!existsSync(path)) return 0;
  if (!statSync(path).isDirectory()) return statSync(path).size;
  return readdirSync(path).reduce((sum, name) => sum + (statSync(join(path, name)).size || 0), 0);
}

/** Returns a function that reports progress in bytes. */
function bytesShown(progress: Progress) {
  let done = 0;
  return {
    begin: (what: string, bytes: number) => {
      progress.end();
      done = 0;
      progress.begin(bytes, what);
    },
    add: (bytes: number) => progress.at((done += bytes)),
    end: () => progress.end(),
  };
}
