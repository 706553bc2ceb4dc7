/**
 * `puntas compare`: runs several bots on several recordings, under several fill models and fee tiers, for one page and
 * one JSON.
 */
import {
  againstFirst,
  Fees,
  hashOfRuns,
  mainOf,
  makerBpsOf,
  type ComparedTape,
  type ComparedVerdict,
  type Comparison,
  type ExternalReferenceOptions,
  hedgeTapeReport,
  type HedgeTape,
  type Measured,
  type ModelName,
  type ReplayOptions,
  type ReplayReport,
  type StaggeredStart,
} from '../../index.ts';
import { edgeProblem, externalReferenceOf, type Config } from '../../../src/config.ts';
import { approximately, type FeeTier } from '../../../src/core/index.ts';
import { feesOf } from '../../../src/sandbox/index.ts';
import { calibrationOf, imbalanceOf, KIND, loadStoredTape, type Tape } from '../../../src/tape/index.ts';
import { ownFees, replayedFlaws, simulatedAccountOf, withVenueFees, type VenueFees } from '../backtest/backtest.ts';
import { bothAccountsOf, hedgeTapeProblemOf, refuseHedgeTape, withHedgeTape } from '../backtest/hedgedElsewhere.ts';
import { recordedRoutes, routeBooks } from '../backtest/hedgeRoutes.ts';
import type { Latencies } from '../backtest/backtestModel.ts';
import { modelRunner, type ModelRunner } from '../backtest/backtestThreads.ts';
import { fullValueOf, ORDERS_IN_FULL } from '../../../strategies/index.ts';
import { comparedRun, planUnlessDeclined, Replays, startsOf, type Planned } from './compareRuns.ts';
import { reasonAgainstQuoting, Verdicts } from './quoteAdvice.ts';
import { derivedSetups, givenSetups, termsOf, type Setup } from './compareSetups.ts';
import {
  recordedBook,
  findTapes,
  firstPart,
  SECONDS_MIN,
  tradedGaps,
  type FoundTape,
  type LeftOut,
} from './compareTapes.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { missingReference, recordedElsewhere } from '../backtest/recordedReference.ts';
import type { LatencyFlags } from '../backtest/latencyFlags.ts';
import {
  cutAt,
  marketOf,
  noOverlapReason,
  spanOf,
  type RecordedMarket,
  type OpenedTape,
  type TradedTime,
} from '../backtest/market.ts';
import { withProgress, type OnShare, type Progress } from '../../../src/messages/progress.ts';

export const TIERS = ['own', 'entry', 'best', 'config'] as const;
export type TierName = (typeof TIERS)[number];

export type CompareOptions = {
  /**
   * Configuration files; if empty, every strategy is compared, with parameters from the first part of each recording.
   */
  readonly configs: readonly string[];
  readonly paths: readonly string[];
  readonly tiers: readonly TierName[];
  /** Fees of another exchange, which replace every fee tier. */
  readonly venueFees?: VenueFees;
  /** Recording of the other exchange, on which bots with `hedge.elsewhere` hedge; absent if no bot hedges there. */
  readonly hedge?: HedgeTape | null;
  /** Whether to run bots even if the first part of a recording advises against quoting. */
  readonly anyway: boolean;
  /** Number of starts of each run at the first fee tier, spread evenly over an hour. 1: only the first start. */
  readonly starts: number;
  readonly models: readonly ModelName[];
  /**
   * Loss at full inventory if the price moves one standard deviation in an hour, as decimal text in each book's quote
   * currency.
   */
  readonly riskPerHour: string;
  /** Share of each recording, between 0 and 1, for measuring parameters; it is not traded. */
  readonly calibratedShare: number;
  readonly latencies: Latencies;
  readonly latencyText: LatencyFlags;
  /** Start and end of trading in every recording; parameters come from everything before `since`. */
  readonly time?: TradedTime;
  /** Session for every recording, in the format of `--session`. */
  readonly session?: string;
  readonly seed: number;
  readonly threads: number;
  readonly version: string;
  readonly progress: Progress;
};

/** Runs the comparison. Throws `UsageError` for errors that the operator can fix. */
export async function compare(options: CompareOptions): Promise<Comparison> {
  const { configs, models, riskPerHour, calibratedShare, latencyText, seed } = options;
  const given = configs.length === 0 ? null : givenSetups(configs).map(one => atFees(one, options));
  refuseTiers(given ?? [], options);
  const { hedge = null } = options;
  const unfit = hedge && hedgeTapeProblemOf(given ?? [], hedge);
  refuseHedgeTape(unfit);
  const { found, leftOut } = await findTapes(options.paths, options.progress, options.session);
  const prepared: Prepared[] = [];
  const unprepared: LeftOut[] = [];
  for (const { name, given: recorded } of found) {
    const problem = noOverlapReason(spanOf(recorded), options.time ?? {});
    if (problem !== null) {
      unprepared.push({ path: name, why: problem });
      continue;
    }
    const tape = { name, given: cutAt(recorded, options.time?.until) };
    const ready =
      given === null
        ? await withProgress(options.progress, `measuring ${name}`, onShare => derived(tape, options, onShare))
        : givenFor(tape, given, found, options);
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
    ...latencyText,
    ...(hedge !== null && { hedge: hedgeTapeReport(hedge) }),
    seed,
    models,
    riskPerHour: given === null ? riskPerHour : null,
    calibratedShare: given === null && options.time?.since === undefined ? calibratedShare : null,
    starts: options.starts,
    tapes,
    leftOut: out,
    hash: hashOfRuns(tapes),
  };
}

/**
 * Throws `UsageError` if tiers are named, but every configuration sets its own fees, which replace every tier. With
 * fees of another exchange, checks nothing, because the command line already refuses --fees next to --venue-fees.
 */
function refuseTiers(given: readonly Setup[], { tiers, venueFees }: CompareOptions): void {
  if (venueFees !== undefined || tiers.every(tier => tier === 'config')) return;
  const [own] = given;
  if (own === undefined || !given.every(({ config }) => config !== null && ownFees(config) !== null)) return;
  throw new UsageError(
    `--fees ${tiers.join(',')}: ${own.name} sets its own fees (backtest.fees, or fees of the embedded exchange), which replace every tier; remove --fees, or remove these fees from the file`,
  );
}

/** Recording that is ready for runs, with its plans, measurements and verdicts. */
type Prepared = {
  readonly name: string;
  readonly given: Tape | OpenedTape;
  readonly market: RecordedMarket;
  /** Start of trading, in epoch ms. */
  readonly from: number;
  readonly measured: Measured | null;
  /**
   * Plans all bots at `tier`, which is constant for the run. If `tier` is undefined, each bot has the tier of its
   * configured volume.
   */
  readonly planAt: (name: TierName, tier?: FeeTier) => readonly Planned[];
  readonly verdicts: readonly ComparedVerdict[];
};

function derived({ name, given }: FoundTape, options: CompareOptions, onShare: OnShare): Prepared | string {
  const { riskPerHour, calibratedShare } = options;
  const since = options.time?.since;
  if (since !== undefined && since < spanOf(given).from + 1_000 * SECONDS_MIN)
    return `expected at least ${SECONDS_MIN} s of recording before --since, where the parameters are measured; choose a later --since`;
  const first = firstPart(given, calibratedShare, since);
  const calibration = calibrationOf(first.tape, onShare);
  const whole = 'options' in given ? loadStoredTape(given.tape) : given;
  const market = marketOf(whole.quotesOnly ? { ...whole, quotesOnly: false } : given, options);
  const price = lastPrice(first.tape) * approximately(market.instrument.tickMoney);
  const { seconds, trades, volatilityBps, adverseBps, arrivals } = calibration;
  const measured = {
    ...{ seconds, trades, volatilityBps, adverseBps },
    arrivalsPerMinute: arrivals?.perMinute ?? null,
    decayPerBps: arrivals?.decayPerBps ?? null,
    imbalanceSlope: calibration.signals && imbalanceOf(calibration.signals),
  };
  const terms = termsOf(market.instrument, price, measured, riskPerHour);
  const full = typeof terms === 'string' ? null : fullValueOf(Number(riskPerHour), terms.volatilityBps);
  const orderValue = full === null ? null : full / ORDERS_IN_FULL;
  const { latencies, seed } = options;
  const verdicts =
    orderValue === null
      ? null
      : new Verdicts({ first: first.tape, whole, until: first.until, orderValue, latencies, seed }, onShare);
  const why = whole.quotesOnly ? WITHOUT_AMOUNTS : terms;
  const planAt = (tierName: TierName, tier?: FeeTier): readonly Planned[] => {
    if (tier === undefined) return [];
    const advice = verdicts?.at(makerBpsOf(tier));
    const declined = advice === undefined ? null : reasonAgainstQuoting(advice, makerBpsOf(tier));
    const setups = derivedSetups(typeof why === 'string' ? why : terms, tier.maker, advice).map(one =>
      atFees(one, options),
    );
    return setups.map(setup => planUnlessDeclined(plan(setup, tierName, market, tier), declined, options.anyway));
  };
  const fees = scheduleOf(market.instrument.minor, options).map(makerBpsOf);
  return {
    ...{ name, given, market, planAt },
    from: first.until,
    measured: { ...measured, fullValue: full, orderValue },
    verdicts: verdicts?.judged([...new Set(fees)].reverse()) ?? [],
  };
}

const WITHOUT_AMOUNTS =
  'the recording cannot be replayed, because it has best prices without amounts; only a distance profile can be measured';

function givenFor(
  { name, given }: FoundTape,
  setups: readonly Setup[],
  all: readonly FoundTape[],
  options: CompareOptions,
): Prepared | string {
  const book = recordedBook(given);
  const fitting = setups.filter(({ config }) => config?.book === book);
  if (fitting.length === 0) {
    const isRead = setups.some(({ config }) => config !== null && booksRead(config).includes(book));
    return `no configuration trades ${book}${isRead ? ', but its prices are read' : ''}`;
  }
  if (('options' in given ? given.tape : given).quotesOnly) return WITHOUT_AMOUNTS;
  const market = marketOf(given, options);
  const planAt = (tierName: TierName, tier?: FeeTier): readonly Planned[] =>
    fitting.map(setup => plan(setup, tierName, market, tier, all, options.hedge));
  const from = Math.max(options.time?.since ?? market.span.from, market.span.from);
  return { name, given, market, planAt, from, measured: null, verdicts: [] };
}

/**
 * Plans a bot. A given `tier` is constant for the run, whatever the bot trades. If `tier` is undefined, the bot has the
 * tier of its configured volume.
 */
function plan(
  setup: Setup,
  name: TierName,
  { instrument, firstTicks, span }: RecordedMarket,
  tier?: FeeTier,
  all: readonly FoundTape[] = [],
  hedgeTape: HedgeTape | null = null,
): Planned {
  const { config } = setup;
  if (config === null)
    return {
      setup,
      tier: name,
      feeBps: tier === undefined ? 0 : 1e4 * Number(tier.maker),
      account: null,
      notRun: setup.notRun,
      declined: null,
    };
  const hedge = config.hedge?.elsewhere === undefined ? null : hedgeTape;
  const account = simulatedAccountOf(config, instrument, firstTicks);
  const fees: ReplayOptions['fees'] =
    tier === undefined || ownFees(config) !== null ? account.fees : { tiers: [tier], volume30d: '0' };
  const { makerRate } = new Fees(instrument, fees);
  const planned = { setup, tier: name, feeBps: makerRate / 1e4, declined: null };
  const elsewhere = elsewhereIn(config, all, span, hedge);
  const reference = typeof elsewhere === 'object' ? elsewhere : undefined;
  const both = hedge && bothAccountsOf(config, account.balances, hedge, span, reference);
  const routes = recordedRoutes(config, tapesOf(routeBooks(config), all, span), span);
  const problem = edgeProblem(config, makerRate) ?? [elsewhere, both].find(found => typeof found === 'string') ?? null;
  return problem === null && typeof both !== 'string'
    ? {
        ...planned,
        account: { ...account, ...both, fees, ...(reference && { elsewhere: reference }), routes },
        notRun: null,
      }
    : { ...planned, account: null, notRun: problem };
}

/**
 * Returns the reference from recordings of other books; `undefined` if the configuration needs none. If a book of the
 * reference has no recording of the tape's hours, returns the reason why the bot cannot run, as text.
 */
function elsewhereIn(
  config: Config,
  all: readonly FoundTape[],
  span: RecordedMarket['span'],
  hedge: HedgeTape | null,
): ExternalReferenceOptions | string | undefined {
  const books = externalReferenceOf(config)?.legs.map(({ book }) => book) ?? [];
  // Recordings of the traded book are excluded: they do not name their exchange, so one may be the tape itself.
  const others = books.filter(book => book !== config.book && book !== hedge?.tape.instrument.symbol);
  const found = tapesOf(others, all, span);
  const tapes = hedge === null ? found : withHedgeTape(config, found, hedge);
  if (books.length > 0 && tapes.size === books.length) return recordedElsewhere(config, tapes, span) ?? undefined;
  if (missingReference(config, new Map()) === null) return undefined;
  const missing = books.filter(book => !tapes.has(book));
  return `the reference price of the bot comes from ${books.join(', ')}, but no recording of ${missing.join(', ')} covers the hours of the tape`;
}

/** Returns the books whose recorded prices a configuration reads: for its reference price, and for hedges. */
const booksRead = (config: Config): readonly string[] => [
  ...(externalReferenceOf(config)?.legs ?? []).map(({ book }) => book),
  ...routeBooks(config),
];

/** Returns the recordings of `books` that overlap `span`, one per book. */
function tapesOf(
  books: readonly string[],
  all: readonly FoundTape[],
  span: RecordedMarket['span'],
): ReadonlyMap<string, Tape> {
  const tapes = new Map<string, Tape>();
  for (const book of books) {
    const other = all.find(({ given }) => recordedBook(given) === book && hasOverlap(spanOf(given), span))?.given;
    if (other !== undefined) tapes.set(book, 'options' in other ? loadStoredTape(other.tape) : other);
  }
  return tapes;
}

const hasOverlap = (a: RecordedMarket['span'], b: RecordedMarket['span']): boolean => a.from <= b.to && a.to >= b.from;

/** Returns the price of the last trade, in ticks; 0 if the tape has no trade. */
function lastPrice({ columns: { kind, price, length } }: Tape): number {
  for (let row = length - 1; row >= 0; row--) if (kind[row] === KIND.trade) return price[row]!;
  return 0;
}

async function runAll(prepared: readonly Prepared[], options: CompareOptions): Promise<readonly ComparedTape[]> {
  const costs = prepared.map(costOf);
  const all = costs.reduce((sum, cost) => sum + cost, 0);
  const { progress } = options;
  const runner = modelRunner(options.threads);
  progress.begin(1000, '');
  const tapes: ComparedTape[] = [];
  let done = 0;
  try {
    for (const [i, tape] of prepared.entries()) {
      const cost = costs[i] ?? 0;
      const tell = (share: number) => progress.at((1000 * (done + share * cost)) / Math.max(1, all), tape.name);
      tell(0);
      tapes.push(await runTape(tape, options, runner, tell));
      done += cost;
    }
  } finally {
    progress.end();
    await runner.end();
  }
  return tapes;
}

/** Number of rows that take as long to process as the decisions of one second; used to estimate progress. */
const ROWS_PER_DECISION_SECOND = 100;
function costOf({ given, market }: Prepared): number {
  const rows = 'options' in given ? given.tape.rows : given.columns.length;
  const seconds = (market.span.to - market.span.from) / 1000;
  return rows + ROWS_PER_DECISION_SECOND * seconds;
}

async function runTape(
  prepared: Prepared,
  options: CompareOptions,
  runner: ModelRunner,
  onProgress: (share: number) => void,
): Promise<ComparedTape> {
  const { name, given, market, planAt, from, measured, verdicts } = prepared;
  const { models, seed, latencies, tiers } = options;
  const { instrument, span, rows } = market;
  const { source, gaps: all, flaws } = 'options' in given ? given.tape : given;
  const gaps = all.filter(gap => gap.to > from);
  const schedule = scheduleOf(instrument.minor, options);
  const bots = planAt('best', schedule.at(-1)).length;
  const replays = new Replays({
    shared: { instrument, gaps, seed, latencies, from, to: span.to },
    ...{ rows, models, runner, onProgress },
    expected: bots * (tiers.length * models.length + options.starts),
  });
  const planned = (await Promise.all(tiers.map(tier => plannedAt(tier, prepared, schedule, replays)))).flat();
  const reports = await replays.underModels(planned);
  const staggered = await staggeredOf(planned, reports, { from, to: span.to }, options, replays);
  return {
    ...{ name, source, book: instrument.symbol, major: instrument.major, minor: instrument.minor, hash: market.hash },
    dirt: [...flaws, ...replayedFlaws(reports.flat())],
    gaps: tradedGaps(all, from, span.to),
    tapeFrom: new Date(span.from).toISOString(),
    from: new Date(from).toISOString(),
    to: new Date(span.to).toISOString(),
    seconds: (span.to - from) / 1000,
    ...{ measured, verdicts },
    runs: againstFirst(
      planned.map((one, i) =>
        comparedRun(one, reports[i]!, {
          schedule,
          flaws,
          later: staggered[i]!,
          isGiven: options.venueFees !== undefined,
        }),
      ),
    ),
  };
}

const atFees = (setup: Setup, { venueFees }: CompareOptions): Setup =>
  setup.config === null ? setup : { ...setup, config: withVenueFees(setup.config, venueFees) };

const scheduleOf = (minor: string, { venueFees }: CompareOptions): readonly FeeTier[] =>
  venueFees === undefined ? feesOf(minor).tiers : [{ volume: '0', ...venueFees }];

function plannedAt(
  name: TierName,
  { planAt }: Prepared,
  schedule: readonly FeeTier[],
  replays: Replays,
): Promise<readonly Planned[]> {
  if (name === 'own') return replays.atOwnTier(schedule, tier => planAt(name, schedule[tier]));
  const tier = { entry: schedule[0], best: schedule.at(-1), config: undefined }[name];
  return Promise.resolve(planAt(name, tier));
}

/**
 * Returns the results of each run's starts after the first; empty for a run that is not at the first tier, or had no
 * fill under the main model.
 */
async function staggeredOf(
  planned: readonly Planned[],
  reports: readonly (readonly ReplayReport[])[],
  span: { readonly from: number; readonly to: number },
  { tiers, starts: count }: CompareOptions,
  replays: Replays,
): Promise<readonly (readonly StaggeredStart[])[]> {
  const [, ...starts] = startsOf(span, count);
  const traded = planned.map(({ tier }, i) => tier === tiers[0] && (mainOf(reports[i]!)?.fills ?? 0) > 0);
  const later = await replays.fromStarts(
    planned.filter((_, i) => traded[i]),
    starts,
  );
  let next = 0;
  return traded.map(was =>
    (was ? later[next++]! : []).map(({ pnl, fills }, n) => ({
      laterS: (starts[n]! - span.from) / 1000,
      ...{ net: pnl.total, fills },
    })),
  );
}
