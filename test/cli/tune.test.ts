/** `puntas tune` as a user runs it: on one thread and two, killed and begun again, and with its holdout. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { Tuning } from '../../backtest/index.ts';
import { keysOfStudy } from '../backtest/app/tune/studies.ts';
import { Bench, complaints, printed, puntas, ran, ROOT } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

const study = (name: string, other: object = {}): string => bench.file(`${name}.yaml`, stringify(keysOfStudy(other)));
const linesOf = (registry: string): readonly string[] => {
  const file = join(registry, 'trials.jsonl');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
};
/** What a registry holds but for when it was written. */
const trialsIn = (registry: string): readonly string[] =>
  linesOf(registry)
    .filter(line => line.includes('"kind":"trial"'))
    .map(line => line.replace(/"at":"[^"]*",/, ''))
    .sort();
const withPruning = { search: { algorithm: 'tpe', seed: 3, trials: 12, batch: 4 }, pruning: { startAfterTrials: 3 } };

describe('puntas tune', () => {
  test('on one thread and on two has the same trials, the same ranking and the same evidence', async () => {
    const file = study('threads', withPruning);
    const [one, two] = [bench.path('one'), bench.path('two')];
    const first = await ran(['tune', '-c', file, '--registry', one, '--threads', '1', '--json']);
    const second = await ran(['tune', '-c', file, '--registry', two, '--threads', '2', '--json']);
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(second.stdout).toBe(first.stdout);
    expect(trialsIn(two)).toEqual(trialsIn(one));
    const tuning = printed(first) as Tuning;
    expect(tuning.ranking.length).toBeGreaterThan(1);
    expect(tuning.counts.pruned).toBeGreaterThan(0);
    const [, section = ''] = readFileSync(join(ROOT, 'docs/json.md'), 'utf8').split('## `puntas tune --json`');
    const told = section.split('\n## ')[0] ?? '';
    const keys = [
      ...Object.keys(tuning),
      ...Object.keys(tuning.evidence!),
      ...Object.keys(tuning.trials[0]!),
      ...Object.keys(tuning.counts),
    ];
    for (const key of keys) expect(told).toContain(`\`${key}\``);
  });

  test('killed with -9 and begun again makes every trial once, and ends as if it had not been killed', async () => {
    const file = study('killed', withPruning);
    const [killed, whole] = [bench.path('killed'), bench.path('one')];
    const program = puntas(['tune', '-c', file, '--registry', killed, '--json']);
    while (trialsIn(killed).length < 5) await new Promise(resolve => setTimeout(resolve, 20));
    program.signal('SIGKILL');
    await program.ended;
    const before = trialsIn(killed).length;
    expect(before).toBeLessThan(12);
    const again = await ran(['tune', '-c', file, '--registry', killed, '--json']);
    const straight = await ran(['tune', '-c', file, '--registry', whole, '--json']);
    expect(again.stdout).toBe(straight.stdout);
    expect(trialsIn(killed)).toEqual(trialsIn(whole));
    expect(new Set(trialsIn(killed)).size).toBe(12);
  });

  test('opens the holdout once, shows all of it, and writes a configuration that puntas check takes', async () => {
    const file = study('opened');
    const [page, yaml] = [bench.path('tuned.html'), bench.path('made/best.yaml')];
    const flags = ['--registry', bench.path('opened'), '--out', page, '--yaml', yaml, '--anyway'];
    const { code, stdout } = await ran(['tune', '-c', file, ...flags, '--open-holdout']);
    expect(code).toBe(0);
    const tuning = JSON.parse(readFileSync(bench.path('tuned.json'), 'utf8')) as Tuning;
    expect(stdout).toMatch(tuning.verdict.better ? /^Trial \d+ is better than not/ : /^No trial is better than not/);
    expect(stdout.replaceAll('\n', ' ')).toMatch(/The holdout was opened by \S+@\S+ at 20/);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(Math.max(80, page.length + 40));
    expect(readFileSync(page, 'utf8')).toContain('<h1>Tuning ladder on btc_mxn</h1>');
    const checked = await ran(['check', '-c', yaml]);
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringMatching(/bid [\d.]+ at \d+/)]);
    const again = await ran(['tune', '-c', file, ...flags, '--open-holdout']);
    expect([again.code, complaints(again)]).toEqual([
      2,
      [expect.stringMatching(/^the holdout was opened by \S+@\S+ at 20.*, and can be opened only once/)],
    ]);
  });

  test('writes no configuration where no trial is better than not trading, unless it is asked for', async () => {
    const file = study('nothing');
    const [registry, yaml] = [bench.path('nothing'), bench.path('none.yaml')];
    const ended = await ran(['tune', '-c', file, '--registry', registry, '--yaml', yaml]);
    expect([ended.code, ended.stdout]).toEqual([0, expect.stringMatching(/^No trial is better than not trading: /)]);
    expect(ended.stdout).toContain(`${yaml} was not written: no trial is better than not trading`);
    expect(existsSync(yaml)).toBe(false);
    await ran(['tune', '-c', file, '--registry', registry, '--yaml', yaml, '--anyway']);
    expect(readFileSync(yaml, 'utf8')).toContain('# No trial is better than not trading: ');
    expect((await ran(['check', '-c', yaml])).code).toBe(0);
  });

  test.each([
    [['-c', '/nowhere.yaml'], /^\/nowhere\.yaml: no such file; pass a study with -c FILE/],
    [
      ['-c', 'config/tune.yaml', '--out', 'page.txt'],
      /^--out: expected a name that ends in \.html, found "page\.txt"$/,
    ],
    [['-c', 'config/tune.yaml', '--tapes', 'tapes'], /^--tapes needs --queue URL$/],
    [['-c', 'config/tune.yaml', '--queue', 'http://x'], /^--queue: expected redis:.*; found http:\/\/$/],
    [['-c', 'config/tune.yaml', '--anyway'], /^--anyway needs --yaml FILE$/],
    [['-c', 'config/sandbox.yaml'], /^config\/sandbox\.yaml:\d+:\d+ /],
  ])('with %s is clear at once', async (flags, line) => {
    const ended = await ran(['tune', '--registry', bench.path('unused'), ...flags]);
    expect(ended.code).toBe(2);
    expect(complaints(ended)[0]).toMatch(line);
    expect(existsSync(bench.path('unused'))).toBe(false);
  });
});

test.each([
  [
    { PUNTAS_API_KEY_FILE: '/run/secrets/key' },
    /^a worker must not have an API key, but PUNTAS_API_KEY_FILE is in its environment/,
  ],
  [{}, /^redis:\/\/127\.0\.0\.1:1: connection refused; check that Redis is running/],
])('puntas worker with %o says in one line why it does not begin', async (environment, line) => {
  const ended = await ran(['worker', '--queue', 'redis://127.0.0.1:1'], environment);
  expect([ended.code, complaints(ended)]).toEqual([2, [expect.stringMatching(line)]]);
});
