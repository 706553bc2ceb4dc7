/** The commands on stored tapes, and the export of a state: tape, export. */
import { Option } from 'commander';
import type { Command } from 'commander';
import type { StoredTapeOptions } from '../../tape/index.ts';
import { recordedTime } from '../terminal/flags.ts';
import { progressBar } from '../terminal/progressBar.ts';
import { exportLedger } from '../../app/inspect/exportLedger.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { realClock } from '../../live/realClock.ts';
import { folderOf } from './ledger.ts';
import { exportStored, lookAtTape } from '../../app/tapes/storedTape.ts';
import { print } from '../terminal/output.ts';

/** `tape` and `export`; --from and --to become ms since 1970. A recording that cannot be read is `UsageError`. */
export function addTapeCommands(program: Command): void {
  stored(program.command('tape').description('describe a stored tape; reads all of it to find damage'))
    .argument('<dir>', 'folder of the tape')
    .option('--json', 'print one JSON object', false)
    .action(async (dir: string, { json, ...flags }: StoredFlags & { readonly json: boolean }) => {
      print(await lookAtTape(dir, storedOptions(flags), json, progressBar()));
    });

  stored(program.command('export'))
    .description("export a tape, or a bot's fills or ledger, to Parquet or CSV")
    .usage('(--tape DIR | -c FILE --rows fills | --state DIR --rows ledger) --out FILE [options]')
    .option('--tape <dir>', 'folder of the tape')
    .option('-c, --config <file>', 'YAML file of the bot whose state is exported')
    .option('--state <dir>', 'state directory of a bot (default: state.dir of the configuration)')
    .addOption(
      new Option('--rows <which>', 'rows to export from a state: every fill, or every entry of the ledger').choices(
        ROWS,
      ),
    )
    .requiredOption('--out <file>', 'file to write, ending in .parquet or .csv')
    .action(async ({ tape, config, state, rows, out, ...flags }: ExportFlags) => {
      if (tape === undefined) {
        if (rows === undefined) throw new UsageError('--rows: expected fills or ledger, or a tape with --tape');
        const where = { ...(config === undefined ? {} : { config }), ...(state === undefined ? {} : { state }) };
        print(await exportLedger(folderOf(where), { ...storedOptions(flags), rows }, out, realClock()));
      } else if (config !== undefined || state !== undefined || rows !== undefined)
        throw new UsageError('--tape: cannot be combined with the state of a bot');
      else print(await exportStored(tape, storedOptions(flags), out, progressBar()));
    });
}

const ROWS = ['fills', 'ledger'] as const;

type ExportFlags = StoredFlags & {
  readonly tape?: string;
  readonly config?: string;
  readonly state?: string;
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
    .option('--book <book>', 'book, if there are several')
    .option('--from <time>', 'first time of the rows, like 2026-11-21 or 2026-11-21T12:00:00Z', recordedTime)
    .option('--to <time>', 'last time of the rows', recordedTime)
    .option('--skip-damaged', 'replace damaged blocks by gaps instead of failing', false);

const storedOptions = ({ book, from, to, skipDamaged }: StoredFlags): StoredTapeOptions => ({
  ...(book === undefined ? {} : { book }),
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
  damaged: skipDamaged ? 'skip' : 'refuse',
});
