/** Command that compares bots on recordings. */
import { Option, type Command } from 'commander';
import { comparisonPage, withoutCurves, type Comparison } from '../index.ts';
import { modelsOf, type VenueFees } from '../app/backtest/backtest.ts';
import { compare, TIERS, type TierName } from '../app/compare/compare.ts';
import { compareSeveralBooks } from '../app/compare/compareSeveralBooks.ts';
import { describeComparedBooks } from '../app/compare/comparedBooksText.ts';
import { describeComparison } from '../app/backtest/backtestText.ts';
import { readConfig } from '../../src/wiring/configFile.ts';
import { UsageError } from '../../src/wiring/usageError.ts';
import { jsonBeside, pageParts, writePage } from '../../src/wiring/outFiles.ts';
import { decimalFlag, seedNumber, sessionHours, threadNumber } from '../../src/cli/terminal/flags.ts';
import { refuseGiven } from '../../src/cli/terminal/givenFlags.ts';
import { HEDGE_FLAGS, hedgeFlags, partFlag, startsFlag, tradedTime, venueFees, type HedgeFlags } from './flags.ts';
import { hedgeVenueOf } from './recordings.ts';
import { endByFaults } from './faults.ts';
import { latenciesOf, latencyText } from '../app/backtest/latencyFlags.ts';
import { progressBar } from '../../src/cli/terminal/progressBar.ts';
import { version } from '../../src/cli/terminal/version.ts';
import { print } from '../../src/cli/terminal/output.ts';

type CompareFlags = HedgeFlags & {
  readonly config: readonly string[];
  readonly tape: readonly string[];
  readonly fees?: string;
  readonly venueFees?: VenueFees;
  readonly models: string;
  readonly starts: number;
  readonly anyway: boolean;
  readonly risk: string;
  readonly calibrate: number;
  readonly latencyMs: string;
  readonly cancelLatencyMs?: string;
  readonly feedLatencyMs: string;
  readonly fillLatencyMs?: string;
  readonly since?: number;
  readonly until?: number;
  readonly session?: string;
  readonly seed: number;
  readonly threads?: number;
  readonly out?: string;
  readonly json: boolean;
};

/**
 * Adds the command `compare`. It prints text, or with --json one object; --out writes the page and its JSON. Rejects
 * with `UsageError` for invalid flags, configurations and recordings.
 */
export function addCompareCommand(program: Command): void {
  hedgeFlags(sessionHours(tradedTime(venueFees(program.command('compare')))))
    .description('compare configurations or all strategies on recordings')
    .requiredOption('--tape <paths...>', 'recordings, or folders of recordings')
    .addOption(
      new Option('-c, --config <files...>', 'configurations to compare, each on recordings of its book').default(
        [],
        'none',
      ),
    )
    .addOption(
      new Option('--fees <tiers>', 'fee tiers, comma-separated (default: own,best,entry; with -c: config)').conflicts(
        'venueFees',
      ),
    )
    .option('--starts <n>', 'number of start times, spread over an hour', startsFlag, 4)
    .option('--models <names>', 'fill models, comma-separated', 'pessimistic,expected,optimistic')
    .addOption(
      new Option(
        '--risk <sum>',
        'without -c: loss (quote currency) at full inventory if the price moves one hourly standard deviation',
      )
        .argParser(decimalFlag)
        .default('10')
        .conflicts('config'),
    )
    .addOption(
      new Option('--calibrate <share>', 'without -c: share of each recording used for calibration')
        .argParser(partFlag)
        .default(1 / 3, 'a third')
        .conflicts(['config', 'since']),
    )
    .addOption(
      new Option('--anyway', 'without -c: also run bots for which the calibration advises against quoting')
        .default(false)
        .conflicts('config'),
    )
    .option('--latency-ms <spec>', 'request latency (see puntas backtest)', '25')
    .option('--cancel-latency-ms <spec>', 'latency of cancels (default: --latency-ms)')
    .option('--feed-latency-ms <spec>', 'minimum market-data delay (ms)', '0')
    .option('--fill-latency-ms <spec>', 'delay of fill notices (default: --latency-ms)')
    .option('--seed <n>', 'random seed', seedNumber, 1)
    .option('--threads <n>', 'number of parallel runs (default: 2)', threadNumber)
    .option('--out <file>', 'write NAME.html and NAME.json')
    .option('--json', 'print one JSON object', false)
    .action(async (flags: CompareFlags, self: Command) => {
      const { config, risk, calibrate, out } = flags;
      const page = out === undefined ? null : pageNames(out);
      const shared = {
        configs: config,
        paths: flags.tape,
        ...(flags.venueFees && { venueFees: flags.venueFees }),
        models: modelsOf(flags.models),
        latencies: latenciesOf(flags),
        latencyText: latencyText(flags),
        time: flags,
        ...(flags.session !== undefined && { session: flags.session }),
        seed: flags.seed,
        version: version(),
        progress: progressBar(),
      };
      const hasSeveral = config.some(path => readConfig(path).books !== undefined);
      if (hasSeveral) refuseOneBookFlags(self);
      const comparison = hasSeveral
        ? await compareSeveralBooks(shared)
        : await compare({
            ...shared,
            tiers: tiersOf(flags.fees ?? tiersWithout(flags), config.length > 0),
            hedge: await hedgeVenueOf(flags, self, flags.session),
            starts: flags.starts,
            anyway: flags.anyway,
            riskPerHour: risk,
            calibratedShare: calibrate,
            threads: flags.threads ?? THREADS,
          });
      if (page !== null) writePage(page.html, page.json, comparison, () => comparisonPage(comparison, pageParts()));
      const where = page === null ? '' : `\npage: ${page.html}`;
      print(flags.json ? JSON.stringify(withoutCurves(comparison)) : `${describe(comparison)}${where}`);
      endByFaults(comparison.tapes.flatMap(({ runs }) => runs.flatMap(({ models }) => models)));
    });
}

const describe = (comparison: Comparison): string =>
  comparison.desks === undefined ? describeComparison(comparison) : describeComparedBooks(comparison);

/** Refuses the flags that a comparison with several books does not support. */
function refuseOneBookFlags(command: Command): void {
  const isNotFor = 'not supported with several books';
  refuseGiven(command, ['fees'], `${isNotFor}; set backtest.fees in the configurations, or pass --venue-fees`);
  refuseGiven(command, ['starts'], `${isNotFor}; choose other starts with --since`);
  refuseGiven(command, ['threads', ...HEDGE_FLAGS], `${isNotFor}; remove the flag`);
}

const THREADS = 2;

function pageNames(out: string): { readonly html: string; readonly json: string } {
  if (!/\.html?$/i.test(out))
    throw new UsageError(`--out: expected a name that ends in .html, found ${JSON.stringify(out)}`);
  return { html: out, json: jsonBeside(out) };
}

/**
 * Returns the default tiers. With fees of another exchange there is only one tier, because such fees replace all tiers.
 */
function tiersWithout({ config, venueFees }: CompareFlags): string {
  if (config.length > 0) return 'config';
  return venueFees === undefined ? 'own,best,entry' : 'entry';
}

function tiersOf(text: string, hasConfigs: boolean): readonly TierName[] {
  return text.split(',').map(name => {
    const found = TIERS.find(known => known === name);
    if (!found)
      throw new UsageError(`--fees: unknown tier ${JSON.stringify(name)}; expected one of ${TIERS.join(', ')}`);
    if (found === 'config' && !hasConfigs)
      throw new UsageError('--fees config needs configurations; pass the configurations with -c');
    return found;
  });
}
