/** Groups of commands, in the order of a user's work. The `--help` list and the page of commands show them. */
import type { Command } from 'commander';

export const COMMAND_GROUPS: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  { title: 'Start with', names: ['run', 'init', 'check'] },
  { title: 'Set up', names: ['samples', 'doctor', 'conformance', 'webhooks', 'exchange', 'sentinel', 'alert'] },
  {
    title: 'Inspect',
    names: [
      ...['status', 'console', 'fleet', 'explain', 'report', 'ledger', 'hedges', 'replay', 'shadow'],
      ...['presence', 'surveillance'],
    ],
  },
  {
    title: 'Act',
    names: [
      ...['remote', 'mcp', 'proposals', 'approve', 'reject', 'pause', 'cancel', 'reduce', 'flatten', 'halt'],
      ...['resume', 'reload'],
    ],
  },
  { title: 'Choose and tune', names: ['scout', 'backtest', 'compare', 'calibrate', 'tune', 'worker', 'promote'] },
  { title: 'Recordings', names: ['record', 'import', 'tape', 'export'] },
  { title: 'Develop', names: ['new-strategy', 'check-strategy'] },
];

/** Groups all commands of the program in the `--help` list, in the order of `COMMAND_GROUPS`. */
export function groupCommands(program: Command): void {
  const order = COMMAND_GROUPS.flatMap(({ names }) => names);
  const placeOf = (command: Command): number => order.indexOf(command.name());
  // Commander lists the groups in the order of their first commands.
  (program.commands as Command[]).sort((a, b) => placeOf(a) - placeOf(b));
  for (const { title, names } of COMMAND_GROUPS)
    for (const command of program.commands) if (names.includes(command.name())) command.helpGroup(`${title}:`);
  // The implicit command `help` belongs to the first group.
  program.commandsGroup(`${COMMAND_GROUPS[0]?.title ?? 'Commands'}:`).helpCommand(true);
}
