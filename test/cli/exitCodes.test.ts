/** Exit codes of commands, in this process: a script that reads `--json` learns from the code what a person does. */
import fs, { fstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { noteInJournal } from '../../src/app/promote/promotionJournal.ts';
import { addCommands } from '../../src/cli/commands/index.ts';
import { settleOutput } from '../../src/cli/terminal/output.ts';
import { version } from '../../src/cli/terminal/version.ts';
import { codeOf } from '../../src/messages/exits.ts';
import { shippedConfig } from '../../src/wiring/configFile.ts';
import { checked, started } from '../app/promote/records.ts';

/** Text that the commands wrote on both outputs, which stay empty. */
let told = '';
beforeAll(() => {
  const { writeSync } = fs;
  const outputs = [1, 2].map(fd => fstatSync(fd).ino);
  const write = (fd: number, bytes: Uint8Array | string, ...rest: readonly never[]): number => {
    if (!outputs.includes(fstatSync(fd).ino)) return writeSync(fd, bytes as Uint8Array, ...rest);
    told += Buffer.from(bytes as Uint8Array).toString();
    return bytes.length;
  };
  vi.spyOn(fs, 'writeSync').mockImplementation(write as never);
  syncBuiltinESMExports();
});
afterAll(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const root = mkdtempSync(join(tmpdir(), 'puntas-exit-codes-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let made = 0;

/** A live file with its state folder and the folder of its promotions, all of them new. */
function place(): { readonly live: string; readonly state: string; readonly dir: string } {
  const folder = join(root, String(++made));
  const [live, state, dir] = ['my.yaml', 'state', 'my.promotions'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(state, { recursive: true, mode: 0o700 });
  mkdirSync(dir, { mode: 0o700 });
  writeFileSync(live, readFileSync(shippedConfig('sandbox'), 'utf8').replace(/dir: .*/, `dir: ${state}`));
  return { live, state, dir };
}

/** The code with which the program would end, and the JSON object that it printed. */
async function ended(args: readonly string[]): Promise<{ readonly code: number; readonly end: string | null }> {
  told = '';
  const before = process.exitCode;
  process.exitCode = undefined;
  const program = new Command('puntas').exitOverride();
  const codeNow = async (): Promise<number> => {
    try {
      await addCommands(program, args);
      await program.parseAsync(args, { from: 'user' });
      return Number(process.exitCode ?? 0);
    } catch (error) {
      return codeOf(error);
    } finally {
      process.exitCode = before;
    }
  };
  const code = await codeNow();
  await settleOutput(Infinity);
  const json = told.split('\n').find(line => line.startsWith('{'));
  return { code, end: json === undefined ? null : (JSON.parse(json) as { end: string }).end };
}

const RESULTS = ['passed', 'failed', 'not yet'] as const;

describe('the exit code with --json is that without, and is 0 only when the step was done or shown', () => {
  /** Each command line in two new places that are alike. */
  async function endOf(line: string, make: () => string): Promise<readonly [line: string, number, string | null]> {
    const args = [...line.split(' '), ...(/preview|^promote$/.test(line) ? [] : ['--reason', 'test'])];
    const [text, json] = [await ended([...args, '-c', make()]), await ended([...args, '-c', make(), '--json'])];
    expect([line, json.code, text.end]).toEqual([line, text.code, null]);
    return [line, json.code, json.end];
  }

  test.each(RESULTS)('of puntas promote, for a stage whose criteria are %s', async result => {
    const make = (): string => {
      const { live, dir } = place();
      noteInJournal(dir, started(1, 1));
      noteInJournal(dir, { ...checked(1, 1, 'replay'), result, version: version() } as never);
      return live;
    };
    const approval = result === 'passed' ? [0, 'done'] : [2, 'refused'];
    for (const [line, ...end] of [
      ['promote approve', ...approval],
      ['promote approve replay', ...approval],
      ['promote approve --anyway', 0, 'done'],
      ['promote approve paper', 2, null],
      ['promote back', 0, 'done'],
      ['promote back --preview', 0, 'shown'],
      ['promote', 0, 'shown'],
    ] as const)
      expect(await endOf(line, make)).toEqual([line, ...end]);
  });

  test('of an action on a bot that does not run', async () => {
    for (const [line, ...end] of [
      ['pause', 0, 'done'],
      ['reduce', 0, 'done'],
      ['halt', 0, 'done'],
      ['resume', 2, 'refused'],
      ['flatten --max-cost 5', 2, 'refused'],
      ['cancel --preview', 0, 'shown'],
      ['resume --preview', 0, 'shown'],
    ] as const)
      expect(await endOf(line, () => place().live)).toEqual([line, ...end]);
  });
});
