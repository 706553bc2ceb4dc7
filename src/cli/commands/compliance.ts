/** Commands for supervisors and counterparties: quote presence and surveillance, from the recordings of a bot. */
import type { Command } from 'commander';
import { progress } from '../../app/inspect/explain.ts';
import { presenceCertificate, presenceJson } from '../../app/compliance/presence.ts';
import { differenceIn } from '../../app/compliance/recordedRuns.ts';
import { presencePage, presenceText } from '../../app/compliance/presenceText.ts';
import { DEFAULT_WINDOWS } from '../../app/compliance/ownFlow.ts';
import { surveillance, surveillanceJson } from '../../app/compliance/surveillance.ts';
import { surveillanceText } from '../../app/compliance/surveillanceText.ts';
import { realClock } from '../../live/realClock.ts';
import { EXIT } from '../../messages/exits.ts';
import { jsonBeside, pageParts, writePage } from '../../wiring/outFiles.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { dayFlag, decimalFlag, durationFlag } from '../terminal/flags.ts';
import { version } from '../terminal/version.ts';
import { print, printError, writeError } from '../terminal/output.ts';
import { folderToRead, ofBot, type BotFlags } from './botFlags.ts';

/**
 * Adds the commands `presence` and `surveillance`, which read recordings with or without a running bot. Both end with
 * exit code 1 if a replayed engine command differs from the recorded one. Wrong use throws a `UsageError`.
 */
export function addComplianceCommands(program: Command): void {
  addPresence(program);
  addSurveillance(program);
}

type DayFlags = BotFlags & {
  readonly book?: string;
  readonly from?: number;
  readonly to?: number;
  readonly json: boolean;
};

const ofDays = (command: Command): Command =>
  command
    .option('--book <symbol>', 'book, if the bot has several')
    .option('--from <day>', 'first day, like 2026-11-01', dayFlag)
    .option('--to <day>', 'last day, like 2026-11-30', dayFlag);

const daysOfFlags = ({ book, from, to }: DayFlags) => ({
  ...(book === undefined ? {} : { book }),
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
});

function addPresence(program: Command): void {
  ofDays(ofBot(program.command('presence').description('certify from recordings how long the bot quoted on each day')))
    .option(
      '--spread-max-bps <n>',
      "maximum distance between the bot's bid and ask that counts as quoting, in bps (default: any)",
      decimalFlag,
    )
    .option(
      '--size-min <n>',
      'minimum amount on each side that counts as quoting, in base currency (default: any)',
      decimalFlag,
    )
    .option('--out <file>', 'write NAME.html and NAME.json')
    .option('--json', 'print one JSON object', false)
    .action((flags: DayFlags & { spreadMaxBps?: string; sizeMin?: string; out?: string }) => {
      const { spreadMaxBps = null, sizeMin = null, out, json } = flags;
      if (out !== undefined && !/\.html?$/i.test(out))
        throw new UsageError(`--out: expected a name that ends in .html, found ${JSON.stringify(out)}`);
      const certificate = presenceCertificate({
        dir: folderToRead(flags),
        terms: { spreadMaxBps, sizeMin },
        ...daysOfFlags(flags),
        version: version(),
        onInput: progress(realClock(), writeError),
      });
      const value = presenceJson(certificate);
      if (out !== undefined) writePage(out, jsonBeside(out), value, () => presencePage(certificate, pageParts()));
      print(
        json
          ? JSON.stringify(value)
          : [...presenceText(certificate), ...(out === undefined ? [] : [`page: ${out}`])].join('\n'),
      );
      failIfDifferent(differenceIn(certificate));
    });
}

function addSurveillance(program: Command): void {
  ofDays(
    ofBot(
      program
        .command('surveillance')
        .description("measure layering, quote stuffing and wash trades in the bot's orders"),
    ),
  )
    .option(
      '--after-fill <duration>',
      'time after a fill in which opposite-side cancels count as layering (default: 1s)',
      durationFlag,
    )
    .option(
      '--short-life <duration>',
      'lifetime below which a canceled order counts as short-lived (default: 1s)',
      durationFlag,
    )
    .option(
      '--momentum <duration>',
      "time before a fill in which the bot's opposite-side taker trades count as momentum (default: 60s)",
      durationFlag,
    )
    .option('--json', 'print one JSON object', false)
    .action((flags: DayFlags & { afterFill?: number; shortLife?: number; momentum?: number }) => {
      const { afterFillMs, shortLifeMs, momentumMs } = DEFAULT_WINDOWS;
      const { afterFill = afterFillMs, shortLife = shortLifeMs, momentum = momentumMs } = flags;
      const measured = surveillance({
        dir: folderToRead(flags),
        windows: { afterFillMs: afterFill, shortLifeMs: shortLife, momentumMs: momentum },
        ...daysOfFlags(flags),
        onInput: progress(realClock(), writeError),
      });
      print(flags.json ? JSON.stringify(surveillanceJson(measured)) : surveillanceText(measured).join('\n'));
      failIfDifferent(differenceIn(measured));
    });
}

/** Ends with exit code 1 if a replay differs from its recording. */
export function failIfDifferent(difference: string | null): void {
  if (difference === null) return;
  printError(`the replay by this version of Puntas differs from the recording: ${difference}`);
  process.exitCode = EXIT.broken;
}
