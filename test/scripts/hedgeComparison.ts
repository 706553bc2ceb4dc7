/** Prints what a hedger costs and spares: one strategy with and without it, as the tables of docs/development/evidence/hedging.md: `npm run hedge:comparison`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import type { BacktestReport, ModelName, ReplayReport } from '../../backtest/index.ts';
import { hedge as hedgeKeys } from '../../src/config/sections/hedge.ts';
import type { Config } from '../../src/config.ts';
import { backtest } from '../../backtest/app/backtest/backtest.ts';
import { readConfig, shippedConfig } from '../../src/wiring/configFile.ts';
import { pairOf } from '../../src/core/index.ts';
import { UsageError } from '../../src/wiring/usageError.ts';
import { decimalFlag, seedNumber } from '../../src/cli/terminal/flags.ts';
import { driftNumber } from '../../backtest/commands/flags.ts';
import { hedgePlot } from './hedgePlot.ts';
import { tapeOf } from '../../src/cli/commands/source.ts';
import { NO_PROGRESS } from '../app/noProgress.ts';

type Flags = {
  readonly config: string;
  readonly tape?: string;
  readonly flowSeconds: number;
  readonly flowDrift: number;
  readonly seeds: number;
  readonly band?: string;
  readonly residual: string;
  readonly deskSpread?: number;
  readonly bands?: readonly string[];
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
  .option('--bands <list>', 'compare the band that follows with these by hand, a quarter of each left', listFlag)
  .option('--svg <file>', 'draw the first of them there')
  .action(async ({ config: file, tape: dir, seeds, svg, band, residual, deskSpread, bands, ...flow }: Flags) => {
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
    const once = async (which: Config, seed: number, models = MODELS): Promise<BacktestReport> =>
      backtest({
        ...{
          config: which,
          configText,
          tape,
          seed,
          ...flow,
          models,
          version: '',
          files: null,
          progress: NO_PROGRESS,
        },
        latencies: { orders: latency, cancels: latency, answers: latency, feed },
        latencyText: { latencyMs: String(MS), feedLatencyMs: '0' },
        threads: models.length,
      });
    if (bands !== undefined) {
      const ways = bandsOf(config, bands);
      const runs = ways.map((): ReplayReport[] => []);
      for (let seed = 1; seed <= (tape === null ? seeds : 1); seed++)
        for (const [i, { config: which }] of ways.entries())
          runs[i]?.push(...(await once(which, seed, ['expected'])).models);
      printBands(config, ways, runs);
      return;
    }
    const pairs: (readonly [BacktestReport, BacktestReport])[] = [];
    for (let seed = 1; seed <= (tape === null ? seeds : 1); seed++)
      pairs.push([await once(without, seed), await once(config, seed)]);
    print(pairs);
    const first = pairs[0];
    if (svg !== undefined && first) writeFileSync(svg, hedgePlot(first));
  });

type BandRun = { readonly name: string; readonly config: Config };

/** No hedger, the band that follows, and bands by hand. */
function bandsOf(config: Config, bands: readonly string[]): readonly BandRun[] {
  const { hedge, ...without } = config;
  if (hedge?.risk === undefined) throw new UsageError('--bands: expected hedge.risk and hedge.flow to compare with');
  const { risk: _, flow: __, ...others } = hedge;
  const byHand = bands.map((band): BandRun => {
    const residual = String(Number(band) / 4);
    return { name: `band ${band}`, config: { ...without, hedge: { ...others, band, residual } } };
  });
  return [{ name: 'follows', config }, { name: 'without', config: without }, ...byHand];
}

/** Each with its net, what it is worth once the risk is paid for (what the band maximises), and that against the band that follows, seed by seed. */
function printBands(config: Config, ways: readonly BandRun[], runs: readonly (readonly ReplayReport[])[]): void {
  const { risk = '', flow } = config.hedge ?? {};
  const [, minor] = pairOf(config.book);
  const perS = ((flow?.volatilityBps ?? 0) / 600_000) ** 2;
  const worth = ({ pnl, series: { everyMs, columns } }: ReplayReport): number => {
    const held = columns.position.reduce<number>((sum, q, i) => sum + ((q ?? 0) * (columns.middle[i] ?? 0)) ** 2, 0);
    return Number(pnl.total) - (perS * held * everyMs) / 1_000 / Number.parseFloat(risk);
  };
  console.log(
    `| band | held on average | hedges | hedging, ${minor} | net, ${minor} (95 %) | less its risk (95 %) | against the band that follows (95 %) |`,
  );
  console.log('|---|---:|---:|---:|---:|---:|---:|');
  const [own = []] = runs.map(each => each.map(worth));
  runs.forEach((each, i) => {
    const worths = each.map(worth);
    const cells = [
      ways[i]?.name,
      meanOf(each.map(({ position }) => position.meanSize)).toFixed(4),
      meanOf(each.map(({ hedges }) => hedges?.completed ?? 0)).toFixed(1),
      (-meanOf(each.map(({ hedges }) => Number(hedges?.cost ?? 0)))).toFixed(0),
      around(each.map(({ pnl }) => Number(pnl.total))),
      around(worths),
      i === 0 ? '' : around(worths.map((x, seed) => x - (own[seed] ?? 0))),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  });
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0) / values.length;

/** A mean with its 95 % interval. */
function around(values: readonly number[]): string {
  const mean = meanOf(values);
  const variance = meanOf(values.map(x => (x - mean) ** 2)) * (values.length / (values.length - 1));
  const error = 1.96 * Math.sqrt(variance / values.length);
  return `${mean.toFixed(0)} (${(mean - error).toFixed(0)} to ${(mean + error).toFixed(0)})`;
}

function listFlag(text: string): readonly string[] {
  return text.split(',').map(decimalFlag);
}

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
