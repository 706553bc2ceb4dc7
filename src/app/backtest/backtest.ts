/** The backtest command: one tape, the configured bot, several fill models side by side; the report of all. */
import { createHash } from 'node:crypto';
import { MODEL_NAMES, recordFlow } from '../../../backtest/index.ts';
import type { BacktestReport, ModelName } from '../../../backtest/index.ts';
import type { Config } from '../../config.ts';
import { moneyOf, textOfMoney } from '../../core/index.ts';
import type { Instrument, Money } from '../../core/index.ts';
import { feesOf } from '../../sandbox/index.ts';
import type { Tape } from '../../tape/index.ts';
import type { Latencies } from './backtestModel.ts';
import { runModels } from './backtestThreads.ts';
import { UsageError } from '../wiring/usageError.ts';
import { missingReference, recordedElsewhere } from './externalReference.ts';
import type { ReferenceTapes } from './externalReference.ts';
import { marketOf } from './market.ts';
import type { OpenedTape } from './market.ts';
import type { ReportFiles } from './reportFiles.ts';
import type { Progress } from '../messages/progress.ts';

export type BacktestOptions = {
  readonly config: Config;
  /** What the configuration was read from, and the program's version: for the report. */
  readonly configText: string;
  readonly version: string;
  /** Null: the seeded flow of the configured book is recorded first. */
  readonly tape: Tape | OpenedTape | null;
  /** Of that flow, and of latencies that are drawn. */
  readonly seed: number;
  /** Length of that flow. */
  readonly flowSeconds: number;
  /** Its trend, in bps an hour. */
  readonly flowDrift: number;
  readonly models: readonly ModelName[];
  /** Which rows tell the book where a recording has both levels and single orders; without it levels. */
  readonly from?: 'levels' | 'orders';
  /** Recordings of the books that the configured reference goes through. */
  readonly reference?: ReferenceTapes;
  readonly latencies: Latencies;
  /** The same as they were asked for, for the report. */
  readonly latencyText: { readonly orders: string; readonly feed: string };
  /** Threads at once; models wait for their turn. */
  readonly threads: number;
  /** Where fills and orders go; null for nowhere. */
  readonly files: ReportFiles | null;
  readonly progress: Progress;
};

/** Throws `UsageError` for what a person must change. */
export async function backtest(options: BacktestOptions): Promise<BacktestReport> {
  const { config, models, seed, latencies, latencyText, threads, files } = options;
  const given = options.tape ?? flowOf(options);
  const { instrument, source, flaws, gaps } = 'options' in given ? given.tape : given;
  if (instrument.symbol !== config.book)
    throw new UsageError(`the tape is of ${instrument.symbol}, the configuration trades ${config.book}`);
  const { rows, firstTicks, span, hash } = marketOf(given, options);
  const account = simulatedAccountOf(config, instrument, firstTicks);
  const reference = options.reference ?? new Map<string, Tape>();
  const elsewhere = recordedElsewhere(config, reference, span) ?? undefined;
  const noReference = missingReference(config, reference);
  const { progress } = options;
  const jobs = models.map(model => {
    const csv = files?.csv(model, config.hedge !== undefined) ?? null;
    return { model, config, instrument, gaps, ...span, seed, latencies, ...account, csv, elsewhere };
  });
  progress.begin(1000, config.book);
  const reports = await runModels(jobs, rows, threads, share => progress.at(share * 1000));
  progress.at(1000);
  progress.end();
  return {
    book: config.book,
    strategy: config.strategy.name,
    major: instrument.major,
    minor: instrument.minor,
    tape: { source, hash, dirt: flaws, gaps },
    ...(elsewhere && { reference: elsewhere.mids.map(({ book, source: from }) => ({ book, source: from })) }),
    ...(noReference !== null && { noReference }),
    latencyMs: latencyText.orders,
    feedLatencyMs: latencyText.feed,
    seed: options.tape === null ? seed : null,
    config: options.configText,
    made: { puntas: options.version, node: process.versions.node },
    models: reports,
    hash: createHash('sha256')
      .update(reports.map(report => report.hash).join(' '))
      .digest('hex'),
  };
}

/** What fits on a terminal or in a pipe: everything but the curves over time. */
export function withoutSeries(report: BacktestReport): object {
  return { ...report, models: report.models.map(({ series: _, ...rest }) => rest) };
}

/** For a person: a line per model, and what halted it. */
export function describeBacktest({ book, tape, models, reference, noReference }: BacktestReport): string {
  return [
    `${book} on ${tape.source}`,
    ...(reference ?? []).map(other => `  reference ${other.book} on ${other.source}`),
    ...(noReference === undefined ? [] : [`  ${noReference}`]),
    ...models.map(
      ({ model, fills, volume, pnl, uptime, hedges, haltedBecause }) =>
        `  ${model.padEnd(12)} ${fills} fills, volume ${volume.minor}; profit ${pnl.total} = spread ${pnl.spread} + inventory ${pnl.inventory} + fees ${pnl.fees}${hedges === null ? '' : ` + hedging ${pnl.hedging} (${hedges.completed} conversions)`}; quoted ${percent(uptime.bid)} / ${percent(uptime.ask)}${haltedBecause === null ? '' : `; halted: ${haltedBecause}`}`,
    ),
  ].join('\n');
}

/** The names behind --models. */
export function modelsOf(text: string): readonly ModelName[] {
  return text.split(',').map(name => {
    const found = MODEL_NAMES.find(known => known === name);
    if (!found)
      throw new UsageError(`--models: no fill model ${JSON.stringify(name)}; there are ${MODEL_NAMES.join(', ')}`);
    return found;
  });
}

/** The name behind --from. */
export function rowKindOf(text: string): 'levels' | 'orders' {
  if (text === 'levels' || text === 'orders') return text;
  throw new UsageError(`--from: expected levels or orders, found ${JSON.stringify(text)}`);
}

function flowOf({ config, seed, flowSeconds, flowDrift }: BacktestOptions): Tape {
  try {
    return recordFlow(config.book, seed, flowSeconds, flowDrift);
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}; --tape DIR brings others`);
  }
}

/** What the embedded exchange would open with; for a remote one enough for the limits, at the entry tier. */
export function simulatedAccountOf(config: Config, instrument: Instrument, firstTicks: number) {
  const { exchange, limits, inventory } = config;
  const { tiers } = feesOf(instrument.minor);
  if (exchange.kind === 'embedded')
    return { fees: { tiers, volume30d: exchange.volume30d }, balances: exchange.balances };
  const positionMax = moneyOf(limits.positionMax);
  const major = (inventory.target === undefined ? positionMax : moneyOf(inventory.target)) + positionMax;
  const minor = (2n * positionMax * BigInt(firstTicks) * instrument.tickMoney) / 10n ** 18n;
  const text = (sum: bigint): string => textOfMoney(sum as Money);
  return {
    fees: { tiers, volume30d: '0' },
    balances: { [instrument.major]: text(major), [instrument.minor]: text(minor) },
  };
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
