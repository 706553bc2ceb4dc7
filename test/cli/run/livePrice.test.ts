/** A bot whose reference price comes from another exchange in another process, which is killed and comes back. */
import { afterAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { openExchange } from '../embeddedExchange.ts';
import { Bench, endPrograms, puntas, ran, type Program } from '../program.ts';

const bench = new Bench();
afterAll(async () => {
  await endPrograms();
  bench.clear();
});

async function exchangeAt(port: string): Promise<{ readonly there: Program; readonly url: string }> {
  const { program: there, url } = await openExchange(bench.config(), '--seed', '7', '--port', port);
  return { there, url };
}

test('quotes follow the other exchange, go within seconds when it is killed, with the reason, and return with it', async () => {
  const { there, url } = await exchangeAt('0');
  const source = {
    ...{ name: 'there', books: ['btc_mxn'], staleAfterMs: 4_000, amount: '0.01', feeBps: 2 },
    from: { venue: 'bitso', restUrl: url, streamUrl: url.replace('http', 'ws') },
  };
  // The two markets are not linked: their distance is the basis.
  const more = stringify({
    reference: { sources: [source], basis: { errorMaxBps: 15, bandBps: 500 } },
    fairValue: { withinBps: 1_000, reference: { maxDivergenceBps: 1_000, leave: { edgeBps: 1, costMaxBps: 50 } } },
  });
  const file = bench.config('sandbox', text => `${text.replace('collarBps: 200', 'collarBps: 2000')}\n${more}`);
  const bot = puntas(['run', '-c', file]);
  const [, metrics] = await bot.sees(/metrics at (http:[^"]+)/);
  await bot.sees(/bid \d+ .*ask \d+/);
  // The lag is known once a frame of the stream has the other exchange's time, which may be after the first quotes.
  let explained = await ran(['explain', '-c', file]);
  for (let again = 0; again < 20 && !explained.stdout.includes(', lag '); again++)
    explained = await ran(['explain', '-c', file]);
  expect(explained.stdout).toMatch(
    /source there: \d+(\.\d+)?, age \d+\.\d s, lag -?\d+ ms, basis -?\d+\.\d(?: ± \d+\.\d)? bps/,
  );
  expect(explained.stdout).toMatch(/price there .* basis .* depth there .* fee there .* risk until it is left .* edge/);
  expect(await (await fetch(metrics!)).text()).toContain(
    'puntas_source_state{book="btc_mxn",source="there",state="used"} 1',
  );

  const killedAt = performance.now();
  there.signal('SIGKILL');
  await there.ended;
  // A start may say this too, before the first quotes.
  await bot.sees(/ask \d+[^]*not quoting: no live price/);
  // Four reads fit into the maximum age; a busy machine needs longer.
  expect(performance.now() - killedAt).toBeLessThan(60_000);
  const status = await ran(['status', '-c', file, '--json']);
  expect(status.stdout).toContain('no live price');
  expect(status.stdout).toMatch(/there (lost|stale)/);
  expect(await (await fetch(metrics!.replace('metrics', 'readyz'))).text()).toContain('no live price');

  await exchangeAt(new URL(url).port);
  await bot.sees(/ask \d+[^]*not quoting: no live price[^]*has prices again/);
  bot.signal('SIGTERM');
  const { code, stderr } = await bot.ended;
  expect([code, /"level":(50|60)/.test(stderr)]).toEqual([0, false]);
  const replayed = await ran(['replay', '-c', file]);
  expect([replayed.code, replayed.stdout]).toEqual([0, expect.stringContaining('all commands identical')]);
});
