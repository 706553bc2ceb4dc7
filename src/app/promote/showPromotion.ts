/** `puntas promote` without a subcommand: stage of the promotion, problems, and next commands. */
import { shellWord } from '../../messages/ownCommand.ts';
import { readLive } from './candidate.ts';
import { liveDigestOf, liveTextOf } from './liveFile.ts';
import { nextSteps } from './nextSteps.ts';
import type { Promoted, PromoteOptions } from './promoteCommand.ts';
import { journalOf } from './promotionJournal.ts';
import type { PromotionRecord } from './records.ts';
import { hasOther } from './runningBot.ts';
import type { PromotionState } from './promotionState.ts';

/**
 * Returns the stage of the promotion; changes nothing.
 * @throws UsageError if neither the live file nor a promotion exists.
 */
export function showPromotion({ liveFile, dir, clock }: Pick<PromoteOptions, 'liveFile' | 'dir' | 'clock'>): Promoted {
  const { standing, records } = journalOf({ liveFile, dir });
  const { open, live } = standing;
  const isDone = live !== undefined && standing.pending === null;
  const isOurs = isDone && liveDigestOf(liveFile) === live;
  const isBehind = isOurs && hasOther(liveFile, clock.now());
  const lines = [
    ...pendingLines(standing, liveFile),
    ...brokenLines(liveFile),
    ...(isDone && !isOurs ? [`${liveFile} was changed manually since the promotion wrote it`] : []),
    ...(isBehind ? [behindText(liveFile, records)] : []),
  ];
  return {
    end: 'shown',
    standing,
    check: open?.checked ?? null,
    lines,
    next: nextSteps({ liveFile, dir, standing, now: clock.now(), isBehind }),
  };
}

/** Returns the message for a running bot that has not reloaded the live file. */
function behindText(liveFile: string, records: readonly PromotionRecord[]): string {
  const isBack =
    records.findLast(
      record =>
        (record.kind === 'approved' && record.to !== null) || (record.kind === 'back' && record.to !== undefined),
    )?.kind === 'back';
  return `the live file is ${isBack ? 'restored' : 'replaced'}, but the running bot still uses the previous file; reload ${isBack ? 'again ' : ''}with: puntas reload -c ${shellWord(liveFile)} --reason "..."`;
}

const pendingLines = ({ pending }: PromotionState, liveFile: string): readonly string[] =>
  pending === null
    ? []
    : [
        `promotion ${pending.promotion} was interrupted while it changed ${liveFile}; the next puntas promote check, approve or back completes the change`,
      ];

/** Returns the errors of an invalid live file. */
function brokenLines(liveFile: string): readonly string[] {
  const text = liveTextOf(liveFile);
  const read = text === null ? null : readLive(text, liveFile, liveFile);
  return read === null || read.ok ? [] : [`${liveFile} is not a valid configuration:`, ...read.errors];
}
