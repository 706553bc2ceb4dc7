/** Configuration of the last recorded run before a start. */
import { isTrialOrder, recordedConfig, type Config } from '../../config.ts';
import { recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';

/** Maximum number of recordings that are opened. */
const LOOKS_MAX = 20;

/**
 * Returns the configuration of the last run before `run` that was not a trial order; `null` if no such recording exists
 * or can be read.
 */
export function recordedConfigBefore(dir: string, run: number): Config | null {
  try {
    const earlier = recordingsIn(dir).filter(each => each.run < run);
    for (const each of earlier.slice(-LOOKS_MAX).toReversed()) {
      const of = recordedRunOf(dir, each.run);
      const config = of && recordedConfig(of.setup);
      if (config !== null && !isTrialOrder(config)) return config;
    }
    return null;
  } catch {
    return null;
  }
}
