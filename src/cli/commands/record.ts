/** Commands that create tapes: record, import. */
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

/**
 * Adds `record` and `import`. `record` ends with exit code 0 if stopped, 1 on an internal failure; wrong flags and
 * folders are a `UsageError`.
 */
export function addRecordCommands(program: Command): void {
  sources(
    program
      .command('record')
      .description(
        "record an exchange's public market as a tape, until stopped (Ctrl-C, SIGTERM or --for); needs no key",
      ),
  )
    .requiredOption('--out <dir>', 'folder of the tape; one that is there is continued')
    .option('--book <names>', 'books, separated by commas; without it the one in the configuration')
    .option('--for <duration>', 'stop cleanly after this much real time, like 60s, 10m or 2h', durationFlag)
    .option('--json', 'print what was recorded as one JSON object, the last line on stdout', false)
    .action(async (options: RecordFlags) => {
      const signals = signalsToStop('leaving at once; what was heard in the last second may be lost', EXIT.broken);
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
        if (recorded.failure !== null) log.error({}, `ended because something broke: ${recorded.failure}`);
        print(options.json ? JSON.stringify(recorded) : describeRecorded(recorded));
        process.exitCode = recorded.failure === null ? EXIT.clean : EXIT.broken;
      });
    });

  sessionHours(program.command('import'))
    .description('make a tape of a recording of another program, or of what a bot saw (its state directory)')
    .requiredOption('--from <path>', 'file or folder of the recording')
    .requiredOption('--out <dir>', 'folder of the tape; must not hold the book yet, without --append')
    .option('--book <name>', 'which book of the recording; or its name, where it has none')
    .option('--format <name>', `auto, state, ${formats().join(', ')}`, 'auto')
    .option('--mapping <file>', 'a YAML file that says what the columns of CSV or Parquet files mean')
    .option(
      '--tick <decimal>',
      'tick of a recording that does not say it; without it inferred from its prices',
      decimalFlag,
    )
    .option('--lot <decimal>', 'lot of the tape; without it 0.00000001', decimalFlag)
    .option(
      '--sort <duration>',
      'time by which rows may come late and are put in their place, like 10m; without it rows more than a minute late are left out',
      durationFlag,
    )
    .option('--append', 'go on with the tape that is there: rows not newer than its last are left out', false)
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

/** Returns a progress function: an overwritten line on a terminal, otherwise an occasional log line. */
function progressLine(isTerminal: boolean, log: (line: string) => void): (line: string) => void {
  let seen = 0;
  return line => {
    if (isTerminal) writeError(`\u001b[2K\r${line.slice(0, Math.max(60, errorTerminal().columns ?? 0) - 1)}`);
    else if (++seen % LOGGED_EVERY === 0) log(line);
  };
}

/** Progress lines per log line; there is one progress line per second. */
const LOGGED_EVERY = 60;
