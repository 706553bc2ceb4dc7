/** The production path over the reference tape: what a backtest does, with nothing to show for it. */
import {
  constantLatency,
  fillModel,
  RowWindow,
  runSideBySide,
  type MarketRows,
  type ModelName,
  type ReplayResult,
  type SideBySideOptions,
} from '../../backtest/index.ts';
import { Engine, instrumentOf, money, type Amount, type EngineNews, type Value } from '../../src/core/index.ts';
import { strategies } from '../../strategies/index.ts';
import { REFERENCE_RULES } from '../scripts/referenceRules.ts';
import { runReplay } from '../backtest/runReplay.ts';

/** The engine with its gate, a ladder of two levels a side, accounting, one fill model; distances and times as in the default configuration. */
export function production(rows: MarketRows | RowWindow, model: ModelName, to?: number): ReplayResult {
  return checked([runReplay({ ...optionsOf(rows, model, 10.6, to), rows })])[0]!;
}

/** So many of them over one reading of the rows: the first as above, each other one with a spread of its own, up to twice as wide. */
export async function sideBySide(
  rows: MarketRows | RowWindow,
  count: number,
  to?: number,
): Promise<readonly ReplayResult[]> {
  const all = sideBySideOptions(rows, count, to);
  return checked(await runSideBySide(rows, all));
}

/** Of so many. */
export const sideBySideOptions = (
  rows: MarketRows | RowWindow,
  count: number,
  to?: number,
): readonly SideBySideOptions[] =>
  Array.from({ length: count }, (_, i) => optionsOf(rows, 'expected', 10.6 * (1 + i / count), to));

function optionsOf(
  rows: MarketRows | RowWindow,
  model: ModelName,
  halfSpreadBps: number,
  to: number | undefined,
): SideBySideOptions {
  const instrument = instrumentOf(REFERENCE_RULES, '0.001');
  const kind = strategies.ladder;
  const parameters = kind.parameters.parse({
    halfSpreadBps,
    levels: 2,
    levelSpacingBps: 6,
    amount: '0.05',
    refreshToleranceBps: 4,
    minEdgeBps: 0,
  });
  const many = 100_000;
  const engine = (_rates: object, onNews: (news: EngineNews) => void): Engine =>
    Engine.ofOneBook({
      instrument,
      strategy: kind.make(parameters, instrument),
      limits: {
        positionMax: 2_000 as Amount,
        orderValueMax: (10n ** 12n) as Value,
        ordersMax: 40,
        collarBps: 500,
        staleAfterMs: 60_000,
      },
      halts: {
        drawdownMax: money(10n ** 30n),
        dayLossMax: money(10n ** 30n),
        fillsPer10Min: many,
        refusalsPerMinute: many,
        unknownsPerMinute: many,
        messagesPerMinute: many,
      },
      tolerance: kind.tolerance(parameters),
      instance: 'bench',
      run: 1,
      target: null,
      timing: {
        requestDelayMaxMs: 50_000,
        tradeReportDelayMaxMs: 20_000,
        cancelAgainMs: 2_000,
        decideEveryMs: 1_000,
        lookEveryMs: 500,
        privateStaleAfterMs: 10_000,
      },
      onNews,
    });
  return {
    instrument,
    gaps: [],
    model: fillModel(model, rows instanceof RowWindow ? rows.rows : rows),
    ...(to === undefined ? {} : { to }),
    latency: constantLatency(10, 10),
    fees: { tiers: [{ volume: '9999999999', maker: '0', taker: '0.0005' }], volume30d: '0' },
    balances: { btc: '1000', usd: '10000000' },
    decideEveryMs: 1_000,
    privatePollMs: 2_000,
    privatePerMinute: 300,
    engine,
  };
}

/** @throws if one of them halted, or none has traded: a wide one may not within a short tape. */
function checked(results: readonly ReplayResult[]): readonly ReplayResult[] {
  if (results.some(({ haltedBecause }) => haltedBecause !== null)) throw new Error('a replay halted');
  if (results.every(({ snapshot }) => snapshot.booked.fills === 0)) throw new Error('no replay traded');
  for (const result of results) detail(result);
  return results;
}

/** Prints what a replay did, if PUNTAS_BENCH_DETAIL is set. */
function detail(result: ReplayResult): void {
  if (process.env['PUNTAS_BENCH_DETAIL']) {
    const { booked, counts, uptime } = result.snapshot;
    const { fills } = booked;
    console.log(JSON.stringify({ fills, counts, uptime, decisions: result.decisions, requests: result.requests }));
  }
}
