/** Two bots as a user runs them, and a fleet over their consoles: figures to the digit, one snapshot a second however many ask, and a bot that is killed. */
import { writeFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { BotSummary, FleetView } from '../../../src/console/index.ts';
import { money, moneyOf, textOfMoney } from '../../../src/core/index.ts';
import { freePort } from '../../freePort.ts';
import { Bench, endPrograms, puntas, ran } from '../program.ts';

const bench = new Bench();
afterAll(async () => {
  await endPrograms();
  bench.clear();
});

const TOKENS = ['viewer-one-0123456789abcdef-01234567', 'viewer-two-0123456789abcdef-01234567'];
test('two bots on one page, and one of them killed', async () => {
  const ports = [await freePort(), await freePort()];
  const bots = ports.map((port, i) => {
    writeFileSync(bench.path(`${i}.token`), TOKENS[i]!, { mode: 0o600 });
    const config = bench.config('sandbox', text => {
      const tree = parse(text) as object;
      return stringify({ ...tree, instance: `bot${i}`, console: { port, viewerTokenFile: `./${i}.token` } });
    });
    return { config, program: puntas(['run', '-c', config]) };
  });
  for (const { program } of bots) await program.sees(/console of \S+ at http/);
  const fleet = bench.file(
    'fleet.yaml',
    stringify({
      currency: 'mxn',
      port: 0,
      bots: ports.map((port, i) => ({ name: `b${i}`, url: `http://127.0.0.1:${port}`, tokenFile: `./${i}.token` })),
    }),
  );
  const page = puntas(['fleet', '-c', fleet]);
  const [, url] = await page.sees(/fleet of 2 bots at (http:\S+)/);
  const stream = (await fetch(`${url}/live`)).body!.getReader();
  let text = '';
  /** Returns the first view of the page's stream for which `isWanted` holds. */
  const viewWhere = async (isWanted: (view: FleetView) => boolean): Promise<FleetView> => {
    for (;;) {
      const events = text.split('\n\n');
      text = events.pop()!;
      const views = events.flatMap(event =>
        event.startsWith('data: ') ? [JSON.parse(event.slice('data: '.length)) as FleetView] : [],
      );
      const found = views.find(isWanted);
      if (found !== undefined) return found;
      text += Buffer.from((await stream.read()).value as Uint8Array).toString();
    }
  };
  // Both quote, and one of them has traded.
  const view = await viewWhere(
    ({ bots: rows }) =>
      rows.every(({ bot, profit }) => bot === 'running' && profit !== null) &&
      rows.some(({ fillCount }) => (fillCount ?? 0) > 0),
  );
  const total = view.bots.reduce((sum, { ownProfit }) => sum + moneyOf(ownProfit!), 0n);
  expect(view.sums).toMatchObject([{ money: 'play', bots: 2, profit: textOfMoney(money(total)), missing: [] }]);
  expect(view.bots.map(({ instance, version, regime }) => [instance, version !== 'unknown', regime])).toEqual([
    ['bot0', true, 'normal'],
    ['bot1', true, 'normal'],
  ]);

  // However many ask, a summary is made once a second; and without the token there is none.
  const summary = async (token: string | null) =>
    fetch(`http://127.0.0.1:${ports[0]}/api/v1/summary`, {
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
    });
  const began = performance.now();
  const times = new Set<number>();
  for (let i = 0; i < 20; i++)
    for (const reply of await Promise.all(Array.from({ length: 20 }, () => summary(TOKENS[0]!)))) {
      expect(reply.status).toBe(200);
      expect(reply.headers.get('x-puntas-role')).toBe('viewer');
      times.add(((await reply.json()) as BotSummary).madeAt);
    }
  expect(times.size).toBeLessThanOrEqual(Math.ceil((performance.now() - began) / 1_000) + 1);
  expect((await summary(null)).status).toBe(401);

  const table = await ran(['fleet', '-c', fleet, '--once']);
  expect(table.code).toBe(0);
  expect(table.stdout).toMatch(/^bot +state +regime +profit +inventory +last fill\nb0 +running +normal /);
  expect(table.stdout).toMatch(/\nprofit, play money, 2 bots: [+-][\d.]+ mxn\n/);
  expect(table.stdout.split('\n').filter(line => line.length > 80)).toEqual([]);

  bots[1]!.program.signal('SIGKILL');
  // Its console ends with it.
  const { bots: rows, sums } = await viewWhere(({ bots: seen }) => seen[1]?.state === 'silent');
  expect(rows[1]?.trouble).toMatch(/^silent for \d+ s: (?:nothing listens|the connection broke off)/);
  expect(rows[1]?.profit).not.toBeNull();
  expect(sums[0]).toMatchObject({ bots: 2, stale: [{ name: 'b1' }] });
  expect(JSON.stringify(rows) + table.stdout).not.toContain(TOKENS[1]);
  await stream.cancel();
  page.signal('SIGTERM');
  expect((await page.ended).code).toBe(0);
  bots[0]!.program.signal('SIGTERM');
  expect((await bots[0]!.program.ended).code).toBe(0);
});
