import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BesideRun } from '../../../src/app/console/besideRun.ts';
import { startConsole } from '../../../src/app/console/console.ts';
import { botOfPast, consoleView } from '../../../src/app/console/consoleView.ts';
import { profitByTime } from '../../../src/app/console/history/journalProfit.ts';
import { LiveRun } from '../../../src/app/console/liveRun.ts';
import { PastMoments } from '../../../src/app/console/pastMoments.ts';
import type { RunReplay } from '../../../src/app/console/runReplay.ts';
import { explain } from '../../../src/app/inspect/explain.ts';
import type { Config } from '../../../src/config.ts';
import { POINT } from '../../../src/console/page/view.ts';
import {
  CAUSES,
  causesFrom,
  causesOf,
  money,
  moneyOf,
  sumOfCauses,
  textOfMoney,
  VirtualClock,
  type LedgerEntry,
  type Millis,
} from '../../../src/core/index.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { recordingsIn } from '../../../src/live/recording/recordings.ts';
import { doomed, restarted } from '../../live/crashes.ts';
import { Folders } from '../../live/states.ts';
import { worldOf } from '../../live/world.ts';

const folders = new Folders();
afterAll(() => folders.clear());
const SECOND = 1_000;

/** Two runs with two minutes between them, the first one killed. */
let dir: string;
let config: Config;
let runs: { readonly run: number; readonly from: Millis }[];
let end: Millis;
let live: LiveRun;
const clock = new VirtualClock(1_000);

beforeAll(async () => {
  const world = worldOf(83, { strategy: { refreshToleranceBps: 0.5 } });
  const first = await doomed(world, folders);
  await world.clock.advance(150 * SECOND);
  dir = first.kill();
  await world.clock.advance(120 * SECOND);
  const second = await restarted(world, dir);
  await world.clock.advance(90 * SECOND);
  await second.stop();
  await first.running.stop();
  world.end();
  config = { ...world.config, state: { dir } };
  end = explain({ dir, at: null }).at;
  live = new LiveRun(dir, clock);
  live.start();
  await clock.advance(60 * SECOND);
  runs = [...live.runs];
});
afterAll(() => live.stop());

const past = () =>
  new PastMoments(dir, clock, (replay, note) =>
    consoleView(replay, {
      ...{
        kind: 'past',
        bot: botOfPast('running'),
        runs,
        catchingUp: null,
        budgets: null,
        ledger: null,
        events: [],
        note,
      },
    }),
  );
const never = new AbortController().signal;
const viewOf = (replay: RunReplay, beside: BesideRun) =>
  consoleView(replay, {
    ...{ kind: 'live', bot: beside.bot(null), runs, catchingUp: null, budgets: null },
    ...{ ledger: beside.ledger, events: beside.events(), note: null },
  });

describe('a moment of the past', () => {
  test('is what puntas explain says of it, forwards, backwards and in another run', async () => {
    const moments = past();
    const from = runs[0]!.from;
    const asked = [from + 60 * SECOND, from + 100 * SECOND, from + 40 * SECOND, end - 5 * SECOND, from + 140 * SECOND];
    for (const at of asked) {
      const moment = await moments.at(at, runs, never, () => undefined);
      const told = explain({ dir, at });
      const { decision, ...shown } = moment!.view;
      expect([shown.at, shown.run, shown.kind]).toEqual([told.at, told.run, 'past']);
      expect(decision.levels).toEqual(told.levels);
      expect([decision.decidedAt, decision.regime.why, decision.market, decision.fair, decision.inventory]).toEqual([
        told.decidedAt,
        told.regime.why,
        told.market,
        told.fair,
        told.inventory,
      ]);
      expect(moment!.history.recent.every(([t = Infinity]) => t <= at)).toBe(true);
    }
    moments.close();
  });

  test('between two runs is how the one before ended, and before all of them there is none', async () => {
    const moments = past();
    const between = await moments.at(runs[1]!.from - 20 * SECOND, runs, never, () => undefined);
    expect(between!.view.run).toBe(runs[0]!.run);
    expect(between!.view.decision.note).toMatch(/^the bot was not running at 20/);
    const first = await moments.at(runs[0]!.from, runs, never, () => undefined);
    expect([first!.view.run, first!.view.decision.note]).toEqual([
      runs[0]!.run,
      'at the requested time, the bot was still reading its initial data; the page shows its first recorded state',
    ]);
    expect(first!.view.at - runs[0]!.from).toBeLessThan(20 * SECOND);
    expect(await moments.at(runs[0]!.from - 1, runs, never, () => undefined)).toBeNull();
    moments.close();
  });

  test('whose recording is gone is named each time it is asked for, and takes no other one with it', async () => {
    const moments = past();
    const ask = (of: typeof runs) => moments.at(end, of, never, () => undefined);
    expect(await ask(runs)).not.toBeNull();
    const gone = [{ run: 999, from: runs[0]!.from }];
    for (let i = 0; i < 2; i++) await expect(ask(gone)).rejects.toThrow('ENOENT');
    expect(await ask(runs)).not.toBeNull();
    moments.close();
  });

  test('is not replayed for who has gone', async () => {
    const moments = past();
    const gone = AbortSignal.abort();
    expect(await moments.at(end, runs, gone, () => undefined)).toBeNull();
    expect(await moments.at(end, runs, never, () => undefined)).not.toBeNull();
    moments.close();
  });
});

describe('the run that goes on', () => {
  test('is the last one, up to its end, with every run to go back to', () => {
    expect(runs.map(({ run }) => run)).toEqual(recordingsIn(dir).map(({ run }) => run));
    expect([live.replay?.run, live.catchingUp, live.trouble]).toEqual([runs[1]!.run, null, null]);
    expect(live.replay?.now?.seen.at).toBe(end);
  });

  test('shows the book with our orders in it, their places and ages, and every limit', async () => {
    const moments = past();
    const { view } = (await moments.at(end - 20 * SECOND, runs, never, () => undefined))!;
    moments.close();
    expect(view.orders.length).toBeGreaterThanOrEqual(4);
    for (const { side, price, amount, ageMs, ahead } of view.orders) {
      const row = view.depth[side === 'bid' ? 'bids' : 'asks'].find(one => one.price === price);
      expect(Number(row?.ours)).toBeGreaterThanOrEqual(Number(amount) * 0.01);
      expect(ageMs).toBeGreaterThanOrEqual(0);
      expect(ahead === null || Number(ahead) >= 0).toBe(true);
    }
    expect(view.orders.some(({ ahead }) => ahead !== null)).toBe(true);
    const prices = view.depth.bids.map(({ price }) => Number(price));
    expect(prices).toEqual([...prices].sort((a, b) => b - a));
    expect(view.limits.map(({ limit }) => limit)).toEqual(
      expect.arrayContaining(['positionMax', 'ordersMax', 'drawdownMax', 'dayLossMax']),
    );
    expect(view.point).toHaveLength(POINT.length);
    expect(view.point[POINT.indexOf('hedging')]).toBe(Number(view.profit!.hedging));
  });

  test('has the ledger of both runs, balances to the last digit, and says who lifted a halt and why', async () => {
    const beside = new BesideRun(config, clock);
    await beside.readLedger();
    expect(beside.trouble).toBeNull();
    latchIn(dir).set({ reason: 'drawdown beyond its limit', at: end - 2, by: 'bot' });
    expect(beside.bot(null).halts).toMatchObject([{ what: 'halted', reason: 'drawdown beyond its limit', by: 'bot' }]);
    latchIn(dir).lift('looked at it: a bad feed', end - 1);
    const view = viewOf(live.replay!, beside)!;
    const entries = causesFrom(beside.ledger!.entries);
    for (const { currency, balance, difference } of view.ledger!.rows) {
      expect(balance).toBe(textOfMoney(sumOfCauses(entries.get(currency) ?? causesOf({}))));
      expect(difference).toBe('0');
    }
    expect(view.events[0]).toEqual({
      at: end - 1,
      who: 'person',
      level: 'warn',
      text: 'lifted: looked at it: a bad feed',
    });
    expect(view.events[1]).toMatchObject({ who: 'bot', text: 'halted or held: drawdown beyond its limit' });
    expect(view.bot.halts).toEqual([]);
    expect(JSON.stringify(view)).not.toMatch(/null,null,null,null,null,null,null,null,null/);
  });
});

describe('profit by hour and day', () => {
  const HOUR = 3_600_000;
  const at = (hours: number) => Date.UTC(2026, 0, 1) + hours * HOUR;
  const trade = (
    n: number,
    hours: number,
    price: string,
    btc: string,
    mxn: string,
    fee: [string, string],
  ): LedgerEntry => ({
    source: `trade ${n} o${n}`,
    at: at(hours),
    why: `btc_mxn at ${price}`,
    changes: [
      { cause: 'trades', currency: 'btc', amount: moneyOf(btc) },
      { cause: 'trades', currency: 'mxn', amount: moneyOf(mxn) },
      { cause: 'fees', currency: fee[0], amount: moneyOf(fee[1]) },
    ],
  });
  const names = { book: 'btc_mxn', major: 'btc', minor: 'mxn' };
  const entries: LedgerEntry[] = [
    // What was folded together is of no hour.
    {
      source: 'brought forward 3',
      at: at(0),
      why: null,
      changes: CAUSES.map(cause => ({ cause, currency: 'mxn', amount: money(5n) })),
    },
    trade(1, 1, '100', '2', '-200', ['btc', '-0.01']),
    trade(2, 1.5, '110', '-1', '110', ['mxn', '-0.5']),
    // Of another book of the account.
    { ...trade(3, 2, '9', '1', '-9', ['mxn', '-1']), why: 'btc_brl at 9' },
    trade(4, 25, '120', '-1', '120', ['mxn', '-0.25']),
    {
      source: 'conversion 1',
      at: at(26),
      why: null,
      changes: [
        { cause: 'conversions', currency: 'mxn', amount: moneyOf('-121') },
        { cause: 'conversions', currency: 'btc', amount: moneyOf('1') },
      ],
    },
  ];

  test('marks inventory at the last fill, and adds up to what was earned', () => {
    const { hours, days } = profitByTime(entries, names, Infinity, []);
    expect(hours).toEqual([
      // Bought 2 at 100, sold 1 at 110: 10 on each, but for the 0.01 btc that its fee took at 100; and a fee of 0.5.
      {
        from: at(1),
        fills: 2,
        volume: '310.00',
        trading: '19.90',
        fees: '-1.50',
        hedging: '0.00',
        net: '18.40',
        spread: null,
        inventory: null,
      },
      {
        from: at(25),
        fills: 1,
        volume: '120.00',
        trading: '9.90',
        fees: '-0.25',
        hedging: '0.00',
        net: '9.65',
        spread: null,
        inventory: null,
      },
      {
        from: at(26),
        fills: 0,
        volume: '0.00',
        trading: '0.00',
        fees: '0.00',
        hedging: '-1.00',
        net: '-1.00',
        spread: null,
        inventory: null,
      },
    ]);
    expect(days.map(({ from, net }) => [from, net])).toEqual([
      [at(0), '18.40'],
      [at(24), '8.65'],
    ]);
  });

  test('knows nothing of what came after the moment', () => {
    expect(profitByTime(entries, names, at(1.2), []).hours.map(({ fills }) => fills)).toEqual([1]);
  });
});

describe('a console with a key in its environment', () => {
  test.each([
    'PUNTAS_API_KEY',
    'PUNTAS_API_SECRET',
    'PUNTAS_WEBHOOK_TOKEN',
    'PUNTAS_WEBHOOK_TOKEN_OLD',
    'PUNTAS_TELEGRAM_TOKEN',
    'PUNTAS_ALERT_WEBHOOK_SECRET',
    'PUNTAS_ALERT_WEBHOOK_URL',
    'PUNTAS_QUEUE_PASSWORD',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'PGPASSWORD',
  ])('does not start: %s', async name => {
    const ask = {
      config,
      bot: { stateDir: dir },
      host: '127.0.0.1',
      port: 0,
      allowedHosts: [],
      clock,
      version: '0.0.0',
      environment: { [name]: 'x', PATH: '/bin' },
    };
    await expect(startConsole(ask)).rejects.toThrow(
      `the environment of the console must not contain secrets, but contains ${name}; start the console with env -u ${name} puntas console ...`,
    );
  });
});
