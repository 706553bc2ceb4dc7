import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changedOwn, folderWith, OWN_STRATEGY, quotingBy } from '../strategies/ownFile.ts';
import { ownStrategyOnPage } from '../docs/ownStrategy.ts';
import { printed, puntas, ran, ROOT } from './program.ts';

test('check-strategy prints a line for each law, and ends with 1 if the strategy breaks one', async () => {
  const { dir } = folderWith(OWN_STRATEGY);
  const good = await ran(['check-strategy', join(dir, 'own.ts')]);
  // On a busy machine, the check says that it is still running.
  expect([good.code, good.stderr.replace(/^.*: still running; .*\n/gm, '')]).toEqual([0, '']);
  expect(good.stdout).toMatch(/^own\.ts@[0-9a-f]{12}\n(pass {2}.+\n){12}$/);
  writeFileSync(join(dir, 'own.ts'), quotingBy('return silent(String(Date.now()));'));
  const bad = await ran(['check-strategy', join(dir, 'own.ts'), '-c', join(dir, 'bot.yaml')]);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(
    /^FAIL {2}\d+ laws: threw at \S+own\.ts:\d+: this file cannot call Date\.now; use only the view and the trades \(view\.at is the time of the decision\)$/m,
  );
});

test.each([
  ['a call', quotingBy('for (;;);')],
  ['a promise of its load', `${OWN_STRATEGY}Promise.resolve().then(() => { for (;;); });\n`],
  ['a promise of a call', quotingBy("void (async () => { await null; for (;;); })(); return silent('waits');")],
])('check-strategy ends a strategy that loops in %s, and says after two seconds that it waits', async (_, code) => {
  const { dir } = folderWith(code);
  const ended = await ran(['check-strategy', join(dir, 'own.ts'), '--timeout', '3s']);
  expect(ended.code).toBe(1);
  expect(ended.stdout).toMatch(
    /^FAIL {2}ends each call: did not end within 3 s; look for a loop without an end, also in a promise$/m,
  );
  expect(ended.stdout).not.toContain('pass');
  expect(ended.stderr).toMatch(/^own\.ts@[0-9a-f]{12}: still running; the check ends after 3 s \(--timeout\)\n$/);
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

test('a backtest of a strategy file that fails names the error, in the text and in the JSON', async () => {
  const { yaml } = folderWith(
    quotingBy("flow.share += 1; if (flow.share > 20) throw new Error('no luck'); return silent('waits');"),
  );
  const args = ['backtest', '-c', yaml, '--flow-seconds', '120', '--models', 'expected'];
  const [text, json] = [await ran(args), await ran([...args, '--json'])];
  const sentence = String.raw`\.\/own\.ts:17 failed: no luck; correct the file`;
  expect([text.code, json.code, text.stdout]).toEqual([
    1,
    1,
    expect.stringMatching(new RegExp(`; did not quote as it should: ${sentence}\n`)),
  ]);
  expect(printed(json)).toMatchObject({
    models: [{ strategyFault: expect.stringMatching(new RegExp(`^${sentence}$`)) as string }],
  });
});

const WAITING = changedOwn('contract: 1,', 'contract: 1, history: () => 100_000,');

test('a backtest of a strategy file that waits for its history says so in the text, the page and the JSON', async () => {
  const { dir, yaml } = folderWith(WAITING);
  const args = ['backtest', '-c', yaml, '--flow-seconds', '150', '--models', 'expected'];
  const [text, json] = [await ran([...args, '--out', join(dir, 'report.html')]), await ran([...args, '--json'])];
  const reason = './own.ts needs the trades of 100 s';
  const sentence = `${reason}: no quotes for 99 s; --since starts later, with earlier trades`;
  for (const shown of [text.stdout, readFileSync(join(dir, 'report.html'), 'utf8')]) expect(shown).toContain(sentence);
  expect(text.stdout).toContain(`  no bid; main reason: ${reason} (99 s of 100 s)\n`);
  const { models } = JSON.parse(json.stdout) as { models: { missing: { reason: string; bidSeconds: number }[] }[] };
  const [first] = models[0]!.missing;
  expect(first!.reason).toBe(reason);
  expect(first!.bidSeconds).toBeGreaterThan(98);
  expect(first!.bidSeconds).toBeLessThan(102);
  const later = await ran([...args, '--since', '2026-01-01T00:01:45Z', '--json']);
  expect(later.stdout).not.toContain(reason);
});

test.each(['expected', 'expected,pessimistic'])(
  'a backtest of a strategy file that loops says so, with the models %s, and Ctrl-C ends it',
  async models => {
    const { yaml } = folderWith(quotingBy('for (;;);'));
    const program = puntas(['backtest', '-c', yaml, '--flow-seconds', '60', '--models', models]);
    await program.sees(/^btc_mxn: 0%, no progress for \d+ s; look for a loop without an end in \.\/own\.ts$/m);
    program.signal('SIGINT');
    expect((await program.ended).stdout).toBe('');
  },
);

test('check on the embedded exchange says that the history of a strategy file is nearly empty', async () => {
  const { stdout } = await ran(['check', '-c', folderWith(WAITING).yaml]);
  expect(stdout).toMatch(
    /^the strategy file needs the trades of 100 s, and gets \d+ trades?: the embedded exchange has just started/m,
  );
  expect((await ran(['check', '-c', folderWith(OWN_STRATEGY).yaml])).stdout).not.toContain('has just started');
});

test('check-strategy with a configuration ends a file that loops at load, and one that ends the process', async () => {
  const { dir, yaml } = folderWith('for (;;);');
  const own = join(dir, 'own.ts');
  const looping = await ran(['check-strategy', own, '-c', yaml, '--timeout', '3s']);
  expect(looping).toMatchObject({ code: 1, stderr: expect.stringMatching(/: still running; /) as string });
  expect(looping.stdout).toMatch(/^FAIL {2}ends each call: did not end within 3 s;/m);
  writeFileSync(own, quotingBy("process.exit(0); return silent('x');"));
  expect((await ran(['check-strategy', own, '-c', yaml])).stdout).toMatch(
    /^FAIL {2}\d+ laws: threw at \S*own\.ts:17: this file cannot call process\.exit$/m,
  );
  writeFileSync(own, quotingBy("process.getBuiltinModule('node:process').exit(0); return silent('x');"));
  expect(await ran(['check-strategy', own, '-c', yaml])).toMatchObject({ code: 1, stderr: '' });
  expect((await ran(['check-strategy', own, '-c', yaml])).stdout).toMatch(
    /^FAIL {2}ends each call: .*the file ended the process$/m,
  );
});

test('check ends with an error if the strategy throws', async () => {
  const { yaml } = folderWith(quotingBy("throw new Error('no luck');"));
  const { code, stderr } = await ran(['check', '-c', yaml]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/the bot would not quote: \.\/own\.ts:\d+ failed: no luck; correct the file/);
});

test('the state of a run is shown, replayed and stopped without its strategy file, whatever has become of it', async () => {
  const { dir, yaml } = folderWith(OWN_STRATEGY);
  expect((await ran(['run', '-c', yaml, '--for', '8s'])).code).toBe(0);
  const marker = join(dir, 'was-run');
  const loop = `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(marker)}, ''); for (;;);`;
  writeFileSync(join(dir, 'own.ts'), loop);
  const why = ['--reason', 'a test', '--by', 'ann'];
  for (const [args, expected] of [
    [['status'], 'not running'],
    [['replay'], 'all commands identical'],
    [['explain'], 'own.ts@'],
    [['report'], ''],
    [['ledger'], ''],
    [['hedges'], ''],
    [['presence'], ''],
    [['surveillance'], ''],
    [['pause', ...why], ''],
    [['halt', ...why], ''],
    [['halt', '--cancel', ...why], ''],
    [['resume', ...why], ''],
    [['flatten', '--preview', '--max-cost', '10', ...why], ''],
    [['reload', ...why], ''],
    [['webhooks', 'list'], ''],
    [['promote'], ''],
  ] as const) {
    const { stdout, stderr } = await ran([...args, '-c', yaml]);
    expect([args, stdout + stderr]).toEqual([args, expect.stringContaining(expected)]);
    expect([args, existsSync(marker)]).toEqual([args, false]);
  }
  // The marker shows that a file was run: it is there after a command that runs the file.
  writeFileSync(join(dir, 'own.ts'), loop.replace('for (;;);', "throw new Error('here');"));
  const check = await ran(['check-strategy', join(dir, 'own.ts')]);
  expect([check.code, existsSync(marker)]).toEqual([2, true]);
});

test('the strategy file of the page compiles with the shipped types, without those of Node', () => {
  const { dir } = folderWith(ownStrategyOnPage());
  mkdirSync(join(dir, 'node_modules'));
  symlinkSync(ROOT, join(dir, 'node_modules/puntas'));
  const compilerOptions = {
    ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom'], types: [], strict: true },
    ...{ noEmit: true, skipLibCheck: false, preserveSymlinks: true },
  };
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['own.ts'] }));
  const compiler = join(ROOT, 'node_modules/typescript-native/bin/tsc');
  const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', dir], { encoding: 'utf8' });
  expect([stdout, status]).toEqual(['', 0]);
});
