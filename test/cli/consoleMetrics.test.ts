/** The console finds the metrics of a bot that took a free port, or one by a flag. */
import { afterAll, afterEach, expect, test } from 'vitest';
import { Bench, endPrograms, puntas } from './program.ts';

const bench = new Bench();
afterEach(endPrograms);
afterAll(() => bench.clear());

test('the console shows the request budgets of a bot whose metrics took any free port', async () => {
  const file = bench.config();
  const bot = puntas(['run', '-c', file]);
  await bot.sees(/metrics at http/);
  const page = puntas(['console', '-c', file, '--port', '0']);
  const [, url] = await page.sees(/console of \S+ at (http:\S+)/);
  const live = await fetch(`${url!}/live`);
  let told = '';
  for await (const chunk of live.body!.pipeThrough(new TextDecoderStream())) {
    told += chunk;
    if (/"budgets":\{"public":\d+/.test(told)) break;
  }
  expect(told).toMatch(/"budgets":\{"public":\d+,"private":\d+,"publicMax":\d+/);
  for (const program of [page, bot]) {
    program.signal('SIGTERM');
    expect((await program.ended).code).toBe(0);
  }
});
