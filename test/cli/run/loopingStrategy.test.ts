/** A bot whose strategy file never returns from a call, with its sentinel: real processes. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { quotingBy } from '../../strategies/ownFile.ts';
import { Bench, endPrograms, puntas, ran } from '../program.ts';

const bench = new Bench();
afterAll(async () => {
  await endPrograms();
  bench.clear();
});

test('the sentinel cancels the orders of a bot whose strategy loops, and trading stays halted', async () => {
  const exchange = puntas(['exchange', '--port', '0', '-c', bench.config()]);
  const face = JSON.parse((await exchange.sees(/\{"url".*\}/))[0]) as Record<string, string>;
  const keys = { PUNTAS_API_KEY: face['key']!, PUNTAS_API_SECRET: face['secret']! };
  const own = join(mkdtempSync(join(tmpdir(), 'puntas-loop-')), 'own.ts');
  // Not `flow.share`, which each trade sets.
  const counted = 'const seen = flow as { calls?: number }; seen.calls = (seen.calls ?? 0) + 1;';
  const looping = 'while (seen.calls > 60); return around(p, lots, view, [...fairSteps(view)]);';
  writeFileSync(own, quotingBy(`${counted} ${looping}`));
  const config = bench.config('sandbox', text => {
    const { skew: _, ...tree } = parse(text) as Record<string, unknown>;
    return stringify({
      ...tree,
      strategy: { file: own, halfSpreadBps: 16, amount: '0.006' },
      exchange: { kind: 'remote', restUrl: face['url'], streamUrl: face['stream'] },
      sentinel: { ttlMs: 5_000 },
    });
  });
  const bot = puntas(['run', '-c', config], keys);
  const sentinel = puntas(['sentinel', '-c', config], keys);
  await bot.sees(/"msg":"quoting"/);
  await sentinel.sees(/no open orders of \S+ left; trading stays halted/);
  const status = async () => (await ran(['status', '-c', config], keys)).stdout.replace(/\s+/g, ' ');
  // The sentinel looks about once a second, and later on a busy machine, so that it sees at least the five seconds.
  const halted = /held by halt by the sentinel since .*: the bot has shown no life for (\d+) s; frozen:/;
  expect(Number(halted.exec(await status())?.[1])).toBeGreaterThanOrEqual(5);
  bot.signal('SIGKILL');
  await bot.ended;
  expect(await status()).toMatch(/no open orders, verified by the sentinel/);
});
