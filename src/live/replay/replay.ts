/** Feeds a recorded run through a fresh engine again: every command must come out as it did. */
import { OrderBook } from '../../core/index.ts';
import type { Command, Engine, EngineEvent, Meaning, Millis } from '../../core/index.ts';
import type { Rules } from '../rules.ts';
import { brokenBy, eventOf, lineOf } from '../recording/recording.ts';
import type { Answer, RecordingLine } from '../recording/recording.ts';
import { readRecording } from '../recording/recordings.ts';

export type Replayed = {
  readonly run: number;
  readonly inputs: number;
  readonly commands: number;
  /** The first difference, in words; null when every command was the same. */
  readonly difference: string | null;
  /** The disk did not take all of the recording: it was replayed up to there. */
  readonly gap: boolean;
  /** What the engine broke with in the run, and again in the replay; null when it did not. */
  readonly broke: string | null;
};

/** The rules that a run began with: its engine was made from them. Null when it ended before it read them. */
export function firstRules(dir: string, run: number): Rules | null {
  for (const text of readRecording(dir, run)?.lines ?? []) {
    const line = lineOf(text);
    if (line.kind !== 'input' || line.event.kind !== 'rules') continue;
    const { instrument, makerRate, takerRate } = line.event;
    return { instrument, makerRate, takerRate };
  }
  return null;
}

export type ReplayRunOptions = {
  /** Sees each input with the engine's answer, for explanations. */
  readonly onInput?: (event: EngineEvent, commands: readonly Command[]) => void;
  /** Stops before the first input that is later. */
  readonly until?: Millis;
  /** What the exchange's codes mean, for recordings that have them alone. */
  readonly meaningOf?: ((code: string) => Meaning | undefined) | undefined;
};

/** Stops at the first difference. */
export function replayRun(
  dir: string,
  run: number,
  engine: Engine,
  { onInput, until = Infinity, meaningOf = () => undefined }: ReplayRunOptions = {},
): Replayed {
  const replaying = new Replaying(run, engine, onInput);
  try {
    const recording = readRecording(dir, run);
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

/** Reads lines of a recording of that format. Throws as `lineOf` does. */
export const lineReader =
  (format: 2 | undefined, meaningOf: (code: string) => Meaning | undefined) =>
  (text: string): RecordingLine =>
    format === 2 ? lineOf(text) : translated(lineOf(text), meaningOf);

/** One run on its way through a fresh engine, line by line. */
export class Replaying {
  readonly #run: number;
  readonly #engine: Engine;
  readonly #onInput: ReplayRunOptions['onInput'];
  readonly #book = new OrderBook();
  #inputs = 0;
  #commands = 0;
  #given: Answer = NO_COMMANDS;
  #broke: string | null = null;
  #last = 'nothing yet';

  constructor(run: number, engine: Engine, onInput?: ReplayRunOptions['onInput']) {
    this.#run = run;
    this.#engine = engine;
    this.#onInput = onInput;
  }

  /** Null when it goes on; else what came of it: at a difference, or a gap of the recording. */
  take(line: RecordingLine): Replayed | null {
    if (line.kind === 'gap') return this.#result(this.#compared(NO_COMMANDS), true);
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
    const event = eventOf(line, this.#book);
    this.#given = answerOf(this.#engine, event);
    this.#onInput?.(event, this.#given.kind === 'broke' ? [] : this.#given.commands);
    return null;
  }

  /** There are no more lines. */
  end(): Replayed {
    return this.#result(this.#compared(NO_COMMANDS));
  }

  /** The recording is not what was written. */
  failed(error: unknown): Replayed {
    const why = error instanceof Error ? error.message : String(error);
    return this.#result(`after ${this.#last} (input ${this.#inputs}): ${why}`);
  }

  #compared(recorded: Answer): string | null {
    return answerText(this.#given) === answerText(recorded)
      ? null
      : `after ${this.#last} (input ${this.#inputs}) the engine now ${answerText(this.#given)}, recorded was that it ${answerText(recorded)}`;
  }

  #result(difference: string | null, gap = false): Replayed {
    return { run: this.#run, inputs: this.#inputs, commands: this.#commands, difference, gap, broke: this.#broke };
  }
}

/** Nothing is recorded of it. */
const NO_COMMANDS: Answer = { kind: 'commands', commands: [] };

function answerOf(engine: Engine, event: EngineEvent): Answer {
  try {
    return { kind: 'commands', commands: engine.step(event) };
  } catch (error) {
    return brokenBy(error);
  }
}

/** A line of the first format: what its refusal means is looked up. */
function translated(line: RecordingLine, meaningOf: (code: string) => Meaning | undefined): RecordingLine {
  if (line.kind !== 'input' || line.event.kind !== 'placed' || line.event.outcome.kind !== 'refused') return line;
  const { event } = line;
  const { outcome } = line.event;
  const meaning = meaningOf(outcome.code);
  return meaning === undefined ? line : { ...line, event: { ...event, outcome: { ...outcome, meaning } } };
}

const answerText = (answer: Answer): string =>
  answer.kind === 'broke'
    ? `broke: ${answer.message}`
    : `gives ${answer.commands.length === 0 ? 'nothing' : JSON.stringify(answer.commands)}`;
