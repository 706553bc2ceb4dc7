/**
 * Command of `puntas promote`, from start to result. Only one command runs in a folder at a time. A command first
 * completes the decisions of a killed command.
 */
import type { Looking, PromotionJudge, StageCheck } from './promotionJudge.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { assertRestorable } from './earlierStrategy.ts';
import { liveDigestOf, putInPlace, textOfCopy } from './liveFile.ts';
import { nextSteps, placedSteps } from './nextSteps.ts';
import { withPromotionLock, journalOf, noteInJournal, promotionJournal } from './promotionJournal.ts';
import type { Check, PromotionRecord, StageLook } from './records.ts';
import type { OpenPromotion, PromotionState } from './promotionState.ts';
import { endCommand, removeHalfWritten, startCommand } from './unfinishedCommand.ts';

export type PromoteOptions = Looking & {
  readonly judge: PromotionJudge;
  /**
   * Called with the result before the command counts as ended. If the process is killed during this call, a repetition
   * of the command calls `onEnd` again.
   */
  readonly onEnd?: (promoted: Promoted) => void;
  readonly by: string;
  readonly reason: string;
  readonly version: string;
};

/**
 * Result of a command: state of the journal, check of the stage (`null` if there was none), messages, and next
 * commands.
 */
export type Promoted = {
  readonly end: 'shown' | 'done' | 'refused';
  readonly standing: PromotionState;
  readonly check: StageLook | null;
  readonly lines: readonly string[];
  readonly next: readonly string[];
};

export type Begun = ReturnType<typeof finishPending> & { readonly open: OpenPromotion; readonly records: number };

/** Function that runs before the check. Returns the result of a command that needs no check; otherwise `null`. */
type Before = (settled: ReturnType<typeof finishPending>, earlier: readonly PromotionRecord[]) => Promoted | null;

/**
 * Checks a stage, then decides. The check may take long, so it has no lock and a rollback need not wait for it. Rejects
 * with `UsageError` if the journal changed during the check.
 */
export async function checkThenDecide(
  options: PromoteOptions,
  asked: readonly unknown[],
  before: Before,
  look: (begun: Begun) => Promise<StageCheck>,
  decide: (begun: Begun, looked: StageCheck) => Promoted,
): Promise<Promoted> {
  const { dir, liveFile } = options;
  // This check comes before the lock, so that no file is created if there is no promotion.
  const { standing } = journalOf(options);
  if (standing.count === 0) underWay(standing, liveFile, []);
  return runPromoteCommand(
    options,
    asked,
    async earlier => {
      const settled = finishPending(options);
      const ended = before(settled, earlier);
      if (ended !== null) return ended;
      const open = underWay(settled.standing, liveFile, settled.lines);
      return { ...settled, open, records: promotionJournal(dir).records.length };
    },
    async begun => {
      const looked = await look(begun);
      return withPromotionLock(options, async () => {
        if (promotionJournal(dir).records.length !== begun.records)
          throw new UsageError(
            `${liveFile}: the promotion advanced during this check of stage ${begun.open.stage}, so the check was discarded; for the current stage, run puntas promote -c ${liveFile}`,
            1,
          );
        return decide(begun, looked);
      });
    },
  );
}

/**
 * Runs one command: `first` under the lock, then `later` without the lock if `first` has no result.
 *
 * A command is a repetition if its `asked`, reason and operator name equal the values of a killed command. `earlier`
 * then has the records that the killed command wrote.
 */
export async function runPromoteCommand<T extends object = never>(
  options: PromoteOptions,
  asked: readonly unknown[],
  first: (earlier: readonly PromotionRecord[]) => Promise<Promoted | T>,
  later?: (begun: T) => Promise<Promoted>,
): Promise<Promoted> {
  const { dir, liveFile, by, reason, onEnd } = options;
  let command: ReturnType<typeof startCommand> | null = null;
  try {
    const begun = await withPromotionLock(options, async () => {
      removeHalfWritten(dir, liveFile);
      const { records } = promotionJournal(dir);
      command = startCommand(dir, [...asked, by, reason], records.length);
      return first(command.isRepeated ? records.slice(command.records) : []);
    });
    const promoted = 'end' in begun ? begun : await later!(begun);
    onEnd?.(promoted);
    return promoted;
  } finally {
    // Only a killed process does not reach this line; the record of the started command then remains.
    if (command !== null) endCommand(dir, command);
  }
}

/** Returns the message of a command whose work was already done by an interrupted run. */
export const doneEarlier = (what: string): string => `${what} (by an interrupted run of this command)`;

/**
 * Writes the content of the pending promotion into the live file, or removes the file if there is none; then records
 * this in the journal.
 */
export function place(
  options: PromoteOptions,
  decided: PromotionState,
): { readonly standing: PromotionState; readonly lines: readonly string[] } {
  const { dir, liveFile } = options;
  const { pending } = decided;
  if (pending === null) return { standing: decided, lines: [] };
  const text = pending.to === null ? null : textOfCopy(dir, pending.to);
  if (pending.isBack && text !== null) assertRestorable(options, text, pending.promotion, true);
  const lost = putInPlace(liveFile, text, dir);
  const standing = noteInJournal(dir, { kind: 'placed', ...signature(options, pending.promotion) });
  const what = pending.to === null ? 'is removed' : 'now has the new content';
  return { standing, lines: [`${liveFile} ${what}; its previous content is kept in ${dir}/files`, ...lost] };
}

/**
 * Completes a decision that a killed process left unfinished.
 * @throws UsageError if the operator has changed the live file since.
 */
export function finishPending(options: PromoteOptions): {
  readonly standing: PromotionState;
  readonly lines: readonly string[];
  /** Whether a decision was completed. */
  readonly finished: boolean;
} {
  const { dir, liveFile } = options;
  const { standing } = promotionJournal(dir);
  const { pending } = standing;
  if (pending === null) return { standing, lines: [], finished: false };
  const now = liveDigestOf(liveFile);
  if (now !== pending.to && now !== pending.from)
    throw new UsageError(
      `${liveFile}: the file was changed manually after the decision of promotion ${pending.promotion}; roll back with: puntas promote back -c ${liveFile} --reason "..."`,
    );
  const { standing: placed, lines } = place(options, standing);
  const said = ['the decision of an interrupted command was completed:', ...lines];
  return { standing: placed, lines: said, finished: true };
}

/**
 * Returns the promotion that is under way.
 * @throws UsageError if no promotion is under way; the message starts with `lines`.
 */
export function underWay({ open }: PromotionState, liveFile: string, lines: readonly string[]): OpenPromotion {
  if (open === null)
    throw new UsageError(
      `${lines.map(line => `${line}\n`).join('')}${liveFile}: no promotion is under way; start a promotion with: puntas promote start CANDIDATE -c ${liveFile} --reason "..."`,
    );
  return open;
}

/** Records the check of a stage. */
export const noteCheck = (options: PromoteOptions, { started, stage }: OpenPromotion, check: Check): PromotionState =>
  noteInJournal(options.dir, {
    kind: 'checked',
    ...signature({ ...options, reason: '' }, started.promotion),
    stage,
    ...check,
  });

/** Returns the common first fields of a journal record. */
export const signature = (
  { clock, by, reason, version }: Pick<PromoteOptions, 'clock' | 'by' | 'reason' | 'version'>,
  promotion: number,
) => ({
  ...{ promotion, at: clock.now(), by, reason, version },
});

/**
 * Returns the result of a command. `isPlaced`: whether the live file has changed; the next step is then a reload or a
 * start.
 */
export function promoteResult(
  { liveFile, dir, clock }: PromoteOptions,
  standing: PromotionState,
  end: Promoted['end'],
  check: StageLook | null,
  lines: readonly string[],
  isPlaced = false,
): Promoted {
  const steps = { liveFile, dir, standing, now: clock.now() };
  return { end, standing, check, lines, next: isPlaced ? placedSteps(steps) : nextSteps(steps) };
}
