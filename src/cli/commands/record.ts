/** Commands that create tapes: `record` and `import`. */
import { Option, type Command } from 'commander';
import { realClock } from '../../live/realClock.ts';
import { symbolsOf } from '../../config.ts';
import { formats } from '../../tape/index.ts';
import { EXIT } from '../../messages/exits.ts';
import { decimalFlag, durationFlag, sessionHours, sources } from '../terminal/flags.ts';
import { describeImport, importTape } from '../../app/tapes/import.ts';
import { logger } from '../terminal/logger.ts';
import { describeRecorded, record } from '../../app/tapes/record.ts';
import { recordedVenue, type RecordedVenueFlags } from '../../app/tapes/recordedVenue.ts';
import { progressBar } from '../terminal/progressBar.ts';
import { signalsToStop } from '../terminal/signals.ts';
import { selectedInputs, withMarketOf, type Source } from './source.ts';
import { errorTerminal, print, writeError } from '../terminal/output.ts';

type ImportFlags = {
  readonly from: string;
  readonly out: string;
  readonly book?: string;
  readonly format: string;
  readonly mapping?: string;
  readonly tick?: string;
  readonly lot?: string;
  readonly sort?: number;
  readonly append: boolean;
  readonly json: boolean;
};

type RecordFlags = Source &
  RecordedVenueFlags & {
    readonly out: string;
    readonly for?: number;
    readonly json: boolean;
  };

/**
 * Adds `record` and `import`. `record` ends with exit code 0 if stopped, 1 on an internal failure; wrong flags and
 * folders are a `UsageError`.
 */
export function addRecordCommands(program: Command): void {
  sources(program.command('record').description("record an exchange's market data as a tape, without a key"))
    .requiredOption('--out <dir>', 'folder of a new tape, or of a tape to continue')
    .option('--book <names>', 'books to record, comma-separated (default: those in -c)')
    .option('--venue <name>', 'name of the exchange to record, or ccxt:ID to use ccxt; replaces -c')
    .option('--url <address>', 'address of the --venue exchange')
    .option('--stream-url <address>', 'stream address of the --venue exchange')
    .addOption(
      new Option('--no-stream', 'poll the books of the --venue exchange, even if it has a stream').conflicts(
        'streamUrl',
      ),
    )
    .option('--for <duration>', 'stop after this time, like 60s, 10m or 2h', durationFlag)
    .option('--json', 'print one JSON object', false)
    .action(async (options: RecordFlags) => {
      const signals = signalsToStop('exiting immediately; data of the last second may be lost', EXIT.broken);
      const { book: names, ...source } = options;
      const recorded = recordedVenue(options);
      const { config, tapes } = recorded
        ? { config: recorded.config, tapes: [] }
        : await selectedInputs({ ...source, takesBooks: true }, false);
      const clock = realClock(options.speed);
      const log = logger(config.log.level, []);
      const quoted = symbolsOf(config);
      const books = names?.split(',') ?? quoted;
      // The embedded exchange has markets only in the configured books unless others are needed.
      const allBooks = books.some(book => !quoted.includes(book));
      await withMarketOf(config, tapes, { ...options, allBooks }, clock, async (addresses, seed) => {
        const isTerminal = errorTerminal().isTTY === true;
        const result = await record({
          config,
          ...(recorded?.ccxt && { ccxt: recorded.ccxt }),
          addresses,
          books,
          out: options.out,
          clock,
          seed,
          log: line => {
            if (isTerminal) writeError('\u001b[2K\r');
            log.info({}, line);
          },
          onProgress: progressLine(isTerminal, line => log.info({}, line)),
          onStarted: stop => {
            signals.tell(stop);
            if (options.for !== undefined) setTimeout(() => stop('the duration of --for is over'), options.for).unref();
          },
        });
        if (isTerminal) writeError('\n');
        if (result.failure !== null) log.error({}, `the recording ended with an error: ${result.failure}`);
        print(options.json ? JSON.stringify(result) : describeRecorded(result));
        process.exitCode = result.failure === null ? EXIT.clean : EXIT.broken;
      });
    });

  sessionHours(program.command('import'))
    .description('convert a recording of another program, or a state directory, to a tape')
    .requiredOption('--from <path>', 'recording file or folder')
    .requiredOption('--out <dir>', 'folder in which to write the tape')
    .option('--book <name>', 'book to import; if the recording names no book, the name to use')
    .option('--format <name>', `auto, state, ${formats().join(', ')}`, 'auto')
    .addOption(new Option('--mapping <file>', 'YAML file that maps CSV or Parquet columns').conflicts('format'))
    .option('--tick <decimal>', 'tick size (default: inferred from prices)', decimalFlag)
    .option('--lot <decimal>', 'lot size (default: 0.00000001)', decimalFlag)
    .option('--sort <duration>', 'maximum lateness of out-of-order rows (default: 1m)', durationFlag)
    .option('--append', 'append newer rows to an existing tape', false)
    .option('--json', 'print one JSON object', false)
    .action(async ({ format, json, ...options }: ImportFlags) => {
      const report = await importTape({
        ...options,
        ...(format === 'auto' ? {} : { format }),
        progress: progressBar(),
      });
      print(json ? JSON.stringify(report) : describeImport(report));
    });
}

/** Returns a function that shows a progress line: overwritten on a terminal, otherwise logged from time to time. */
function progressLine(isTerminal: boolean, log: (line: string) => void): (line: string) => void {
  let seen = 0;
  return line => {
    if (isTerminal) writeError(`\u001b[2K\r${line.slice(0, Math.max(60, errorTerminal().columns ?? 0) - 1)}`);
    else if (++seen % LOGGED_EVERY === 0) log(line);
  };
}

/** Number of progress lines per log line; there is one progress line per second. */
const LOGGED_EVERY = 60;
