/** Help is one line of an imperative, and every command has examples that exist. */
import { expect, test } from 'vitest';
import { EXAMPLES } from '../../src/cli/terminal/examples.ts';
import { everyCommand, program } from './pages/cliReference.ts';

const commands = everyCommand(await program(), '');
/** Those that only hold others. */
const HOLDERS = ['alert', 'webhooks'];

test('every command says in at most 80 characters what it does, and its options in at most 120', () => {
  expect(commands.length).toBeGreaterThan(40);
  const long = commands.flatMap(({ name, command }) => [
    ...(command.description().length > 80 ? [name] : []),
    ...command.options.filter(({ description }) => description.length > 120).map(({ flags }) => `${name} ${flags}`),
  ]);
  expect(long).toEqual([]);
});

test('every command has two examples, a subcommand one, and each example names options that the command has', () => {
  const names = commands.map(({ name }) => name);
  expect(Object.keys(EXAMPLES).filter(name => !names.includes(name))).toEqual([]);
  for (const { name, command } of commands.filter(({ name }) => !HOLDERS.includes(name))) {
    const examples = EXAMPLES[name] ?? [];
    expect(examples.length, name).toBeGreaterThanOrEqual(name.includes(' ') ? 1 : 2);
    const parent =
      name.split(' ').length === 1
        ? []
        : (commands.find(one => one.name === name.split(' ')[0])?.command.options ?? []);
    const known = [...command.options, ...parent].flatMap(({ short, long }) => [short, long]);
    for (const [text] of examples) {
      expect(text.startsWith(`puntas ${name}`), text).toBe(true);
      const flags = text.replace(/"[^"]*"/g, '').match(/ --?[a-z][\w-]*/g) ?? [];
      expect(
        flags.map(flag => flag.trim()).filter(flag => !known.includes(flag)),
        text,
      ).toEqual([]);
    }
  }
});

test('the name of an operator, a reason and a preview have one text in all commands', () => {
  for (const flags of ['--by <name>', '--reason <text>', '--preview', '--book <book>', '--json']) {
    const texts = commands.flatMap(({ command }) => command.options.filter(option => option.flags === flags));
    const different = new Set(texts.map(({ description }) => description));
    expect([...different].filter(text => !/^book to use|per line$/.test(text)).length, flags).toBeLessThanOrEqual(1);
  }
});

/** Commands for which paper has nothing: no key to check, no order to watch, no deliveries; `run` has its own --paper. */
const NOT_ON_PAPER = ['run', 'sentinel', 'doctor', 'webhooks list'];

test('every command that reads a state directory has --paper with one text', () => {
  const ofState = commands.filter(({ command }) => command.options.some(({ long }) => long === '--state'));
  expect(ofState.length).toBeGreaterThan(15);
  const onPaper = ofState.filter(({ command }) =>
    command.options.some(
      ({ long, description }) => long === '--paper' && /state directory of paper runs/.test(description),
    ),
  );
  expect(
    ofState
      .filter(one => !onPaper.includes(one))
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(NOT_ON_PAPER.toSorted());
});
