/** Commands on stored tapes, and the export of a state: tape, export. */
import { Option, type Command } from 'commander';
import type { StoredTapeOptions } from '../../tape/index.ts';
import { recordedTime } from '../terminal/flags.ts';
import { refuseGiven } from '../terminal/givenFlags.ts';
import { progressBar } from '../terminal/progressBar.ts';
import { exportLedger } from '../../app/inspect/exportLedger.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { realClock } from '../../live/realClock.ts';
import { folderToRead, ofBot } from './botFlags.ts';
import { exportStored, lookAtTape } from '../../app/tapes/storedTape.ts';
import { print } from '../terminal/output.ts';

/** Adds `tape` and `export`; --from and --to become ms since 1970. An unreadable recording is a `UsageError`. */
export function addTapeCommands(program: Command): void {
  stored(program.command('tape').description('show the contents of a tape and check it for damage'))
    .argument('<dir>', 'folder of the tape')
    .option('--json', 'print one JSON object', false)
    .action(async (dir: string, { json, ...flags }: StoredFlags & { readonly json: boolean }) => {
      print(await lookAtTape(dir, storedOptions(flags), json, progressBar()));
    });

  ofBot(
    stored(program.command('export'))
      .description("export a tape, or a bot's fills or ledger, as Parquet or CSV")
      .usage('(--tape DIR | -c FILE --rows fills | --state DIR --rows ledger) --out FILE [options]')
      .option('--tape <dir>', 'folder of the tape'),
  )
    .addOption(new Option('--rows <which>', "rows to export from the bot's state").choices(ROWS))
    .requiredOption('--out <file>', 'output file: .parquet or .csv')
    .action(async ({ tape, config, state, paper, rows, out, ...flags }: ExportFlags, self: Command) => {
      if (tape === undefined) {
        if (rows === undefined)
          throw new UsageError('--rows: missing; pass --rows fills, --rows ledger, or a tape with --tape');
        refuseGiven(
          self,
          ['skipDamaged'],
          'no effect without --tape, because only a tape has blocks to skip; remove the flag',
        );
        if (rows === 'ledger')
          refuseGiven(
            self,
            ['book'],
            'no effect on --rows ledger, which has the entries of all books; remove the flag',
          );
        const where = { paper, ...(config === undefined ? {} : { config }), ...(state === undefined ? {} : { state }) };
        print(await exportLedger(folderToRead(where), { ...storedOptions(flags), rows }, out, realClock()));
      } else if (config !== undefined || state !== undefined || paper || rows !== undefined)
        throw new UsageError(
          '--tape: cannot be combined with -c, --state, --paper or --rows, which export the state of a bot; remove --tape or these flags',
        );
      else print(await exportStored(tape, storedOptions(flags), out, progressBar()));
    });
}

const ROWS = ['fills', 'ledger'] as const;

type ExportFlags = StoredFlags & {
  readonly tape?: string;
  readonly config?: string;
  readonly state?: string;
  readonly paper: boolean;
  readonly rows?: (typeof ROWS)[number];
  readonly out: string;
};

type StoredFlags = {
  readonly book?: string;
  readonly from?: number;
  readonly to?: number;
  readonly skipDamaged: boolean;
};

const stored = (command: Command): Command =>
  command
    .option('--book <book>', 'book to use if the recording has several')
    .option('--from <time>', 'start time, like 2026-11-21 or 2026-11-21T12:00:00Z', recordedTime)
    .option('--to <time>', 'end time', recordedTime)
    .option('--skip-damaged', 'treat damaged blocks as gaps', false);

const storedOptions = ({ book, from, to, skipDamaged }: StoredFlags): StoredTapeOptions => ({
  ...(book === undefined ? {} : { book }),
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
  damaged: skipDamaged ? 'skip' : 'refuse',
});
