/** The ladder on a quarter of an hour of the seeded market: what the tests of replays and of their reports run. */
import {
  constantLatency,
  fillModel,
  recordFlow,
  RowWindow,
  rowsOfTape,
  type FillRow,
  type ReplayedHedge,
  type ModelName,
  type OrderRow,
  type ReplayOptions,
  type ReplayResult,
} from '../../backtest/index.ts';
import {
  Engine,
  money,
  type Amount,
  type HaltLimits,
  type Instrument,
  type RequoteTolerance,
  type Strategy,
  type Value,
} from '../../src/core/index.ts';
import { feesOf } from '../../src/sandbox/index.ts';
import { strategies } from '../../strategies/index.ts';
import { runHedgedReplay, runReplay } from './runReplay.ts';

export const tape = recordFlow('btc_mxn', 3, 900);
export const rows = rowsOfTape(tape);
const LATENCY = constantLatency(20, 30);

export const engineOf =
  (
    instrument: Instrument,
    strategy?: Strategy,
    halts: Partial<HaltLimits> = {},
    tolerance?: RequoteTolerance,
  ): ReplayOptions['engine'] =>
  (_rates, onNews) => {
    const kind = strategies.ladder;
    const parameters = kind.parameters.parse({
      halfSpreadBps: 6,
      levels: 2,
      levelSpacingBps: 4,
      amount: '0.01',
      refreshToleranceBps: 3,
      minEdgeBps: 0,
    });
    return Engine.ofOneBook({
      instrument,
      strategy: strategy ?? kind.make({ ...parameters, minEdgeBps: -1000 }, instrument),
      limits: {
        positionMax: 10_000_000 as Amount,
        orderValueMax: (10n ** 16n) as Value,
        ordersMax: 20,
        collarBps: 500,
        staleAfterMs: 5_000,
      },
      halts: {
        drawdownMax: money(10n ** 24n),
        dayLossMax: money(10n ** 24n),
        fillsPer10Min: 10_000,
        refusalsPerMinute: 10_000,
        unknownsPerMinute: 10_000,
        messagesPerMinute: 10_000,
        ...halts,
      },
      tolerance: tolerance ?? kind.tolerance(parameters),
      instance: 'test',
      run: 1,
      target: null,
      timing: {
        requestDelayMaxMs: 50_000,
        tradeReportDelayMaxMs: 20_000,
        cancelAgainMs: 2_000,
        decideEveryMs: 500,
        lookEveryMs: 500,
        privateStaleAfterMs: 10_000,
      },
      onNews,
    });
  };

type Change = Partial<Omit<ReplayOptions, 'model'>> & { readonly model?: ModelName };
export type Run = {
  readonly result: ReplayResult;
  readonly fills: readonly FillRow[];
  readonly orders: readonly OrderRow[];
};

export function run(change: Change = {}): Run {
  const { options, fills, orders } = setUp(change);
  return { result: runReplay(options), fills, orders };
}

export type HedgedRun = Run & { readonly hedges: readonly ReplayedHedge[] };

/** The same with a hedger, or as if there were one. */
export async function runHedged(change: Change = {}): Promise<HedgedRun> {
  const { options, fills, orders, hedges } = setUp(change);
  return { result: await runHedgedReplay(options), fills, orders, hedges };
}

function setUp({ model = 'expected', ...change }: Change) {
  const fills: FillRow[] = [];
  const orders: OrderRow[] = [];
  const hedges: ReplayedHedge[] = [];
  const market = change.rows ?? rows;
  const instrument = change.instrument ?? tape.instrument;
  const options: ReplayOptions = {
    instrument,
    rows: market,
    gaps: [],
    model: fillModel(model, market instanceof RowWindow ? market.rows : market),
    latency: LATENCY,
    fees: { tiers: feesOf('mxn').tiers, volume30d: '200000000' },
    balances: { btc: '2', mxn: '4000000' },
    decideEveryMs: 500,
    privatePollMs: 2_000,
    privatePerMinute: 300,
    engine: engineOf(instrument),
    sink: {
      fill: row => void fills.push(row),
      order: row => void orders.push(row),
      hedge: row => void hedges.push(row),
    },
    ...change,
  };
  return { options, fills, orders, hedges };
}
