/**
 * `puntas promote`: commands that take a configuration through the stages replay, paper and smallest size into the live
 * file, and roll it back.
 */
import { basename, dirname, resolve } from 'node:path';
import { writeDurably } from '../../guard/index.ts';
import { checkedAsk } from '../actions/actions.ts';
import { readConfigText } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import {
  liveConfig,
  paperConfig,
  paperFile,
  paperText,
  readCandidate,
  samePlace,
  smallestText,
  strategyCopyIn,
  strategyTextOf,
  wholeText,
  type Candidate,
} from './candidate.ts';
import { assertRestorable, restorableText } from './earlierStrategy.ts';
import type { StageCheck } from './promotionJudge.ts';
import { keptCopy, liveTextOf, textOfCopy } from './liveFile.ts';
import {
  checkThenDecide,
  runPromoteCommand,
  doneEarlier,
  noteCheck,
  place,
  finishPending,
  signature,
  promoteResult,
  type Begun,
  type Promoted,
  type PromoteOptions,
} from './promoteCommand.ts';
import { journalOf, noteInJournal, nothingToRollBack, promotionJournal, promotionsDir } from './promotionJournal.ts';
import type { ApprovedRecord, PromotionRecord, Stage } from './records.ts';
import { tradingDigest } from './tradingDigest.ts';
import { reloadRunningBot } from './runningBot.ts';
import { inPlace, type OpenPromotion, type PromotionState } from './promotionState.ts';

/**
 * Returns the options of a command, with reason and operator name as the journal stores them.
 * @throws UsageError if reason or name is missing.
 */
export function promoteOptions(asked: Omit<PromoteOptions, 'dir'> & { readonly needsReason: boolean }): PromoteOptions {
  const { needsReason, ...options } = asked;
  const { reason, by } = checkedAsk(
    { id: '', action: 'reload', reason: options.reason, by: options.by, via: 'command' },
    options.clock.now(),
  );
  if (needsReason && reason === '')
    throw new UsageError('--reason: expected a few words that say why you run this command');
  return { ...options, by, reason, dir: promotionsDir(options.liveFile) };
}

/** Starts a promotion. Candidate and criteria are copied and cannot change afterwards. Rejects with `UsageError`. */
export async function startPromotion(
  options: PromoteOptions,
  {
    candidate: path,
    criteria: criteriaPath,
    isNew = false,
  }: { readonly candidate: string; readonly criteria?: string | undefined; readonly isNew?: boolean | undefined },
): Promise<Promoted> {
  const candidate = readCandidate(path, options.dir);
  if (!isNew) journalOf(options, ', or add --new, so that the promotion creates the file');
  const { judge } = options;
  const criteria = criteriaPath === undefined ? judge.defaultCriteria : judge.readCriteria(criteriaPath);
  if (criteria.replay.tapes === undefined && candidate.tuned === null)
    throw new UsageError(
      `${path}: the candidate has no recordings to replay; list recordings in a criteria file (key replay.tapes, see config/promote.yaml) and pass it with --criteria FILE, or use a candidate that puntas tune --yaml wrote`,
    );
  const { liveFile, dir } = options;
  const whole = (head: string): string => wholeText(candidate, dirname(liveFile), head);
  const before = liveTextOf(liveFile);
  if (before === null) liveConfig(whole(''), liveFile);
  else samePlace(candidate.file, whole(''), liveFile, before);
  const asked = ['start', resolve(path), candidate.text, criteria, isNew];
  return runPromoteCommand(options, asked, async earlier => {
    const { lines, standing: settled } = finishPending(options);
    if (earlier.some(({ kind }) => kind === 'started'))
      return promoteResult(options, settled, 'done', null, [
        ...lines,
        doneEarlier(`promotion ${settled.count} started`),
      ]);
    if (settled.open !== null)
      throw new UsageError(
        `${liveFile}: promotion ${settled.open.started.promotion} is under way, at stage ${settled.open.stage}; end promotion ${settled.open.started.promotion} first with: puntas promote back -c ${liveFile} --reason "..."`,
      );
    const promotion = settled.count + 1;
    const name = basename(candidate.file);
    const head = `Promotion ${promotion} of ${basename(liveFile)}, from ${name}, started by ${options.by}: ${options.reason}.`;
    const file = paperFile(dir, promotion);
    const { strategy } = candidate;
    if (strategy !== null) writeDurably(strategy.copy, strategyTextOf(candidate));
    writeDurably(
      file,
      paperText(candidate, dirname(file), `${head} This file is for paper trading, with a state directory of its own.`),
    );
    const started: PromotionRecord = {
      ...{
        kind: 'started',
        ...signature(options, promotion),
        file: candidate.file,
        candidate: keptCopy(dir, candidate.text),
      },
      live: keptCopy(dir, whole(head)),
      ...{ trading: tradingDigest(readConfigText(file).config), criteria, tuned: candidate.tuned },
      ...(strategy && { strategy: { name: strategy.name, sha256: strategy.sha256 } }),
    };
    const standing = noteInJournal(dir, started);
    const copied = strategy === null ? '' : ` and a copy of the strategy file ${strategy.name}`;
    const said = [...lines, `promotion ${promotion} started with ${name}${copied}; its criteria can no longer change`];
    return promoteResult(options, standing, 'done', null, said);
  });
}

/** Checks the current stage and records the result. Rejects with `UsageError` if no promotion is under way. */
export const checkPromotion = (options: PromoteOptions): Promise<Promoted> =>
  checkThenDecide(
    options,
    ['check'],
    () => null,
    ({ open, standing }) => options.judge.checkStage(open, standing, options),
    ({ open, lines }, { check }) =>
      promoteResult(options, noteCheck(options, open, check), 'done', { ...check, stage: open.stage }, lines),
  );

/**
 * Checks the stage again, and continues with the next stage if all criteria pass or `anyway` is set. From the stage
 * `paper` on, an approval also replaces the live file.
 *
 * `stage` is the stage to approve; an approved stage is not approved again. If `stage` is `null`, the current stage is
 * approved. The exception is a command that completes the decision of an earlier command: it approves nothing.
 */
export const approvePromotion = (
  options: PromoteOptions,
  anyway: boolean,
  stage: Stage | null = null,
): Promise<Promoted> =>
  checkThenDecide(
    options,
    ['approve', stage, anyway],
    (settled, earlier) => approvedBefore(options, stage, settled, earlier),
    async ({ open, standing }) =>
      replayedBefore(open, options) ?? (await options.judge.checkStage(open, standing, options)),
    (begun, looked) => approved(options, anyway, begun, looked),
  );

/**
 * Returns the result if the named stage is already approved; otherwise `null`.
 * @throws UsageError if the promotion is at another stage.
 */
function approvedBefore(
  options: PromoteOptions,
  stage: Stage | null,
  { standing, lines, finished }: ReturnType<typeof finishPending>,
  earlier: readonly PromotionRecord[],
): Promoted | null {
  const own = earlier.findLast(record => record.kind === 'approved' || record.kind === 'refused');
  if (own?.kind === 'refused')
    return promoteResult(options, standing, 'refused', standing.open?.checked ?? null, [
      ...lines,
      doneEarlier(`${own.stage} was not approved`),
    ]);
  const of = (own ?? namedRecord(options, standing, stage)) as ApprovedRecord | undefined;
  const isDone = of !== undefined && (stage === null || of.stage === stage);
  if (!isDone && !(finished && stage === null)) {
    if (stage !== null && standing.open !== null && standing.open.stage !== stage)
      throw new UsageError(
        `${options.liveFile}: stage ${stage} cannot be approved while the promotion is at stage ${standing.open.stage}; approve stage ${standing.open.stage} first`,
      );
    return null;
  }
  const said = isDone
    ? `this command approved no stage, because ${of.by} already approved stage ${of.stage} at ${new Date(of.at).toISOString()} (${of.reason})`
    : 'this command approved no further stage; to approve another stage, run puntas promote approve STAGE';
  return promoteResult(options, standing, 'done', of ?? null, [...lines, said], of?.to !== null);
}

/** Returns the approval of the named stage in the newest promotion; `undefined` if there is none. */
const namedRecord = (
  { dir }: PromoteOptions,
  { count }: PromotionState,
  stage: Stage | null,
): PromotionRecord | undefined =>
  promotionJournal(dir).records.findLast(
    record => record.kind === 'approved' && record.promotion === count && record.stage === stage,
  );

function approved(options: PromoteOptions, anyway: boolean, { lines, open }: Begun, looked: StageCheck): Promoted {
  const { check } = looked;
  if (check !== open.checked) noteCheck(options, open, check);
  const { findings, result } = check;
  const { stage } = open;
  const by = { ...signature(options, open.started.promotion), stage, findings };
  const look = { ...check, stage };
  if (result !== 'passed' && !anyway) {
    const after = noteInJournal(options.dir, { kind: 'refused', asked: 'approve', ...by });
    const why = result === 'failed' ? 'not all of its criteria are met' : 'some evidence is still missing';
    return promoteResult(options, after, 'refused', look, [
      ...lines,
      `stage ${stage} is not approved, because ${why}; to approve the stage nevertheless, add --anyway (the journal records the exception)`,
    ]);
  }
  const text = stage === 'replay' ? null : placedText(options, open, looked);
  const before = liveTextOf(options.liveFile);
  if (text !== null && before !== null) samePlace(placedName(open), text, options.liveFile, before);
  const kept = before === null ? null : keptCopy(options.dir, before);
  const to = text === null ? null : keptCopy(options.dir, text);
  const restorable =
    stage !== 'paper' || before === null ? null : restorableText(options.dir, options.liveFile, before);
  const restored = restorable === null ? kept : keptCopy(options.dir, restorable.text);
  const record = {
    kind: 'approved',
    ...by,
    ...(open.started.strategy && { strategy: open.started.strategy }),
    result,
    anyway: result !== 'passed',
    to,
    before: text === null ? null : kept,
    ...(restored !== null && restored !== kept && { restored }),
  } as const;
  const decided = noteInJournal(options.dir, record);
  const exception = result === 'passed' ? '' : ', although not all of its criteria are met';
  const final = restorable?.problem ?? null;
  const said = [
    ...lines,
    `stage ${stage} is approved${exception}`,
    ...(final === null ? [] : [`this promotion cannot be rolled back: ${final}`]),
  ];
  if (text === null) return promoteResult(options, decided, 'done', look, said);
  const placed = place(options, decided);
  return promoteResult(options, placed.standing, 'done', look, [...said, ...placed.lines], true);
}

/**
 * Rolls back: ends the promotion under way. From the stage `smallest` on, also restores the previous live file, and a
 * running bot reloads it.
 */
export async function promotionBack(options: PromoteOptions): Promise<Promoted> {
  if (journalOf(options).standing.count === 0) throw nothingToRollBack(options);
  return runPromoteCommand(options, ['back'], async earlier => {
    const { dir, liveFile } = options;
    const own = earlier.findLast(record => record.kind === 'back');
    if (own !== undefined) {
      const before = promotionJournal(dir).standing;
      const said = [doneEarlier(`promotion ${own.promotion} was rolled back`)];
      return own.to === undefined
        ? promoteResult(options, before, 'done', null, said)
        : restorePrevious(options, before, own.to, said);
    }
    const { standing } = promotionJournal(dir);
    const { open } = standing;
    const now = liveTextOf(liveFile);
    const from = now === null ? null : keptCopy(dir, now);
    if (open !== null && open.stage !== 'smallest') {
      const { promotion } = open.started;
      const ended = noteInJournal(dir, { kind: 'back', ...signature(options, promotion), from });
      const held = inPlace(ended);
      const beside =
        held === null
          ? []
          : [
              `${liveFile} still has the content of promotion ${held}; to restore the content before promotion ${held}, run puntas promote back`,
            ];
      return promoteResult(options, ended, 'done', null, [
        `promotion ${promotion} is abandoned at stage ${open.stage}; ${liveFile} stays unchanged`,
        ...beside,
      ]);
    }
    const { pending } = standing;
    // A rollback that was decided but not completed is completed first, whatever the file contains now.
    if (pending?.isBack === true) {
      const said = 'the interrupted rollback is now complete';
      return restorePrevious(options, standing, pending.to, [said, ...keptLines(options, from, standing)]);
    }
    const last = standing.placed.at(-1);
    if (last === undefined) throw nothingToRollBack(options);
    const kept = pending === null ? keptLines(options, from, standing) : [];
    // `textOfCopy` throws if the copy is missing: without it, the rollback could not be completed.
    if (last.before !== null) assertRestorable(options, textOfCopy(dir, last.before), last.promotion, true);
    const back = { kind: 'back', ...signature(options, last.promotion), to: last.before, from } as const;
    return restorePrevious(options, noteInJournal(dir, back), last.before, kept);
  });
}

/**
 * Returns a line about the stored copy of a live file that the operator had edited; empty if the file was not edited.
 */
const keptLines = ({ dir, liveFile }: PromoteOptions, found: string | null, { live, pending }: PromotionState) =>
  found === null || found === live || found === pending?.from
    ? []
    : [`${liveFile} was changed manually before the rollback; the changed text is kept as ${dir}/files/${found}.yaml`];

/** Executes a rollback that is already in the journal: restores the file, and reloads a running bot. */
async function restorePrevious(
  options: PromoteOptions,
  decided: PromotionState,
  to: string | null,
  lines: readonly string[],
): Promise<Promoted> {
  const placed = place(options, decided);
  const { end, lines: reloaded } = await reloadRunningBot(options, to);
  // If the bot did not apply the file, it still uses the old configuration, so the next step is the reload.
  return promoteResult(
    options,
    placed.standing,
    end,
    null,
    [...placed.lines, ...lines, ...reloaded],
    end === 'refused',
  );
}

/** Returns the text of the live file after this stage is approved. */
function placedText(options: PromoteOptions, open: OpenPromotion, { traded }: StageCheck): string {
  const { dir, liveFile } = options;
  const { started, stage } = open;
  if (stage === 'smallest') return textOfCopy(dir, started.live);
  if (traded === null)
    throw new UsageError(
      'the smallest order size is unknown, because no paper run has read the rules of the book yet; run the candidate on paper at least once',
    );
  const { file, promotion } = started;
  const candidate = candidateOf(options, open);
  const head = `Promotion ${promotion} of ${basename(liveFile)}, from ${basename(file)}. This stage trades the smallest size; the next stage trades the size of the candidate.`;
  const { text } = smallestText(candidate, dirname(liveFile), traded, head);
  liveConfig(text, liveFile);
  return text;
}

const placedName = ({ started }: OpenPromotion): string => `promotion ${started.promotion} (${basename(started.file)})`;

const candidateOf = ({ dir }: PromoteOptions, open: OpenPromotion): Candidate => {
  const { file, tuned, candidate, strategy } = open.started;
  return {
    ...{ file, tuned, text: textOfCopy(dir, candidate), config: paperConfig(dir, open) },
    strategy: strategy === undefined ? null : strategyCopyIn(dir, strategy),
  };
};

/**
 * Returns the earlier check of the replay stage by this version, because a new check would have the same result; `null`
 * if there is no such check.
 */
const replayedBefore = ({ stage, checked }: OpenPromotion, { version }: PromoteOptions): StageCheck | null =>
  stage === 'replay' && checked?.version === version ? { check: checked, traded: null } : null;
