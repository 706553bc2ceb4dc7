/**
 * A bot whose strategy file loops in a promise or a timer, at its load or later: the process ends itself, and the next
 * start runs the file only after a resume. Real processes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { readConfig } from '../../../src/wiring/configFile.ts';
import { Bench, endPrograms, puntas, ran } from '../program.ts';
import { COUNTED, QUOTE, strategyFileBot } from './strategyFileBot.ts';

const bench = new Bench();
afterAll(async () => {
  await endPrograms();
  bench.clear();
});

const FROZE =
  /^the strategy file (own\.ts@[0-9a-f]{12}) froze the bot with a loop in a timer or promise; trading is halted, and this process ends itself; .* puntas halt --cancel -c \S+ --reason "\.\.\."; correct the file and start the bot, which names the key that approves the corrected file, then: puntas resume -c \S+ --reason "\.\.\."$/m;

test('a loop in a promise ends the bot, whose next start cancels its orders and runs only a corrected file after a resume', async () => {
  const loop = 'if (seen.calls === 15) void (async () => { await null; for (;;); })();';
  const { access, config, own, status } = await strategyFileBot(bench, `${COUNTED} ${loop} ${QUOTE}`);
  const bot = puntas(['run', '-c', config], access);
  await bot.sees(/"msg":"quoting"/);
  // A signal has no effect on a frozen process, and the end does not need one.
  const { code, stderr } = await bot.ended;
  expect(stderr).not.toContain('debugger');
  expect(code).toBe(3);
  const name = FROZE.exec(stderr)![1]!;
  const { state } = readConfig(config);
  const reason = `the strategy file ${name} froze the bot with a loop in a timer or promise`;
  expect(latchIn(state.dir).read()).toMatchObject({ reason, by: 'bot' });
  expect(await status()).toContain(`held by halt by the bot since `);

  const refused = await ran(['run', '-c', config], access);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(
    `own.ts: ${reason}, and trading is halted; correct the file, or end the halt with npx puntas resume to run it again`,
  );
  // The refused start has canceled the orders of the frozen bot.
  expect(refused.stderr).toMatch(
    /; canceled \d orders? of the last run; two reads of the open orders show none left$/m,
  );
  expect(refused.stderr).not.toMatch(/"msg":"quoting"/);

  writeFileSync(own, readFileSync(own, 'utf8').replace(loop, ''));
  const { sha256 } = readConfig(config).strategy as { readonly sha256: string };
  writeFileSync(config, readFileSync(config, 'utf8').replace('halfSpreadBps', `sha256: ${sha256}\n  halfSpreadBps`));
  const corrected = puntas(['run', '-c', config], access);
  await corrected.sees(/halted: the strategy file \S+ froze the bot/);
  expect((await ran(['resume', '-c', config, '--reason', 'corrected'], access)).code).toBe(0);
  await corrected.sees(/"msg":"quoting"/);
  corrected.signal('SIGTERM');
  expect((await corrected.ended).code).toBe(0);
});

test('a loop in a timer ends the bot, and a loop at the load of the file ends its start', async () => {
  const loop = "process.getBuiltinModule('node:timers').setTimeout(() => { for (;;); }, 1);";
  const { access, config, own } = await strategyFileBot(bench, `${COUNTED} if (seen.calls === 15) ${loop} ${QUOTE}`);
  const bot = puntas(['run', '-c', config], access);
  await bot.sees(/"msg":"quoting"/);
  const ended = await bot.ended;
  expect([ended.code, ended.stderr]).toEqual([3, expect.stringMatching(FROZE)]);

  writeFileSync(own, `${readFileSync(own, 'utf8')}Promise.resolve().then(() => { for (;;); });\n`);
  const started = bench.path('never-started');
  const atLoad = await ran(['run', '-c', config, '--state', started], access);
  expect([atLoad.code, atLoad.stderr]).toEqual([
    3,
    expect.stringMatching(/froze the bot with .*: puntas resume --state \S+never-started --reason/),
  ]);
  const refused = await ran(['run', '-c', config, '--state', started], access);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringMatching(/froze the bot .* trading is halted; correct/),
  ]);
});
