/** Prints what a hedger costs and spares: one strategy with and without it, as the tables of docs/hedging.md: `npm run hedge:comparison`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import type { BacktestReport, ModelName, ReplayReport } from '../../backtest/index.ts';
import { hedge as hedgeKeys } from '../../src/config/hedge.ts';
import type { Config } from '../../src/config.ts';
import { backtest } from '../../src/app/backtest/backtest.ts';
import { readConfig, shippedConfig } from '../../src/app/wiring/configFile.ts';
import { UsageError } from '../../src/app/wiring/usageError.ts';
import { decimalFlag, driftNumber, seedNumber } from '../../src/cli/terminal/flags.ts';
import { NO_PROGRESS } from '../../src/app/messages/progress.ts';
import { hedgePlot } from './hedgePlot.ts';
import { tapeOf } from '../../src/cli/commands/source.ts';

type Flags = {
  readonly config: string;
  readonly tape?: string;
  readonly flowSeconds: number;
  readonly flowDrift: number;
  readonly seeds: number;
  readonly band?: string;
  readonly residual: string;
  readonly deskSpread?: number;
  readonly svg?: string;
};

const MODELS: readonly ModelName[] = ['pessimistic', 'expected', 'optimistic'];
const MS = 25;
const latency = { kind: 'constant', ms: MS } as const;
const feed = { kind: 'constant', ms: 0 } as const;

const program = new Command('hedge-comparison')
  .description('the same strategy with and without its hedger, on one tape or on seeded flows with a trend')
  .option('-c, --config <file>', 'YAML file', shippedConfig('hedged'))
  .option('--band <amount>', 'hedge.band, for a file without a hedge section', decimalFlag)
  .option('--residual <amount>', 'hedge.residual then', decimalFlag, '0')
  .option('--desk-spread <bps>', 'backtest.desk.spreadBps, instead of that of the file', seedNumber)
  .option('--tape <dir>', 'a recording of its book; without it seeded flows')
  .option('--flow-seconds <n>', 'length of each flow', seedNumber, 3_600)
  .option('--flow-drift <bps>', 'their trend, in bps an hour', driftNumber, -600)
  .option('--seeds <n>', 'how many flows: seeds 1 to n', seedNumber, 10)
  .option('--svg <file>', 'draw the first of them there')
  .action(async ({ config: file, tape: dir, seeds, svg, band, residual, deskSpread, ...flow }: Flags) => {
    const { hedge: own, ...without } = readConfig(file);
    const hedge =
      own ??
      (band === undefined
        ? undefined
        : hedgeKeys.parse({ band, residual, costMaxBps: 30, venues: ['rfq', 'conversion', 'book'] }));
    if (!hedge) throw new UsageError(`${file}: expected a hedge section to compare with, or --band`);
    const { desk } = without.backtest;
    const config = {
      ...without,
      hedge,
      backtest: { ...without.backtest, desk: { ...desk, spreadBps: deskSpread ?? desk.spreadBps } },
    };
    const tape = dir === undefined ? null : await tapeOf(dir, config.book);
    const configText = readFileSync(file, 'utf8');
    const once = async (which: Config, seed: number): Promise<BacktestReport> =>
      backtest({
        ...{
          config: which,
          configText,
          tape,
          seed,
          ...flow,
          models: MODELS,
          version: '',
          files: null,
          progress: NO_PROGRESS,
        },
        latencies: { orders: latency, cancels: latency, answers: latency, feed },
        latencyText: { orders: String(MS), feed: '0' },
        threads: MODELS.length,
      });
    const pairs: (readonly [BacktestReport, BacktestReport])[] = [];
    for (let seed = 1; seed <= (tape === null ? seeds : 1); seed++)
      pairs.push([await once(without, seed), await once(config, seed)]);
    print(pairs);
    const first = pairs[0];
    if (svg !== undefined && first) writeFileSync(svg, hedgePlot(first));
  });

program.parseAsync().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});

function print(pairs: readonly (readonly [BacktestReport, BacktestReport])[]): void {
  const first = pairs[0]?.[0];
  if (!first) throw new UsageError('--seeds: expected at least 1');
  const { major, minor, tape } = first;
  const several = pairs.length > 1;
  console.log(`${tape.source}${several ? `, and ${pairs.length - 1} more seeds: means, and the worst of all` : ''}\n`);
  const worst = several ? ' (worst)' : '';
  console.log(
    `| fills | hedger | fills | most held, ${major}${worst} | held on average, ${major} | drawdown, ${minor}${worst} | spread and fees, ${minor} | inventory, ${minor} | conversions | hedging, ${minor} (bps) | net, ${minor} |`,
  );
  console.log('|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|');
  MODELS.forEach((name, i) => {
    for (const hedged of [0, 1] as const)
      console.log(
        rowOf(
          name,
          hedged === 1,
          pairs.flatMap(pair => pair[hedged].models[i] ?? []),
        ),
      );
  });
}

function rowOf(model: string, hedged: boolean, runs: readonly ReplayReport[]): string {
  const values = (of: (run: ReplayReport) => number) => runs.map(of);
  const mean = (of: (run: ReplayReport) => number) => values(of).reduce((sum, x) => sum + x, 0) / runs.length;
  const worst = (of: (run: ReplayReport) => number, decimals: number) => {
    const most = Math.max(...values(of)).toFixed(decimals);
    return runs.length === 1 ? most : `${mean(of).toFixed(decimals)} (${most})`;
  };
  const whole = (of: (run: ReplayReport) => number) => mean(of).toFixed(0);
  const cost = (run: ReplayReport) => Number(run.hedges?.cost ?? 0);
  const converted = mean(({ hedges }) => Number(hedges?.volume.minor ?? 0));
  const halted = runs.filter(({ haltedBecause }) => haltedBecause !== null).length;
  const cells = [
    model,
    `${hedged ? 'with' : 'without'}${halted > 0 ? ` (${halted} halted)` : ''}`,
    whole(({ fills }) => fills),
    worst(({ position }) => position.mostSize, 4),
    mean(({ position }) => position.meanSize).toFixed(4),
    worst(({ drawdown }) => Number(drawdown.most), 0),
    whole(({ pnl }) => Number(pnl.spread) + Number(pnl.fees)),
    whole(({ pnl }) => Number(pnl.inventory)),
    hedged ? mean(({ hedges }) => hedges?.completed ?? 0).toFixed(runs.length > 1 ? 1 : 0) : '0',
    converted > 0 ? `${(-mean(cost)).toFixed(0)} (${((mean(cost) / converted) * 1e4).toFixed(1)})` : '0',
    whole(({ pnl }) => Number(pnl.total)),
  ];
  return `| ${cells.join(' | ')} |`;
}
