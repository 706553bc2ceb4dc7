/** `puntas import`: recordings of other programs, and what a bot saw, as a tape. All of it or nothing. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  describeFlaw,
  findRecording,
  isStoredTape,
  openStoredTape,
  importRecording,
  TapeWriter,
} from '../../tape/index.ts';
import type { ImportReport, Recording, StoredTape } from '../../tape/index.ts';
import { tapeRules } from '../../tape/model/tapeRules.ts';
import { isStateFolder, stateRecording } from './stateRecording.ts';
import type { Progress } from '../messages/progress.ts';
import { UsageError } from '../wiring/usageError.ts';

export type ImportOptions = {
  readonly from: string;
  readonly out: string;
  readonly book?: string;
  readonly format?: string;
  readonly tick?: string;
  readonly lot?: string;
  readonly progress: Progress;
};

export type ImportResult = ImportReport & {
  readonly out: string;
  readonly days: number;
  /** On disk. */
  readonly bytes: number;
  readonly bytesPerRow: number;
  readonly seconds: number;
  /** Of the tape. */
  readonly hash: string;
};

/** Throws `UsageError` for what a person must change; then nothing is left in the folder. */
export async function importTape(options: ImportOptions): Promise<ImportResult> {
  const started = performance.now();
  const bar = bytesShown(options.progress);
  const { from, out, book, tick, lot } = options;
  const unfinished: string[] = [];
  try {
    const given = { ...(book && { book }), ...(tick && { tick }), ...(lot && { lot }) };
    if (isStoredTape(from)) throw new UsageError(`${from}: is a tape already; give it to --tape as it is`);
    bar.begin('looking', bytesAt(from));
    const recording = isStateFolder(from, options.format)
      ? stateRecording(from, book)
      : await findRecording(from, { ...given, ...(options.format && { format: options.format }) }, bar.add);
    const name = recording.instrument.symbol;
    const folder = join(out, `book=${name}`);
    if (existsSync(folder))
      throw new UsageError(
        `${folder} is there already: an import makes a new tape; choose another --out, or move that one away`,
      );
    mkdirSync(out, { recursive: true });
    const work = mkdtempSync(join(out, '.unfinished-import-'));
    unfinished.push(work);
    bar.begin('reading', recording.files.reduce((sum, file) => sum + statSync(file).size, 0) * recording.passes);
    const report = await written(recording, work, bar.add);
    renameSync(join(work, `book=${name}`), folder);
    const stored = openStoredTape(out, { book: name });
    return { ...report, ...summaryOf(stored), seconds: (performance.now() - started) / 1000 };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(error instanceof Error ? error.message : String(error));
  } finally {
    bar.end();
    for (const dir of unfinished) rmSync(dir, { recursive: true, force: true });
  }
}

async function written(recording: Recording, dir: string, onBytes: (count: number) => void): Promise<ImportReport> {
  const { instrument, depth, quotesOnly } = recording;
  const { symbol, tick, lot } = instrument;
  const writer = new TapeWriter({
    dir,
    rules: recording.rules ?? tapeRules(symbol, tick, lot).rules,
    lot,
    source: `${recording.format} ${recording.source}`,
    depth,
    quotesOnly,
  });
  try {
    const report = await importRecording(recording, writer, onBytes);
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

/** For a person. */
export function describeImport(report: ImportResult): string {
  const { format, source, book, tick, lot, rows, trades, from, to, gaps, dirt, notes, out, days, bytes } = report;
  const time = (at: number) => new Date(at).toISOString();
  return [
    `${book}, ${format}, ${source}: ${rows} rows, ${trades} trades, ${time(from)} to ${time(to)}, tick ${tick}, lot ${lot}`,
    ...notes.map(note => `  ${note}`),
    ...dirt.map(describeFlaw),
    ...gaps
      .slice(0, GAPS_SHOWN)
      .map(gap => `  gap of ${((gap.to - gap.from) / 1000).toFixed(1)} s from ${time(gap.from)}: ${gap.why}`),
    ...(gaps.length > GAPS_SHOWN ? [`  and ${gaps.length - GAPS_SHOWN} more gaps (--json has all)`] : []),
    ...(dirt.length + gaps.length === 0 ? ['  nothing dirty was found'] : []),
    `written to ${out}: ${days} day(s), ${bytes} bytes, ${report.bytesPerRow.toFixed(2)} a row, in ${report.seconds.toFixed(1)} s`,
  ].join('\n');
}

const GAPS_SHOWN = 10;

function bytesAt(path: string): number {
  if (!existsSync(path)) return 0;
  if (!statSync(path).isDirectory()) return statSync(path).size;
  return readdirSync(path).reduce((sum, name) => sum + (statSync(join(path, name)).size || 0), 0);
}

/** Bytes one after another; shown only for what takes longer. */
function bytesShown(progress: Progress) {
  let done = 0;
  return {
    begin: (what: string, bytes: number) => {
      progress.end();
      done = 0;
      if (bytes > SHOWN_FROM_BYTES) progress.begin(bytes, what);
    },
    add: (bytes: number) => progress.at((done += bytes)),
    end: () => progress.end(),
  };
}

/** Below it an import is done before a bar is read. */
const SHOWN_FROM_BYTES = 1_000_000;
