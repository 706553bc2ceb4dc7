/** `puntas calibrate --fills`: fits the fill model `fitted` to a bot's own orders, from the recordings of its runs. */
import { existsSync } from 'node:fs';
import { randomOf, type Clock, textOfError } from '../../../src/core/index.ts';
import { recordedRunOf, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { withProgress, type Progress } from '../../../src/messages/progress.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { fittedReport, type FittedReport } from '../../fitted/fittedReport.ts';
import { OWN_LIVES_MAX, OwnLives, type OwnLife } from '../../fitted/ownLives.ts';
import { newMemory } from '../../shadow/memory.ts';
import { ShadowedRun } from '../shadow/shadowedRun.ts';

/** Maximum time for which the work may block the process, in ms, so that the progress is shown. */
const SLICE_MS = 100;

type OwnFillsTask = {
  /** State directory of a live or paper bot. */
  readonly dir: string;
  /** Symbol of the book to fit. Default: the book of the last run. */
  readonly book?: string | undefined;
  readonly seed: number;
  readonly clock: Clock;
  /** Receives one line about each run that is left out or cut short. */
  readonly onTrouble: (line: string) => void;
  readonly progress: Progress;
};

/** Reads the recordings and fits the model. Rejects with `UsageError` if no recording of the book can be used. */
export async function fittedFillsOf(task: OwnFillsTask): Promise<FittedReport> {
  const { dir, seed, clock, onTrouble, progress } = task;
  const runs = existsSync(dir) ? recordingsIn(dir).map(({ run }) => run) : [];
  const lives = new Map<string, { found: OwnLife[]; unused: number }>();
  let last: string | null = null;
  await withProgress(progress, 'reading the orders', async onShare => {
    for (const [i, run] of runs.entries()) {
      try {
        if (recordedRunOf(dir, run) === null) continue;
        const read = await livesOfRun(dir, run, clock, share => onShare((i + share) / runs.length));
        if (read === null) continue;
        if (read.trouble !== null) onTrouble(`run ${run}: ${read.trouble}`);
        last = read.book;
        const all = lives.get(read.book) ?? { found: [], unused: 0 };
        all.found = [...all.found, ...read.lives].slice(-OWN_LIVES_MAX);
        all.unused += read.unused;
        lives.set(read.book, all);
      } catch (error) {
        onTrouble(`run ${run} is left out: ${textOfError(error)}`);
      }
    }
  });
  const book = task.book ?? last;
  const of = book === null ? undefined : lives.get(book);
  if (book === null || of === undefined)
    throw new UsageError(
      `--fills: ${dir} has no usable recording${task.book === undefined ? '' : ` of ${task.book}`}; pass the state directory of a bot that has run`,
    );
  return withProgress(progress, 'fitting', onShare => {
    onShare(0);
    return Promise.resolve(fittedReport(book, of.found, of.unused, randomOf(seed)));
  });
}

/** Returns the lives of the orders of a run; `null` if the run has not read the rules of its book. */
async function livesOfRun(
  dir: string,
  run: number,
  clock: Clock,
  onShare: (share: number) => void,
): Promise<{ book: string; lives: readonly OwnLife[]; unused: number; trouble: string | null } | null> {
  const observer = new OwnLives();
  const memory = newMemory();
  const shadowed = ShadowedRun.open({ dir, run, model: 'expected', memory, onAlarm: () => undefined, observer });
  if (shadowed === null) return null;
  try {
    for (;;) {
      const began = clock.elapsed();
      if (shadowed.advance(() => clock.elapsed() - began > SLICE_MS) === 'end') break;
      onShare(shadowed.share);
      await new Promise(resolve => setImmediate(resolve));
    }
    shadowed.finish();
    const { lives, unused } = observer;
    return { book: shadowed.instrument.symbol, lives, unused, trouble: shadowed.trouble };
  } finally {
    shadowed.close();
  }
}
