/**
 * Lazy loading of commands. Loading only the file of the requested command takes a third of the time that all files
 * take. The `--help` list loads all files.
 */
import type { Command } from 'commander';
import { printError } from '../terminal/output.ts';
import { groupCommands } from '../terminal/commandGroups.ts';
import { EXAMPLES } from '../terminal/examples.ts';
import { refuseRepeated } from '../terminal/givenFlags.ts';
import { refuseUnusablePaths } from '../terminal/pathFlags.ts';

type Add = (program: Command) => void;

/** Command files. */
export const COMMAND_FILES: readonly { readonly names: readonly string[]; readonly load: () => Promise<Add> }[] = [
  { names: ['run', 'check', 'exchange', 'sentinel'], load: async () => (await import('./trade.ts')).addTradeCommands },
  { names: ['init', 'samples', 'doctor'], load: async () => (await import('./setup.ts')).addSetupCommands },
  { names: ['conformance'], load: async () => (await import('./conformance.ts')).addConformanceCommand },
  { names: ['alert'], load: async () => (await import('./remote.ts')).addAlertCommands },
  { names: ['record', 'import'], load: async () => (await import('./record.ts')).addRecordCommands },
  {
    names: ['backtest', 'calibrate'],
    load: async () => (await import('../../../backtest/commands/backtest.ts')).addBacktestCommands,
  },
  { names: ['tape', 'export'], load: async () => (await import('./tape.ts')).addTapeCommands },
  { names: ['scout'], load: async () => (await import('../../../backtest/commands/scout.ts')).addScoutCommand },
  { names: ['tune'], load: async () => (await import('../../../backtest/commands/tune.ts')).addTuneCommand },
  { names: ['promote'], load: async () => (await import('../../../backtest/commands/promote.ts')).addPromoteCommand },
  { names: ['shadow'], load: async () => (await import('../../../backtest/commands/shadow.ts')).addShadowCommand },
  { names: ['worker'], load: async () => (await import('../../../backtest/commands/worker.ts')).addWorkerCommand },
  { names: ['compare'], load: async () => (await import('../../../backtest/commands/compare.ts')).addCompareCommand },
  {
    names: ['status', 'pause', 'reduce', 'cancel', 'flatten', 'halt', 'resume'],
    load: async () => (await import('./actions.ts')).addActionCommands,
  },
  { names: ['reload'], load: async () => (await import('./reload.ts')).addReloadCommand },
  { names: ['replay', 'explain', 'hedges'], load: async () => (await import('./state.ts')).addStateCommands },
  { names: ['console'], load: async () => (await import('./console.ts')).addConsoleCommand },
  { names: ['fleet'], load: async () => (await import('./fleet.ts')).addFleetCommand },
  {
    names: ['mcp', 'proposals', 'approve', 'reject'],
    load: async () => (await import('./agents.ts')).addAgentCommands,
  },
  { names: ['remote'], load: async () => (await import('./remote.ts')).addRemoteCommand },
  { names: ['ledger'], load: async () => (await import('./ledger.ts')).addLedgerCommands },
  { names: ['report'], load: async () => (await import('./report.ts')).addReportCommand },
  {
    names: ['presence', 'surveillance'],
    load: async () => (await import('./compliance.ts')).addComplianceCommands,
  },
  { names: ['new-strategy', 'check-strategy'], load: async () => (await import('./develop.ts')).addDevelopCommands },
  { names: ['webhooks'], load: async () => (await import('./webhooks.ts')).addWebhookCommands },
];

/** Commands that place, cancel or watch orders, or record an operator's decision about money. */
export const MONEY_COMMANDS: readonly string[] = [
  ...['run', 'sentinel', 'doctor', 'conformance', 'promote', 'reload', 'hedges', 'console', 'remote'],
  ...['pause', 'reduce', 'cancel', 'flatten', 'halt', 'resume', 'approve'],
];

/**
 * Whether a command is one of `MONEY_COMMANDS`. An output failure never ends such a command, and its exit code does not
 * depend on the output.
 */
export const guardsMoney = (command: string | undefined): boolean =>
  command !== undefined && MONEY_COMMANDS.includes(command);

/**
 * Adds the command that the first argument names. Adds no command for the option `--version`. Without a known command,
 * adds all commands, so that commander lists them. An option that is given two values ends the program with an error.
 */
export async function addCommands(program: Command, args: readonly string[]): Promise<void> {
  if (args[0] === '--version' || args[0] === '-V') return;
  const { warnOfConfigs } = await import('../../wiring/configFile.ts');
  warnOfConfigs(line => printError(line));
  const asked = COMMAND_FILES.filter(({ names }) => args[0] !== undefined && names.includes(args[0]));
  for (const { load } of asked.length > 0 ? asked : COMMAND_FILES) (await load())(program);
  if (asked.length === 0) groupCommands(program);
  addExamples(program, '');
  refuseRepeated(program);
  refuseUnusablePaths(program);
}

/** Adds the examples of each command below `parent` to its `--help`. */
function addExamples(parent: Command, path: string): void {
  for (const command of parent.commands) {
    const name = `${path}${command.name()}`;
    const lines = (EXAMPLES[name] ?? []).map(([text, does]) => `  ${text}\n      ${does}`);
    if (lines.some(line => line.includes(' config/'))) lines.push('puntas samples writes the files of config/.');
    if (lines.length > 0) command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
    addExamples(command, `${name} `);
  }
}
