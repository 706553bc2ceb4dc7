/** Feeds a recorded run through a fresh engine again: every command must come out as it did. */
import type { Command, Engine, EngineEvent, Millis } from '../core/index.ts';
import type { Rules } from './opening.ts';
import { applyLevels, lineOf } from './recording.ts';
import { readRecording } from './recordings.ts';

export type Replayed = {
  readonly run: number;
  readonly inputs: number;
  readonly commands: number;
  /** The first difference, in words; null when every command was the same. */
  readonly difference: string | null;
  /** The disk did not take all of the recording: it was replayed up to there. */
  readonly gap: boolean;
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

/**
 * Stops at the first difference, and before the first input that is later than `until`. `onInput` sees each input with the engine's answer, for
 * explanations.
 */
export function replayRun(
  dir: string,
  run: number,
  engine: Engine,
  onInput?: (event: EngineEvent, commands: readonly Command[]) => void,
  until: Millis = Infinity,
): Replayed {
  let inputs = 0;
  let commands = 0;
  let given: readonly Command[] = [];
  let last = 'nothing yet';
  const result = (difference: string | null, gap = false): Replayed => ({ run, inputs, commands, difference, gap });
  const unmatched = () =>
    given.length === 0
      ? null
      : `after ${last} (input ${inputs}) the engine now gives ${JSON.stringify(given)}, recorded was nothing`;
  try {
    for (const text of readRecording(dir, run)?.lines ?? []) {
      const line = lineOf(text);
      if (line.kind === 'gap') return result(unmatched(), true);
      if (line.kind === 'commands') {
        const recorded = JSON.stringify(line.commands);
        if (JSON.stringify(given) !== recorded) {
          return result(
            `after ${last} (input ${inputs}) the engine now gives ${JSON.stringify(given)}, recorded was ${recorded}`,
          );
        }
        commands += given.length;
        given = [];
        continue;
      }
      const difference = unmatched();
      if (difference !== null || line.event.at > until) return result(difference);
      inputs++;
      last = `${line.event.kind} at ${line.event.at}`;
      applyLevels(engine.book, line.levels);
      given = engine.step(line.event);
      onInput?.(line.event, given);
    }
  } catch (error) {
    // Either the recording is not what was written, or the engine does not take what it took then.
    return result(`after ${last} (input ${inputs}): ${error instanceof Error ? error.message : String(error)}`);
  }
  return result(unmatched());
}
