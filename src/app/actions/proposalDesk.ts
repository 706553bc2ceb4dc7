/**
 * Desk that accepts proposals of agents for the console: previews them, limits their rate and number, and stores them.
 */
import { existsSync } from 'node:fs';
import { MINUTE_MS, counted, type Clock, type Millis } from '../../core/index.ts';
import { PROPOSED_ACTIONS } from '../../live/mailbox/kinds.ts';
import { Mailbox, NumberedMailbox } from '../../live/mailbox/mailbox.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { checkedBy, checkedReason } from '../../messages/reason.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { isBookAction, stateDirOf } from './actions.ts';
import { changesForAgent, reloadedFile } from './reloadChanges.ts';
import {
  askOfAgent,
  proposalBasis,
  proposalDigest,
  proposalsIn,
  type PreviewOfAction,
  type Proposal,
  type ProposalStanding,
  type ProposedAction,
} from './proposals.ts';

/** Proposal as an agent requests it. */
export type ProposalRequest = {
  readonly action: string;
  readonly reason: string;
  /** Name that the agent gives itself; not verified. */
  readonly agent: string;
  /** Duration of a pause, in minutes; `null` for a pause until resume. */
  readonly minutes: number | null;
  /** Symbol of the book to act on; if absent, the whole bot. */
  readonly book?: string;
};

export type ProposalDeskOptions = {
  readonly bot: WhichBot;
  readonly clock: Clock;
  /** Previews any action except a reload, whose preview would reach the mailbox of the running bot. */
  readonly preview: PreviewOfAction;
  /** Returns a new id that matches `PROPOSAL_ID`. */
  readonly newId: () => string;
};

/** Maximum number of open proposals. */
export const OPEN_PROPOSALS_MAX = 5;
/** Maximum number of proposals and previews per minute, together. */
export const PROPOSALS_PER_MINUTE = 10;
/** Time after which an open proposal expires, in ms. */
export const PROPOSAL_MS = 900_000;
/** Number of decided or expired proposals that are kept; the action journal has every executed one. */
const CLOSED_KEPT = 50;
/** Maximum size of a stored preview. */
const PREVIEW_MAX = { lines: 100, characters: 500, all: 12_000 };

export class ProposalDesk {
  readonly #options: ProposalDeskOptions;
  #asked: readonly Millis[] = [];
  #isBusy = false;

  constructor(options: ProposalDeskOptions) {
    this.#options = options;
  }

  /** Returns all proposals, newest first. */
  list(): readonly ProposalStanding[] {
    return proposalsIn(this.#options.bot, this.#options.clock.now());
  }

  /**
   * Returns the effect of an action and stores nothing. Rejects with `UsageError` on an invalid request, above the rate
   * limit, or while another request is under way.
   */
  async preview(request: ProposalRequest): Promise<readonly string[]> {
    return this.#alone(async () => (await this.#draft({ ...request, reason: 'a preview of an agent' })).lines);
  }

  /**
   * Stores a proposal with its preview; the proposal is on disk when the function resolves. Rejects with `UsageError`
   * as `preview` does, or if too many proposals are open.
   */
  async propose(request: ProposalRequest): Promise<ProposalStanding> {
    return this.#alone(async () => {
      const { bot, clock, newId } = this.#options;
      this.#refuseFull();
      const id = newId();
      const { ask, lines, basis } = await this.#draft(request);
      this.#refuseFull();
      const at = clock.now();
      const box = new Mailbox(bot.stateDir, 'proposal');
      // Content as a later read returns it, so that the digest stays valid.
      const written = JSON.parse(
        box.textOf({ id, at, expiresAt: at + PROPOSAL_MS, ...ask, basis, lines, digest: '' }),
      ) as Omit<Proposal, 'id'>;
      const proposal: Proposal = { ...written, id, digest: proposalDigest(bot, { ...written, id }) };
      prune(bot, this.list());
      box.put(proposal);
      return { ...proposal, state: 'open', by: null, result: [] };
    });
  }

  #refuseFull(): void {
    const open = this.list().filter(({ state }) => state === 'open').length;
    if (open >= OPEN_PROPOSALS_MAX)
      throw new UsageError(
        `${counted(open, 'proposal is', 'proposals are')} open (maximum ${OPEN_PROPOSALS_MAX}); wait until a person decides or they expire`,
      );
  }

  async #draft(request: ProposalRequest) {
    const { bot, clock, preview, newId } = this.#options;
    stateDirOf(bot);
    const ask = checkedRequest(request);
    const file = ask.action === 'reload' ? reloadedFile(bot) : null;
    const basisNow = () => proposalBasis(bot, ask.action, file?.digest ?? null, clock.now());
    const basis = basisNow();
    const asked = { id: newId(), reason: ask.reason, by: ask.agent, via: 'agent' } as const;
    const lines =
      file === null ? await preview(askOfAgent(asked, ask, clock.now())) : changesForAgent(bot, file, clock.now());
    if (basisNow() !== basis)
      throw new UsageError('the state of the bot changed during the preview; send the request again');
    return { ask, basis, lines: cutLines(lines) };
  }

  /** Runs `work` alone and within the rate limit; otherwise rejects with `UsageError`. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const now = this.#options.clock.elapsed();
    this.#asked = this.#asked.filter(at => now - at < MINUTE_MS);
    if (this.#asked.length >= PROPOSALS_PER_MINUTE)
      throw new UsageError(`at most ${PROPOSALS_PER_MINUTE} proposals and previews per minute; wait a minute`);
    if (this.#isBusy) throw new UsageError('another proposal or preview is under way; try again when it ends');
    this.#asked = [...this.#asked, now];
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#isBusy = false;
    }
  }
}

type CheckedRequest = Omit<ProposalRequest, 'action'> & { readonly action: ProposedAction };

function checkedRequest({ action: name, reason, agent, minutes, book }: ProposalRequest): CheckedRequest {
  const action = PROPOSED_ACTIONS.find(each => each === name);
  if (action === undefined) throw new UsageError(`expected one of ${PROPOSED_ACTIONS.join(', ')}`);
  if (minutes !== null && action !== 'pause') throw new UsageError('a number of minutes is only valid for a pause');
  if (book !== undefined && !isBookAction(action))
    throw new UsageError(`${action}: applies to the whole bot; omit the book`);
  const checked = { action, reason: checkedReason(reason), agent: checkedBy(agent), minutes };
  return { ...checked, ...(book !== undefined && { book }) };
}

/**
 * Returns the first lines, so that a list of proposals has a maximum size. If lines are omitted, the last line states
 * their number.
 */
function cutLines(lines: readonly string[]): readonly string[] {
  const cut = lines.map(line => [...line].slice(0, PREVIEW_MAX.characters).join(''));
  let characters = 0;
  const past = cut.findIndex((line, at) => at >= PREVIEW_MAX.lines || (characters += line.length) > PREVIEW_MAX.all);
  return past < 0 ? cut : [...cut.slice(0, past), `and ${counted(lines.length - past, 'more line')}`];
}

/** Removes the oldest decided or expired proposals, and decisions without a proposal. */
function prune({ stateDir }: WhichBot, all: readonly ProposalStanding[]): void {
  const proposals = new NumberedMailbox(stateDir, 'proposal');
  const decisions = new NumberedMailbox(stateDir, 'decision');
  for (const { id } of all.filter(({ state }) => state !== 'open').slice(CLOSED_KEPT)) proposals.done(id);
  for (const { id } of decisions.waiting()) if (!existsSync(proposals.path(id))) decisions.done(id);
}
