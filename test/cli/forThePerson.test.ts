/** What the command line says so that a person can go on: copied files, help, flags by name, things to copy. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { afterAll, describe, expect, test } from 'vitest';
import { NO_CONFIGURATION } from '../shippedConfigs.ts';
import { addLedgerCommands } from '../../src/cli/commands/ledger.ts';
import { faceText } from '../../src/cli/commands/trade.ts';
import { editorHelp } from '../../src/cli/terminal/editorHelp.ts';
import { tapeOf } from '../../src/cli/commands/source.ts';
import { progressBar, timeLeft } from '../../src/cli/terminal/progressBar.ts';
import { ROOT } from './program.ts';

const folder = mkdtempSync(join(tmpdir(), 'puntas-person-'));
afterAll(() => rmSync(folder, { recursive: true }));

const shipped = readdirSync(join(ROOT, 'config')).filter(
  name => name.endsWith('.yaml') && !NO_CONFIGURATION.includes(name),
);
const schemaOf = (text: string): string => /^# yaml-language-server: \$schema=(\S+)/m.exec(text)![1]!;

describe('an editor finds the keys', () => {
  test.each(shipped)('of config/%s, and of a copy of it at the top of the clone', name => {
    const named = schemaOf(readFileSync(join(ROOT, 'config', name), 'utf8'));
    const own = JSON.parse(readFileSync(resolve(ROOT, 'config', named), 'utf8')) as { properties: object };
    expect(Object.keys(own.properties)).toContain('strategy');
    const copied = JSON.parse(readFileSync(resolve(ROOT, named), 'utf8')) as { $ref: string };
    expect(resolve(ROOT, copied.$ref)).toBe(resolve(ROOT, 'config', named));
  });

  test('of a copy anywhere else once its first line says what puntas check tells it to', () => {
    const copy = join(folder, 'my.yaml');
    const text = readFileSync(join(ROOT, 'config/live.yaml'), 'utf8');
    writeFileSync(copy, text);
    const help = editorHelp(copy)!;
    expect(help).toContain('./schema.json does not exist');
    const schema = schemaOf(help);
    expect(JSON.parse(readFileSync(schema, 'utf8'))).toHaveProperty('properties.strategy');
    writeFileSync(copy, text.replace(/^# yaml-language-server.*/m, help.split('\n')[1]!));
    expect(editorHelp(copy)).toBeNull();
    expect(editorHelp(join(ROOT, 'config/live.yaml'))).toBeNull();
    writeFileSync(copy, text.replace(/^# yaml-language-server.*\n/m, ''));
    expect(editorHelp(copy)).toBeNull();
  });
});

test('the help of ledger adjust names every flag that it needs', () => {
  const program = new Command('puntas');
  addLedgerCommands(program);
  const ledger = program.commands.find(command => command.name() === 'ledger')!;
  const help = ledger.commands.find(command => command.name() === 'adjust')!.helpInformation();
  for (const flag of ['-c, --config', '--state', '--currency', '--amount', '--reason', '--by'])
    expect(help.split('Options:')[1]).toContain(flag);
  expect(help).toMatch(/^Usage: puntas ledger adjust \(-c FILE \| --state DIR\) --currency TICKER/);
});

test('a recording of two books names both, and the flag that chooses', async () => {
  const tape = join(folder, 'two');
  for (const book of ['btc_mxn', 'eth_mxn']) mkdirSync(join(tape, `book=${book}`), { recursive: true });
  await expect(tapeOf(tape)).rejects.toThrow(/has several books; choose one with --book: btc_mxn, eth_mxn$/);
});

test('how to reach the exchange is a row each on a terminal of 80 columns, and an object for programs', () => {
  const face = { url: 'http://127.0.0.1:8080', key: 'k'.repeat(32), secret: 's'.repeat(64) };
  const rows = faceText(face, true).split('\n');
  expect(rows.map(row => row.split(/ +/))).toEqual(Object.entries(face));
  expect(Math.max(...rows.map(row => row.length))).toBeLessThan(80);
  expect(JSON.parse(faceText(face, false))).toEqual(face);
});

test.each([
  ['INF', 'time left unknown'],
  ['NULL', 'time left unknown'],
  [Number.NaN, 'time left unknown'],
  [0.4, '1 s left'],
  [59, '59 s left'],
  [61, '1 min 1 s left'],
  [7_260, '2 h 1 min left'],
])('a progress bar with %j to go says: %s', (seconds, says) => {
  expect(timeLeft(seconds)).toBe(says);
});

describe('progress off a terminal', () => {
  const lines: string[] = [];
  let time = 0;
  const bar = progressBar({ write: (line: string) => lines.push(line) > 0 }, () => time);
  const work = (seconds: number) => {
    lines.length = 0;
    bar.begin(100, 'btc_mxn');
    for (const end = time + 1_000 * seconds, from = time; time < end; time += 100)
      bar.at((100 * (time - from)) / (end - from));
    bar.end();
    bar.at(100);
  };

  test('is nothing for what is done in two seconds', () => {
    work(2);
    expect(lines).toEqual([]);
  });

  test('is a line with the time left, each after twice as long as the one before', () => {
    work(20);
    expect(lines).toEqual([
      'btc_mxn: 10%, 18 s left\n',
      'btc_mxn: 20%, 16 s left\n',
      'btc_mxn: 40%, 12 s left\n',
      'btc_mxn: 80%, 4 s left\n',
    ]);
  });

  test('says after 10 s that nothing moves, at any share, with the advice of the task, until it moves again', () => {
    for (const advice of [undefined, 'look for a loop']) {
      lines.length = 0;
      bar.begin(100, 'btc_mxn', advice);
      for (const done of [0, 37]) for (let ms = 0; ms < 90_000; ms += 250, time += 250) bar.at(done);
      bar.at(38);
      time += 60_000;
      bar.at(39);
      bar.end();
      const then = advice === undefined ? '' : '; look for a loop';
      const shown = lines.map(line => line.trimEnd());
      expect(shown.slice(0, 2)).toEqual(['btc_mxn: 0%, time left unknown', 'btc_mxn: 0%, time left unknown']);
      expect(shown.filter(line => line.includes('no progress')).length).toBeGreaterThan(3);
      const between = shown.slice(3, -1).filter(line => !line.startsWith('btc_mxn: 37%, 2 min'));
      for (const line of between) expect(line).toMatch(/^btc_mxn: (?:0|37)%, no progress for \d\d s/);
      for (const line of between) expect(line.endsWith(` s${then}`)).toBe(true);
      expect(shown.at(-1)).toMatch(/^btc_mxn: 39%, .* left$/);
    }
  });

  test('is one a minute in the end', () => {
    work(3_600);
    expect(lines.length).toBeGreaterThan(60);
    expect(lines.length).toBeLessThan(66);
    expect(lines.at(-1)).toMatch(/^btc_mxn: 9\d%, \d+ s left\n$/);
  });
});
