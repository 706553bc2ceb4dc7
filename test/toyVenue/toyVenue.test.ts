import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { replay } from '../../src/app/inspect/replayCheck.ts';
import { BotProcess, type RunResult } from '../../src/app/run/botProcess.ts';
import { VENUES } from '../../src/wiring/venueRegistry.ts';
import { loadConfig } from '../../src/config.ts';
import { Secret } from '../../src/core/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { memoryLog } from '../memoryLog.ts';
import { toy } from './client.ts';
import { ToyServer, type Mishap } from './server.ts';

// The one line that a new exchange needs outside its folder; a real one has it in src/wiring/venueRegistry.ts.
VENUES.push(toy);
afterAll(() => void VENUES.splice(VENUES.indexOf(toy), 1));

const [KEY, SECRET] = ['bot-key', 'bot-secret'];
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const yaml = (restUrl: string, dir: string) => `
book: btc_usd
instance: mm
exchange: { kind: remote, venue: toy, restUrl: '${restUrl}', requestTimeoutMs: 900, budgets: { publicPerMinute: 6000, privatePerMinute: 6000 } }
strategy: { name: ladder, halfSpreadBps: 50, levels: 1, levelSpacingBps: 1, amount: '0.1', levelAmountStep: '0', refreshToleranceBps: 20, minEdgeBps: 1, skew: { priceBpsAtLimit: 1, sizeRange: '1' } }
limits: { positionMax: '1', orderValueMax: '20000', ordersMax: 4, collarBps: 500, drawdownMax: '5000', dayLossMax: '5000' }
inventory: { target: '10' }
timing: { decideEveryMs: 50, bookPollMs: 100, privatePollMs: 200, requestDelayMaxMs: 1000, tradeReportDelayMaxMs: 500, shutdownMs: 20000 }
metrics: { port: 0 }
state: { dir: '${dir}' }
`;

/** The run that ships, over real sockets. */
async function running(mishaps: readonly Mishap[]) {
  const server = new ToyServer({ [KEY]: SECRET });
  const restUrl = await server.listen();
  ends.push(() => server.close());
  server.place('house', { way: 'B', price: '49900', qty: '1' });
  server.place('house', { way: 'S', price: '50100', qty: '1' });
  server.mishaps.push(...mishaps);
  const dir = mkdtempSync(join(tmpdir(), 'puntas-toy-'));
  ends.push(() => rmSync(dir, { recursive: true, force: true }));
  const loaded = loadConfig(yaml(restUrl, dir), 'toy.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const { log, texts } = memoryLog();
  let stop: ((why: string) => void) | null = null;
  let failed: unknown = null;
  const result: Promise<RunResult> = BotProcess.run({
    config: loaded.config,
    venue: { restUrl, key: KEY, secret: new Secret(SECRET), speed: 1 },
    clock: realClock(),
    seed: 1,
    log,
    version: 'test',
    onStarted: call => (stop = call),
  });
  result.catch((error: unknown) => (failed = error));
  const until = async (what: () => boolean) => {
    while (!what()) {
      if (failed !== null) throw failed instanceof Error ? failed : new Error(JSON.stringify(failed));
      await new Promise(resolve => setTimeout(resolve, 20));
    }
  };
  await until(() => stop !== null);
  return { server, dir, until, texts, end: () => (stop!('the test is over'), result) };
}

const sides = (server: ToyServer): string =>
  server
    .live(KEY)
    .map(({ way }) => way)
    .sort()
    .join('');

test('a second exchange is quoted on both sides, a fill comes into the ledger, and the stop leaves nothing', async () => {
  const { server, dir, until, end } = await running([]);
  await until(() => sides(server) === 'BS');
  const ask = server.live(KEY).find(({ way }) => way === 'S')!;
  // All of the house's at 50100 first.
  server.place('house', { way: 'B', price: '60000', qty: '1.2', keep: 'take' });
  await until(() => ask.end === 'done');
  const { summary, left, failure } = await end();
  expect([left, failure, sides(server)]).toEqual([[], null, '']);
  expect(summary).toMatchObject({ ledgerMatches: true, openOrdersLeft: 0 });
  expect(summary.fills).toBeGreaterThan(0);
  expect(Number(summary.position!['btc'])).toBe(Number(server.total(KEY, 'XBT')));
  expect(Number(summary.position!['usd'])).toBeCloseTo(Number(server.total(KEY, 'USD')), 9);
  const printed: string[] = [];
  expect(replay(dir, 'all', line => printed.push(line))).toBe(true);
  expect(printed.join('\n')).toMatch(/\d+ inputs, \d+ commands, all commands identical/);
});

test('an answer that is lost and a placement that comes twice are each known for an order that lives', async () => {
  const { server, until, texts, end } = await running(['lost', 'twice']);
  await until(() => sides(server) === 'BS');
  const [lost, twice] = server.rows.filter(({ owner }) => owner === KEY).map(({ tag }) => tag);
  const isKnown = (tag = '') => texts().includes(`${tag}: the exchange has reported the order; its outcome is known`);
  await until(() => isKnown(lost) && isKnown(twice) && sides(server) === 'BS');
  expect(texts()).toEqual(
    expect.arrayContaining(['place: no usable answer', 'place was rejected: refused: E_TAG_TAKEN']),
  );
  const { summary, left } = await end();
  expect([left, sides(server), summary.ledgerMatches]).toEqual([[], '', true]);
  expect(summary.orders).toMatchObject({ refused: 0 });
});

test('all of it is under six hundred lines', () => {
  const names = readdirSync(import.meta.dirname);
  const lines = names.flatMap(name =>
    readFileSync(join(import.meta.dirname, name), 'utf8')
      .split('\n')
      .slice(1),
  );
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.length).toBeLessThan(600);
});
