/** Command that reports profit by day. */
import type { Command } from 'commander';
import { jsonBeside, pageParts, writePage } from '../../wiring/outFiles.ts';
import { ledgerAt } from '../../app/inspect/exportLedger.ts';
import { progress } from '../../app/inspect/explain.ts';
import { lastMoment, profitAt } from '../../app/inspect/profitNow.ts';
import { profitReport, reportJson, reportText } from '../../app/inspect/profitReport.ts';
import { profitPage } from '../../app/inspect/reportPage.ts';
import { readConfig } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { realClock } from '../../live/realClock.ts';
import { dayFlag } from '../terminal/flags.ts';
import { folderToRead, ofBot, type BotFlags } from './botFlags.ts';
import { print, writeError } from '../terminal/output.ts';

type ReportFlags = BotFlags & {
  readonly from?: number;
  readonly to?: number;
  readonly json: boolean;
  readonly out?: string;
};

/**
 * Adds `report`, which reads a copy of the state, with or without a running bot. Rejects with `UsageError` if there is
 * no ledger, or if the ledger has no day from `--from` to `--to`.
 */
export function addReportCommand(program: Command): void {
  ofBot(program.command('report').description('show profit by day: trading, fees, hedging and net'))
    .option('--from <day>', 'first day, like 2026-11-01', dayFlag)
    .option('--to <day>', 'last day, like 2026-11-30', dayFlag)
    .option('--out <file>', 'write NAME.html and NAME.json')
    .option('--json', 'print one JSON object', false)
    .action(async ({ from, to, json, out, ...where }: ReportFlags) => {
      if (out !== undefined && !/\.html?$/i.test(out))
        throw new UsageError(`--out: expected a name that ends in .html, found ${JSON.stringify(out)}`);
      const clock = realClock();
      const dir = folderToRead(where);
      const file = await ledgerAt(dir, clock);
      const asked = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
      const book = where.config === undefined ? undefined : readConfig(where.config).book;
      const onInput = progress(clock, writeError);
      const current = profitAt(lastMoment(dir, onInput), file);
      const report = profitReport(file, asked, clock.now(), book, current);
      const value = reportJson(report);
      if (out !== undefined) writePage(out, jsonBeside(out), value, () => profitPage(report, pageParts()));
      print(
        json
          ? JSON.stringify(value)
          : [...reportText(report), ...(out === undefined ? [] : [`page: ${out}`])].join('\n'),
      );
    });
}
