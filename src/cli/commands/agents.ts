/**
 * Commands for AI agents: `mcp` serves an agent over the Model Context Protocol; with the other commands, operators
 * decide on its proposals.
 */
import { Option, type Command } from 'commander';
import { keepHarmless } from '../../app/run/childProcess.ts';
import { CONSOLE_DEFAULTS } from '../../config.ts';
import { counted, Secret, textOfError } from '../../core/index.ts';
import { realClock } from '../../live/realClock.ts';
import { EXIT } from '../../messages/exits.ts';
import { checkedBy } from '../../messages/reason.ts';
import { readConfig } from '../../wiring/configFile.ts';
import { refuseOpenInspector } from '../../wiring/safeProcess.ts';
import { readSecretFile } from '../../wiring/secretFiles.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { seedNumber, several } from '../terminal/flags.ts';
import { outputStream, print, writeError } from '../terminal/output.ts';
import { signalsToStop, untilStopped } from '../terminal/signals.ts';
import { version } from '../terminal/version.ts';
import { previewAction } from '../../app/actions/previewAction.ts';
import { proposalsIn, rejectProposal, reviewProposal, type ProposalStanding } from '../../app/actions/proposals.ts';
import { proposalJson } from '../../app/console/consoleProposals.ts';
import { progress } from '../../app/inspect/explain.ts';
import { ownName } from '../../app/inspect/ledger.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { timeText } from '../../messages/timeText.ts';
import { saysYes, terminal } from '../terminal/ask.ts';
import { ofBot, whichBot, type BotFlags } from './botFlags.ts';

type McpFlags = {
  config: string;
  console?: string;
  tokenFile?: string;
  agent: string;
  files: readonly string[];
  callsPerMinute: number;
};

/** Default and maximum of `--calls-per-minute`, the limit on an agent's calls. */
const CALLS = { default: 60, max: 1_000_000 };

/** Adds the commands. They reject with `UsageError` on wrong use, or if a proposal cannot be approved or rejected. */
export function addAgentCommands(program: Command): void {
  addMcp(program);
  addProposals(program);
}

/**
 * Adds `mcp`, which runs until its input ends. Rejects with `UsageError` on wrong use, an operator token, or a secret
 * in the environment.
 */
function addMcp(program: Command): void {
  program
    .command('mcp')
    .description('let an AI agent read the bot and propose actions (MCP)')
    .requiredOption('-c, --config <file>', 'configuration of the bot')
    .option('--console <url>', 'console address (default: console.host, console.port)')
    .option('--token-file <file>', 'viewer token (default: console.viewerTokenFile)')
    .option('--agent <name>', 'name of the agent in proposals', 'agent')
    .addOption(
      new Option('--files <dir>', 'folder with files for backtests (repeatable)')
        .argParser(several)
        .default([], 'none'),
    )
    .option('--calls-per-minute <n>', 'maximum calls per minute', seedNumber, CALLS.default)
    .action(async (flags: McpFlags) => {
      const signals = signalsToStop('leaving', EXIT.clean);
      const { SECRETS } = await import('../../app/console/pageProcess.ts');
      const secrets = Object.keys(process.env).filter(name => SECRETS.test(name));
      if (secrets.length > 0)
        throw new UsageError(
          `the environment of an agent must not contain secrets, but contains ${secrets.join(', ')}; start the agent without them`,
        );
      refuseOpenInspector();
      keepHarmless(process.env);
      const agent = checkedBy(flags.agent);
      const { callsPerMinute, files: folders } = flags;
      if (!(callsPerMinute >= 1 && callsPerMinute <= CALLS.max))
        throw new UsageError(`--calls-per-minute: expected a number from 1 to ${CALLS.max}`);
      const given = readConfig(flags.config);
      const { console: page } = given;
      const { host, port } = { ...CONSOLE_DEFAULTS, ...page };
      const tokenFile = flags.tokenFile ?? page?.viewerTokenFile;
      if (tokenFile === undefined)
        throw new UsageError(
          `${flags.config}: an agent needs the token of a viewer; set console.viewerTokenFile, or pass --token-file`,
        );
      const { AgentConsole } = await import('../../app/mcp/agentConsole.ts');
      const client = new AgentConsole(flags.console ?? urlOf(host, port), tokenIn(tokenFile));
      const { serveAgent } = await import('../../app/mcp/agentServer.ts');
      const { BacktestTool } = await import('../../app/mcp/backtestTool.ts');
      const { docsPages } = await import('../../app/mcp/docsPages.ts');
      const pages = docsPages();
      const clock = realClock();
      const stop = new AbortController();
      void untilStopped(signals).then(() => stop.abort());
      await serveAgent(
        {
          ...{ client, agent, callsPerMinute, clock, version: version(), pages: () => pages },
          backtest: new BacktestTool({ main: process.argv[1]!, folders, environment: { ...process.env }, clock }),
          ...{ input: process.stdin, output: outputStream() },
        },
        stop.signal,
      );
      process.exit(EXIT.clean);
    });
}

const urlOf = (host: string, port: number): string =>
  `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`;

function tokenIn(file: string): Secret {
  try {
    const text = readSecretFile(file).trim();
    // An invalid token would appear in the error about an invalid header.
    if (!/^[\x21-\x7e]{32,512}$/.test(text))
      throw new Error('expected a token of 32 to 512 printable ASCII characters without blanks');
    return new Secret(text);
  } catch (error) {
    throw new UsageError(`${file}: ${textOfError(error)}; pass a viewer token with --token-file`);
  }
}

type DecisionFlags = BotFlags & { readonly by?: string; readonly digest?: string };

/** Adds the commands for operators: `proposals`, `approve` and `reject`. */
function addProposals(program: Command): void {
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
    .option('--digest <text>', 'digest that you have read; approve then does not ask');

async function approve(id: string, options: DecisionFlags): Promise<void> {
  const bot = whichBot(options);
  const clock = realClock();
  const found = proposalOf(bot, id);
  const by = options.by ?? ownName();
  const asked = terminal();
  if (options.digest === undefined && !asked.isThere)
    throw new UsageError(
      'approve needs a terminal to confirm; without one, pass --digest with the digest that you reviewed',
    );
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
  book,
  minutes,
  agent,
  reason,
  at,
  expiresAt,
  digest,
  lines,
}: ProposalStanding) =>
  [
    `${id}: ${action}${book === undefined ? '' : ` ${book}`}${minutes === null ? '' : ` for ${counted(minutes, 'minute')}`}, ${state}${by === null ? '' : ` by ${by}`}`,
    `  agent: ${agent} (not verified), at ${timeText(at)}, expires ${timeText(expiresAt)}`,
    `  reason: ${reason}`,
    `  digest: ${digest}`,
    ...lines.map(line => `  ${line}`),
  ].join('\n');
