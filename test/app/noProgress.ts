/** A progress that shows nothing. */
import type { Progress } from '../../src/messages/progress.ts';

export const NO_PROGRESS: Progress = { begin: () => undefined, at: () => undefined, end: () => undefined };
