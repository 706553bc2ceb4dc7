/** Backtest of several books: replays one tape per book on one clock under each fill model, and writes one report. */
import {
  hashOver,
  recordLinkedFlows,
  skewsOf,
  totalsOf,
  type BacktestReport,
  type SeveralBooksModel,
  type SeveralBooksReport,
  type SeveralBooksRun,
  type ModelName,
} from '../../index.ts';
import { booksOf, booksText, externalReferenceOf, flowMarketOf, symbolsOf, type Config } from '../../../src/config.ts';
import { money, moneyOf, textOfMoney, textOfError } from '../../../src/core/index.ts';
import { gapsWithin, loadStoredTape, type Tape } from '../../../src/tape/index.ts';
import { withProgress, type OnShare, type Progress } from '../../../src/messages/progress.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { replayedFlaws, simulatedAccountOf } from '../backtest/backtest.ts';
import { sourceFor, type Latencies } from '../backtest/backtestModel.ts';
import type { ReferenceTapes } from '../backtest/hedgeRoutes.ts';
import type { LatencyFlags } from '../backtest/latencyFlags.ts';
import { cutAt, gapsOf, marketOf, noOverlapReason, type RecordedMarket, type TradedTime } from '../backtest/market.ts';
import { missingReference, recordedElsewhere } from '../backtest/recordedReference.ts';
import type { ReportFiles } from '../backtest/reportFiles.ts';
import { runSeveralBooksJob, type SeveralBooksJob } from './severalBooksRun.ts';
import { commonSpan, tapesOfBooks, type BookTape } from './tapesOfBooks.ts';
import { evenShares } from './evenShares.ts';

export type SeveralBooksOptions = {
  readonly config: Config;
  /** Text of the configuration, for the report. `version` is the version of Puntas. */
  readonly configText: string;
  readonly version: string;
  /** Recordings in any order; `null` to record the simulated markets of the configuration first. */
  readonly tapes: readonly BookTape[] | null;
  readonly seed: number;
  /** Length of the simulated markets, in seconds. */
  readonly flowSeconds: number;
  readonly models: readonly ModelName[];
  readonly from?: 'levels' | 'orders';
  readonly latencies: Latencies;
  readonly latencyText: LatencyFlags;
  readonly time: TradedTime;
  /** Whether to repeat the run with each book alone. */
  readonly alone: boolean;
  /** Returns the files of a book; `null` if no files are written. */
  readonly files: ((book: string) => ReportFiles) | null;
  readonly progress: Progress;
};

/** Runs the backtest. Throws `UsageError` for errors that the operator can fix. */
export async function backtestSeveralBooks(options: SeveralBooksOptions): Promise<SeveralBooksReport> {
  const { config, models, progress, alone } = options;
  const books = booksOf(config);
  const given = options.tapes ?? (await recordedFlows(options));
  const whole = tapesOfBooks(config, given);
  const common = commonSpan(whole)!;
  const { since = common.from, until = common.to } = options.time;
  const problem = noOverlapReason(common, options.time, 'the common time of the recordings');
  if (problem !== null) throw new UsageError(problem);
  const span = { from: Math.max(since, common.from), to: Math.min(until, common.to) };
  const tapes = whole.map(tape => cutAt(tape, span.to));
  const markets = tapes.map(tape => marketOf(tape, options));
  const accounts = books.map((one, i) =>
    simulatedAccountOf(one, markets[i]!.instrument, markets[i]!.firstTicks, config.book),
  );
  const balances = config.exchange.kind === 'embedded' ? config.exchange.balances : addedUp(accounts);
  const references = books.map(one => referencesOf(one, books, tapes));
  const jobs = models.map(() => ({ seed: options.seed, latencies: options.latencies }));
  const inputs = books.map((one, i) => ({
    instrument: markets[i]!.instrument,
    rows: sourceFor(jobs, markets[i]!.rows, books.length),
    gaps: gapsOf(tapes[i]!).filter(gap => gap.to > span.from),
    fees: accounts[i]!.fees,
    elsewhere: recordedElsewhere(one, references[i]!, span) ?? undefined,
  }));
  const job = (model: ModelName): SeveralBooksJob => ({
    ...{ config, model, ...span, balances, privatePerMinute: config.exchange.budgets.privatePerMinute },
    ...{ seed: options.seed, latencies: options.latencies },
    books: inputs.map((input, i) => ({ ...input, csv: options.files?.(books[i]!.book).csv(model, false) ?? null })),
  });
  const runs = await withProgress(progress, booksText(config), async onShare => {
    const done: SeveralBooksRun[] = [];
    for (const [i, model] of models.entries()) {
      done.push(runSeveralBooksJob(job(model), share => onShare((i + share) / models.length)));
      await nextTurn();
    }
    return done;
  });
  const apart = alone
    ? await withProgress(progress, 'each book alone', onShare => runAlone(models.map(job), onShare))
    : null;
  const names = books.map(({ book }, i) => ({ book, minor: markets[i]!.instrument.minor }));
  const together = runs.map(({ reports, skews }, i): SeveralBooksModel => ({
    model: models[i]!,
    together: totalsOf(names, reports),
    ...(config.jointInventory !== undefined && { jointInventory: skewsOf(names, skews) }),
    ...(apart !== null && { alone: totalsOf(names, apart[i]!) }),
    hash: hashOver(reports.map(({ hash }) => hash)),
  }));
  return {
    from: new Date(span.from).toISOString(),
    to: new Date(span.to).toISOString(),
    together,
    books: books.map((one, i) =>
      reportOfBook(options, one, markets[i]!, tapes[i]!, {
        ...{ runs: runs.map(({ reports }) => reports[i]!), references: references[i]!, ...span },
      }),
    ),
    hash: hashOver(together.map(({ hash }) => hash)),
  };
}

/** Yields to the event loop, so that the program can print progress and receive signals. */
const nextTurn = (): Promise<void> => new Promise(resolve => void setImmediate(resolve));

async function runAlone(
  jobs: readonly SeveralBooksJob[],
  onShare: OnShare,
): Promise<readonly SeveralBooksRun['reports'][]> {
  const all: SeveralBooksRun['reports'][] = [];
  for (const [m, job] of jobs.entries()) {
    const reports: SeveralBooksRun['reports'][number][] = [];
    for (const [i, share] of evenShares(job.config, job.balances).entries()) {
      reports.push(...runSeveralBooksJob({ ...job, ...share, books: [{ ...job.books[i]!, csv: null }] }).reports);
      onShare((m + (i + 1) / job.books.length) / jobs.length);
      await nextTurn();
    }
    all.push(reports);
  }
  return all;
}

function reportOfBook(
  options: SeveralBooksOptions,
  config: Config,
  { instrument, hash, span }: RecordedMarket,
  tape: BookTape,
  {
    runs,
    references,
    from,
    to,
  }: {
    readonly runs: SeveralBooksRun['reports'];
    readonly references: ReferenceTapes;
    readonly from: number;
    readonly to: number;
  },
): BacktestReport {
  const { source, flaws } = 'options' in tape ? tape.tape : tape;
  const noReference = missingReference(config, references, 'backtest this book alone, with');
  return {
    book: config.book,
    strategy: config.strategy.name,
    major: instrument.major,
    minor: instrument.minor,
    tape: { source, hash, dirt: [...flaws, ...replayedFlaws(runs)], gaps: gapsWithin(gapsOf(tape), from, to) },
    ...(references.size > 0 && {
      reference: [...references].map(([book, { source: of }]) => ({ book, source: of })),
    }),
    ...(noReference !== null && { noReference }),
    ...options.latencyText,
    ...(from > span.from && { warmUpFrom: new Date(span.from).toISOString() }),
    seed: options.tapes === null ? options.seed : null,
    config: options.configText,
    made: { puntas: options.version, node: process.versions.node },
    models: runs,
    hash: hashOver(runs.map(report => report.hash)),
  };
}

/**
 * Returns the recordings that the reference price of a book uses; none if the backtest lacks one of them. The
 * recordings are of the bot's exchange, so they stand for no price of another exchange or of a feed.
 */
function referencesOf(config: Config, books: readonly Config[], tapes: readonly BookTape[]): ReferenceTapes {
  const reference = externalReferenceOf(config);
  const wanted = reference !== null && reference.here === reference.legs ? reference.legs.map(({ book }) => book) : [];
  const found = books.flatMap(({ book }, i) => (wanted.includes(book) ? [[book, loaded(tapes[i]!)] as const] : []));
  return new Map(found.length === wanted.length ? found : []);
}

const loaded = (tape: BookTape): Tape => ('options' in tape ? loadStoredTape(tape.tape) : tape);

function addedUp(accounts: readonly { readonly balances: Readonly<Record<string, string>> }[]): Record<string, string> {
  const sums = new Map<string, bigint>();
  for (const { balances } of accounts)
    for (const [currency, total] of Object.entries(balances))
      sums.set(currency, (sums.get(currency) ?? 0n) + moneyOf(total));
  return Object.fromEntries([...sums].map(([currency, sum]) => [currency, textOfMoney(money(sum))]));
}

/** Records the simulated markets of all books, whose prices are consistent with each other. */
async function recordedFlows({ config, seed, flowSeconds, progress }: SeveralBooksOptions): Promise<readonly Tape[]> {
  const market = flowMarketOf(config.exchange);
  if (market === undefined)
    throw new UsageError(
      'exchange.market: a backtest of several books can record only the market of kind flow; pass recordings with --tape',
    );
  const books = Object.fromEntries(symbolsOf(config).map(book => [book, market.books?.[book] ?? {}]));
  return withProgress(progress, 'recording the flow', onShare => {
    try {
      return recordLinkedFlows(books, { seed, seconds: flowSeconds, correlation: market.correlation }, onShare);
    } catch (error) {
      throw new UsageError(`${textOfError(error)}; pass recordings with --tape instead`);
    }
  });
}
