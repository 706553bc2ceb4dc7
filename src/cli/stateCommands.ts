/** `puntas replay` and `puntas resume`: what a state directory can be asked after and told. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { closeDatabase, openDatabase, STATE_FILE } from '../live/journal.ts';
import { latchIn } from '../live/latch.ts';
import { firstRules, recordedRuns, replayRun } from '../live/replay.ts';
import { engineOf } from './bot.ts';
import { Wrong } from './configFile.ts';

/** Replays recorded runs (the last one, or all) and says for each whether every command came out the same. True when all did. */
export function replay(dir: string, which: 'last' | 'all' | number, print: (line: string) => void): boolean {
  const file = join(dir, STATE_FILE);
  if (!existsSync(file))
    throw new Wrong(`${dir}: no ${STATE_FILE} there; expected the state directory of a run (state.dir)`);
  const db = openDatabase(file);
  try {
    const runs = recordedRuns(db);
    const chosen = which === 'all' ? runs : which === 'last' ? runs.slice(-1) : runs.filter(({ run }) => run === which);
    if (chosen.length === 0)
      throw new Wrong(
        `${dir}: no recorded run ${which === 'last' ? '' : which}; it has ${runs.map(({ run }) => run).join(', ') || 'none'}`,
      );
    let same = true;
    for (const { run, setup } of chosen) {
      const rules = firstRules(db, run);
      if (rules === null) {
        print(`run ${run}: ended before the rules of its book were read; nothing to replay`);
        continue;
      }
      const engine = engineOf(JSON.parse(setup) as Config, rules, run);
      const { inputs, commands, difference, gap } = replayRun(db, run, engine);
      same &&= difference === null;
      print(
        `run ${run}: ${inputs} inputs, ${commands} commands, ${difference === null ? 'every command the same' : `DIFFERENT ${difference}`}${gap ? ', up to where the disk took no more of the recording' : ''}`,
      );
    }
    return same;
  } finally {
    closeDatabase(db);
  }
}

/** Lifts a halt. Says what it was. */
export function resume(dir: string, reason: string): string {
  if (reason.trim().length < 4)
    throw new Wrong('--reason: say in a few words what you found, for those who read it later');
  const latch = latchIn(dir);
  const halt = latch.read();
  if (halt === null) return `${dir}: nothing is halted there`;
  latch.lift(reason);
  return `lifted: ${halt.reason} (halted by ${halt.by} at ${new Date(halt.at).toISOString()}); a running bot goes on within seconds`;
}
