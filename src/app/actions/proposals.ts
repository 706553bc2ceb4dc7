/**
 * Proposals of agents in a state directory. A proposal has no effect until a person approves it. The approval is bound
 * to the content of the proposal and to the facts on which its effect depends, and acts at most once.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { MINUTE_MS, textOfError, type Clock, type Millis } from '../../core/index.ts';
import { PROPOSAL_ID, PROPOSED_ACTIONS, type MailMessage } from '../../live/mailbox/kinds.ts';
import { Mailbox, NumberedMailbox } from '../../live/mailbox/mailbox.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { checkedBy } from '../../messages/reason.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { holdersOf, lifeOf } from '../inspect/botLife.ts';
import { digestOf } from '../run/reloading.ts';
import { actionsIn, type ActionEntry } from './actionJournal.ts';
import { stateDirOf, type ActionAsk, type ActionEnd } from './actions.ts';
import { executeAction } from './executeAction.ts';
import { reloadedFile } from './reloadChanges.ts';

export type ProposedAction = (typeof PROPOSED_ACTIONS)[number];
export type Proposal = MailMessage<'proposal'>;
type Decision = MailMessage<'decision'>;

/**
 * State of a proposal. `approved`: a person approved it, and the action journal has no result yet. After a crash at
 * that point, the proposal stays `approved`, and its action is not executed again.
 */
export type ProposalState = 'open' | 'expired' | 'rejected' | 'approved' | ActionEnd['end'];

export type ProposalStanding = Proposal & {
  readonly state: ProposalState;
  /** Person who decided; `null` if open or expired. */
  readonly by: string | null;
  /** Lines of the action's journal entry; empty if there is no entry. */
  readonly result: readonly string[];
};

/** Person who decides about a proposal. */
export type Approver = { readonly by: string; readonly via: Decision['via'] };

/** Preview of a proposal for the person who decides, computed now. */
export type ProposalReview = {
  readonly proposal: Proposal;
  readonly lines: readonly string[];
  /** Executes the action, at most once. Resolves to `refused` if the proposal can no longer be approved. */
  readonly approve: () => Promise<ActionEnd>;
};

/** Returns the lines of a preview. */
export type PreviewOfAction = (ask: ActionAsk) => Promise<readonly string[]>;

/**
 * Returns all proposals of a state directory, newest first. `acted` returns the last entries of the action journal.
 */
export function proposalsIn(
  bot: WhichBot,
  now: Millis,
  acted: () => readonly ActionEntry[] = () => actionsIn(bot.stateDir),
): readonly ProposalStanding[] {
  const { stateDir } = bot;
  if (!existsSync(stateDir)) return [];
  const decisions = new Map(new NumberedMailbox(stateDir, 'decision').waiting().map(each => [each.id, each]));
  const entries = new Map(acted().map(entry => [entry.id, entry]));
  return new NumberedMailbox(stateDir, 'proposal')
    .waiting()
    .map(proposal => standingOf(bot, proposal, decisions.get(proposal.id), entries.get(proposal.id), now))
    .toReversed();
}

function standingOf(
  bot: WhichBot,
  proposal: Proposal,
  decision: Decision | undefined,
  entry: ActionEntry | undefined,
  now: Millis,
): ProposalStanding {
  // An unreadable decision also counts, because its writer may have acted.
  const isDecided = decision !== undefined || existsSync(decisionFile(bot, proposal.id));
  const by = decision?.by ?? entry?.by ?? (isDecided ? 'unknown' : null);
  if (entry !== undefined) return { ...proposal, state: entry.end, by, result: entry.lines };
  if (isDecided) return { ...proposal, state: decision?.verdict ?? 'approved', by, result: [] };
  return { ...proposal, state: isInTime(proposal, now) ? 'open' : 'expired', by: null, result: [] };
}

/** Whether a proposal can be approved at this time. A proposal also expires if the clock is set back. */
const isInTime = ({ at, expiresAt }: Proposal, now: Millis): boolean => at - CLOCK_MS <= now && now < expiresAt;
/** Maximum time by which the clocks of two processes may differ, in ms. */
const CLOCK_MS = 1_000;

const decisionFile = ({ stateDir }: WhichBot, id: string): string => new Mailbox(stateDir, 'decision').path(id);

/** Returns the SHA-256 (hex) of a proposal's content. */
export function proposalDigest(bot: WhichBot, proposal: Omit<Proposal, 'digest'>): string {
  const text = new Mailbox(bot.stateDir, 'proposal').textOf({ ...proposal, digest: '' });
  return digestOf(`${proposal.id} ${text}`);
}

/**
 * Returns a hash (hex) of the facts on which the effect of an action depends: the process of the bot, the stops in
 * force, and for a reload the content of the file. `fileDigest`: digest of that file; `null` for another action. Orders
 * and quotes change every second, so they are not included.
 */
export function proposalBasis(bot: WhichBot, action: ProposedAction, fileDigest: string | null, now: Millis): string {
  const { state, since } = lifeOf(bot.stateDir, now);
  return digestOf(JSON.stringify([action, state, since, holdersOf(bot.stateDir, now), fileDigest]));
}

/** Returns the SHA-256 (hex) of the file that a reload applies; `null` for another action. */
const fileDigestOf = (bot: WhichBot, action: ProposedAction): string | null =>
  action === 'reload' ? reloadedFile(bot).digest : null;

/**
 * Previews a proposal again for the person who decides. For a reload, the preview and the approved action are bound to
 * the file content that this function reads. `digest`: digest of the proposal that the person has read, or at least its
 * first eight characters.
 * @throws UsageError if the proposal does not exist, is changed, decided or expired, or if the facts on which its
 * effect depends have changed.
 */
export async function reviewProposal(
  bot: WhichBot,
  { id, digest }: { readonly id: string; readonly digest: string },
  approver: Approver,
  clock: Clock,
  preview: PreviewOfAction,
): Promise<ProposalReview> {
  stateDirOf(bot);
  const by = checkedBy(approver.by);
  const proposal = openProposal(bot, id, digest, clock.now());
  const fileDigest = fileDigestOf(bot, proposal.action);
  const basis = proposalBasis(bot, proposal.action, fileDigest, clock.now());
  if (basis !== proposal.basis) throw new UsageError(CHANGED);
  const lines = await preview({ ...askOf(proposal, by, fileDigest, clock.now()), id: previewId(id) });
  return {
    ...{ proposal, lines },
    approve: async () => {
      try {
        openProposal(bot, id, proposal.digest, clock.now());
        const found = fileDigestOf(bot, proposal.action);
        if (proposalBasis(bot, proposal.action, found, clock.now()) !== basis) throw new UsageError(CHANGED);
        recordDecision(bot, proposal, { ...approver, by }, 'approved', clock.now());
      } catch (error) {
        return { end: 'refused', lines: [textOfError(error)] };
      }
      try {
        return await executeAction(bot, askOf(proposal, by, fileDigest, clock.now()), clock);
      } catch (error) {
        if (error instanceof UsageError) return { end: 'refused', lines: error.message.split('\n') };
        throw error;
      }
    },
  };
}

const CHANGED =
  'the stops in force, the process of the bot or the configuration file have changed since the proposal, so its effect may differ; reject it, and ask the agent for a new proposal';

/**
 * Returns a new id for a preview, so that its answer is not mistaken for the answer to the action or to another
 * preview.
 */
const previewId = (id: string): string => `${id}-preview-${randomUUID().slice(0, 8)}`;

/**
 * Rejects an open proposal.
 * @throws UsageError if the proposal does not exist, is changed, decided or expired.
 */
export function rejectProposal(
  bot: WhichBot,
  { id, digest }: { readonly id: string; readonly digest: string },
  approver: Approver,
  now: Millis,
): void {
  stateDirOf(bot);
  const proposal = openProposal(bot, id, digest, now);
  recordDecision(bot, proposal, { ...approver, by: checkedBy(approver.by) }, 'rejected', now);
}

/** Minimum length of a shortened digest. */
const DIGEST_MIN = 8;

function openProposal(bot: WhichBot, id: string, digest: string, now: Millis): Proposal {
  const found = PROPOSAL_ID.test(id) ? new Mailbox(bot.stateDir, 'proposal').read(id) : null;
  if (found === null) throw new UsageError('no proposal has this id; list them with puntas proposals');
  if (found.refused) throw new UsageError(`${found.refused.path}: ${found.refused.why}`);
  const proposal = found.message;
  if (proposalDigest(bot, proposal) !== proposal.digest)
    throw new UsageError(`${id}: the proposal was changed after it was made; it cannot be approved`);
  if (digest.length < DIGEST_MIN || !proposal.digest.startsWith(digest.toLowerCase()))
    throw new UsageError(`${id}: the digest is not that of the proposal; read it again with puntas proposals`);
  const entry = actionsIn(bot.stateDir).find(each => each.id === id);
  const decision = new Mailbox(bot.stateDir, 'decision').read(id)?.message;
  const { state, by } = standingOf(bot, proposal, decision, entry, now);
  if (state === 'open') return proposal;
  throw new UsageError(
    state === 'expired' ? `${id}: the proposal has expired` : `${id}: ${by ?? 'a person'} has already decided`,
  );
}

/** Records the decision, complete or not at all. The file can be created only once, so only one process decides. */
function recordDecision(
  bot: WhichBot,
  { id, digest }: Proposal,
  { by, via }: Approver,
  verdict: Decision['verdict'],
  at: Millis,
) {
  if (!new Mailbox(bot.stateDir, 'decision').putNew({ id, at, by, via, verdict, digest }))
    throw new UsageError(`${id}: the proposal was already decided`);
}

/**
 * Returns the action of a proposal as a request by the person who approves it. `fileDigest`: SHA-256 (hex) of the file
 * that a reload must apply; `null` for another action.
 */
function askOf(proposal: Proposal, by: string, fileDigest: string | null, now: Millis): ActionAsk {
  const { id, action, reason, agent } = proposal;
  const asked = { id, reason, by, agent, via: 'agent' } as const;
  if (action !== 'reload') return askOfAgent(asked, proposal, now);
  if (fileDigest === null) throw new Error('a reload needs the digest of its file');
  return { ...asked, action, digest: fileDigest };
}

/** Returns an action that an agent asks for, with the book and the end of a pause. */
export function askOfAgent(
  asked: Pick<ActionAsk, 'id' | 'reason' | 'by' | 'via' | 'agent'>,
  { action, minutes, book }: Pick<Proposal, 'action' | 'minutes' | 'book'>,
  now: Millis,
): ActionAsk {
  const of = book === undefined ? {} : { book };
  if (action === 'pause')
    return { ...asked, action, ...of, ...(minutes === null ? {} : { untilMs: now + minutes * MINUTE_MS }) };
  return { ...asked, action, ...of };
}
