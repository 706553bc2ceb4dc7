/** One turn of the engine with its recording: the input before, what it answered after, or that it broke. */
import type { Approved, Command, Engine, EngineEvent } from '../../core/index.ts';
import type { Journal } from '../state/journal.ts';
import type { LineWriter } from '../recording/recording.ts';

/** The engine's commands. Throws what the engine throws, once the recording says so: a replay must break there too. */
export function recordedTurn(
  event: EngineEvent,
  engine: Engine,
  journal: Pick<Journal, 'record'>,
  writer: LineWriter,
): readonly Approved<Command>[] {
  journal.record(writer.input(event));
  try {
    const commands = engine.step(event);
    if (commands.length > 0) journal.record(writer.commands(commands));
    return commands;
  } catch (error) {
    journal.record(writer.broke(error));
    throw error;
  }
}
