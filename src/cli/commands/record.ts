/** The commands that make tapes: record, import. */
import type { Command } from 'commander';
import { realClock } from '../../live/realClock.ts';
import { formats } from '../../tape/index.ts';
import { EXIT } from '../../messages/exits.ts';
import { decimalFlag, durationFlag, sessionHours, sources } from '../terminal/flags.ts';
import { describeImport, importTape } from '../../app/tapes/import.ts';
import { logger } from '../terminal/logger.ts';
import { describeRecorded, record } from '../../app/tapes/record.ts';
import { progressBar } from '../terminal/progressBar.ts';
import { signalsToStop } from '../terminal/signals.ts';
import { chosen, withMarketOf } from './source.ts';
import type { Source } from './source.ts';
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

type RecordFlags = Source & {
  readonly out: string;
  readonly book?: string;
  readonly for?: number;
  readonly json: boolean;
};

/** `record` and `import`. `record` ends in 0 when it was stopped, 1 when something broke; wrong flags and folders of either are `UsageError`. */
export function addRecordCommands(program: Command): void {
  sources(
    program.command('record').description("record an exchange's public market as a tape until stopped; needs no key"),
  )
    .requiredOption('--out <dir>', 'folder of the tape; an existing tape is continued')
    .option('--book <names>', 'books, comma-separated (default: the book in the configuration)')
    .option('--for <duration>', 'stop cleanly after this much real time, like 60s, 10m or 2h', durationFlag)
    .option('--json', 'print the result as one JSON object, the last line on stdout', false)
    .action(async (options: RecordFlags) => {
      const signals = signalsToStop('exiting immediately; data of the last second may be lost', EXIT.broken);
      const { book: names, ...source } = options;
      const { config, tape } = await chosen(source);
      const clock = realClock(options.speed);
      const log = logger(config.log.level, []);
      await withMarketOf(config, tape, options, clock, async (addresses, seed) => {
        const isTerminal = errorTerminal().isTTY === true;
        const recorded = await record({
          config,
          addresses,
          books: names?.split(',') ?? [config.book],
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
            if (options.for !== undefined) setTimeout(() => stop('the time of --for is over'), options.for).unref();
          },
        });
        if (isTerminal) writeError('\n');
        if (recorded.failure !== null) log.error({}, `ended by an error: ${recorded.failure}`);
        print(options.json ? JSON.stringify(recorded) : describeRecorded(recorded));
        process.exitCode = recorded.failure === null ? EXIT.clean : EXIT.broken;
      });
    });

  sessionHours(program.command('import'))
    .description("convert a recording of another program, or of a bot's state directory, to a tape")
    .requiredOption('--from <path>', 'file or folder of the recording')
    .requiredOption('--out <dir>', 'folder of the tape; without --append, it must not contain the book yet')
    .option('--book <name>', 'book of the recording, or its name if the recording has none')
    .option('--format <name>', `auto, state, ${formats().join(', ')}`, 'auto')
    .option('--mapping <file>', 'YAML file that maps the columns of CSV or Parquet files')
    .option(
      '--tick <decimal>',
      'tick, if the recording does not state it (default: inferred from its prices)',
      decimalFlag,
    )
    .option('--lot <decimal>', 'lot of the tape (default: 0.00000001)', decimalFlag)
    .option(
      '--sort <duration>',
      'maximum delay of late rows, which are sorted into place, like 10m (default: rows over 1 minute late are dropped)',
      durationFlag,
    )
    .option('--append', 'append to the existing tape; rows not newer than its last row are skipped', false)
    .option('--json', 'print the report as one JSON object', false)
    .action(async ({ format, json, ...options }: ImportFlags) => {
      const report = await importTape({
        ...options,
        ...(format === 'auto' ? {} : { format }),
        progress: progressBar(),
      });
      print(json ? JSON.stringify(report) : describeImport(report));
    });
}

/** On a terminal one line that is written over and over; elsewhere a line of the log now and then. */
function progressLine(isTerminal: boolean, log: (line: string) => void): (line: string) => void {
  let seen = 0;
  return line => {
    if (isTerminal) writeError(`\u001b[2K\r${line.slice(0, Math.max(60, errorTerminal().columns ?? 0) - 1)}`);
    else if (++seen % LOGGED_EVERY === 0) log(line);
  };
}

/** Progress lines, one a second. */
const LOGGED_EVERY = 60;
