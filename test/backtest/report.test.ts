/** Numbers of a report beside sums over the rows that the same run wrote, and the words that its numbers allow. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  fillLine,
  FILLS_HEADER,
  hedgeLine,
  HEDGES_HEADER,
  orderLine,
  ORDERS_HEADER,
  reportOf,
  reportPage,
  shownModels,
  tilesTextOf,
  type FillRow,
  type OrderRow,
  type ReplayedHedge,
  type ReplayReport,
} from '../../backtest/index.ts';
import { Durations } from '../../backtest/collect/distributions.ts';
import { RATIO_DAYS } from '../../backtest/collect/returns.ts';
import type { Hour } from '../../backtest/collect/hours.ts';
import { headlineOf } from '../../backtest/report/headline.ts';
import { daysOf, periodsOf } from '../../backtest/report/periods.ts';
import { verdictOf } from '../../backtest/report/summary.ts';
import { money, moneyOf, textOfMoney, type Profit } from '../../src/core/index.ts';
import { between } from '../draws.ts';
import { run, tape, type Run } from './ladderRun.ts';
import { whole } from './reports.ts';

const sum = (values: readonly number[]): number => values.reduce((total, x) => total + x, 0);
const RUNS = (['expected', 'optimistic'] as const).map(model => [model, run({ model })] as const);
const base = reportOf(tape.instrument, RUNS[0]![1].result);

describe.each(RUNS)('the report of a run under the %s model', (_, { result, fills, orders }: Run) => {
  const report = reportOf(tape.instrument, result);

  test('counts the fills and their value as its rows do', () => {
    expect(fills.length).toBeGreaterThan(10);
    expect(report.fills).toBe(fills.length);
    expect(Number(report.volume.minor)).toBeCloseTo(sum(fills.map(({ value }) => Number(value))), 4);
    expect(Number(report.volume.major)).toBeCloseTo(sum(fills.map(({ amount }) => Number(amount))), 8);
    expect(report.fillsPerDay).toBeCloseTo((fills.length * 86_400) / report.seconds, 3);
    const { placed, canceled } = report.requests;
    expect(report.orderToTrade).toBeCloseTo((placed + canceled) / fills.length, 6);
    const fees = fills.map(({ side, price, fee }) => Number(fee) * (side === 'buy' ? Number(price) : 1));
    expect(Number(report.pnl.fees)).toBeCloseTo(-sum(fees), 0);
    expect(report.feesBps).toBeCloseTo((10_000 * sum(fees)) / Number(report.volume.minor), 2);
  });

  test('values capital and a held position at the first and the last mid price that is known', () => {
    const { columns } = report.series;
    const middle = [null, 1_400_000, null, 1_500_000, null];
    const { capital, hold } = headlineOf(tape.instrument, result, { ...columns, middle });
    expect(capital).toMatchObject({ major: '2', minor: '4000000', value: 6_800_000 });
    expect(capital.returnPct).toBeCloseTo((100 * Number(report.pnl.total)) / 6_800_000, 6);
    const most = Math.max(...[...columns.positionLeast, ...columns.positionMost].map(held => Math.abs(held ?? 0)));
    expect([hold.amount, hold.total]).toEqual([most, expect.closeTo(100_000 * most, 3)]);
  });

  test('has in each bucket of time the amount and the mean price of the fills of each side', () => {
    const { fromMs, everyMs, columns } = report.series;
    const byBucket = new Map<number, (typeof fills)[number][]>();
    for (const fill of fills) {
      const bucket = Math.floor((fill.at - fromMs) / everyMs);
      byBucket.set(bucket, [...(byBucket.get(bucket) ?? []), fill]);
    }
    for (const [side, amounts, prices] of [
      ['buy', columns.bought, columns.boughtAt],
      ['sell', columns.sold, columns.soldAt],
    ] as const)
      for (const [i, amount] of amounts.entries()) {
        const own = (byBucket.get(i) ?? []).filter(fill => fill.side === side);
        const bought = sum(own.map(fill => Number(fill.amount)));
        expect(amount ?? 0).toBeCloseTo(bought, 7);
        if (own.length === 0) expect(prices[i]).toBeNull();
        else expect(prices[i]).toBeCloseTo(sum(own.map(({ value }) => Number(value))) / bought, 1);
      }
  });

  test('has for each level the orders with a fill, and those that are filled completely', () => {
    const whole_ = new Set(orders.filter(({ amount, filled }) => amount === filled).map(({ orderId }) => orderId));
    for (const level of report.levels) {
      const own = fills.filter(fill => fill.side === level.side && fill.level === level.level);
      const ids = new Set(own.map(({ orderId }) => orderId));
      expect(level.touched).toBe(ids.size);
      expect(level.filled).toBe([...ids].filter(id => whole_.has(id)).length);
      expect(level.fillRatio).toBeCloseTo(ids.size / level.orders, 8);
    }
    expect(sum(report.levels.map(({ touched }) => touched))).toBeGreaterThan(0);
  });
});

test('days have the sums of their hours, and the share of their samples with both sides quoted', () => {
  const hour = fc.record({
    looks: fc.integer({ min: 0, max: 3_600 }),
    both: between(0, 1),
    fills: fc.nat(9),
    value: fc.nat(1_000),
    gain: fc.integer({ min: -50, max: 50 }),
  });
  const profitOf = (gain: number): Profit => ({
    ...{ spread: money(BigInt(gain)), inventory: money(2n * BigInt(gain)), fees: money(1n), hedging: money(0n) },
    total: money(3n * BigInt(gain) + 1n),
  });
  const HOUR = 3_600_000;
  fc.assert(
    fc.property(fc.array(hour, { minLength: 1, maxLength: 60 }), fc.nat(23), (drawn, startsAt) => {
      const hours = drawn.map(({ looks, both, fills, value, gain }, n): Hour => ({
        ...{ from: (startsAt + n) * HOUR, to: (startsAt + n + 1) * HOUR, profit: profitOf(gain), fills, looks },
        ...{ value: money(BigInt(value)), bothLooks: Math.floor(both * looks) },
      }));
      const days = periodsOf(daysOf(hours));
      expect(new Set(days.map(({ from }) => from.slice(0, 10))).size).toBe(days.length);
      for (const day of days) {
        const own = hours.filter(({ from }) => new Date(from).toISOString().slice(0, 10) === day.from.slice(0, 10));
        const looks = sum(own.map(each => each.looks));
        const share = looks === 0 ? null : Number((sum(own.map(each => each.bothLooks)) / looks).toFixed(4));
        const totals = own.reduce((total, { profit }) => total + profit.total, 0n);
        expect(day).toMatchObject({
          ...{ seconds: own.length * 3_600, fills: sum(own.map(each => each.fills)), both: share },
          volume: textOfMoney(money(own.reduce((total, { value }) => total + value, 0n))),
          pnl: { total: textOfMoney(money(totals)) },
        });
      }
      expect(sum(days.map(({ seconds }) => seconds))).toBe(3_600 * hours.length);
    }),
    { numRuns: 60 },
  );
});

test('each number of a report is that of its own field of the run, in its own unit', () => {
  const { result } = RUNS[0]![1];
  const waits = (ms: number): Durations => {
    const durations = new Durations();
    durations.add(ms);
    return durations;
  };
  /** Durations are known to 4%. */
  const about = (seconds: number) => {
    const each: unknown = expect.toSatisfy((x: number) => Math.abs(x / seconds - 1) < 0.04);
    return { medianSeconds: each, p90Seconds: each };
  };
  const counts = (first: number) => ({
    ...{ placed: first, canceled: first + 1, filled: first + 2, refused: first + 3, unknown: first + 4 },
  });
  const { counts: of, booked } = result.snapshot;
  const { lotMoney } = tape.instrument;
  const lots = (text: string): number => Number(moneyOf(text) / lotMoney);
  const report = reportOf(tape.instrument, {
    ...{ ...result, model: 'power1', events: 11, decisions: 12, refusedPostOnly: 13, left: 14, hash: 'ab' },
    requests: { placed: 21, canceled: 22, overBudget: 23, lockedOut: 24 },
    volume: { major: '2.5', minor: '20000' },
    recorded: { ghosts: 31, crossedMs: 32_500 },
    snapshot: {
      ...{
        ...result.snapshot,
        counts: { ...of, buy: { ...of.buy, ...counts(1) }, sell: { ...of.sell, ...counts(100) } },
      },
      booked: {
        ...booked,
        fills: 33,
        holdings: new Map(['btc', 'mxn'].map((name, i) => [name, moneyOf(String(34 + i))])),
      },
    },
    hedged: {
      ...{ requests: 41, begun: 42, completed: 43, major: moneyOf('4.4'), minor: moneyOf('450'), cost: moneyOf('9') },
      elsewhere: null,
      reasons: [{ reason: 'why', hedges: 46 }],
    },
    haltedBecause: 'a halt',
    strategyFault: 'a fault',
    collected: {
      ...result.collected,
      profit: {
        ...{ spread: moneyOf('51'), inventory: moneyOf('52'), fees: moneyOf('-53'), hedging: moneyOf('-55') },
        total: moneyOf('-5'),
      },
      ...{ position: moneyOf('0.61'), positionMeanLots: lots('0.62'), drawdown: { most: moneyOf('63'), at: 64_000 } },
      returns: { sharpe: () => 65, sortino: () => 66 } as never,
      ...{ spreads: { marketBps: 67, oursBps: 68 }, quoted: { bid: 0.71, ask: 0.72, both: 0.69 } },
      ...{ requestsMost: 73, requestsAllowed: 74, queued: waits(75_000) },
      levels: [
        {
          ...{ side: 'sell', level: 3, rested: 100, restedLots: 1_000, filledLots: 250, touched: 40, filled: 30 },
          ...{ aheadLots: lots('0.81'), queued: waits(8_200), unfilled: waits(83_000) },
        },
      ],
    },
  });
  expect(report).toMatchObject({
    ...{ model: 'power1', events: 11, decisions: 12, refusedPostOnly: 13, left: 14, hash: 'ab', fills: 33 },
    orders: { placed: 101, canceled: 103, filled: 105, refused: 107, unknown: 109 },
    requests: { placed: 21, canceled: 22, overBudget: 23, lockedOut: 24, mostPerMinute: 73, allowedPerMinute: 74 },
    ...{ volume: { major: '2.5', minor: '20000' }, recorded: { ghosts: 31, crossedSeconds: 32.5 } },
    hedges: {
      ...{ requests: 41, begun: 42, completed: 43, volume: { major: '4.4', minor: '450' } },
      ...{ cost: '9', costBps: 200, notDone: [{ reason: 'why', hedges: 46 }] },
    },
    ...{ haltedBecause: 'a halt', strategyFault: 'a fault', inventory: '0.61' },
    pnl: {
      ...{ spread: '51', inventory: '52', fees: '-53', hedging: '-55' },
      total: '-5',
    },
    ...{ profitBps: -2.5, feesBps: 26.5, holdings: { btc: '34', mxn: '35' } },
    ...{ drawdown: { most: '63', at: '1970-01-01T00:01:04.000Z' }, sharpe: 65, sortino: 66 },
    ...{
      position: { meanSize: 0.62 },
      spreadBps: { market: 67, ours: 68 },
      uptime: { bid: 0.71, ask: 0.72, both: 0.69 },
    },
    levels: [
      {
        ...{ side: 'sell', level: 3, orders: 100, touched: 40, filled: 30, fillRatio: 0.4, volumeRatio: 0.25 },
        ...{ ahead: 0.81, queued: about(8.2), unfilled: about(83) },
      },
    ],
    waits: about(75),
  });
});

describe('a line of CSV has under each heading the field of that name', () => {
  const fill: FillRow = {
    ...{ tid: 't', orderId: 'o', level: 2, at: 3, heardAt: 4, side: 'buy', price: '5', amount: '6', value: '30' },
    ...{ fee: '7', feeCurrency: 'btc', midTicks: 8, held: '9' },
  };
  const order: OrderRow = {
    ...{
      orderId: 'o',
      side: 'sell',
      price: '5',
      amount: '6',
      filled: '1',
      placedAt: 2,
      endedAt: 3,
      ending: 'canceled',
    },
  };
  const hedge: ReplayedHedge = {
    ...{ id: 'h', at: 1, state: 'stranded', wanted: '2', way: 'rfq', gave: '3', gaveCurrency: 'btc', got: '4' },
    ...{ gotCurrency: 'mxn', weighedBps: 5, acceptedAt: 6, executedAt: 7, cost: '8', heardAt: 9 },
    ...{ why: 'late, and said "no"', weighed: 'rfq 5 bps, "book" 6 bps' },
  };
  const none: ReplayedHedge = {
    ...{ ...hedge, way: null, gave: null, gaveCurrency: null, got: null, gotCurrency: null, weighedBps: null },
    ...{ acceptedAt: null, executedAt: null, cost: null, why: null },
  };
  const cells = (line: string): string[] =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g)].map(([, quoted, plain = '']) =>
      quoted === undefined ? plain : quoted.replaceAll('""', '"'),
    );
  /** Headings whose words differ from the name of the field. */
  const NAMES: Readonly<Record<string, string>> = { held: 'held_since_start', id: 'hedge_id' };
  const snake = (name: string): string => NAMES[name] ?? name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);

  test.each([
    ['a fill', FILLS_HEADER, fillLine(fill), fill],
    ['a fill without a mid price', FILLS_HEADER, fillLine({ ...fill, midTicks: null }), { ...fill, midTicks: null }],
    ['an order', ORDERS_HEADER, orderLine(order), order],
    ['a hedge', HEDGES_HEADER, hedgeLine(hedge), hedge],
    ['a hedge without a route', HEDGES_HEADER, hedgeLine(none), none],
  ] as const)('%s', (_, header, line, row) => {
    const found = Object.fromEntries(header.split(',').map((name, i) => [name, cells(line)[i]]));
    const wanted = Object.entries(row).map(([name, value]) => [snake(name), String(value ?? '')]);
    expect(found).toEqual(Object.fromEntries(wanted));
    expect(cells(line)).toHaveLength(wanted.length);
  });
});

const modelled = (change: Partial<ReplayReport>): ReplayReport => ({ ...base, fills: 100, ...change });

test('what a fill kept after a minute is less its fee, and called uncertain up to two standard errors', () => {
  const number = between(-20, 20).map(x => Number(x.toFixed(2)));
  fc.assert(
    fc.property(number, between(0.1, 10), number, (mean, error, feesBps) => {
      const curve = { side: null, level: null, seconds: [0, 1, 60], bps: [0, 0, mean], errorBps: [0, 0, error] };
      const main = modelled({ markouts: [{ ...curve, fills: [9, 9, 9] }] as never, feesBps });
      const words = verdictOf(whole([main])).join(' ');
      const net = mean - feesBps;
      expect(words).toMatch(mean >= 0 ? /in favor of the fill/ : /against the fill/);
      expect(words).toMatch(net >= 0 ? /a fill gained / : /a fill lost /);
      expect(words.includes('which is less than two standard errors')).toBe(!(Math.abs(net) > 2 * error));
    }),
    { numRuns: 40 },
  );
});

test('the first screen has the drawdown as a share of the whole capital', () => {
  const capital = { major: '1', minor: '10', value: 200, returnPct: 0 };
  const tiles = tilesTextOf({ minor: 'mxn' }, modelled({ capital, drawdown: { most: '5', at: null } }));
  expect(tiles.find(({ name }) => name === 'drawdown')?.notes).toEqual(['2.5% of capital']);
});

test('the net after 60 s says that it lacks hedges, exactly if some were not on the other exchange', () => {
  const net60s = { total: 93, fills: 9, interval: null };
  const counts = { requests: 0, begun: 9, volume: { major: '1', minor: '1' }, cost: '0', costBps: 0, notDone: [] };
  for (const completed of [0, 1, 2])
    for (const there of [null, 0, 1, 2].filter(sum => (sum ?? 0) <= completed)) {
      const elsewhere = there === null ? {} : { elsewhere: { hedges: there } };
      const hedges = { ...counts, completed, ...elsewhere } as ReplayReport['hedges'];
      const [, later] = tilesTextOf({ minor: 'mxn' }, modelled({ net60s, hedges }));
      const isSaid = later!.notes.includes("without hedges on the bot's own exchange");
      expect(isSaid, `${completed} ${there}`).toBe(completed > (there ?? 0));
    }
});

test('a page shows under each name the number of that name, and the first screen too', () => {
  const main = modelled({
    ...{ uptime: { bid: 0.21, ask: 0.32, both: 0.13 }, spreadBps: { ours: 41, market: 42 }, fillsPerDay: 43 },
    requests: { ...base.requests, mostPerMinute: 51, allowedPerMinute: 52, overBudget: 53, lockedOut: 54 },
    ...{ volume: { major: '61', minor: '62' }, profitBps: 63, feesBps: 64, sharpe: 65, sortino: 66, orderToTrade: 67 },
    ...{ waits: { ...base.waits, medianSeconds: 71, p90Seconds: 172 }, refusedPostOnly: 73, inventory: '74' },
    ...{
      position: { ...base.position, meanSize: 75, mostSize: 76 },
      orders: { ...base.orders, placed: 77, canceled: 78 },
    },
    ...{ pnl: { spread: '81', inventory: '82', fees: '-83', hedging: '-84', total: '-4' } },
    netInterval: { low: -91, high: 92 },
    net60s: { total: 93, fills: 9, interval: { low: 94, high: 95 } },
    ...{ capital: { major: '1', minor: '2', value: 1_000, returnPct: 5.5 }, drawdown: { most: '96', at: null } },
    ...{ hold: { amount: 97, total: 98 }, pace: { ...base.pace, volume30d: 101, makerBps: 102 } },
  });
  const html = reportPage(whole([main]), { library: '', libraryStyle: '', script: '' });
  const text = (part: string): string =>
    part
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
  const rows = new Map(
    [...html.matchAll(/<tr>\s*<th[^>]*>([^<]*)<\/th>\s*<td[^>]*>(.*?)<\/td>/gs)].map(([, name, cell]) => [
      text(name!),
      text(cell!),
    ]),
  );
  const shown: Readonly<Record<string, string>> = {
    'net, mxn': '−4.00',
    'expected net of another run of this length, 95% interval': '−91.00 to +92.00',
    '= spread captured': '+81.00',
    '+ change in value of the inventory': '+82.00',
    '+ fees': '−83.00',
    '+ hedging': '−84.00',
    'net with each fill valued at the mid price 60 s later, mxn': '+93.00',
    'net with each fill valued at the mid price 60 s later, 95% interval': '+94.00 to +95.00',
    'net, bps of traded value': '63',
    'fees, bps of traded value': '64',
    'capital at the start, mxn': '1,000.00',
    'return on the capital at the start, %': '5.5',
    'maximum drawdown': '96.00',
    'Sharpe / Sortino ratio, annualized from returns per minute': '65 / 66',
    'traded, btc': '61',
    'traded, mxn': '62.00',
    'traded volume scaled to 30 days, mxn; maker fee at that volume, bps': '101; 102',
    'orders placed': '77',
    'order-to-trade ratio': '67',
    'mean absolute inventory, btc': '75',
    'largest absolute inventory, btc': '76',
    'share of time with a bid / an ask / both': '21.0% / 32.0% / 13.0%',
    'mean spread of the bot / of the market, bps': '41 / 42',
    'maximum requests in a minute / limit': '51 / 52',
    'requests over the limit / rejected in a lockout': '53 / 54',
    'rejected post-only orders that would have traded on arrival': '73',
  };
  expect(Object.fromEntries(Object.keys(shown).map(name => [name, rows.get(name)]))).toEqual(shown);
  const [net, later, drawdown, uptime, fills] = tilesTextOf({ minor: 'mxn' }, main);
  expect([net!.value, ...net!.notes]).toEqual(['−4.00 mxn', '95%: −91.00 to +92.00', '+5.5% on capital']);
  expect([later!.value, ...later!.notes]).toEqual(['+93.00 mxn', '95%: +94.00 to +95.00']);
  expect([drawdown!.value, ...drawdown!.notes]).toEqual(['96.00 mxn', '9.6% of capital']);
  expect([uptime!.value, ...uptime!.notes]).toEqual(['13.0%', 'bid 21.0%, ask 32.0%']);
  expect([fills!.value, fills!.notes[1]]).toEqual([
    '43',
    'traded 62.00 mxn; at this volume scaled to 30 days, the maker fee is 102 bps',
  ]);
});

test('models with equal results are one column, named and placed as they were run', () => {
  const of = (model: string, hash: string) => ({ model, hash });
  const models = [of('pessimistic', 'a'), of('optimistic', 'b'), of('expected', 'a'), of('power1', 'b')];
  expect(shownModels(models).map(({ model, label }) => [model, label])).toEqual([
    ['expected', 'pessimistic = expected'],
    ['optimistic', 'optimistic = power1'],
  ]);
});

test('a run is called too short for a yearly ratio exactly if it is', () => {
  const parts = { library: '', libraryStyle: '', script: '' };
  for (const [days, isShort] of [
    [RATIO_DAYS - 1, true],
    [RATIO_DAYS, false],
    [RATIO_DAYS + 1, false],
  ] as const) {
    const model = modelled({ seconds: days * 86_400, sharpe: null, sortino: null });
    expect(reportPage(whole([model]), parts).includes(`needs ${RATIO_DAYS} days`)).toBe(isShort);
  }
});
