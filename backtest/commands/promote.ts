/** The commands that take a configuration through replay, paper and the smallest size into the live file's place, and back. */
import { Argument } from 'commander';
import type { Command } from 'commander';
import { promotionJudge } from '../app/promote/checkStage.ts';
import { progress } from '../../src/app/inspect/explain.ts';
import { ownName } from '../../src/app/inspect/ledger.ts';
import { EXIT } from '../../src/messages/exits.ts';
import { promotionsDir } from '../../src/app/promote/promotionJournal.ts';
import {
  approvePromotion,
  checkPromotion,
  promoteOptions,
  promotionBack,
  startPromotion,
} from '../../src/app/promote/promote.ts';
import type { Promoted, PromoteOptions } from '../../src/app/promote/promoteCommand.ts';
import { previewBack } from '../../src/app/promote/previewBack.ts';
import { STAGES } from '../../src/app/promote/records.ts';
import type { Stage } from '../../src/app/promote/records.ts';
import { showPromotion } from '../../src/app/promote/showPromotion.ts';
import { promotedJson, promotedText } from '../../src/app/promote/promoteText.ts';
import { realClock } from '../../src/live/realClock.ts';
import { threadNumber } from '../../src/cli/terminal/flags.ts';
import { progressBar } from '../../src/cli/terminal/progressBar.ts';
import { version } from '../../src/cli/terminal/version.ts';
import { print as printLine, writeError } from '../../src/cli/terminal/output.ts';

type Flags = {
  readonly config: string;
  readonly json: boolean;
  readonly reason?: string;
  readonly by?: string;
  readonly threads?: number;
  readonly criteria?: string;
  readonly new?: boolean;
  readonly anyway?: boolean;
  readonly preview?: boolean;
};

/** Ends in 0 when it was done or shown, in 2 when an approval is refused or the bot kept what it has. Rejects with `UsageError` on what is asked wrongly. */
export function addPromoteCommand(program: Command): void {
  const promote = program
    .command('promote')
    .description(
      'promote a configuration to real money in stages (replay, paper, smallest size), or show the current stage',
    );
  ofLive(promote).action((flags: Flags) => {
    const { config: liveFile } = flags;
    print(showPromotion({ liveFile, dir: promotionsDir(liveFile), clock: realClock() }), flags);
  });

  verb(promote, 'start <candidate>', 'start a promotion; copies the candidate and the criteria')
    .option(
      '--criteria <file>',
      'YAML of the criteria (docs/promotion.md); without it those of the tuning, and defaults',
    )
    .option('--new', 'create the live file, which does not exist yet', false)
    .action(async (candidate: string, _: object, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const { criteria, new: isNew } = flags;
      await startPromotion(optionsOf(flags, true), { candidate, criteria, isNew });
    });

  ofThreads(
    verb(promote, 'check', 'check the evidence of the stage against its criteria, and record the result'),
  ).action(async (_: object, command: Command) => {
    const flags = command.optsWithGlobals<Flags>();
    await checkPromotion(optionsOf(flags, false));
  });

  ofThreads(
    verb(promote, 'approve', 'check, then advance to the next stage; from paper on, the live file changes').addArgument(
      new Argument('[stage]', 'stage to approve (default: the current stage)').choices(STAGES),
    ),
  )
    .option('--anyway', 'approve even if criteria are not met; recorded in the journal', false)
    .action(async (stage: Stage | undefined, _: object, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      await approvePromotion(optionsOf(flags, true), flags.anyway === true, stage ?? null);
    });

  verb(promote, 'back', 'restore the previous live file, and reload a running bot')
    .option('--preview', 'only show what would change', false)
    .action(async (_: object, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const options = optionsOf(flags, flags.preview !== true);
      if (flags.preview === true) print(previewBack(options), flags);
      else await promotionBack(options);
    });
}

const ofLive = (command: Command): Command =>
  command
    .requiredOption('-c, --config <file>', 'live file: the YAML that trades, and that a promotion replaces')
    .option('--json', 'print one JSON object (docs/json.md)', false);

/** The options of the live file are those of the command above it. */
const verb = (promote: Command, name: string, description: string): Command =>
  promote
    .command(name)
    .description(description)
    .option('--reason <text>', 'reason in a few words, recorded in the journal of the promotions')
    .option('--by <name>', 'operator name for the record (default: your login)');

const ofThreads = (command: Command): Command => command.option('--threads <n>', 'parallel replays', threadNumber, 2);

function optionsOf(flags: Flags, needsReason: boolean): PromoteOptions {
  const { config, reason = '', by = ownName(), threads = 2 } = flags;
  const clock = realClock();
  const onInput = progress(clock, writeError);
  return promoteOptions({
    ...{ liveFile: config, reason, by, needsReason, clock, threads, onInput },
    ...{ version: version(), progress: progressBar(), judge: promotionJudge },
    onEnd: promoted => print(promoted, flags),
  });
}

function print(promoted: Promoted, { config, json }: Flags): void {
  if (json) printLine(JSON.stringify(promotedJson(promoted, config, promotionsDir(config))));
  else printLine(promotedText(promoted, config).join('\n'));
  if (promoted.end === 'refused') process.exitCode = EXIT.misused;
}
