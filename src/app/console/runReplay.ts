/**
 * Replay of one recorded run through a traced engine, in slices. The replay of a current run ends at its latest line.
 * Each run can also be replayed up to a requested time.
 */
import { textOfError, type BookEngine, type Engine, type EngineEvent, type Millis } from '../../core/index.ts';
import { booksOf, recordedConfig, type Config } from '../../config.ts';
import type { RecordingLine } from '../../live/recording/recording.ts';
import { followRecording, type RecordedRun, type RecordingPieces } from '../../live/recording/recordings.ts';
import { lineReader, Replaying, type Replayed } from '../../live/replay/replay.ts';
import { Seen } from '../inspect/explain.ts';
import type { Rules } from '../../live/rules.ts';
import { engineOf } from '../../wiring/bot.ts';
import { venueOf } from '../../wiring/venueRegistry.ts';
import { RunHistory } from './runHistory.ts';

/** Number of lines between two checks of the clock. */
const LOOK_EVERY = 64;

/** Replayed state of one book, with the configuration of this book. */
export type BookOfReplay = {
  readonly book: BookEngine;
  readonly setup: Config;
  readonly seen: Seen;
  readonly history: RunHistory;
};

/** State that exists once the run has read the rules of its books: that of the first book, and of all. */
export type Replayable = BookOfReplay & {
  readonly engine: Engine;
  /** All books of the run, in order. */
  readonly books: readonly BookOfReplay[];
};

/** Returns the state of a book; without a symbol that of the first. `null` if the run does not have the book. */
export const replayedBook = (now: Replayable, symbol: string | undefined): BookOfReplay | null =>
  symbol === undefined ? now : (now.books.find(({ book }) => book.symbol === symbol) ?? null);

export class RunReplay {
  readonly run: number;
  readonly #pieces: RecordingPieces;
  #of: RecordedRun | null = null;
  #read: ((text: string) => RecordingLine) | null = null;
  #texts: readonly string[] = [];
  #next = 0;
  /**
   * Lines that were read but not replayed yet: lines before the rules of the book, or lines after the requested time.
   */
  #held: RecordingLine[] = [];
  /** Rules of the books, in order, until the engine is created. */
  #rules: Rules[] = [];
  #replaying: Replaying | null = null;
  #now: Replayable | null = null;
  #ended: Replayed | null = null;

  /** Opens the recording of a run. Throws if a file of the recording is missing. */
  constructor(dir: string, run: number) {
    this.run = run;
    this.#pieces = followRecording(dir, run);
  }

  /** Returns the state of the replayed run; `null` before the rules were read. */
  get now(): Replayable | null {
    return this.#now;
  }

  /** Returns why the replay cannot continue; `null` if it can. */
  get ended(): Replayed | null {
    return this.#ended;
  }

  /** Returns the progress in the recording, from 0 to 1. */
  get share(): number {
    return this.#pieces.share;
  }

  /**
   * Replays lines until `isOver` returns `true`; it is called periodically. Returns `more` if further lines can be
   * replayed, `end` if the recording has no further line yet, and `there` if the next line is later than `until`.
   */
  advance(isOver: () => boolean, until: Millis = Infinity): 'more' | 'end' | 'there' {
    for (let taken = 1; this.#ended === null; taken++) {
      let line: RecordingLine | null;
      try {
        line = this.#line();
      } catch (error) {
        this.#ended = this.#replaying?.failed(error) ?? this.#neverBegan(error);
        break;
      }
      if (line === null) return 'end';
      if (line.kind === 'input' && line.event.at > until) {
        this.#held.unshift(line);
        return 'there';
      }
      this.#ended = this.#replaying?.take(line) ?? null;
      if (taken % LOOK_EVERY === 0 && isOver()) return 'more';
    }
    return 'end';
  }

  close(): void {
    this.#pieces.close();
  }

  #neverBegan(error: unknown): Replayed {
    const difference = textOfError(error);
    return { run: this.run, inputs: 0, commands: 0, difference, gap: false, broke: null };
  }

  /** Returns the next line; `null` if there is none yet. */
  #line(): RecordingLine | null {
    while (this.#replaying === null) {
      const line = this.#readLine();
      if (line === null) return null;
      this.#held.push(line);
      if (line.kind === 'input' && line.event.kind === 'rules') this.#addRules(line.event);
    }
    return this.#held.shift() ?? this.#readLine();
  }

  #readLine(): RecordingLine | null {
    while (this.#next >= this.#texts.length) {
      const lines = this.#pieces.next();
      if (lines === null) return null;
      [this.#texts, this.#next] = [lines, 0];
      if (this.#of === null) {
        this.#of = JSON.parse(lines[0] ?? '') as RecordedRun;
        this.#next = 1;
        this.#read = lineReader(
          this.#of.format,
          venueOf(recordedConfig(this.#of.setup)).meaningOf ?? (() => undefined),
        );
      }
    }
    return this.#read!(this.#texts[this.#next++]!);
  }

  /** Adds the rules of the next book. Creates the engine once all books have theirs. */
  #addRules({ instrument, makerRate, takerRate }: Extract<EngineEvent, { kind: 'rules' }>): void {
    this.#rules.push({ instrument, makerRate, takerRate });
    const setup = recordedConfig(this.#of!.setup);
    const setups = booksOf(setup);
    const [first, ...others] = this.#rules;
    if (first === undefined || this.#rules.length < setups.length) return;
    const histories = new Map(
      this.#rules.map(rules => [
        rules.instrument.symbol,
        new RunHistory(rules.instrument, this.run, this.#of!.startedAt),
      ]),
    );
    const engine = engineOf(setup, first, this.run, (news, symbol) => histories.get(symbol)?.hear(news), true, others);
    const books = engine.books.map((book, i): BookOfReplay => {
      const history = histories.get(book.symbol)!;
      history.watch(book);
      return { book, setup: setups[i]!, seen: new Seen({ book }), history };
    });
    this.#replaying = new Replaying(this.run, engine, event => {
      for (const { seen, history } of books) {
        seen.see(event);
        history.see(event);
      }
    });
    this.#now = { ...books[0]!, engine, books };
  }
}
