/** The bot quotes on the double of Kraken through the client and the stream that ship, over real sockets. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { replay } from '../../src/app/inspect/stateCommands.ts';
import { BotProcess, type RunResult } from '../../src/app/run/botProcess.ts';
import { loadConfig } from '../../src/config.ts';
import { moneyOf, Secret } from '../../src/core/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { recordTrial, untriedAccounts } from '../../src/app/untried/untried.ts';
import { memoryLog } from '../memoryLog.ts';
import { KrakenDouble, type DoubleFault } from './server.ts';

const [KEY, SECRET] = ['bot-key', Buffer.from('bot secret').toString('base64')];
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const yaml = (restUrl: string, streamUrl: string, dir: string) => `
book: btc_usd
instance: mm
exchange: { kind: remote, venue: kraken, restUrl: '${restUrl}', streamUrl: '${streamUrl}', requestTimeoutMs: 900, budgets: { publicPerMinute: 60, privatePerMinute: 60 } }
strategy: { name: ladder, halfSpreadBps: 50, levels: 1, levelSpacingBps: 1, amount: '0.1', levelAmountStep: '0', refreshToleranceBps: 20, minEdgeBps: 1, skew: { priceBpsAtLimit: 1, sizeRange: '1' } }
limits: { positionMax: '1', orderValueMax: '20000', ordersMax: 4, collarBps: 500, drawdownMax: '5000', dayLossMax: '5000' }
inventory: { target: '10' }
timing: { decideEveryMs: 50, bookPollMs: 2000, privatePollMs: 3000, requestDelayMaxMs: 5000, tradeReportDelayMaxMs: 500, shutdownMs: 20000 }
metrics: { port: 0 }
state: { dir: '${dir}' }
`;

/** Starts the run that ships, with faults of the first placements. */
async function running(faults: readonly DoubleFault[]) {
  const double = new KrakenDouble({ [KEY]: SECRET });
  const { restUrl, streamUrl } = await double.listen();
  ends.push(() => double.close());
  double.exchange.house('buy', '49900', '1');
  double.exchange.house('buy', '48900', '9');
  double.exchange.house('sell', '50100', '1');
  for (const fault of faults) double.fault('AddOrder', fault);
  const dir = mkdtempSync(join(tmpdir(), 'puntas-kraken-'));
  ends.push(() => rmSync(dir, { recursive: true, force: true }));
  const loaded = loadConfig(yaml(restUrl, streamUrl, dir), 'kraken.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const venue = { restUrl: `${restUrl}/0`, streamUrl, key: KEY, secret: new Secret(SECRET), speed: 1 };
  for (const of of untriedAccounts(loaded.config, venue)) recordTrial(dir, of, 'accepted', Date.now());
  const { log, texts } = memoryLog();
  let stop: ((why: string) => void) | null = null;
  let failed: unknown = null;
  const result: Promise<RunResult> = BotProcess.run({
    config: loaded.config,
    venue,
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
  return { double, dir, until, texts, end: () => (stop!('the test is over'), result) };
}

const open = (double: KrakenDouble) =>
  double.exchange.orders.filter(({ owner, status }) => owner === KEY && status === 'open');
const sides = (double: KrakenDouble): string =>
  open(double)
    .map(({ side }) => side)
    .sort()
    .join(' ');

test('both sides are quoted, a fill comes into the ledger, a lost answer places nothing twice, and the stop leaves nothing', async () => {
  const { double, dir, until, texts, end } = await running([{ kind: 'lost after' }]);
  await until(() => texts().some(text => text.endsWith('the exchange has reported the order; its outcome is known')));
  await until(() => sides(double) === 'buy sell');
  // The order of the other traders at 49,900 comes first.
  double.exchange.house('sell', '49000', '1.05');
  await until(() => texts().some(text => text.startsWith('bought ')));
  const { summary, left, failure } = await end();
  expect([left, failure, open(double)]).toEqual([[], null, []]);
  expect(summary).toMatchObject({ ledgerMatches: true, openOrdersLeft: 0, fills: 1 });
  expect(summary.orders).toMatchObject({ refused: 0, unknown: 1 });
  const { exchange, seen } = double;
  expect(moneyOf(summary.position!['btc']!)).toBe(exchange.balance(KEY, 'XXBT'));
  expect(moneyOf(summary.position!['usd']!)).toBe(exchange.balance(KEY, 'ZUSD'));
  const ids = seen.filter(({ endpoint }) => endpoint === 'AddOrder').map(({ fields }) => fields['cl_ord_id']);
  expect(new Set(ids).size).toBe(ids.length);
  const printed: string[] = [];
  expect(replay(dir, 'all', line => printed.push(line))).toBe(true);
  expect(printed.join('\n')).toMatch(/\d+ inputs, \d+ commands, all commands identical/);
});
