/** The table by which only the command that is asked for is loaded: each file adds exactly the commands it stands for. */
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { COMMAND_GROUPS } from '../../src/cli/terminal/commandGroups.ts';
import { addCommands, COMMAND_FILES } from '../../src/cli/commands/index.ts';

const namesIn = (program: Command) => program.commands.map(command => command.name());
/** With those below it. */
const allIn = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(allIn)];

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
    expect(namesIn(all).toSorted()).toEqual(COMMAND_FILES.flatMap(({ names }) => names).toSorted());
  });

  test('are listed in groups: first the three to start with, and each command once, in the order of its group', async () => {
    const all = new Command('puntas');
    await addCommands(all, []);
    const help = all.helpInformation();
    const listed = [...help.matchAll(/^(\S.*):\n((?: .*\n?)+)/gm)].slice(1).map(([, title, rows]) => ({
      title,
      names: [...rows!.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name),
    }));
    const [first, ...others] = COMMAND_GROUPS;
    expect(listed).toEqual([{ ...first, names: [...first!.names, 'help'] }, ...others]);
    expect(COMMAND_GROUPS.flatMap(({ names }) => names).toSorted()).toEqual(namesIn(all).toSorted());
  });

  test('show the values that are taken without a flag as a person writes them: times with their unit, shares in words, no empty brackets', async () => {
    const program = new Command();
    await addCommands(program, []);
    const withDefault = allIn(program).flatMap(command => {
      const help = command.createHelp();
      return command.options.flatMap(option => {
        const value = / \(default: (.*)\)$/.exec(help.optionDescription(option))?.[1];
        return value === undefined ? [] : [{ flag: `${command.name()} ${option.flags}`, value }];
      });
    });
    const isOdd = ({ flag, value }: (typeof withDefault)[number]): boolean =>
      ['[]', '""'].includes(value) ||
      (/\.\d{4}/.test(value) && !flag.includes('<decimal>')) ||
      (/<(duration|time)>/.test(flag) && !/^\d+[smh]$/.test(value));
    expect(withDefault.length).toBeGreaterThan(30);
    expect(withDefault.filter(isOdd)).toEqual([]);
    expect(withDefault).toContainEqual({ flag: 'worker --grace <duration>', value: '20s' });
  });
});
