/** A replay of a configuration that hedges on a recording of another exchange. */
import { requireBothAccounts, withHedgeTape } from '../../backtest/app/backtest/hedgedElsewhere.ts';
import { replayOf } from '../../backtest/app/backtest/backtestModel.ts';
import { latenciesOf } from '../../backtest/app/backtest/latencyFlags.ts';
import { recordedElsewhere } from '../../backtest/app/backtest/recordedReference.ts';
import { simulatedAccountOf } from '../../backtest/app/backtest/backtest.ts';
import type { ReferenceTapes } from '../../backtest/app/backtest/hedgeRoutes.ts';
import { rowsOfTape, type FillRow, type OrderRow, type ReplayedHedge } from '../../backtest/index.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import type { Tape } from '../../src/tape/index.ts';
import { runHedgedReplay } from './runReplay.ts';

type Sections = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const SECTIONS: Sections = {
  exchange: {
    kind: 'embedded',
    market: { kind: 'flow' },
    balances: { btc: '1.5', mxn: '2000000' },
    fees: { maker: '0', taker: '0' },
  },
  elsewhere: {
    ...{ kind: 'embedded', book: 'btc_mxn', balances: { btc: '1.5', mxn: '100000' } },
    fees: { maker: '0', taker: '0' },
  },
  hedge: {
    ...{ venues: ['elsewhere'], band: '0.00001', residual: '0', costMaxBps: 100 },
    elsewhere: { valueMin: '0', driftMax: '500000', debtMax: '0.05', latencyMs: 100 },
  },
  strategy: {
    ...{ name: 'ladder', halfSpreadBps: 10, levels: 1, amount: '0.0005', refreshToleranceBps: 1, minEdgeBps: 1 },
  },
  limits: {
    ...{ positionMax: '0.1', orderValueMax: '50000', ordersMax: 12, collarBps: 200 },
    ...{ drawdownMax: '5000', dayLossMax: '5000' },
  },
  inventory: { target: '3' },
};

/** The file of a small quoter that hedges each fill, with other keys in its sections. */
export function hedgingText(change: Sections = {}): string {
  const names = new Set([...Object.keys(SECTIONS), ...Object.keys(change)]);
  const sections = Object.fromEntries([...names].map(name => [name, { ...SECTIONS[name], ...change[name] }]));
  return JSON.stringify({ book: 'btc_mxn', instance: 'here', ...sections });
}

export function hedgingConfig(change: Sections = {}): Config {
  const read = loadConfig(hedgingText(change), 'my.yaml');
  if (!read.ok) throw new Error(read.errors.join('\n'));
  return read.config;
}

export type HedgedThere = {
  readonly quoted: Tape;
  readonly there: Tape;
  readonly config?: Config;
  readonly feeBps?: number;
  readonly latencyMs?: number;
  readonly reference?: ReferenceTapes;
};

/** Runs the replay under the model `expected`; without `there`, nothing is hedged. */
export async function hedgedThere({
  quoted,
  there: tape,
  config = hedgingConfig(),
  feeBps = 0,
  latencyMs = 100,
  reference = new Map(),
}: HedgedThere) {
  const { instrument, columns, gaps } = quoted;
  const span = { from: columns.at[0]!, to: columns.at[columns.length - 1]! };
  const venue = { name: 'there', tape, feeBps, latencyMs };
  const account = simulatedAccountOf(config, instrument, columns.price[0]!);
  const elsewhere = recordedElsewhere(config, withHedgeTape(config, reference, venue), span) ?? undefined;
  const both = requireBothAccounts(config, account.balances, venue, span, elsewhere);
  const latencies = latenciesOf({ latencyMs: '25', feedLatencyMs: '0' });
  const shared = { config, instrument, gaps, ...span, seed: 1, latencies, csv: null };
  const rows = rowsOfTape(quoted);
  const options = replayOf({ ...shared, ...account, ...both, elsewhere, model: 'expected' }, rows);
  const [fills, orders, hedges]: [FillRow[], OrderRow[], ReplayedHedge[]] = [[], [], []];
  const sink = {
    fill: (row: FillRow) => void fills.push(row),
    order: (row: OrderRow) => void orders.push(row),
    hedge: (row: ReplayedHedge) => void hedges.push(row),
  };
  const result = await runHedgedReplay({ ...options, rows, sink });
  return { result, fills, orders, hedges, both };
}
