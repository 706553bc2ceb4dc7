/** A bot whose strategy file never returns, from a call or from a timer that the file starts: real processes. */
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

/** Starts the embedded exchange, and writes a configuration for it whose strategy file has this body of `quote`. */
async function remoteBot(body: string, keys: object = {}) {
  const exchange = puntas(['exchange', '--port', '0', '-c', bench.config()]);
  const face = JSON.parse((await exchange.sees(/\{"url".*\}/))[0]) as Record<string, string>;
  const access = { PUNTAS_API_KEY: face['key']!, PUNTAS_API_SECRET: face['secret']! };
  const own = join(mkdtempSync(join(tmpdir(), 'puntas-loop-')), 'own.ts');
  writeFileSync(own, quotingBy(body));
  const config = bench.config('sandbox', text => {
    const { skew: _, ...tree } = parse(text) as Record<string, unknown>;
    return stringify({
      ...tree,
      strategy: { file: own, halfSpreadBps: 16, amount: '0.006' },
      exchange: { kind: 'remote', restUrl: face['url'], streamUrl: face['stream'] },
      ...keys,
    });
  });
  const status = async () => (await ran(['status', '-c', config], access)).stdout.replace(/\s+/g, ' ');
  return { access, config, status };
}

// Not `flow.share`, which each trade sets.
const COUNTED = 'const seen = flow as { calls?: number }; seen.calls = (seen.calls ?? 0) + 1;';
const QUOTE = 'return around(p, lots, view, [...fairSteps(view)]);';

test('a loop in a call empties both sides within seconds, and the bot obeys signals, a halt and the next start', async () => {
  const { access, config, status } = await remoteBot(`${COUNTED} while (seen.calls > 60); ${QUOTE}`);
  const bot = puntas(['run', '-c', config], access);
  await bot.sees(/"msg":"quoting"/);
  await bot.sees(/own\.ts failed: quote: expected an end within 2 s, found none; look for a loop without an end;/);
  expect(await status()).toMatch(
    /: runs since .*no bid and no ask: held back by the strategy \(\S*own\.ts failed: quote:/,
  );
  bot.signal('SIGTERM');
  // The clean end verifies that no order is left.
  expect((await bot.ended).code).toBe(0);
  const again = puntas(['run', '-c', config], access);
  await again.sees(/"msg":"quoting"/);
  again.signal('SIGINT');
  expect((await again.ended).code).toBe(0);
});

test('a loop in a timer of the file freezes the bot: the sentinel cancels its orders, and trading stays halted', async () => {
  const { access, config, status } = await remoteBot(
    `${COUNTED} if (seen.calls === 60) setTimeout(() => { for (;;); }); ${QUOTE}`,
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
