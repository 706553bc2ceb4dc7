/** One command of `puntas promote` from its start to its end: alone in its folder, finishing what a killed one decided, and telling what came of it. */
import type { Looking, PromotionJudge, StageCheck } from './promotionJudge.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { liveDigestOf, putInPlace, textOfCopy } from './liveFile.ts';
import { nextSteps, placedSteps } from './nextSteps.ts';
import { alone, journalOf, noteInJournal, promotionJournal } from './promotionJournal.ts';
import type { Check, PromotionRecord, StageLook } from './records.ts';
import type { OpenPromotion, Standing } from './standing.ts';
import { endCommand, removeHalfWritten, startCommand } from './unfinishedCommand.ts';

export type PromoteOptions = Looking & {
  readonly judge: PromotionJudge;
  /** Receives the result before the command counts as ended: one that is killed before this returns is done once more by repeating it. */
  readonly onEnd?: (promoted: Promoted) => void;
  readonly by: string;
  readonly reason: string;
  readonly version: string;
};

/** What became of it: the journal as it stands, the look at the stage where there was one, what to say of it, and what can be typed next. */
export type Promoted = {
  readonly end: 'shown' | 'done' | 'refused';
  readonly standing: Standing;
  readonly check: StageLook | null;
  readonly lines: readonly string[];
  readonly next: readonly string[];
};

export type Begun = ReturnType<typeof finishPending> & { readonly open: OpenPromotion; readonly records: number };

/** What comes before the look: the end of a command that has nothing to look at; null where there is something. */
type Before = (settled: ReturnType<typeof finishPending>, earlier: readonly PromotionRecord[]) => Promoted | null;

/** A look may take long, and goes on without the lock: nobody who goes back waits for it. What was decided meanwhile makes it worth nothing. Rejects with `UsageError` then. */
export async function afterLook(
  options: PromoteOptions,
  asked: readonly unknown[],
  before: Before,
  look: (begun: Begun) => Promise<StageCheck>,
  decide: (begun: Begun, looked: StageCheck) => Promoted,
): Promise<Promoted> {
  const { dir, liveFile } = options;
  // Where nothing was begun nothing is made.
  const { standing } = journalOf(options);
  if (standing.count === 0) underWay(standing, liveFile, []);
  return asCommand(
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
      return alone(options, async () => {
        if (promotionJournal(dir).records.length !== begun.records)
          throw new UsageError(
            `${liveFile}: its promotion advanced during this check of ${begun.open.stage}, so the check was discarded; see puntas promote -c ${liveFile}`,
            1,
          );
        return decide(begun, looked);
      });
    },
  );
}

/**
 * Runs one command from its start to its end, and `later` without the lock where `first` does not end it.
 *
 * `asked` and the options' reason and name are what makes two commands the same. `earlier` is what the same command wrote before it was killed.
 */
export async function asCommand<T extends object = never>(
  options: PromoteOptions,
  asked: readonly unknown[],
  first: (earlier: readonly PromotionRecord[]) => Promise<Promoted | T>,
  later?: (begun: T) => Promise<Promoted>,
): Promise<Promoted> {
  const { dir, liveFile, by, reason, onEnd } = options;
  let command: ReturnType<typeof startCommand> | null = null;
  try {
    const begun = await alone(options, async () => {
      removeHalfWritten(dir, liveFile);
      const { records } = promotionJournal(dir);
      command = startCommand(dir, [...asked, by, reason], records.length);
      return first(command.isRepeated ? records.slice(command.records) : []);
    });
    const promoted = 'end' in begun ? begun : await later!(begun);
    onEnd?.(promoted);
    return promoted;
  } finally {
    // A process that is killed does not come here.
    if (command !== null) endCommand(dir, command);
  }
}

/** What a command says that finds its own work done. */
export const doneEarlier = (what: string): string => `${what}; an interrupted run of the same command had done this`;

/** The decision is in the journal: the file follows it, and then the journal says that it did. */
export function place(
  options: PromoteOptions,
  decided: Standing,
): { readonly standing: Standing; readonly lines: readonly string[] } {
  const { dir, liveFile } = options;
  const { pending } = decided;
  if (pending === null) return { standing: decided, lines: [] };
  const lost = putInPlace(liveFile, pending.to === null ? null : textOfCopy(dir, pending.to), dir);
  const standing = noteInJournal(dir, { kind: 'placed', ...signature(options, pending.promotion) });
  const what = pending.to === null ? 'is removed' : 'is in place now';
  return { standing, lines: [`${liveFile} ${what}; its previous content is kept in ${dir}/files`, ...lost] };
}

/** What a process that ended too early had decided is put in place, unless a person has changed the file since. */
export function finishPending(options: PromoteOptions): {
  readonly standing: Standing;
  readonly lines: readonly string[];
  /** Whether there was something to finish. */
  readonly finished: boolean;
} {
  const { dir, liveFile } = options;
  const { standing } = promotionJournal(dir);
  const { pending } = standing;
  if (pending === null) return { standing, lines: [], finished: false };
  const now = liveDigestOf(liveFile);
  if (now !== pending.to && now !== pending.from)
    throw new UsageError(
      `${liveFile}: was changed by hand since promotion ${pending.promotion} decided what it should say; go back with: puntas promote back -c ${liveFile} --reason "..."`,
    );
  const { standing: placed, lines } = place(options, standing);
  const said = ['completed the decision of an interrupted command', ...lines];
  return { standing: placed, lines: said, finished: true };
}

/** `lines`: what was done before, and is told in any case. */
export function underWay({ open }: Standing, liveFile: string, lines: readonly string[]): OpenPromotion {
  if (open === null)
    throw new UsageError(
      `${lines.map(line => `${line}\n`).join('')}${liveFile}: no promotion is under way; begin one with: puntas promote start CANDIDATE -c ${liveFile} --reason "..."`,
    );
  return open;
}

/** Writes a look at a stage down. */
export const noteCheck = (options: PromoteOptions, { started, stage }: OpenPromotion, check: Check): Standing =>
  noteInJournal(options.dir, {
    kind: 'checked',
    ...signature({ ...options, reason: '' }, started.promotion),
    stage,
    ...check,
  });

/** What every record of the journal begins with. */
export const signature = (
  { clock, by, reason, version }: Pick<PromoteOptions, 'clock' | 'by' | 'reason' | 'version'>,
  promotion: number,
) => ({
  ...{ promotion, at: clock.now(), by, reason, version },
});

/** The result of a command; `isPlaced`: the live file says something else now, which a bot is to take up next. */
export function told(
  { liveFile, dir, clock }: PromoteOptions,
  standing: Standing,
  end: Promoted['end'],
  check: StageLook | null,
  lines: readonly string[],
  isPlaced = false,
): Promoted {
  const steps = { liveFile, dir, standing, now: clock.now() };
  return { end, standing, check, lines, next: isPlaced ? placedSteps(steps) : nextSteps(steps) };
}
