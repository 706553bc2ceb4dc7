/** Import of a bot's own recording from its state directory: books and trades that the bot received. */
import { existsSync, statSync } from 'node:fs';
import { recordedConfig, symbolsOf } from '../../config.ts';
import { textOfError, type EngineEvent, type Instrument } from '../../core/index.ts';
import { lineOf, type LevelChange, type RecordingLine } from '../../live/recording/recording.ts';
import { readRecording, recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';
import { firstRulesOfBooks } from '../../live/replay/replay.ts';
import { KIND, RowBuffer, SIDE, sideCodeOf, Silence, type Chunk, type Recording } from '../../tape/index.ts';
import { UsageError } from '../../wiring/usageError.ts';

const ROWS_AT_ONCE = 4_096;
/**
 * Longest time between two books that does not count as a gap, in ms. A bot normally receives a book every few seconds.
 */
const SILENT_MS = 30_000;
/** Levels per side that a run records. */
const DEPTH = 50;

/** Whether the path is a bot's state directory, or the format `state` was requested. */
export const isStateFolder = (path: string, format: string | undefined): boolean =>
  format === 'state' || (format === undefined && isFolder(path) && recordingsIn(path).length > 0);

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

/** One book of a run. `isFirst`: whether events without a symbol are of this book. */
type Run = {
  readonly run: number;
  readonly book: string;
  readonly isFirst: boolean;
  readonly instrument: Instrument;
};

/**
 * Returns every recorded run of one book, oldest first. Times are by the bot's clock, because no other times are
 * recorded.
 * @throws UsageError for errors that the operator must fix.
 */
export function stateRecording(dir: string, book?: string): Recording {
  const runs = isFolder(dir) ? runsIn(dir) : [];
  const books = [...new Set(runs.map(run => run.book))];
  const [only, other] = books;
  if (only === undefined)
    throw new UsageError(
      `${dir}: no run in this directory recorded the rules of its book; expected the state directory of a bot (state.dir)`,
    );
  if (book === undefined && other !== undefined)
    throw new UsageError(`${dir}: has several books; choose one of: ${books.join(', ')}`);
  if (book !== undefined && !books.includes(book))
    throw new UsageError(`${dir}: the recordings do not have the book ${book}; expected one of: ${books.join(', ')}`);
  const chosen = runs.filter(run => run.book === (book ?? only));
  const instrument = chosen.at(-1)!.instrument;
  return {
    source: dir,
    format: 'state',
    files: [],
    passes: 1,
    instrument,
    fromOrders: false,
    depth: DEPTH,
    quotesOnly: false,
    notes: [
      'the recording has no exchange times, so the exchange time of each row is the time at which the bot received its data',
      "books from the stream exclude the bot's orders; polled books include them",
    ],
    streams: reading => [rowsOfRuns(dir, chosen, instrument, reading)],
  };
}

function runsIn(dir: string): readonly Run[] {
  return recordingsIn(dir).flatMap(({ run }) => {
    try {
      const of = recordedRunOf(dir, run);
      if (of === null) return [];
      const books = symbolsOf(recordedConfig(of.setup));
      const rules = firstRulesOfBooks(dir, run, books.length);
      return rules.map(({ instrument }) => ({
        run,
        book: instrument.symbol,
        isFirst: instrument.symbol === books[0],
        instrument,
      }));
    } catch (error) {
      throw new UsageError(`${dir}: run ${run}: ${textOfError(error)}; move the recording of this run away`);
    }
  });
}

/** Yields lines up to the first damaged line. */
function* linesOf(dir: string, run: number, onDamage: () => void): Generator<RecordingLine> {
  try {
    for (const text of readRecording(dir, run)?.lines ?? []) yield lineOf(text);
  } catch {
    onDamage();
  }
}

type Reading = Parameters<Recording['streams']>[0];

async function* rowsOfRuns(
  dir: string,
  runs: readonly Run[],
  instrument: Instrument,
  { findings, gap, onEnd }: Reading,
): AsyncGenerator<Chunk> {
  const rows = new RowBuffer(findings);
  const reading = { findings, gap };
  let before: number | null = null;
  const silence = new Silence({ gap, onEnd }, SILENT_MS, 'order book');
  for (const one of runs) {
    const { run, instrument: own } = one;
    const place = `${dir}, run ${run}`;
    if (own.tick !== instrument.tick) {
      findings.found('runs before a change of the tick size', 'left out', place);
      continue;
    }
    const reader = new RunReader(rows, reading, one);
    let number = 0;
    const onDamage = () => findings.found('runs with a damaged recording', 'read up to the damage', rows.place);
    for (const line of linesOf(dir, run, onDamage)) {
      number++;
      findings.line();
      rows.begin(place, number);
      if (line.kind === 'gap') {
        // Changes in the gap are unknown, so every book after the gap would be wrong, and nothing after it is read.
        findings.found(
          'runs whose recording ends early because the disk was full',
          'read up to that point',
          rows.place,
        );
        break;
      }
      const told = reader.read(line);
      if (told === null) continue;
      const { at, isFirst } = told;
      if (before !== null && isFirst && at > before)
        gap({ from: before, to: at, why: `no order book was recorded before run ${run}` });
      silence.heard(at);
      before = at;
      if (rows.length >= ROWS_AT_ONCE) yield* rows.take();
    }
    if (before !== null) reader.end(before);
    yield* rows.take();
  }
}

/** Reader of one run's lines. */
class RunReader {
  readonly #rows: RowBuffer;
  readonly #reading: Pick<Reading, 'findings' | 'gap'>;
  readonly #run: Pick<Run, 'book' | 'isFirst'>;
  #hasBook = false;
  /** Time since which trades may be missing; `null` if none is missing. Missed trades are reported late. */
  #missingSince: number | null = null;

  constructor(rows: RowBuffer, reading: Pick<Reading, 'findings' | 'gap'>, run: Pick<Run, 'book' | 'isFirst'>) {
    this.#rows = rows;
    this.#reading = reading;
    this.#run = run;
  }

  /** Ends the run with its last book. */
  end(at: number): void {
    this.#setMissing(false, at);
  }

  /**
   * Reads a line. Returns the time of its book, and whether this book is the first of the run; `null` for a line
   * without a book.
   */
  read(line: RecordingLine): { readonly at: number; readonly isFirst: boolean } | null {
    if (line.kind !== 'input') return null;
    const { event, levels } = line;
    const { book, isFirst } = this.#run;
    const symbol = 'symbol' in event ? event.symbol : undefined;
    if (symbol === undefined ? !isFirst : symbol !== book) return null;
    if (event.kind === 'book') return { at: event.at, isFirst: this.#book(event.at, levels) };
    if (event.kind === 'public trade' && this.#hasBook) this.#trade(event);
    if (event.kind === 'history gap') this.#setMissing(event.isOpen, event.at);
    if (event.kind === 'history') this.#setMissing(false, event.at);
    return null;
  }

  /** Handles the start or end of a time in which trades are missing. The tape lacks these trades, so it has a gap. */
  #setMissing(isMissing: boolean, at: number): void {
    const since = this.#missingSince;
    this.#missingSince = isMissing ? (since ?? at) : null;
    if (!isMissing && since !== null && this.#hasBook && at > since)
      this.#reading.gap({ from: since, to: at, why: 'the stream of trades was down or not yet complete' });
  }

  #book(at: number, levels: readonly LevelChange[]): boolean {
    const isFirst = !this.#hasBook;
    // A tape has no rows before the first book, so no gap starts before it.
    if (isFirst && this.#missingSince !== null) this.#missingSince = at;
    if (isFirst) this.#rows.clear(at, at);
    this.#hasBook = true;
    for (const [side, price, amount] of levels)
      this.#rows.push(KIND.level, side === 0 ? SIDE.buy : SIDE.sell, at, at, price, amount, 0);
    return isFirst;
  }

  #trade(event: Extract<EngineEvent, { kind: 'public trade' }>): void {
    const { findings } = this.#reading;
    const { at, price, amount, side } = event;
    if (amount === undefined || side === undefined)
      findings.found('trades with a price but no amount or side', 'left out', this.#rows.place);
    else if (this.#missingSince !== null)
      findings.found('trades that were read after an outage of the stream', 'left out', this.#rows.place);
    else this.#rows.trade(at, at, sideCodeOf(side), price, amount);
  }
}
