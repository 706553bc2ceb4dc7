import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changedOwn, folderWith, OWN_STRATEGY, quotingBy } from '../strategies/ownFile.ts';
import { ran } from './program.ts';

test('check-strategy prints a line for each law, and ends with 1 if the strategy breaks one', async () => {
  const { dir } = folderWith(OWN_STRATEGY);
  const good = await ran(['check-strategy', join(dir, 'own.ts')]);
  expect([good.code, good.stderr]).toEqual([0, '']);
  expect(good.stdout).toMatch(/^own\.ts@[0-9a-f]{12}\n(pass {2}.+\n){8}$/);
  writeFileSync(join(dir, 'own.ts'), quotingBy('return silent(String(Date.now()));'));
  const bad = await ran(['check-strategy', join(dir, 'own.ts'), '-c', join(dir, 'bot.yaml')]);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(/^FAIL {2}reads no clock.*: calls Date\.now; the time of a decision is view\.at$/m);
});

test('check-strategy ends a strategy that loops', async () => {
  const { dir } = folderWith(quotingBy('for (;;);'));
  const { code, stdout } = await ran(['check-strategy', join(dir, 'own.ts'), '--timeout', '3s']);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^FAIL {2}ends each call: did not end within 3 s; look for a loop without an end$/m);
});

test('a file that is no strategy ends each command with 2 and one line with its place', async () => {
  const { dir, yaml } = folderWith(changedOwn('contract: 1', 'contract: 7'));
  const line = /own\.ts: expected contract: 1, found 7; this Puntas runs strategies of contract 1 only\n$/;
  for (const args of [
    ['check-strategy', join(dir, 'own.ts')],
    ['check', '-c', yaml],
    ['run', '-c', yaml],
    ['backtest', '-c', yaml],
  ]) {
    const { code, stdout, stderr } = await ran(args);
    expect([args[0], code, stdout]).toEqual([args[0], 2, '']);
    expect(stderr).toMatch(line);
    expect(stderr.split('\n').length).toBe(2);
  }
});

test('check shows the quotes of a strategy file and its hash', async () => {
  const { yaml } = folderWith(OWN_STRATEGY);
  const { code, stdout } = await ran(['check', '-c', yaml]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/# strategy file: own\.ts@[0-9a-f]{12}\n/);
  expect(stdout).toMatch(/bid 0\.00600000 at \d+ = fair value: mid [\d.]+ takers [+-][\d.]+ spread -/);
  expect(stdout).not.toContain('defineStrategy');
});

test('a backtest of a strategy file names the file and its hash in the report, and repeats itself', async () => {
  const { yaml } = folderWith(OWN_STRATEGY);
  const run = () => ran(['backtest', '-c', yaml, '--flow-seconds', '120', '--models', 'expected', '--json']);
  const [one, other] = [await run(), await run()];
  expect([one.code, other.code]).toEqual([0, 0]);
  expect(one.stdout).toMatch(/"strategy":\s?"own\.ts@[0-9a-f]{12}"/);
  expect(other.stdout).toBe(one.stdout);
});
