/** The table by which only the command that is asked for is loaded: each file adds exactly the commands it stands for. */
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { addCommands, COMMAND_FILES } from '../../src/cli/commands/index.ts';

const namesIn = (program: Command) => program.commands.map(command => command.name());

describe('the commands', () => {
  test.each(COMMAND_FILES)('$names are what their file adds', async ({ names, load }) => {
    const program = new Command();
    (await load())(program);
    expect(namesIn(program)).toEqual(names);
  });

  test('a command that is asked for is added with its neighbours alone, an unknown one with all', async () => {
    const one = new Command();
    await addCommands(one, ['ledger', '--help']);
    expect(namesIn(one)).toEqual(['ledger']);
    const all = new Command();
    await addCommands(all, ['frob']);
    expect(namesIn(all)).toEqual(COMMAND_FILES.flatMap(({ names }) => names));
  });
});
