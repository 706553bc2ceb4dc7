/** A backtest with hedges on a recording of another exchange: the live hedger, both clocks, both ledgers. */
import { describe, expect, test } from 'vitest';
import { hedgedFills } from '../../backtest/hedged/hedgedFills.ts';
import { reportOf } from '../../backtest/index.ts';
import { moneyOf, type Amount } from '../../src/core/index.ts';
import type { Tape } from '../../src/tape/index.ts';
import { sized } from '../many.ts';
import { LOSING, PAYING, plantedPair } from './hedged/pairedMarkets.ts';
import { handMadeTape, type Row } from './handMadeTape.ts';
import { hedgedThere, hedgingConfig, type HedgedThere } from './hedgedThere.ts';

/** Quotes around the price there. */
const REFERENCE = {
  reference: { everyMs: 12_000, sources: [{ name: 'there', books: [{ book: 'btc_mxn', from: 'elsewhere' }] }] },
  fairValue: { reference: { weight: 1 } },
} as never;

const HOURS = sized(0.25, 0.1);
const { quoted, hedge } = plantedPair(3, HOURS, PAYING);
const planted: HedgedThere = { quoted, there: hedge, config: hedgingConfig(REFERENCE) };
const sumOf = (texts: readonly (string | null)[]): bigint =>
  texts.reduce((sum, text) => sum + moneyOf(text ?? '0'), 0n);

describe('a backtest with hedges on another exchange', () => {
  test('hedges each fill, and both ledgers are the executions by hand in every currency', async () => {
    const { result, fills, hedges, both } = await hedgedThere({ ...planted, feeBps: 7.5 });
    const { hedged, snapshot } = result;
    expect(fills.length).toBeGreaterThan(20);
    expect(hedged?.completed).toBe(hedges.length);
    expect(hedges.every(({ way, state }) => way === 'elsewhere' && state === 'completed')).toBe(true);
    // Here: the fills. There: what each hedge gave and got, after its fee.
    let [btcHere, mxnHere] = [moneyOf('1.5') as bigint, moneyOf('2000000') as bigint];
    for (const { side, amount, value } of fills) {
      btcHere += (side === 'buy' ? 1n : -1n) * moneyOf(amount);
      mxnHere -= (side === 'buy' ? 1n : -1n) * moneyOf(value);
    }
    const { holdings } = snapshot.booked;
    expect([holdings.get('btc'), holdings.get('mxn')]).toEqual([btcHere, mxnHere]);
    const opening = both.otherExchange.balances;
    const there = (currency: string): bigint =>
      moneyOf(opening[currency]!) +
      sumOf(hedges.map(({ got, gotCurrency }) => (gotCurrency === currency ? got : null))) -
      sumOf(hedges.map(({ gave, gaveCurrency }) => (gaveCurrency === currency ? gave : null)));
    expect([snapshot.elsewhere?.held, snapshot.elsewhere?.quoteHeld]).toEqual([there('btc'), there('mxn')]);
    expect([...hedged!.elsewhere!.holdings]).toEqual([
      ['btc', there('btc')],
      ['mxn', there('mxn')],
    ]);
    // The target counts both, and the last fill is hedged.
    expect(snapshot.booked.inventory).toBe(btcHere + there('btc') - moneyOf('3'));
    expect(snapshot.elsewhere).toMatchObject({ openOrders: 0, debt: 0n, drift: there('mxn') - moneyOf('100000') });
    const { profit } = result.collected;
    expect(profit.hedging).toBe(-sumOf(hedges.map(({ cost }) => cost)));
    expect(profit.total).toBe(profit.spread + profit.inventory + profit.fees + profit.hedging);
    expect(hedged?.cost).toBe(-profit.hedging);
  });

  test('gives the same commands and the same hash twice, and another hash for another fee', async () => {
    const [a, b, dearer] = await Promise.all([
      hedgedThere(planted),
      hedgedThere(planted),
      hedgedThere({ ...planted, feeBps: 2 }),
    ]);
    expect(a.hedges.length).toBeGreaterThan(20);
    expect([b.fills, b.orders, b.hedges, b.result.hash]).toEqual([a.fills, a.orders, a.hedges, a.result.hash]);
    expect(dearer.result.hash).not.toBe(a.result.hash);
    // The fee is paid there, on what was traded there.
    const fees = dearer.result.hedged!.elsewhere!.fees;
    const traded = Number(dearer.result.hedged!.elsewhere!.traded.minor);
    const price = Number(dearer.result.snapshot.bid) * 0.1;
    expect((Number(fees.get('mxn')) + Number(fees.get('btc')) * price) / traded).toBeCloseTo(0.0002, 6);
  });

  test('earns an edge that is planted there, and loses where takers know the next price there', async () => {
    const losing = plantedPair(3, HOURS, LOSING);
    const [earned, lost] = await Promise.all([
      hedgedThere(planted),
      hedgedThere({ ...planted, quoted: losing.quoted, there: losing.hedge }),
    ]);
    const [gain, loss] = [earned, lost].map(({ result }) => Number(result.collected.profit.total) / 1e18);
    expect(gain).toBeGreaterThan(0);
    expect(loss).toBeLessThan(0);
    // A fill and its hedge are valued at one mid price, so the net after 60 s is the profit: nothing is held in between.
    const { net60s, stretches } = reportOf(quoted.instrument, earned.result);
    expect(Math.abs(net60s!.total / gain! - 1)).toBeLessThan(0.02);
    expect(stretches.after60.reduce((sum, x) => sum + x, 0)).toBeCloseTo(net60s!.total, 4);
    expect(reportOf(quoted.instrument, lost.result).net60s!.total).toBeLessThan(0);
  });
});

/** Mid prices of 10,005 on both exchanges: at 50 bps, the bot bids 9,954 and asks 10,056. */
const QUOTED: readonly Row[] = [
  [0, 'bid', 9_000, 1_000_000],
  [0, 'ask', 11_010, 1_000_000],
];
const THERE: readonly Row[] = [
  [0, 'bid', 10_000, 100_000],
  [0, 'bid', 9_990, 1_000_000],
  [0, 'ask', 10_010, 100_000],
  [0, 'ask', 10_020, 1_000_000],
];
const AT = 20_000;
const LOTS = 50_000;
const END = 90_000;

const still = (rows: readonly Row[], every = 500): readonly Row[] =>
  Array.from({ length: END / every }, (_, i): Row => [(i + 1) * every, 'ask', 10_900, 1_000 + i]).concat(rows);
const byTime = (rows: readonly Row[]): Tape => handMadeTape(rows.toSorted((a, b) => a[0] - b[0]));

/** One sale of a taker here, and what happens there. */
function oneFill(
  there: readonly Row[],
  change: Partial<HedgedThere> = {},
  keys: Parameters<typeof hedgingConfig>[0] = {},
) {
  const here = byTime([...QUOTED, [AT, 'sell', 9_900, LOTS], [END, 'buy', 10_005, 1_000]]);
  const strategy = { halfSpreadBps: 50, amount: '0.0005', minEdgeBps: 1 };
  return hedgedThere({
    quoted: here,
    there: byTime(still(there)),
    config: hedgingConfig({ strategy, ...keys }),
    ...change,
  });
}

describe('one fill', () => {
  test('is hedged at the price and the value that the measurement of a scout gives it', async () => {
    const { fills, hedges } = await oneFill(THERE);
    expect(fills).toMatchObject([{ side: 'buy', price: '9954', amount: '0.00050000' }]);
    expect(hedges).toMatchObject([{ executedAt: AT + 25 + 100, gave: '0.0005', got: '5', gotCurrency: 'mxn' }]);
    const zeros = { from: 0, values: new Float64Array(END / 1_000) };
    const measured = hedgedFills({
      ...{ quoted: byTime([...QUOTED, [AT, 'sell', 9_900, LOTS], [END, 'buy', 10_005, 1_000]]) },
      ...{ hedge: byTime(still(THERE)), difference: zeros, basis: zeros, distances: [50], lots: LOTS as Amount },
      ...{ latencyMs: 25, hedgeLatencyMs: 100, resolutionMs: 0, horizonsS: [0], split: 0, blockMs: 600_000 },
    }).heldOut[0]!;
    const sum = (values: readonly number[]): number => values.reduce((total, x) => total + x, 0);
    expect(sum(measured.fills)).toBe(1);
    const bps = sum(measured.markout[0]!) / sum(measured.known[0]!);
    expect(1e4 * Math.log(Number(hedges[0]!.got) / Number(fills[0]!.value))).toBeCloseTo(bps, 9);
  });

  test('is hedged at what the book there is when the order arrives', async () => {
    const falls: readonly Row[] = [
      ...THERE,
      [AT + 200, 'bid', 10_000, 0],
      [AT + 200, 'bid', 9_990, 0],
      [AT + 200, 'bid', 9_960, 1_000_000],
      [AT + 200, 'ask', 9_970, 1_000_000],
    ];
    const [fast, slow] = [await oneFill(falls), await oneFill(falls, { latencyMs: 300 })];
    expect(fast.hedges).toMatchObject([{ state: 'completed', got: '5' }]);
    expect(slow.hedges.map(({ state, executedAt, got }) => [state, executedAt === null ? null : got])).toEqual([
      ['failed', null],
      ['completed', '4.98'],
    ]);
    expect(slow.hedges[0]!.why).toBe('nothing was available at the price of the order');
    expect(slow.result.collected.profit.total).toBeLessThan(fast.result.collected.profit.total);
  });

  test('is hedged in parts where the depth there is not enough, and the rest later', async () => {
    const thin: readonly Row[] = [
      [0, 'bid', 10_000, 20_000],
      [0, 'ask', 10_010, 20_000],
      [AT + 100, 'bid', 10_000, 19_000],
      [AT + 40_000, 'bid', 10_001, 500_000],
    ];
    const { hedges, result } = await oneFill(thin);
    const done = hedges.filter(({ state }) => state === 'completed');
    expect(done.length).toBeGreaterThan(2);
    expect(done[0]).toMatchObject({ gave: '0.00019', why: 'filled 0.00019 of 0.0002' });
    expect(done.every(({ executedAt }, i) => i === 0 || executedAt! > done[i - 1]!.executedAt!)).toBe(true);
    expect(sumOf(done.map(({ gave }) => gave))).toBe(moneyOf('0.0005'));
    expect(result.snapshot.booked.inventory).toBe(0n);
  });

  test('stays unhedged, as debt, while the recording there has a gap', async () => {
    const gaps = [{ from: AT - 5_000, to: END + 1_000, why: 'lost' }];
    const { hedges, result } = await oneFill(THERE, { there: { ...byTime(still(THERE)), gaps } });
    expect(hedges.length).toBeGreaterThan(0);
    expect(hedges.every(({ state }) => state === 'failed')).toBe(true);
    expect(hedges[0]!.weighed).toContain('no usable book');
    expect(result.snapshot.elsewhere?.debt).toBe(moneyOf('0.00049'));
  });
});
