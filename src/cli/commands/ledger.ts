/** Commands on the ledger of a state directory: print the ledger, and book a difference. */
import { Option, type Command } from 'commander';
import { botClockIn } from '../../live/safety/heartbeat.ts';
import { realClock } from '../../live/realClock.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { timeOrAgeFlag, type TimeOrAge } from '../terminal/flags.ts';
import { adjust, ledger, type AdjustAsk } from '../../app/inspect/ledger.ts';
import { refuseGiven } from '../terminal/givenFlags.ts';
import { print } from '../terminal/output.ts';
import { folderOf, folderToRead, ofBot, type BotFlags } from './botFlags.ts';

/**
 * Adds `ledger` and `ledger adjust`. Both commands throw a `UsageError` if no state directory is given, or if the
 * directory has no ledger.
 */
export function addLedgerCommands(program: Command): void {
  const command = ofBot(
    program.command('ledger').description('show the ledger by currency and compare it with the exchange balances'),
  )
    .option('--currency <ticker>', 'show only this currency')
    .option(
      '--since <time>',
      'show only entries after this time, like 2026-11-22T13:05:00Z, or newer than this age, like 24h',
      timeOrAgeFlag,
    )
    .option('--entries', 'list every entry', false)
    .addOption(new Option('--json', 'print one JSON object').conflicts('csv'))
    .option('--csv', 'print CSV')
    .action(
      async (
        options: BotFlags & { currency?: string; since?: TimeOrAge; entries: boolean; json?: true; csv?: true },
      ) => {
        const { currency, since, entries, json, csv } = options;
        const [dir, clock] = [folderToRead(options), realClock()];
        // A bot with an accelerated clock writes ledger entries with times of that clock, so an age in --since is
        // converted to the accelerated clock.
        const botClock = botClockIn(dir);
        const ask = {
          entries,
          form: json ? ('json' as const) : csv ? ('csv' as const) : ('text' as const),
          ...(currency === undefined ? {} : { currency: currency.toLowerCase() }),
          ...(since === undefined ? {} : { since: since(botClock.at(clock.now()), botClock.speed) }),
        };
        for (const line of await ledger(dir, ask, clock)) print(line);
      },
    );

  // The parent command parses these four options anywhere; they are repeated here for the help.
  ofBot(command.command('adjust').description('record an unexplained balance difference in the ledger'))
    .usage('(-c FILE | --state DIR) --currency TICKER --amount N --reason TEXT [--by NAME] [--in-transit]')
    .option('--currency <ticker>', 'currency of the difference')
    .requiredOption('--amount <n>', 'exchange balance minus ledger balance')
    .requiredOption('--reason <text>', 'reason for the record')
    .option('--by <name>', 'your name for the record (default: your login)')
    .option('--in-transit', 'the amount is in transit from or to the other exchange', false)
    .action(async (_: unknown, self: Command) => {
      refuseGiven(
        self,
        ['since', 'entries', 'json', 'csv'],
        'no effect on puntas ledger adjust, which always prints one line of text; remove these flags',
      );
      const options = self.optsWithGlobals<BotFlags & Partial<AdjustAsk>>();
      const { currency, amount = '', reason = '', by, inTransit = false } = options;
      if (currency === undefined) throw new UsageError('--currency: missing; expected a ticker like btc');
      const ask = { currency, amount, reason, inTransit, ...(by === undefined ? {} : { by }) };
      print(await adjust(folderOf(options), ask, realClock()));
    });
}
