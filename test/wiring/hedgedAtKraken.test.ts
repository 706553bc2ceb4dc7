/** A whole bot over real sockets: a fill on the embedded exchange is hedged on the double of Kraken. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { hedgesIn } from '../../src/app/inspect/hedges.ts';
import { replay } from '../../src/app/inspect/replayCheck.ts';
import { amount, moneyOf, price, Secret, sumOfCauses } from '../../src/core/index.ts';
import { kraken } from '../../src/exchange/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { ledgerFileIn } from '../../src/live/state/ledgerFile.ts';
import { createVenue, serve } from '../../src/sandbox/index.ts';
import { KrakenDouble } from '../krakenDouble/server.ts';
import { recordTrials, socketRun } from '../live/socketRun.ts';
import { CALM } from '../sandbox/trader.ts';

const [KEY, SECRET] = ['bot-key', Buffer.from('bot secret').toString('base64')];
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

test('a fill here is hedged at Kraken in orders of the smallest size, each sent once though the first answer is lost, and the ledger has both accounts to the last digit', async () => {
  const home = createVenue({ clock: realClock(), switches: CALM });
  const served = await serve(home, { host: '127.0.0.1', port: 0 });
  const double = new KrakenDouble({ [KEY]: SECRET });
  const there = await double.listen();
  const dir = mkdtempSync(join(tmpdir(), 'puntas-hedged-'));
  ends.push(
    () => rmSync(dir, { recursive: true, force: true }),
    () => home.close(),
    () => served.close(),
    () => double.close(),
  );
  // Ticks of 1 usd and lots of 0.00000001 btc.
  const place = home.marketplace('btc_usd');
  place.place('buy', price(49_900), amount(100_000_000), 'GTC');
  place.place('buy', price(48_900), amount(900_000_000), 'GTC');
  place.place('sell', price(50_100), amount(100_000_000), 'GTC');
  double.exchange.house('buy', '49990.1', '1');
  double.exchange.house('sell', '50010.3', '1');
  Object.assign(double.exchange.listedAfterMs, { orders: 300, trades: 600 });
  double.fault('AddOrder', { kind: 'lost after' });
  const account = home.openAccount({ balances: { btc: '10', usd: '1000000' }, volume30d: { usd: '1000' } });
  const streamUrl = served.url.replace('http', 'ws');
  const yaml = `
book: btc_usd
instance: mm
exchange: { kind: remote, restUrl: '${served.url}', streamUrl: '${streamUrl}' }
elsewhere: { kind: remote, venue: kraken, book: btc_usd, restUrl: '${there.restUrl}', streamUrl: '${there.streamUrl}', requestTimeoutMs: 2000 }
hedge: { venues: [elsewhere], band: '0.00005', residual: '0', costMaxBps: 100, elsewhere: { driftMax: '1000', debtMax: '0.01', latencyMs: 100 } }
strategy: { name: ladder, halfSpreadBps: 50, levels: 1, levelSpacingBps: 1, amount: '0.00025', levelAmountStep: '0', refreshToleranceBps: 20, minEdgeBps: 1, skew: { priceBpsAtLimit: 1, sizeRange: '1' } }
limits: { positionMax: '0.01', orderValueMax: '20000', ordersMax: 4, collarBps: 500, drawdownMax: '5000', dayLossMax: '5000' }
inventory: { target: '20' }
timing: { shutdownMs: 70000 }
metrics: { port: 0 }
state: { dir: '${dir}' }
`;
  const access = {
    ...{ restUrl: `${served.url}/api`, streamUrl, key: account.key, secret: new Secret(account.secret) },
    elsewhere: {
      ...{ venue: 'kraken', book: 'btc_usd', restUrl: kraken.restUrl(there.restUrl), streamUrl: there.streamUrl },
      ...{ key: KEY, secret: new Secret(SECRET) },
    },
  };
  recordTrials(yaml, access);
  const run = await socketRun(yaml, access);
  const own = () => home.truth().accounts.get(account.id)!;
  await run.until(() => own().live.length === 2);
  // The order of the other traders at 49,900 comes first. The rest of the fill is within the band.
  place.place('sell', price(49_000), amount(100_025_000), 'GTC');
  await run.until(() => own().trades.length === 1 && double.exchange.balance(KEY, 'XXBT') === moneyOf('9.9998'));
  await run.until(() => hedgesIn(dir).filter(({ state }) => state === 'completed').length === 2);
  const { summary, left, failure, openHedge } = await run.stop();
  expect([left, failure, openHedge, own().live]).toEqual([[], null, undefined, []]);
  expect(summary).toMatchObject({ ledgerMatches: true, openOrdersLeft: 0, fills: 1 });
  expect(summary.elsewhere).toMatchObject({ place: 'kraken', debt: '0', openOrders: 0 });

  const sent = double.seen.filter(({ endpoint }) => endpoint === 'AddOrder').map(({ fields }) => fields);
  expect(sent.map(({ type, volume, timeinforce }) => [type, Number(volume), timeinforce])).toEqual([
    ['sell', 0.0001, 'IOC'],
    ['sell', 0.0001, 'IOC'],
  ]);
  expect(new Set(sent.map(fields => fields['cl_ord_id'])).size).toBe(2);
  const { trades } = double.exchange;
  const hedged = trades.filter(({ order }) => order.owner === KEY);
  expect(hedged.map(({ cost, fee }) => [cost, fee])).toEqual(
    Array.from({ length: 2 }, () => [moneyOf('4.99901'), moneyOf('0.013')]),
  );

  const { causes } = (await ledgerFileIn(dir, realClock()))!;
  const booked = (currency: string) => sumOfCauses(causes.get(currency)!);
  expect([booked('btc'), booked('usd'), booked('btc@kraken'), booked('usd@kraken')]).toEqual([
    ...['btc', 'usd'].map(currency => own().balances.get(currency)!.total),
    ...['XXBT', 'ZUSD'].map(id => double.exchange.balance(KEY, id)),
  ]);
  // The exchange books 4.9990 for each trade.
  expect(causes.get('usd@kraken')).toMatchObject({ trades: moneyOf('9.99802'), fees: moneyOf('-0.02602') });
  const printed: string[] = [];
  expect(replay(dir, 'all', line => printed.push(line))).toBe(true);
  expect(printed.join('\n')).toMatch(/\d+ inputs, \d+ commands, all commands identical/);
});
