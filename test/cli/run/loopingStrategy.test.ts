/** A bot whose strategy file never returns, from a call or from a promise that waits: real processes. */
import { afterAll, expect, test } from 'vitest';
import { Bench, endPrograms, puntas, ran } from '../program.ts';
import { COUNTED, QUOTE, strategyFileBot } from './strategyFileBot.ts';

const bench = new Bench();
afterAll(async () => {
  await endPrograms();
  bench.clear();
});

test('a loop in a call empties both sides within seconds, and the bot obeys signals, a halt and the next start', async () => {
  const { access, config, status } = await strategyFileBot(bench, `${COUNTED} while (seen.calls > 60); ${QUOTE}`);
  const bot = puntas(['run', '-c', config], access);
  await bot.sees(/"msg":"quoting"/);
  await bot.sees(/own\.ts failed: quote: expected an end within 2 s, found none; look for a loop without an end;/);
  expect(await status()).toMatch(/: runs since .* regime paused since [^:]*:\d\d:\d\d UTC: \S*own\.ts failed: quote:/);
  bot.signal('SIGTERM');
  // The clean end verifies that no order is left.
  expect((await bot.ended).code).toBe(0);
  const again = puntas(['run', '-c', config], access);
  await again.sees(/"msg":"quoting"/);
  again.signal('SIGINT');
  expect((await again.ended).code).toBe(0);
});

test('a wait in a promise of the file, which computes nothing, leaves the frozen bot to its sentinel, which halts it', async () => {
  const { access, config, status } = await strategyFileBot(
    bench,
    `${COUNTED} if (seen.calls === 60) Promise.resolve().then(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)); ${QUOTE}`,
    { sentinel: { ttlMs: 5_000 } },
  );
  const bot = puntas(['run', '-c', config], access);
  const sentinel = puntas(['sentinel', '-c', config], access);
  await bot.sees(/"msg":"quoting"/);
  await sentinel.sees(/no open orders of \S+ left; trading stays halted/);
  // The sentinel looks about once a second, and later on a busy machine, so that it sees at least the five seconds.
  const halted = /held by halt by the sentinel since .*: the bot has shown no life for (\d+) s; frozen:/;
  expect(Number(halted.exec(await status())?.[1])).toBeGreaterThanOrEqual(5);
  const pointer =
    /NO HEARTBEAT .* the bot's process \d+ exists but does not react; .* loop in the strategy file own\.ts@/;
  let shown = '';
  // It counts as silent after fifteen seconds.
  for (let i = 0; i < 100 && !pointer.test(shown); i++) shown = await status();
  expect(shown).toMatch(pointer);
  const halt = await ran(['halt', '-c', config, '--reason', 'it froze'], access);
  expect([halt.code, halt.stdout]).toEqual([0, expect.stringMatching(/^NO HEARTBEAT for \d+ s, .* kill -9 \d+;/m)]);
  bot.signal('SIGKILL');
  await bot.ended;
  expect(await status()).toMatch(/no open orders, verified by the sentinel/);
});
