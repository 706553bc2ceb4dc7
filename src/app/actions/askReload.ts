/** `puntas reload`: checks the file, writes a request into the bot's state directory, and waits for the answer. */
import { existsSync } from 'node:fs';
import { strategyHashesIn, withFileIn } from '../../config.ts';
import type { Clock, Millis } from '../../core/index.ts';
import type { MailMessage } from '../../live/mailbox/kinds.ts';
import { ReloadBox } from '../../live/mailbox/mailbox.ts';
import { askBot } from '../inspect/askBot.ts';
import { readConfigText } from '../../wiring/configFile.ts';
import { nextStartText } from '../run/strategyApproval.ts';
import { KEPT_TEXT, reloadDigestOf } from '../run/reloading.ts';
import { strategyIdentityChanges, threadedStrategyPreview, type StrategyPreviewAsk } from './strategyPreview.ts';
import { shellWord } from '../../messages/ownCommand.ts';
import { UsageError } from '../../wiring/usageError.ts';

export type ReloadCommand = {
  readonly config: string;
  /** State directory; overrides the directory in the file. */
  readonly state?: string;
  /** Whether to use the state directory of a paper run. */
  readonly paper: boolean;
  readonly preview: boolean;
  readonly reason: string;
  readonly by: string;
  /** SHA-256 (hex) of the previewed file, or the first characters of it. If absent, the current file is used. */
  readonly digest?: string | undefined;
  /** Unique id of the request. */
  readonly id: string;
  /**
   * Whether the preview is for an agent or an internal check, so that it does not count as the last preview that an
   * operator saw.
   */
  readonly isForAgent?: boolean;
};

/**
 * Resolves to the bot's answer, and the SHA-256 of the file.
 * @throws UsageError if the file has errors, or if no bot runs or answers.
 */
export async function askReload(command: ReloadCommand, clock: Clock): Promise<Answer & { readonly digest: string }> {
  const { config: file, preview: isPreview, reason, by, id } = command;
  const { config, text } = readConfigText(file);
  const dir = command.state ?? (command.paper ? config.paper.stateDir : config.state.dir);
  const digest = reloadDigestOf(text, config);
  const expected = isPreview ? command.digest : (command.digest ?? lastPreviewed(dir, by, clock.now()));
  if (expected !== undefined && !digest.startsWith(expected.toLowerCase()))
    throw new UsageError(
      `${file} changed since the preview (expected SHA-256 ${expected}, found ${digest}), so no request was sent to the bot; check the file with: puntas reload -c ${shellWord(file)} --preview`,
    );
  const request = { id, at: clock.now(), by, reason, digest, isPreview };
  const box = new ReloadBox(dir);
  const told = await askBot(dir, box, request, clock, nextStartText(config, text, dir));
  const answer =
    isPreview && withFileIn(config).length > 0
      ? await withStrategyPreview(told, strategyIdentityChanges(config, dir), {
          path: file,
          text,
          hashes: strategyHashesIn(config),
          stateDir: dir,
          now: clock.now(),
        })
      : told;
  quietly(() => {
    if (isPreview && command.isForAgent === true) return;
    if (answer.end === 'shown') box.remember({ by, at: clock.now(), digest });
    else if (answer.end !== 'kept') box.remember(null);
  });
  return { ...answer, digest };
}

type Answer = MailMessage<'reloadAnswer'>;

/** Returns the bot's answer to a preview with the part that needs strategy files, which the bot does not run. */
async function withStrategyPreview(
  told: Answer,
  identity: readonly string[],
  ask: StrategyPreviewAsk,
): Promise<Answer> {
  if (told.end === 'kept') return told;
  const lines = [...(told.end === 'nothing to do' ? [] : told.lines), ...identity];
  const preview = await threadedStrategyPreview(ask);
  if ('refused' in preview) return { ...told, end: 'kept', lines: [...lines, ...preview.refused, KEPT_TEXT] };
  if (told.end === 'nothing to do' && identity.length === 0 && preview.changes.length === 0) return told;
  return { ...told, end: 'shown', lines: [...lines, ...preview.changes, ...preview.quotes] };
}

/** Time for which a preview is valid, in ms. */
const PREVIEW_COUNTS_MS = 3_600_000;

/**
 * Returns the SHA-256 of the file that this operator previewed last and did not apply; `undefined` if there is none.
 */
function lastPreviewed(dir: string, by: string, now: Millis): string | undefined {
  const preview = existsSync(dir) ? new ReloadBox(dir).previewed() : null;
  const counts = preview !== null && preview.by === by && Math.abs(now - preview.at) < PREVIEW_COUNTS_MS;
  return counts ? preview.digest : undefined;
}

/** Runs `work` and ignores its errors. A preview must work even if it cannot be recorded on disk. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {
    return;
  }
}
