/** What a bot earned by day, and its fills and ledger for other programs: the same sums as the ledger's, to the last digit. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import {
  CAUSES,
  causesFrom,
  money,
  moneyOf,
  multiplyMoneyFloor,
  sumOfCauses,
  type Cause,
  type Change,
  type LedgerEntry,
  type Money,
  type ProfitSinceOpening,
} from '../../../src/core/index.ts';
import { exportLedger } from '../../../src/app/inspect/exportLedger.ts';
import { ledger } from '../../../src/app/inspect/ledger.ts';
import { earnedBy, isOpeningEntry, profitBy, type ProfitSums } from '../../../src/app/inspect/ledgerProfit.ts';
import { entryRows, bookedFill } from '../../../src/app/inspect/exportColumns.ts';
import {
  briefReport,
  profitReport,
  reportJson,
  reportText,
  roundedMoney,
  volumeDecimals,
} from '../../../src/app/inspect/profitReport.ts';
import { ledgerFileIn, type LedgerFile } from '../../../src/live/state/ledgerFile.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { keysOf } from '../../cli/jsonPage.ts';
import { restarted } from '../../live/crashes.ts';
import { Folders } from '../../live/states.ts';
import { started, worldOf, type World } from '../../live/world.ts';
import { sized } from '../../many.ts';

const folders = new Folders();
const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));
afterAll(() => folders.clear());

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 20, 22);
const BTC_MXN = { book: 'btc_mxn', major: 'btc', minor: 'mxn' };
const change = (cause: Cause, currency: string, amount: string | bigint): Change => ({
  ...{ cause, currency, amount: typeof amount === 'string' ? moneyOf(amount) : money(amount) },
});

const fileOf = (entries: readonly LedgerEntry[]): LedgerFile => ({
  ...{
    entries,
    causes: causesFrom(entries),
    checked: null,
    checkedThere: null,
    profit: null,
    hours: [],
    book: 'btc_mxn',
  },
});

/** Sums with as many digits as the ledger can have. */
const sum = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n });
const size = fc.bigInt({ min: 1n, max: 10n ** 24n });
const price = fc.bigInt({ min: 1n, max: 10n ** 13n });
/** A few days; a transfer that is listed late is of before the beginning. */
const time = fc.integer({ min: -HOUR_MS, max: 5 * DAY_MS }).map(after => START + after);

const trade = fc
  .record({
    ...{
      at: time,
      book: fc.constantFrom('btc_mxn', 'btc_mxn', 'eth_mxn'),
      isBuy: fc.boolean(),
      size,
      got: size,
      price,
    },
    ...{ feeIn: fc.constantFrom('btc', 'mxn', 'usd'), fee: fc.bigInt({ min: 0n, max: 10n ** 20n }) },
    // Of a Puntas before prices were kept.
    isOld: fc.boolean(),
  })
  .map(({ at, book, isBuy, size: lots, got, price: ticks, feeIn, fee, isOld }): Omit<LedgerEntry, 'source'> => ({
    ...{ at, why: isOld ? null : `${book} at ${ticks / 100n}.${String(ticks % 100n).padStart(2, '0')}` },
    changes: [
      change('trades', book.slice(0, 3), isBuy ? lots : -lots),
      change('trades', 'mxn', isBuy ? -got : got),
      change('fees', feeIn, -fee),
    ],
  }));
const conversion = fc
  .record({ at: time, via: fc.constantFrom('mxn', 'usd'), give: size, get: size, isSale: fc.boolean() })
  .map(({ at, via, give, get, isSale }): Omit<LedgerEntry, 'source'> => ({
    ...{ at, why: null },
    changes: [change('conversions', isSale ? 'btc' : via, -give), change('conversions', isSale ? via : 'btc', get)],
  }));
const flow = fc
  .record({
    ...{ at: time, currency: fc.constantFrom('btc', 'mxn', 'eth'), amount: sum },
    cause: fc.constantFrom<Cause>('deposits', 'withdrawals', 'refunds', 'adjustments', 'fees'),
  })
  .map(({ at, cause, currency, amount }): Omit<LedgerEntry, 'source'> => ({
    ...{ at, why: null, changes: [change(cause, currency, amount)] },
  }));
const KINDS = { trade, conversion, flow } as const;
const named = (kind: keyof typeof KINDS) =>
  KINDS[kind].map(entry => (n: number): LedgerEntry => ({ ...entry, source: `${kind} ${n} oid${n}` }));
const beginning = fc.constantFrom('opening', 'brought forward 7').map((source): LedgerEntry => ({
  ...{ source, at: START, why: null },
  changes: ['btc', 'mxn'].flatMap(currency => CAUSES.map((cause, i) => change(cause, currency, `${i + 1}.5`))),
}));
const entriesOf = fc
  .tuple(
    beginning,
    fc.array(fc.oneof({ weight: 5, arbitrary: named('trade') }, named('conversion'), named('flow')), { maxLength: 40 }),
  )
  .map(([first, rest]) => [first, ...rest.map((made, n) => made(n))]);

const isTrade = ({ source }: LedgerEntry): boolean => source.startsWith('trade ');
/** Entries of this book. */
const ownOf = (entries: readonly LedgerEntry[]): readonly LedgerEntry[] =>
  entries.filter(entry => {
    if (isOpeningEntry(entry)) return false;
    if (isTrade(entry))
      return entry.why === null ? entry.changes[0]?.currency === 'btc' : entry.why.startsWith('btc_mxn at ');
    return entry.changes.some(({ cause }) => cause === 'conversions' || cause === 'fees');
  });

/** The same another way: no steps and no order, only what the ledger has of this book, with inventory at `mark`. */
function netOf(entries: readonly LedgerEntry[], mark: Money | null): bigint {
  const own = ownOf(entries);
  const causes = causesFrom(own);
  const of = (currency: string): bigint => {
    const row = causes.get(currency);
    return row === undefined ? 0n : row.trades + row.fees + row.conversions;
  };
  return of('mxn') + (mark === null ? 0n : multiplyMoneyFloor(money(of('btc')), mark));
}

const AT = START + 5 * DAY_MS;

describe('profit by day', () => {
  test('adds up to the ledger, to the last digit, whatever is in it', () => {
    fc.assert(
      fc.property(entriesOf, entries => {
        const report = profitReport(fileOf(entries), {}, AT);
        const { days, total } = report;
        const last = days.at(-1)!;
        // Everything that is booked is of one day.
        const all = causesFrom(entries);
        const ofDays = causesFrom(
          days.flatMap(({ booked }) =>
            [...booked].map(([currency, row]) => ({
              changes: CAUSES.map(cause => ({ cause, currency, amount: row[cause] })),
            })),
          ),
        );
        expect(ofDays).toEqual(all);
        expect(last.inventory).toBe(sumOfCauses(all.get('btc')!));
        expect(last.cash).toBe(sumOfCauses(all.get('mxn')!));
        // Profit is what trades, fees and conversions brought.
        expect(total.net).toBe(netOf(entries, last.mark?.price ?? null));
        expect(total.net).toBe(total.trading + total.fees + total.hedging);
        // Days follow each other, and any two stretches add up to the whole.
        expect(days.map(({ from }) => from - days[0]!.from)).toEqual(days.map((_, i) => i * DAY_MS));
        const middle = days[Math.floor(days.length / 2)]!.from;
        const halves = [{ to: middle }, { from: middle + DAY_MS }].map(asked =>
          profitReport(fileOf(entries), asked, AT),
        );
        for (const part of ['volume', 'trading', 'fees', 'hedging', 'net'] as const)
          expect(halves.reduce((sums, half) => sums + half.total[part], 0n)).toBe(total[part]);
        // A stretch leaves out the entries of its own days, those at both ends included.
        const leftOf = (all: typeof report.leftOut) => {
          const counts = new Map<string, number>();
          for (const { what, count } of all) counts.set(what, (counts.get(what) ?? 0) + count);
          return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
        };
        expect(leftOf(halves.flatMap(({ leftOut }) => leftOut))).toEqual(leftOf(report.leftOut));
        // Hours are the same profit.
        const hours = [...profitBy('hour', entries, BTC_MXN, Infinity).values()];
        const fills = ownOf(entries).filter(isTrade).length;
        expect([total.fills, hours.reduce((sums, hour) => sums + hour.fills, 0)]).toEqual([fills, fills]);
        expect(hours.reduce((sums, { trading, fees, hedging }) => sums + trading + fees + hedging, 0n)).toBe(total.net);
      }),
      { numRuns: 300 },
    );
  });

  const bought = (n: number, at: number, why: string, changes: readonly Change[]): LedgerEntry => ({
    ...{ source: `trade ${n} oid${n}`, at, why, changes },
  });
  const opening: LedgerEntry = {
    ...{ source: 'opening', at: START, why: null },
    changes: [change('opening', 'btc', '1'), change('opening', 'mxn', '1000')],
  };
  const few = [
    opening,
    bought(1, START + HOUR_MS, 'btc_mxn at 100', [
      change('trades', 'btc', '2'),
      change('trades', 'mxn', '-200'),
      change('fees', 'btc', '-0.5'),
    ]),
    bought(2, START + 50 * HOUR_MS, 'btc_mxn at 120', [
      change('trades', 'btc', '-1'),
      change('trades', 'mxn', '120'),
      change('fees', 'mxn', '-3'),
    ]),
    bought(3, START + 51 * HOUR_MS, 'eth_mxn at 5', [change('trades', 'eth', '1'), change('trades', 'mxn', '-5')]),
  ];

  test('has the days without a fill, says how it was marked, what is left out, and fits a terminal', () => {
    const report = profitReport(fileOf(few), {}, START + 52 * HOUR_MS);
    const json = reportJson(report) as { days: readonly Record<string, unknown>[] };
    expect(
      json.days.map(({ day, cut, fills, net, inventory, cash }) => [day, cut, fills, net, inventory, cash]),
    ).toEqual([
      // 1.5 btc for 200, at 100 each; the fee is half a bitcoin.
      ['2026-11-20', 'begins', 1, '-50', '2.5', '800'],
      ['2026-11-21', null, 0, '0', '2.5', '800'],
      ['2026-11-22', null, 0, '0', '2.5', '800'],
      // 1.5 btc became 20 dearer, and 3 went for the fee.
      ['2026-11-23', 'so far', 1, '27', '1.5', '912'],
    ]);
    expect(json.days[2]!['mark']).toEqual({ price: '100', at: '2026-11-20T23:00:00.000Z' });
    expect([...Object.keys(json), ...Object.keys(json.days[0]!)]).toEqual(keysOf('report'));
    expect(json).toMatchObject({
      ...{ timezone: 'UTC', folded: false, total: { net: '-23', volume: '320', fills: 2 } },
      leftOut: [{ what: 'trades in other books', count: 1 }],
    });
    const rows = reportText(report);
    expect(rows.filter(row => row.length > 80)).toEqual([]);
    expect(rows.slice(0, 8)).toEqual([
      'btc_mxn, 2026-11-20 to 2026-11-23, UTC days, in mxn',
      '',
      'day         fills  volume  trading    fees     net       btc',
      '2026-11-20      1     200     0.00  -50.00  -50.00  2.500000',
      '2026-11-21      0       0     0.00    0.00    0.00  2.500000',
      '2026-11-22      0       0     0.00    0.00    0.00  2.500000',
      '2026-11-23      1     120    30.00   -3.00   27.00  1.500000',
      'total           2     320    30.00  -53.00  -23.00',
    ]);
    expect(rows.join(' ')).toMatch(/at the price of the last fill, 120 mxn at 2026-11-23 00:00/);
    expect(rows.join(' ')).toContain('Ledger entries that the profit does not include: trades in other books (1).');
  });

  test('says of which days nothing is known', () => {
    const folded = [{ ...opening, source: 'brought forward 9' }, ...few.slice(1)];
    const text = reportText(profitReport(fileOf(folded), {}, AT)).join(' ');
    expect(text).toContain('The ledger has only the sum of the entries before 2026-11-20 22:00');
    expect(() => profitReport(fileOf(few), { to: START - 5 * DAY_MS }, AT)).toThrow(
      'the requested period is outside the ledger, which covers 2026-11-20 to 2026-11-25 (UTC)',
    );
  });
});

describe('a fee in the base currency', () => {
  test('counts at the mid price of its booking, to the last digit, as the page says', async () => {
    const at = worldOf(51, { limits: { drawdownMax: '900', dayLossMax: '900' } });
    worlds.push(at);
    const run = await started(at);
    await at.clock.advance(sized(600_000, 300_000));
    await run.stop();
    const { total } = profitReport((await ledgerFileIn(at.stateDir, realClock()))!, {}, at.clock.now());
    const fills = run.log.flatMap(({ known, text }) => (/^(?:bought|sold) /.test(text) ? [known as FillFields] : []));
    expect(fills).toHaveLength(total.fills);
    const fees = (baseFee: (of: { fee: bigint; price: bigint; mid: bigint }) => bigint): bigint =>
      fills.reduce((sum, { side, price: text, major: lots, fee: paid, profit }) => {
        const [price, major, fee, gain] = [text, lots, paid, profit].map(one => BigInt(moneyOf(one))) as Sums;
        if (side === 'sell') return sum - fee;
        // A buy gains what it received at the mid price, less what it paid.
        const mid = rounded((gain * UNIT + price * major) / (major - fee));
        return sum - baseFee({ fee, price, mid });
      }, 0n);
    const buys = fills.filter(({ side }) => side === 'buy');
    expect(buys.length).toBeGreaterThan(0);
    expect(total.fees).toBe(fees(({ fee, mid }) => (fee * mid) / UNIT));
    expect(total.fees).not.toBe(fees(({ fee, price }) => (fee * price) / UNIT));
    expect(readFileSync('docs/report.md', 'utf8')).toContain(
      'a fee in base currency counts at the mid price when the bot booked it; ',
    );
  });
});
type FillFields = Readonly<Record<'side' | 'price' | 'major' | 'fee' | 'profit', string>>;
type Sums = [price: bigint, major: bigint, fee: bigint, gain: bigint];
const UNIT = 10n ** 18n;
/** To six decimals: the printed gain is rounded. */
const rounded = (price: bigint): bigint => ((price + 5n * 10n ** 11n) / 10n ** 12n) * 10n ** 12n;

describe('a bot that was started again', () => {
  test('has one report of both runs, and fills and ledger as CSV and Parquet that add up to it', async () => {
    const at = worldOf(51, { limits: { drawdownMax: '900', dayLossMax: '900' } });
    worlds.push(at);
    const first = await started(at);
    await at.clock.advance(sized(600_000, 200_000));
    const one = await first.stop();
    const second = await restarted(at, at.stateDir);
    await at.clock.advance(sized(600_000, 200_000));
    // While it runs.
    const whileItRuns = profitReport((await ledgerFileIn(at.stateDir, realClock()))!, {}, at.clock.now());
    const two = await second.stop();
    const file = (await ledgerFileIn(at.stateDir, realClock()))!;
    const report = profitReport(file, {}, at.clock.now());
    const fills = one.summary.fills! + two.summary.fills!;
    expect(Math.min(one.summary.fills!, two.summary.fills!)).toBeGreaterThan(0);
    expect(report.total.fills).toBe(fills);
    expect(whileItRuns.total.fills).toBeLessThanOrEqual(fills);
    expect(report.total.net).toBe(netOf(file.entries, report.days.at(-1)!.mark!.price));
    expect(report.days.at(-1)!.inventory).toBe(sumOfCauses(file.causes.get('btc')!));

    const dir = folders.fresh();
    const out = (name: string) => join(dir, name);
    const clock = realClock();
    for (const rows of ['fills', 'ledger'] as const)
      for (const ending of ['csv', 'parquet'])
        await exportLedger(at.stateDir, { rows }, out(`${rows}.${ending}`), clock);
    expect(readFileSync(out('ledger.csv'), 'utf8').trimEnd().split('\n')).toEqual(
      await ledger(at.stateDir, { entries: true, form: 'csv' }, clock),
    );
    const database = await DuckDBInstance.create(':memory:');
    const connection = await database.connect();
    try {
      const query = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
      const text = (row: readonly unknown[]) => row.map(cell => (typeof cell === 'number' ? String(cell) : cell));
      const from = (name: string) => `read_parquet('${out(name)}')`;
      // Every cell, to the last digit.
      const entries = file.entries.flatMap(entryRows);
      const rows = await query(
        `SELECT epoch_ms("at"), source, cause, currency, amount, price, why FROM ${from('ledger.parquet')}`,
      );
      const atto = (sum: Money) => decimal18(sum);
      expect(rows.map(text)).toEqual(
        entries.map(row => [
          ...[String(Math.floor(row.at)), row.source, row.cause, row.currency, atto(row.amount)],
          ...[row.price === null ? null : atto(moneyOf(row.price)), row.why],
        ]),
      );
      const told = await query(
        `SELECT epoch_ms("at"), trade, "order", book, side, amount, price, "value", fee, fee_currency FROM ${from('fills.parquet')}`,
      );
      const expected = file.entries.flatMap(entry => bookedFill(entry, BTC_MXN) ?? []);
      expect(expected).toHaveLength(fills);
      expect(told.map(text)).toEqual(
        expected.map(row => [
          ...[String(Math.floor(row.at)), row.trade, row.order, row.book, row.side, atto(row.amount)],
          ...[atto(moneyOf(row.price!)), atto(row.value), atto(row.fee), row.feeCurrency],
        ]),
      );
      // Names that other programs join on; a maker's fills name the order and its level, as the log does.
      const joined = await query(
        `SELECT f."time" = f."at", f.trade_id, f.order_id = f."order", f.client_order_id, f.role, f.level, count(*)
         FROM ${from('fills.parquet')} f JOIN ${from('ledger.parquet')} l USING (trade_id, client_order_id, "time") GROUP BY ALL`,
      );
      expect(joined).toHaveLength(fills);
      for (const [isTime, , isOrder, order, role, level, rows_] of joined) {
        expect([isTime, isOrder, role]).toEqual([true, true, 'maker']);
        expect(text([order])[0]).toMatch(/^demo-\d+-\d+$/);
        expect(text([level])[0]).toMatch(/^[123]$/);
        expect(Number(rows_)).toBe(3);
      }
      // What was paid and got is what the ledger has.
      const [net] = await query(
        `SELECT sum(CASE side WHEN 'buy' THEN amount ELSE -amount END), sum(CASE side WHEN 'buy' THEN -"value" ELSE "value" END) FROM ${from('fills.parquet')}`,
      );
      expect(text(net!)).toEqual(['btc', 'mxn'].map(currency => atto(file.causes.get(currency)!.trades)));
    } finally {
      connection.closeSync();
      database.closeSync();
    }
  });
});

const PARTS = ['spread', 'inventory', 'fees', 'hedging', 'total'] as const;
const parts = fc
  .array(sum, { minLength: 5, maxLength: 5 })
  .map(sums => Object.fromEntries(PARTS.map((part, i) => [part, money(sums[i]!)])) as ProfitSinceOpening['profit']);
const anyMoment = fc.record({
  hour: fc.integer({ min: 0, max: 30 }),
  profit: parts,
  twiceMid: fc.option(fc.bigInt({ min: 1n, max: 10n ** 24n }).map(money)),
});
const ofTrades = fc
  .record({ fills: fc.nat(99), sums: fc.array(sum, { minLength: 4, maxLength: 4 }), price: fc.option(price) })
  .map(({ fills, sums: [volume, trading, fees, hedging], price: of }): ProfitSums => ({
    ...{ fills, volume: money(volume!), trading: money(trading!), fees: money(fees!), hedging: money(hedging!) },
    mark: of === null ? null : { price: money(of), at: START },
  }));

describe('profit by recorded mid prices', () => {
  test('is in each hour what the profit since the opening grew by, from the first hour that was recorded', () => {
    fc.assert(
      fc.property(
        fc.array(anyMoment, { maxLength: 8 }),
        fc.dictionary(fc.integer({ min: 0, max: 30 }).map(String), ofTrades, { maxKeys: 8 }),
        fc.integer({ min: 0, max: 31 }),
        (drawn, trades, untilHour) => {
          const moments = drawn
            .toSorted((a, b) => a.hour - b.hour)
            .map(({ hour, ...of }, i): ProfitSinceOpening => ({ ...of, since: START, at: START + hour * HOUR_MS + i }));
          const until = moments[untilHour % (moments.length + 1)]?.at ?? Infinity;
          const byFills = new Map(Object.entries(trades).map(([hour, sums]) => [START + Number(hour) * HOUR_MS, sums]));
          const found = earnedBy('hour', byFills, moments, until);
          const known = moments.filter(({ at }) => at! <= until);
          const first = known.length === 0 ? Infinity : START + Math.floor((known[0]!.at! - START) / HOUR_MS) * HOUR_MS;
          const sumOf = (from: number) => {
            const last = known.findLast(({ at }) => at! < from + HOUR_MS);
            if (from >= first) {
              const { spread, inventory, fees, hedging } = last!.profit;
              return {
                trading: spread + inventory,
                fees: fees as bigint,
                hedging: hedging as bigint,
                spread: spread as bigint,
              };
            }
            const all = [...byFills].filter(([at]) => at <= from).map(([, sums]) => sums);
            const of = (part: 'trading' | 'fees' | 'hedging') => all.reduce((s, each) => s + each[part], 0n);
            return { trading: of('trading'), fees: of('fees'), hedging: of('hedging'), spread: 0n };
          };
          let before: ReturnType<typeof sumOf> = { trading: 0n, fees: 0n, hedging: 0n, spread: 0n };
          const expected = [];
          for (let from = START; from <= START + 31 * HOUR_MS; from += HOUR_MS) {
            const own = byFills.get(from);
            if (own === undefined && !known.some(({ at }) => at! >= from && at! < from + HOUR_MS)) continue;
            const isRecorded = from >= first;
            const now = sumOf(from);
            const fill = [...byFills.keys()]
              .filter(at => at <= from && at < first)
              .toSorted((a, b) => a - b)
              .at(-1);
            const priced = known.findLast(({ at, twiceMid }) => isLastOfHour(known, at!) && at! < from + HOUR_MS && twiceMid !== null); // prettier-ignore
            const mark =
              isRecorded && priced !== undefined
                ? { price: money(priced.twiceMid! / 2n), at: priced.at! }
                : fill === undefined
                  ? null
                  : byFills.get(fill)!.mark;
            const [trading, spread] = [now.trading - before.trading, now.spread - before.spread];
            expected.push([
              from,
              {
                ...{ fills: own?.fills ?? 0, volume: own?.volume ?? 0n, mark },
                ...{ trading, fees: now.fees - before.fees, hedging: now.hedging - before.hedging },
                marked: mark === null ? null : isRecorded ? 'middle' : 'last fill',
                ...{ spread: isRecorded ? spread : null, inventoryGain: isRecorded ? trading - spread : null },
              },
            ]);
            before = now;
          }
          expect([...found]).toEqual(expected);
        },
      ),
      { numRuns: 200 },
    );
  });
});

/** Only the last moment of an hour is its end. */
const isLastOfHour = (all: readonly ProfitSinceOpening[], at: number): boolean =>
  all.every(other => Math.floor(other.at! / HOUR_MS) !== Math.floor(at / HOUR_MS) || other.at! <= at);

describe('the current profit', () => {
  const profit = Object.fromEntries(
    Object.entries({ spread: '1.5', inventory: '-2.25', fees: '-0.5', hedging: '0.125', total: '-1.125' }).map(
      ([part, text]) => [part, moneyOf(text)],
    ),
  ) as ProfitSinceOpening['profit'];
  const run = { ...profit, total: moneyOf('0.75'), spread: moneyOf('3') };
  const booked = { since: START, at: START + 49.5 * HOUR_MS, twiceMid: moneyOf('201'), profit };
  const opening: LedgerEntry = {
    ...{ source: 'opening', at: START, why: null },
    changes: [change('opening', 'btc', '1'), change('opening', 'mxn', '1000')],
  };

  test('has each part under its own name, is of the time of the ledger though the clock is behind it, and is the last day', () => {
    const report = profitReport(fileOf([opening]), {}, START, undefined, { booked, run, unknown: null });
    const json = reportJson(report) as Record<string, object>;
    const parts_ = { spread: '1.5', inventory: '-2.25', fees: '-0.5', hedging: '0.125', total: '-1.125' };
    expect(json).toMatchObject({
      ...{ at: '2026-11-22T23:30:00.000Z', knownFrom: '2026-11-20T22:00:00.000Z', counted: parts_ },
      total: { trading: '-0.75', fees: '-0.5', hedging: '0.125', net: '-1.125' },
      profit: { ...parts_, mid: '100.5', run: { ...parts_, spread: '3', total: '0.75' }, currency: 'mxn' },
    });
    expect(Object.keys(json['counted']!)).toEqual(Object.keys(parts_));
    expect(json).not.toHaveProperty('profitUnknown');
    const text = reportText(report).join(' ');
    expect(text).toContain('-1.13 mxn since the opening of the ledger (2026-11-20 22:00 UTC), this run +0.75.');
    expect(text).toContain('the latest price is 100.5 mxn, at 2026-11-22 23:30.');
    expect(briefReport(report).split('\n')).toEqual([
      'Profit -1.13 mxn since the opening of the ledger (2026-11-20 22:00 UTC) (spread +1.50, inventory -2.25, fees -0.50, hedging +0.13), this run +0.75',
      '2026-11-22 (so far): net -1.13 mxn, 0 fills',
      '2026-11-21: net +0.00 mxn, 0 fills',
      '2026-11-20 (ledger opened): net +0.00 mxn, 0 fills',
    ]);
  });

  test('that is unknown is no figure anywhere, and says why', () => {
    const report = profitReport(fileOf([opening]), {}, START, undefined, { booked, run, unknown: 'a list is old' });
    expect(reportJson(report)).toMatchObject({ profit: null, counted: null, profitUnknown: 'a list is old' });
    const says = /The profit of now is unknown until the bot has read its trades again \(a list is old\)/;
    expect(reportText(report).join(' ')).toMatch(says);
    expect(briefReport(report).split('\n')[0]).toMatch(says);
  });

  test('of many days has the last seven, newest first, on a small screen', () => {
    const report = profitReport(fileOf([{ ...opening, source: 'brought forward 3' }]), {}, START + 7 * DAY_MS);
    const days = briefReport(report).split('\n');
    expect(days.map(line => line.slice(0, 10))).toEqual([27, 26, 25, 24, 23, 22, 21].map(day => `2026-11-${day}`));
    const one = profitReport(fileOf([{ ...opening, source: 'brought forward 3' }]), { to: START }, START + 7 * DAY_MS);
    expect(briefReport(one)).toBe('2026-11-20 (incomplete): net +0.00 mxn, 0 fills');
  });
});

test('a sum is rounded half away from zero, at any number of places, and a volume of 100 or more to cents', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n }), fc.integer({ min: 0, max: 18 }), (of, places) => {
      const unit = 10n ** BigInt(18 - places);
      // The nearer one of the two neighbors; if both are as near, the one that is farther from zero.
      const whole = (of / unit) * unit;
      const further = whole + (of < 0n ? -unit : unit);
      const size_ = (a: bigint) => (a < 0n ? -a : a);
      const nearest = size_(of - whole) < size_(further - of) ? whole : further;
      expect(moneyOf(roundedMoney(money(of), places))).toBe(nearest);
    }),
    { examples: [[5n * 10n ** 17n, 0], [-5n * 10n ** 15n, 2], [-(10n ** 18n), 0]] }, // prettier-ignore
  );
  const decimals = ['0', '0.00000001', '99.99', '100', '1000'].map(text => volumeDecimals(moneyOf(text)));
  expect(decimals).toEqual([2, 8, 8, 2, 2]);
});

/** As DuckDB prints a DECIMAL(38, 18). */
function decimal18(sum: Money): string {
  const digits = (sum < 0n ? -sum : sum).toString().padStart(19, '0');
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -18)}.${digits.slice(-18)}`;
}
