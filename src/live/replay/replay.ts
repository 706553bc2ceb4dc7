/** Replay of a recorded run through a new engine, which must answer with the same commands. */
import { OrderBook, type Command, type Engine, type EngineEvent, type Meaning, type Millis } from '../../core/index.ts';
import type { Rules } from '../rules.ts';
import {
  brokenBy,
  eventOf,
  lineOf,
  type Answer,
  type RecordedEvent,
  type RecordingLine,
} from '../recording/recording.ts';
import { readRecording, type RunRecording } from '../recording/recordings.ts';

/** First difference of a replay: the input, and the first field of the commands that differs. */
type Divergence = {
  readonly at: Millis;
  /** Kind of the input. */
  readonly event: string;
  /** Number of the input in its run, from 1. */
  readonly input: number;
  /** Path of the field, like `0.price`; `commands` if their number differs. */
  readonly field: string;
  /** Value that the engine now returns, and the recorded value, as JSON. */
  readonly engine: string;
  readonly recorded: string;
};

export type Replayed = {
  readonly run: number;
  readonly inputs: number;
  readonly commands: number;
  /** Description of the first difference; `null` if all commands were equal. */
  readonly difference: string | null;
  /** Place of the difference; absent if there is none, or if the recording could not be read. */
  readonly divergence?: Divergence;
  /** Whether the replay ended at a gap in the recording, where the disk accepted no lines. */
  readonly gap: boolean;
  /** Error with which the engine failed in the run and again in the replay; `null` if it did not fail. */
  readonly broke: string | null;
};

/**
 * Returns the rules of the first book with which a run created its engine; `null` if the run ended before it read the
 * rules.
 */
export const firstRules = (dir: string, run: number): Rules | null => firstRulesOfBooks(dir, run, 1)[0] ?? null;

/**
 * Returns the rules of the first `count` books with which a run created its engine, in order; fewer if the run ended
 * before it read them.
 */
export function firstRulesOfBooks(dir: string, run: number, count: number): readonly Rules[] {
  const found: Rules[] = [];
  if (count > 0)
    for (const text of readRecording(dir, run)?.lines ?? []) {
      const line = lineOf(text);
      if (line.kind !== 'input' || line.event.kind !== 'rules') continue;
      const { instrument, makerRate, takerRate } = line.event;
      found.push({ instrument, makerRate, takerRate });
      if (found.length === count) break;
    }
  return found;
}

export type ReplayRunOptions = {
  /** Receives each input with the engine's answer. */
  readonly onInput?: (event: EngineEvent, commands: readonly Command[]) => void;
  /** End time of the replay. The replay stops before the first input after this time. */
  readonly until?: Millis;
  /** Returns the meaning of a code of the exchange, for recordings without meanings. */
  readonly meaningOf?: ((code: string) => Meaning | undefined) | undefined;
};

/** Replays a run; stops at the first difference. */
export const replayRun = (dir: string, run: number, engine: Engine, options?: ReplayRunOptions): Replayed =>
  replayRecording(run, engine, () => readRecording(dir, run), options);

/** Replays the recording that `open` returns; stops at the first difference. An error of `open` is a difference. */
export function replayRecording(
  run: number,
  engine: Engine,
  open: () => RunRecording | null,
  { onInput, until = Infinity, meaningOf = () => undefined }: ReplayRunOptions = {},
): Replayed {
  const replaying = new Replaying(run, engine, onInput);
  try {
    const recording = open();
    const read = lineReader(recording?.of.format, meaningOf);
    for (const text of recording?.lines ?? []) {
      const line = read(text);
      if (line.kind === 'input' && line.event.at > until) return replaying.end();
      const ended = replaying.take(line);
      if (ended !== null) return ended;
    }
  } catch (error) {
    return replaying.failed(error);
  }
  return replaying.end();
}

/** Returns a parser for lines of the given recording format. The parser throws as `lineOf` does. */
export const lineReader =
  (format: 2 | undefined, meaningOf: (code: string) => Meaning | undefined) =>
  (text: string): RecordingLine =>
    format === 2 ? lineOf(text) : translated(lineOf(text), meaningOf);

/** Replay of one run through a new engine, line by line. */
export class Replaying {
  readonly #run: number;
  readonly #engine: Engine;
  readonly #onInput: ReplayRunOptions['onInput'];
  /** Books by symbol; by `undefined` if there is one book. */
  readonly #books = new Map<string | undefined, OrderBook>();
  #inputs = 0;
  #commands = 0;
  #given: Answer = NO_COMMANDS;
  #broke: string | null = null;
  #quotes: Extract<RecordingLine, { kind: 'quotes' }>['quotes'] = [];
  #last = 'nothing yet';
  #lastEvent: { readonly kind: string; readonly at: Millis } = { kind: 'nothing yet', at: 0 };
  #divergence: Divergence | null = null;

  constructor(run: number, engine: Engine, onInput?: ReplayRunOptions['onInput']) {
    this.#run = run;
    this.#engine = engine;
    this.#onInput = onInput;
  }

  /** Replays one line. Returns `null` to continue, or the result at a difference or a gap. */
  take(line: RecordingLine): Replayed | null {
    if (line.kind === 'gap') return this.#result(this.#compared(NO_COMMANDS), true);
    if (line.kind === 'quotes') {
      this.#quotes = line.quotes;
      return null;
    }
    if (line.kind !== 'input') {
      const difference = this.#compared(line);
      if (difference !== null) return this.#result(difference);
      if (this.#given.kind === 'broke') this.#broke ??= this.#given.message;
      else this.#commands += this.#given.commands.length;
      this.#given = NO_COMMANDS;
      return null;
    }
    const difference = this.#compared(NO_COMMANDS);
    if (difference !== null) return this.#result(difference);
    this.#inputs++;
    this.#last = `${line.event.kind} at ${line.event.at}`;
    this.#lastEvent = { kind: line.event.kind, at: line.event.at };
    const event = eventOf(line, this.#bookOf(line.event));
    // Given here and not earlier, because a preview between two inputs must not use them.
    for (const [i, log] of this.#engine.quoteLogs.entries()) log.give(this.#quotes[i] ?? []);
    this.#quotes = [];
    this.#given = answerOf(this.#engine, event);
    this.#onInput?.(event, this.#given.kind === 'broke' ? [] : this.#given.commands);
    return null;
  }

  #bookOf(event: RecordedEvent): OrderBook {
    const symbol = event.kind === 'book' ? event.symbol : undefined;
    const known = this.#books.get(symbol);
    if (known !== undefined) return known;
    const book = new OrderBook();
    this.#books.set(symbol, book);
    return book;
  }

  /** Returns the result at the end of the lines. */
  end(): Replayed {
    return this.#result(this.#compared(NO_COMMANDS));
  }

  /** Returns the result for a recording that cannot be read. */
  failed(error: unknown): Replayed {
    const why = error instanceof Error ? error.message : String(error);
    return this.#result(`after ${this.#last} (input ${this.#inputs}): ${why}`);
  }

  #compared(recorded: Answer): string | null {
    if (answerText(this.#given) === answerText(recorded)) return null;
    const { kind: event, at } = this.#lastEvent;
    this.#divergence = { at, event, input: this.#inputs, ...firstDifference(this.#given, recorded) };
    return `after ${this.#last} (input ${this.#inputs}), the engine now ${answerText(this.#given)}, but the recorded engine ${answerText(recorded)}`;
  }

  #result(difference: string | null, gap = false): Replayed {
    return {
      ...{ run: this.#run, inputs: this.#inputs, commands: this.#commands, difference, gap, broke: this.#broke },
      ...(this.#divergence && { divergence: this.#divergence }),
    };
  }
}

/** Answer of the engine without commands. Recordings have no line for such an answer. */
const NO_COMMANDS: Answer = { kind: 'commands', commands: [] };

function answerOf(engine: Engine, event: EngineEvent): Answer {
  try {
    return { kind: 'commands', commands: engine.step(event) };
  } catch (error) {
    return brokenBy(error);
  }
}

/** Adds the meaning of a rejection to a line of the first format. */
function translated(line: RecordingLine, meaningOf: (code: string) => Meaning | undefined): RecordingLine {
  if (line.kind !== 'input' || line.event.kind !== 'placed' || line.event.outcome.kind !== 'refused') return line;
  const { event } = line;
  const { outcome } = line.event;
  const meaning = meaningOf(outcome.code);
  return meaning === undefined ? line : { ...line, event: { ...event, outcome: { ...outcome, meaning } } };
}

const answerText = (answer: Answer): string =>
  answer.kind === 'broke'
    ? `fails with: ${answer.message}`
    : `returns ${answer.commands.length === 0 ? 'no commands' : JSON.stringify(answer.commands)}`;

/** Returns the path and the values of the first field in which two answers differ. */
function firstDifference(now: Answer, recorded: Answer): Pick<Divergence, 'field' | 'engine' | 'recorded'> {
  const text = (value: unknown): string => JSON.stringify(value) ?? 'nothing';
  if (now.kind === 'broke' || recorded.kind === 'broke')
    return { field: 'commands', engine: answerText(now), recorded: answerText(recorded) };
  const walk = (a: unknown, b: unknown, path: string): Pick<Divergence, 'field' | 'engine' | 'recorded'> | null => {
    if (text(a) === text(b)) return null;
    if (typeof a === 'object' && a !== null && typeof b === 'object' && b !== null) {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
        const inside = walk(Reflect.get(a, key), Reflect.get(b, key), path === '' ? key : `${path}.${key}`);
        if (inside !== null) return inside;
      }
    }
    return { field: path === '' ? 'commands' : path, engine: text(a), recorded: text(b) };
  };
  const [a, b] = [now.commands, recorded.commands];
  if (a.length !== b.length) return { field: 'commands', engine: text(a), recorded: text(b) };
  return walk(a, b, '') ?? { field: 'commands', engine: text(a), recorded: text(b) };
}
