/**
 * Replay of one recorded run, line by line, even while the bot records it: a new engine must repeat every decision, and
 * the shadow compares every order with the models.
 */
import { recordedConfig } from '../../../src/config.ts';
import { OrderBook, type EngineEvent, type Instrument, type Millis, textOfError } from '../../../src/core/index.ts';
import { levelModel, type LevelModelName } from '../../../src/fills/index.ts';
import { eventOf, type RecordingLine } from '../../../src/live/recording/recording.ts';
import {
  followRecording,
  recordedRunOf,
  type RecordedRun,
  type RecordingPieces,
} from '../../../src/live/recording/recordings.ts';
import { firstRules, lineReader, Replaying, type Replayed } from '../../../src/live/replay/replay.ts';
import { engineOf } from '../../../src/wiring/bot.ts';
import { venueOf } from '../../../src/wiring/venueRegistry.ts';
import { Shadow } from '../../shadow/shadow.ts';
import type { ShadowAlarm, ShadowMemory } from '../../shadow/memory.ts';
import type { LifeObserver } from '../../shadow/orderLife.ts';

/** Number of lines between two checks of the clock. */
const LOOK_EVERY = 64;

type ShadowedRunOptions = {
  readonly dir: string;
  readonly run: number;
  readonly model: LevelModelName;
  readonly memory: ShadowMemory;
  readonly onAlarm: (alarm: ShadowAlarm) => void;
  /** Receives the lives of orders. With an observer, the engine's decisions are not replayed and compared. */
  readonly observer?: LifeObserver;
};

export class ShadowedRun {
  readonly run: number;
  readonly instrument: Instrument;
  readonly #pieces: RecordingPieces;
  readonly #read: (text: string) => RecordingLine;
  readonly #replaying: Replaying;
  readonly #comparison: Shadow;
  readonly #book = new OrderBook();
  #lines: readonly string[];
  #next = 1;
  /** Last input, until the commands that follow it are known. */
  #pending: EngineEvent | null = null;
  #isReplayed: boolean;
  #trouble: string | null = null;
  #isOver = false;
  #at: Millis | null = null;

  private constructor(options: ShadowedRunOptions, pieces: RecordingPieces, lines: readonly string[]) {
    const { dir, run, model, memory, onAlarm, observer } = options;
    this.run = run;
    this.#isReplayed = observer === undefined;
    this.#pieces = pieces;
    this.#lines = lines;
    const of = JSON.parse(lines[0] ?? '') as RecordedRun;
    const setup = recordedConfig(of.setup);
    const rules = firstRules(dir, run)!;
    this.instrument = rules.instrument;
    this.#read = lineReader(of.format, venueOf(setup).meaningOf ?? (() => undefined));
    this.#replaying = new Replaying(run, engineOf(setup, rules, run));
    const { instrument } = rules;
    const observed = observer !== undefined && { observer };
    this.#comparison = new Shadow({ run, instrument, model: levelModel(model), memory, onAlarm, ...observed });
  }

  /**
   * Opens a run. Returns `null` if the run has not read the rules of its book yet. Throws if the recording is missing
   * or damaged, or if its configuration cannot be used or has several books.
   */
  static open(options: ShadowedRunOptions): ShadowedRun | null {
    const of = recordedRunOf(options.dir, options.run);
    if (of !== null && recordedConfig(of.setup).books !== undefined)
      throw new Error('the run has several books, and the shadow compares runs of one book');
    if (firstRules(options.dir, options.run) === null) return null;
    const pieces = followRecording(options.dir, options.run);
    try {
      const lines = pieces.next();
      if (lines !== null) return new ShadowedRun(options, pieces, lines);
    } catch (error) {
      pieces.close();
      throw error;
    }
    pieces.close();
    return null;
  }

  /** Returns why the rest of the recording cannot be used; `null` if it can. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Returns the time of the last input; `null` before the first. */
  get at(): Millis | null {
    return this.#at;
  }

  /** Returns the share of the recording that was read, from 0 to 1. */
  get share(): number {
    return this.#pieces.share;
  }

  /** Processes recorded lines until `isOver` returns true. Returns `end` if the recording has no further line yet. */
  advance(isOver: () => boolean): 'more' | 'end' {
    try {
      for (let taken = 1; !this.#isOver; taken++) {
        const text = this.#line();
        if (text === null) return 'end';
        this.#take(this.#read(text));
        if (taken % LOOK_EVERY === 0 && isOver()) return 'more';
      }
    } catch (error) {
      this.#isOver = true;
      this.#trouble = textOfError(error);
    }
    return 'end';
  }

  /** Settles every order with what the recording has. Call once, after the last line. */
  finish(): void {
    this.#flush([]);
    if (this.#isReplayed) this.#judge(this.#replaying.end());
    this.#comparison.end();
  }

  close(): void {
    this.#pieces.close();
  }

  #line(): string | null {
    while (this.#next >= this.#lines.length) {
      const lines = this.#pieces.next();
      if (lines === null) return null;
      [this.#lines, this.#next] = [lines, 0];
    }
    return this.#lines[this.#next++]!;
  }

  #take(line: RecordingLine): void {
    switch (line.kind) {
      case 'input':
        this.#flush([]);
        this.#pending = eventOf(line, this.#book);
        this.#at = line.event.at;
        break;
      case 'commands':
        this.#flush(line.commands);
        break;
      case 'broke':
        this.#flush([]);
        break;
      case 'quotes':
        break;
      case 'gap':
        this.#flush([]);
        this.#isOver = true;
        this.#trouble = 'the recording ends early, because the disk was full';
        break;
    }
    if (!this.#isReplayed) return;
    const ended = this.#replaying.take(line);
    if (ended !== null) this.#judge(ended);
  }

  #flush(commands: Extract<RecordingLine, { kind: 'commands' }>['commands']): void {
    if (this.#pending === null) return;
    const event = this.#pending;
    this.#pending = null;
    this.#comparison.see(event, commands);
  }

  /** Ends the replay of decisions. The comparison of orders continues, because it uses the recorded decisions. */
  #judge({ difference, divergence }: Replayed): void {
    this.#isReplayed = false;
    if (difference === null) return;
    const where =
      divergence === undefined
        ? difference
        : `after input ${divergence.input} (${divergence.event}), field ${divergence.field}: the engine now has ${shortenedValue(divergence.engine)}, the recording has ${shortenedValue(divergence.recorded)}`;
    this.#comparison.decisionDiffers(divergence?.at ?? this.#at ?? 0, where);
  }
}

const TEXT_MAX = 200;
const shortenedValue = (text: string): string => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}...` : text);
