/** Replay of the recorded runs of a state directory, oldest first, with a hash of every file that was read. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Command, Engine, EngineEvent, Instrument, Millis } from '../../core/index.ts';
import { recordedConfig, type Config } from '../../config.ts';
import { followRecording, recordedRunOf, recordingName, recordingsIn } from '../../live/recording/recordings.ts';
import { firstRules, lineReader, Replaying, type Replayed } from '../../live/replay/replay.ts';
import { readOfRun } from '../inspect/explain.ts';
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
  /** First difference between the replay and the recording, or the error that ended the replay; `null` if none. */
  readonly difference: string | null;
  /** Whether the recording ends early because the disk was full. */
  readonly gap: boolean;
};

/** Run before its first replayed input, with its engine and configuration. */
export type OpenedRun = {
  readonly run: number;
  readonly engine: Engine;
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

/** Returns the start time of the first run that starts at or after a time; `null` if no run does. */
export function nextStart(dir: string, at: Millis): Millis | null {
  return runStarts(dir).find(({ startedAt }) => startedAt >= at)?.startedAt ?? null;
}

/**
 * Replays every run that may have inputs in the range. `watch` returns the watcher of one run. All replayed runs must
 * be of one book.
 * @throws UsageError if no run can be replayed, or if the runs are of several books.
 */
export function replayRuns(
  dir: string,
  range: TimeRange,
  watch: (run: OpenedRun) => RunWatcher,
): readonly RecordingEvidence[] {
  const replayed: RecordingEvidence[] = [];
  let book: string | null = null;
  for (const run of runsIn(dir, range)) {
    const setup = setupOf(dir, run);
    if (setup === null) continue;
    book ??= setup.book;
    if (setup.book !== book)
      throw new UsageError(
        `${dir}: runs of ${book} and of ${setup.book}; select days of one book with --from and --to`,
      );
    const evidence = replayOfRun(dir, run, setup, watch);
    if (evidence !== null) replayed.push(evidence);
  }
  if (replayed.length === 0)
    throw new UsageError(
      `${dir}: no recording of a run in these days; expected the state directory of a bot that has run (state.dir, or --state)`,
    );
  return replayed;
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

/**
 * Returns the numbers of the runs that started before the end of the range and whose next run, if any, started after
 * the start of the range.
 */
function runsIn(dir: string, { from, to }: TimeRange): readonly number[] {
  return runStarts(dir)
    .filter(({ startedAt }, i, runs) => startedAt < to && (runs[i + 1]?.startedAt ?? Infinity) > from)
    .map(({ run }) => run);
}

function runStarts(dir: string): readonly { readonly run: number; readonly startedAt: Millis }[] {
  return (existsSync(dir) ? recordingsIn(dir) : []).flatMap(({ run }) => {
    const startedAt = readOfRun(dir, run, () => recordedRunOf(dir, run))?.startedAt;
    return startedAt === undefined ? [] : [{ run, startedAt }];
  });
}

function setupOf(dir: string, run: number): Config | null {
  const of = readOfRun(dir, run, () => recordedRunOf(dir, run));
  return of === null ? null : recordedConfig(of.setup);
}

/** Replays one run. Returns `null` for a run that ended before it read the rules of its book. */
function replayOfRun(
  dir: string,
  run: number,
  setup: Config,
  watch: (run: OpenedRun) => RunWatcher,
): RecordingEvidence | null {
  const rules = readOfRun(dir, run, () => firstRules(dir, run));
  if (rules === null) return null;
  const engine = engineOf(setup, rules, run);
  const watcher = watch({ run, engine, instrument: rules.instrument, setup });
  const replaying = new Replaying(run, engine, (event, commands) => watcher.see(event, commands));
  const pieces = followRecording(dir, run);
  try {
    const { difference, gap } = replayPieces(pieces, replaying, venueOf(setup).meaningOf ?? (() => undefined));
    const { bytesRead: bytes } = pieces;
    const evidence = { run, file: recordingName(run), bytes, sha256: pieces.hashOfRead(), difference, gap };
    watcher.end(evidence);
    return evidence;
  } finally {
    pieces.close();
  }
}

function replayPieces(
  pieces: ReturnType<typeof followRecording>,
  replaying: Replaying,
  meaningOf: Parameters<typeof lineReader>[1],
): Replayed {
  try {
    let [read, lines]: [ReturnType<typeof lineReader> | null, readonly string[] | null] = [null, pieces.next()];
    while (lines !== null) {
      for (const text of lines) {
        // The first line describes the run.
        if (read === null) read = lineReader((JSON.parse(text) as { format?: 2 }).format, meaningOf);
        else {
          const ended = replaying.take(read(text));
          if (ended !== null) return ended;
        }
      }
      lines = pieces.next();
    }
    return replaying.end();
  } catch (error) {
    return replaying.failed(error);
  }
}
