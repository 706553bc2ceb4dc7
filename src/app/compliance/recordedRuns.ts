/** Replay of the recorded runs of a state directory, oldest first, with a hash of every file that was read. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  counted,
  type BookEngine,
  type Command,
  type Engine,
  type EngineEvent,
  type Instrument,
  type Millis,
} from '../../core/index.ts';
import { booksOf, booksText, recordedConfig, symbolsOf, type Config } from '../../config.ts';
import {
  followRecording,
  readFollowed,
  recordedRunOf,
  recordingName,
  recordingsIn,
  type RecordedRun,
} from '../../live/recording/recordings.ts';
import { firstRulesOfBooks, replayRecording } from '../../live/replay/replay.ts';
import { readOfRun } from '../inspect/explain.ts';
import type { DaysAsked } from '../inspect/profitReport.ts';
import { engineOf } from '../../wiring/bot.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { venueOf } from '../../wiring/venueRegistry.ts';

/** Recording of one run, as it was replayed. */
export type RecordingEvidence = {
  readonly run: number;
  /** Name of the file in the state directory. */
  readonly file: string;
  /** Number of bytes of the file that were read. The recording of a current run may have grown since. */
  readonly bytes: number;
  /** SHA-256 of the bytes that were read, in hexadecimal digits. */
  readonly sha256: string;
  /**
   * First difference between the replay and the recording, or the error that ended the replay; `null` if there was
   * neither.
   */
  readonly difference: string | null;
  /** Whether the recording ends early because the disk was full. */
  readonly gap: boolean;
};

/** Run before its first replayed input, with its engine, its requested book and the configuration of this book. */
export type OpenedRun = {
  readonly run: number;
  readonly engine: Engine;
  readonly book: BookEngine;
  readonly instrument: Instrument;
  readonly setup: Config;
};

/** Receiver of the inputs of one replayed run. */
export type RunWatcher = {
  /** Called after the engine has processed an input. `commands` are the commands that the engine returned. */
  see(event: EngineEvent, commands: readonly Command[]): void;
  /** Called after the last replayed input. */
  end(evidence: RecordingEvidence): void;
};

/** Time range that includes `from` and excludes `to`. */
export type TimeRange = { readonly from: Millis; readonly to: Millis };

/** Days to replay; an absent bound is the first or the last recorded day. */
export type RecordedDays = DaysAsked & {
  readonly dir: string;
  /** Symbol of the requested book; absent for the only book of the runs. */
  readonly book?: string;
  /** Called with the time of each input, for progress reports. */
  readonly onInput?: (at: Millis) => void;
};

/** Replayed runs of a range, oldest first; there is at least one. */
export type ReplayedRuns = {
  readonly opened: readonly OpenedRun[];
  readonly recordings: readonly RecordingEvidence[];
  /** Start time of the first run that starts at or after the end of the range; `null` if no run does. */
  readonly nextStart: Millis | null;
};

/**
 * Replays every run that may have inputs in the range. `watch` returns the watcher of one run. `asked`: requested book;
 * runs without this book are omitted. Without it, all replayed runs must be of one book.
 * @throws UsageError if no run can be replayed, or, without a requested book, if there are several books.
 */
export function replayRuns(
  dir: string,
  range: TimeRange,
  watch: (run: OpenedRun) => RunWatcher,
  asked?: string,
): ReplayedRuns {
  const recorded = recordedRuns(dir);
  const opened: OpenedRun[] = [];
  const recordings: RecordingEvidence[] = [];
  let book = asked ?? null;
  const found = new Set<string>();
  for (const { run, setup: text } of runsIn(recorded, range)) {
    const setup = recordedConfig(text);
    const symbols = symbolsOf(setup);
    for (const symbol of symbols) found.add(symbol);
    if (asked === undefined && symbols.length > 1)
      throw new UsageError(
        `${dir}: run ${run} has ${counted(symbols.length, 'book')} (${booksText(setup)}); choose one with --book of puntas presence or puntas surveillance`,
      );
    book ??= setup.book;
    if (asked === undefined && setup.book !== book)
      throw new UsageError(
        `${dir}: the requested days have runs of ${book} and of ${setup.book}; choose one with --book, or select days with --from and --to`,
      );
    if (!symbols.includes(book)) continue;
    const evidence = replayOfRun(dir, run, setup, book, of => {
      opened.push(of);
      return watch(of);
    });
    if (evidence !== null) recordings.push(evidence);
  }
  if (recordings.length === 0 && asked !== undefined && found.size > 0)
    throw new UsageError(`--book ${asked}: expected a book of the recorded runs (${[...found].join(', ')})`);
  if (recordings.length === 0)
    throw new UsageError(
      `${dir}: no run was recorded in the requested days; expected the state directory of a bot that has run (state.dir, or --state)`,
    );
  return { opened, recordings, nextStart: recorded.find(of => of.startedAt >= range.to)?.startedAt ?? null };
}

/**
 * Returns one SHA-256 for all replayed recordings, in hexadecimal digits. The hashed text has one line for each
 * recording: file name, number of bytes, and SHA-256 of these bytes.
 */
export function hashOfRecordings(replayed: readonly Pick<RecordingEvidence, 'file' | 'bytes' | 'sha256'>[]): string {
  const hash = createHash('sha256');
  for (const { file, bytes, sha256 } of replayed) hash.update(`${file} ${bytes} ${sha256}\n`);
  return hash.digest('hex');
}

/** Returns the first difference between replay and recordings, as text with the run; `null` if there is none. */
export function differenceIn({ recordings }: Pick<ReplayedRuns, 'recordings'>): string | null {
  const found = recordings.find(({ difference }) => difference !== null);
  return found === undefined ? null : `run ${found.run}: ${found.difference}`;
}

/**
 * Returns the runs that started before the end of the range and whose next run, if any, started after the start of the
 * range.
 */
const runsIn = (recorded: readonly RecordedRun[], { from, to }: TimeRange): readonly RecordedRun[] =>
  recorded.filter(({ startedAt }, i) => startedAt < to && (recorded[i + 1]?.startedAt ?? Infinity) > from);

/** Returns all recorded runs, oldest first, except runs whose recording has no lines. */
const recordedRuns = (dir: string): readonly RecordedRun[] =>
  (existsSync(dir) ? recordingsIn(dir) : []).flatMap(
    ({ run }) => readOfRun(dir, run, () => recordedRunOf(dir, run)) ?? [],
  );

/** Replays one run. Returns `null` for a run that ended before it read the rules of its books. */
function replayOfRun(
  dir: string,
  run: number,
  setup: Config,
  symbol: string,
  watch: (run: OpenedRun) => RunWatcher,
): RecordingEvidence | null {
  const setups = booksOf(setup);
  const [rules, ...others] = readOfRun(dir, run, () => firstRulesOfBooks(dir, run, setups.length));
  if (rules === undefined || others.length < setups.length - 1) return null;
  const engine = engineOf(setup, rules, run, undefined, false, others);
  const i = engine.books.findIndex(book => book.symbol === symbol);
  const { instrument } = [rules, ...others][i]!;
  const watcher = watch({ run, engine, book: engine.books[i]!, instrument, setup: setups[i]! });
  const pieces = followRecording(dir, run);
  try {
    const { difference, gap } = replayRecording(run, engine, () => readFollowed(pieces, run), {
      onInput: (event, commands) => watcher.see(event, commands),
      meaningOf: venueOf(setup).meaningOf,
    });
    const { bytesRead: bytes } = pieces;
    const evidence = { run, file: recordingName(run), bytes, sha256: pieces.hashOfRead(), difference, gap };
    watcher.end(evidence);
    return evidence;
  } finally {
    pieces.close();
  }
}
