/** Commands that promote a configuration through replay, paper and smallest size to the live file, and roll it back. */
import { Argument, type Command } from 'commander';
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
import { STAGES, type Stage } from '../../src/app/promote/records.ts';
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

/**
 * Adds the command `promote`. Exits with 0 if the step was done or the promotion shown. Exits with 2 if an approval is
 * rejected or the bot kept its configuration. Rejects with `UsageError` for invalid requests.
 */
export function addPromoteCommand(program: Command): void {
  const promote = program
    .command('promote')
    .description('promote a configuration in steps: replay, paper, smallest size');
  ofLive(promote).action((flags: Flags) => {
    const { config: liveFile } = flags;
    print(showPromotion({ liveFile, dir: promotionsDir(liveFile), clock: realClock() }), flags);
  });

  verb(promote, 'start <candidate>', 'start a promotion with a copy of the candidate and its criteria')
    .option('--criteria <file>', 'criteria file (default: built-in criteria, which require a tuning)')
    .option('--new', 'create the live configuration if it does not exist', false)
    .action(async (candidate: string, _: object, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const { criteria, new: isNew } = flags;
      await startPromotion(optionsOf(flags, true), { candidate, criteria, isNew });
    });

  ofThreads(verb(promote, 'check', 'compare the evidence of the current stage with its criteria')).action(
    async (_: object, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      await checkPromotion(optionsOf(flags, false));
    },
  );

  ofThreads(
    verb(promote, 'approve', 'check and approve a stage; stages paper and smallest change the live file').addArgument(
      new Argument('[stage]', 'stage to approve (default: current stage)').choices(STAGES),
    ),
  )
    .option('--anyway', 'approve although criteria are not met', false)
    .action(async (stage: Stage | undefined, _: object, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      await approvePromotion(optionsOf(flags, true), flags.anyway === true, stage ?? null);
    });

  verb(promote, 'back', 'restore the previous live file and reload a running bot')
    .option('--preview', 'only show the effect', false)
    .action(async (_: object, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const options = optionsOf(flags, flags.preview !== true);
      if (flags.preview === true) print(await previewBack(options), flags);
      else await promotionBack(options);
    });
}

const ofLive = (command: Command): Command =>
  command.requiredOption('-c, --config <file>', 'live configuration').option('--json', 'print one JSON object', false);

/** Adds a subcommand without the options of the live file, which belong to the parent command. */
const verb = (promote: Command, name: string, description: string): Command =>
  promote
    .command(name)
    .description(description)
    .option('--reason <text>', 'reason for the record')
    .option('--by <name>', 'your name for the record (default: your login)');

const ofThreads = (command: Command): Command =>
  command.option('--threads <n>', 'number of parallel runs', threadNumber, 2);

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
