/** Changes of the configuration between the last recorded run and a start. */
import { configChanges, isTrialOrder, recordedConfig, type ConfigChange } from '../../config.ts';
import { recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';

/** Maximum number of recordings that are opened. */
const LOOKS_MAX = 20;

/**
 * Returns the changes from the last run before `run` that was not a trial order to `setup`, the recorded text of the
 * configuration. Empty if no such recording exists or can be read.
 */
export function changesSinceLastRun(dir: string, run: number, setup: string): readonly ConfigChange[] {
  try {
    const earlier = recordingsIn(dir).filter(each => each.run < run);
    for (const each of earlier.slice(-LOOKS_MAX).toReversed()) {
      const of = recordedRunOf(dir, each.run);
      const before = of && recordedConfig(of.setup);
      if (before !== null && !isTrialOrder(before)) return configChanges(before, recordedConfig(setup));
    }
    return [];
  } catch {
    return [];
  }
}
