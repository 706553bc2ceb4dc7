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
  let inputs = 0;
  let commands = 0;
  let given: Answer = NO_COMMANDS;
  let broke: string | null = null;
  let last = 'nothing yet';
  const book = new OrderBook();
  const result = (difference: string | null, gap = false): Replayed => ({
    run,
    inputs,
    commands,
    difference,
    gap,
    broke,
  });
  const compared = (recorded: Answer) =>
    textOf(given) === textOf(recorded)
      ? null
      : `after ${last} (input ${inputs}) the engine now ${textOf(given)}, recorded was that it ${textOf(recorded)}`;
  try {
    const recording = readRecording(dir, run);
    const read = recording?.of.format === 2 ? lineOf : (text: string) => translated(lineOf(text), meaningOf);
    for (const text of recording?.lines ?? []) {
      const line = read(text);
      if (line.kind === 'gap') return result(compared(NO_COMMANDS), true);
      if (line.kind !== 'input') {
        const difference = compared(line);
        if (difference !== null) return result(difference);
        if (given.kind === 'broke') broke ??= given.message;
        else commands += given.commands.length;
        given = NO_COMMANDS;
        continue;
      }
      const difference = compared(NO_COMMANDS);
      if (difference !== null || line.event.at > until) return result(difference);
      inputs++;
      last = `${line.event.kind} at ${line.event.at}`;
      const event = eventOf(line, book);
      given = answerOf(engine, event);
      onInput?.(event, given.kind === 'broke' ? [] : given.commands);
    }
  } catch (error) {
    // The recording is not what was written.
    return result(`after ${last} (input ${inputs}): ${error instanceof Error ? error.message : String(error)}`);
  }
  return result(compared(NO_COMMANDS));
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

const textOf = (answer: Answer): string =>
  answer.kind === 'broke'
    ? `broke: ${answer.message}`
    : `gives ${answer.commands.length === 0 ? 'nothing' : JSON.stringify(answer.commands)}`;
