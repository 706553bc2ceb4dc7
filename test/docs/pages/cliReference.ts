/** Writes the page of commands from commander: one line, usage, options and examples of each. */
import { Command, type Option } from 'commander';
import { COMMAND_GROUPS } from '../../../src/cli/terminal/commandGroups.ts';
import { EXAMPLES } from '../../../src/cli/terminal/examples.ts';
import { COMMAND_FILES } from '../../../src/cli/commands/index.ts';

/** An option that this many commands have with the same text is described once. */
const SHARED_MIN = 2;

/** Every command of the program, as commander has it. */
export async function program(): Promise<Command> {
  const all = new Command('puntas');
  for (const { load } of COMMAND_FILES) (await load())(all);
  return all;
}

/** docs/cli.md as Markdown, before formatting. */
export async function cliReference(): Promise<string> {
  const all = await program();
  const shared = sharedOptions(all);
  const grouped = COMMAND_GROUPS.flatMap(({ names }) => names);
  const left = all.commands.map(command => command.name()).filter(name => !grouped.includes(name));
  if (left.length > 0) throw new Error(`in no group of src/cli/terminal/commandGroups.ts: ${left.join(', ')}`);
  const named = (name: string): Command => all.commands.find(command => command.name() === name)!;
  return [
    '<!-- Generated from src/cli/commands by `npm run docs`. A test fails when this page is not what the code says. -->',
    '# Commands',
    INTRODUCTION,
    COMMAND_GROUPS.map(
      ({ title, names }) => `- **${title}**: ${names.map(name => `[${name}](#${name})`).join(', ')}`,
    ).join('\n'),
    '## Shared options',
    'Each command lists those that it has after *Also*.',
    ['| option | meaning |', '|---|---|', ...[...shared.values()].map(option => row(option, false))].join('\n'),
    ...COMMAND_GROUPS.flatMap(({ names }) => names.flatMap(name => section(named(name), '', shared))),
  ].join('\n\n');
}

const INTRODUCTION = `Run a command as \`npx puntas <command>\`, in the container without \`npx\`. \`--help\` prints the same, with a second example.
See also [exit codes](environment.md#exit-codes) and [JSON output](json.md). For \`DIR\`, \`FILE\` and \`PATH\`, put a path of yours. [samples](#samples) writes the files in \`config/\`.`;

/** The most frequent option of each flag, where at least `SHARED_MIN` commands have it with the same text; by its identity. */
function sharedOptions(all: Command): ReadonlyMap<string, Option> {
  const counts = new Map<string, { readonly option: Option; readonly count: number }>();
  for (const { command } of everyCommand(all, '')) {
    for (const option of shown(command)) {
      const before = counts.get(identityOf(option))?.count ?? 0;
      counts.set(identityOf(option), { option, count: before + 1 });
    }
  }
  const byFlags = new Map<string, { readonly option: Option; readonly count: number }>();
  for (const found of counts.values()) {
    const { flags } = found.option;
    if (found.count >= SHARED_MIN && found.count > (byFlags.get(flags)?.count ?? 0)) byFlags.set(flags, found);
  }
  return new Map([...byFlags.values()].map(({ option }) => [identityOf(option), option] as const));
}

type Named = { readonly name: string; readonly command: Command };

/** All commands below `parent` by full name, without `puntas`. */
export const everyCommand = (parent: Command, path: string): readonly Named[] =>
  parent.commands.flatMap(command => {
    const name = `${path}${command.name()}`;
    return [{ name, command }, ...everyCommand(command, `${name} `)];
  });

const shown = (command: Command): readonly Option[] => command.options.filter(({ hidden }) => !hidden);

const identityOf = (option: Option): string => `${option.flags}|${option.description}|${defaultOf(option)}`;

function section(command: Command, path: string, shared: ReadonlyMap<string, Option>): readonly string[] {
  const name = `${path}${command.name()}`;
  const options = shown(command);
  const own = options.filter(option => !shared.has(identityOf(option)));
  const others = options.filter(option => shared.has(identityOf(option)));
  const [example] = EXAMPLES[name] ?? [];
  // The example shows enough for arguments without options.
  const usage = command.usage().startsWith('[options]') ? [] : [`puntas ${name} ${command.usage()}`];
  const screen = [...usage, ...(example === undefined ? [] : [example[0]])];
  return [
    `${path === '' ? '##' : '###'} ${name}`,
    sentenceOf(command.description()),
    ...(screen.length === 0 ? [] : [`\`\`\`text\n${screen.join('\n')}\n\`\`\``]),
    ...(own.length === 0
      ? []
      : [['| option | meaning |', '|---|---|', ...own.map(option => row(option, option.mandatory))].join('\n')]),
    ...(others.length === 0 ? [] : [`Also ${others.map(nameOf).join(', ')}.`]),
    ...command.commands.flatMap(one => section(one, `${name} `, shared)),
  ];
}

const sentenceOf = (text: string): string => escaped(`${text[0]!.toUpperCase()}${text.slice(1)}.`);

const nameOf = (option: Option): string =>
  `\`${option.short ?? option.long ?? option.flags}\`${option.mandatory ? ' (required)' : ''}`;

function row(option: Option, isRequired: boolean): string {
  const choices = option.argChoices === undefined ? '' : ` (${option.argChoices.join(', ')})`;
  const meaning = `${option.description}${choices}${isRequired ? '; **required**' : ''}${defaultOf(option)}`;
  return `| \`${option.flags.replaceAll('|', '\\|')}\` | ${escaped(meaning)} |`;
}

function defaultOf({ defaultValue, defaultValueDescription }: Option): string {
  if (defaultValueDescription === 'none' || defaultValue === undefined || defaultValue === false) return '';
  return `; default ${defaultValueDescription ?? String(defaultValue)}`;
}

/** Angle brackets would be taken for HTML, a bar for the end of a cell. */
const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '\\<');
