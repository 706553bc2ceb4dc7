import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { folderWith, OWN_STRATEGY, quotingBy } from '../strategies/ownFile.ts';
import { keysOf } from './jsonPage.ts';
import { Bench, printed, puntas, ran } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

test('puntas reload and SIGHUP give a bot that runs its changed file, or say what is wrong with it', async () => {
  const config = bench.config();
  const change = (from: string, to: string) => writeFileSync(config, readFileSync(config, 'utf8').replace(from, to));
  const bot = puntas(['run', '-c', config]);
  await bot.sees(/"bids":3,"asks":3/);

  change('levels: 3', 'levels: 2');
  const shown = await ran(['reload', '-c', config, '--preview']);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toMatch(/^strategy\.levels: 3 -> 2\n +now +then\n {2}ask 3 +\S+ at \d+ +-\n/);
  const taken = await ran(['reload', '-c', config, '--reason', 'a test', '--json']);
  expect(taken.code).toBe(0);
  const told = printed(taken) as { readonly end: string };
  expect(Object.keys(told)).toEqual(keysOf('reload --json'));
  expect(told.end).toBe('taken');
  await bot.sees(/"bids":2,"asks":2/);

  change('instance: demo', 'instance: other');
  const refused = await ran(['reload', '-c', config]);
  expect([refused.code, refused.stdout]).toEqual([
    2,
    'instance: "demo" -> "other": takes effect only after a restart\nno change was applied; the previous configuration stays in force\n',
  ]);
  change('instance: other', 'instances: demo');
  const wrong = await ran(['reload', '-c', config]);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(/instances: unknown key; did you mean instance\?/);
  change('instances: demo', 'instance: demo');

  change('levels: 2', 'levels: 1');
  bot.signal('SIGHUP');
  await bot.sees(/reload: strategy\.levels: 2 -> 1/);
  await bot.sees(/"bids":1,"asks":1/);
  bot.signal('SIGTERM');
  expect((await bot.ended).code).toBe(0);
  const replayed = await ran(['replay', bench.path('state-1'), '--all']);
  expect(replayed.code).toBe(0);
  expect(replayed.stdout.match(/all commands identical/g)).toHaveLength(3);
  const nobody = await ran(['reload', '-c', config]);
  expect([nobody.code, nobody.stderr]).toEqual([
    1,
    expect.stringMatching(/: the bot has stopped; the bot reads the file at its next start\n/),
  ]);
});

test('a preview of a strategy file that loops ends, and the bot runs only the file of a reload', async () => {
  const { dir, yaml } = folderWith(OWN_STRATEGY);
  const bot = puntas(['run', '-c', yaml]);
  await bot.sees(/"bids":2,"asks":2/);
  const own = join(dir, 'own.ts');
  writeFileSync(own, quotingBy('for (;;);'));
  const looping = await ran(['reload', '-c', yaml, '--preview']);
  expect([looping.code, looping.stdout]).toEqual([
    2,
    expect.stringMatching(
      /^strategy\.name: "own\.ts@\w+" -> "own\.ts@\w+"\nthe preview of the strategy file failed: it did not end within 10 s; look for a loop without an end, also in a promise\nno change was applied; the previous configuration stays in force\n$/,
    ),
  ]);
  writeFileSync(own, quotingBy("console.log('heard'); process.exit(0); return silent('x');"));
  const ending = await ran(['reload', '-c', yaml, '--preview', '--json']);
  expect((printed(ending) as { readonly lines: readonly string[] }).lines.join('\n')).toContain('process.exit');
  writeFileSync(own, `${OWN_STRATEGY}// changed\n`);
  const shown = await ran(['reload', '-c', yaml, '--preview']);
  expect(shown.stdout).toMatch(
    /^strategy\.name: "own\.ts@\w+" -> "own\.ts@\w+"\n +now +then\n {2}ask 2 +\S+ at \d+ +\S+ at \d+\n/,
  );
  expect((await ran(['reload', '-c', yaml])).code).toBe(0);
  bot.signal('SIGTERM');
  expect((await bot.ended).code).toBe(0);
});
