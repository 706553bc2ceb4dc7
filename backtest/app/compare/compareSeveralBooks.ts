/**
 * `puntas compare` with several books: runs each configuration by the backtest of several books, on the same recordings
 * and one clock.
 */
import {
  againstFirst,
  comparedBooks,
  comparedModel,
  crossedText,
  booksAgainstFirst,
  Fees,
  hashOfRuns,
  isCrossed,
  mainOf,
  remarksOf,
  type BacktestReport,
  type ComparedBooks,
  type ComparedRun,
  type ComparedTape,
  type Comparison,
  type SeveralBooksReport,
} from '../../index.ts';
import { booksOf, edgeProblem, ONE_BOOK_ONLY, type Config } from '../../../src/config.ts';
import type { Instrument } from '../../../src/core/index.ts';
import type { Progress } from '../../../src/messages/progress.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { simulatedAccountOf, withVenueFees } from '../backtest/backtest.ts';
import { noOverlapReason } from '../backtest/market.ts';
import { backtestSeveralBooks } from '../severalBooks/severalBooksBacktest.ts';
import { commonSpan, tapesOfBooks } from '../severalBooks/tapesOfBooks.ts';
import type { CompareOptions } from './compare.ts';
import { givenBots, type GivenBot } from './compareSetups.ts';
import { recordedBook, findTapes, tradedGaps, type FoundTape, type LeftOut } from './compareTapes.ts';

/** Options that a comparison with several books supports. */
export type CompareSeveralBooksOptions = Pick<
  CompareOptions,
  | 'configs'
  | 'paths'
  | 'venueFees'
  | 'models'
  | 'latencies'
  | 'latencyText'
  | 'time'
  | 'session'
  | 'seed'
  | 'version'
  | 'progress'
>;

/**
 * Runs the comparison in the common time of all recordings. A configuration with one book can be compared with others
 * of several. Throws `UsageError` for errors that the operator can fix.
 */
export async function compareSeveralBooks(options: CompareSeveralBooksOptions): Promise<Comparison> {
  const { progress, models, seed, latencies, latencyText, version, time = {} } = options;
  const bots = givenBots(options.configs).map(bot => {
    refuseOneBookSections(bot);
    return { ...bot, config: withVenueFees(bot.config, options.venueFees) };
  });
  const books = [...new Set(bots.flatMap(({ config }) => quotedBooks(config)))];
  const all = await findTapes(options.paths, progress, options.session);
  const found = all.found.filter(({ given }) => books.includes(recordedBook(given)));
  const leftOut = [
    ...all.leftOut,
    ...all.found
      .filter(tape => !found.includes(tape))
      .map(({ name, given }) => ({ path: name, why: `no configuration trades ${recordedBook(given)}` })),
  ];
  const recordings = bots.map(bot => recordingsOf(bot, found, leftOut));
  const [book = '', ...others] = books;
  const tapes = tapesOfBooks(
    { book, books: [book, ...others].map(symbol => ({ symbol })) },
    found.map(({ given }) => given),
  );
  const common = commonSpan(tapes)!;
  const problem = noOverlapReason(common, time, 'the common time of the recordings');
  if (problem !== null) throw new UsageError(problem);
  const traded = {
    since: Math.max(time.since ?? common.from, common.from),
    until: Math.min(time.until ?? common.to, common.to),
  };
  const runs: ConfigurationRun[] = [];
  progress.begin(PROGRESS, '');
  try {
    for (const [i, bot] of bots.entries()) {
      const report = await backtestSeveralBooks({
        ...{ config: bot.config, configText: bot.text, version, tapes: recordings[i]!, seed, flowSeconds: 0 },
        ...{ models, latencies, latencyText, time: traded, alone: false, files: null },
        progress: progressOfPart(progress, bot.name, i, bots.length),
      });
      const together = comparedBooks(bot.name, bot.config.books === undefined ? asOneBook(report) : report);
      runs.push({ together, books: runsOf(bot, report, found) });
    }
  } finally {
    progress.end();
  }
  const compared = books.map(symbol =>
    comparedTape(
      found.find(({ given }) => recordedBook(given) === symbol)!,
      runs.flatMap(({ books: of }) => of.filter(one => one.report.book === symbol)),
      traded,
    ),
  );
  return {
    made: { puntas: version, node: process.versions.node },
    ...latencyText,
    ...{ seed, models, riskPerHour: null, calibratedShare: null, starts: 1 },
    tapes: compared,
    desks: booksAgainstFirst(runs.map(({ together }) => together)),
    leftOut,
    hash: hashOfRuns(compared),
  };
}

type BookRun = { readonly report: Omit<BacktestReport, 'models'>; readonly run: ComparedRun };
type ConfigurationRun = { readonly together: ComparedBooks; readonly books: readonly BookRun[] };

const PROGRESS = 1_000;

/** Returns the progress of part `i` of `count` equal parts of a task that has already begun. */
const progressOfPart = (progress: Progress, name: string, i: number, count: number): Progress => {
  let all = 1;
  const at = (done: number): void => progress.at((PROGRESS * (i + done / all)) / count, name);
  return {
    begin: total => {
      all = total;
      at(0);
    },
    at,
    end: () => undefined,
  };
};

/** Returns the report with the hashes that the backtest of one book has. */
const asOneBook = (report: SeveralBooksReport): SeveralBooksReport => {
  const { models, hash } = report.books[0]!;
  return { ...report, hash, together: report.together.map((one, m) => ({ ...one, hash: models[m]!.hash })) };
};

const quotedBooks = (config: Config): readonly string[] => booksOf(config).map(({ book }) => book);

/** Throws `UsageError` if a configuration has one book and sections that a replay of several books does not have. */
function refuseOneBookSections({ file, config }: GivenBot): void {
  const found = [...ONE_BOOK_ONLY, ...(config.books === undefined ? (['reference'] as const) : [])].find(
    key => config[key] !== undefined,
  );
  if (found !== undefined)
    throw new UsageError(
      `${file}: ${found}: cannot be compared with configurations of several books; remove it, or compare only configurations with the key book`,
    );
}

/** Returns the recordings of the books of a configuration. Throws `UsageError` if a book has none. */
function recordingsOf({ file, config }: GivenBot, found: readonly FoundTape[], leftOut: readonly LeftOut[]) {
  const symbols = quotedBooks(config);
  const own = found.filter(({ given }) => symbols.includes(recordedBook(given)));
  try {
    return tapesOfBooks(
      config,
      own.map(({ given }) => given),
    );
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const others = leftOut.map(({ path, why }) => `; left out: ${path}: ${why}`);
    throw new UsageError(`${file}: ${error.message}${others.join('')}`);
  }
}

/** Returns the result of each book of a configuration. */
function runsOf(
  { name, text, config }: GivenBot,
  { books }: SeveralBooksReport,
  found: readonly FoundTape[],
): BookRun[] {
  return booksOf(config).map((one, i) => {
    const { models: replayed, ...report } = books[i]!;
    const { given } = found.find(tape => recordedBook(tape.given) === one.book)!;
    const { instrument } = 'options' in given ? given.tape : given;
    const { makerRate } = new Fees(instrument, feesOf(one, instrument, config.book));
    const models = replayed.map(comparedModel);
    const main = mainOf(replayed);
    const crossed = main === null ? [] : crossedText(main);
    const edge = edgeProblem(one, makerRate);
    return {
      report,
      run: {
        ...{ name, strategy: report.strategy, tier: 'config', feeBps: makerRate / 1e4, config: text, models },
        positionMax: Number(one.limits.positionMax),
        notRun: null,
        declined: null,
        unscored: main !== null && isCrossed(main) ? (crossed[0] ?? null) : null,
        pace: main && main.pace,
        staggered: [],
        againstFirst: null,
        remarks: [
          ...crossed,
          ...(edge === null ? [] : [edge]),
          ...(report.noReference === undefined ? [] : [NO_REFERENCE]),
          ...remarksOf(models, report.tape.dirt),
        ],
      },
    };
  });
}

const NO_REFERENCE =
  'the bot quotes nothing, because its reference price comes from another exchange, or from books that the configuration does not quote';

/** Returns the fees of a book; the balances of the account do not matter here. */
const feesOf = (one: Config, instrument: Instrument, first: string) =>
  simulatedAccountOf(one, instrument, 0, first).fees;

/** Returns the results of all configurations that quote a recorded book. `traded`: in epoch ms. */
function comparedTape(
  { name, given }: FoundTape,
  runs: readonly BookRun[],
  { since, until }: { readonly since: number; readonly until: number },
): ComparedTape {
  const { report } = runs[0]!;
  const { source, hash, dirt, gaps } = report.tape;
  const from = new Date(since).toISOString();
  return {
    ...{ name, source, book: recordedBook(given), major: report.major, minor: report.minor, hash, dirt },
    gaps: tradedGaps(gaps, since, until),
    tapeFrom: report.warmUpFrom ?? from,
    from,
    to: new Date(until).toISOString(),
    seconds: (until - since) / 1000,
    measured: null,
    verdicts: [],
    runs: againstFirst(runs.map(({ run }) => run)),
  };
}
