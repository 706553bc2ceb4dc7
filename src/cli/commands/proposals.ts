/** Commands with which a person decides about proposals of agents: proposals, approve, reject. */
import type { Command } from 'commander';
import { previewAction } from '../../app/actions/previewAction.ts';
import { proposalsIn, rejectProposal, reviewProposal, type ProposalStanding } from '../../app/actions/proposals.ts';
import { proposalJson } from '../../app/console/consoleProposals.ts';
import { progress } from '../../app/inspect/explain.ts';
import { ownName } from '../../app/inspect/ledger.ts';
import { realClock } from '../../live/realClock.ts';
import { EXIT } from '../../messages/exits.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { timeText } from '../../messages/timeText.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { saysYes, terminal } from '../terminal/ask.ts';
import { print, writeError } from '../terminal/output.ts';
import { ofBot, whichBot, type BotFlags } from './botFlags.ts';

type DecisionFlags = BotFlags & { readonly by?: string; readonly digest?: string };

/** Adds the commands. Wrong use is a `UsageError`, also a proposal that cannot be approved. */
export function addProposalCommands(program: Command): void {
  ofBot(program.command('proposals').description('list proposals of agents'))
    .option('--json', 'print one JSON object', false)
    .action((options: BotFlags & { json: boolean }) => {
      const all = proposalsIn(whichBot(options), realClock().now());
      if (options.json) print(JSON.stringify({ proposals: all.map(proposalJson) }));
      else print(all.length === 0 ? 'no proposals' : all.map(proposalText).join('\n\n'));
    });
  decision(program.command('approve').description('preview a proposal, and execute it if confirmed')).action(approve);
  decision(program.command('reject').description('reject a proposal')).action((id: string, options: DecisionFlags) => {
    const bot = whichBot(options);
    const { digest } = proposalOf(bot, id);
    const by = options.by ?? ownName();
    rejectProposal(bot, { id, digest: options.digest ?? digest }, { by, via: 'command' }, realClock().now());
    print(`rejected: ${id}`);
  });
}

const decision = (command: Command): Command =>
  ofBot(command.argument('<id>', 'id of the proposal'))
    .option('--by <name>', 'your name for the record (default: your login)')
    .option('--digest <text>', 'digest that you have read (default: ask)');

async function approve(id: string, options: DecisionFlags): Promise<void> {
  const bot = whichBot(options);
  const clock = realClock();
  const found = proposalOf(bot, id);
  const by = options.by ?? ownName();
  const asked = terminal();
  if (options.digest === undefined && !asked.isThere)
    throw new UsageError('approve asks for confirmation, and there is no terminal; pass --digest as you have read it');
  try {
    const read = { id, digest: options.digest ?? found.digest };
    const review = await reviewProposal(bot, read, { by, via: 'command' }, clock, async ask => {
      const { lines } = await previewAction(bot, ask, clock, progress(clock, writeError));
      return lines;
    });
    print([proposalText({ ...found, lines: [] }), 'effect now:', ...review.lines.map(line => `  ${line}`)].join('\n'));
    if (options.digest === undefined && !saysYes(await asked.ask(`approve as ${by}? (yes/no) `)))
      throw new UsageError('not approved; the proposal stays open');
    const { end, lines } = await review.approve();
    if (end === 'refused') throw new UsageError(lines, EXIT.misused);
    print(lines.join('\n'));
  } finally {
    asked.close();
  }
}

function proposalOf(bot: WhichBot, id: string): ProposalStanding {
  const found = proposalsIn(bot, realClock().now()).find(each => each.id === id);
  if (found === undefined) throw new UsageError(`${id}: no such proposal; list them with puntas proposals`);
  return found;
}

const proposalText = ({
  id,
  state,
  by,
  action,
  minutes,
  agent,
  reason,
  at,
  expiresAt,
  digest,
  lines,
}: ProposalStanding) =>
  [
    `${id}: ${action}${minutes === null ? '' : ` for ${minutes} minutes`}, ${state}${by === null ? '' : ` by ${by}`}`,
    `  agent: ${agent} (not verified), at ${timeText(at)}, expires ${timeText(expiresAt)}`,
    `  reason: ${reason}`,
    `  digest: ${digest}`,
    ...lines.map(line => `  ${line}`),
  ].join('\n');
