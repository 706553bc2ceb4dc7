/** One replay of several books of one account under one fill model. */
import {
  reportOf,
  runSeveralBooks,
  RowWindow,
  type SeveralBooksReplayOptions,
  type SeveralBooksRun,
  type ModelName,
  type SideBySideOptions,
} from '../../index.ts';
import { booksOf, configOfBooks, type Config } from '../../../src/config.ts';
import { engineOf } from '../../../src/wiring/bot.ts';
import { isUnread } from '../../../strategies/index.ts';
import { openRows, replayOf, RUN, type ModelJob, type RowSource } from '../backtest/backtestModel.ts';
import { openCsv, type CsvOutput } from '../backtest/csvFiles.ts';
import { withRecordedSource } from '../backtest/recordedReference.ts';

/** Inputs of one book. */
export type SeveralBooksJobBook = Pick<ModelJob, 'instrument' | 'gaps' | 'fees' | 'csv' | 'elsewhere'> & {
  readonly rows: RowSource;
};

/** Inputs of one run. `books` are in the order of the configuration, which has one or several. */
export type SeveralBooksJob = Pick<ModelJob, 'config' | 'from' | 'to' | 'seed' | 'latencies' | 'balances'> & {
  readonly model: ModelName;
  readonly privatePerMinute: number;
  readonly books: readonly SeveralBooksJobBook[];
};

/**
 * Runs a job. `onShare` receives the completed share, 0 to 1; `onTurn` as in `SeveralBooksReplayOptions`. Throws `UsageError`
 * if a CSV file cannot be written.
 */
export function runSeveralBooksJob(
  job: SeveralBooksJob,
  onShare: (share: number) => void = () => undefined,
  onTurn?: SeveralBooksReplayOptions['onTurn'],
): SeveralBooksRun {
  const { config, books, balances, privatePerMinute, from, to } = job;
  const unread = booksOf(config).find(({ strategy }) => isUnread(strategy));
  if (unread !== undefined) throw new Error(`${unread.book}: expected the text of its strategy file, found none`);
  const files: (CsvOutput | null)[] = [];
  try {
    for (const { csv } of books) files.push(csv && openCsv(csv));
    const { books: results, skews } = runSeveralBooks({
      books: booksOf(config).map((one, i) => ({
        ...bookOptions(job, one, i, files[i] ?? null),
        ...(i === 0 && { onProgress: onShare }),
      })),
      balances,
      privatePerMinute,
      comparesPrices:
        config.crossRates !== undefined ||
        config.jointInventory !== undefined ||
        config.accountLimits?.value !== undefined,
      from,
      to,
      ...(onTurn && { onTurn }),
      engine: (rates, onNews) => {
        const [first, ...others] = books.map(({ instrument }, i) => ({ instrument, ...rates[i]! }));
        return engineOf(recordedSources(config), first!, RUN, onNews, false, others);
      },
    });
    for (const file of files) file?.finish();
    const tradedIn = (minor: string): number =>
      results.reduce(
        (sum, { volume }, i) => sum + (books[i]!.instrument.minor === minor ? Number(volume.minor) : 0),
        0,
      );
    const reports = results.map((result, i) => {
      const { instrument } = books[i]!;
      return reportOf(instrument, result, books.length === 1 ? null : { traded: tradedIn(instrument.minor) });
    });
    return { reports, skews };
  } catch (error) {
    for (const file of files) file?.discard();
    throw error;
  }
}

const recordedSources = (config: Config): Config => configOfBooks(booksOf(config).map(withRecordedSource));

function bookOptions(
  job: SeveralBooksJob,
  config: Config,
  i: number,
  file: CsvOutput | null,
): SideBySideOptions & { readonly rows: RowWindow['rows'] | RowWindow } {
  const { rows: source, ...book } = job.books[i]!;
  const rows = openRows(source, job);
  const { hedge: _, ...options } = replayOf({ ...job, ...book, config }, rows instanceof RowWindow ? rows.rows : rows);
  return { ...options, rows, ...(file !== null && { sink: file.sink }) };
}
