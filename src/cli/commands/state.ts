/** Commands on the recordings of a state directory: replay, explain, hedges. */
import { Option, type Command } from 'commander';
import { botClockIn } from '../../live/safety/heartbeat.ts';
import { realClock } from '../../live/realClock.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { EXIT } from '../../messages/exits.ts';
import { explain, progress } from '../../app/inspect/explain.ts';
import { explanationText } from '../../app/inspect/explainText.ts';
import { timeOrAgeFlag, type TimeOrAge } from '../terminal/flags.ts';
import { refuseGiven } from '../terminal/givenFlags.ts';
import { hedges } from '../../app/inspect/hedges.ts';
import { ownName } from '../../app/inspect/ledger.ts';
import { hedgeEvidence, settleHedge, type SettleAsk } from '../../app/inspect/settleHedge.ts';
import { SETTLED_AS } from '../../live/mailbox/kinds.ts';
import { replay } from '../../app/inspect/replayCheck.ts';
import { folderOf, folderToRead, ofBot, type BotFlags } from './botFlags.ts';
import { print, writeError } from '../terminal/output.ts';

/**
 * Adds the state commands. `replay` and `explain` end with exit code 1 if a replayed command differs from the recorded
 * command. Wrong use is a `UsageError`.
 */
export function addStateCommands(program: Command): void {
  addReplay(program);
  addExplain(program);
  addHedges(program);
}

function addReplay(program: Command): void {
  ofBot(program.command('replay').description("replay a run and compare the bot's order commands with the recording"))
    .argument('[dir]', 'state directory of the run')
    .option('--run <n>', 'run number (default: the last run)')
    .addOption(new Option('--all', 'all recorded runs').default(false).conflicts('run'))
    .action((given: string | undefined, options: BotFlags & { run?: string; all: boolean }) => {
      if (given !== undefined && (options.paper === true || (options.config ?? options.state) !== undefined))
        throw new UsageError(`${given}: cannot be combined with -c, --state or --paper; name the state directory once`);
      const dir = given ?? folderToRead(options);
      const which = options.all ? 'all' : options.run === undefined ? 'last' : Number(options.run);
      process.exitCode = replay(dir, which, line => print(line)) ? EXIT.clean : EXIT.broken;
    });
}

function addExplain(program: Command): void {
  ofBot(program.command('explain').description('explain the quotes now or at a past time, level by level'), 'file')
    .option('--at <time>', 'time of the quotes, like 2026-11-22T13:05:00Z, or their age, like 5m', timeOrAgeFlag)
    .option('--book <symbol>', 'book to explain, if the bot has several (default: the first)')
    .option('--json', 'print one JSON object', false)
    .action((options: BotFlags & { at?: TimeOrAge; book?: string; json: boolean }) => {
      const clock = realClock();
      const dir = folderToRead(options);
      // A bot with an accelerated clock records times of that clock.
      const botClock = botClockIn(dir);
      const told = explain({
        dir,
        book: options.book,
        at: options.at === undefined ? null : options.at(botClock.at(clock.now()), botClock.speed),
        onInput: progress(clock, writeError),
      });
      print(options.json ? JSON.stringify(told) : explanationText(told));
      if (told.difference !== null) process.exitCode = EXIT.broken;
    });
}

function addHedges(program: Command): void {
  const hedgesCommand = ofBot(
    program.command('hedges').description('list hedges with the cost of each route and the outcome'),
  )
    .option('--json', 'print one JSON object', false)
    .action((options: BotFlags & { json: boolean }) => {
      for (const line of hedges(folderToRead(options), options.json)) print(line);
    });

  // The parent command parses these flags anywhere; they are repeated here for the help.
  ofBot(hedgesCommand.command('settle').description('show a hedge with an unknown outcome, or settle it with --as'))
    .usage('ID (-c FILE | --state DIR) [--as executed|failed --reason TEXT [--by NAME]]')
    .argument('<id>', 'id of the hedge, as listed by puntas hedges')
    .addOption(new Option('--as <end>', 'outcome of the hedge').choices(SETTLED_AS))
    .option('--base <amount>', 'executed amount of base currency, for a hedge on another exchange')
    .option('--quote <amount>', 'amount of quote currency paid or received')
    .option('--fee <amount>', 'fee of the order, like "0.61 usdt"')
    .option('--reason <text>', 'reason for the record')
    .option('--by <name>', 'your name for the record (default: your login)')
    .action(async (id: string, _: unknown, self: Command) => {
      const options = self.optsWithGlobals<BotFlags & Partial<SettleAsk>>();
      refuseGiven(self, ['json'], 'no effect on puntas hedges settle, which prints only text; remove the flag');
      const { as, reason = '', by = ownName(), base, quote, fee } = options;
      if (as === undefined)
        refuseGiven(
          self,
          ['base', 'quote', 'fee', 'reason', 'by'],
          'no effect without --as; add --as executed or --as failed, or remove these flags to see only the evidence',
        );
      const stated = {
        ...(base === undefined ? {} : { base }),
        ...(quote === undefined ? {} : { quote }),
        ...(fee === undefined ? {} : { fee }),
      };
      const dir = folderOf(options);
      const lines =
        as === undefined
          ? await hedgeEvidence(dir, id, realClock())
          : await settleHedge(dir, { id, as, reason, by, ...stated }, realClock());
      for (const line of lines) print(line);
      if (as === undefined) print('nothing was settled; to settle the hedge, add --as and --reason');
    });
}
