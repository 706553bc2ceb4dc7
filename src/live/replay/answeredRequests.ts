/** Times between requests and their answers, from the recordings in a state directory. */
import type { Millis } from '../../core/index.ts';
import { lineOf } from '../recording/recording.ts';
import { readRecording, recordingsIn } from '../recording/recordings.ts';

export type AnsweredRequest = { readonly sent: Millis; readonly answered: Millis };

/**
 * Returns the start and answer times of successful placements and cancels in all runs, oldest run first. A placement
 * starts at its decision. A damaged recording is read up to the damage.
 */
export function answeredRequests(dir: string): readonly AnsweredRequest[] {
  return recordingsIn(dir)
    .toSorted((a, b) => a.run - b.run)
    .flatMap(({ run }) => ofRun(dir, run));
}

function ofRun(dir: string, run: number): readonly AnsweredRequest[] {
  const found: AnsweredRequest[] = [];
  const sent = new Map<string, Millis>();
  let now: Millis = 0;
  try {
    for (const text of readRecording(dir, run)?.lines ?? []) {
      const line = lineOf(text);
      if (line.kind === 'commands') {
        for (const command of line.commands) if (command.kind === 'place') sent.set(command.id, now);
      }
      if (line.kind !== 'input') continue;
      const { event } = line;
      now = event.at;
      if (event.kind === 'placed' && event.outcome.kind === 'done') {
        const at = sent.get(event.id);
        if (at !== undefined) found.push({ sent: at, answered: event.at });
        sent.delete(event.id);
      }
      if (event.kind === 'canceled' && event.outcome.kind === 'done') {
        found.push({ sent: event.startedAt, answered: event.at });
      }
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return found;
}
