/** Commands on a state directory, with the file of another bot. */
import type { Command } from 'commander';
import { parse, stringify } from 'yaml';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyCommand, program } from '../docs/pages/cliReference.ts';
import { Bench, ran } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

const commands = everyCommand(await program(), '');
const longOf = (command: Command) => command.options.map(({ long }) => long);
/** The commands on a state directory; `run` and `doctor` check its owner themselves, and `reload` is refused by the bot. */
const OWN_CHECK = ['run', 'doctor', 'check', 'shadow'];
const onFolder = commands.filter(
  ({ name, command }) =>
    ['--config', '--state'].every(long => longOf(command).includes(long)) && !OWN_CHECK.includes(name),
);

/** A command line with everything that the command demands besides the configuration. */
const lineOf = ({ name, command }: (typeof commands)[number], file: string): string[] => [
  ...name.split(' '),
  ...command.registeredArguments.filter(({ required }) => required).map(() => 'x1'),
  ...command.options.flatMap(({ long, mandatory, defaultValue }) =>
    mandatory && defaultValue === undefined && long !== '--config' && MORE[name] === undefined ? [long!, '1'] : [],
  ),
  ...(MORE[name] ?? (command.options.some(({ long }) => long === '--reason') ? ['--reason', 'a look at it'] : [])),
  ...['-c', file],
];
/** Options that a command demands only when it runs. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  'ledger adjust': ['--currency', 'btc', '--amount', '1', '--reason', 'a look at it'],
  export: ['--out', 'x.csv', '--rows', 'fills'],
  'hedges settle': [],
};

let files: { readonly other: string; readonly onlyPaper: string };
beforeAll(async () => {
  const mine = bench.config();
  expect((await ran(['run', '-c', mine, '--for', '1s'])).code).toBe(0);
  const tree = parse(readFileSync(mine, 'utf8')) as object;
  files = {
    other: bench.file('other.yaml', stringify({ ...tree, instance: 'other' })),
    onlyPaper: bench.file('paper-only.yaml', stringify({ ...tree, paper: { only: true } })),
  };
});

test('there are at least twenty such commands', () => {
  expect(onFolder.map(({ name }) => name)).toEqual(expect.arrayContaining(['status', 'halt', 'console', 'sentinel']));
  expect(onFolder.length).toBeGreaterThanOrEqual(20);
});

test.each(onFolder.map(each => [each.name, each] as const))(
  '%s refuses the file of another bot, and without --paper a file for paper only',
  async (name, each) => {
    const [other, onlyPaper] = await Promise.all([ran(lineOf(each, files.other)), ran(lineOf(each, files.onlyPaper))]);
    const isSentinel = name === 'sentinel';
    expect([other.code, other.stderr]).toEqual([
      2,
      expect.stringMatching(
        isSentinel
          ? /a sentinel needs a remote exchange/
          : /the last run here was demo on btc_mxn at an embedded exchange, but the bot of \S+other\.yaml is other on /,
      ),
    ]);
    expect([onlyPaper.code, onlyPaper.stderr]).toEqual([
      2,
      expect.stringMatching(
        isSentinel ? /a sentinel needs a remote exchange/ : /paper trading only \(paper\.only\); add --paper/,
      ),
    ]);
  },
);
