/** `puntas replay`: runs of a state directory replayed from their recordings and compared. */
import { existsSync } from 'node:fs';
import { booksOf, recordedConfig } from '../../config.ts';
import { counted, textOfError } from '../../core/index.ts';
import { recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';
import { firstRulesOfBooks, replayRun } from '../../live/replay/replay.ts';
import { engineOf } from '../../wiring/bot.ts';
import { venueOf } from '../../wiring/venueRegistry.ts';
import { UsageError } from '../../wiring/usageError.ts';

/**
 * Replays recorded runs (the last run, or all) and prints for each whether its commands equal the recorded commands.
 * Returns `true` if the commands are equal in all these runs.
 */
export function replay(dir: string, which: 'last' | 'all' | number, print: (line: string) => void): boolean {
  const runs = existsSync(dir) ? recordingsIn(dir).map(({ run }) => run) : [];
  if (runs.length === 0)
    throw new UsageError(
      `${dir}: no recording of a run in this directory; expected the state directory of a bot (state.dir)`,
    );
  const chosen = which === 'all' ? runs : which === 'last' ? runs.slice(-1) : runs.filter(run => run === which);
  if (chosen.length === 0) throw new UsageError(`${dir}: no recorded run ${which}; recorded runs: ${runs.join(', ')}`);
  let same = true;
  for (const run of chosen) {
    const told = replayOne(dir, run);
    same &&= told.same;
    print(`run ${run}: ${told.text}`);
  }
  return same;
}

function replayOne(dir: string, run: number): { readonly same: boolean; readonly text: string } {
  try {
    const of = recordedRunOf(dir, run);
    const setup = of && recordedConfig(of.setup);
    const books = setup === null ? [] : booksOf(setup);
    const [rules, ...others] = firstRulesOfBooks(dir, run, books.length);
    if (of === null || setup === null || rules === undefined || others.length + 1 < books.length)
      return { same: true, text: 'the run ended before it read the rules of its book; there is nothing to replay' };
    const engine = engineOf(setup, rules, run, undefined, false, others);
    const { inputs, commands, difference, gap, broke } = replayRun(dir, run, engine, {
      meaningOf: venueOf(setup).meaningOf,
    });
    const verdict = difference === null ? 'all commands identical' : `DIFFERENT ${difference}`;
    const end = gap ? ', up to the point where the disk was full' : '';
    const broken = broke === null ? '' : `, and the engine failed as in the recording: ${broke}`;
    return {
      same: difference === null,
      text: `${counted(inputs, 'input')}, ${counted(commands, 'command')}, ${verdict}${broken}${end}`,
    };
  } catch (error) {
    // An error here means that the recording is unreadable from its start.
    return {
      same: false,
      text: `DIFFERENT: the replay could not start: ${textOfError(error)}`,
    };
  }
}
