/** Command that reports profit by day. */
import type { Command } from 'commander';
import { jsonBeside, pageParts, writePage } from '../../wiring/outFiles.ts';
import { booksReportJson, booksReportText, ledgerReports } from '../../app/inspect/booksReport.ts';
import { progress } from '../../app/inspect/explain.ts';
import { profitPage } from '../../app/inspect/reportPage.ts';
import { DEFAULT_WINDOWS } from '../../app/compliance/ownFlow.ts';
import { differenceIn } from '../../app/compliance/recordedRuns.ts';
import { surveillance, surveillanceJson } from '../../app/compliance/surveillance.ts';
import { surveillanceSection, surveillanceText } from '../../app/compliance/surveillanceText.ts';
import { readConfig } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { realClock } from '../../live/realClock.ts';
import { dayFlag } from '../terminal/flags.ts';
import { failIfDifferent } from './compliance.ts';
import { folderToRead, ofBot, type BotFlags } from './botFlags.ts';
import { print, writeError } from '../terminal/output.ts';

type ReportFlags = BotFlags & {
  readonly from?: number;
  readonly to?: number;
  readonly json: boolean;
  readonly surveillance: boolean;
  readonly out?: string;
};

/**
 * Adds `report`, which reads a copy of the state, with or without a running bot. Rejects with `UsageError` if there is
 * no ledger, if the ledger has no day from `--from` to `--to`, or with `--surveillance` if these days have no
 * recording.
 */
export function addReportCommand(program: Command): void {
  ofBot(program.command('report').description('show profit by day: trading, fees, hedging and net'))
    .option('--from <day>', 'first day, like 2026-11-01', dayFlag)
    .option('--to <day>', 'last day, like 2026-11-30', dayFlag)
    .option('--surveillance', 'add the measures of puntas surveillance', false)
    .option('--out <file>', 'write NAME.html and NAME.json')
    .option('--json', 'print one JSON object', false)
    .action(async ({ from, to, json, out, surveillance: isMeasured, ...where }: ReportFlags) => {
      if (out !== undefined && !/\.html?$/i.test(out))
        throw new UsageError(`--out: expected a name that ends in .html, found ${JSON.stringify(out)}`);
      const clock = realClock();
      const dir = folderToRead(where);
      const asked = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
      const book = where.config === undefined ? undefined : readConfig(where.config).book;
      const onInput = progress(clock, writeError);
      const reports = await ledgerReports(dir, asked, clock, book, onInput);
      const measured = isMeasured ? surveillance({ dir, windows: DEFAULT_WINDOWS, ...asked, onInput }) : null;
      const value = { ...booksReportJson(reports), ...(measured && { surveillance: surveillanceJson(measured) }) };
      const flow = measured === null ? undefined : surveillanceSection(measured);
      if (out !== undefined) writePage(out, jsonBeside(out), value, () => profitPage(reports, pageParts(), flow));
      print(
        json
          ? JSON.stringify(value)
          : [
              ...booksReportText(reports),
              ...(measured === null ? [] : ['', ...surveillanceText(measured)]),
              ...(out === undefined ? [] : [`page: ${out}`]),
            ].join('\n'),
      );
      if (measured !== null) failIfDifferent(differenceIn(measured));
    });
}
