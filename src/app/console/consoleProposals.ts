/** Proposals of agents for the console: data for its page and its API, and decisions of operators. */
import { randomInt } from 'node:crypto';
import type { ApiProposals, ConsoleProposals, ShownProposal } from '../../console/index.ts';
import { counted, type Clock } from '../../core/index.ts';
import { timeText } from '../../messages/timeText.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { actionTail } from '../actions/actionJournal.ts';
import { ProposalDesk } from '../actions/proposalDesk.ts';
import {
  proposalsIn,
  rejectProposal,
  reviewProposal,
  type PreviewOfAction,
  type ProposalStanding,
} from '../actions/proposals.ts';

/** Letters and digits of ids, without those that look alike. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const ID_LENGTH = 10;
/** Maximum number of decided or expired proposals that the page shows. */
const DECIDED_SHOWN = 3;

/** Returns a new id of a proposal. */
export const newProposalId = (): string =>
  `p-${Array.from({ length: ID_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`;

/** Returns the proposals of a bot for the API. */
export function apiProposals(bot: WhichBot, clock: Clock, preview: PreviewOfAction): ApiProposals {
  const desk = new ProposalDesk({ bot, clock, preview, newId: newProposalId });
  return {
    list: max => newestProposals(desk.list(), max).map(listedJson),
    propose: async request => proposalJson(await desk.propose(request)),
    preview: request => desk.preview(request),
  };
}

/** Maximum lines of a result in the list, and characters of a line. */
const RESULT_MAX = { lines: 5, characters: 200 };

/**
 * Returns all open proposals, and the newest closed ones until the list has `max` proposals. The list keeps the order
 * of `all`.
 */
function newestProposals(all: readonly ProposalStanding[], max: number): readonly ProposalStanding[] {
  const isOpen = ({ state }: ProposalStanding) => state === 'open';
  const closed = Math.max(0, max - all.filter(isOpen).length);
  const shown = new Set(all.filter(each => !isOpen(each)).slice(0, closed));
  return all.filter(each => isOpen(each) || shown.has(each));
}

/** Returns a proposal as JSON of bounded size. If the proposal is closed, its preview is omitted. */
function listedJson(proposal: ProposalStanding): object {
  const { preview, ...rest } = proposalJson(proposal);
  const { lines, characters } = RESULT_MAX;
  const omitted = proposal.result.length - lines;
  const result = [
    ...proposal.result.slice(0, lines).map(line => line.slice(0, characters)),
    ...(omitted > 0 ? [`and ${counted(omitted, 'more line')}`] : []),
  ];
  return { ...rest, ...(proposal.state === 'open' ? { preview } : {}), result };
}

/** Returns a proposal as JSON, with times in ISO 8601. */
export const proposalJson = ({
  at,
  expiresAt,
  lines,
  by,
  basis: _,
  ...rest
}: ProposalStanding): Readonly<Record<string, unknown>> => ({
  ...rest,
  ...{ at: timeText(at), expiresAt: timeText(expiresAt), preview: lines, decidedBy: by },
});

/** Returns the functions with which operators decide on proposals in the console. */
export function consoleProposals(
  bot: WhichBot,
  clock: Clock,
  preview: (ask: Parameters<PreviewOfAction>[0], onShare: (share: number) => void) => Promise<readonly string[]>,
): ConsoleProposals {
  return {
    prepare: async (read, by, onShare) => {
      const approver = { by, via: 'console' } as const;
      const { proposal, lines, approve } = await reviewProposal(bot, read, approver, clock, ask =>
        preview(ask, onShare),
      );
      const { action, reason, minutes, book } = proposal;
      return { lines, execute: approve, action, reason, minutes, ...(book !== undefined && { book }) };
    },
    reject: (read, by) => rejectProposal(bot, read, { by, via: 'console' }, clock.now()),
  };
}

/**
 * Returns a function that lists the proposals for the page; empty if they cannot be read. Each call reads only new
 * entries of the action journal.
 */
export function shownProposals(bot: WhichBot, clock: Clock): () => readonly ShownProposal[] {
  const acted = actionTail(bot.stateDir);
  return () => {
    const all = readable(() => proposalsIn(bot, clock.now(), acted));
    const open = all.filter(({ state }) => state === 'open');
    return [...open, ...all.filter(({ state }) => state !== 'open').slice(0, DECIDED_SHOWN)].map(
      ({ id, digest, at, expiresAt, agent, action, book, reason, minutes, state, by, lines }) => ({
        ...{ id, digest, at, expiresAt, agent, action, reason, minutes, state, by, lines },
        ...(book !== undefined && { book }),
      }),
    );
  };
}

/**
 * Returns the result of `read`; empty if a file is unreadable, because the live page must continue. The commands report
 * such a file.
 */
function readable<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch {
    return [];
  }
}
