/** `puntas compare`: several bots on several recordings, under several fill models and fee tiers, in one page and one JSON. */
import { comparedModel, Fees, hashOfRuns, mainModel, remarksOf } from '../../../backtest/index.ts';
import type {
  ComparedRun,
  ComparedTape,
  Comparison,
  ExternalReferenceOptions,
  Measured,
  ModelName,
  ReplayOptions,
} from '../../../backtest/index.ts';
import { edgeProblem, externalReferenceOf } from '../../config.ts';
import type { Config } from '../../config.ts';
import { approximately } from '../../core/index.ts';
import type { FeeTier } from '../../core/index.ts';
import { feesOf } from '../../sandbox/index.ts';
import { calibrationOf, KIND, loadStoredTape } from '../../tape/index.ts';
import type { Tape } from '../../tape/index.ts';
import { simulatedAccountOf } from './backtest.ts';
import type { Latencies, ModelJob } from './backtestModel.ts';
import { runModels } from './backtestThreads.ts';
import { fullValueOf, ORDERS_IN_FULL } from '../../../strategies/index.ts';
import { derivedSetups, givenSetups, termsOf } from './compareSetups.ts';
import type { Setup } from './compareSetups.ts';
import { findTapes, firstPart } from './compareTapes.ts';
import type { FoundTape, LeftOut } from './compareTapes.ts';
import { UsageError } from '../wiring/usageError.ts';
import { missingReference, recordedElsewhere } from './externalReference.ts';
import { marketOf } from './market.ts';
import type { RecordedMarket, OpenedTape } from './market.ts';
import type { Progress } from '../messages/progress.ts';

export const TIERS = ['entry', 'best', 'config'] as const;
export type TierName = (typeof TIERS)[number];

export type CompareOptions = {
  /** Files of configurations; with none every strategy is compared, with parameters from the first share of each recording. */
  readonly configs: readonly string[];
  readonly paths: readonly string[];
  readonly tiers: readonly TierName[];
  readonly models: readonly ModelName[];
  /** Decimal text: what one deviation may cost in an hour at full inventory, in each book's minor currency. */
  readonly riskPerHour: string;
  /** Above 0, below 1. */
  readonly calibratedShare: number;
  readonly latencies: Latencies;
  readonly latencyText: { readonly orders: string; readonly feed: string };
  readonly seed: number;
  readonly threads: number;
  readonly version: string;
  readonly progress: Progress;
};

/** Throws `UsageError` for what a person must change. */
export async function compare(options: CompareOptions): Promise<Comparison> {
  const { configs, models, riskPerHour, calibratedShare, latencyText, seed } = options;
  const given = configs.length === 0 ? null : givenSetups(configs);
  const { found, leftOut } = await findTapes(options.paths);
  const prepared: Prepared[] = [];
  const unprepared: LeftOut[] = [];
  for (const tape of found) {
    const ready = given === null ? derived(tape, options) : givenFor(tape, given, found, options);
    if (typeof ready === 'string') unprepared.push({ path: tape.name, why: ready });
    else prepared.push(ready);
  }
  const out = [...leftOut, ...unprepared];
  if (prepared.length === 0)
    throw new UsageError(
      `nothing to compare: ${out.map(({ path, why }) => `${path}: ${why}`).join('; ') || 'no recording was found'}`,
    );
  const tapes = await runAll(prepared, options);
  return {
    made: { puntas: options.version, node: process.versions.node },
    latencyMs: latencyText.orders,
    feedLatencyMs: latencyText.feed,
    seed,
    models,
    riskPerHour: given === null ? riskPerHour : null,
    calibratedShare: given === null ? calibratedShare : null,
    tapes,
    leftOut: out,
    hash: hashOfRuns(tapes),
  };
}

/** One recording with everything that will be run on it. */
type Prepared = {
  readonly name: string;
  readonly given: Tape | OpenedTape;
  readonly market: RecordedMarket;
  /** When trading begins. */
  readonly from: number;
  readonly measured: Measured | null;
  readonly planned: readonly Planned[];
};

type Planned = {
  readonly setup: Setup;
  readonly tier: TierName;
  readonly feeBps: number;
  /** Null where it cannot run. */
  readonly account: Pick<ModelJob, 'fees' | 'balances' | 'elsewhere'> | null;
  readonly notRun: string | null;
};

function derived({ name, given }: FoundTape, options: CompareOptions): Prepared | string {
  const { riskPerHour, calibratedShare, tiers } = options;
  const first = firstPart(given, calibratedShare);
  const calibration = calibrationOf(first.tape);
  const market = marketOf(given, options);
  const price = lastPrice(first.tape) * approximately(market.instrument.tickMoney);
  const { seconds, trades, volatilityBps, adverseBps, arrivals } = calibration;
  const measured = {
    ...{ seconds, trades, volatilityBps, adverseBps },
    arrivalsPerMinute: arrivals?.perMinute ?? null,
    decayPerBps: arrivals?.decayPerBps ?? null,
  };
  const terms = termsOf(market.instrument, price, measured, riskPerHour);
  const full = typeof terms === 'string' ? null : fullValueOf(Number(riskPerHour), terms.volatilityBps);
  const schedule = feesOf(market.instrument.minor).tiers;
  const planned = tiers.flatMap(tier => {
    const fee = tier === 'entry' ? schedule[0] : schedule.at(-1);
    if (fee === undefined) return [];
    return derivedSetups(terms, fee.maker).map(setup => plan(setup, tier, market, fee));
  });
  return {
    ...{ name, given, market, planned },
    from: first.until,
    measured: { ...measured, fullValue: full, orderValue: full === null ? null : full / ORDERS_IN_FULL },
  };
}

function givenFor(
  { name, given }: FoundTape,
  setups: readonly Setup[],
  all: readonly FoundTape[],
  options: CompareOptions,
): Prepared | string {
  const book = bookOf(given);
  const fitting = setups.filter(({ config }) => config?.book === book);
  if (fitting.length === 0) return `no configuration trades ${book}`;
  const market = marketOf(given, options);
  const schedule = feesOf(market.instrument.minor).tiers;
  const planned = options.tiers.flatMap(tier =>
    fitting.map(setup =>
      plan(setup, tier, market, tier === 'entry' ? schedule[0] : tier === 'best' ? schedule.at(-1) : undefined, all),
    ),
  );
  return { name, given, market, planned, from: market.span.from, measured: null };
}

/** `tier` undefined: the one of the configuration's own volume. A given one holds for the whole run, whatever is traded. */
function plan(
  setup: Setup,
  name: TierName,
  { instrument, firstTicks, span }: RecordedMarket,
  tier?: FeeTier,
  all: readonly FoundTape[] = [],
): Planned {
  const { config } = setup;
  if (config === null)
    return {
      setup,
      tier: name,
      feeBps: tier === undefined ? 0 : 1e4 * Number(tier.maker),
      account: null,
      notRun: setup.notRun,
    };
  const account = simulatedAccountOf(config, instrument, firstTicks);
  const fees: ReplayOptions['fees'] = tier === undefined ? account.fees : { tiers: [tier], volume30d: '0' };
  const { makerRate } = new Fees(instrument, fees);
  const planned = { setup, tier: name, feeBps: makerRate / 1e4 };
  const elsewhere = elsewhereIn(config, all, span);
  const problem = edgeProblem(config, makerRate) ?? (typeof elsewhere === 'string' ? elsewhere : null);
  return problem === null
    ? { ...planned, account: { ...account, fees, ...(typeof elsewhere === 'object' && { elsewhere }) }, notRun: null }
    : { ...planned, account: null, notRun: problem };
}

/** What the recordings of other books say, where the configuration goes by it: all of them of these hours, or why it cannot run. */
function elsewhereIn(
  config: Config,
  all: readonly FoundTape[],
  span: RecordedMarket['span'],
): ExternalReferenceOptions | string | undefined {
  const books = externalReferenceOf(config)?.legs.map(({ book }) => book) ?? [];
  const tapes = new Map<string, Tape>();
  for (const book of books) {
    const other = all.find(({ given }) => bookOf(given) === book && meets(spanOf(given), span))?.given;
    if (other !== undefined) tapes.set(book, 'options' in other ? loadStoredTape(other.tape) : other);
  }
  if (books.length > 0 && tapes.size === books.length) return recordedElsewhere(config, tapes, span) ?? undefined;
  if (missingReference(config, new Map()) === null) return undefined;
  const missing = books.filter(book => !tapes.has(book));
  return `it quotes around the price in ${books.join(', ')}, and no recording here is of ${missing.join(', ')} in these hours`;
}

const bookOf = (given: Tape | OpenedTape): string => ('options' in given ? given.tape.book : given.instrument.symbol);
const spanOf = (given: Tape | OpenedTape): RecordedMarket['span'] =>
  'options' in given
    ? given.tape
    : { from: given.columns.at[0] ?? Infinity, to: given.columns.at[given.columns.length - 1] ?? -Infinity };
const meets = (a: RecordedMarket['span'], b: RecordedMarket['span']): boolean => a.from <= b.to && a.to >= b.from;

/** Price in ticks of the last trade. */
function lastPrice({ columns: { kind, price, length } }: Tape): number {
  for (let row = length - 1; row >= 0; row--) if (kind[row] === KIND.trade) return price[row]!;
  return 0;
}

async function runAll(prepared: readonly Prepared[], options: CompareOptions): Promise<readonly ComparedTape[]> {
  const costs = prepared.map(costOf);
  const all = costs.reduce((sum, cost) => sum + cost, 0);
  const { progress } = options;
  progress.begin(1000, '');
  const tapes: ComparedTape[] = [];
  let done = 0;
  try {
    for (const [i, tape] of prepared.entries()) {
      const cost = costs[i] ?? 0;
      const tell = (share: number) => progress.at((1000 * (done + share * cost)) / Math.max(1, all), tape.name);
      tell(0);
      tapes.push(await runTape(tape, options, tell));
      done += cost;
    }
  } finally {
    progress.end();
  }
  return tapes;
}

/** Decisions cost more than rows: about as much as this many each, one a second. */
const ROWS_A_SECOND = 100;
function costOf({ given, market, planned }: Prepared): number {
  const rows = 'options' in given ? given.tape.rows : given.columns.length;
  const seconds = (market.span.to - market.span.from) / 1000;
  return planned.filter(({ account }) => account !== null).length * (rows + ROWS_A_SECOND * seconds);
}

async function runTape(
  { name, given, market, planned, from, measured }: Prepared,
  { models, seed, latencies, threads }: CompareOptions,
  onProgress: (share: number) => void,
): Promise<ComparedTape> {
  const { instrument, span, rows } = market;
  const { source, gaps, flaws } = 'options' in given ? given.tape : given;
  const jobs = planned.flatMap(({ setup: { config }, account }): ModelJob[] =>
    config === null || account === null
      ? []
      : models.map(model => ({
          ...{ model, config, instrument, gaps, seed, latencies, csv: null },
          ...account,
          from,
          to: span.to,
        })),
  );
  const reports = jobs.length === 0 ? [] : await runModels(jobs, rows, threads, onProgress);
  let next = 0;
  const runs = planned.map(({ setup, tier, feeBps, account, notRun }): ComparedRun => {
    const ran = account === null ? [] : reports.slice(next, (next += models.length)).map(comparedModel);
    const { config } = setup;
    return {
      ...{ name: setup.name, strategy: setup.strategy, tier, feeBps, config: setup.text, notRun },
      positionMax: config === null ? null : Number(config.limits.positionMax),
      remarks: remarksOf(ran, flaws),
      models: ran,
    };
  });
  return {
    ...{ name, source, book: instrument.symbol, major: instrument.major, minor: instrument.minor, hash: market.hash },
    dirt: flaws,
    gaps: {
      count: gaps.length,
      seconds: gaps.reduce((sum, gap) => sum + Math.max(0, gap.to - Math.max(gap.from, from)), 0) / 1000,
    },
    tapeFrom: new Date(span.from).toISOString(),
    from: new Date(from).toISOString(),
    to: new Date(span.to).toISOString(),
    seconds: (span.to - from) / 1000,
    measured,
    runs,
  };
}

/** For a person: a line per recording, bot and tier. */
export function describeComparison({ tapes, leftOut }: Comparison): string {
  const lines = tapes.flatMap(({ name, minor, runs }) => [
    name,
    ...runs.map(({ name: bot, tier, notRun, models, remarks }) => {
      const main = mainModel(models);
      const totals = models.map(({ model, pnl }) => `${model} ${Number(pnl.total).toFixed(2)}`).join(', ');
      const what =
        main === null
          ? `not run: ${notRun ?? ''}`
          : `${totals} ${minor}; ${main.fills} fills${remarks.length > 0 ? `; ${remarks.join('; ')}` : ''}`;
      return `  ${bot.padEnd(20)} ${tier.padEnd(6)} ${what}`;
    }),
  ]);
  return [...lines, ...leftOut.map(({ path, why }) => `left out: ${path}: ${why}`)].join('\n');
}
