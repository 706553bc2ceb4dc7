/** `puntas reload`: checks the file, leaves a request in the bot's state directory, and waits for the bot's answer. */
import { existsSync } from 'node:fs';
import type { Clock, Millis } from '../../core/index.ts';
import { reloadsIn } from '../../live/state/reloads.ts';
import type { ReloadAnswer } from '../../live/state/reloads.ts';
import { askBot } from './askBot.ts';
import { readConfigText } from '../../wiring/configFile.ts';
import { digestOf } from '../run/reloading.ts';
import { UsageError } from '../../wiring/usageError.ts';

export type ReloadCommand = {
  readonly config: string;
  /** Instead of the one in the file. */
  readonly state?: string;
  /** Of a run --paper, which has a state directory of its own. */
  readonly paper: boolean;
  readonly preview: boolean;
  readonly reason: string;
  readonly by: string;
  /** SHA-256 of the file that was previewed, in hex, or its first characters; absent: the file as it is now. */
  readonly digest?: string | undefined;
  /** Never used before. */
  readonly id: string;
};

/** Resolves to the bot's answer, and the SHA-256 of the file that it is about. Rejects with `UsageError` on a file with errors, on no bot that runs there, and on one that says nothing. */
export async function askReload(
  command: ReloadCommand,
  clock: Clock,
): Promise<ReloadAnswer & { readonly digest: string }> {
  const { config: file, preview: isPreview, reason, by, id } = command;
  const { config, text } = readConfigText(file);
  const dir = command.state ?? (command.paper ? config.paper.stateDir : config.state.dir);
  const digest = digestOf(text);
  const expected = isPreview ? command.digest : (command.digest ?? lastPreviewed(dir, by, clock.now()));
  if (expected !== undefined && !digest.startsWith(expected.toLowerCase()))
    throw new UsageError(
      `${file}: changed since the preview: expected the SHA-256 ${expected}, found ${digest}; no request was sent to the bot; check the file with puntas reload --preview`,
    );
  const request = { id, at: clock.now(), by, reason, digest, isPreview };
  const answer = await askBot(dir, reloadsIn(dir), request, clock, 'A bot reads the file at its start');
  quietly(() => {
    if (answer.end === 'shown') reloadsIn(dir).remember({ by, at: clock.now(), digest });
    else if (answer.end !== 'kept') reloadsIn(dir).remember(null);
  });
  return { ...answer, digest };
}

/** A preview counts for so long. */
const PREVIEW_COUNTS_MS = 3_600_000;

/** SHA-256 of what this operator previewed last and has not taken since; undefined if there is no such preview. */
function lastPreviewed(dir: string, by: string, now: Millis): string | undefined {
  const preview = existsSync(dir) ? reloadsIn(dir).previewed() : null;
  const counts = preview !== null && preview.by === by && Math.abs(now - preview.at) < PREVIEW_COUNTS_MS;
  return counts ? preview.digest : undefined;
}

/** A disk that takes no note of a preview keeps nobody from one. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {
    return;
  }
}
