/** Every path on a command line is answered in one form: the path, the problem, what to do. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { addCommands } from '../../src/cli/commands/index.ts';
import { BEFORE_STATE, pathInputs, type PathInput } from '../../src/cli/terminal/pathFlags.ts';
import { codeOf, sentenceOf } from '../../src/messages/exits.ts';
import { everyCommand } from '../docs/pages/cliReference.ts';
import { Bench, puntas, ROOT } from './program.ts';

const bench = new Bench();
const before = process.cwd();
beforeAll(() => {
  process.chdir(bench.dir);
  mkdirSync('a-folder');
  writeFileSync('a-file', 'text\n');
  writeFileSync('hidden', 'text\n');
  chmodSync('hidden', 0);
  mkdirSync('hidden-folder', { mode: 0 });
  for (const name of ['sandbox', 'live', 'paper', 'tune', 'fleet', 'promote'])
    writeFileSync(`${name}.yaml`, readFileSync(join(ROOT, `config/${name}.yaml`)));
  writeFileSync('my-strategy.ts', 'export default {};\n');
});
afterAll(() => {
  process.chdir(before);
  chmodSync(bench.path('hidden-folder'), 0o700);
  bench.clear();
});

/** Commands whose configuration is of another kind. */
const CONFIGURATIONS: Readonly<Record<string, string>> = {
  tune: 'tune.yaml',
  fleet: 'fleet.yaml',
  sentinel: 'live.yaml',
};
/** Values of the other options that a command requires. */
const VALUES: Readonly<Record<string, string>> = {
  ...{ '--queue': 'redis://127.0.0.1:9', '--amount': '1', '--reason': 'test', '--out': 'new/out.html' },
  ...{ '--from': 'a-file', '--tape': 'a-file' },
};
/** Values of arguments that a command requires. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  file: 'my-strategy.ts',
  dir: 'a-folder',
  candidate: 'paper.yaml',
};
/** Options without which the command does not come to the path. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'init file': ['--yes'],
  'export --config': ['--rows', 'fills'],
  'ledger adjust --config': ['--currency', 'btc'],
};

async function whole(args: readonly string[]): Promise<Command> {
  const program = new Command('puntas').exitOverride();
  await addCommands(program, args);
  const silent = (command: Command): void => {
    command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
    command.commands.forEach(silent);
  };
  silent(program);
  return program;
}

type Case = { readonly name: string; readonly command: Command; readonly input: PathInput };

const all = await whole([]);
const cases: readonly Case[] = everyCommand(all, '').flatMap(({ name, command }) =>
  pathInputs(command).map(input => ({ name, command, input })),
);

/** Arguments of the command with `path` in the place of the input. */
function argumentsWith({ name, command, input }: Case, path: string): readonly string[] {
  const args = name.split(' ');
  for (const [index, argument] of command.registeredArguments.entries())
    if (input.key === index) args.push(path);
    else if (argument.required) args.push(ARGUMENTS[argument.name()] ?? 'x');
  for (let at: Command | null = command; at !== null; at = at.parent)
    for (const option of at.options.filter(({ mandatory, long }) => mandatory && long !== input.name))
      args.push(
        option.long!,
        option.long === '--config' ? (CONFIGURATIONS[name] ?? 'sandbox.yaml') : (VALUES[option.long!] ?? 'x'),
      );
  if (typeof input.key === 'string') args.push(input.name, input.hasBook ? `btc_mxn=${path}` : path);
  return [...args, ...(NEEDED[`${name} ${input.name}`] ?? [])];
}

async function answered(args: readonly string[]): Promise<{ readonly code: number; readonly line: string }> {
  try {
    await (await whole(args)).parseAsync(['node', 'puntas', ...args]);
    return { code: 0, line: '' };
  } catch (error) {
    return { code: codeOf(error), line: sentenceOf(error) };
  } finally {
    // Commands that wait for signals would keep this process from its end.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.removeAllListeners(signal);
  }
}

/** Problem that each unusable path has, by the kind and use of the input. */
function problemsOf({ name, input: { kind, use, isState } }: Case): Readonly<Record<string, string>> {
  const nested = { 'a-file/x': 'a part of the path is a file, expected a folder' };
  if (use === 'write')
    return {
      ...nested,
      ...(kind === 'file' && { 'a-folder': 'a folder, expected a file' }),
      ...(kind === 'folder' && { 'a-file': 'a file, expected a folder' }),
    };
  const missing = { file: 'no such file', folder: 'no such folder', any: 'no such file or folder' }[kind];
  return {
    ...nested,
    ...(!(isState && BEFORE_STATE.includes(name)) && { missing }),
    ...(kind === 'file' && { 'a-folder': 'a folder, expected a file' }),
    ...(kind === 'folder' && { 'a-file': 'a file, expected a folder' }),
  };
}

const hiddenFrom = ({ input: { kind, use } }: Case): readonly [path: string, problem: string] =>
  use === 'write'
    ? ['hidden-folder/x', 'no permission to write']
    : [kind === 'folder' ? 'hidden-folder' : 'hidden', 'no permission to read'];

/** Whether the answer is one line of the form, with a remedy. */
const isLine = (line: string, path: string, problem: string): boolean =>
  line.startsWith(`${path}: ${problem}; `) && /; \S[^\n]+$/.test(line) && !line.includes('\n');

describe('a path on the command line that cannot serve', () => {
  test('is every option and argument whose name says file, folder, path or recording', () => {
    expect(cases.length).toBeGreaterThan(75);
    const inputs = cases.map(({ name, input }) => `${name} ${input.name}`);
    const pathLike = everyCommand(all, '').flatMap(({ name, command }) => [
      ...command.options
        .filter(({ flags }) => /[<[=][^>]*(?:file|dir|path|folder|tape)/i.test(flags.replace(/^\S+(?:, \S+)?/, '')))
        .map(({ long }) => `${name} ${long}`),
      ...command.registeredArguments
        .filter(argument => /file|dir|path|folder|tape/i.test(argument.name()))
        .map(argument => `${name} ${argument.name()}`),
    ]);
    expect(pathLike.length).toBeGreaterThan(70);
    expect(pathLike.filter(one => !inputs.includes(one))).toEqual([]);
  });

  test.each(cases.map(one => [one.name, one.input.name, one] as const))(
    '%s %s: one line, code 2',
    async (_, __, one) => {
      for (const [path, problem] of Object.entries(problemsOf(one))) {
        const { code, line } = await answered(argumentsWith(one, path));
        expect([code, isLine(line, path, problem) ? 'the form' : line], path).toEqual([2, 'the form']);
      }
    },
  );

  // Root may read every file, so this test exists only for other users; test/guard has the texts for all.
  if (process.getuid?.() !== 0)
    test('every input: without permission, one line, code 2', async () => {
      for (const one of cases) {
        const [path, problem] = hiddenFrom(one);
        const { code, line } = await answered(argumentsWith(one, path));
        expect([code, isLine(line, path, problem) ? 'the form' : line], `${one.name} ${one.input.name}`).toEqual([
          2,
          'the form',
        ]);
      }
    });

  test.each([
    [['run', '-c', 'missing.yaml'], 'missing.yaml: no such file; pass a YAML file with -c FILE'],
    [
      ['backtest', '--fill-model', 'a-folder'],
      'a-folder: a folder, expected a file; pass a readable file with --fill-model',
    ],
    [['tape', 'missing'], 'missing: no such file or folder; pass a readable file or folder as dir'],
  ])('the program answers %j', async (args, line) => {
    expect(await puntas(args, {}, { cwd: bench.dir }).ended).toEqual({ code: 2, stdout: '', stderr: `${line}\n` });
  });
});

describe('a path in a configuration that cannot serve', () => {
  const withKeys = (changes: object): string =>
    bench.file('changed.yaml', stringify({ ...(parse(readFileSync('sandbox.yaml', 'utf8')) as object), ...changes }));

  test.each([
    [
      'state.dir',
      { state: { dir: './a-file' } },
      /^\/\S+\/a-file: a file, expected a folder; correct state\.dir in \S+$/,
    ],
    [
      'paper.stateDir',
      { paper: { stateDir: './a-file' } },
      /^\/\S+\/a-file: a file, expected a folder; correct paper\.stateDir in \S+$/,
    ],
    [
      'exchange.market.dir',
      { exchange: { kind: 'embedded', market: { kind: 'tape', dir: './missing' } } },
      /^\/\S+\/missing: no such file or folder; give the path of a recording$/,
    ],
    [
      'strategy.file, missing',
      { strategy: { file: './missing.ts' } },
      /strategy\.file: \.\/missing\.ts: no such file; expected a strategy file, .*$/,
    ],
    [
      'strategy.file, a folder',
      { strategy: { file: './a-folder' } },
      /strategy\.file: \.\/a-folder: a folder, expected a file; expected a strategy file, .*$/,
    ],
  ])('%s: one line, code 2', async (_, changes, line) => {
    const told = await answered(['check', '-c', withKeys(changes)]);
    expect(told.line).toMatch(line);
    expect(told.line.split('\n').length).toBe(1);
    expect(told.code).toBe(2);
  });
});
